import numpy as np
import pyarrow as pa
import pytest
from json_lines import write_lines

from neardup.errors import DataError
from neardup.pipeline.spilled import common_shingles as stages
from neardup.text import common_shingles


def test_the_bound_is_the_last_hash_of_the_sample(monkeypatch):
    monkeypatch.setattr(common_shingles, "BYTES", 10)
    bound = stages.Bound()
    bound.add(np.array([3, 9], np.uint64), np.array([4, 6]))
    assert bound.largest == 2**64 - 1  # there is room for both
    bound.add(np.array([5, 3], np.uint64), np.array([6, 4]))
    assert bound.largest == 5
    bound.add(np.array([1], np.uint64), np.array([9]))
    assert bound.largest == 1


@pytest.mark.parametrize("largest", [10, 200, 1 << 20])
def test_the_sample_of_shards_is_that_of_all_texts(tmp_path, job_of, monkeypatch, largest):
    monkeypatch.setattr(common_shingles, "BYTES", largest)
    texts = [f"{'x' * (n % 7)} {n % 40}" for n in range(100)]
    write_lines(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    job = job_of([tmp_path / "a.jsonl"], size=100)
    bound = stages.Bound()
    expected = common_shingles.sample(pa.chunked_array([texts])).to_pylist()
    assert len(job.shards.shards) > 5
    for task in reversed(range(len(job.shards.shards))):
        stages.sample(job, bound, task)
    found = []
    monkeypatch.setattr(stages, "fitted_common", lambda _, column, __: found.extend(column.to_pylist()) or _Empty())
    stages.find(job, 0.5)
    assert found == expected
    stages.remove_samples(job)
    assert not [path for path in job.journal.path().iterdir() if "sample" in path.name]


def test_later_shards_store_only_texts_that_the_sample_may_have(tmp_path, job_of, monkeypatch):
    monkeypatch.setattr(common_shingles, "BYTES", 400)
    write_lines(tmp_path / "a.jsonl", [{"text": f"text {n:06}"} for n in range(2000)])
    job = job_of([tmp_path / "a.jsonl"], size=3000)
    bound = stages.Bound()
    records = [stages.sample(job, bound, task) for task in range(len(job.shards.shards))]
    sizes = [sum(size for size, _ in record["files"].values()) for record in records]
    assert min(sizes[-5:]) < sizes[0] / 2
    assert stages.room(job) < sum(shard.size for shard in job.shards.shards) + 1


def test_a_damaged_list_is_refused(tmp_path, job_of):
    (tmp_path / "a.jsonl").write_text("{}\n")
    job = job_of([tmp_path / "a.jsonl"])
    assert stages.list_of(job.journal) is None
    job.journal.path("common.npz").write_bytes(b"?")
    with pytest.raises(DataError, match="is not a file of common shingles"):
        stages.list_of(job.journal)


class _Empty:
    def to_bytes(self):
        return b""
