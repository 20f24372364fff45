import msgspec
import pytest

from neardup.interfaces.http.bodies import query_of
from neardup.interfaces.http.page import CompareQuery
from neardup.interfaces.http.problems import Refused
from neardup.interfaces.http.searching import SearchQuery


@pytest.mark.parametrize(
    ("kind", "query", "said"),
    [
        (SearchQuery, b"q=a&page=x", '"page" must be a whole number from 1 to 1,000,000, such as 2.'),
        (SearchQuery, b"q=a&size=101", '"size" must be a whole number from 1 to 100, such as 2.'),
        (SearchQuery, b"q=a&threshold=60", '"threshold" must be a number above 0 and at most 1, such as 0.8.'),
        (SearchQuery, b"q=a&verify=none", '"verify" must be estimate or exact.'),
        (SearchQuery, b"q=a&include=x", '"include" must be the digits of a group\'s id.'),
        (SearchQuery, b"page=2", '"q" is missing.'),
        (CompareQuery, b"a=&b=x", '"a" must be 1 to 1,024 characters.'),
        (CompareQuery, b"a=x&b=y&c=z", '"c" is unknown; known are a, b.'),
    ],
)
def test_what_is_wrong_is_named_with_its_rule(kind, query, said):
    with pytest.raises(Refused) as refused:
        query_of(kind, query, {})
    assert refused.value.detail == said


class Flagged(msgspec.Struct):
    """A query with a flag."""

    text: bool = True


def test_a_flag_is_true_or_false():
    with pytest.raises(Refused) as refused:
        query_of(Flagged, b"text=maybe", {})
    assert refused.value.detail == '"text" must be true or false.'
