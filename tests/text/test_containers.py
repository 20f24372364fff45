from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from arrow_streams import OnlyStream

import neardup
from neardup.model.errors import DataError
from neardup.text.containers import records_as_table, rows_where, table_or_column

PAGES = pa.table({"text": ["one", "two"], "id": [1, 2]})
MARKED = np.array([False, True])


class Relation(OnlyStream):
    """A stream of named columns, for example of a query of DuckDB."""

    columns = ("text", "id")


def library(name):
    """An optional library; `make` installs it, and an environment without it skips the test."""
    return pytest.importorskip(name)


def pandas_frame(table):
    return library("pandas").DataFrame(table.to_pydict())


def polars_frame(table):
    return library("polars").DataFrame(table.to_pydict())


def dataset(table):
    return library("datasets").Dataset(table)


ARROW = {
    "table": lambda t: t,
    "batch": lambda t: pa.RecordBatch.from_pylist(t.to_pylist(), t.schema),
    "structs": lambda t: t.to_struct_array(),
    "struct array": lambda t: pa.array(t.to_pylist(), pa.struct(t.schema)),
}
STREAMS = {"reader": lambda t: t.to_reader(), "stream": OnlyStream, "relation": Relation}
FRAMES = {"pandas": pandas_frame, "polars": polars_frame, "datasets": dataset}


@pytest.mark.parametrize("make", [*ARROW.values(), *STREAMS.values()], ids=[*ARROW, *STREAMS])
@pytest.mark.parametrize("rows", [2, 0])
def test_a_table_of_any_kind_is_a_table(make, rows):
    pages = pa.Table.from_batches([pa.RecordBatch.from_pylist(PAGES.to_pylist()[:rows], PAGES.schema)])
    assert table_or_column(make(pages)).equals(pages)
    assert table_or_column(make(pages), ["id"]).equals(pages.select(["id"]))


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("rows", [2, 0])
def test_a_data_frame_is_a_table(make, rows):
    pages = PAGES.slice(0, rows)
    assert table_or_column(make(pages)).to_pydict() == pages.to_pydict()
    assert table_or_column(make(pages), ["text"], ["id", "url"]).to_pydict() == pages.to_pydict()


@pytest.mark.parametrize("make", [*ARROW.values(), *FRAMES.values()], ids=[*ARROW, *FRAMES])
def test_a_table_without_the_columns_has_its_rows(make):
    found = table_or_column(make(PAGES), (), ["url"])
    assert (found.num_columns, found.num_rows) == (0, 2)


def test_a_stream_of_no_batches_is_an_empty_table():
    reader = pa.RecordBatchReader.from_batches(PAGES.schema, [])
    assert table_or_column(reader).equals(PAGES.schema.empty_table())


def test_a_column_stays_a_column():
    column = pa.chunked_array([["one"], ["two"]])
    assert table_or_column(OnlyStream(column)).equals(column)
    for source in (column, column.chunk(0), ["one"], "one", 5):
        assert table_or_column(source) is source


def test_columns_that_arrow_cannot_hold_do_not_matter_unless_they_are_needed():
    frame = pandas_frame(PAGES)
    frame["meta"] = [1, "a"]
    frame[7] = frame[8] = 0.5
    assert table_or_column(frame, ["text"], ["id"]).to_pydict() == PAGES.to_pydict()
    with pytest.raises(DataError, match="column 'meta', row 1 is a string"):
        table_or_column(frame, ["meta"])
    wide = polars_frame(PAGES).with_columns(big=library("polars").col("id").cast(library("polars").Int128))
    assert table_or_column(wide, ["text"]).to_pydict() == {"text": ["one", "two"]}
    with pytest.raises(DataError, match="column 'big' has a type that pyarrow cannot read; cast it to another"):
        table_or_column(wide, ["big"])


def test_a_dataset_reads_only_the_columns_that_are_needed(monkeypatch):
    datasets = library("datasets")
    read = []
    fetch = datasets.Dataset.__getitem__
    monkeypatch.setattr(
        datasets.Dataset, "__getitem__", lambda own, key: read.append(own.column_names) or fetch(own, key)
    )
    shuffled = dataset(PAGES).shuffle(seed=3)
    assert sorted(table_or_column(shuffled, ["text"]).column("text").to_pylist()) == ["one", "two"]
    assert read == [["text"]]


