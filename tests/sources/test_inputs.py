"""The files among the inputs: those of folders, of several formats, in memory and in pieces."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import packed, page

from neardup import dedup_files
from neardup.model.errors import DataError, InputRefused, ParameterError
from neardup.sources.inputs import has_archives, has_pages, inputs_of
from neardup.sources.read import read, request_of

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
    for name in ("_SUCCESS", "._b.csv", "_temporary/c.csv", "notes", "a/y.json"):
        (tmp_path / "data" / name).write_text("text\nhidden\n")
    (tmp_path / "texts" / "t.txt").write_text(WORDS)
    (tmp_path / "pages.warc.gz").write_bytes(packed([page(1, WORDS), page(2)]))
    return tmp_path


def test_a_folder_without_documents_is_its_tables(data):
    found = inputs_of(["data", "texts"], request_of())
    assert found.paths == ("data/a/x.jsonl", "data/b.csv", "data/c.parquet", "texts")
    assert [one.format for one in found.kinds] == ["jsonl", "csv", "parquet", "folder"]
    assert found.formats == {"jsonl", "csv", "parquet", "folder"}
    assert found.ignored == read(["data"]).ignored == 4  # notes, y.json and the hidden tables
    assert inputs_of(["data"], request_of(glob=["*.csv"])).paths == ("data/b.csv",)


def test_tables_that_are_inputs_twice_are_refused(data):
    with pytest.raises(InputRefused, match="name each input once"):
        inputs_of(["data", "data/b.csv"], request_of())


def test_options_must_fit_an_input(data):
    with pytest.raises(ParameterError, match="can only be used with CSV and TSV"):
        inputs_of(["data/c.parquet"], request_of(quoting="none"))
    assert inputs_of(["data/c.parquet"], request_of(quoting="none"), ["data/b.csv"]).paths == ("data/c.parquet",)
    assert not has_archives(["data", "texts"], request_of())
    assert has_pages(["data", "texts"], request_of())
    assert not has_pages(["data"], request_of())


@pytest.mark.parametrize(
    "inputs",
    [["data"], ["data", "texts"], ["texts", "data/c.parquet", "data/a/x.jsonl"], ["data", "pages.warc.gz", "texts"]],
)
@pytest.mark.parametrize("keep", ["first", "last", "max:year", "longest"])
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


def test_columns_of_one_output_are_those_of_all_inputs(data):
    pq.write_table(pa.table({"text": [WORDS], "month": [1]}), data / "d.parquet")
    with pytest.raises(DataError, match=r"d\.parquet: its columns differ from those of data/c\.parquet"):
        dedup_files(["data/c.parquet", "d.parquet"], "kept.parquet")
    dedup_files(["data/c.parquet", "d.parquet"], "kept.csv")
    assert (data / "kept.csv").read_text() == f'"text","year","month"\n"unlike",3,\n"{WORDS}",4,\n'
