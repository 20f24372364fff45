"""XHTML becomes HTML with the same elements and text."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.text import xhtml
from neardup.text.extraction import Extraction
from neardup.text.html import visible_text
from neardup.text.xhtml import as_html

HEAD = '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><head>{}</head><body>{}</body></html>'
TEXT = "<p>The bees have left the harbour, and nobody knows why they did. </p>" * 5


@pytest.mark.parametrize(
    ("page", "html"),
    [
        (b'<script src="a.js"/>', b'<script src="a.js"></script>'),
        (b"<a href=\"x/y>z\" id='1>'/>b", b"<a href=\"x/y>z\" id='1>'></a>b"),
        (b"<div/><svg:rect\n a='1' />", b"<div></div><svg:rect\n a='1' ></svg:rect>"),
        (b"<br/><img src='a'/><Input />", b"<br/><img src='a'/><Input />"),
        (b"a /> b <p> c /> d", b"a /> b <p> c /> d"),
        (b"<a b=\"/>c <a b='1'c='/>", b"<a b=\"/>c <a b='1'c='/>"),
        (b"<a b='1'c=\"2\"/>", b"<a b='1'c=\"2\"></a>"),
        (b"<p>1 <![CDATA[< 2 & <b>]]> 3</p>", b"<p>1 &lt; 2 &amp; &lt;b&gt; 3</p>"),
        (b"<![CDATA[never ends <p/>", b"never ends &lt;p/&gt;"),
        (b"/>", b"/>"),
        (b"", b""),
    ],
)
def test_empty_elements_and_sections(page, html):
    assert as_html(page) == html
    assert as_html(html) == html


@pytest.mark.parametrize("order", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_stays(order):
    page = "<p><a/></p>".encode(order)
    assert as_html(page) == page


PIECES = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<a id='1'/>",
        "<b/>",
        "<i>",
        "</i>",
        "<br/>",
        "<![CDATA[",
        "]]>",
        "word ",
        "&lt;",
        "<!-- c -->",
        "/>",
    ]
)


@example(["<![CDATA[", "<![CDATA[", "word ", "]]>"])
@given(st.lists(PIECES, max_size=12))
def test_the_text_is_that_of_a_parser_of_xml(pieces):
    inside = "".join(pieces)
    try:
        tree = ET.fromstring(f"<div>{inside}</div>")  # noqa: S314 - the text of this test
    except ET.ParseError:
        return
    shown = re.sub(r"\s+", " ", "".join(tree.itertext())).strip()
    read = visible_text(as_html(f"<div>{inside}</div>".encode()))
    assert re.sub(r"\s+", "", read) == re.sub(r"\s+", "", shown)


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
@pytest.mark.parametrize(
    ("head", "body"),
    [
        ('<script src="a.js" type="text/javascript"/><title>Bees</title>', TEXT),
        ("<style/><title>Bees</title>", TEXT),
        ("<title>Bees</title>", "<textarea/>" + TEXT),
        ("<title>Bees</title>", TEXT.replace("<p>", "<p><![CDATA[").replace("</p>", "]]></p>")),
    ],
)
def test_pages_keep_their_texts(view, head, body):
    found = Extraction(view=view).pages([as_html(HEAD.format(head, body).encode())])
    assert (found.titles, found.langs) == (["Bees"], ["fr"])
    assert found.texts[0].count("nobody knows why") == 5
    assert "<" not in found.texts[0]


def test_very_many_are_left(monkeypatch):
    monkeypatch.setattr(xhtml, "_MOST", 2)
    assert as_html(b"<a/>" * 4) == b"<a></a>" * 2 + b"<a/>" * 2
