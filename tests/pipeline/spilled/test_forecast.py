import gzip
import json
import shutil
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from test_signing import signed_of

from neardup import Checksum, Field, MinHash, SimHash, dedup_files
from neardup.errors import StorageFailed
from neardup.pipeline.spilled import addition, output_records, run
from neardup.pipeline.spilled import forecast as module
from neardup.pipeline.spilled.forecast import (
    amount,
    bytes_to_gather,
    forecast,
    require_room,
    sample_of,
    warn_of_full_buckets,
)
from neardup.pipeline.spilled.run import Stages
from neardup.pipeline.spilled.signing import sign


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def free(monkeypatch):
    """Let the disk have this much room."""

    def of(size):
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, size))

    return of


@pytest.mark.parametrize("scheme", [MinHash(), SimHash(), Checksum(fields=(Field(name="title"),))])
def test_a_forecast_is_that_of_the_first_shards(job_of, sources, scheme):
    job = job_of(sources, scheme, size=2000, columns=("title",) if scheme.columns else ())
    records, signed = signed_of(job)
    everything = range(len(records))
    whole = forecast(job, everything, records, 1)
    assert whole.documents == len(signed)
    stored = sum(size for record in records for size, _ in record["files"].values())
    assert whole.disk > whole.signed == stored
    some = forecast(job, everything[:4], records[:4], 1)
    assert some.documents == pytest.approx(len(signed), rel=0.3)
    assert some.disk == pytest.approx(whole.disk, rel=0.3)
    assert forecast(job, everything, records, 2).seconds == pytest.approx(whole.seconds / 2)


def test_documents_of_compressed_inputs_are_counted_from_their_own_shards(job_of, tmp_path, sources):
    lines = "".join(json.dumps({"text": f"one two three four five {number % 7}"}) + "\n" for number in range(3000))
    for name in ("b.jsonl.gz", "c.jsonl.gz"):
        (tmp_path / name).write_bytes(gzip.compress(lines.encode()))
    job = job_of([*sources, tmp_path / "b.jsonl.gz", tmp_path / "c.jsonl.gz"], size=2000)
    some = sample_of(job.shards)
    assert len(some) == 5
    found = forecast(job, some, [sign(job, task) for task in some], 1)
    records, signed = signed_of(job)
    assert found.documents == pytest.approx(len(signed), rel=0.05)
    assert found.signed == pytest.approx(
        sum(size for record in records for size, _ in record["files"].values()), rel=0.05
    )


def test_the_disk_of_gathering_is_known(tmp_path, sources, small_parts, monkeypatch):
    small_parts(3000)
    found = []

    def gathered(job, signed):
        found.append([bytes_to_gather(job, signed), 0])
        return found[-1][0]

    gather = run.gather

    def measured(job, signed, task):
        record = gather(job, signed, task)
        found[-1][1] += 8 * record["features"]
        return record

    monkeypatch.setattr(run, "bytes_to_gather", gathered)
    monkeypatch.setattr(run, "gather", measured)
    for scheme in (MinHash(), Checksum.for_texts()):
        dedup_files(sources, work=tmp_path / "w", scheme=scheme, threads=1)
        assert found[-1][0] == found[-1][1] > 0


def test_a_stage_without_room_ends_the_run_and_it_continues_later(tmp_path, sources, free, monkeypatch):
    stages = []

    def noted(folder, needed, stage):
        stages.append(stage)
        require_room(folder, needed, stage)

    monkeypatch.setattr(run, "require_room", noted)
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 1000))
        with pytest.raises(StorageFailed, match=r"to rank documents, about 1 MB of disk .* needed, and 0 MB are"):
            dedup_files(sources, work=tmp_path / "w")
        full.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 20_000))
        with pytest.raises(StorageFailed, match=r"to compare signatures, about 1 MB of disk .* needed, and 0 MB are"):
            dedup_files(sources, work=tmp_path / "w")
    first, again = ["read the inputs", "rank documents"], ["read the inputs", "compare signatures"]
    assert stages == [*first, *first, "compare signatures"]
    dedup_files(sources, work=tmp_path / "w")
    assert stages[5:] == [*again, "gather features", "decide"]


