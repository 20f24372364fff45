from test_blocks import settled
from test_signing import signed_of

from neardup import Checksum, Field, dedup, dedup_files
from neardup.engines.local import LocalEngine
from neardup.pipeline.spilled import outcome
from neardup.pipeline.spilled.signing import Signed
from neardup.pipeline.spilled.stored_documents import StoredDocuments, StoredResult
from neardup.sources.read import read


def decided(job):
    _, records = settled(job)
    found, _ = signed_of(job)
    signed = Signed(job, found)
    with LocalEngine(1) as engine:
        record = outcome.decide(job, signed, len(records), engine)
    return record, StoredResult(job, StoredDocuments(job, found), record["rules"])


def test_documents_without_text_are_no_exact_duplicates(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "a", "text": ""}\n' * 2 + '{"title": "b", "text": "x"}\n' * 2)
    for way in ({}, {"work": tmp_path / "w"}):
        done = dedup_files([path], scheme=Checksum(fields=[Field(name="title")]), **way).result
        assert done.decisions["rule"].to_pylist() == [None, "checksum", None, "same text"]
        assert done.summary.exact == 1


def test_any_part_of_the_table_can_be_read(job_of, sources):
    record, decisions = decided(job_of(sources, block=2000))
    whole = dedup({"text": read(sources).texts}["text"])
    table = decisions.rows(0, len(whole.representatives))
    ids = read(sources).ids.to_pylist()
    assert decisions.representatives.tolist() == whole.representatives.tolist()
    assert table.column("id").to_pylist() == ids
    names = [None if place < 0 else ids[place] for place in whole.representatives.tolist()]
    assert table.column("representative").to_pylist() == names
    for name in ("rule", "resemblance", "contained_in_kept", "contains_kept", "exact", "kept"):
        assert table.column(name).to_pylist() == whole.decisions.column(name).to_pylist(), name
    for begin, end in ((0, 0), (5, 17), (40, 41)):
        assert decisions.rows(begin, end).to_pylist() == table.slice(begin, end - begin).to_pylist()
    summary = whole.summary
    assert [record[name] for name in ("kept", "exact", "near", "empty", "too_short")] == [
        summary.kept,
        summary.exact,
        summary.near,
        summary.empty,
        summary.too_short,
    ]
    assert decisions.exact.tolist() == whole.decisions.column("exact").to_pylist()
