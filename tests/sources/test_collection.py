import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

from neardup import dedup_files
from neardup.model.errors import DataError
from neardup.sources.collection import complete_ids, ranges


def test_names_of_records_without_an_id():
    assert complete_ids(None, "a:b.csv", np.array([1, 20])).to_pylist() == ["a:b.csv:1", "a:b.csv:20"]
    assert complete_ids(pa.chunked_array([["a", "", None]]), "x", np.arange(3)).to_pylist() == ["a", "x:1", "x:2"]
    assert complete_ids(None, "x", np.zeros(0, np.int64)).to_pylist() == []


def test_ranges_of_neighbours():
    assert ranges([1, 2, 3, 9, 1], 3) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert ranges([], 3) == [(0, 0)]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "folder"])
def test_pages_have_fields_that_none_of_them_declares(tmp_path, form):
    pages = ["<p>one two three four", "<p>one two three four"]
    path = tmp_path / f"pages.{form}"
    if form == "folder":
        path.mkdir()
        for number, page in enumerate(pages):
            (path / f"{number}.html").write_text(page)
    else:
        table = pa.table({"id": ["http://a.example/1", "http://a.example/2"], "html": pages})
        if form == "jsonl":
            write_lines(path, table.to_pylist())
        else:
            (pa.csv.write_csv if form == "csv" else pq.write_table)(table, path)
    html = {} if form == "folder" else {"html": "html"}
    for keep in ("canonical", "max:title", "max:lang"):
        assert dedup_files([path], keep=keep, **html).result.summary.kept == 1
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("no page")
    with pytest.raises(DataError, match="no field 'canonical'"):
        dedup_files([tmp_path / "texts"], keep="canonical")


@pytest.mark.parametrize("ways", [{}, {"work": "work"}])
def test_no_records_have_the_fields_of_pages(tmp_path, monkeypatch, ways):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": pa.array([], pa.string()), "html": pa.array([], pa.string())}), "a.parquet")
    assert dedup_files(["a.parquet"], keep="max:title", html="html", **ways).result.summary.kept == 0
