import json

import numpy as np
import pytest
from test_features import gathered

from neardup import dedup
from neardup.pipeline.spilled import blocks, ranking
from neardup.pipeline.spilled.candidates import StoredPairs
from neardup.sources.read import read


@pytest.mark.parametrize("block", [1, 3000, 1 << 20])
@pytest.mark.parametrize("policy", [{}, {"gather": "components"}, {"representative": "closest"}])
def test_blocks_drop_what_memory_drops(job_of, sources, block, policy):
    job = job_of(sources, block=block, **policy)
    settled = [blocks.settle(job, number) for number in range(gathered(job))]
    rows = np.concatenate(
        [job.array(blocks.settled_name(number), np.int64, shape=(5, -1)) for number in range(len(settled))], axis=1
    )
    positions = job.array(ranking.LEADER_POSITIONS, np.int64)
    found = {int(positions[unit]): int(positions[match]) for unit, match in rows[:2].T}
    texts = read(sources).texts
    whole = dedup(texts, **policy)
    wanted = whole.representatives
    assert found == {own: int(wanted[own]) for own in positions.tolist() if wanted[own] >= 0}
    measured = whole.decisions.column("resemblance").to_pylist()
    for unit, _, common, size, other in rows.T.tolist():
        assert common / (size + other - common) == measured[positions[unit]]
    assert sum(record["compared"] for record in settled) == whole.summary.compared > 0


def test_a_window_has_at_most_twice_the_limit_unless_one_document_has_more(job_of, sources, monkeypatch):
    job = job_of(sources, block=1500)
    number = gathered(job)
    loaded = []
    load = blocks.load
    monkeypatch.setattr(blocks, "load", lambda job, chosen: loaded.append(chosen) or load(job, chosen))
    for block in range(number):
        blocks.settle(job, block)
    sizes = [8 * (chosen.ends - chosen.starts) for chosen in loaded]
    assert any(len(size) > 2 for size in sizes)
    assert len(loaded) > number
    (stored,) = StoredPairs(job).parts
    most = np.diff(stored.bounds).max() + 1  # documents that one document is compared with, and itself
    assert all(size.sum() <= 2 * job.block or len(size) <= most for size in sizes)


def test_the_pairs_of_a_large_cluster_are_not_held_at_once(job_of, tmp_path, monkeypatch):
    words = [f"w{number}" for number in range(60)]
    lines = [json.dumps({"text": " ".join([*words, f"x{number}"])}) for number in range(300)]
    (tmp_path / "alike.jsonl").write_text("\n".join(lines))
    job = job_of([tmp_path / "alike.jsonl"], block=1 << 14)
    number = gathered(job)
    windows, joined = [], blocks.joined
    monkeypatch.setattr(blocks, "BLOCK", 16)
    monkeypatch.setattr(blocks, "joined", lambda parts: windows.append(joined(parts)) or windows[-1])
    settled = [blocks.settle(job, block) for block in range(number)]
    assert [record["compared"] for record in settled] == [299]
    pairs = [len(window.candidates) for window in windows]
    assert max(pairs) * blocks._OF_PAIR <= 2 * job.block
    (stored,) = StoredPairs(job).parts
    assert sum(pairs) < len(stored.candidates) / 10  # no document is compared with dropped ones
