from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest

from neardup import MinHash
from neardup.errors import DataError, RecipeMismatch
from neardup.index.disk.columns import Columns
from neardup.model.arrays import Signatures
from neardup.pipeline.index import inputs
from neardup.pipeline.index.inputs import Given, as_strings, is_id, microseconds, require_ids, types_of

SCHEME = MinHash()
SALT = np.array([3, 5], np.uint64)
COLUMNS = Columns("<u4", SCHEME.permutations, (("rank", "integer"),), texts=False)


def steps(documents, names=None):
    return [(step.start, step.stop) for step in Given(SCHEME, COLUMNS, SALT, documents, None).steps(names)]


def test_steps_have_one_content_for_each_id_and_so_much_at_most(monkeypatch):
    assert steps([]) == []
    assert steps(["a"] * 5) == [(0, 5)]
    ids = ["p", "q", "p", "p", "q"]
    assert steps(["a"] * 5, ids) == [(0, 5)]
    assert steps(["a", "a", "b", "c", "a"], ids) == [(0, 2), (2, 3), (3, 5)]
    signed = SCHEME.sign(["one two", "three four", "one two", "three", "three four"])
    assert steps(signed, ids) == [(0, 3), (3, 5)]
    monkeypatch.setattr(inputs, "TOGETHER", 2)
    assert steps(["a"] * 5) == [(0, 2), (2, 4), (4, 5)]
    monkeypatch.setattr(inputs, "BYTES_TOGETHER", 3)
    assert steps(["aaaa", "a", "aaa", "a"]) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_signatures_are_as_the_index_keeps_them():
    signed = SCHEME.sign(["one two three"])
    assert len(Given(SCHEME, COLUMNS, SALT, signed, None)) == 1
    with pytest.raises(RecipeMismatch):
        Given(SCHEME, COLUMNS, SALT, MinHash(seed=2).sign(["one two three"]), None)
    wrong = Signatures(signed.rows.astype(np.uint64), signed.present, signed.recipe)
    with pytest.raises(DataError, match="must have rows of 128 uint32"):
        Given(SCHEME, COLUMNS, SALT, wrong, None)


def test_fields_must_be_known():
    with pytest.raises(DataError, match=r"field 'colour'.*this index has rank"):
        Given(SCHEME, COLUMNS, SALT, ["a"], {"colour": ["red"]})
    assert Given(SCHEME, COLUMNS, SALT, ["a"], {"rank": [1]}).table.column_names == ["rank"]


@pytest.mark.parametrize("ids", [["a", "b"], ("a", "b"), np.array(["a", "b"]), pa.array(["a", "b"]), iter(["a", "b"])])
def test_ids_may_come_in_any_sequence(ids):
    assert require_ids(ids, 2) == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "rule"),
    [
        (["a"], "1 id for 2 documents; each document needs one"),
        (["a", ""], "has 0 bytes, but must have 1 to 1,024"),
        (["a", "x" * 1025], "has 1,025 bytes"),
        (["a", "\ud800"], "has a lone surrogate"),
        (["a", 5], "must be a string"),
        (["a", None], "must be a string"),
        ("ab", "must be a sequence of strings"),
        (5, "must be a sequence of strings"),
        (pa.table({"a": ["b"]}), "must be a sequence of strings"),
    ],
)
def test_ids_that_cannot_be(ids, rule):
    with pytest.raises(DataError, match=rule):
        require_ids(ids, 2)


def test_what_an_id_can_be():
    assert all(map(is_id, ["a", "\0", "é" * 512]))
    assert not any(map(is_id, ["", "\ud800", "é" * 513]))


def test_types_of_values():
    assert types_of([]) == set()
    assert types_of(["a", np.str_("b")]) == {str}
    assert types_of([1, 2]) == {int}
    assert types_of(["a", 1]) == {str, int}
    assert as_strings(np.array(["a"])) == ["a"]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (0, 0),
        (1.5, 1_500_000),
        (np.int64(-1), -1_000_000),
        (datetime(1970, 1, 2), 86_400_000_000),  # noqa: DTZ001 - without a zone it is in UTC
        (datetime(1970, 1, 1, 5, tzinfo=timezone(timedelta(hours=5))), 0),
        (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1),
    ],
)
def test_moments_are_counted_in_microseconds(moment, expected):
    assert microseconds(moment, "at") == expected


def test_a_set_of_ids_is_refused_as_it_has_no_order():
    for ids in ({"a", "b"}, frozenset("ab")):
        with pytest.raises(DataError, match="ids are a set, which has no order; pass a list, in the order of the doc"):
            require_ids(ids, 2)
    assert [type(own) for own in require_ids(np.array(["a", "b"]), 2)] == [str, str]
    with pytest.raises(DataError, match="ids must be a sequence of strings, not a string"):
        require_ids(np.array("abc"), 3)
