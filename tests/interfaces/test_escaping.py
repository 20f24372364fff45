import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.escaping import middle_shortened, parts, printable, shortened

JOINERS = "\u200c\u200d"


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_that_could_steer_a_terminal_is_left(text):
    shown = printable(text)
    assert all(
        unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for letter in shown.translate(dict.fromkeys(map(ord, JOINERS)))
    )
    assert shown.encode().decode() == shown == printable(shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m\x07\x9b", "a\\x1b[31m\\x07\\x9b"),
        ("\u202eabc\u2066\ufeff", "\\u202eabc\\u2066\\ufeff"),
        ("\ud800 \U000e0041", "\\ud800 \\U000e0041"),
        ("n\udc80\udcff.csv", "n\\x80\\xff.csv"),
        ("one\r\n\ttwo", "one   two"),
        ("\u2028", "\\u2028"),
        ("नमस्\u200dते 東京 é", "नमस्\u200dते 東京 é"),
    ],
)
def test_what_is_escaped_and_what_is_not(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("spans", [[], [(0, 3)], [(1, 2), (2, 3)], [(0, 9)], [(2, 2)], [(0, 2), (1, 3)]])
def test_parts_are_the_whole_text(spans):
    assert "".join(text for text, _ in parts("abc", spans)) == "abc"


def test_long_texts_are_cut():
    assert len(shortened("x" * 500, 300)) == 300
    assert len(middle_shortened("x" * 500, 76)) == 77
