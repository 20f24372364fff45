import pickle

import numpy as np
import pyarrow as pa
import pytest

from neardup import dedup, dedup_files
from neardup.errors import DataError

LINE = "the quick brown fox jumps over the lazy dog and runs into the dark wood"
TEXTS = [LINE, "something else entirely is written in here", LINE + " tonight", LINE]
EVIDENCE = ("rule", "resemblance", "contained_in_kept", "contains_kept", "exact")
TABLE = pa.table({"id": list("abcd"), "text": TEXTS, "score": [1, 2, 3, 4]})


def frame(library, make):
    return make(pytest.importorskip(library))


CONTAINERS = {
    "Arrow": lambda: TABLE,
    "batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "pandas": lambda: frame("pandas", lambda pandas: pandas.DataFrame(TABLE.to_pydict())),
    "polars": lambda: frame("polars", lambda polars: polars.DataFrame(TABLE.to_pydict())),
    "datasets": lambda: frame("datasets", lambda datasets: datasets.Dataset(TABLE)),
}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_the_kept_rows_come_in_the_container_that_came_in(make):
    source = make()
    result = dedup(source, keep="max:score")
    table = result.table()
    assert type(table) is type(source)
    assert [str(name) for name in table["id"]] == ["b", "d"]
    assert len(table) == 2
    assert result.decisions["id"].to_pylist() == list("abcd")


@pytest.mark.parametrize("kind", [list, tuple, np.array, pa.array])
def test_the_kept_texts_come_in_the_sequence_that_came_in(kind):
    kept = dedup(kind(TEXTS)).table()
    assert type(kept) is type(kind(TEXTS))
    assert [str(text) for text in kept] == TEXTS[:2]


def test_the_kept_records_are_the_same_objects():
    records = TABLE.to_pylist()
    result = dedup(records, keep="last")
    assert result.decisions["id"].to_pylist() == list("abcd")
    kept = result.table()
    assert [record["id"] for record in kept] == ["b", "d"]
    assert kept[0] is records[1]


def test_other_rows_are_taken_by_what_was_kept():
    result = dedup(TABLE)
    assert result.take(TABLE.append_column("more", [list("wxyz")]))["more"].to_pylist() == ["w", "x"]
    assert result.take(list("wxyz")) == ["w", "x"]
    with pytest.raises(DataError, match="3 rows for 4 documents"):
        result.take(TABLE.slice(1))


@pytest.mark.parametrize("source", [lambda: iter(TEXTS), TABLE.to_reader], ids=["iterator", "reader"])
def test_rows_that_were_read_once_are_not_there_any_more(source):
    result = dedup(source())
    assert result.mask.tolist() == [True, True, False, False]
    with pytest.raises(DataError, match="pass a list, not a stream or an iterator"):
        result.table()
    assert pickle.loads(pickle.dumps(result)).kept.tolist() == result.kept.tolist()  # noqa: S301 - made here


def test_a_result_of_files_has_no_table(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text('{"text": "one two three"}\n' * 2)
    result = dedup_files([path]).result
    assert result.kept.tolist() == [0]
    with pytest.raises(DataError, match="for files, write the rows to an output"):
        result.table()


def test_masks_and_clusters():
    result = dedup(TABLE, keep="last")
    assert (result.mask.dtype, result.clusters.dtype) == (np.bool_, np.int64)
    assert result.mask.tolist() == [False, True, False, True]
    assert result.clusters.tolist() == [3, 1, 3, 3]
    assert np.flatnonzero(result.mask).tolist() == result.kept.tolist()
    empty = dedup([])
    assert (empty.mask.tolist(), empty.clusters.tolist(), empty.table(), len(empty.pairs())) == ([], [], [], 0)


def test_pairs_have_positions_ids_and_evidence():
    result = dedup(TABLE)
    pairs = result.pairs()
    first, second = pairs.to_pylist()
    assert (first["dropped"], first["representative"]) == (2, 0)
    assert (first["dropped_id"], first["representative_id"], first["rule"]) == ("c", "a", "resemblance")
    assert first["contains_kept"] == 1.0 > first["resemblance"] > 0.6
    assert (second["dropped_id"], second["rule"], second["exact"]) == ("d", "same text", True)
    assert pairs.column_names[4:] == result.decisions.column_names[5:] == [*EVIDENCE]


def test_a_result_shows_itself_in_a_line_and_in_a_notebook_as_a_table():
    result = dedup(TABLE)
    assert repr(result) == "Result(documents=4, kept=2, exact=1, near=1)"
    html = result._repr_html_()
    assert html.startswith("<table>")
    assert "minhash, resemblance of at least 0.6" in html
    assert html.count("<tr>") == 4
