import datetime as dt
import gzip
import json
import os
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import dedup_files
from neardup.model.errors import PERMISSION, DataError, FieldMissing
from neardup.sources import parquet
from neardup.sources.read import read

NAN = float("nan")


@pytest.fixture
def collection(tmp_path):
    def collection(columns, name="x.parquet", storage=None, **options):
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(table, tmp_path / name, **(storage or {}))
        return read([tmp_path / name], **options)

    return collection


def test_a_name_that_is_not_utf8(collection, tmp_path):
    collection({"text": ["one", "two"]})
    path = (tmp_path / "x.parquet").rename(tmp_path / os.fsdecode(b"n\xff.parquet"))
    got = read([path])
    assert got.ids.to_pylist() == [f"{tmp_path}/n\\xff.parquet:{row}" for row in (1, 2)]
    got.write(tmp_path / os.fsdecode(b"o\xff.parquet"), np.array([1]))
    assert read([tmp_path / os.fsdecode(b"o\xff.parquet")]).texts.to_pylist() == ["two"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_text_of_every_kind_of_string(collection, tmp_path, kind):
    texts = ["one", None, "", "zwö", "one"]
    got = collection({"text": pa.array(texts, pa.string()).cast(kind), "id": list("abcde")})
    assert got.texts.to_pylist() == texts
    assert got.texts.type in (pa.string(), pa.large_string())
    assert got.column("text").to_pylist() == texts or pa.types.is_binary(kind)
    got.write(tmp_path / "out.parquet", np.array([0, 3]))
    out = pq.ParquetFile(tmp_path / "out.parquet").read()
    assert out.schema.equals(pq.ParquetFile(tmp_path / "x.parquet").schema_arrow, check_metadata=True)
    assert out["id"].to_pylist() == ["a", "d"]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([["a"]]),
        pa.array([{"a": "b"}]),
        pa.array([1]),
        pa.array([1.5]),
        pa.array([True]),
        pa.array([dt.date(2024, 1, 1)]),
        pa.array([1]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_text_of_any_other_type_is_an_error(collection, values):
    rule = r"x\.parquet: the column 'text' must hold strings, or binary values in UTF-8, not "
    with pytest.raises(DataError, match=rule) as caught:
        collection({"text": values})
    nested = {pa.list_(pa.string()): "lists", pa.struct({"a": pa.string()}): "structs"}
    assert caught.value.code == nested.get(values.type, "data")


def test_a_missing_column_lists_those_that_exist(collection):
    with pytest.raises(DataError, match=r"there is no field 'text'; the fields are: body, id"):
        collection({"body": ["a"], "id": [1]})
    with pytest.raises(DataError, match=r"there is no field 'key'; the fields are: text, id"):
        collection({"text": ["a"], "id": [1]}, id="key")


def test_a_text_column_of_nulls_holds_documents_without_text(collection):
    assert collection({"text": pa.nulls(2)}).texts.to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["a", None, ""]), ["a", None, None]),
        (pa.array([7, None, 2**63 - 1]), ["7", None, "9223372036854775807"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([1.5, NAN, None]), ["1.5", None, None]),
        (pa.array([Decimal(123456789012345678901234567890)]), ["123456789012345678901234567890"]),
        (pa.array([b"a", b""]), ["a", None]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (pa.array([7, None]).dictionary_encode(), ["7", None]),
        (pa.array(["a"], pa.string_view()), ["a"]),
        (pa.array([dt.date(2024, 1, 2)]), ["2024-01-02"]),
        (pa.nulls(1), [None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array | pa.ChunkedArray) else "",
)
def test_ids_are_strings_and_missing_ones_named_by_row(collection, values, expected):
    got = collection({"text": ["a"] * len(values), "id": values})
    source = got.names[0]
    assert got.ids.to_pylist() == [name or f"{source}:{row}" for row, name in enumerate(expected, 1)]
    assert got.ids.type == pa.string()


def test_without_an_id_column_rows_are_numbered(collection):
    got = collection({"text": ["a", "b"]})
    assert got.ids.to_pylist() == [f"{got.names[0]}:1", f"{got.names[0]}:2"]


@pytest.mark.parametrize("values", [pa.array([[1]]), pa.array([True]), pa.array([{"a": 1}])], ids=str)
def test_ids_of_other_types_are_an_error(collection, values):
    with pytest.raises(DataError, match="'id' must hold strings, numbers, times or UUIDs, not"):
        collection({"text": ["a"], "id": values})


@pytest.mark.parametrize(
    ("times", "rule"),
    [
        (pa.array([1], pa.timestamp("ms", "Foo/Bar")), "in the unknown time zone 'Foo/Bar'"),
        (pa.array([10**16], pa.timestamp("ms", "UTC")), "outside of the years -32,767 to 32,767"),
        (pa.array([10**16], pa.timestamp("ms")), "outside of the years -32,767 to 32,767"),
    ],
    ids=str,
)
def test_times_that_cannot_be_written_are_no_ids(collection, times, rule):
    with pytest.raises(DataError, match=f"x.parquet: its 'id' has times {rule}; convert it to strings"):
        collection({"text": ["a"], "id": times})
    with pytest.raises(DataError, match=f"x.parquet: its 't' has times {rule}; convert it to strings"):
        collection({"text": ["a"], "t": times}).column("t", literal=True)


def not_utf8(kind):
    return pa.array([b"good", b"\xff", None, b"\xed\xa0\x80", b"end"], pa.large_binary()).cast(kind, safe=False)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
def test_rows_that_are_not_utf8_are_rejected(collection, tmp_path, kind):
    table = pa.table({"text": not_utf8(kind), "n": range(5)})
    got = collection(table)
    assert got.texts.to_pylist() == ["good", None, "end"]
    assert [(record.position, record.reason) for record in got.rejected] == [
        (2, "its 'text' is not valid UTF-8"),
        (4, "its 'text' is not valid UTF-8"),
    ]
    assert got.ids.to_pylist() == [f"{got.names[0]}:{row}" for row in (1, 3, 5)]
    assert got.column("n").to_pylist() == [0, 2, 4]
    got.write(tmp_path / "out.parquet", np.array([2]))
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == [4]
    with pytest.raises(DataError, match=r"x\.parquet:2: its 'text' is not valid UTF-8"):
        collection(table, strict=True)


def test_ids_that_are_not_utf8_are_rejected(collection):
    got = collection({"text": list("abcde"), "id": not_utf8(pa.string())})
    assert got.texts.to_pylist() == ["a", "c", "e"]
    assert [record.reason for record in got.rejected] == ["its 'id' is not valid UTF-8"] * 2


def test_bytes_of_a_fixed_size_may_rank_as_the_strings_that_they_are(collection):
    got = collection({"text": ["a", "b", "c"], "x": pa.array([b"10", None, b" 9"], pa.binary(2))})
    assert got.column("x").to_pylist() == ["10", None, " 9"]
    got = collection({"text": ["a", "b"], "x": pa.array([b"10", b"\xff\xfe"], pa.binary(2))})
    with pytest.raises(DataError, match=r"x\.parquet:2: its 'x' is not valid UTF-8"):
        got.column("x")


def test_other_columns_that_are_not_utf8_are_kept_and_only_asking_for_one_is_an_error(collection, tmp_path):
    got = collection({"text": list("abcde"), "x": not_utf8(pa.binary())})
    got.write(tmp_path / "out.parquet", np.ones(5, np.bool_))
    assert pq.read_table(tmp_path / "out.parquet")["x"].to_pylist()[1] == b"\xff"
    with pytest.raises(DataError, match=r"x\.parquet:2: its 'x' is not valid UTF-8"):
        got.column("x")


@pytest.mark.parametrize("groups", [{}, {"row_group_size": 1}])
def test_zero_rows_are_no_documents(collection, tmp_path, groups):
    got = collection({"text": pa.array([], pa.string()), "id": pa.array([], pa.int64())}, storage=groups)
    assert (len(got), got.texts.to_pylist(), got.ids.to_pylist()) == (0, [], [])
    got.write(tmp_path / "out.parquet", np.zeros(0, np.bool_))
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_the_output_has_the_inputs_schema_codecs_and_groups(tmp_path):
    schema = pa.schema(
        [pa.field("text", pa.string(), metadata={"of": "field"}), pa.field("n", pa.list_(pa.int32()), nullable=False)],
        metadata={"of": "schema"},
    )
    table = pa.table({"text": [str(row) for row in range(100)], "n": [[row] for row in range(100)]}, schema=schema)
    codecs = {"text": "zstd", "n.list.element": "gzip"}
    pq.write_table(table, tmp_path / "x.parquet", compression=codecs, row_group_size=30)
    read([tmp_path / "x.parquet"]).write(tmp_path / "out.parquet", np.arange(10, 100))

    def storage(name):
        group = pq.ParquetFile(tmp_path / name).metadata.row_group(0)
        return [group.column(column).compression for column in range(2)]

    assert storage("out.parquet") == storage("x.parquet") == ["ZSTD", "GZIP"]
    out = pq.ParquetFile(tmp_path / "out.parquet")
    assert [out.metadata.row_group(group).num_rows for group in range(out.num_row_groups)] == [30, 30, 30]
    assert out.schema_arrow.equals(pq.ParquetFile(tmp_path / "x.parquet").schema_arrow, check_metadata=True)
    assert out.read().equals(table.slice(10))


def test_groups_are_as_large_as_the_largest_of_the_input(tmp_path):
    table = pa.table({"text": [str(row) for row in range(12)]})
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema) as writer:
        for begin, size in ((0, 2), (2, 6), (8, 4)):
            writer.write_table(table.slice(begin, size))
    read([tmp_path / "x.parquet"]).write(tmp_path / "out.parquet", np.arange(12))
    out = pq.ParquetFile(tmp_path / "out.parquet")
    assert [out.metadata.row_group(group).num_rows for group in range(out.num_row_groups)] == [6, 6]


@pytest.mark.parametrize("waiting", [0, 1 << 20])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.parametrize("filtered", [2, 5, 64])
def test_groups_are_whole_and_in_order_and_small_inputs_share_one(tmp_path, monkeypatch, filtered, size, waiting):
    monkeypatch.setattr(parquet, "_FILTERED", filtered)
    monkeypatch.setattr(parquet, "_WAITING", waiting)
    paths = [tmp_path / f"{number}.parquet" for number in range(4)]
    for number, path in enumerate(paths):
        table = pa.table({"text": [f"{row}" for row in range(25 * number, 25 * number + 25)]})
        pq.write_table(table, path, row_group_size=size)
    mask = np.arange(100) % 3 != 0
    read(paths).write(tmp_path / "out.parquet", np.flatnonzero(mask))
    out = pq.ParquetFile(tmp_path / "out.parquet")
    assert out.read()["text"].to_pylist() == [f"{row}" for row in np.flatnonzero(mask)]
    sizes = [out.metadata.row_group(group).num_rows for group in range(out.num_row_groups)]
    if waiting:  # less than all rows
        assert all(one == min(size, 25) for one in sizes[:-1])
    else:
        assert sizes.count(min(size, 25)) >= 4 * (16 // min(size, 25))


@pytest.mark.parametrize("size", [2, 3, 100])
def test_dictionaries_have_the_values_of_the_written_rows_only(tmp_path, size):
    texts = [f"text {row % 7}" if row % 5 else None for row in range(20)]
    column = pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    others = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int8()), ["a", "text 1", "unused"])
    table = pa.table({"text": pa.chunked_array([column, others])})
    rows = [1, 2, 9, 13, 16, 20, 22]
    with pq.ParquetWriter(tmp_path / "out.parquet", table.schema) as writer:
        groups = parquet.RowGroups(writer, size, 1 << 20)
        groups.append([table.take(rows[:4]), table.take(rows[4:])])
        groups.end()
    out = pq.ParquetFile(tmp_path / "out.parquet")
    assert out.schema_arrow == table.schema
    assert out.read()["text"].to_pylist() == table.take(rows)["text"].to_pylist()
    for group in range(out.num_row_groups):
        (chunk,) = out.read_row_group(group)["text"].chunks
        assert sorted(chunk.dictionary.to_pylist()) == sorted({*chunk.to_pylist()} - {None})


