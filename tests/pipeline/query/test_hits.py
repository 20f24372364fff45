import enum
from collections import OrderedDict, UserDict, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup
from neardup import Index, SimHash
from neardup.errors import DataError, ParameterError
from neardup.pipeline.query.hits import Hits

RECORDS = [{"id": "a", "site": "x"}, {"id": 2}, {"id": "c", "site": None}]


@pytest.mark.parametrize(
    "hits",
    [
        RECORDS,
        tuple(RECORDS),
        iter(RECORDS),
        [OrderedDict(hit) for hit in RECORDS],
        [UserDict(hit) for hit in RECORDS],
        [RECORDS[0], UserDict(RECORDS[1]), OrderedDict(RECORDS[2])],
        [defaultdict(list, hit) for hit in RECORDS],
    ],
)
def test_hits_may_be_records(hits):
    given = Hits(hits, "id", None)
    assert given.ids == ["a", 2, "c"]
    assert given.names == ["a", "2", "c"]
    assert given.records
    assert given.values("site", 3) == ["x", None, None]
    assert given.values("site", 1) == ["x"]
    assert len(given) == 3


@pytest.mark.parametrize("hits", [[*np.array([3, 5])], [{"id": own} for own in np.array([3, 5], np.uint16)]])
def test_integers_of_numpy_are_those_of_python(hits):
    given = Hits(hits, "id", None)
    assert (given.ids, given.names, {*map(type, given.ids)}) == ([3, 5], ["3", "5"], {int})


def test_what_makes_up_what_it_does_not_have_is_not_asked_to():
    hits = [defaultdict(list, hit) for hit in RECORDS]
    Hits(hits, "id", None).values("site", 3)
    assert hits == RECORDS


def test_a_field_that_only_a_later_hit_has_is_there():
    assert Hits([{"id": 1}, {"id": 2, "site": "x"}], "id", None).values("site", 1) == [None]


@pytest.mark.parametrize(
    "hits", [["a", 2], ("a", 2), iter(["a", 2]), dict.fromkeys(["a", 2]).keys(), np.array(["a", 2], object)]
)
def test_hits_may_be_ids(hits):
    given = Hits(hits, "id", None)
    assert given.ids == ["a", 2]
    assert not given.records


@pytest.mark.parametrize("hits", [np.array([3, 1]), np.array([3, 1], np.uint8), pa.array([3, 1]), range(3, 0, -2)])
def test_hits_may_be_arrays_of_ids(hits):
    assert Hits(hits, "id", None).ids == [3, 1]


def test_strings_of_an_array():
    assert Hits(np.array(["a", "b"]), "id", None).ids == ["a", "b"]


def test_hits_may_be_a_table():
    given = Hits(pa.table({"key": ["a", "b"], "site": [1, None]}), "key", None)
    assert given.ids == ["a", "b"]
    assert given.values("site", 2) == [1, None]


@pytest.mark.parametrize(
    "hits",
    [
        "abc",
        b"abc",
        7,
        None,
        {"id": "a"},
        [None],
        [True],
        [1.5],
        [b"a"],
        ["a", {"id": "b"}],
        [{"id": None}],
        [{"id": True}],
        [{}],
        [["a"]],
        np.array([["a"]]),
        np.array("a"),
        pa.table({"no": ["a"]}),
    ],
)
def test_invalid_hits_are_refused(hits):
    with pytest.raises(DataError):
        Hits(hits, "id", None)


def test_columns_of_tables_may_have_any_name():
    frame = pd.DataFrame({"id": ["a", "b"], "text": ["x y z"] * 2, 0: [1, 2], None: [3, 4], ("a", 1): [5, 6]})
    found = neardup.collapse(frame)
    assert found.kept == ["a"]
    assert found.page[0].kept[0].given == {"id": "a", "text": "x y z", "0": 1, "None": 3, "('a', 1)": 5}


@pytest.mark.parametrize("values", [[1, "a"], [1j, 2j], [object(), {"a": 1}]])
def test_columns_that_arrow_cannot_represent_are_refused_by_their_names(values):
    frame = pd.DataFrame({"id": ["a", "b"], "text": ["x y z"] * 2, "own": values})
    with pytest.raises(DataError, match=r"column 'own', row \d"):
        neardup.collapse(frame)
    neardup.collapse(frame.drop(columns="own"))


@pytest.mark.parametrize("kind", ["pandas", "table", "batches"])
def test_columns_of_one_name_are_refused(kind):
    table = pa.table([["a", "b"], ["x", "x"], [1, 2], [1, 2]], names=["id", "text", "own", "own"])
    frame = pd.DataFrame(
        zip(*[column.to_pylist() for column in table.columns], strict=True), columns=table.column_names
    )
    hits = {"pandas": lambda: frame, "table": lambda: table, "batches": table.to_reader}[kind]
    with pytest.raises(DataError, match="column 'own': occurs more than once"):
        neardup.collapse(hits())


@pytest.mark.parametrize(
    ("hits", "message"),
    [
        ({"a", "b"}, "hits are a set, which has no order; pass a list, best"),
        (pl.LazyFrame({"id": ["a"]}), r"hits: a LazyFrame is not computed yet: call \.collect"),
        (np.array(5), "hits are a zero-dimensional array"),
        (Path("x"), "hits: 'x' is a path; read the file first"),
    ],
)
def test_other_containers_are_refused_as_hits(hits, message):
    with pytest.raises(DataError, match=message):
        neardup.collapse(hits)


def test_the_error_says_which():
    with pytest.raises(DataError, match=r"hit 1 .*'id'"):
        Hits([{"id": "a"}, {"name": "b"}], "id", None)


