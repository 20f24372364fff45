import pytest

from neardup import Index, MinHash
from neardup.verdicts import Empty, ExactDuplicate, NearDuplicate, New

A = "The ferry left the harbour at dawn with forty passengers and a cargo of salt and wool"
NEARLY = f"{A} too"
B = "Apples, pears and plums are sold at the market from nine in the morning until it rains"


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit(["a", "near", "b"], [A, NEARLY, B])
        yield index


def test_each_verdict(index):
    exact, near, new, empty = index.judge([A, f"{A}, too!", "Nothing like it was seen before by anyone", ""])
    assert exact == ExactDuplicate("a", "a")
    assert (type(near), near.representative) == (NearDuplicate, "a")
    assert near.verified is False
    assert (new, empty) == (New(), Empty())


def test_a_removed_representative_is_replaced(index):
    assert index.remove(["a"]).promoted == ["near"]
    assert index.judge([A])[0].representative == "near"


def test_what_is_admitted_is_judged_by_what_was_before(index):
    assert [verdict.name for verdict in index.admit(["c", "d"], [NEARLY, B])] == ["exact duplicate", "exact duplicate"]
    assert index.judge([B])[0] == ExactDuplicate("b", "b")


EQUALS = ["The storm broke at dawn.", "the storm broke at dawn", "THE STORM BROKE AT DAWN!"]


@pytest.mark.parametrize("texts", [False, True])
def test_equal_features_with_another_text_are_a_near_duplicate_of_the_first(texts):
    scheme = MinHash(shingle=1, threshold=0.5)
    with Index.create(scheme=scheme, texts=texts) as index:
        near = NearDuplicate("a", "resemblance", 1.0, texts)
        found = index.admit(list("abcd"), [*EQUALS, EQUALS[1]])
        assert found == [New(), near, near, ExactDuplicate("b")]
        assert [verdict.representative for verdict in found] == [None, "a", "a", "a"]
        assert index.judge([EQUALS[2], "The STORM broke at dawn"]) == [ExactDuplicate("c"), near]
        other = f"{EQUALS[0]} Again"
        (found,) = index.judge([other], ids=["a"])  # its next equal has its place
        assert (found.of, found.representative) == ("b", None)
        assert index.remove(["a"]).promoted == ["b"]
        assert index.judge([other])[0].representative == "b"
        assert {document.representative for document in index.get(list("bcd"))} == {"b"}


def test_equals_take_no_room_among_the_candidates():
    scheme = MinHash(shingle=1, threshold=0.5)
    with Index.create(scheme=scheme) as index:
        index.admit([f"d{number}" for number in range(200)], [f"{EQUALS[0]}{'!' * number}" for number in range(200)])
        (found,) = index.admit(["other"], [f"{EQUALS[0]} Again"])
        assert (found.of, found.representative) == ("d0", "d0")
        assert index.stats().oversized_buckets == 0
