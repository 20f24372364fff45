"""Inputs read in pieces, compared with the same inputs read at once."""

import gzip
import json
import os
from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from json_lines import write_lines

from neardup import dedup_files
from neardup.model.errors import DataError, InputRefused, ParameterError
from neardup.sources import delimited
from neardup.sources import shards as shards_module
from neardup.sources.compression import stream
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read, reader
from neardup.sources.request import Request
from neardup.sources.shards import Shards, local_shards

SIZES = (1, 64, 1 << 26)

JSONL = {
    "plain": b'{"text": "one", "id": "a", "n": 3}\n{"text": "two", "n": 10}\n{"text": null, "id": 7}\n{"id": ""}\n',
    "dirty": b'{"text": "one"}\nnot JSON\n\n{"text": 5}\n{"text": "\xff"}\n[1]\n'
    b'{"text": "six", "id": [1]}\n{"text": "x"}\n{"te',
    "mark": b'\xef\xbb\xbf{"text": "one"}\n{"text": "two"}\n',
    "returns": b'{"text": "one"}\r\n\r\n{"text": "two"}\r\n',
    "returns without end": b'{"text": "one"}\r\n{"text": "two"}\r\n{"text": "three"}',
    "long": b'{"text": "a"}\n{"text": "' + b"b" * 3000 + b'"}\n{"text": "c"}',
    "none": b"",
    "blank": b"\n\n",
    "blank first": b'\n\n{"text": "one"}\nnot JSON\n',
    "mark alone": b"\xef\xbb\xbf",
}

CSV = {
    "plain": b"id,text,n\na,one,1\n,two,10\nc,,2\n",
    "quoted": b'text,id\n"one, ""1""\nand more",a\n"two\r\n\r\n",b\nthree,c\n"four",d\n"'
    + b"five\n" * 300
    + b'",e\nsix,f\n',
    "returns": b"text,id\r\none,1\r\n\r\ntwo,2\r\n",
    "lone returns": b"text,id\rone,1\rtwo,2\rthree,3\r",
    "no end": b"text,id\none,1\ntwo,2",
    "mark": b"\xef\xbb\xbftext,id\none,1\ntwo,\n",
    "quoted header": b'"text","i\nd"\none,1\n"two\n",2\nthree,3\n',
    "blank first": b"\n\n\r\ntext,id\n\n\none,1\n\n\ntwo,\n\n",
    "dirty": b"text,id\none,1\ntwo\n\xff,3\nfour,4,5\n,\nfive,\n",
    "header": b"text,id\n",
    "header without end": b"text,id",
    "one": b"text\none\n\ntwo\n",
    "inner quotes": b'text,id\nsay "yes",1\n5" disk,2\n"x"y,3\nlast,4\n',
}

TSV = {
    "plain": b'text\tid\n"It is done\t2\nThe only copy\t3\nShe said "come home"\t4\n',
    "quoted header": b'"text"\tid\n"It is\ndone"\t2\nThe only copy\t3\n',
}

CASES = [
    (name, f"x.{form}{packing}", data)
    for form, cases in {"jsonl": JSONL, "csv": CSV, "tsv": TSV}.items()
    for name, data in cases.items()
    for packing in ("", ".gz")
]


def opened(inputs, request):
    return Shards.opened(inputs_of(inputs, request), request)


def put(path, data):
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def split(inputs, size, **options):
    """The shards of some inputs, as another process gets them."""
    made = opened(inputs, Request(**options)).cut(size)
    return Shards.from_dict(json.loads(json.dumps(made.to_dict())))


@pytest.mark.parametrize("shard", [[0, 0, 9, 1], [0, 0, 9, 1, 9, False, 1], [0, -1, 9, 1, 9, False], [0, 0, "9", 1, 9]])
def test_other_values_than_those_of_shards_are_refused(tmp_path, shard):
    made = split([put(tmp_path / "x.jsonl", JSONL["plain"])], 1000).to_dict()
    assert Shards.from_dict(made).shards == split([tmp_path / "x.jsonl"], 1000).shards
    with pytest.raises(msgspec.ValidationError, match=r"Expected .* at `\$\[0\]"):
        Shards.from_dict(made | {"shards": [shard]})


