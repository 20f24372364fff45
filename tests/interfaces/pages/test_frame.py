from html.parser import HTMLParser

from neardup import __version__
from neardup.interfaces.pages.frame import framed
from neardup.interfaces.pages.style import STYLE


def test_a_page_needs_nothing_from_elsewhere():
    page = framed("A <title>", "lead", "<p>section</p>", style=".own {}", note=", note").decode()
    assert "<title>A &lt;title&gt;</title>" in page
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert STYLE + ".own {}" in page
    assert f"neardup {__version__}, note</footer>" in page
    assert "default-src 'none'" in page
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(page)
    assert not any(tag in {"script", "link", "img", "iframe"} or "src" in given for tag, given in tags)


def test_what_utf8_cannot_write_is_replaced():
    assert b"half ?" in framed("half \ud800", "", "")
