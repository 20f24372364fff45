import re
from html.parser import HTMLParser

import pytest

from neardup import __version__
from neardup.interfaces.pages.templates import TEMPLATES, environment, render, safe, source
from neardup.interfaces.wording.excerpts import Excerpt, TextPiece

STYLE = source("common.css").decode()


def shown(excerpt, anchors=""):
    template = '{% import "texts.html" as texts %}{{ texts.shown(excerpt, anchors) }}'
    return TEMPLATES.from_string(template).render(excerpt=excerpt, anchors=anchors).strip()


def test_a_page_needs_nothing_from_elsewhere():
    child = '{% extends "standalone.html" %}{% block title %}A {{ "<title>" }}{% endblock %}'
    page = TEMPLATES.from_string(child).render()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>A &lt;title&gt;</title>" in page
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert STYLE in page
    assert f"neardup {__version__}</footer>" in page
    assert "default-src 'none'" in page
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(page)
    assert not any(tag in {"script", "link", "img", "iframe"} or "src" in given for tag, given in tags)


def test_every_template_compiles():
    for name in TEMPLATES.list_templates():
        TEMPLATES.get_template(name)


def test_values_are_escaped_and_only_charts_are_not():
    template = environment().from_string("{{ value }}")
    assert template.render(value="<b>'\"&") == "&lt;b&gt;&#39;&#34;&amp;"
    assert template.render(value=safe("<svg/>")) == "<svg/>"


def test_an_undefined_value_is_an_error():
    with pytest.raises(Exception, match="sides"):
        render("compared")


def test_what_utf8_cannot_write_is_replaced():
    templates = environment()
    templates.get_template = lambda _: templates.from_string("half {{ value }}")
    assert render("any", templates=templates, value="\ud800") == b"half ?"


def test_a_text_shows_no_markup_and_no_control_character():
    (piece,) = pieces = (
        TextPiece(kind="between", text="<script>alert('\"&')\u202eb\u2066c\x1b[2J\0\ud800\r\nd\re\tf"),
    )
    assert piece.text
    expected = "&lt;script&gt;alert(&#39;&#34;&amp;&#39;)\\u202eb\\u2066c\\x1b[2J\\x00\\ud800\nd\ne\tf"
    assert shown(Excerpt(pieces, 0)) == f'<div class="text" dir="auto">{expected}</div>'


def test_passages_link_to_each_other():
    parts = (
        TextPiece(kind="between", text="- "),
        TextPiece(kind="shared", text=" one ", passages=(3, 5)),
        TextPiece(kind="alone", text="</mark>"),
    )
    expected = '- <span id="a5"></span><a id="a3" href="#b3"> one </a><mark>&lt;/mark&gt;</mark>'
    assert shown(Excerpt(parts, 0), "ab") == f'<div class="text" dir="auto">{expected}</div>'
    assert "<a" not in shown(Excerpt(parts, 0))


def test_what_is_left_out_is_reported():
    piece = TextPiece(kind="alone", text="x ", rest=" y", omitted=1234)
    text = re.sub("<[^>]*>", "", shown(Excerpt((piece,), 5)))
    assert text == "x  … 1,234 characters only here …  y … 5 characters more"
    assert re.sub("<[^>]*>", "", shown(Excerpt((), 0))) == "empty"


def test_every_colour_is_defined_for_light_and_dark():
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", part)) for part in STYLE.split("@media", 1))
    assert {*re.findall(r"var\(--([\w-]+)\)", STYLE)} <= light.keys()
    assert light.keys() == dark.keys()


@pytest.mark.parametrize("name", ["common.css", "report.css"])
def test_braces_are_closed_and_styles_ask_nothing_of_the_network(name):
    style = source(name).decode()
    assert style.count("{") == style.count("}")
    assert not any(word in style for word in ("http", "url(", "@import"))
