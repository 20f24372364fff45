"""What a reader sees of a page, and what no page can do to the scanner."""

from html import escape, unescape
from html.parser import HTMLParser
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from neardup.errors import DataError
from neardup.text import html
from neardup.text.html import PageContent, decoded, visible_content, visible_contents, visible_text
from neardup.text.main_text import main_text

PIECES = """
    < > </ <a <p <script </script> <style> <!-- --> --!> <![CDATA[ ]]> <!DOCTYPE <? = " ' hidden & &# &#x 9 a; / x é
    <pre> </pre> <br/> <title> </title> <template> </template> <div hidden> </div> <body> <head> </head> <textarea>
"""
FRAGMENTS = st.sampled_from([*PIECES.split(), " ", "\n", "\r", "\0", "\ud800", "\ufeff"])


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("<div>\n <div> deep </div>\n</div> after", "deep\n\nafter"),
        ("a<br>b<br/>c</br>d", "a\nb\nc\nd"),
        ("a<br><br><br><br>b<br>", "a\n\nb"),
        ("<b>in</b>side a  \t\n wo<i>rd</i>&nbsp; &nbsp;end", "inside a word end"),
        ("<ul><li>one<li>two</ul>", "one\n\ntwo"),
        ("<table><tr><th>year<th>rain<tr><td>1961<td>12 mm</table>", "year rain\n\n1961 12 mm"),
        ("<h1>Head</h1>line<hr>below", "Head\n\nline\n\nbelow"),
        ("<p>first</p><textarea>draft <b>kept</b></textarea>", "first\n\ndraft <b>kept</b>"),
        ("a < b && b > c", "a < b && b > c"),
        ("1 <2 </ 3", "1 <2"),
    ],
)
def test_blocks_and_lines(markup, text):
    assert visible_text(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<html><head><meta charset=utf-8><title>A\n title</title><style>p{}</style></head><body>b", "A title\n\nb"),
        ("<body>text<title>late</title>", "late\n\ntext"),
        ("<title>first</title><svg><title>icon</title></svg>x", "first\n\nx"),
        ("<svg><title>icon</title></svg><title>late</title>x", "late\n\nx"),
        ("<div><svg><path></div><p>x</p><title>late</title>", "late\n\nx"),
        ("<math><title>sum</title></math><title>late</title>x", "late\n\nx"),
        ("<svg><title/></svg><title>late</title>x", "late\n\nx"),
        ("<title></title><p>x", "x"),
        ("<head>first<title>t</title> second<body>b", "t\n\nfirst second\n\nb"),
        ("<head><title>t</title>text</head><body>b", "t\n\ntext\n\nb"),
        ("<html><head>\n<title>t</title>\n<style></style> text", "t\n\ntext"),
        ("<body><p>one</p><head>two", "one\n\ntwo"),
        ("<head><title>t</title><p>the paragraph closes the head", "t\n\nthe paragraph closes the head"),
        ("<title>a < b &amp; <b>c</b></title>", "a < b & <b>c</b>"),
    ],
)
def test_the_title_is_the_first_line_and_other_text_ends_the_head(markup, text):
    assert visible_text(markup) == text


FOREIGN = """
    style script title iframe noscript noframes noembed textarea xmp plaintext template
"""


@pytest.mark.parametrize("name", FOREIGN.split())
@pytest.mark.parametrize("root", ["svg", "math"])
@pytest.mark.parametrize("end", ["/>", " a='b'/>", " a=b />"])
def test_elements_that_close_themselves_in_svg_and_mathml_are_empty(root, name, end):
    page = f"<p>one</p><{root}><{name}{end}</{root}><div>rest</div>"
    assert visible_text(page) == "one\n\nrest"
    assert HTMLTree.parse(page).body.text == "onerest"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<svg><style a=b/>unseen</style></svg>rest", "rest"),
        ("<svg><path hidden/></svg>rest<svg><path></path></svg>", "rest"),
        ("<svg style='display:none'/>rest<svg></svg>", "rest"),
        ("<svg><g hidden>unseen<g/></g></svg>rest<g></g>", "rest"),
        ("<svg><foreignObject><div>text</div></foreignObject><style/></svg>rest", "text\n\nrest"),
        ("<svg><p><style/>unseen</style></p></svg>rest", "rest"),
        ("<svg><path><br><style/>unseen</style><p>rest", "rest"),
        ("<svg><desc>a <script/>unseen</script> b</desc></svg>c", "a bc"),
        ("<math><mi>x<script src=q />unseen</script></mi></math>c", "xc"),
        ("<p><svg><path d=M0><b>text</b><script src=x.js />unseen</script> rest", "text rest"),
        ("<div/><style/>unseen</style>rest", "rest"),
    ],
)
def test_only_elements_of_svg_and_mathml_can_close_themselves(markup, text):
    assert visible_text(markup) == text


