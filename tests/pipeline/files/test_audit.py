"""Audits of files, in pieces, are those of the same documents in memory."""

import pytest
from audits import LEAKY, TEXTS, written

from neardup import DataError, MinHash, ParameterError, audit, audit_files, dedup, dedup_files
from neardup.sources.shards import Shards


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@pytest.mark.parametrize("keep", ["first", "max:score"])
def test_files_in_pieces_are_audited_as_documents_in_memory(files, tmp_path, monkeypatch, ending, keep):
    monkeypatch.setattr(Shards.split.__func__, "__kwdefaults__", {"size": 2_000})
    report = tmp_path / f"why.{ending}"
    dedup_files(files, report=report, scheme=LEAKY, keep=keep)
    table = [{"id": f"d{n}", "text": text, "score": n % 5} for n, text in enumerate(TEXTS)]
    expected = audit(dedup(table, scheme=LEAKY, keep=keep), scheme=LEAKY, sample=150)
    assert audit_files(files, report, scheme=LEAKY, keep=keep, sample=150) == expected
    assert audit_files(files, scheme=LEAKY, keep=keep, sample=150) == expected
    assert expected.missed[0].id == f"d{expected.missed[0].position}"


def test_a_report_of_another_run_is_refused(files, tmp_path):
    report, other = tmp_path / "why.parquet", tmp_path / "other.jsonl"
    dedup_files(files, report=report, scheme=LEAKY)
    with pytest.raises(DataError, match=r"is a report on \d+ documents, but the inputs have 50"):
        audit_files(files[:1], report, scheme=LEAKY)
    with pytest.raises(DataError, match="is a report on other inputs: document 1 is 'd0' there, and 'd50' here"):
        audit_files(files[::-1], report, scheme=LEAKY)
    with pytest.raises(ParameterError, match="for a document of a worse rank"):
        audit_files(files, report, scheme=LEAKY, keep="last")
    with pytest.raises(ParameterError, match="or its parameters are not those of the run, which measured"):
        audit_files(files, report, scheme=MinHash(shingle=2))
    with pytest.raises(DataError, match="no field 'position'"):
        audit_files(files, files[0])
    other.write_text("")
    with pytest.raises(DataError, match="there are no documents to audit"):
        audit_files([other], report)


def test_a_folder_is_no_report(files, tmp_path):
    with pytest.raises(DataError, match="is a folder, but must be the report of a run, or its state"):
        audit_files(files, tmp_path)
