import pytest
from stage_functions import STAGES

from neardup import dedup_files
from neardup.engines.local import LocalEngine
from neardup.model.errors import FieldMissing
from neardup.pipeline.spilled.run import Stages, decided, records_of


def test_progress_goes_through_the_stages(job_of, sources):
    job, seen = job_of(sources, size=2000), []

    def progress(stage, done, total):
        seen.append((stage, done, total))

    with LocalEngine(2) as engine:
        found = decided(job, Stages(job.journal, engine, progress))
        summary = found.summary
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == ["read", "bucket", "compare", "gather", "settle"]
    assert all(done <= total for _, done, total in seen)
    assert ("read", sum(shard.size for shard in job.shards.shards)) in {(stage, done) for stage, done, _ in seen}
    assert [record["documents"] for record in records_of(job.journal, job)] == [
        record["documents"] for record in found.documents.records
    ]
    assert summary.duplicate_ids == dedup_files(sources).result.summary.duplicate_ids > 0


def test_finished_stages_are_not_repeated(job_of, sources, monkeypatch):
    from neardup.pipeline.spilled import run

    job = job_of(sources, block=2000)

    def decisions():
        with LocalEngine(1) as engine:
            return decided(job, Stages(job.journal, engine, lambda *_: None))

    first = decisions()
    for name in STAGES:
        monkeypatch.setattr(run, name, lambda *_, **__: pytest.fail("again"))
    assert decisions().decisions.equals(first.decisions)


@pytest.mark.parametrize("names", [{"text": "body"}, {"id": "body"}, {"keep": "max:body"}, {"text": "nothing"}])
def test_missing_fields_are_named_as_in_memory(sources, tmp_path, names):
    with pytest.raises(FieldMissing) as expected:
        dedup_files(sources, **names)
    with pytest.raises(FieldMissing) as found:
        dedup_files(sources, work=tmp_path / "work", **names)
    assert str(found.value) == str(expected.value)