def test_an_empty_link_of_svg_links_no_text():
    page = "<p><svg><a href=x /></svg>This is text"
    assert visible_content(page, links=False).text == "This is text"


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>if (a < b) '</p>'</script>",
        "<SCRIPT type='x'><!-- <p>y</p> --></ScRiPt >",
        '<script><!--\ndocument.write("<script src=x></script>"); var leaked = 1;\n//--></script>',
        "<script><!-- <script> --></script>",
        "<style>p > a { }</style>",
        "<noscript><p>Please enable scripts</p></noscript>",
        "<template><p>one<template>two</template></p></template>",
        "<iframe>old browsers</iframe>",
        "<!-- a > b -->",
        "<!-->",
        "<!--->",
        "<!-- --!>",
        "<!DOCTYPE html [ <!ENTITY x>",
        "<?xml version='1.0'?>",
        "<![if IE]>",
        "<![endif]>",
        "<![CDATA[x]]>",
        "</ not a tag>",
        "</>",
        "<img alt='>' hidden>",
        '<a title="x > y" href=a"b>',
        "<a ==>",
        "<a b= c = '' =>",
    ],
)
def test_what_is_not_text(unseen):
    assert visible_text(f"be{unseen}fore") == "before"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<span hidden>b</span>c", "ac"),
        ("a<span style='display:none'>b</span>c", "ac"),
        ('a<span class=x STYLE="color: red; Display : None !important;">b</span>c', "ac"),
        ("a<span style=display:none>b</span>c", "ac"),
        ("a<span style='display:none;display:inline'>b</span>c", "abc"),
        ("a<span style='display:/* x */none'>b</span>c", "ac"),
        ("a<span style='display&#58;none'>b</span>c", "ac"),
        ("a<span data-style='display:none' style='color:red'>b</span>c", "abc"),
        ("a<span style='--display:none'>b</span>c", "abc"),
        ("a<span title='style=display:none'>b</span>c", "abc"),
        ("<body style='display:none'>shown by a script</body>", "shown by a script"),
        ("a<div class=x HIDDEN=until-found>b<div>c</div>d</div>e", "a\n\ne"),
        ("a<span title='hidden'>b</span>c", "abc"),
        ("a<span data-hidden aria-hidden=true>b</span>c", "abc"),
        ("<p hidden>never closed<p>seen", "never closed\n\nseen"),
        ("<body hidden>shown by a script</body>", "shown by a script"),
        ("<div hidden>a<pre>b</pre></div>c", "c"),
        ("<template>never closed", "never closed"),
        ("a<br hidden>b", "a\nb"),
    ],
)
def test_hidden_elements_are_not_visible(markup, text):
    assert visible_text(markup) == text


def test_preformatted_text_keeps_its_whitespace():
    page = "<p>x  y<pre>\n  def f():\r\n\n\n    return <b>1</b>\n</pre>z  z"
    assert visible_text(page) == "x y\n\n  def f():\n\n\n    return 1\n\nz z"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<xmp>\n<b>1 &lt;  2</b>\n</xmp>b", "a\n\n<b>1 &lt;  2</b>\n\nb"),
        ("a<plaintext><p>b</plaintext>\n<i>c", "a\n\n<p>b</plaintext>\n<i>c"),
        ("<listing>\na  <b>b</b></listing>", "a  b"),
        ("<div hidden><xmp>a</xmp></div>b", "b"),
    ],
)
def test_markup_is_text_in_obsolete_elements(page, text):
    assert visible_text(page) == text


