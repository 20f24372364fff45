import tracemalloc
from itertools import combinations, pairwise

import canonical
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import MinHash, dedup
from neardup.engines.local import LocalEngine
from neardup.index.memory import buckets
from neardup.index.memory.buckets import BLOCK, Buckets
from neardup.model.candidates import DEPTH, ROOM

ROWS = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.tuples(st.booleans(), st.lists(st.integers(0, 3), min_size=columns, max_size=columns)), max_size=30
    )
)


class Parts:
    """Keys that are all there."""

    def __init__(self, keys):
        self.columns = keys.shape[1]
        self._keys = keys

    def column(self, column, documents):
        return self._keys[documents, column]

    def rows(self, documents):
        return self._keys[documents]


def of(keys, present, **options):
    return Buckets(Parts(keys), present, **options)


def made(rows, columns=None, *, shift=40, **options):
    """With a *shift* of 0 all keys are equal in their high bits."""
    keys = np.array([key for _, key in rows], np.uint64).reshape(len(rows), -1 if rows else columns or 1)
    return of(keys << np.uint64(shift), np.array([present for present, _ in rows], np.bool_), **options)


def proposed(index):
    return pairs_of(index.proposed())


def pairs_of(blocks):
    """All pairs (better, worse), in the order of proposal."""
    found = []
    for block in blocks:
        assert block.bounds[0] == 0
        assert block.bounds[-1] == len(block.candidates)
        found += zip(block.candidates.tolist(), block.pairs.tolist(), strict=True)
    return found


def sharing(rows, *, position_independent=False):
    def share(one, other):
        return {*one} & {*other} if position_independent else any(x == y for x, y in zip(one, other, strict=True))

    pairs = [(a, b) for b in range(len(rows)) for a in range(b)]
    return [(a, b) for a, b in pairs if rows[a][0] and rows[b][0] and share(rows[a][1], rows[b][1])]


def by_definition(rows, *, position_independent=False, room=ROOM, shift=40):
    ranks = [rank for rank, (present, _) in enumerate(rows) if present]
    found = canonical.candidates(
        [[key << shift for key in rows[rank][1]] for rank in ranks],
        position_independent=position_independent,
        room=room,
    )
    return [(ranks[a], ranks[b]) for b, own in enumerate(found) for a in sorted(own)]


@given(ROWS, st.booleans(), st.integers(1, 5), st.sampled_from([0, 2, 40]), st.integers(1, 5))
def test_candidates_equal_their_definition(rows, position_independent, room, shift, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "ROOM", room)
        patch.setattr(buckets, "BLOCK", size)
        index = made(rows, position_independent=position_independent, shift=shift)
        found = proposed(index)
    assert found == by_definition(rows, position_independent=position_independent, room=room, shift=shift)
    pairs = sharing(rows, position_independent=position_independent)
    assert len(pairs) - len(found) <= index.not_compared  # what was passed over is counted


@pytest.mark.parametrize("position_independent", [False, True])
@pytest.mark.parametrize("kinds", [1, 2, 4])
def test_candidates_in_oversized_buckets_equal_their_definition(kinds, position_independent):
    random = np.random.default_rng(kinds)
    keys = np.stack([random.integers(0, kinds * 4**column, 700) for column in range(5)], axis=1)
    rows = [(bool(random.random() < 0.95), row) for row in keys.tolist()]
    assert proposed(made(rows, position_independent=position_independent)) == by_definition(
        rows, position_independent=position_independent
    )


@given(ROWS, st.integers(1, 4), st.booleans(), st.integers(1, 5))
def test_keys_in_parts_give_the_same_proposals(rows, room, position_independent, together):
    keys = np.array([key for _, key in rows], np.uint64).reshape(len(rows), -1 if rows else 1) << np.uint64(40)
    present = np.array([present for present, _ in rows], np.bool_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "ROOM", room)
        expected = proposed(of(keys, present, position_independent=position_independent))
        patch.setattr(buckets, "ROWS", together)
        patch.setattr(buckets, "RANGE", together)
        patch.setattr(buckets, "_MEMBERS", 1)
        assert proposed(of(keys, present, position_independent=position_independent)) == expected


def test_keys_column_by_column_take_little_memory():
    """Of 100 columns only one is there at a time, and few documents share a key."""
    number = 20_000

    class Spread:
        columns = 100

        def column(self, column, documents):
            return (documents.astype(np.uint64) << np.uint64(32)) | np.uint64(column)

    tracemalloc.start()
    try:
        Buckets(Spread(), np.ones(number, np.bool_))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < number * 64 + (1 << 23)  # the second: room for proposals


