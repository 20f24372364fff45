"""What every format promises alike."""

import gc
import gzip
import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

from neardup import dedup_files
from neardup.model.errors import DataError, NothingRead, ParameterError
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read
from neardup.sources.record_faults import WithoutText
from neardup.sources.request import Request
from neardup.sources.shards import SHARD, Shards
from neardup.text.extraction import Extraction

TEXTS = ["one", "two", "", "vier \u202e\U0001f600", "five\nlines"]


def opened(inputs, request):
    return Shards.opened(inputs_of(inputs, request), request)


def jsonl(path):
    lines = (json.dumps({"text": text, "id": str(number)}) for number, text in enumerate(TEXTS))
    path.write_text("".join(line + "\n" for line in lines))


def packed(path):
    jsonl(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def csv(path):
    path.write_text("text,id\n" + "".join(f'"{text}",{number}\n' for number, text in enumerate(TEXTS)))


def tsv(path):
    path.write_text('"text"\tid\n' + "".join(f'"{text}"\t{number}\n' for number, text in enumerate(TEXTS)))


def parquet(path):
    pq.write_table(pa.table({"text": TEXTS, "id": range(len(TEXTS))}), path)


def folder(path):
    path.mkdir()
    for number, text in enumerate(TEXTS):
        (path / f"{number}.txt").write_text(text)


FORMATS = {"x.jsonl": jsonl, "x.ndjson.gz": packed, "x.csv": csv, "x.tsv": tsv, "x.parquet": parquet, "x": folder}


@pytest.fixture(params=list(FORMATS))
def made(request, tmp_path):
    path = tmp_path / request.param
    FORMATS[request.param](path)
    return path


def test_texts_and_ids_come_in_order(made):
    got = read([made])
    assert got.texts.to_pylist() == TEXTS
    assert [name.removesuffix(".txt") for name in got.ids.to_pylist()] == ["0", "1", "2", "3", "4"]
    assert (got.names, got.rejected, got.ignored, len(got)) == ((str(made),), [], 0, 5)
    for column in (got.texts, got.ids):
        assert isinstance(column, pa.ChunkedArray)
        column.validate(full=True)
    assert got.ids.type == pa.string()


@pytest.mark.parametrize("rows", [[], [0], [1, 3], [0, 1, 2, 3, 4]])
def test_what_is_written_reads_back(made, tmp_path, rows):
    out = tmp_path / f"out{''.join(made.suffixes)}"
    read([made]).write(out, np.array(rows, np.int64))
    if made.is_dir() and not rows:
        assert list(out.iterdir()) == []
        return
    back = read([out])
    assert back.texts.to_pylist() == [TEXTS[row] for row in rows]
    assert back.ids.to_pylist() == [read([made]).ids[row].as_py() for row in rows]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "x"])
def test_writing_twice_gives_the_same_bytes(tmp_path, name):
    path = tmp_path / name
    FORMATS[name](path)
    got = read([path])
    outs = [path.with_name(f"{out}{''.join(path.suffixes)}") for out in ("a", "b")]
    for out in outs:
        got.write(out, np.ones(5, np.bool_))
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_progress_ends_at_the_whole(made):
    calls = []
    read([made], progress=lambda *call: calls.append(call))
    size = 0 if made.is_dir() else made.stat().st_size
    assert calls[-1] == ("read", size, size)
    assert all(stage == "read" and 0 <= done <= total for stage, done, total in calls)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)


def test_a_missing_column_is_an_error(made):
    with pytest.raises(DataError, match="there is no field 'nothing'; the fields are: "):
        read([made]).column("nothing")


def test_one_string_is_not_a_list_of_names():
    with pytest.raises(ParameterError, match="must be a list of names"):
        read("x.jsonl")
    with pytest.raises(ParameterError, match="must be an integer of at least 1"):
        read(["x.jsonl"], max_bytes=0)


