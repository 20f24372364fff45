import numpy as np
import pytest
from json_lines import write_lines
from test_features import gathered

from neardup import dedup
from neardup.pipeline.spilled import blocks, ranking
from neardup.pipeline.spilled.candidates import PARTS, StoredPairs
from neardup.sources.read import read


def settled(job):
    """Return the records of the parts of large blocks, and of the blocks."""
    number = gathered(job)
    parts = [blocks.match(job, part) for part in range(len(job.array(PARTS, np.int64, shape=(-1, 3))))]
    return parts, [blocks.settle(job, block) for block in range(number)]


@pytest.mark.parametrize("block", [1, 3000, 1 << 20])
@pytest.mark.parametrize("policy", [{}, {"gather": "components"}, {"representative": "closest"}])
def test_blocks_drop_what_memory_drops(job_of, sources, block, policy):
    job = job_of(sources, block=block, **policy)
    parts, records = settled(job)
    rows = np.concatenate(
        [job.array(blocks.settled_name(number), np.int64, shape=(5, -1)) for number in range(len(records))], axis=1
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
    compared = sum(record["compared"] for record in [*parts, *records])
    assert bool(parts) == (block <= 3000 and not policy)
    assert compared == whole.summary.compared > 0 or parts


def test_a_window_has_at_most_twice_the_limit_unless_one_document_has_more(job_of, sources, monkeypatch):
    job = job_of(sources, block=1500)
    loaded = []
    load = blocks.load
    monkeypatch.setattr(blocks, "load", lambda job, chosen: loaded.append(chosen) or load(job, chosen))
    _, records = settled(job)
    sizes = [8 * (chosen.ends - chosen.starts) for chosen in loaded]
    assert any(len(size) > 2 for size in sizes)
    assert len(loaded) > len(records)
    (stored,) = StoredPairs(job).parts
    most = np.diff(stored.bounds).max() + 1  # documents that one document is compared with, and itself
    assert all(size.sum() <= 2 * job.block or len(size) <= most for size in sizes)


def large_cluster(job_of, folder, texts, **policy):
    path = write_lines(folder / "alike.jsonl", [{"text": text} for text in texts])
    return job_of([path], block=1 << 14, **policy)


ALIKE = [" ".join([*(f"w{number}" for number in range(60)), f"x{number}"]) for number in range(300)]


def test_the_pairs_of_a_large_cluster_are_not_held_at_once(job_of, tmp_path, monkeypatch):
    job = large_cluster(job_of, tmp_path, ALIKE, representative="closest")
    windows, joined = [], blocks.joined
    monkeypatch.setattr(blocks, "BLOCK", 16)
    monkeypatch.setattr(blocks, "joined", lambda parts: windows.append(joined(parts)) or windows[-1])
    parts, records = settled(job)
    assert ([*parts], [record["compared"] for record in records]) == ([], [2 * 299])  # for the decision and the measure
    pairs = [len(window.candidates) for window in windows]
    assert max(pairs) * blocks._OF_PAIR <= 2 * job.block
    (stored,) = StoredPairs(job).parts
    assert sum(pairs) < len(stored.candidates) / 10  # no document is compared with dropped ones


def test_the_parts_of_a_large_cluster_decide_almost_everything(job_of, tmp_path):
    parts, (record,) = settled(large_cluster(job_of, tmp_path, ALIKE))
    assert len(parts) > 4
    assert sum(part["compared"] for part in parts) == 299
    assert record["compared"] == 0


def test_candidates_are_compared_again_only_if_the_first_match_is_dropped(job_of, tmp_path):
    words = [f"w{number}" for number in range(600)]
    texts = [" ".join(words[2 * number : 2 * number + 40]) for number in range(280)]  # each is like the one before
    job = large_cluster(job_of, tmp_path, texts)
    parts, (record,) = settled(job)
    (stored,) = StoredPairs(job).parts
    compared = sum(part["compared"] for part in parts)
    assert len(parts) > 1
    assert 0 < record["compared"] < dedup(texts).summary.compared
    assert compared < len(stored.candidates)


def test_texts_that_share_a_block_and_do_not_match_are_compared_once(job_of, tmp_path):
    shared = " ".join(f"w{number}" for number in range(20))
    texts = [f"{shared} " + " ".join(f"x{number}y{own}" for own in range(8)) for number in range(200)]
    parts, records = settled(large_cluster(job_of, tmp_path, texts))
    assert sum(part["compared"] for part in parts) == dedup(texts).summary.compared > 10 * len(texts)
    assert not any(record["compared"] for record in records)


def test_parts_of_a_block_have_about_as_many_bytes_and_there_are_not_too_many(job_of, tmp_path, monkeypatch):
    texts = [" ".join([f"{text} {number}" for number in range(place // 10)]) for place, text in enumerate(ALIKE)]

    def parts(texts):
        job = large_cluster(job_of, tmp_path, texts, keep="longest")
        gathered(job)
        sizes = 8 * job.array(ranking.FEATURES, np.int64)[StoredPairs(job).asking]
        ends = job.array(PARTS, np.int64, shape=(-1, 3))[:, 1:]
        assert ends[0, 0] == 0
        assert ends[1:, 0].tolist() == ends[:-1, 1].tolist()
        return [int(sizes[begin:end].sum()) for begin, end in ends.tolist()]

    most = 2 << 14  # twice the block of the job
    assert all(most // 2 < size <= most for size in parts(texts)[:-1])
    monkeypatch.setattr("neardup.pipeline.spilled.candidates._MOST_PARTS", 4)
    assert [len(parts(some)) for some in (texts, ALIKE)] == [4 + 1, 4 + 1]