def test_the_index_of_pandas_is_a_column_where_it_has_the_name():
    frame = pandas_frame(PAGES).set_index("id")
    assert table_or_column(frame, ["text"], ["id"]).to_pydict() == PAGES.to_pydict()
    nameless = frame.rename_axis(None)
    assert table_or_column(nameless, ["text"], ["id"]).column_names == ["text"]


def test_names_of_pandas_are_strings():
    pandas = library("pandas")
    frame = pandas.DataFrame([["one", 1], ["two", 2]], index=pandas.Index([8, 9], name=7))
    assert table_or_column(frame, ["0", "7"]).to_pydict() == {"0": ["one", "two"], "7": [8, 9]}
    assert neardup.dedup(frame, text="0", id="1").decisions["id"].to_pylist() == ["1", "2"]
    frame.columns = pandas.MultiIndex.from_tuples([("text", ""), ("n", "x")])
    assert table_or_column(frame).column_names == ["('text', '')", "('n', 'x')", "7"]
    assert table_or_column(pandas.DataFrame([["one", "two"]], columns=[0, "0"]), ["0"]).to_pydict() == {"0": ["two"]}
    with pytest.raises(DataError, match="'0': occurs more than once"):
        table_or_column(pandas.DataFrame([["one", "two"]], columns=[0, 0]), ["0"])


def test_missing_values_of_pandas_are_null():
    pandas = library("pandas")
    texts = pandas.Series(["a", None, float("nan")], dtype=object)
    for source in (texts, texts.astype("category")):
        assert table_or_column(source).to_pylist() == ["a", None, None]
        assert table_or_column(pandas.DataFrame({"text": source})).column("text").to_pylist() == ["a", None, None]
    odd = table_or_column(pandas.Series(["a\ud800", None], dtype=object))
    assert odd.to_pylist() == [b"a\xed\xa0\x80", None]


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars_can_be_unpacked(kind):
    polars = library("polars")
    series = polars.Series(["b", None, "a"], dtype=polars.Enum(["b", "a"]) if kind == "Enum" else polars.Categorical)
    column = table_or_column(polars.DataFrame({"text": series})).column("text")
    assert column.cast(pa.large_string()).to_pylist() == ["b", None, "a"]
    assert column.type.ordered == (kind == "Enum")


def test_a_column_that_is_missing_or_there_twice_is_named():
    with pytest.raises(DataError, match=r"table: there is no column 'url'; the columns are: text, id"):
        table_or_column(PAGES, ["url"])
    with pytest.raises(DataError, match=r"table: there is no column 'url'; it has none"):
        table_or_column(pa.table({}), ["url"])
    twice = pa.table([["a"], ["b"], [1]], names=["text", "text", "id"])
    with pytest.raises(DataError, match=r"column 'text': occurs more than once"):
        table_or_column(twice, ["text"])
    assert table_or_column(twice, ["id"]).column_names == ["id"]
    frame = library("pandas").DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(DataError, match=r"column 'text': occurs more than once"):
        table_or_column(frame, ["text"])


# What is not in memory is refused with the call that reads it.


def lazy_frame(_):
    return polars_frame(PAGES).lazy()


def arrow_dataset(folder):
    import pyarrow.dataset as arrow
    from pyarrow import parquet

    parquet.write_table(PAGES, folder / "pages.parquet")
    return arrow.dataset(folder / "pages.parquet")


NOT_READ = {
    "LazyFrame": (lazy_frame, r"\.collect\(\)"),
    "pyarrow Dataset": (arrow_dataset, r"\.to_table\(\)"),
    "Scanner": (lambda folder: arrow_dataset(folder).scanner(), r"\.to_table\(\)"),
    "IterableDataset": (lambda _: dataset(PAGES).to_iterable_dataset(), r"list\(dataset\)"),
    "DatasetDict": (lambda _: library("datasets").DatasetDict(train=dataset(PAGES)), r"datasets\['train'\]"),
    "path": (lambda folder: folder / "pages.jsonl", r"neardup\.dedup_files"),
    "set": (lambda _: {"a", "b"}, "pass a list"),
    "frozenset": (lambda _: frozenset("ab"), "pass a list"),
    "array of no dimension": (lambda _: np.array("a b c"), "pass a list"),
}


