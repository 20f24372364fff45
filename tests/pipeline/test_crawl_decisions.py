import pytest

from neardup import Empty, ExactDuplicate, Index, NearDuplicate, New

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
    assert (type(near), near.kept) == (NearDuplicate, "a")
    assert near.verified is False
    assert (new, empty) == (New(), Empty())


def test_a_removed_representative_is_replaced(index):
    assert index.remove(["a"]).promoted == ["near"]
    assert index.judge([A])[0].kept == "near"


def test_what_is_admitted_is_judged_by_what_was_before(index):
    assert [verdict.name for verdict in index.admit(["c", "d"], [NEARLY, B])] == ["exact duplicate", "exact duplicate"]
    assert index.judge([B])[0] == ExactDuplicate("b", "b")
