import numpy as np
import pytest
from test_signed import signed_of

from neardup import MinHash
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import Buckets
from neardup.pipeline.spilled import heads, pairs
from neardup.schemes.plausibility import plausible_tests


def proposed(job):
    _, signed = signed_of(job)
    heads.rank(job, signed)
    heads.gather_signatures(job, signed)
    buckets = [pairs.bucket(job, task) for task in range(len(pairs.groups(job)))]
    found = [pairs.pair(job, task) for task in range(len(pairs.ranges(job)))]
    pairs.remove_buckets(job)
    return signed, pairs.arrange(job, buckets, found)


def of(proposal):
    return [*zip(proposal.pairs.tolist(), proposal.candidates.tolist(), strict=True)]


@pytest.mark.parametrize("size", [40, 1 << 16])
def test_the_plausible_candidates_are_stored(job_of, sources, monkeypatch, size):
    monkeypatch.setattr(pairs, "_RANGE", size)
    monkeypatch.setattr(pairs, "_LEADERS", size)
    job = job_of(sources)
    signed, record = proposed(job)
    stored = pairs.StoredPairs(job).parts
    assert len(stored) == -(-len(job.array(heads.HEADS)) // size)
    found = {pair for part in stored for pair in of(part)}
    places = np.arange(len(pairs.StoredPairs(job).asking))[2:30:3]
    some = pairs.StoredPairs(job).at(places)
    assert of(some) == [pair for place in places for pair in of(pairs.StoredPairs(job).at(np.array([place])))]
    assert {*of(some)} < found
    heads.gather_signatures(job, signed)
    scheme, known = MinHash(), heads.signatures(job)
    buckets, wanted, candidates = Buckets(scheme.keys(known), known.present), set(), 0
    while (block := buckets.propose()) is not None:
        candidates += len(block.candidates)
        for test in plausible_tests(scheme, known):
            block = block.where(test(block.pairs, block.candidates))
        wanted |= set(zip(block.pairs.tolist(), block.candidates.tolist(), strict=True))
    assert found == wanted
    assert record["candidates"] == candidates
    assert not any(path.name.startswith("bucket-") for path in job.path(heads.ORDER).parent.iterdir())


def test_every_pair_is_in_one_block(job_of, sources):
    job = job_of(sources, block=3000)
    _, record = proposed(job)
    assert record["blocks"] > 1
    stored, blocks = pairs.StoredPairs(job), job.array(pairs.BLOCKS)
    for part in stored.parts:
        assert (blocks[part.pairs] == blocks[part.candidates]).all()
    order, bounds = job.array(pairs.ASKING), job.array(pairs.ASKING_BOUNDS)
    for block in range(record["blocks"]):
        own = order[bounds[block] : bounds[block + 1]]
        assert (blocks[stored.asking[own]] == block).all()
        assert (np.diff(stored.asking[own]) > 0).all()
    units, positions = job.array(pairs.UNITS), job.array(heads.HEADS)
    assert {int(positions[unit]) for unit in units[units >= 0]} == {*np.flatnonzero(units >= 0).tolist()}


def test_what_needs_no_texts_is_decided_at_once(job_of, sources):
    job = job_of(sources, verify="estimate")
    _, signed = signed_of(job)
    heads.rank(job, signed)
    with LocalEngine(1) as engine:
        record = pairs.propose(job, signed, engine, lambda *_: None)
    assert record["blocks"] == 0
    assert (job.array(pairs.MATCHED) >= 0).any()