@pytest.mark.parametrize(("make", "way"), NOT_READ.values(), ids=NOT_READ)
@pytest.mark.parametrize("function", [table_or_column, lambda source: rows_where(source, MARKED)], ids=["open", "rows"])
def test_what_is_not_in_memory_is_refused_with_the_way_out(make, way, function, tmp_path):
    with pytest.raises(DataError, match=way):
        function(make(tmp_path))


def test_a_frame_of_an_unknown_library_is_refused():
    class Frame:
        columns = ("text",)

        def __iter__(self):
            return iter(self.columns)

    with pytest.raises(DataError, match="a Frame cannot be read: convert it to pandas, polars or Arrow"):
        table_or_column(Frame())


# Records.


def test_records_are_a_table_of_the_keys_that_are_needed():
    records = [{"text": "one", "id": 1, "meta": {1}}, {"text": None, "meta": "x"}]
    table = records_as_table(records, ["text"], ["id", "url"])
    assert table.to_pydict() == {"text": ["one", None], "id": [1, None]}
    assert records_as_table([{"text": "a\ud800"}], ["text"], []).column("text").to_pylist() == [b"a\xed\xa0\x80"]


def test_missing_values_of_records_are_null_as_in_a_frame():
    pandas = pytest.importorskip("pandas")
    columns = {
        "text": ["one", None],
        "id": [None, "b"],
        "time": pandas.to_datetime([None, "2024-01-01"]),
        "number": [2**70, float("nan")],
    }
    frame = pandas.DataFrame(columns)
    records = frame.to_dict("records")
    assert {type(value).__name__ for record in records for value in record.values()} >= {"NaTType", "float"}
    table = records_as_table(records, list(columns), [])
    assert [column.null_count for column in table.columns] == [1] * len(columns)
    assert table.to_pydict() == table_or_column(frame, list(columns)).to_pydict()


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"text": "one"}, "two"], "document 1 must be a mapping, as the first document, not a string"),
        ([{"text": "one"}, {"Text": "two", "id": 1}], "document 1 has no 'text'; its keys are Text, id"),
        ([{"text": "one", "id": 1}, {"text": "two", "id": "b"}], "column 'id', row 1 is a string"),
    ],
)
def test_records_that_make_no_table_are_refused(records, message):
    with pytest.raises(DataError, match=message):
        records_as_table(records, ["text"], ["id"])


# Rows of what came in.


def views(_):
    array = pa.array(["one", "two"], pa.string_view())
    return pa.table({"text": array, "raw": pa.array([b"1", b"2"], pa.binary_view()), "id": [1, 2]})


CONTAINERS = {**{name: make for name, make in ARROW.items() if name != "struct array"}, **FRAMES, "views": views}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_rows_come_in_the_container_that_was_given(make):
    source = make(PAGES)
    rows = rows_where(source, MARKED)
    assert type(rows) is type(source)
    assert len(rows) == 1
    found = table_or_column(rows)
    assert found.column("text").to_pylist() == ["two"]
    assert found.column_names == table_or_column(source).column_names
    if isinstance(source, pa.Table):
        assert rows.schema == source.schema
    assert len(rows_where(source, np.array([False, False]))) == 0
    assert table_or_column(rows_where(source, np.array([True, True]))).equals(table_or_column(source))


NESTED = {
    "list": pa.array([["a"], None, ["b", "c"], []], pa.list_(pa.string_view())),
    "large list": pa.array([["a"], None, ["b", "c"], []], pa.large_list(pa.binary_view())),
    "struct": pa.array([{"x": "a"}, None, {"x": "b"}, {"x": None}], pa.struct([("x", pa.string_view())])),
    "map": pa.array([[("a", "b")], None, [], [("c", "d")]], pa.map_(pa.string(), pa.string_view())),
    "runs": pa.compute.run_end_encode(pa.array([1, 1, 2, 3])),
}


