import sys
from time import perf_counter

import pytest

from neardup.model.errors import ExtraMissing
from neardup.text import main_text as module
from neardup.text.html import visible_content
from neardup.text.main_text import detected, installed, main_text

HEADS = [
    "<title>A &amp; b</title><link rel=canonical href=/a><html lang=en>",
    "<head><link rel='x Canonical' href=' /a?b&amp;c '><link rel=canonical href='/a?b&amp;c'></head>",
    "<link rel=canonical href=/a><link rel=canonical href=/b>",
    "<head></head><body><link rel=canonical href=/a>",
    "<html lang=' de-AT'><title> \n</title>",
    "<base target=x><link rel=canonical href=a><base href=' http://b.example/c/d '><base href=/e/>",
    "<base href=''><base href=/c/><link rel=canonical href=a>",
    "<link rel=canonical href=/a>" * 64,
    "<link rel=canonical href=/a>" * 65,
    "<link rel=canonical href=/a>" * 64 + "<link rel=canonical href=>",
    "<head><template><link rel=canonical href=/a></template></head>",
    "<head><template><title>a</title><base href=/b/></template><title>c</title><link rel=canonical href=a></head>",
    "<head>text <link rel=canonical href=/a><meta name=robots content=noindex></head>",
    "<head><noscript><meta name=robots content=noindex><link rel=canonical href=/a></noscript></head>",
    "<head></head><link rel=canonical href=/a><meta name=robots content=noindex>",
    "</html><link rel=canonical href=/a>",
    "<iframe></iframe><link rel=canonical href=/a>",
    "<head><svg><title>icon</title></svg><title>Real</title></head>",
    "<svg><title>icon</title></svg><title>Real</title>",
    "<svg><title/></svg><title>Real</title>",
    "<head><noscript><img src=/pixel></noscript><link rel=canonical href=/a><meta name=robots content=noindex></head>",
    "<head hidden><title>a</title><link rel=canonical href=/a></head>",
    "",
]


@pytest.fixture
def without_resiliparse(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("resiliparse")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    module._library.cache_clear()
    yield
    module._library.cache_clear()


def test_main_text_leaves_out_navigation():
    sentence = "This is a sentence of an article, and it is long enough to be one. "
    page = f"<nav><a href=/>Start</a> <a href=/news>News</a></nav><article><h1>Bees</h1><p>{sentence * 5}</article>"
    found = main_text(f"<body>{page}<footer>All rights reserved</footer>")
    assert sentence.strip() in found.text
    assert "News" not in found.text
    assert "rights" not in found.text


LISTED = "".join(f"<li>Item {number} of a list that belongs to an article.</li>" for number in range(5))


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("<body>", True),
        ("<BODY class=a\n>", True),
        ("<body class='a>b'>", False),
        ("<script>'<body>'</script><body>", False),
    ],
)
def test_lists_near_the_body_are_text(body, read):
    text = "<p>This is a sentence of an article, and it is long enough to be one. </p>" * 5
    found = main_text(f"<html><head><title>Bees</title></head>{body}<h1>Bees</h1>{text}<ul>{LISTED}</ul>{text}")
    assert ("Item 3 of a list" in found.text) == read
    assert found.title == "Bees"


@pytest.mark.parametrize("markup", ["<body", "<body <body" * 1_000_000, "<ul><li>x</ul>", "<bodyguard>", ""])
def test_pages_without_a_whole_tag_of_the_body_stay_as_they_are(markup):
    assert module._prepared(markup) == (markup, False)


INTRODUCTION = "<html><title>Bees</title><body><article><p>This is the first sentence of an article about bees. "


@pytest.mark.parametrize(
    "character", ["東", "あ", "カ", "한", "ก", "ह", "€", "\u2013", "→", "\u4e3f", "\u2003", "\ufffd"]
)
@pytest.mark.parametrize(
    "markup",
    [
        "It is <b>{}</b>.",
        "It is <b> {} </b>.",
        "It is<b>\n{}\n</b>.",
        "It is <i>x</i>{}<i>y</i>.",
        "It is <b><!-- c -->{}<!-- c --></b>.",
        "It is <b>{}\0</b>.",
        "It is<pre>\n{}</pre>so.",
        "<table><tr><td>{}</td><td>{}</td></tr></table>",
        "<ul><li>{}</ul>",
        "<ruby>{}<rp>(</rp><rt>reading</rt><rp>)</rp></ruby>",
        "<h2>{}</h2>so",
        "{}",
    ],
)
def test_characters_alone_between_tags_are_text(character, markup):
    for written in (character, f"&#{ord(character)};", f"&#x{ord(character):X};"):
        page = INTRODUCTION + markup.format(written, written)
        found = main_text(page)
        assert found.text.split() == visible_content(page).text.split()
        assert found.title == "Bees"