@given(ROWS, st.integers(1, 5), st.booleans())
def test_pairs_that_share_a_key_are_proposed_once_in_order_whatever_the_blocks(rows, size, position_independent):
    expected = sharing(rows, position_independent=position_independent)
    with pytest.MonkeyPatch.context() as patch:
        for limits in ({}, {"BLOCK": size}, {"PAIRS": 1}):
            for name, value in limits.items():
                patch.setattr(buckets, name, value)
            index = made(rows, position_independent=position_independent)
            assert (proposed(index), index.not_compared) == (expected, 0)


@given(ROWS)
def test_threads_change_nothing(rows):
    with LocalEngine(2) as engine:
        assert proposed(made(rows, engine=engine)) == sharing(rows)


def test_absent_documents_are_not_asked():
    index = made([(True, [1]), (False, [1]), (True, [1]), (True, [2])])
    assert [block.asking.tolist() for block in index.proposed()] == [[2]]


def test_no_documents():
    assert proposed(made([])) == []
    for position_independent in (False, True):
        assert (
            proposed(of(np.empty((0, 5), np.uint64), np.empty(0, np.bool_), position_independent=position_independent))
            == []
        )
        assert proposed(made([(False, [1, 1])] * 2, position_independent=position_independent)) == []


@pytest.mark.parametrize("position_independent", [False, True])
def test_one_document(position_independent):
    assert proposed(made([(True, [1, 1])], position_independent=position_independent)) == []


@given(ROWS, st.booleans(), st.integers(1, 5), st.lists(st.integers(0, 30), max_size=3), st.integers(0, 5))
def test_parts_of_the_ranks_propose_together_what_all_propose(rows, position_independent, room, cuts, first):
    keys = np.array([key for _, key in rows], np.uint64).reshape(len(rows), -1 if rows else 1)
    present = np.array([present for present, _ in rows], np.bool_)
    first = min(first, len(rows))
    edges = sorted({first, len(rows), *(cut for cut in cuts if first < cut < len(rows))})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "ROOM", room)
        whole = of(keys, present, first=first, position_independent=position_independent)
        columns = [
            buckets.column_of(
                Parts(keys), present, column=column, first=first, position_independent=position_independent
            )
            for column in range(1 if position_independent else keys.shape[1])
        ]
        found = []
        for begin, end in pairwise(edges):
            found += pairs_of(buckets.proposed([column.within(begin, end) for column in columns], begin, end))
        assert found == proposed(whole)
        assert sum(column.not_compared for column in columns) == whole.not_compared


def test_keys_that_differ_in_low_bits_only_are_different():
    keys = np.arange(50, dtype=np.uint64).reshape(-1, 1) % 5
    found = proposed(of(keys, np.ones(50, np.bool_)))
    assert {*found} == {(a, b) for a, b in combinations(range(50), 2) if a % 5 == b % 5}


def test_a_proposal_keeps_what_holds():
    index = made([(True, [1, 1]), (True, [1, 2]), (True, [1, 1]), (True, [2, 2])])
    (block,) = index.proposed()
    kept = block.where(np.array([True, False, True, False]))
    assert list(zip(kept.pairs.tolist(), kept.candidates.tolist(), strict=True)) == [(1, 0), (2, 1)]
    assert kept.asking.tolist() == block.asking.tolist() == [1, 2, 3]


@pytest.mark.parametrize("position_independent", [False, True])
@pytest.mark.parametrize("columns", [1, 8])
def test_the_work_in_a_oversized_bucket_is_linear(columns, position_independent):
    """Everybody shares the first key; the other keys are everybody's own."""
    work = []
    for number in (2 * BLOCK, 4 * BLOCK):
        keys = np.random.default_rng(1).integers(0, 2**64, (number, columns), np.uint64)
        keys[:, 0] = 7 << 40
        index = of(keys, np.ones(number, np.bool_), position_independent=position_independent)
        pairs = sum(len(block.candidates) for block in index.proposed())
        assert pairs <= number * ROOM * (DEPTH + 1)
        listed = ROOM * (ROOM - 1) // 2 + (number - ROOM) * ROOM
        assert index.not_compared == number * (number - 1) // 2 - listed
        work.append(pairs)
    assert work[1] <= 2.1 * work[0]


