import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines

from neardup.model.errors import ParameterError
from neardup.sources import tables
from neardup.sources.read import read
from neardup.sources.whole_inputs import check_marks


def test_records_are_converted_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 3)
    texts = [f"text {number}" for number in range(10)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    got = read([tmp_path / "a.parquet"])
    got.write(tmp_path / "out.jsonl", np.array([0, 4, 9]))
    got.write(tmp_path / "marked.jsonl", slice(None), pa.table({"m": range(10)}))
    written = [read_lines(tmp_path / name) for name in ("out.jsonl", "marked.jsonl")]
    assert written[0] == [{"text": texts[row]} for row in (0, 4, 9)]
    assert written[1] == [{"text": text, "m": row} for row, text in enumerate(texts)]


def test_files_are_not_marked():
    with pytest.raises(ParameterError, match="must be a table, such as"):
        check_marks("out", {"folder"})
