import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_crawl import templates_in

from neardup.model.errors import DataError, ParameterError
from neardup.text import extraction, html, main_text
from neardup.text.extraction import Extraction, Pages
from neardup.text.html import visible_text

SENTENCE = "This is a sentence of an article, and it is long enough to be one. "
ARTICLE = f"<title>Bees</title><nav><a href=/>Start</a></nav><article><p>{SENTENCE * 5}</article>".encode()
LIST = b"<title>Bees</title><nav>" + b"<ul><li><a href=/a>One entry of a long menu</a></ul>" * 50 + b"</nav><p>x"
VIEWS = ("auto", "main", "visible")


def one(page, view="auto", declared=()):
    texts, titles, canonicals, langs, views, sites, _ = Extraction(view=view).pages([page], declared)
    assert sites == [0]
    return texts[0], titles[0], canonicals[0], langs[0], views[0]


def test_main_text_is_that_of_an_article():
    assert one(ARTICLE) == one(ARTICLE, "main")
    text, title, *_, view = one(ARTICLE)
    assert (title, view) == ("Bees", "main")
    assert text.splitlines()[0] == "Bees"
    assert "Start" not in text
    assert one(ARTICLE, "visible")[0] == visible_text(ARTICLE)


def test_a_page_that_is_not_an_article_is_read_whole():
    assert one(LIST)[0] == visible_text(LIST)
    assert one(LIST)[-1] == "visible"
    assert one(LIST, "main")[-1] == "main"


@pytest.mark.parametrize("name", ["textarea", "xmp", "plaintext"])
def test_text_whose_markup_is_text_counts_as_visible(name, monkeypatch):
    monkeypatch.setattr(extraction, "main_text", lambda _: extraction.PageContent("few words", None, None, None))
    page = f"<p>Few words</p><{name}>{'<b>A line of a draft.' * 9}</{name}>".encode()
    assert one(page)[0] == visible_text(page)
    assert one(page)[-1] == "visible"


def test_the_floor_is_a_fifth_of_the_letters(monkeypatch):
    page = b"<p>" + b"abcd " * 10
    for letters, view in ((8, "main"), (7, "visible")):
        monkeypatch.setattr(
            extraction, "main_text", lambda _, size=letters: extraction.PageContent("a" * size, None, None, None)
        )
        assert one(page)[-1] == view


@pytest.mark.parametrize("view", ["auto", "main"])
def test_a_page_that_costs_too_much_is_never_parsed(view, monkeypatch):
    monkeypatch.setattr(extraction, "main_text", lambda _: pytest.fail("it was parsed"))
    page = b"<title>t</title>" + b"".join(b"<b id=%d>" % number for number in range(500)) + b"<p>x</p>" * 5_000
    assert one(page, view)[1:] == ("t", None, None, "visible")
    assert one(b"<div>" * 20_000, view)[-1] == "visible"


@pytest.mark.parametrize("error", ["of the library", "memory"])
def test_a_page_that_the_parser_fails_for_is_read_whole(error, monkeypatch):
    _, extract, failed = main_text._library()

    class Failing:
        @staticmethod
        def parse(_):
            raise failed if error == "of the library" else MemoryError

    monkeypatch.setattr(main_text, "_library", lambda: (Failing, extract, failed))
    assert one(ARTICLE)[0] == visible_text(ARTICLE)
    assert one(ARTICLE)[-1] == "visible"


def test_encodings_are_guessed_only_where_bytes_are_invalid():
    text = "Привет, как дела? Это русский текст."
    assert one(text.encode("cp1251"))[0] == text
    assert one(text.encode())[0] == one(text.encode("cp1251"), declared=["windows-1251"])[0] == text
    assert "\ufffd" in one(text.encode("cp1251"), "visible")[0]


def test_what_a_view_depends_on_is_named(monkeypatch):
    assert Extraction(view="visible").extractor is None
    assert Extraction().extractor.startswith("resiliparse 2.0")
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    assert Extraction(view="main").extractor == "resiliparse 9"


def test_other_views_are_refused():
    with pytest.raises(ParameterError, match="view='raw' must be auto, main or visible"):
        Extraction(view="raw")


def test_no_pages():
    assert Extraction().pages([]) == Pages([], [], [], [], [], [], [])


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([ARTICLE, LIST, b"<p>", b"\xff", b"\0", b"&#xd800;"])),
        max_size=4,
    )
)
def test_no_page_raises_and_pages_do_not_depend_on_each_other(pages):
    for view in VIEWS:
        found = Extraction(view=view).pages(pages)
        alone = [Extraction(view=view).pages([page]) for page in pages]
        assert found == Pages(*([one[place][0] for one in alone] for place in range(7)))
        for text in found.texts:
            text.encode()


@pytest.mark.parametrize("view", VIEWS)
def test_a_lone_surrogate_becomes_an_unknown_character(view):
    page = ARTICLE.decode().replace("long", "l\ud83dng")
    assert one(page, view)[0] == one(page.replace("\ud83d", "\ufffd"), view)[0]


