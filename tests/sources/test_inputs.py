"""The files among the inputs: those of folders, of several formats, in memory and in pieces."""

import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import packed, page

from neardup import Checksum, Field, dedup_files
from neardup.model.errors import DataError, FieldMissing, InputRefused, OutputRefused, OutputsOverlap, ParameterError
from neardup.sources.inputs import inputs_of, require_once
from neardup.sources.patterns import expand
from neardup.sources.read import read
from neardup.sources.request import Request

WORDS = "one two three four five six seven eight nine ten"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data set of tables of three formats, next to a folder of texts."""
    monkeypatch.chdir(tmp_path)
    for name in ("data/a", "data/_temporary", "texts"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "a" / "x.jsonl").write_text(
        f'{{"text": "{WORDS}", "year": 1}}\n{{"text": "other", "id": "7"}}\n'
    )
    (tmp_path / "data" / "b.csv").write_text(f"id,text,month\nb,{WORDS} b,2\nc,unlike,\n")
    pq.write_table(pa.table({"text": ["unlike", WORDS], "year": [3, 4]}), tmp_path / "data" / "c.parquet")
    for name in ("_SUCCESS", "._b.csv", "_temporary/c.csv", ".notes.txt", "notes", "a/y.json"):
        (tmp_path / "data" / name).write_text("text\nhidden\n")
    (tmp_path / "texts" / "t.txt").write_text(WORDS)
    (tmp_path / "pages.warc.gz").write_bytes(packed([page(1, WORDS), page(2)]))
    return tmp_path


def test_a_folder_without_documents_is_its_tables(data):
    found = inputs_of(["data", "texts"], Request())
    assert found.paths == ("data/a/x.jsonl", "data/b.csv", "data/c.parquet", "texts")
    assert [one.format for one in found.kinds] == ["jsonl", "csv", "parquet", "folder"]
    assert found.formats == {"jsonl", "csv", "parquet", "folder"}
    assert found.folders == ["texts"]
    assert found.given == ("data", "texts")
    assert found.ignored == read(["data"]).ignored == 4  # notes, y.json and the hidden tables
    assert inputs_of(["data"], Request(glob=["*.csv"])).paths == ("data/b.csv",)


def test_links_to_themselves_are_left_out_of_a_folder_of_tables(data):
    (data / "data" / "loop").symlink_to("loop")
    found = inputs_of(["data"], Request())
    assert (len(found.paths), found.ignored) == (3, 5)


def test_standard_input_is_only_on_one_side(data):
    assert inputs_of(["-"], Request(), ["data"]).given == ("-",)
    with pytest.raises(ParameterError, match="must name standard input only once"):
        inputs_of(["-"], Request(), ["-"])


def test_tables_that_are_inputs_twice_are_refused(data):
    with pytest.raises(InputRefused, match="name each input once"):
        inputs_of(["data", "data/b.csv"], Request())


def test_options_must_fit_an_input(data):
    with pytest.raises(ParameterError, match="can only be used with CSV and TSV"):
        inputs_of(["data/c.parquet"], Request(quoting="none"))
    assert inputs_of(["data/c.parquet"], Request(quoting="none"), ["data/b.csv"]).paths == ("data/c.parquet",)
    with pytest.raises(ParameterError, match="glob"):
        inputs_of(["data/c.parquet"], Request(glob=["*"]))
    assert inputs_of(["data/c.parquet"], Request(glob=["*"]), ["texts"]).paths == ("data/c.parquet",)


@pytest.mark.parametrize(
    ("inputs", "keep"),
    [
        (["data"], "max:year"),
        (["data", "texts"], "last"),
        (["texts", "data/c.parquet", "data/a/x.jsonl"], "first"),
        *((["data", "pages.warc.gz", "texts"], keep) for keep in ("first", "last", "max:year", "longest")),
    ],
)
def test_several_formats_are_decided_in_memory_as_in_pieces(data, inputs, keep):
    if keep == "max:year" and "texts" in inputs:
        keep = "min:year"
    results = []
    for place, ways in (("memory", {}), ("pieces", {"work": "work"})):
        outputs = {name: f"{place}.{name}.jsonl" for name in ("report", "dropped", "mark")}
        done = dedup_files(inputs, f"{place}.out.jsonl", keep=keep, **outputs, **ways)
        written = [(data / path).read_bytes() for path in (f"{place}.out.jsonl", *outputs.values())]
        results.append((written, done.result.summary, done.documents.ignored))
    assert results[0] == results[1]


def test_a_folder_of_outputs_needs_no_work_folder(data):
    dedup_files(["data"], "kept", dropped="rest/")
    assert (data / "kept" / "b.csv").read_text() == "id,text,month\nc,unlike,\n"
    assert (data / "rest" / "b.csv").read_text() == f"id,text,month\nb,{WORDS} b,2\n"
    dedup_files(["data"], "parts", part_size=30, out_format="jsonl")
    assert len([*(data / "parts").iterdir()]) > 1
    assert sorted(path.name for path in data.iterdir()) == ["data", "kept", "pages.warc.gz", "parts", "rest", "texts"]
    with pytest.raises(ParameterError, match="must end in a known format"):
        dedup_files(["data"], "kept.jsn")
    with pytest.raises(ParameterError, match="or end in a known format, as the inputs have several formats"):
        dedup_files(["data"], "/dev/stdout")


def test_outputs_are_outside_of_folders_of_tables_and_of_each_other(data):
    with pytest.raises(OutputRefused, match="it is inside the input folder data"):
        dedup_files(["data"], "data/kept.jsonl")
    (data / "kept").mkdir()
    with pytest.raises(OutputsOverlap):
        dedup_files(["data/b.csv"], "kept", learn_templates="kept/t.arrow")


def test_columns_of_one_output_are_those_of_all_inputs(data):
    pq.write_table(pa.table({"text": [WORDS], "month": [1]}), data / "d.parquet")
    with pytest.raises(DataError, match=r"d\.parquet: its columns differ from those of data/c\.parquet"):
        dedup_files(["data/c.parquet", "d.parquet"], "kept.parquet")
    dedup_files(["data/c.parquet", "d.parquet"], "kept.csv")
    assert (data / "kept.csv").read_text() == f'"text","year","month"\n"unlike",3,\n"{WORDS}",4,\n'


def test_pages_are_read_next_to_tables_with_fields_of_other_names(data):
    (data / "t.jsonl").write_text(f'{{"doc": "t", "body": "{WORDS}"}}\n')
    for ways in ({}, {"work": "work"}):
        found = dedup_files(["pages.warc.gz", "texts", "t.jsonl"], text="body", id="doc", **ways)
        assert found.documents.ids.to_pylist() == ["http://a.example/1", "http://a.example/2", "t.txt", "t"]
        assert found.result.representatives.tolist() == [-1, -1, 0, 0]
        with pytest.raises(FieldMissing, match="there is no field 'doc'"):
            dedup_files(["texts"], id="doc", **ways)


@pytest.mark.parametrize("ways", [{}, {"work": "work"}])
def test_the_texts_of_pages_are_a_field_of_checksums(data, ways):
    (data / "texts" / "u.txt").write_text(WORDS)
    scheme = Checksum(fields=[Field(name="text")])
    found = dedup_files(["texts", "data/c.parquet"], scheme=scheme, **ways).result
    assert found.representatives.tolist() == [-1, 0, -1, 0]


def test_a_pipe_in_a_folder_is_ignored(data):
    os.mkfifo(data / "data" / "pipe.jsonl")
    assert inputs_of(["data"], Request()).ignored == 5


@pytest.mark.parametrize(
    ("out", "more", "error"),
    [
        ("kept.jsonl/", {}, "ends in a slash, as a folder does, and in the ending of a file"),
        ("data/notes", {"force": True}, "it is a file without the ending of a known format"),
        ("/dev/stdout", {"out_format": "csv"}, "requires a folder as an output"),
        ("/dev/stdout", {"part_size": 5}, "requires a folder as an output"),
    ],
)
def test_invalid_folders_of_outputs_are_refused(data, out, more, error):
    with pytest.raises((ParameterError, OutputRefused), match=error):
        dedup_files(["pages.warc.gz" if "force" in more else "data/b.csv"], out, **more)


def test_patterns_do_not_match_the_work_folder_of_an_interrupted_run(data):
    (data / "kept.neardup-work").mkdir()
    assert inputs_of(["pages*", "*t*"], Request()).paths == (
        *("pages.warc.gz", "data/a/x.jsonl", "data/b.csv", "data/c.parquet", "texts"),
    )


def test_a_file_is_an_input_once(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b c"}\n')
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    name, link = str(tmp_path / "a.jsonl"), str(tmp_path / "link.jsonl")
    require_once(expand([name]))
    for urls in (("s3://a/b.jsonl", "s3://a/c.jsonl"), ("s3://a/b//c.jsonl", "s3://a/b/c.jsonl")):
        assert require_once(urls) == urls
    for given, words in (
        ([name, name], "a.jsonl is given twice, by its name or a pattern; name each input once"),
        ([str(tmp_path / "*.jsonl")], f"link.jsonl is the same as {name}"),
        ([name, str(tmp_path / "." / "a*.jsonl")], "is given twice"),
        ([name, f"{tmp_path}/./a.jsonl"], "is the same as"),
        ([link, name], f"is the same as {link}"),
        (("s3://a/b.jsonl", "s3://a/b.jsonl"), "is given twice"),
        (("memory:///a/b.jsonl", "memory://a/b.jsonl"), "is the same as memory:///a/b.jsonl"),
        ([f"file://{name}", f"local://{name}"], "is given twice"),
    ):
        with pytest.raises(InputRefused, match=re.escape(words)):
            require_once(expand(given) if isinstance(given, list) else given)


def test_an_input_inside_another_one_is_refused(tmp_path):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer2").mkdir()
    (tmp_path / "link").symlink_to("outer/inner")
    (tmp_path / "outer" / "a.jsonl").touch()
    outer, inner = str(tmp_path / "outer"), str(tmp_path / "outer" / "inner")
    assert require_once(expand([outer, f"{outer}2"])) == (outer, f"{outer}2")
    for given in ([outer, inner], [inner, outer], [f"{outer}*", inner], [str(tmp_path / "link"), outer]):
        with pytest.raises(InputRefused, match=f"is inside the input folder {re.escape(outer)}, which is read"):
            require_once(expand(given))


def test_a_file_inside_an_input_folder_is_refused_if_it_is_read_with_it(tmp_path):
    folder, table, text = (str(tmp_path / name) for name in ("folder", "folder/a.csv", "folder/below/b.md"))
    (tmp_path / "folder" / "below").mkdir(parents=True)
    for path in (table, text):
        Path(path).touch()
    assert require_once((folder, table)) == (folder, table)
    assert require_once((table, folder), ["*.md"]) == (table, folder)
    for given, globs in (((folder, text), ()), ((folder, table), ["*.csv"]), ((text, folder), ["below/*"])):
        with pytest.raises(InputRefused, match="which is read with it; name each input once"):
            require_once(given, globs)
    Path(text).unlink()  # a folder without texts represents its tables
    with pytest.raises(InputRefused, match="which is read with it"):
        require_once((folder, table))