def pieces_of(shards, **options):
    return [piece for shard in shards.shards for piece in shards.pieces(shard, **options)]


def test_small_inputs_are_read_together(tmp_path):
    sizes = {"a": 300, "b": 300, "c": 0, "d": 7000, "e": 300, "f": 2300, "g": 300, "h.csv": 100, "i.csv": 100}
    paths = []
    for name, size in sizes.items():
        lines = [json.dumps({"text": f"text {number} of {name}"}) + "\n" for number in range(size // 30)]
        csv = "".join(["text\n", *(f"{number} of {name}\n" for number in range(size // 10))])
        paths.append(tmp_path / (name if "." in name else f"{name}.jsonl"))
        paths[-1].write_text(csv if "csv" in name else "".join(lines))
    shards = split(paths, 2000)
    found = [[own.source for own in shard.extents] for shard in shards.shards]
    assert found == [[0, 1, 2], *[[3]] * len(shards.extents([3])), [4], [5], [6], [7, 8]]
    assert len(shards.extents([3])) > 1
    for begin, end in combinations(range(len(paths) + 1), 2):
        sources = range(begin, end)
        numbers = [
            number
            for number, shard in enumerate(shards.shards)
            if not {own.source for own in shard.extents}.isdisjoint(sources)
        ]
        assert [*shards.numbers(sources)] == numbers
        own = [one for shard in shards.shards for one in shard.extents if one.source in sources]
        assert shards.extents(sources) == own
        assert shards.bytes_of(sources) == sum(path.stat().st_size for path in paths[begin:end])
    together = [text for piece in pieces_of(shards) for text in piece.texts.to_pylist()]
    assert together == [text for path in paths for text in read([path]).texts.to_pylist()]
    apart = [[own.source for own in shard.extents] for shard in opened(paths, Request()).cut(2000, compared=1).shards]
    assert apart[:2] == [[0], [1, 2]]


def test_many_inputs_are_many_shards(tmp_path, monkeypatch):
    """Also if they fit into one: all threads and workers have some."""
    paths = [tmp_path / f"{number}.jsonl" for number in range(100)]
    for path in paths:
        path.write_text('{"text": "' + "word " * 100_000 + '"}\n')
    shards = split(paths, 1 << 26).shards
    assert {len(shard.extents) for shard in shards} == {2}
    for path in paths:
        path.write_text("")
    monkeypatch.setattr(shards_module, "_TOGETHER", 30)
    assert [len(shard.extents) for shard in split(paths, 1 << 26).shards] == [30, 30, 30, 10]


def test_tables_of_other_types_are_not_read_together(tmp_path):
    paths = [tmp_path / f"{number}.parquet" for number in range(4)]
    for path, rank in zip(paths, (1, 2, "3", "4"), strict=True):
        pq.write_table(pa.table({"text": ["one"], "rank": [rank]}), path)
    shards = split(paths, 1 << 20).shards
    assert [[own.source for own in shard.extents] for shard in shards] == [[0, 1], [2, 3]]


def seen(pieces, target):
    """All that there is to know of collections, and what is written of every other record."""
    with reader(pieces[0].format).writer(str(target)) as append:
        begin = 0
        for piece in pieces:
            append(piece, (np.arange(len(piece)) + begin) % 2 == 0, None)
            begin += len(piece)
    return {
        "texts": [text for piece in pieces for text in piece.texts.to_pylist()],
        "ids": [name for piece in pieces for name in piece.ids.to_pylist()],
        "rejected": [record for piece in pieces for record in piece.rejected],
        "places": [piece.place(row) for piece in pieces for row in range(len(piece))],
        "written": contents_of(target),
    }


def contents_of(path):
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return table.schema, repr(table.to_pydict())
    return path.read_bytes()


def outcome(action):
    """The result of an action, or its error."""
    try:
        return action(), None
    except DataError as error:
        return None, error.with_traceback(None)  # whose frames hold open files


def check_equal(tmp_path, inputs, ending, size, **options):
    """Compare the pieces of inputs with all of them read at once."""
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    whole, error = outcome(lambda: read(inputs, **options))
    if error is not None:
        if error.code != "all rejected":
            assert str(outcome(lambda: pieces_of(split(inputs, size, **options)))[1]) == str(error)
        return
    pieces = pieces_of(split(inputs, size, **options), whole=True)
    expected, got = seen(whole.pieces, out / f"whole{ending}"), seen(pieces, out / f"pieces{ending}")
    for what, value in expected.items():
        assert got[what] == value, what


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("case", "name", "data"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_pieces_are_the_records_of_the_file(tmp_path, case, name, data, size):
    path = put(tmp_path / name, data)
    check_equal(tmp_path, [path], path.suffix if path.suffix != ".gz" else "".join(path.suffixes[-2:]), size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", [case for case in CSV if case not in {"quoted", "quoted header"}])
def test_lines_without_quotation_are_cut_into_shards(tmp_path, case, size):
    path = put(tmp_path / "x.csv", CSV[case])
    check_equal(tmp_path, [path], ".csv", size, quoting="none")


def test_shards_of_unquoted_lines_have_the_size_that_was_asked_for(tmp_path):
    path = put(tmp_path / "x.tsv", b"\n\nid\ttext\n" + b'1\t"two\n' * 1000)
    sizes = [shard.size for shard in split([path], 500).shards]
    assert len(sizes) > 5
    assert max(sizes) < 1100
    quoted = put(tmp_path / "y.tsv", b'"id"\ttext\n' + b"1\ttwo\n" * 1000)
    assert len(split([quoted], 500).shards) == 1


def tables():
    """Tables of every kind of text and id, with few rows in a group."""
    texts = [None if number % 7 == 3 else f"text {number} " * (number % 5) for number in range(50)]
    plain = pa.table({"text": texts, "id": range(50), "n": [number * 0.5 for number in range(50)]})
    invalid = pa.array([b"good", b"\xff", b"x" * 3000, None, b"\xfe"] * 10)
    return {
        "plain": plain,
        "named by row": pa.table({"text": texts, "other": [[1]] * 50}),
        "invalid": pa.table({"n": range(50), "text": invalid}),
        "dictionary": pa.table({"text": pa.array(texts).dictionary_encode(), "id": [""] * 50}),
        "views": pa.table({"text": pa.array(texts, pa.string_view()), "id": [float("nan")] * 50}),
        "none": plain.slice(0, 0),
        "nulls": pa.table({"text": pa.nulls(3)}),
        "id first": plain.select(["n", "id", "text"]),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.parametrize("case", tables())
def test_pieces_are_the_rows_of_a_table(tmp_path, case, group, size):
    pq.write_table(tables()[case], tmp_path / "x.parquet", row_group_size=group)
    check_equal(tmp_path, [tmp_path / "x.parquet"], ".parquet", size)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("case", tables())
def test_tables_are_read_again_without_ids_if_all_rows_are_documents(tmp_path, case, complete):
    pq.write_table(tables()[case], tmp_path / "x.parquet", row_group_size=7)
    shards = split([tmp_path / "x.parquet"], 500, columns=["n"] if "n" in tables()[case].column_names else [])
    for shard in shards.shards:
        whole = [*shards.pieces(shard)]
        again = [*shards.pieces(shard, whole=complete, documents=sum(map(len, whole)))]
        assert [[*p.texts] for p in again] == [[*p.texts] for p in whole]
        assert [p.rejected for p in again] == [p.rejected for p in whole]
        assert [p.place(0) for p in again if len(p)] == [p.place(0) for p in whole if len(p)]
        if case == "plain":
            assert [[*p.column("n")] for p in again] == [[*p.column("n")] for p in whole]
        ids = [own for p in again for own in p.ids.to_pylist()]
        rejects = any(p.rejected for p in whole)
        assert ids == ([own for p in whole for own in p.ids.to_pylist()] if rejects else [None] * len(ids))


def test_a_table_without_groups_is_written_with_its_columns(tmp_path):
    table = tables()["none"]
    with pq.ParquetWriter(tmp_path / "x.parquet", table.schema):
        pass
    assert pq.read_metadata(tmp_path / "x.parquet").num_row_groups == 0
    check_equal(tmp_path, [tmp_path / "x.parquet"], ".parquet", 1)


def test_a_missing_column_lists_all_columns(tmp_path):
    pq.write_table(pa.table({"body": ["one"], "n": [1]}), tmp_path / "x.parquet")
    check_equal(tmp_path, [tmp_path / "x.parquet"], ".parquet", 1)
    check_equal(tmp_path, [tmp_path / "x.parquet"], ".parquet", 1, text="body", id="name")
    (piece,) = pieces_of(split([tmp_path / "x.parquet"], 1, text="body"))
    assert piece.lacking("score") == ["body", "n"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs/sub").mkdir(parents=True)
    for name, data in {
        "a.txt": b"one",
        "b.md": b"\xef\xbb\xbftwo",
        "c.html": b"<title>T</title><p>three",
        "sub/d.txt": b"\n\xff",
        "sub/e.txt": b"five",
        "f.py": b"print()",
    }.items():
        (tmp_path / "docs" / name).write_bytes(data)
    (tmp_path / "docs/broken.txt").symlink_to("docs/nothing.txt")
    return tmp_path / "docs"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("glob", [(), ("*.txt",), ("sub/*", "*.py")])
def test_pieces_are_the_files_of_a_folder(tmp_path, folder, glob, size):
    check_equal(tmp_path, [folder], "", size, glob=glob)


@pytest.mark.parametrize("size", [1, 1000])
def test_files_of_several_folders_are_named_by_them(tmp_path, folder, size):
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.txt").write_text("one")
    check_equal(tmp_path, [folder, tmp_path / "more"], "", size)


def test_folders_of_the_same_name_are_refused(tmp_path):
    for name in ("x/docs", "y/docs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text("one")
    inputs = [tmp_path / "x/docs", tmp_path / "y/docs"]
    with pytest.raises(ParameterError) as expected:
        read(inputs)
    with pytest.raises(ParameterError) as raised:
        split(inputs, 100)
    assert str(raised.value) == str(expected.value)


def test_every_document_of_a_folder_has_a_text(folder):
    (piece,) = pieces_of(split([folder], 1000))
    assert piece.lacking("text") is None
    assert piece.lacking("title") is None
    assert piece.lacking("author") == ["size", "modified"]


def test_ignored_files_are_counted(folder):
    assert split([folder], 1).ignored == read([folder]).ignored == 1


def test_ignored_files_of_a_folder_of_tables_are_counted(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a.jsonl", "b.json", "c.jsonl.lz4", "d.jsonl.bak", "_SUCCESS", ".a.jsonl.crc"):
        put(data / name, b'{"text": "one"}\n')
    (data / "link").symlink_to(tmp_path)
    assert split([data], 1).ignored == 4
    assert split([data], 1, glob=("*.jsonl",)).ignored == 4
    put(data / "e.csv", b"text\none\n")
    assert split([data], 1, glob=("*.jsonl",)).ignored == 5
    done = dedup_files([data], work=tmp_path / "w")
    assert (len(done.documents), done.documents.ignored) == (2, 4)


@pytest.mark.parametrize("number", range(20))
def test_random_lines_are_cut_correctly(tmp_path, number):
    random = Random(number)  # noqa: S311 - not for secrets
    letters = ['"', ",", "\n", "\r\n", "\r", "a", "é", "\ufeff", "x" * 40, '""', ',"', '",', '"\n']
    data = ("text,id\n" + "".join(random.choices(letters, k=random.randrange(60)))).encode()
    path = put(tmp_path / "x.csv", data)
    for size in (1, 3, 17, 100):
        check_equal(tmp_path, [path], ".csv", size)
        check_equal(tmp_path, [path], ".csv", size, quoting="none")


def test_many_long_records_are_joined_in_linear_time(tmp_path, monkeypatch):
    """The bytes that are searched for records are a small multiple of the file."""
    from neardup.sources import delimited

    searched = 0
    records = delimited.records

    def counted(data, *args, **options):
        nonlocal searched
        searched += len(data)
        return records(data, *args, **options)

    path = put(tmp_path / "x.csv", b'text\n"' + b"one\n" * 5000 + b'"\ntwo\n')
    shards = split([path], 100)
    monkeypatch.setattr(delimited, "records", counted)
    assert sum(len(piece) for piece in pieces_of(shards)) == 2
    assert searched < 10 * path.stat().st_size


def test_quoted_lines_are_counted_over_pieces(tmp_path):
    path = put(tmp_path / "x.csv", CSV["quoted"])
    found = [piece.quoted_lines for piece in pieces_of(split([path], 1)) if piece.quoted_lines]
    whole = read([path]).quoted_lines
    assert (sum(one.records for one in found), found[0].first, found[0].last) == (
        whole.records,
        whole.first,
        whole.last,
    )


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.tsv.gz", "x.parquet", "x.jsonl.zst"])
@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"[{}]", b'{\n"text": 1\n}\n', b'text\n"open\n', b"\x1f\x8b12", b"n\n1\n"]
)
def test_files_that_cannot_be_read_raise_the_same_errors(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    check_equal(tmp_path, [tmp_path / name], "".join((tmp_path / name).suffixes), 1)


def test_a_compressed_file_is_limited(tmp_path):
    path = put(tmp_path / "x.jsonl.gz", JSONL["long"])
    check_equal(tmp_path, [path], ".jsonl.gz", 10, max_bytes=1000)


def test_strict_raises_for_the_first_rejected_record(tmp_path):
    check_equal(tmp_path, [put(tmp_path / "x.jsonl", JSONL["dirty"])], ".jsonl", 1, strict=True)
    check_equal(tmp_path, [put(tmp_path / "x.csv", CSV["dirty"])], ".csv", 1, strict=True)


def test_inputs_of_several_formats(tmp_path, folder):
    put(tmp_path / "x.jsonl", JSONL["plain"])
    put(tmp_path / "x.csv.gz", CSV["plain"])
    pq.write_table(tables()["plain"], tmp_path / "x.parquet", row_group_size=10)
    inputs = [tmp_path / "x.jsonl", tmp_path / "x.csv.gz", folder, tmp_path / "x.parquet"]
    shards = split(inputs, 20)
    for source, path in enumerate(inputs):
        whole, found = read([path]), [piece for part in shards.extents([source]) for piece in shards.pieces_of(part)]
        assert [name for piece in found for name in piece.ids.to_pylist()] == whole.ids.to_pylist()
        assert [text for piece in found for text in piece.texts.to_pylist()] == whole.texts.to_pylist()


def test_a_folder_without_documents_is_its_tables(tmp_path):
    for name in ("b.csv", "a/x.jsonl", "_SUCCESS", "._b.csv", "_temporary/c.csv", "notes"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("text\none\n" if name.endswith("csv") else '{"text": "two"}\n')
    assert split([tmp_path / "data"], 100).inputs == tuple(
        str(tmp_path / "data" / name) for name in ("a/x.jsonl", "b.csv")
    )
    assert split([tmp_path / "data"], 100, glob=("*.csv",)).inputs == (str(tmp_path / "data/b.csv"),)


def test_a_table_of_a_folder_is_an_input_once(tmp_path):
    table, folder, other = tmp_path / "a.jsonl", tmp_path / "folder", tmp_path / "other"
    table.write_bytes(JSONL["plain"])
    for one in (folder, other):
        one.mkdir()
        (one / "x.jsonl").symlink_to("../a.jsonl")
    for given, ways in (([folder, table], {"work": tmp_path / "w"}), ([folder], {"against": table})):
        with pytest.raises(InputRefused, match=r"is the same as .*; name each input once"):
            dedup_files(given, **ways)
    with pytest.raises(InputRefused, match=r"other/x\.jsonl is the same as .*folder/x\.jsonl"):
        opened([folder, other], Request())
    (folder / "y.jsonl").symlink_to("x.jsonl")  # as in a cache that stores equal files once
    assert len(opened([folder], Request()).inputs) == 2
    assert len(opened([other], Request()).inputs) == 1


def test_a_file_at_a_url_is_an_input_once():
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/once/a.jsonl", JSONL["plain"])
    name = "memory://once/a.jsonl"
    for given in ([name, "memory://once/*.jsonl"], ["memory://once", name], [name, "memory:///once/a.jsonl"]):
        with pytest.raises(InputRefused, match="is the same as"):
            read(given)
        with pytest.raises(InputRefused, match="is the same as"):
            opened(given, Request())
    with pytest.raises(InputRefused, match="is the same as"):
        dedup_files([name], against="memory:///once/a.jsonl")


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(ParameterError, match="reads its inputs more than once; use - and standard input"):
        split([tmp_path / "x.jsonl"], 1)


def test_standard_input_is_read_from_its_copy(tmp_path):
    copy = put(tmp_path / ".neardup-stdin.jsonl", JSONL["dirty"])
    other = put(tmp_path / "x.jsonl", JSONL["plain"])
    made = opened([other, "-"], Request()).copied({"-": copy}).cut(1)
    assert made.inputs == (str(other), str(copy))
    assert [str(one).partition(": ")[0] for piece in pieces_of(made) for one in piece.rejected] == [
        f"<stdin>:{line}" for line in (2, 4, 5, 6, 7, 9)
    ]


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="must be jsonl"):
        split([put(tmp_path / "x.jsonl", b"")], 1, format="xml")


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.csv.gz"])
def test_a_changed_file_is_noticed(tmp_path, name):
    path = put(tmp_path / name, b"text\none\n")
    shards = split([path], 1)
    put(path, b"text\ntwo\n")
    with pytest.raises(DataError, match="changed after the run had begun"):
        pieces_of(shards)


@pytest.mark.parametrize(
    ("change", "read_before"),
    [("added", False), *product(("changed", "removed", "renamed"), (False, True))],
)
def test_a_changed_folder_is_noticed(folder, change, read_before):
    shards = split([folder], 1)
    if read_before:
        pieces_of(shards)
    match change:
        case "changed":
            (folder / "sub/e.txt").write_text("four")
        case "added":
            (folder / "z.txt").write_text("new")
        case "removed":
            (folder / "sub/e.txt").unlink()
        case _:
            (folder / "a.txt").rename(folder / "a2.txt")
    with pytest.raises(DataError, match="changed after the run had begun"):
        pieces_of(shards)


def values_of(inputs, name, size=1):
    """A field of all documents, from what each shard stores."""
    shards = split(inputs, size, columns=(name,))
    nothing = pa.chunked_array([], pa.large_binary())
    parts = []
    for shard in shards.shards:
        chunks = []
        for piece in shards.pieces(shard):
            chunks += piece.raw_column(name).chunks if len(piece) else []
        parts.append(pa.chunked_array(chunks) if chunks else nothing)
    return shards.column(name, parts)


@pytest.mark.parametrize(
    "values",
    [
        ["3", "10", "null"],
        ['"b"', '"a"', '""'],
        ["true", "false"],
        ["1", "2.5", "1e3"],
        ["12345678901234567890", "1"],
        ["null", "null"],
        ['"a"', "1"],
        ["1", "[1]"],
        ["{}"],
    ],
)
def test_a_field_of_lines_has_the_type_that_fits_all_pieces(tmp_path, values):
    lines = (f'{{"text": "one", "n": {value}}}\n{{"text": "two"}}\nno JSON\n' for value in values)
    path = put(tmp_path / "x.jsonl", "".join(lines).encode())
    expected, error = outcome(lambda: read([path]).column("n"))
    if error is not None:
        assert str(outcome(lambda: values_of([path], "n"))[1]) == str(error)
        return
    got = values_of([path], "n")
    assert (got.type, got.to_pylist()) == (expected.type, expected.to_pylist())


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array([3, None], pa.int32()), pa.array([10], pa.int64()), [3, None, 10]),
        (pa.array([2**64 - 1], pa.uint64()), pa.array([-1], pa.int64()), [str(2**64 - 1), "-1"]),
        (pa.array([0.5], pa.float32()), pa.array([2.0, 1.25]), [0.5, 2.0, 1.25]),
        (pa.array([1.5, float("nan")]), pa.array([2**60 + 1]), ["1.5", "nan", str(2**60 + 1)]),
        (pa.array([None, None]), pa.array([7]), [None, None, 7]),
        (pa.array(["a"]), pa.array([7]), ["a", "7"]),
        (pa.array(["a"]).dictionary_encode(), pa.array(["b"]), ["a", "b"]),
    ],
)
def test_numbers_of_several_types_stay_numbers(tmp_path, first, second, expected):
    for name, column in (("x", first), ("y", second)):
        pq.write_table(pa.table({"text": ["one"] * len(column), "n": column}), tmp_path / f"{name}.parquet")
    assert values_of([tmp_path / "x.parquet", tmp_path / "y.parquet"], "n").to_pylist() == expected


def test_times_of_several_units_are_compared_as_times(tmp_path):
    for name, unit in (("x", "s"), ("y", "us")):
        times = pa.array([1], pa.timestamp(unit))
        pq.write_table(pa.table({"text": ["one"], "n": times}), tmp_path / f"{name}.parquet")
    got = values_of([tmp_path / "x.parquet", tmp_path / "y.parquet"], "n")
    assert pa.types.is_timestamp(got.type)


def test_a_field_of_several_formats(tmp_path):
    put(tmp_path / "x.jsonl", b'{"text": "one", "n": 9}\n{"text": "two"}\n')
    put(tmp_path / "y.csv", b"text,n\none,10\ntwo,\n")
    put(tmp_path / "z.jsonl", b'{"text": "one", "n": 1}\n')
    pq.write_table(pa.table({"text": ["one", "two"], "n": [5, 6]}), tmp_path / "z.parquet", row_group_size=1)
    paths = [tmp_path / name for name in ("x.jsonl", "y.csv", "z.jsonl", "z.parquet")]
    assert values_of(paths, "n").to_pylist() == ["9", None, "10", None, "1", "5", "6"]
    assert values_of([paths[0], paths[3]], "n").to_pylist() == [9, None, 5, 6]


def test_a_field_that_cannot_be_compared_is_located_over_shards(tmp_path):
    put(tmp_path / "x.jsonl", b'{"text": "one", "n": 9}\n\n')
    put(tmp_path / "y.jsonl", b'no JSON\n{"text": "two", "n": "high"}\n')
    with pytest.raises(DataError, match=r"y\.jsonl:2: its 'n' is a string"):
        values_of([tmp_path / "x.jsonl", tmp_path / "y.jsonl"], "n")


def test_nested_fields_are_read_in_pieces_as_at_once(tmp_path):
    rows = [{"body": {"content": f"text {n}", "more": "x" * 50}, "meta": {"n": n, "id": f"d{n}"}} for n in range(200)]
    write_lines(tmp_path / "a.jsonl", rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=30)
    named = {"text": "body.content", "id": "meta.id", "columns": ("meta.n",)}
    for path in (tmp_path / "a.jsonl", tmp_path / "a.parquet"):
        whole = read([path], **named)
        shards = split([path], 1000, **named)
        pieces = pieces_of(shards)
        assert len(pieces) > 3
        assert pa.concat_arrays([chunk for one in pieces for chunk in one.ids.chunks]).to_pylist() == (
            whole.ids.to_pylist()
        )
        assert [text for one in pieces for text in one.texts.to_pylist()] == whole.texts.to_pylist()
        stored = [
            pa.chunked_array([c for one in shards.pieces(s) for c in one.raw_column("meta.n").chunks])
            for s in shards.shards
        ]
        assert shards.column("meta.n", stored).to_pylist() == whole.column("meta.n").to_pylist()
        assert all(one.lacking("meta.x") == ["body.content", "body.more", "meta.n", "meta.id"] for one in pieces)
        assert all(one.lacking("meta.n") is None for one in pieces)


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_a_quotation_mark_that_is_not_closed_is_found_without_reading_the_rest(tmp_path, monkeypatch, name):
    monkeypatch.setattr(delimited, "_LONGEST_QUOTED", 5000)
    read_bytes = 0
    data = b"id,text\n" + b'1,"two\nlines"\n' * 50 + b'2,"open\n' + b"3,more text\n" * 100_000
    path = put(tmp_path / name, data)
    for size in (100, 1000):
        read_bytes = 0

        def counted(*given, whole=stream):
            nonlocal read_bytes
            for block in whole(*given):
                read_bytes += len(block)
                yield block

        monkeypatch.setattr("neardup.sources.jsonl.stream", counted)
        shards = split([path], size)
        with pytest.raises(DataError, match=r"x\.csv(\.gz)?:102: the quotation mark .* is not closed"):
            pieces_of(shards)
        assert read_bytes < 40_000 or name == "x.csv.gz"  # one block of it expands to everything


@pytest.mark.parametrize("number", range(12))
def test_lines_over_frames_are_cut_into_shards(tmp_path, number):
    chance = Random(number)  # noqa: S311 - nothing secret
    lines = [json.dumps({"text": "x" * chance.choice([0, 3, 40, 400])}) for _ in range(60)]
    lines[5:5] = ["{broken", ""]
    data = ("\r\n" if number % 3 else "\n").join(lines).encode() + b"\n" * (number % 2)
    edges = sorted(chance.choices(range(len(data) + 1), k=chance.choice([1, 5, 30, 200])))
    parts = [data[begin:end] for begin, end in pairwise([0, *edges, len(data)])]
    frames = [zstandard.ZstdCompressor(write_checksum=n % 2 == 0, write_content_size=n % 3 > 0) for n in range(6)]
    packed = b"".join(frames[n % 6].compress(part) for n, part in enumerate(parts))
    path = put(tmp_path / "a.jsonl.zst", packed)
    for size in (1, 100, 1 << 20):
        check_equal(tmp_path, [path], ".jsonl", size)
    assert len(split([path], 1).shards) > (1 if len(edges) > 1 else 0)
    assert len(split([path], 1 << 20).shards) == 1


@pytest.mark.parametrize("damage", ["cut", "metadata", "checksum", "garbage", "empty block", "reserved"])
def test_damaged_frames_raise_the_same_errors_as_at_once(tmp_path, damage):
    one = zstandard.ZstdCompressor(write_checksum=True).compress(b'{"text": "a b c"}\n' * 9)
    packed = {
        "cut": one * 3 + one[:-5],
        "metadata": one * 2 + b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + one,
        "checksum": one + one[:-1] + b"!" + one,
        "garbage": one * 2 + b"garbage",
        "empty block": one + one[:6] + b"\0\0\0" * 3 + one,
        "reserved": one + one[:6] + b"\x07\0\0" + one,
    }[damage]
    path = put(tmp_path / "a.jsonl.zst", packed)
    for size in (1, 1 << 20):
        check_equal(tmp_path, [path], ".jsonl", size)


def test_frames_are_limited_together(tmp_path):
    one = zstandard.ZstdCompressor().compress(b'{"text": "a b c"}\n' * 9)
    path = put(tmp_path / "a.jsonl.zst", one * 5)
    with pytest.raises(DataError, match="it expands to more than 500 bytes"):
        split([path], 1, max_bytes=500)


def test_standard_input_and_files_at_urls_are_copied_and_the_copies_removed(piped):
    fsspec = pytest.importorskip("fsspec")
    lines = JSONL["plain"]
    fsspec.filesystem("memory").pipe("/copied/a.jsonl", lines)
    for given in ("-", "memory://copied/a.jsonl"):
        piped(lines)
        with local_shards(inputs_of([given], Request()), Request(), size=64) as shards:
            for _ in range(2):  # they can be read again
                texts = [text for shard in shards.shards for piece in shards.pieces(shard) for text in piece.texts]
                assert [text.as_py() for text in texts] == ["one", "two", None, None]
            assert Path(shards.inputs[0]).exists()
        assert not Path(shards.inputs[0]).exists()


def test_another_request_looks_up_no_input_again(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one two three"}\n', encoding="utf-8")
    first = Shards.opened(inputs_of([str(path)], Request()), Request()).cut(100)
    monkeypatch.setattr("neardup.sources.shards.input_kind", lambda *_: pytest.fail("looked up again"))
    other = replace(first, request=Request(text="body"))
    assert (other.request.text, first.request.text, other.kinds) == ("body", "text", first.kinds)