def test_a_missing_file_is_an_error_that_survives_a_process(tmp_path):
    with pytest.raises(DataError, match="there is no such file") as caught:
        read([tmp_path / "x.jsonl"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own bytes


def test_one_large_document(tmp_path):
    text = "word " * 4_000_000
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": text}) + "\n" + json.dumps({"text": "small"}))
    assert [len(text) for text in read([tmp_path / "x.jsonl"]).texts.to_pylist()] == [20_000_000, 5]
    (tmp_path / "x.csv").write_text("text\n" + text + "\nsmall\n")
    assert [len(text) for text in read([tmp_path / "x.csv"]).texts.to_pylist()] == [20_000_000, 5]


@pytest.mark.parametrize(
    ("name", "content", "records", "position"),
    [
        ("a.jsonl", b'{"text": "a"}\n\n{"txt": "b"}\n{"text": null}\n{"text": ""}\n', 2, 3),
        ("a.csv", b"text,id\na,1\n,2\n", 0, 0),
    ],
)
def test_records_without_text_are_told_from_empty_ones(tmp_path, name, content, records, position):
    path = tmp_path / name
    path.write_bytes(content)
    found = read([path]).without_text
    if records == 0:
        assert found is None
    else:
        assert found == WithoutText(records, str(path), position, "text")


def test_null_texts_of_parquet_are_reported(tmp_path):
    pq.write_table(pa.table({"body": ["a", None, "", None]}), tmp_path / "a.parquet")
    found = read([tmp_path / "a.parquet"], text="body").without_text
    assert (found.records, found.position, found.field) == (2, 2, "body")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inputs", 5), ("inputs", None), ("inputs", "a.jsonl"), ("inputs", [5]), ("text", 5), ("id", None),
        ("max_bytes", None), ("max_bytes", "1G"), ("max_bytes", 0), ("max_bytes", 1.5), ("glob", None), ("glob", [5]),
    ],
)  # fmt: skip
def test_wrong_types_are_named(tmp_path, name, value):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n')
    with pytest.raises(ParameterError, match="must be") as caught:
        read(**{"inputs": [tmp_path / "a.jsonl"], name: value})
    assert caught.value.name == name


MARKUP = ["<title>Bees</title><p>They left.", None, "<p>One <b>hive</b><script>x()</script>", "", "<p>\U0001f600"]
HTML_FORMATS = ("x.jsonl", "x.csv", "x.parquet")


@pytest.fixture(params=HTML_FORMATS)
def pages(request, tmp_path):
    path = tmp_path / request.param
    rows = [{"page": page, "text": "other"} for page in MARKUP]
    match path.suffix:
        case ".jsonl":
            write_lines(path, rows)
        case ".csv":
            path.write_text("page,text\n" + "".join(f"{row['page'] or ''},other\n" for row in rows))
        case _:
            pq.write_table(pa.table({"page": MARKUP, "text": ["other"] * len(rows)}), path)
    return path


@pytest.mark.parametrize("view", ["auto", "visible"])
def test_a_field_of_pages_becomes_text(pages, view, monkeypatch):
    monkeypatch.setattr("neardup.sources.pages.BATCH", 20)
    missing = "" if pages.suffix == ".csv" else None  # CSV has no nulls
    expected = ["Bees\n\nThey left.", missing, "One hive", "", "\U0001f600"]
    extraction = Extraction(view=view)
    got = read([pages], html="page", extraction=extraction)
    assert got.texts.to_pylist() == expected
    assert got.has_pages
    assert got.text == "page"
    assert not read([pages]).has_pages
    shards = opened([pages], Request(html="page", extraction=extraction)).cut(SHARD)
    shards = Shards.from_dict(json.loads(json.dumps(shards.to_dict())))
    assert shards.extraction == extraction.identity
    assert [
        text for one in shards.shards for piece in shards.pieces(one) for text in piece.texts.to_pylist()
    ] == expected


def test_a_field_of_pages_replaces_the_text(pages):
    with pytest.raises(ParameterError, match="html='page' cannot be used with the text field 'body'"):
        read([pages], html="page", text="body")
    with pytest.raises(DataError, match="no field 'markup'"):
        read([pages], html="markup")


def test_a_field_of_pages_ranks_by_what_is_written(pages, tmp_path):
    ways = {"html": "page", "keep": "max:page"}
    if pages.suffix == ".csv":
        pages.write_text("page\n<i>one two three</i>\n<p>one two three\n")
    else:
        table_of_pages(pages, [{"page": "<i>one two three</i>"}, {"page": "<p>one two three"}])
    for more in ({}, {"work": tmp_path / "work"}):
        assert dedup_files([pages], **ways, **more).result.representatives.tolist() == [1, -1]


@pytest.mark.parametrize("field", ["text", "page"])
def test_a_field_of_pages_is_refused_where_inputs_have_no_fields(tmp_path, field):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>a &amp;lt; b")
    (tmp_path / "more.jsonl").write_text('{"text": "<p>c"}\n')
    rule = f"html='{field}' can only be used with tables: .*; the inputs are folder"
    with pytest.raises(ParameterError, match=rule):
        read([tmp_path / "pages"], html=field)
    with pytest.raises(ParameterError, match=rule):
        opened([str(tmp_path / name) for name in ("pages", "more.jsonl")], Request(html=field))