def test_a_state_without_room_gets_no_documents(tmp_path, sources, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(addition, "require_room", lambda *asked: require_room(tmp_path, asked[1] + 10**15, asked[2]))
        with pytest.raises(StorageFailed, match=r"to add the documents to the state, about [\d,.]+ GB of disk"):
            dedup_files(sources, state=tmp_path / "state")
    dedup_files(sources, state=tmp_path / "state")


@pytest.mark.parametrize("short", ["disk", "memory", ""])
def test_a_lack_of_disk_or_memory_is_warned_of_before_all_is_read(  # noqa: PLR0917 - a case
    tmp_path, sources, small_parts, monkeypatch, free, short
):
    small_parts(2000)
    found = []
    dedup_files(sources, work=tmp_path / "w", forecast=found.append, memory=10**9)
    assert found[0].memory == 3 * 10**8 + 5 * 10**8 + 80 * found[0].documents
    if short == "disk":
        free((found[0].disk + found[0].signed) // 2)
    monkeypatch.setattr(module, "available_memory", lambda: 1000 if short == "memory" else None)
    monkeypatch.setattr(run, "require_room", lambda *_: None)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        dedup_files(sources, work=tmp_path / "w", memory=10**12)
    words = {"disk": "w: this run needs about 1 MB more disk space", "memory": "needs about 500.3 GB of memory, but"}
    assert [words[short] in str(one.message) for one in shown] == [True] * bool(short)


def test_outputs_need_room(tmp_path, free):
    free(1)
    with pytest.raises(StorageFailed, match="about 1 MB of disk"):
        require_room(tmp_path / "not" / "there", 2, "x")
    require_room(tmp_path, 1, "x")


def test_amounts():
    assert [amount(size) for size in (0, 1, 5e6, 2.34e9)] == ["0 MB", "1 MB", "5 MB", "2.3 GB"]


def test_full_buckets_are_warned_of(job_of, tmp_path):
    """Texts of a small vocabulary share many shingles of one word."""
    chance = np.random.default_rng(1)
    lines = [json.dumps({"text": " ".join(f"w{word}" for word in chance.choice(200, 60))}) for _ in range(600)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    job = job_of([tmp_path / "a.jsonl"], MinHash(shingle=1))
    _, signed = signed_of(job)
    with pytest.warns(RuntimeWarning, match=r"would have about [\d,]+ unrelated .*; better: minhash with permutations"):
        warn_of_full_buckets(job, signed, 10**6)
    hopeless = job_of([tmp_path / "a.jsonl"], MinHash(shingle=1, threshold=0.2))
    _, signed = signed_of(hopeless)
    with pytest.warns(RuntimeWarning, match="longer shingles help"):
        warn_of_full_buckets(hopeless, signed, 10**9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_full_buckets(job, signed, 10**4)
        pairs = job_of([tmp_path / "a.jsonl"], SimHash())
        warn_of_full_buckets(pairs, signed_of(pairs)[1], 10**6)


def test_ordinary_text_is_not_warned_of(job_of, monkeypatch):
    """Near-duplicates in the sample are related, and do not count."""
    monkeypatch.setattr(module, "_MANY", 0)
    sample = Path(module.__file__).parents[2] / "samples" / "collection.jsonl"
    for scheme in (MinHash(), MinHash(shingle=5, threshold=0.8)):
        job = job_of([sample], scheme)
        _, signed = signed_of(job)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_full_buckets(job, signed, len(signed))


def test_the_first_shards_are_read_first(tmp_path, sources, small_parts, monkeypatch):
    small_parts(2000)
    seen, each = [], Stages.each

    def noted(self, stage, *given, **options):
        seen.append((stage.partition("-")[0], options.get("only")))
        return each(self, stage, *given, **options)

    monkeypatch.setattr(Stages, "each", noted)
    dedup_files(sources, work=tmp_path / "w")
    assert seen[:2] == [("sign", [0, 1, 2, 3]), ("sign", None)]


def test_large_outputs_are_refused_before_they_are_written(tmp_path, sources, monkeypatch):
    asked = []
    monkeypatch.setattr(output_records, "require_room", lambda folder, size, _: asked.append((folder.name, size)))
    dedup_files(sources, tmp_path / "out" / "kept.jsonl", work=tmp_path / "w", mark=tmp_path / "m.csv")
    [(folder, size)] = asked  # that of another format is unknown
    assert folder == "out"
    written = (tmp_path / "out" / "kept.jsonl").stat().st_size
    assert size == pytest.approx(0.7 * written, rel=0.3)
    dedup_files(sources, work=tmp_path / "w", report=tmp_path / "why.jsonl")
    assert 0.3 * (tmp_path / "why.jsonl").stat().st_size < asked[1][1] < (tmp_path / "why.jsonl").stat().st_size