@pytest.mark.parametrize(
    ("reference", "character"),
    [
        ("&amp;", "&"),
        ("&eacute;", "é"),
        ("&#65;&#x41;&#X41", "AAA"),
        ("&amp;amp;", "&amp;"),
        ("&nosuch;", "&nosuch;"),
        ("&", "&"),
        ("&#", "&#"),
        ("&#x", "&#x"),
        ("&#;", "&#;"),
        ("&#x110000;", "\ufffd"),
        ("&#xD800;", "\ufffd"),
        ("&#0;", "\ufffd"),
        ("&#" + "0" * 9_000 + "65;", "A"),
        ("&#" + "9" * 9_000 + ";", "\ufffd"),
        ("&#x" + "f" * 9_000 + ";", "\ufffd"),
    ],
    ids=lambda value: value[:12],
)
def test_character_references_are_replaced(reference, character):
    assert visible_text(reference) == character


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xef\xbb\xbf<meta charset=latin1>caf\xc3\xa9", "café"),
        ("\ufeffcafé".encode("utf-16-le"), "café"),
        ("\ufeffcafé".encode("utf-16-be"), "café"),
        (b"\xff\xfec", "\ufffd"),
        (b'<META CharSet = "windows-1252">caf\xe9 \x80', "café €"),
        (b"<meta charset=iso-8859-1>\x93caf\xe9\x94", "\u201ccafé\u201d"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">\xe4\xc1', "Да"),
        ("<meta charset='shift_jis'>日本語①".encode("cp932"), "日本語①"),
        ("<meta charset=gb2312>中文".encode("gb18030"), "中文"),
        (b"<meta charset=utf-16>caf\xc3\xa9", "café"),
        (b"<meta charset=no-such-thing>caf\xc3\xa9", "café"),
        (b"<meta name=description content='The charset=iso-8859-1'><meta charset=utf-8>caf\xc3\xa9", "café"),
        (b"<meta content='A charset=koi8-r' property=\"x>\" data-charset=koi8-r charset=windows-1252>caf\xe9", "café"),
        (b"<meta name=content-type content='text/html; charset=windows-1252'>caf\xe9", "café"),
        (b"<meta charset=no-such-thing><meta charset=windows-1252>caf\xe9", "café"),
        (b"<!-- <meta charset=windows-1252> --><meta charset=utf-8>caf\xc3\xa9", "café"),
        (b"<!-- <meta charset=windows-1252>caf\xc3\xa9", ""),
        (b"<!--><meta charset=windows-1252>caf\xe9", "café"),
        (b"<?xml version='1.0' encoding=\"ISO-8859-1\"?><html>caf\xe9", "café"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1252>caf\xe9", "café"),
        (b"<?xml version='1.0' encoding='UTF-16'?>caf\xc3\xa9", "café"),
        (b"<!----><?xml version='1.0' encoding='koi8-r'?>caf\xc3\xa9", "café"),
        (b"<meta charset=unicode_escape>caf\\u0301", "caf\\u0301"),
        (b"<meta charset=undefined>x", "x"),
        (b"<meta charset=zlib>x", "x"),
        (b"<p>" + b" " * 1_024 + b"<meta charset=windows-1252>caf\xc3\xa9", "café"),
    ],
)
def test_bytes_are_decoded_by_mark_then_declaration_then_utf_8(page, text):
    assert visible_text(page) == text


def test_odd_characters():
    assert visible_text("\ufeffa\0b<p>\0</p>\ud800c\udfff \U0001f41d") == "ab\n\n\ufffdc\ufffd \U0001f41d"


@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_no_page_raises_and_every_text_is_valid_unicode(markup):
    text = visible_text(markup)
    text.encode()
    visible_text(markup.encode("utf-8", "surrogatepass"))
    assert "\0" not in text
    assert text == text.rstrip() or "<pre>" in markup


@given(st.binary(max_size=200))
def test_no_bytes_raise(page):
    visible_text(b"<meta charset=" + page)
    visible_text(page)