def test_a_field_of_the_text_is_refused_where_no_input_has_fields(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.txt").write_text("a b")
    (tmp_path / "more.jsonl").write_text('{"body": "c"}\n')
    with pytest.raises(ParameterError, match=r"text='size' can only be used with tables: .*; the inputs are folder"):
        read([tmp_path / "pages"], text="size")
    opened([str(tmp_path / name) for name in ("pages", "more.jsonl")], Request(text="body"))


def table_of_pages(path, rows):
    """Write rows of strings, which may lack fields, as the kind of table that the name of a file shows."""
    names = [*dict.fromkeys(name for row in rows for name in row)]
    match path.suffix:
        case ".jsonl":
            write_lines(path, rows)
        case ".csv":
            lines = ([f'"{row.get(name, "")}"' for name in names] for row in rows)
            path.write_text("\n".join(",".join(line) for line in [names, *lines]) + "\n")
        case _:
            pq.write_table(pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names])), path)


def columns(path, name, **reading):
    """Return a field of the pages of a file as all ways of reading return it; they must agree."""
    reading |= {"html": "page", "extraction": Extraction(view="visible")}
    late, early = (read([path], columns=some, **reading) for some in ([], [name]))
    shards = opened([path], Request(columns=[name], **reading)).cut(SHARD)
    pieces = [piece for one in shards.shards for piece in shards.pieces(one)]
    found = shards.column(name, [piece.raw_column(name) for piece in pieces])
    assert late.column(name).to_pylist() == early.column(name).to_pylist() == found.to_pylist()
    return found.to_pylist()


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_field_of_pages_has_the_fields_of_pages(tmp_path, name, monkeypatch):
    monkeypatch.setattr("neardup.sources.pages.BATCH", 20)
    path, head = tmp_path / name, "<html lang=de><head><title>A</title><link rel=canonical href=/a>"
    several = "<head><meta name=robots content=noindex><link rel=canonical href=/a><link rel=canonical href=/b>"
    table_of_pages(path, [{"page": page} for page in (head, "<p>B", several)])
    assert columns(path, "title") == ["A", None, None]
    assert columns(path, "canonical") == ["/a", None, None]
    assert columns(path, "lang") == ["de", None, None]
    assert columns(path, "noindex") == [0, 0, 1]
    table_of_pages(path, [{"page": "<p>B"}])
    assert columns(path, "title") == [None]
    with pytest.raises(DataError, match="there is no field 'size'"):
        read([path], html="page", columns=["size"]).column("size")


def test_pages_that_are_all_rejected_are_no_pages(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, page in zip(paths, (5, "<p>B"), strict=True):
        write_lines(path, [{"page": page}])
    with pytest.raises(NothingRead, match=r"its only record, .*a.jsonl:1, was rejected: its 'page' must be a string"):
        read(paths[:1], html="page")
    shards = opened(paths, Request(html="page")).cut(SHARD)
    pieces = [piece for one in shards.shards for piece in shards.pieces(one)]
    assert [piece.texts.to_pylist() for piece in pieces] == [[], ["B"]]


@pytest.mark.parametrize(("name", "other"), [("a.jsonl", "A"), ("a.csv", None), ("a.parquet", None)])
def test_a_field_that_records_have_themselves_counts_instead(tmp_path, name, other):
    """In a table, all rows have a column; a record of JSON has its own fields."""
    path, page = tmp_path / name, "<title>A</title>"
    table_of_pages(path, [{"page": page, "title": "own"}, {"page": page}])
    assert columns(path, "title") == ["own", other]


def test_a_null_that_a_record_has_itself_counts_instead(tmp_path):
    path = tmp_path / "a.jsonl"
    table_of_pages(path, [{"page": "<title>A</title>", "title": None}, {"page": "<title>B</title>"}, {"page": None}])
    assert columns(path, "title") == [None, "B", None]


def test_copies_of_files_at_urls_are_removed(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, line in (("copied", b'{"text": "a"}\n'), ("broken", b"{}}\n")):
        with fsspec.open(f"memory://{name}.jsonl", "wb") as file:
            file.write(line)
    documents = read(["memory://copied.jsonl"])
    assert len([*tmp_path.iterdir()]) == 1
    del documents
    gc.collect()
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(DataError):
        read(["memory://broken.jsonl"])
    assert [*tmp_path.iterdir()] == []
