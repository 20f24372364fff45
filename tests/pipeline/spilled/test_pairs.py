import numpy as np
from test_signed import signed_of

from neardup import MinHash
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import Buckets
from neardup.pipeline.spilled import heads, pairs
from neardup.schemes.plausibility import plausible_tests


def proposed(job):
    _, signed = signed_of(job)
    heads.rank(job, signed)
    with LocalEngine(1) as engine:
        return signed, pairs.propose(job, signed, engine, lambda *_: None)


def test_the_plausible_candidates_are_stored(job_of, sources):
    job = job_of(sources)
    signed, record = proposed(job)
    stored = pairs.Pairs(job)
    found = {
        (asking, candidate)
        for place, asking in enumerate(stored.asking.tolist())
        for candidate in stored.candidates[stored.bounds[place] : stored.bounds[place + 1]].tolist()
    }
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


def test_every_pair_is_in_one_block(job_of, sources):
    job = job_of(sources, block=3000)
    _, record = proposed(job)
    assert record["blocks"] > 1
    stored, blocks = pairs.Pairs(job), job.array(pairs.BLOCKS)
    for place, asking in enumerate(stored.asking.tolist()):
        mates = stored.candidates[stored.bounds[place] : stored.bounds[place + 1]]
        assert (blocks[mates] == blocks[asking]).all()
    order, bounds = job.array(pairs.ASKING), job.array(pairs.ASKING_BOUNDS)
    for block in range(record["blocks"]):
        own = order[bounds[block] : bounds[block + 1]]
        assert (blocks[stored.asking[own]] == block).all()
        assert (np.diff(stored.asking[own]) > 0).all()
    units, positions = job.array(pairs.UNITS), job.array(heads.HEADS)
    assert {int(positions[unit]) for unit in units[units >= 0]} == {*np.flatnonzero(units >= 0).tolist()}


def test_what_needs_no_texts_is_decided_at_once(job_of, sources):
    job = job_of(sources, verify="estimate")
    _, record = proposed(job)
    assert record["blocks"] == 0
    assert (job.array(pairs.MATCHED) >= 0).any()
