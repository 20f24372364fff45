"""Bodies and queries as structs."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.http.documents import JudgeBody
from neardup.interfaces.http.pages import PairQuery
from neardup.interfaces.http.problems import Refusal
from neardup.interfaces.http.requests import Input, converted, decoded
from neardup.interfaces.http.search import SearchQuery

ENDED = "The JSON ends inside a value, or a string ends with half a surrogate pair, such as \\ud83d."
RULES = "/docs lists the fields of each body and their rules."


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        (b"", "malformed", "The request has no body."),
        (b'{"documents": [{"text": "\\ud83d"}]}', "malformed", ENDED),
        (b'{"documents": [1', "invalid", f"Expected `object`, got `int` - at `$.documents[0]`. {RULES}"),
        (b'{"documents": [{"text"', "malformed", ENDED),
        (b'{"documents": [{"text": "\xff"}]}', "malformed", "The body is not valid UTF-8."),
        (b'{"documents": [{"text": "a"}],}', "malformed", "JSON is malformed: trailing comma in object (byte 30)"),
        (b'{"other": 1}', "invalid", f"Object contains unknown field `other`. {RULES}"),
    ],
)
def test_the_fault_of_a_body_is_reported(body, kind, detail):
    with pytest.raises(Refusal) as refusal:
        decoded(JudgeBody, body)
    assert (refusal.value.kind.name, refusal.value.detail) == (kind, detail)


@given(st.binary())
def test_any_body_is_decoded_or_refused(body):
    for begin in (b"", b'{"documents":[', b'{"documents":[{"text":"'):
        with pytest.raises(Refusal):
            decoded(JudgeBody, begin + body)


@pytest.mark.parametrize("opening", [b"[", b'{"documents":', b'{"documents":[{"fields":{"a":'])
def test_deep_nesting_is_refused_without_being_followed(opening):
    with pytest.raises(Refusal):
        decoded(JudgeBody, opening * 300_000)


@pytest.mark.parametrize(
    ("kind", "given", "detail"),
    [
        (SearchQuery, {"q": "a", "page": "x"}, '"page" must be a whole number from 1 to 1,000,000.'),
        (SearchQuery, {"q": "a", "size": "101"}, '"size" must be a whole number from 1 to 100.'),
        (SearchQuery, {"q": "a", "threshold": "60"}, '"threshold" must be a number above 0 and at most 1.'),
        (SearchQuery, {"q": "a", "verify": "none"}, '"verify" must be estimate or exact.'),
        (SearchQuery, {"q": "a", "include": "x"}, '"include" must be the digits of a group id.'),
        (SearchQuery, {"page": "2"}, '"q" is missing.'),
        (PairQuery, {"a": "", "b": "x"}, '"a" must be 1 to 1,024 characters.'),
        (PairQuery, {"a": "x", "b": "y", "c": "z"}, '"c" is unknown; use a, b, shown, back.'),
    ],
)
def test_an_invalid_parameter_is_named_with_its_rule(kind, given, detail):
    with pytest.raises(Refusal) as refusal:
        converted(kind, given)
    assert refusal.value.detail == detail


class Flagged(Input):
    """A query with a flag."""

    text: bool = True


def test_a_flag_is_true_or_false():
    assert converted(Flagged, {"text": "false"}) == Flagged(text=False)
    with pytest.raises(Refusal) as refusal:
        converted(Flagged, {"text": "maybe"})
    assert refusal.value.detail == '"text" must be true or false.'


def test_parameters_are_converted_to_the_types_of_the_struct():
    query = converted(SearchQuery, {"q": "x", "page": "7", "threshold": "0.5"})
    assert msgspec.structs.asdict(query) == msgspec.structs.asdict(SearchQuery(q="x", page=7, threshold=0.5))
