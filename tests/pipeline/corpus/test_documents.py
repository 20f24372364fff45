import csv
import io
import itertools
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Checksum, Field, MinHash, dedup
from neardup.errors import DataError
from neardup.pipeline.corpus import documents
from neardup.pipeline.corpus.documents import Documents, rows_in
from neardup.text.columns import gathered

TEXTS = st.lists(st.sampled_from(["", None, "a", "b", "ab", "é", "a longer text"]), min_size=1, max_size=12)


def chunked(texts, cuts):
    edges = sorted({0, len(texts), *(min(cut, len(texts)) for cut in cuts)})
    chunks = [pa.array(texts[begin:end], pa.string()) for begin, end in itertools.pairwise(edges)]
    return pa.chunked_array(chunks, pa.string())


@given(TEXTS, st.lists(st.integers(0, 12), max_size=4), st.integers(1, 6), st.integers(1, 5), st.data())
def test_texts_are_equal_byte_by_byte_whatever_the_chunks_and_blocks(texts, cuts, copied, few, data):
    positions = st.lists(st.integers(0, len(texts) - 1), min_size=8, max_size=8)
    left, right = np.array(data.draw(positions)), np.array(data.draw(positions))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_COPIED", copied)
        patch.setattr(documents, "_FEW", few)
        same = Documents.of(chunked(texts, cuts), "text", None).same_text(left, right)
    assert same.tolist() == [bool(texts[i]) and texts[i] == texts[j] for i, j in zip(left, right, strict=True)]


def test_the_work_of_comparing_texts_does_not_grow_with_the_chunks(monkeypatch):
    texts = [f"text {place % 50}" for place in range(1000)]
    calls = []
    monkeypatch.setattr(documents, "gathered", lambda *side: calls.append(side) or gathered(*side))
    column = chunked(texts, range(0, 1000, 10))
    left, right = np.arange(50, 1000), np.arange(50, 1000) % 50
    assert Documents.of(column, "text", None).same_text(left, right).all()
    assert len(calls) == 2  # once each side
    few = chunked(texts, [300, 300, 700])
    assert Documents.of(few, "text", None).same_text(left, right).all()
    assert len(calls) == 2  # few chunks are not copied


def test_only_a_column_named_id_may_be_absent():
    table = pa.table({"text": ["a", "b"], "url": ["u", "v"]})
    assert Documents.of(table, "text", "id").ids.to_pylist() == ["0", "1"]
    assert Documents.of(table, "text", "url").ids.to_pylist() == ["u", "v"]
    with pytest.raises(DataError, match=r"table: there is no column 'nope'; the columns are: text, url"):
        Documents.of(table, "text", "nope")
    for texts in (["a", "b"], pa.array(["a", "b"])):
        with pytest.raises(DataError, match=r"table: there is no column 'nope'; the columns are: text"):
            Documents.of(texts, "text", "nope")


def test_only_the_columns_that_are_needed_are_read():
    table = pa.table({name: ["1", "2"] for name in ("text", "id", "score", "title", "body", "more")})
    read = Documents.of(table, "text", "id", ["score"], ["title", "date"])
    assert read.table.column_names == ["text", "score", "id", "title"]
    assert Documents.of(table, "text", None).table.column_names == ["text"]