def test_ranges_of_ranks_look_at_few_buckets(monkeypatch):
    """Where each pair of documents has a bucket, all ranks are one range; where all have one bucket, there are many."""
    monkeypatch.setattr(buckets, "RANGE", 64)
    ranges = []
    monkeypatch.setattr(buckets, "proposed", lambda _, begin, end: ranges.append((begin, end)) or iter(()))
    pairs = np.repeat(np.arange(512, dtype=np.uint64), 2).reshape(-1, 1)
    for keys, number in ((pairs, 1), (pairs * 0, 16)):
        ranges.clear()
        list(of(keys, np.ones(len(keys), np.bool_)).proposed())
        assert len(ranges) == number
        assert [end for _, end in ranges] == [*(begin for begin, _ in ranges[1:]), len(keys)]


def test_rows_of_few_position_independent_keys_take_little_memory():
    """Of 64 columns four hold keys; the others repeat the first one."""
    keys = np.random.default_rng(1).integers(0, 2**64, (20_000, 64), np.uint64)
    keys[:, 4:] = keys[:, :1]
    present = np.ones(len(keys), np.bool_)
    of(keys, present, position_independent=True)
    tracemalloc.start()
    try:
        of(keys, present, position_independent=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < keys.nbytes / 2


def test_pairs_that_share_more_than_the_common_key_meet_in_a_oversized_bucket():
    random = np.random.default_rng(2)
    keys = random.integers(0, 2**64, (3000, 6), np.uint64)
    keys[:, 0] = 7 << 40
    planted = [(a, a + 1500) for a in range(200, 400)]
    for a, b in planted:
        keys[b, 1:3] = keys[a, 1:3]
    keys[:, 1] = np.where(np.arange(3000) % 2, keys[:, 1], np.uint64(9 << 40))  # and half share a second one
    found = {*proposed(of(keys, np.ones(3000, np.bool_)))}
    assert {*planted} <= found


def test_pairs_that_share_keys_of_oversized_buckets_only_meet_by_what_the_keys_divide():
    """Every key has 150 members, three together have one: the pairs meet though none of their buckets has room."""
    random = np.random.default_rng(3)
    keys = random.integers(0, 20, (3000, 6)).astype(np.uint64) << np.uint64(40)
    planted = [(a, a + 1000) for a in range(1800, 1999)]
    for a, b in planted:
        keys[b, 2:5] = keys[a, 2:5]
    assert min(np.unique(keys[:, column], return_counts=True)[1].min() for column in range(6)) > ROOM
    found = {*proposed(of(keys, np.ones(3000, np.bool_)))}
    assert {*planted} <= found


# Real texts: a collection under one licence, which is about half of each document.


def licensed(number, planted):
    """Documents of a common licence and a body of their own; the last ones are edited copies of others."""
    random = np.random.default_rng(13)
    licence = [f"clause{place}" for place in random.integers(0, 5000, 150)]
    bodies = [[f"w{word}" for word in random.integers(0, 30_000, 150)] for _ in range(number - planted)]
    pairs = []
    for copy in range(planted):
        source = int(random.integers(0, number - planted))
        body = list(bodies[source])
        for place in random.integers(0, 150, 6):
            body[place] = f"edit{random.integers(10**6)}"
        pairs.append((source, len(bodies)))
        bodies.append(body)
        assert len(pairs) == copy + 1
    return [" ".join([*licence, *body]) for body in bodies], pairs


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.7])
def test_near_copies_among_thousands_that_share_a_licence_are_found(threshold):
    texts, pairs = licensed(3600, 100)
    result = dedup(texts, scheme=MinHash(permutations=128, threshold=threshold))
    lost = [copy for source, copy in pairs if result.representatives[copy] < 0]
    assert len(lost) <= 5
    innocent = np.delete(result.representatives, [copy for _, copy in pairs])
    assert (innocent < 0).all()


def test_what_a_oversized_bucket_passes_over_is_reported_and_the_rest_is_linear():
    texts, _ = licensed(4000, 0)
    scheme = MinHash(permutations=128, threshold=0.5)
    half, whole = dedup(texts[:2000], scheme=scheme).summary, dedup(texts, scheme=scheme).summary
    assert half.not_compared > 0
    assert whole.not_compared > 0
    assert whole.candidates <= 2.3 * half.candidates  # quadratic work would make it 4
    assert whole.compared <= 2.3 * half.compared
