import sys

import pytest

from neardup.interfaces.http import rendering
from neardup.interfaces.http.rendering import prepare, render, static
from neardup.interfaces.pages.style import STYLE
from neardup.model.errors import ExtraMissing


def test_every_template_compiles():
    prepare()


def test_whatever_is_filled_in_is_escaped():
    template = rendering._templates().from_string("{{ value }} <a title='{{ value }}'>")
    assert template.render(value="<b>'\"&") == "&lt;b&gt;&#39;&#34;&amp; <a title='&lt;b&gt;&#39;&#34;&amp;'>"


def test_what_is_not_given_is_an_error():
    with pytest.raises(Exception, match="view"):
        render("problem")


def test_the_style_is_that_of_the_house_and_its_own():
    style = static("page.css").decode()
    assert style.startswith(STYLE)
    assert "url(" not in style
    assert "@import" not in style


def test_its_address_names_its_content():
    assert rendering._digest("page.css") != rendering._digest("icon.svg")


def test_without_the_library_it_says_which_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    rendering._templates.cache_clear()
    with pytest.raises(ExtraMissing, match=r"neardup\[web\]"):
        prepare()
    rendering._templates.cache_clear()