def test_pages_are_a_list_of_bytes_or_strings_with_a_host_each():
    visible = Extraction(view="visible")
    assert visible.pages(("<p>a", b"<p>b"), hosts=["a.example", None]).texts == ["a", "b"]
    for page in (5, None, ("http://a/", "<p>")):
        with pytest.raises(DataError, match=r"page 1 is .*, but a page must be bytes or a string"):
            visible.pages(["<p>a", page])
    for markup in ("<p>a", b"<p>a", 5, None):
        with pytest.raises(ParameterError, match="must be a list of pages"):
            visible.pages(markup)
    for lists in ({"hosts": ["a.example"]}, {"declared": ["utf-8"] * 3}, {"declared": "ab"}, {"hosts": "ab"}):
        with pytest.raises(ParameterError, match="must be a list with one item for each of 2 pages"):
            visible.pages(["<p>a", "<p>b"], **lists)
    for charset in (5, b"utf-8", 0):
        with pytest.raises(ParameterError, match=r"declared=.* must be a string, or None, for each page"):
            visible.pages(["<p>a", b"<p>b"], [None, charset])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("lead", range(4))
def test_a_page_is_read_up_to_a_limit_and_never_to_a_part_of_a_character(view, lead, monkeypatch):
    monkeypatch.setattr(html, "LARGEST_PAGE", 1 << 10)
    monkeypatch.setattr(extraction, "LARGEST_PAGE", 1 << 10)
    page = "<p>" + "a" * lead + "\U0001f41d bée " * 200 + "<link rel=canonical href=/late>"
    whole = visible_text(page)
    of_bytes, of_string = (one(given, view) for given in (page.encode(), page))
    assert of_bytes == of_string
    text, _, canonical, *_ = of_bytes
    assert canonical is None
    assert whole.startswith(text)
    assert 1 << 10 > len(text.encode()) > (1 << 10) - 20
    assert html.canonical_address(page) is None


def test_only_longer_pages_are_cut(monkeypatch):
    monkeypatch.setattr(html, "LARGEST_PAGE", 8)
    for page in (b"12345678", "12345678", "\u00e9" * 4, "12\U0001f41d12"):
        assert html.capped(page) == (page, "")
    assert html.capped(b"123456789") == (b"12345678", html.TOO_LONG)
    assert html.capped("1" + "\u00e9" * 4) == ("1" + "\u00e9" * 3, html.TOO_LONG)
    assert html.capped("1234567\ud800") == ("1234567", html.TOO_LONG)


GERMAN = "Die Grüße aus München sind schön, sagt der Bäcker, und die Bären hören es über Jahre. "


@pytest.mark.parametrize("damage", [b"\xff", b"caf\xe9 ", b"\xc3"])
def test_a_damaged_character_is_no_reason_to_read_a_page_in_another_encoding(damage):
    page = f"<meta charset=utf-8><title>t</title><p>{GERMAN * 20}".encode()
    intact, damaged = one(page)[0], one(page + damage)[0]
    assert "Grüße" in damaged
    assert damaged.startswith(intact)
    assert one(page + damage, declared=["utf-8"])[0] == damaged


def test_characters_that_a_page_has_itself_are_not_damage(monkeypatch):
    monkeypatch.setattr(extraction, "detected", lambda _: pytest.fail("there is nothing to detect"))
    page = "<p>\ufffd\ufffd".encode()
    assert one(page)[0] == "\ufffd\ufffd"


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("cp1252", GERMAN),
        ("cp1251", "Привет, как ваши дела в гавани? "),
        ("cp949", "시민들은 버스와 지하철(地下鐵)을 더 쉽게 이용할 수 있게 되었다. "),
    ],
)
def test_pages_and_texts_in_an_encoding_that_nothing_declares(charset, text):
    assert one(b"<p>" + (text * 20).encode(charset))[0] == (text * 20).strip()
    assert Extraction().decoded((text * 20).encode(charset), markup=False) == text * 20


@pytest.mark.parametrize("text", [GERMAN, "Ärzte, Ärzte! ", "ÀB ÄB ÁB ", "À BIENTÔT À L'ÉCOLE ", "ÄÖÜ "])
def test_letters_with_accents_are_not_korean(text, monkeypatch):
    monkeypatch.setattr(extraction, "detected", lambda _: "utf-8")
    assert one(b"<p>" + (text * 20).encode("cp1252"))[0] == (text * 20).strip()


def test_a_text_in_utf_8_that_is_declared_otherwise():
    assert one(f"<p>{GERMAN * 20}".encode(), declared=["euc-jp"])[0] == (GERMAN * 20).strip()


def test_plain_text_has_no_charset_in_its_words(monkeypatch):
    page = ("Write <meta charset=koi8-r> at the beginning. " + GERMAN).encode()
    assert Extraction().decoded(page, markup=False) == page.decode()
    assert Extraction().decoded(GERMAN.encode("cp1252"), "windows-1252", markup=False) == GERMAN
    monkeypatch.setattr(extraction, "installed", lambda: None)
    monkeypatch.setattr(extraction, "detected", lambda _: pytest.fail("the library is not there"))
    assert "\ufffd" in Extraction().decoded(GERMAN.encode("cp1252"), markup=False)


def test_elements_that_are_added_are_in_no_title_and_text():
    for page in (
        b"<title><p>words</p><body>" + ARTICLE,
        b"<textarea><body>" + ARTICLE,
        b"<title>t</title><textarea><body>" + ARTICLE,
    ):
        for view in VIEWS:
            text, title, *_ = one(page, view)
            assert "<div><div>" not in f"{title} {text}"


def test_an_extraction_can_be_stored(crawl):
    first = Extraction(templates=templates_in(crawl))
    assert Extraction.from_dict(json.loads(json.dumps(first.to_dict()))) == first
    assert Extraction.from_dict(Extraction(view="main").to_dict()) == Extraction(view="main")
