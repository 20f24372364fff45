import sys

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
    assert module._deeper(markup) == markup


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