def test_values_that_are_too_many_for_one_dictionary_stay_in_several():
    numbers = pa.array(range(100), pa.int8())
    arrays = [pa.DictionaryArray.from_arrays(numbers, [f"{part}{row}" for row in range(100)]) for part in "ab"]
    column = pa.chunked_array(arrays)
    assert parquet._with_used_values(column).equals(column)


@pytest.mark.parametrize("rows", [[], [0, 3], [0, 1, 2, 3, 4]])
def test_rows_may_be_chosen_before_they_are_appended(collection, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(parquet, "_FILTERED", 2)
    (piece,) = collection({"text": list("abcde"), "n": range(5)}).pieces
    mask, marks = np.isin(np.arange(5), rows), pa.table({"mark": range(5)})
    piece.choose(mask, marks)
    monkeypatch.setattr(parquet, "filtered", None)  # this is not done again
    with piece.writer(str(tmp_path / "out.parquet")) as append:
        append(piece, mask, marks)
    out = pq.read_table(tmp_path / "out.parquet")
    assert out["n"].to_pylist() == out["mark"].to_pylist() == rows


def test_uncompressed_stays_uncompressed(collection, tmp_path):
    collection({"text": ["a"]}, storage={"compression": "none"}).write(tmp_path / "out.parquet", np.array([0]))
    column = pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0).column(0)
    assert column.compression == "UNCOMPRESSED"


