"""Reports as Parquet describe their runs, and other tables do not."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import MinHash, dedup_files
from neardup.pipeline.corpus.report import terms_of_report


@pytest.mark.parametrize("work", [None, "work"])
def test_a_report_describes_its_run_in_memory_and_in_pieces(tmp_path, work):
    (tmp_path / "in.jsonl").write_text('{"body": "one two three"}\n')
    ways = {"report": tmp_path / "why.parquet", "work": work and tmp_path / work}
    dedup_files([tmp_path / "in.jsonl"], text="body", scheme=MinHash(threshold=0.7), keep="longest", **ways)
    found = terms_of_report(tmp_path / "why.parquet")
    assert (found["keep"], found["reading"]) == ("longest", {"text": "body", "html": False})
    assert (found["scheme"]["scheme"], found["scheme"]["threshold"]) == ("minhash", 0.7)
    assert found["recipe"] == MinHash().recipe


def test_other_files_describe_no_run(tmp_path):
    path = tmp_path / "x.parquet"
    assert terms_of_report(path) is None
    path.write_bytes(b"PAR1")
    assert terms_of_report(path) is None
    for metadata in ({}, {"neardup.run": "{}"}, {"neardup.run": "["}, {"neardup.run": "[]"}):
        pq.write_table(pa.table({"id": ["a"]}).replace_schema_metadata(metadata), path)
        assert terms_of_report(path) is None
    assert terms_of_report(tmp_path / "x.jsonl") is None
