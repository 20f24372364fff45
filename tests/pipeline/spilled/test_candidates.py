import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_signing import signed_of

from neardup import MinHash
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import Buckets
from neardup.pipeline.corpus.comparison import SignatureKeys
from neardup.pipeline.spilled import candidates as stage
from neardup.pipeline.spilled import ranking
from neardup.pipeline.spilled.candidates import place
from neardup.schemes.plausibility import plausible_tests

# a document: its component, its size in bytes, and whether it has candidates
DOCUMENTS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9), st.booleans()), max_size=40)


def proposed(job):
    _, signed = signed_of(job)
    ranking.rank(job, signed)
    ranking.gather_signatures(job, signed, LocalEngine(1))
    ranking.gather_keys(job, LocalEngine(1))
    buckets = [stage.bucket(job, task) for task in range(len(stage.groups(job)))]
    found = [stage.pair(job, task) for task in range(len(stage.ranges(job)))]
    stage.remove_buckets(job)
    return signed, stage.arrange(job, buckets, found)


def of(proposal):
    return [*zip(proposal.pairs.tolist(), proposal.candidates.tolist(), strict=True)]


@pytest.mark.parametrize("size", [40, 1 << 16])
def test_the_plausible_candidates_are_stored(job_of, sources, monkeypatch, size):
    monkeypatch.setattr(stage, "RANGE", size)
    monkeypatch.setattr(stage, "_LEADERS", size)
    job = job_of(sources)
    signed, record = proposed(job)
    stored = stage.StoredPairs(job).parts
    assert len(stored) == -(-len(job.array(ranking.LEADER_POSITIONS, np.int64)) // size)
    found = {pair for part in stored for pair in of(part)}
    places = np.arange(len(stage.StoredPairs(job).asking))[2:30:3]
    some = stage.StoredPairs(job).at(places)
    assert of(some) == [pair for place in places for pair in of(stage.StoredPairs(job).at(np.array([place])))]
    assert {*of(some)} < found
    ranking.gather_signatures(job, signed, LocalEngine(1))
    ranking.gather_keys(job, LocalEngine(1))
    scheme, known = MinHash(), ranking.signatures(job)
    buckets, wanted, candidates = Buckets(SignatureKeys(scheme, known), known.present), set(), 0
    for block in buckets.proposed():
        candidates += len(block.candidates)
        plausible = block
        for test in plausible_tests(scheme, known):
            plausible = plausible.where(test(plausible.pairs, plausible.candidates))
        wanted |= set(of(plausible))
    assert found == wanted
    assert record["candidates"] == candidates
    assert not any(path.name.startswith("bucket-") for path in job.path(ranking.ORDER).parent.iterdir())


def test_every_pair_is_in_one_block(job_of, sources):
    job = job_of(sources, block=3000)
    _, record = proposed(job)
    assert record["blocks"] > 1
    stored, blocks = stage.StoredPairs(job), job.array(stage.BLOCKS, np.int32)
    for part in stored.parts:
        assert (blocks[part.pairs] == blocks[part.candidates]).all()
    order, bounds = job.array(stage.ASKING, np.int64), job.array(stage.ASKING_BOUNDS, np.int64)
    for block in range(record["blocks"]):
        own = order[bounds[block] : bounds[block + 1]]
        assert (blocks[stored.asking[own]] == block).all()
        assert (np.diff(stored.asking[own]) > 0).all()
    units, positions = job.array(stage.UNITS, np.int32), job.array(ranking.LEADER_POSITIONS, np.int64)
    assert {int(positions[unit]) for unit in units[units >= 0]} == {*np.flatnonzero(units >= 0).tolist()}


def test_what_needs_no_texts_is_decided_at_once(job_of, sources):
    job = job_of(sources, verify="estimate")
    _, signed = signed_of(job)
    ranking.rank(job, signed)
    with LocalEngine(1) as engine:
        record = stage.propose(job, signed, engine, lambda *_: None)
    assert record["blocks"] == 0
    assert (job.array(stage.MATCHED, np.int64) >= 0).any()


def placed(documents, limit):
    """Place documents; return that, with the documents of each component that has some, in the order of the roots."""
    components = {}
    roots = []
    for document, (component, _, involved) in enumerate(documents):
        members = components.setdefault((component, involved), [])  # components have candidates, or are alone
        members.append(document)
        roots.append(members[0] if involved else document)
    sizes = np.array([size for _, size, _ in documents], np.int64)
    involved = np.array([own for *_, own in documents], np.bool_)
    found = place(np.array(roots, np.int64), involved, sizes, limit)
    together = [members for (_, own), members in components.items() if own]
    return found, sorted(together), sizes.tolist()


@given(DOCUMENTS, st.integers(1, 30))
def test_components_are_placed_whole(documents, limit):
    (found, _), components, _ = placed(documents, limit)
    blocks = found.tolist()
    assert found.dtype == np.int32
    for members in components:
        assert len({blocks[member] for member in members}) == 1
    for block, (*_, involved) in zip(blocks, documents, strict=True):
        assert (block >= 0) == involved


@given(DOCUMENTS, st.integers(1, 30))
def test_no_block_is_empty_or_larger_than_the_limit_allows(documents, limit):
    (blocks, number), components, sizes = placed(documents, limit)
    assert {*blocks.tolist()} - {-1} == {*range(number)}
    of_block = [[own for own in components if blocks[own[0]] == block] for block in range(number)]
    totals = [[sum(sizes[member] for member in own) for own in components] for components in of_block]
    ordinary = number - sum(sum(sizes[member] for member in own) > limit for own in components)
    assert all(sum(block) <= 2 * limit and max(block) <= limit for block in totals[:ordinary])
    assert all(len(block) == 1 and block[0] > limit for block in totals[ordinary:])


@given(DOCUMENTS, st.integers(1, 30))
def test_components_are_in_the_order_of_their_roots(documents, limit):
    (found, _), components, sizes = placed(documents, limit)
    large = [sum(sizes[member] for member in own) > limit for own in components]
    for kind in (False, True):
        blocks = [found[own[0]] for own, is_large in zip(components, large, strict=True) if is_large == kind]
        assert blocks == sorted(blocks)


def test_small_components_share_a_block_until_it_is_full():
    roots = np.arange(7)
    blocks, number = place(roots, np.array([True] * 6 + [False]), np.array([4, 4, 4, 11, 4, 4, 99]), 10)
    assert (blocks.tolist(), number) == ([0, 0, 0, 2, 1, 1, -1], 3)


def test_nothing_needs_no_blocks():
    blocks, number = place(np.arange(3), np.zeros(3, np.bool_), np.ones(3, np.int64), 10)
    assert (blocks.tolist(), number) == ([-1] * 3, 0)
    assert place(np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.int64), 1)[1] == 0
