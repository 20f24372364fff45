# ruff: noqa: RUF001 - letters that look like others are the point
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.query import MOST_QUERY, MOST_TERMS, Term, terms_of


def test_what_counts_of_a_long_query():
    assert len(terms_of(" ".join(f"w{number}" for number in range(10_000)))) == MOST_TERMS
    assert terms_of("storm storm storm*") == (Term("storm"), Term("storm", begins=True))
    assert len(terms_of("x" * 100_000)[0].text) == MOST_QUERY
    begin = f"storm{' ' * (MOST_QUERY - 8)}"
    assert terms_of(f"{begin}dawn") == terms_of(f"{begin}dawn breaks") == (Term("storm"),)
    assert terms_of(f"{begin}day") == terms_of(f"{begin}day breaks") == (Term("storm"), Term("day"))
    assert terms_of(f"{begin}by the sea") == (Term("storm"), Term("by"))


@pytest.mark.parametrize("query", ["", " \t\n", "*", '""', '"', "+ - & ( )", "\0", "\x1f", '" "* ""'])
def test_nothing_to_look_for(query):
    assert terms_of(query) == ()


@pytest.mark.parametrize(
    "query",
    [
        '"at dawn"', "“at dawn”", "„at dawn“", "”at dawn”", "«at dawn»", "»at dawn«", "‹at dawn›", "「at dawn」",
        "『at dawn』", "《at dawn》", "〈at dawn〉", "＂at dawn＂", "‘at dawn’", "‚at dawn‘",
    ],
)  # fmt: skip
def test_quotation_marks_of_all_languages_make_phrases(query):
    assert terms_of(f"storm {query} rain") == (Term("storm"), Term("at dawn"), Term("rain"))


def test_apostrophes_are_no_quotation_marks():
    assert [term.text for term in terms_of("‘don’t stop’ rock’n’roll ’tis")] == ["don’t stop", "rock’n’roll", "’tis"]
    assert terms_of("harb＊ “at da”*") == (Term("harb", begins=True), Term("at da", begins=True))
    assert terms_of('"at da*"') == terms_of('"at da*" *') == (Term("at da", begins=True),)


@given(st.text())
def test_whatever_it_says_a_query_is_terms_of_plain_text(query):
    for term in terms_of(query):
        assert term.text.encode()
        assert "\0" not in term.text
        assert '"' not in term.text