def test_an_iterator_may_be_of_dictionaries():
    rows = csv.DictReader(io.StringIO("id,text\na,one two\nb,three\n"))
    for source in (rows, ({"id": own, "text": text} for own, text in (("a", "one two"), ("b", "three")))):
        read = Documents.of(source, "text", "id")
        assert (read.ids.to_pylist(), read.texts.to_pylist()) == (["a", "b"], ["one two", "three"])
    assert Documents.of(iter([]), "text", "id").texts.to_pylist() == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a.jsonl", r"'a\.jsonl' is a single text: put it in a list; to read files, use neardup\.dedup_files"),
        ("long " * 100, r"'long long .*\.\.\.' is a single text"),
        ({"text": ["a"]}, r"a dict is not a table: make one with pyarrow\.table"),
        ([{"text": "a"}, {"body": "b"}], r"document 1 has no 'text'; its keys are body"),
        ([{"body": "b"}], r"document 0 has no 'text'"),
        (io.StringIO("a\nb\n"), r"are an open file; to read files, use .*; to compare its lines, pass \[\*file\]"),
    ],
)
def test_an_invalid_collection_is_refused_with_the_way_out(source, message):
    with pytest.raises(DataError, match=message):
        Documents.of(source, "text", "id")


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars_are_texts_fields_and_ranks(kind):
    polars = pytest.importorskip("polars")
    names = ["low", "high", "mid", "low"]
    dtype = polars.Enum(["low", "mid", "high"]) if kind == "Enum" else polars.Categorical
    series = polars.Series("v", names, dtype=dtype)
    frame = polars.DataFrame({"text": ["one two three four"] * 4, "v": series})
    assert dedup(frame, text="v").representatives.tolist() == [-1, -1, -1, 0]
    assert dedup(frame, id="v").decisions["id"].to_pylist() == names
    assert len(dedup(frame, keep="max:v").kept) == 1
    by_title = Checksum(fields=[Field(name="v")])
    assert dedup(frame, scheme=by_title).representatives.tolist() == [-1, -1, -1, 0]
    assert by_title.sign(frame).present.all()
    assert MinHash(shingle=1).sign(series).present.all()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_documents_without_an_id_are_called_by_their_position_as_no_other_is(kind):
    def ids(*names):
        return Documents.of(
            pa.table({"text": ["a"] * len(names), "id": pa.array(names, kind)}), "text", "id"
        ).ids.to_pylist()

    assert ids("a", None, "1", None) == ["a", "#1", "1", "#3"]
    assert ids("#1", None, "#0") == ["#1", "##1", "#0"]
    assert ids("#0", "x", "y") == ["#0", "x", "y"]
    assert ids(None, None) == ["#0", "#1"]


@pytest.mark.parametrize(
    "ids", [["a", "b\ud800"], [None, "\udfff"], [b"a", b"\xff"]], ids=["half", "other half", "bytes"]
)
def test_an_id_that_is_not_utf8_is_named_with_its_row(ids):
    with pytest.raises(DataError, match=r"'id', row 1 is not valid UTF-8, .* as hexadecimal strings"):
        dedup([{"text": "a", "id": own} for own in ids])


def test_periods_are_not_the_numbers_that_they_are_stored_as():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": pandas.period_range("2020", periods=2, freq="M"), "text": ["a", "b"]})
    with pytest.raises(DataError, match=r"'id': holds .*period.*, but ids must be strings, numbers, times or UUIDs"):
        dedup(frame)


@pytest.mark.parametrize(
    ("moment", "kind", "rule"),
    [
        (1, pa.timestamp("s", "Foo/Bar"), "in the unknown time zone 'Foo/Bar'"),
        (10**13, pa.timestamp("s", "UTC"), "outside of the"),
    ],
)
def test_times_that_cannot_be_written_are_no_ids(moment, kind, rule):
    with pytest.raises(DataError, match=f"'id' has times {rule}.*; convert it to strings"):
        dedup(pa.table({"text": ["a"], "id": pa.array([moment], kind)}))


def test_uuids_are_ids_in_their_text_form():
    names = [UUID(int=number) for number in (0, 2**127)]
    table = pa.table({"text": ["a", "b", "c"], "id": pa.array([*(name.bytes for name in names), None], pa.uuid())})
    assert Documents.of(table, "text", "id").ids.to_pylist() == [*map(str, names), "#2"]
    records = [{"text": "a", "id": name} for name in names]
    assert dedup(records).decisions["id"].to_pylist() == [*map(str, names)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_an_id_of_an_invalid_string_is_named_with_its_row(kind):
    raw = pa.array([b"a", b"\xff"], pa.large_binary())
    ids = pa.Array.from_buffers(pa.large_string(), 2, raw.buffers()).cast(kind)
    with pytest.raises(DataError, match="'id', row 1 is not valid UTF-8"):
        dedup(pa.table({"text": ["a", "b"], "id": ids}))


def test_rows_are_found_in_the_pieces_that_have_them():
    pieces = [range(3), range(0), range(2), range(4)]
    found = [(part, rows.tolist()) for _, part, rows in rows_in(pieces, np.array([0, 2, 4, 8]))]
    assert found == [(slice(0, 2), [0, 2]), (slice(2, 2), []), (slice(2, 3), [1]), (slice(3, 4), [3])]
    assert [*rows_in(iter(lambda: pytest.fail("read"), None), np.empty(0, np.int64))] == []