def test_named_references_alone_between_tags_are_text():
    assert main_text(f"{INTRODUCTION}It costs <b>&euro;</b> <i>&nbsp;</i><b>7</b>").text.endswith("€ \xa07")
    assert main_text("&#x6771;<p>is &eur;<b>&ndash;").text.split() == ["東", "is", "&eur;\u2013"]


@pytest.mark.parametrize("icon", ["\ue010", "\xb6", "\u200b", "&#xf8ff;", "&#8203;"])
def test_icons_and_characters_without_width_are_not_text(icon):
    assert main_text(f"{INTRODUCTION}Title<a href=#x>{icon}</a>").text.endswith("bees. Title")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<details><summary>Question one</summary>Answer one</details>", "Question one Answer one"),
        ("<div>a<summary>b</summary>c</div>", "a b c"),
        ("<fieldset><LEGEND class=a>a</LEGEND>b</fieldset>", "a b"),
        ("<dialog>a</dialog>b", "a b"),
        ("<div>a<caption>b</caption>c", "a b c"),
        ("<table><caption>a</caption><tr><td>b</table>", "a b"),
        ("<div>a<optgroup>b</optgroup>c", "a b c"),
        ("<search>a</search>b<menu>c</menu>d<dir>e</dir>f", "a b c d e f"),
        ("a<hr>b<hr><b>c</b>", "a b c"),
        ("<div>a<figure><img src=x>b</figure>c<select></select>d<nav></nav>e</div>", "a c d e"),
        ("<p>a<summary-of>b</summary-of>c", "abc"),
    ],
)
def test_words_at_blocks_are_separate(body, words):
    assert main_text(INTRODUCTION + body).text.split()[10:] == words.split()


@pytest.mark.parametrize("head", ["", "<body>", "<title>東</title>", "<title>a<summary></title><body><p>東</p>"])
def test_what_is_added_is_in_no_title(head):
    page = f"{head}<p>words of a text, and a <b>東</b>"
    assert main_text(page).title == visible_content(page).title


def test_noncharacters_of_a_page_stay():
    assert main_text(f"{INTRODUCTION}a\ufdd0b").text.endswith("a\ufdd0b")
    assert main_text(f"{INTRODUCTION}a\ufdd0b<b>東</b>c").text.endswith("a\ufdd0bc")


@pytest.mark.parametrize("page", ["<p>" * 100_000 + "&" * 100_000, "<p>" + "&#" + "9" * 100_000, "> " * 100_000])
def test_preparing_takes_linear_time(page):
    begun = perf_counter()
    assert module._prepared(page) == (page, False)
    assert perf_counter() - begun < 1


@pytest.mark.parametrize("head", HEADS)
def test_what_markup_says_is_the_same_in_both_views(head):
    assert main_text(f"{head}<body><p>text")[1:] == visible_content(f"{head}<body><p>text")[1:]


def test_an_encoding_is_recognised():
    text = "Привет, как дела? Это русский текст."
    assert detected(text.encode("cp1251")) == "cp1251"


def test_the_version_is_named():
    assert installed().startswith("resiliparse 2.0")


@pytest.mark.parametrize("function", [lambda: main_text("x"), lambda: detected(b"x")])
@pytest.mark.usefixtures("without_resiliparse")
def test_without_the_library_it_is_named(function):
    with pytest.raises(ExtraMissing, match=r"resiliparse.*neardup\[warc\]"):
        function()


@pytest.mark.parametrize("read", [main_text, visible_content])
def test_pages_with_very_many_canonical_links_have_none(read):
    link = "<link rel=canonical href=/a>"
    assert [read(link * number).canonical for number in (1, 64, 65, 50_000)] == ["/a", "/a", "", ""]
