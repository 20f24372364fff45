from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.http.links import MOST, elsewhere, link


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_any_text_survives_a_link(text):
    made = link("/documents", id=text, page=2)
    parts = urlsplit(made)
    assert made.isascii()
    assert not set(made) & set(" \t\r\n\"'<>`\\")
    assert parse_qs(parts.query, keep_blank_values=True, errors="strict") == {"id": [text], "page": ["2"]}


def test_a_link_longer_than_the_service_takes_is_none():
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
