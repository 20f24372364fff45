from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.http.links import MOST, elsewhere, link, linked, paging


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_any_text_survives_a_link(text):
    made = link("/documents", id=text, page=2)
    parts = urlsplit(made)
    assert made.isascii()
    assert not set(made) & set(" \t\r\n\"'<>`\\")
    assert parse_qs(parts.query, keep_blank_values=True, errors="strict") == {"id": [text], "page": ["2"]}


def test_a_link_back_is_left_out_rather_than_the_link():
    assert linked("/documents", "q=" + "x" * MOST, id="a") == "/documents?id=a"
    assert linked("/documents", "q=x", id="a") == "/documents?id=a&back=q%3Dx"


def test_no_link_is_longer_than_the_service_takes():
    assert link("/", q="x" * (MOST - 4)) is not None
    assert link("/", q="x" * (MOST - 3)) is None


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "ftp://a.example/",
        "//a.example/",
        "/documents?id=a",
        "http:a.example",
        "http:/a.example",
        "http://",
        "http:///x",
        "http://[",
        "http://a.example:port/",
        "https:\\\\a.example",
        "http://a\\b.example/",
        "http://a\x00b.example/",
        "view-source:http://a.example",
        "mailto:a@b.example",
        "",
        None,
    ],
)
def test_only_the_web_is_led_to(address):
    assert elsewhere(address) is None


@pytest.mark.parametrize(
    ("address", "led"),
    [
        ("http://a.example", "http://a.example"),
        ("HTTPS://a.example/ä?b=c d&e=%20#f", "HTTPS://a.example/%C3%A4?b=c%20d&e=%20#f"),
        ('http://a.example/"><script>', "http://a.example/%22%3E%3Cscript%3E"),
        ("http://a.example/\u202e\0\n", "http://a.example/%E2%80%AE%00"),
        ("http://bücher.example/", "http://b%C3%BCcher.example/"),
    ],
)
def test_an_address_is_written_as_browsers_read_it(address, led):
    assert elsewhere(address) == led


@pytest.mark.parametrize(("page", "pages"), [(1, 0), (1, 1), (0, 5), (6, 5), (-1, 5)])
def test_no_links_where_there_is_nothing_to_choose(page, pages):
    assert paging(page, pages, str) is None


@pytest.mark.parametrize("pages", range(2, 15))
def test_every_page_leads_to_its_neighbours_and_the_ends(pages):
    for page in range(1, pages + 1):
        found = paging(page, pages, str)
        numbers = [int(one.label) for one in found.numbers if one is not None]
        assert numbers == sorted(set(numbers))
        assert {1, pages, page, max(1, page - 1), min(pages, page + 1)} <= set(numbers)
        assert [int(one.label) for one in found.numbers if one is not None and one.chosen] == [page]
        assert found.previous == (str(page - 1) if page > 1 else None)
        assert found.following == (str(page + 1) if page < pages else None)


@pytest.mark.parametrize("pages", range(2, 15))
def test_dots_stand_for_two_pages_or_more(pages):
    for page in range(1, pages + 1):
        numbers = paging(page, pages, str).numbers
        for before, dots, behind in zip(numbers, numbers[1:], numbers[2:], strict=False):
            if dots is None:
                assert int(behind.label) - int(before.label) > 2
