import numpy as np
import pytest
from test_features import gathered

from neardup import dedup
from neardup.pipeline.spilled import blocks, heads
from neardup.pipeline.spilled.pairs import Pairs
from neardup.sources.read import read


@pytest.mark.parametrize("block", [1, 3000, 1 << 20])
@pytest.mark.parametrize("policy", [{}, {"gather": "components"}, {"representative": "closest"}])
def test_blocks_drop_what_memory_drops(job_of, sources, block, policy):
    job = job_of(sources, block=block, **policy)
    settled = [blocks.settle(job, number) for number in range(gathered(job))]
    rows = np.concatenate([job.array(blocks.settled_name(number)) for number in range(len(settled))], axis=1)
    positions = job.array(heads.HEADS)
    found = {int(positions[unit]): int(positions[match]) for unit, match in rows[:2].T}
    texts = read(sources).texts
    whole = dedup(texts, **policy)
    wanted = whole.representatives
    assert found == {own: int(wanted[own]) for own in positions.tolist() if wanted[own] >= 0}
    measured = whole.decisions.column("resemblance").to_pylist()
    for unit, _, common, size, other in rows.T.tolist():
        assert common / (size + other - common) == measured[positions[unit]]
    assert sum(record["compared"] for record in settled) > 0


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
    stored = Pairs(job)
    most = np.diff(stored.bounds).max() + 1  # documents that one document is compared with, and itself
    assert all(size.sum() <= 2 * job.block or len(size) <= most for size in sizes)
