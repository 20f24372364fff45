import pytest

from neardup.interfaces.http.templates import TEMPLATES, render, static
from neardup.interfaces.pages.templates import source


def test_every_template_compiles():
    for name in TEMPLATES.list_templates():
        TEMPLATES.get_template(name)


def test_whatever_is_filled_in_is_escaped():
    template = TEMPLATES.from_string("{{ value }} <a title='{{ value }}'>")
    assert template.render(value="<b>'\"&") == "&lt;b&gt;&#39;&#34;&amp; <a title='&lt;b&gt;&#39;&#34;&amp;'>"


def test_what_is_not_given_is_an_error():
    with pytest.raises(Exception, match="problem"):
        render("problem")


def test_the_style_is_that_of_the_house_and_its_own():
    style = static("page.css").decode()
    assert style.startswith(source("common.css").decode())
    assert "url(" not in style
    assert "@import" not in style


def test_its_address_names_its_content():
    digests = [TEMPLATES.globals[name].partition("?v=")[2] for name in ("style", "icon")]
    assert len({*digests}) == 2