def test_several_files_need_equal_columns(tmp_path):
    pq.write_table(pa.table({"text": ["a"], "id": [1]}), tmp_path / "a.parquet")
    pq.write_table(
        pa.table({"text": ["b"], "id": [None]}, schema=pa.schema({"text": "string", "id": "int64"})),
        tmp_path / "b.parquet",
    )
    pq.write_table(pa.table({"text": ["b"], "id": ["2"]}), tmp_path / "c.parquet")
    pq.write_table(pa.table({"text": ["b"]}), tmp_path / "d.parquet")
    got = read([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert got.ids.to_pylist() == ["1", f"{got.names[1]}:1"]
    got.write(tmp_path / "out.parquet", np.array([1]))
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"text": ["b"], "id": [None]}
    with pytest.raises(DataError, match=r"c\.parquet: .*; it has 'id' \(string\) where that has 'id' \(int64\)"):
        read([tmp_path / "a.parquet", tmp_path / "c.parquet"]).write(tmp_path / "out2.parquet", np.array([0, 1]))
    with pytest.raises(DataError, match=r"d\.parquet: .*; it has 1 column, that has 2"):
        dedup_files([tmp_path / "a.parquet", tmp_path / "d.parquet"], tmp_path / "out2.parquet")
    assert not (tmp_path / "out2.parquet").exists()
    dedup_files([tmp_path / "a.parquet", tmp_path / "d.parquet"], tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == [{"text": "a", "id": 1}, {"text": "b", "id": None}]


def test_columns_of_several_files_that_may_be_null_differ_from_those_that_may_not(tmp_path):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
    strict = pa.schema([pa.field("text", pa.string(), nullable=False)])
    pq.write_table(pa.table({"text": ["b"]}, strict), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"'text' \(string not null\) where that has 'text' \(string\)"):
        dedup_files([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "out.parquet")


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("ways", [{}, {"work": "work"}], ids=["memory", "pieces"])
def test_several_files_need_equal_ordered_categories(tmp_path, monkeypatch, nested, ways):
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    for name, values in (("a", "xy"), ("b", "yz"), ("c", "xy")):
        kind = polars.Enum(list(values))
        column = (
            polars.Series([[values[1]]], dtype=polars.List(kind)) if nested else polars.Series([values[1]], dtype=kind)
        )
        polars.DataFrame({"text": [f"text {name}"], "of": column}).write_parquet(f"{name}.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: .* a\.parquet; the values of the Enum in 'of' are others"):
        dedup_files(["a.parquet", "b.parquet"], "out.parquet", **ways)
    dedup_files(["a.parquet", "c.parquet"], "out.parquet", **ways)
    assert polars.read_parquet("out.parquet")["of"].to_list() == ([["y"]] * 2 if nested else ["y"] * 2)
    dedup_files(["a.parquet", "b.parquet"], "out.jsonl", **ways)
    assert json.loads(Path("out.jsonl").read_text().splitlines()[1])["of"] == (["z"] if nested else "z")


@pytest.mark.parametrize("ways", [{}, {"work": "work"}], ids=["memory", "pieces"])
def test_several_files_need_equal_names_of_labels(tmp_path, monkeypatch, ways):
    monkeypatch.chdir(tmp_path)
    for name, labels in (("a", ["bad", "good"]), ("b", ["good", "bad"]), ("c", ["bad", "good"]), ("d", None)):
        kind = {"names": labels, "_type": "ClassLabel"} if labels else {"dtype": "int64", "_type": "Value"}
        features = {"text": {"dtype": "string", "_type": "Value"}, "label": kind}
        table = pa.table({"text": [f"text {name}"], "label": [1]})
        described = {"huggingface": json.dumps({"info": {"features": features}})}
        pq.write_table(table.replace_schema_metadata(described), f"{name}.parquet")
    pq.write_table(table.replace_schema_metadata({"huggingface": b"[" * 100_000}), "e.parquet")
    with pytest.raises(DataError, match=r"a\.parquet; the names of its labels \(ClassLabel\) are others") as error:
        dedup_files(["a.parquet", "b.parquet"], "out.parquet", **ways)
    assert error.value.code == "other labels"
    for name in "cde":  # the last ones do not name their labels
        dedup_files(["a.parquet", f"{name}.parquet"], "out.parquet", force=True, **ways)
        assert pq.read_table("out.parquet")["label"].to_pylist() == [1, 1]


def test_two_columns_of_one_name_are_an_error(collection):
    with pytest.raises(DataError, match="two columns named 'x'"):
        collection(pa.table([["a"], [1], [2]], names=["text", "x", "x"]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty, and so not a Parquet file"),
        (b'{"text": "a"}', "it is not a Parquet file, but looks like JSON"),
        (b"id,text\n", "it is not a Parquet file"),
        (gzip.compress(b"a", mtime=0), "it is not a Parquet file: it starts with gzip"),
        (b"PAR1", "it cannot be read as Parquet: "),
        (b"PAR1 and so on", "it cannot be read as Parquet: "),
    ],
)
def test_a_file_that_is_not_parquet_is_an_error(tmp_path, data, reason):
    (tmp_path / "x.parquet").write_bytes(data)
    with pytest.raises(DataError, match=rf"x\.parquet: {reason}"):
        read([tmp_path / "x.parquet"])


def test_a_corrupt_file_is_an_error_or_reads_but_never_crashes(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": [f"some text {row}" for row in range(500)]}), path)
    data = path.read_bytes()
    footer = data[:-300] + b"\xff" * 292 + data[-8:]
    for damaged in (data[:-1], data[: len(data) // 2], data[:-8] + b"\xff\xff\xff\x7fPAR1", footer):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="cannot be read as Parquet"):
            read([path])
    for position in range(4, len(data), 31):
        flipped = bytearray(data)
        flipped[position] ^= 0x55
        path.write_bytes(flipped)
        with suppress(DataError):
            read([path]).texts.validate(full=True)


def test_a_page_that_fails_its_checksum_is_an_error(tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table({"text": [f"some text {row}" for row in range(500)]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    path.write_bytes(path.read_bytes().replace(b"some text 250", b"some tent 250"))
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read([path])


def test_a_damaged_page_is_an_error_in_memory_and_in_pieces(tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table({"text": [f"some text {row}" for row in range(3000)]})
    pq.write_table(table, path, compression="snappy", use_dictionary=False, row_group_size=1000)
    page = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[page.data_page_offset + 30 : page.data_page_offset + page.total_compressed_size] = bytes(
        page.total_compressed_size - 30
    )
    path.write_bytes(data)
    rule = r"x\.parquet: it cannot be read as Parquet: .*; if the file is damaged, copy or write it again"
    for attempt in (lambda: read([path]), lambda: dedup_files([path], work=tmp_path / "work")):
        with pytest.raises(DataError, match=rule):
            attempt()
    assert not (tmp_path / "work").exists()


def test_a_file_that_expands_beyond_the_cap_is_an_error(collection):
    declared = {"text": ["a" * 1000 + str(row) for row in range(1000)]}
    with pytest.raises(DataError, match="more than 10,000 bytes"):
        collection(declared, max_bytes=10_000)
    repeated = {"text": ["a" * 1000] * 10_000}  # a few bytes in the file, once in the dictionary
    with pytest.raises(DataError, match="it expands to more than"):
        collection(repeated, max_bytes=100_000)
    assert len(collection(repeated)) == 10_000
    packed = {"text": pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["word " * 200_000]))}
    with pytest.raises(DataError, match="it expands to more than 3,000,000 bytes"):  # 3 GB: 32-bit offsets overflow
        collection(packed, max_bytes=3_000_000)
    texts = {"text": ["a b c"] * 3000}
    for columns in ({"id": packed["text"]}, {"other": packed["text"]}):
        with pytest.raises(DataError, match="it expands to more than 3,000,000 bytes"):
            collection({**texts, **columns}, max_bytes=3_000_000).column("other")


@pytest.mark.parametrize("name", ["extra", "inner"])
def test_a_name_that_is_not_utf_8_is_an_error(tmp_path, name):
    path = tmp_path / "names.parquet"
    table = pa.table({"text": ["one two"], "extra": [{"inner": 1}]})
    pq.write_table(table, path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(name.encode(), b"\xff" * len(name)))
    with pytest.raises(DataError, match="it has a column whose name is not valid UTF-8; rename the column"):
        read([path])


def test_columns_keep_their_types(collection):
    when = dt.datetime(2024, 1, 2, tzinfo=dt.UTC)
    got = collection(
        {
            "text": ["a", "b"],
            "n": [1, None],
            "when": [when, None],
            "tag": pa.array(["x", None]).dictionary_encode(),
            "list": [[1], None],
        }
    )
    assert got.column("n").type == pa.int64()
    assert got.column("when").to_pylist() == [when, None]
    assert (got.column("tag").type, got.column("tag").to_pylist()) == (pa.large_string(), ["x", None])
    assert got.column("n", literal=True).to_pylist() == ["1", None]
    assert got.column("tag", literal=True).to_pylist() == ["x", None]
    with pytest.raises(DataError, match="'list' must hold numbers, strings or times, not list"):
        got.column("list")
    with pytest.raises(DataError, match=r"there is no field 'x'; the fields are: text, n, when, tag, list"):
        got.column("x")


def test_file_names_that_other_readers_skip(collection):
    assert len(collection({"text": ["a"]}, name="_x.parquet")) == 1
    assert len(collection({"text": ["a"]}, name=".x%20 y=1.parquet")) == 1


def test_a_pipe_may_hold_a_table(tmp_path, piped):
    table = pa.table({"text": ["a", None, "b"], "id": [1, 2, 3]})
    pq.write_table(table, tmp_path / "x.parquet", compression="zstd", row_group_size=2)
    data = (tmp_path / "x.parquet").read_bytes()
    piped(data)
    got = read(["-"], format="parquet")
    assert got.texts.to_pylist() == ["a", None, "b"]
    got.write(tmp_path / "out.parquet", np.array([0, 2]))
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"text": "a", "id": 1}, {"text": "b", "id": 3}]
    piped(data)
    with pytest.raises(DataError, match="<stdin>: it expands to more than 100 bytes"):
        read(["-"], format="parquet", max_bytes=100)
    piped(data)
    with pytest.raises(FieldMissing, match="<stdin>: there is no field 'body'"):
        read(["-"], format="parquet", text="body")
    piped(b"text")
    with pytest.raises(DataError, match="<stdin>: it is not a Parquet file"):
        read(["-"], format="parquet")


def test_a_file_below_dev_is_read_in_pieces(tmp_path, monkeypatch):
    pq.write_table(pa.table({"text": ["a", "b", "c"]}), tmp_path / "x.parquet", row_group_size=2)
    monkeypatch.setattr(parquet, "is_special", lambda _: True)
    assert parquet.group_sizes(str(tmp_path / "x.parquet"))[0] == [2, 1]


def test_a_file_of_another_user_is_not_said_to_be_of_another_format(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"]}), path)

    monkeypatch.setattr(parquet.pa, "OSFile", Mock(side_effect=PermissionError(13, "Permission denied")))
    with pytest.raises(DataError, match="it cannot be read: Permission denied") as caught:
        read([path])
    assert caught.value.code == PERMISSION


def test_a_file_is_closed_while_its_error_is_kept(tmp_path):
    pq.write_table(pa.table({"text": ["a" * 1000]}), tmp_path / "x.parquet")
    before = len([*Path("/proc/self/fd").iterdir()]) if Path("/proc/self/fd").exists() else 0
    with pytest.raises(DataError, match="expands to more than 100 bytes") as kept:
        read([tmp_path / "x.parquet"], max_bytes=100)
    assert kept.value.__traceback__
    assert before == (len([*Path("/proc/self/fd").iterdir()]) if before else 0)


def test_ordered_categories_are_read_as_they_are_written_only(tmp_path):
    values = pa.DictionaryArray.from_arrays(
        pa.array([0, 2, None], pa.int8()), pa.array(["low", "mid", "high"]), ordered=True
    )
    pq.write_table(pa.table({"text": ["a", "b", "c"], "v": values}), tmp_path / "x.parquet")
    got = read([tmp_path / "x.parquet"])
    with pytest.raises(DataError, match=r"x\.parquet: its 'v' has ordered categories"):
        got.column("v")
    assert got.column("v", literal=True).to_pylist() == ["low", "high", None]


def test_a_field_that_is_not_utf8_is_an_error(tmp_path):
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    pq.write_table(pa.table({"text": ["a"], "v": broken}), tmp_path / "x.parquet")
    for literal in (False, True):
        with pytest.raises(DataError, match=r"x\.parquet:1: its 'v' is not valid UTF-8"):
            read([tmp_path / "x.parquet"]).column("v", literal=literal)


def test_a_row_is_located_in_its_file(tmp_path):
    for name, texts in (("a", [b"one", b"\xff", b"two"]), ("b", [b"three"])):
        pq.write_table(pa.table({"text": pa.array(texts)}), tmp_path / f"{name}.parquet")
    got = read([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert [got.place(row) for row in range(3)] == [
        (str(tmp_path / "a.parquet"), 1),
        (str(tmp_path / "a.parquet"), 3),
        (str(tmp_path / "b.parquet"), 1),
    ]


NESTED = pa.table(
    {
        "body": pa.array([{"content": "one", "x.y": 1}, None, {"content": None, "x.y": 3}]),
        "a.b": ["p", "q", "r"],
        "a": [{"b": "s"}] * 3,
    }
)


def test_a_name_with_dots_is_a_field_of_a_struct(collection, tmp_path):
    got = collection(NESTED, text="body.content", id="a.b")
    assert got.texts.to_pylist() == ["one", None, None]
    assert got.ids.to_pylist() == ["p", "q", "r"]
    assert got.column("body.x.y").to_pylist() == [1, None, 3]
    got.write(tmp_path / "out.parquet", np.array([0, 1]))
    assert pq.read_table(tmp_path / "out.parquet").equals(NESTED.slice(0, 2))


def test_a_missing_nested_column_names_those_that_there_are(collection):
    with pytest.raises(DataError, match=r"'body\.y'; the fields are: body\.content, body\.x\.y, a\.b, a\.b$"):
        collection(NESTED, text="body.y")


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary())]
)
def test_binary_html_may_have_any_encoding(collection, kind):
    text = "Привет, как дела? Это русский текст."
    page = f'<meta charset="windows-1251"><p>{text}'.encode("cp1251")
    pages = pa.array([page, None, b"", b"<p>b"]).cast(kind)
    got = collection({"page": pages, "id": ["1", "2", "3", "4"]}, html="page")
    assert got.texts.to_pylist() == [text, None, "", "b"]
    assert (got.ids.to_pylist(), got.rejected) == (["1", "2", "3", "4"], [])
    assert len(collection({"text": pages}).rejected) == 1


def test_html_in_strings_must_be_utf8(collection):
    bad = pa.array([b"\xff", b"<p>b"]).view(pa.string())
    got = collection({"page": bad}, html="page")
    assert (got.texts.to_pylist(), len(got.rejected)) == (["b"], 1)


def test_a_file_that_is_cut_short_while_it_is_read_says_so(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": [f"some text {row}" for row in range(20_000)]}), path, row_group_size=5_000)
    whole, batches = path.read_bytes(), pq.ParquetFile.iter_batches

    def cutting(file, *arguments, **options):
        for batch in batches(file, *arguments, **options):
            yield batch
            path.write_bytes(whole[:100])

    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="its end is missing: it was cut short, or is still being written") as caught:
        read([path])
    assert caught.value.code == "changed"
    path.write_bytes(whole)
    monkeypatch.setattr(parquet, "_BUFFER", 1024)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", cutting)
    with pytest.raises(DataError, match="it was changed or removed while it was read") as caught:
        read([path])
    assert caught.value.code == "changed"