@pytest.mark.parametrize("hits", [[], (), pa.table({"id": pa.array([], pa.string())})])
def test_there_may_be_no_hits(hits):
    given = Hits(hits, "id", None)
    assert len(given) == 0
    assert given.values("site", 0) == []


def test_a_field_of_none_is_an_error():
    given = Hits(RECORDS, "id", None)
    assert given.lacks("sight")
    assert not given.lacks("site")
    with pytest.raises(DataError, match="'sight'"):
        given.values("sight", 3)
    with pytest.raises(ParameterError, match="index"):
        Hits(["a"], "id", None).values("site", 1)


def test_the_list_that_was_given_may_change():
    hits = ["a", "b"]
    given = Hits(hits, "id", None)
    hits.clear()
    assert given.ids == ["a", "b"]


def test_an_index_says_what_hits_do_not(tmp_path):
    with Index.create(tmp_path / "index", SimHash(), fields={"site": str}) as index:
        index.admit(["a", "2"], ["one text", "two texts"], {"site": ["x", "y"]})
        for hits in (["a", 2, "gone"], [{"id": "a"}, {"id": 2}, {"id": "gone"}]):
            assert Hits(hits, "id", index).values("site", 3) == ["x", "y", None]
        assert Hits(RECORDS, "id", index).values("site", 3) == ["x", "y", None]  # hit by hit
        own = [{"id": "a", "site": float("nan")}, {"id": 2, "site": "z"}]
        for hits in (own, pa.table({"id": ["a", "2"], "site": [None, "z"]})):
            assert Hits(hits, "id", index).values("site", 2) == ["x", "z"]
        with pytest.raises(DataError, match="'sight'"):
            Hits(["a"], "id", index).values("sight", 1)


def digest(ids, number=None):
    return Hits(ids, "id", None).digest(len(ids) if number is None else number)


def test_a_digest_tells_names_and_their_order():
    lists = [
        ["a", "b"],
        ["b", "a"],
        ["ab"],
        ["a", "b", ""],
        ["a", "\0b"],
        ["a\0", "b"],
        ["a\0b"],
        [],
        ["\ud800"],
        ["\ud801"],
    ]
    assert len({digest(ids) for ids in lists}) == len(lists)
    assert all(len(digest(ids)) == 32 for ids in lists)
    assert digest([7, "a"]) == digest(["7", "a"])  # an index has strings
    assert digest(["a", "b", "c"], 2) == digest(["a", "b"])


class Letter(str, enum.Enum):  # noqa: UP042 - which is written in another way than it is read
    A = "a"


@pytest.mark.parametrize("own", [np.str_("a"), Letter.A])
@pytest.mark.parametrize("others", [[], ["b"], [7]])
def test_strings_of_any_class_are_strings(own, others, tmp_path):
    ids, plain = [own, *others], ["a", *others]
    assert Hits(ids, "id", None).names == list(map(str, plain))
    assert digest(ids) == digest(plain)
    with Index.create(tmp_path / "seen") as index:
        index.admit(["a", "b"], ["some words of a text"] * 2)
        cache = neardup.collapsing.JudgedSets()
        found = [neardup.collapse(given, index=index, cache=cache).page for given in (plain, ids)]
        assert (cache.hits, cache.misses) == (1, 1)
    assert [group.id for group in found[0]] == [group.id for group in found[1]]
    values = [{"id": rank, "of": value} for rank, value in enumerate(["a", own, None, own])]
    assert neardup.collapse(values, neardup.SameValue("of")).kept == [0, 2]


def test_ids_without_texts_need_an_index_or_records():
    rule = "index=None must be an index: the hits are ids without texts; or pass records with the field 'text'"
    with pytest.raises(ParameterError, match=rule):
        neardup.collapse(["one two three", "four five six"])


def invalid(*raw):
    """Return a column of strings that are not valid UTF-8, which Arrow does not check here."""
    wide = pa.array(raw, pa.large_binary())
    return pa.Array.from_buffers(pa.large_string(), len(wide), wide.buffers())


def test_invalid_bytes_of_strings_separate_words():
    texts = invalid(b"one two three four\xff five", b"one two three four five", None)
    assert Hits(pa.table({"id": [1, 2, 3], "text": texts}), "id", None).values("text", 3) == [
        "one two three four\ufffd five",
        "one two three four five",
        None,
    ]
    assert str(neardup.collapse(pa.table({"id": [1, 2, 3], "text": texts}))) == "<Collapsed 3 hits: 2 groups, 1 hidden>"


def test_ids_must_be_utf8():
    with pytest.raises(DataError, match="column 'id' has invalid UTF-8, which ids"):
        Hits(pa.table({"id": invalid(b"\xff", b"b"), "text": ["a", "b"]}), "id", None)
    with pytest.raises(DataError, match="hits have an id that is not valid UTF-8"):
        Hits(invalid(b"\xff", b"b"), "id", None)
    lists = pa.ListArray.from_arrays([0, 1, 2], invalid(b"\xff", b"b"))
    with pytest.raises(DataError, match="column 'tags' has invalid UTF-8, which ids"):
        Hits(pa.table({"id": ["a", "b"], "tags": lists}), "id", None)


def test_a_digest_names_the_fields_of_the_values():
    one, other = (Hits([{"id": 1, name: "x"}], "id", None) for name in ("site", "kind"))
    assert one.digest(1, ["site", "kind"]) != other.digest(1, ["site", "kind"])
    one, other = (Hits([{"id": 1}, {"id": 2, "site": site}], "id", None) for site in "xy")
    assert one.digest(2, ["site"]) != other.digest(2, ["site"])