class Oracle(HTMLParser):
    """All character data, as the standard library sees it."""

    def __init__(self):
        super().__init__()
        self.said = []

    def handle_data(self, data):
        self.said.append(data)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=8)
TAGS = st.sampled_from(["p", "div", "b", "a", "h1", "li", "span", "td", "section"])


@given(
    st.recursive(
        WORDS.map(escape),
        lambda inner: st.builds(
            '<{0} title="{1}">{2}</{0}>'.format, TAGS, WORDS.map(escape), st.lists(inner, max_size=3).map("".join)
        ),
    )
)
def test_well_formed_pages_say_what_the_standard_library_reads(markup):
    oracle = Oracle()
    oracle.feed(markup)
    oracle.close()
    assert "".join(visible_text(markup).split()) == "".join("".join(oracle.said).split())


BOMBS = {
    "divs": "<div>",
    "closed divs": "<div></div>",
    "hidden divs": "<div hidden>x",
    "brackets": "<",
    "ends": "</",
    "unclosed tags": "<a ",
    "unclosed comments": "<!-- >",
    "empty comments": "<!-->",
    "marked sections": "<![ >",
    "instructions": "<?",
    "scripts": "<script></scrip",
    "inner scripts": "<script><!--<script",
    "inner scripts of one name": "<script><!--" + "<script" * 140_000,
    "brackets in scripts": "<script><!--" + "<" * 1_000_000,
    "quotes": '<a b="',
    "brackets in quotes": '<a b=">" ',
    "mixed quotes": '<a b="x" c=\'>',
    "equals signs": "<a =",
    "references": "&#1&a",
    "preformatted": "<pre>\n",
    "line ends": "<br>\r",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_megabyte_of_anything_ends(bomb):
    """A quadratic scan would take hours, and the time limit stops it."""
    assert isinstance(visible_text(bomb * (1_000_000 // len(bomb))), str)


def test_two_hundred_thousand_nested_elements():
    depth = 200_000
    assert visible_text("<div>" * depth + "deep" + "</div>" * depth) == "deep"
    assert visible_text("<b>" * depth + "deep") == "deep"


def test_an_attribute_of_twenty_megabytes():
    assert visible_text('<p title="' + "x" * 20_000_000 + '">short') == "short"


def test_the_title_is_given_apart_too():
    assert visible_content("<title>A &amp;\n b</title><p>text") == PageContent("text", "A & b", None, None)
    assert visible_content("<p>text").title is visible_content("<title></title><title>b</title>").title is None
    title = "&notit;&#x80;&#xD800;\0 A&nbsp;\r\n&lt &#9;B"
    assert visible_content(f"<title>{title}</title>").title == " ".join(unescape(title.replace("\0", "")).split())
    page = "<title>A</title><li><a href=a>One</a> | <a href=b>two</a><pre>See <a href=c>three</a>"
    assert visible_contents(page) == (visible_content(page), visible_content(page, links=False))
    assert [one.text for one in visible_contents(page)] == ["One | two\n\nSee three", "See three"]
    assert visible_content("<title>\ud800&#xd800;</title>").title == "\ufffd\ufffd"
    assert visible_content("<title>A</title><p>text").whole == visible_text("<title>A</title><p>text") == "A\n\ntext"
    assert PageContent("", None, None, None).whole == ""


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        ("<link rel=canonical href=/a>", "/a"),
        ("<html><head><title>x</title><LINK REL='x Canonical' HREF=' /a?b&amp;c '></head>", "/a?b&c"),
        ("<link rel=canonical href=/a><link href='/a' rel=canonical>", "/a"),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", ""),
        ("<link rel=canonical href='/a?b&section=5&copy=2&lt=3&ampx=4&reg'>", "/a?b&section=5&copy=2&lt=3&ampx=4®"),
        ("<link rel=canonical href=/a&notit;&amp=1&AMP;b&#38c&#x26=>", "/a&notit;&amp=1&b&c&="),
        ("<base href='/a?b&para=1/'><link rel=canonical href=?c>", "/a?c"),
        ("<base href='//b.example/c&times=1/d'><link rel=canonical href=a>", "//b.example/c&times=1/a"),
        (f"<link rel=canonical href='/a&#00{'9' * 5000};&#0065'>", "/a\ufffdA"),
        ("<link rel=canonical>", None),
        ("<link rel=next href=/canonical>", None),
        ("<link rel=&#99;anonical href=/a>", "/a"),
        ("<link rel=can\0onical href=/a>", "/a"),
        ("<link rel=alternate href=/a>", None),
        ("<head></head>\n<link rel=canonical href=/a>", "/a"),
        ("<head></head>text<link rel=canonical href=/a>", None),
        ("<head></head></html><link rel=canonical href=/a>", None),
        ("<head><iframe></iframe><link rel=canonical href=/a>", None),
        ("<p>text<link rel=canonical href=/a>", None),
        ("text<link rel=canonical href=/a>", None),
        ("<head>text<link rel=canonical href=/a></head>", None),
        ("<head>&nbsp;<link rel=canonical href=/a></head>", None),
        ("<head><template><link rel=canonical href=/b></template><link rel=canonical href=/a></head>", "/a"),
        ("<head><template><base href=/b/></template><link rel=canonical href=a></head>", "a"),
        ("<head><template>text<p>more</p></template><link rel=canonical href=/a></head>", "/a"),
        ("<head><template>text</template></head><p hidden>x</p><link rel=canonical href=/a>", None),
        ("<!-- <link rel=canonical href=/a> -->", None),
        ("<base href=http://b.example/c/d><link rel=canonical href=a>", "http://b.example/c/a"),
        ("<link rel=canonical href=a><base href=' //b.example/c/ '>", "//b.example/c/a"),
        ("<base target=x><base href=/c/><base href=/d/><link rel=canonical href=a>", "/c/a"),
        ("<base href=../c/d?e/f><link rel=canonical href=../a>", "../c/../a"),
        ("<base href=../c/d><link rel=canonical href=?a>", "../c/d?a"),
        ("<base href=../c/><link rel=canonical href=/a>", "/a"),
        ("<base href=http://b.example/><link rel=canonical href=http://a.example/>", "http://a.example/"),
        ("<base href='http://[b'><link rel=canonical href=a>", "a"),
        ("<base href=''><link rel=canonical href=a>", "a"),
        ("<base href='javascript:b/'><link rel=canonical href=a>", "a"),
        ("<base href=/c/><link rel=canonical href=a><link rel=canonical href=b>", ""),
        ("<link rel=canonical href=a><p>text<base href=/c/>", "a"),
    ],
)
def test_the_canonical_address_is_that_of_the_head(markup, canonical):
    assert visible_content(markup).canonical == canonical


PARTS = ["&", "&#", "&#x", ";", "=", "x", "A", "26", "-", " ", "amp", "not", "it", "lt", "section", "notin", "\xe9"]


@given(st.lists(st.sampled_from(PARTS), max_size=9).map("".join))
def test_references_in_attributes_are_those_of_the_html_standard_without_control_characters(written):
    value = HTMLTree.parse(f"<html lang='x{written}'>").document.query_selector("html")["lang"]
    assert visible_content(f"<html lang='x{written}'>").lang == value.replace("\x1a", "").strip()  # &#26


@pytest.mark.parametrize(
    ("markup", "lang"),
    [
        ("<html lang=' de-AT'>", "de-AT"),
        ("<html lang='de&copy=1'>", "de&copy=1"),
        ("<html lang=de><html lang=en>", "de"),
        ("<p lang=de>", None),
        ("", None),
    ],
)
def test_the_language_is_that_of_the_root(markup, lang):
    assert visible_content(markup).lang == lang


def test_utf_16_that_http_declares_counts_without_a_byte_order_mark():
    page = "<meta charset=utf-8><p>Да"
    assert decoded(page.encode("utf-16-le"), "utf-16le") == decoded(page.encode("utf-16-be"), "utf-16be") == page
    assert decoded(page.encode(), "utf-16le") == page


@given(st.lists(st.sampled_from([0, 0x41, 0xD8, 0xDB, 0xDC, 0xDF, 0xFF]), max_size=11), st.sampled_from("lb"))
def test_invalid_bytes_of_utf_16_are_replaced_as_by_python(units, order):
    charset = f"utf-16-{order}e"
    assert html.decoded_as(bytes(units), charset) == bytes(units).decode(charset, "replace")


def test_invalid_bytes_of_utf_16_cost_little_time():
    started = process_time()
    assert decoded(b"\xff\xfe" + b"\0\xd8" * 8_000_000 + b"a\0").count("\ufffd") == 8_000_000
    assert process_time() - started < 10


def test_names_of_charsets_that_python_does_not_know():
    assert decoded("<meta charset=x-sjis>日本語".encode("cp932"))[-3:] == "日本語"
    assert decoded("<p>ไทย".encode("cp874"), "windows-874")[-3:] == "ไทย"


def test_a_declared_charset_comes_before_that_of_the_markup():
    page = "<meta charset=windows-1251>\u0434".encode("cp1251")
    assert decoded(page)[-1] == decoded(page, "no-such-charset")[-1] == decoded(page, "\x00")[-1] == "\u0434"
    assert decoded(page, ' "KOI8-R" ')[-1] == page[-1:].decode("koi8-r")
    assert decoded(b"\xef\xbb\xbf\xc3\xa9", "latin-1") == "\xe9"  # a byte order mark comes first


def test_comments_in_a_style_end_with_it():
    assert visible_text("<p style='display:none" + "/*x" * 300_000 + "'>hidden</p>text") == "text"
    assert visible_text("<p style='" + "/*x" * 300_000 + "*/display:none'>hidden</p>text") == "text"
    assert visible_text("<p style='display:/*/none'>text") == "text"


def test_a_head_of_very_many_tags():
    page = "<title>t</title>" + "<link href=/b>" * html.MOST_TAGS + "<link rel=canonical href=/a>"
    assert visible_content(page).canonical is None
    assert visible_content(page.replace("<link href=/b>", "", 1)).canonical == "/a"


LONG = {
    "attributes": lambda: "<html " + "a " * 8_000_000 + ">",
    "references": lambda: '<html lang="' + "&lt;" * 4_000_000 + '">',
    "address": lambda: '<base href="http://a.example/' + "../" * 5_000_000 + '"><link rel=canonical href=x>',
    "names": lambda: "<link rel=canonical " + " ".join(f"a{number}=1" for number in range(1_000_000)) + ">",
    "title": lambda: "<title>" + "&#65;" * 3_000_000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_head_of_megabytes_costs_little_time(name):
    markup = LONG[name]()
    visible_content(markup[:100])
    started = process_time()
    found = visible_content(markup)
    assert process_time() - started < 10
    assert (found.canonical or "") in {"", "x"}


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<meta name="robots" content="noindex, follow">', True),
        ("<head><meta content=NONE name=Robots>", True),
        ("<meta name=robots content=nofollow><meta name=robots content=noindex>", True),
        ("<meta name=robots content=index>", False),
        ("<meta name=&#82;obots content=noindex>", True),
        ("<meta name=googlebot content=noindex>", False),
        ("<meta name=keywords content='robots, none'>", False),
        ("<p>text<meta name=robots content=noindex>", False),
        ("<head><template><meta name=robots content=noindex></template></head>", False),
        ("<head>text<meta name=robots content=noindex></head>", False),
        ("<head><noscript><meta name=robots content=noindex></noscript></head>", False),
        ("", False),
    ],
)
def test_pages_may_ask_not_to_be_indexed(markup, expected):
    assert visible_content(markup).noindex is expected
    head = main_text(f"<html>{markup}<body><p>text").noindex
    assert head is expected or "<p>text<meta" in markup


@pytest.mark.parametrize("page", [5, None, ["<p>"], bytearray(b"<p>")], ids=str)
def test_a_page_is_bytes_or_a_string(page):
    with pytest.raises(DataError, match=r"markup is .*, but a page must be bytes or a string"):
        visible_text(page)