@pytest.mark.parametrize("column", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("marked", [[True, False, True, True], [False, True, False, False], [False] * 4, [True] * 4])
def test_rows_that_arrow_cannot_filter(column, marked):
    expected = [value for value, mark in zip(column.to_pylist(), marked, strict=True) if mark]
    table = pa.table({"more": column, "text": ["a", "b", "c", "d"]})
    parts = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    for source in (column, pa.chunked_array([column]), table, parts, table.to_batches()[0]):
        rows = rows_where(source, np.array(marked))
        assert type(rows) is type(source)
        found = rows if isinstance(rows, pa.Array | pa.ChunkedArray) else rows.column("more")
        assert found.to_pylist() == expected
        assert found.type == column.type


def test_rows_of_pandas_keep_their_index():
    frame = pandas_frame(PAGES).set_index("id")
    assert rows_where(frame, MARKED).index.tolist() == [2]
    assert rows_where(frame["text"], MARKED).to_dict() == {2: "two"}


SEQUENCES = [["one", "two"], ("one", "two"), np.array(["one", "two"]), pa.array(["one", "two"])]


@pytest.mark.parametrize("source", SEQUENCES, ids=lambda source: type(source).__name__)
def test_rows_of_a_sequence_are_a_sequence_of_its_kind(source):
    rows = rows_where(source, MARKED)
    assert type(rows) is type(source)
    assert [str(text) for text in rows] == ["two"]
    series = library("polars").Series(["one", "two"])
    assert rows_where(series, MARKED).to_list() == ["two"]
    assert rows_where(dataset(PAGES)["text"], MARKED) == ["two"]
    records = [{"text": "one"}, {"text": "two"}]
    assert rows_where(records, MARKED)[0] is records[1]


def test_rows_of_more_text_than_32_bit_offsets_reach():
    chunk = pa.array(["x" * (1 << 27)])
    table = pa.table({"text": pa.chunked_array([chunk] * 17)})
    assert table.nbytes > 1 << 31
    marked = np.zeros(17, np.bool_)
    marked[[3, 16]] = True
    assert rows_where(table, marked).column("text").length() == 2


@pytest.mark.parametrize(
    "source", [iter(["one", "two"]), PAGES.to_reader(), OnlyStream(PAGES), "ab", {"text": "ab", 1: 2}]
)
def test_rows_of_what_is_read_once_are_refused(source):
    with pytest.raises(DataError, match="rows cannot be selected from"):
        rows_where(source, MARKED)


def test_rows_of_a_type_of_others():
    class Own(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.string(), "own")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, _storage, _serialized):
            return cls()

    table = pa.table({"own": pa.ExtensionArray.from_storage(Own(), pa.array(["a", "b"]))})
    assert rows_where(table, MARKED).to_pydict() == {"own": ["b"]}


def test_rows_of_another_number_are_refused():
    with pytest.raises(DataError, match="3 rows for 2 documents"):
        rows_where(["a", "b", "c"], MARKED)


def test_rows_that_pandas_cannot_select_are_refused():
    pandas = pytest.importorskip("pandas")
    views = pandas.Series(pandas.arrays.ArrowExtensionArray(pa.array(["one", "two"], pa.string_view())))
    with pytest.raises(DataError, match=r"rows have a type of Arrow that pandas cannot select.*; pass a pyarrow table"):
        rows_where(views, MARKED)


def test_objects_of_polars_are_their_values():
    """A stream of polars has their addresses."""
    polars = library("polars")
    ids = [UUID(int=number) for number in range(1, 4)]
    frame = polars.DataFrame({"id": polars.Series(ids, dtype=polars.Object), "text": ["one two three"] * 3})
    ranked = frame.with_columns(v=polars.Series([2.5, 1, 3.5], dtype=polars.Object))
    found = neardup.dedup(ranked, keep="max:v")
    assert found.decisions["id"].to_pylist() == [str(own) for own in ids]
    assert found.kept.tolist() == [2]
    texts = polars.Series(["one two three", "one two three"], dtype=polars.Object)
    assert table_or_column(texts).to_pylist() == texts.to_list()
