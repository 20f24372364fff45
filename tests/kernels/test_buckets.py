import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import buckets

BITS = 5
MEMBERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**BITS - 1)), max_size=30, unique=True)
# What every rank is a member of, and the room of each bucket.
MEMBERSHIPS = st.lists(st.lists(st.integers(0, 3), max_size=4, unique=True), min_size=1, max_size=12)
ROOMS = st.lists(st.integers(1, 6), min_size=4, max_size=4)


@given(MEMBERS, st.integers(0, 100))
def test_runs_are_keys_of_several(members, first_bucket):
    packed = np.array(sorted(key << BITS | rank for key, rank in members), np.uint64)
    ranks, found_in = np.full((2, len(packed)), -1, np.int32)
    sizes = np.full(len(packed) // 2, -1, np.int32)
    count, found = buckets.runs(packed, BITS, first_bucket, ranks, found_in, sizes)
    by_key = {}
    for key, rank in sorted(members):
        by_key.setdefault(key, []).append(rank)
    shared = [group for group in by_key.values() if len(group) > 1]
    assert ranks[:count].tolist() == [rank for group in shared for rank in group]
    assert found_in[:count].tolist() == [first_bucket + n for n, group in enumerate(shared) for _ in group]
    assert sizes[:found].tolist() == [len(group) for group in shared]


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=12),
)
def test_the_next_larger_key_follows_and_after_the_largest_the_smallest(rows, asked):
    asked = [(member % len(rows), key) for member, key in asked]
    current = np.array([key for _, key in asked], np.uint64)
    keys = np.array([[key << BITS | 3 for key in row] for row in rows], np.uint64)
    buckets.next_larger(keys[[member for member, _ in asked]], BITS, current)
    expected = [min((key for key in rows[member] if key > now), default=min(rows[member])) for member, now in asked]
    assert current.tolist() == expected


@given(
    st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=5),
    st.booleans(),
)
def test_shared_keys_equal_their_definition(rows, pooled):
    left, right = (found.ravel() for found in np.indices((len(rows), len(rows))))
    shares = np.empty(len(left), np.bool_)
    buckets.share(np.array(rows, np.uint64), left, right, pooled, shares)
    pairs = [(rows[i], rows[j]) for i, j in zip(left, right, strict=True)]
    in_any = [bool({*one} & {*other}) for one, other in pairs]
    in_the_same = [any(a == b for a, b in zip(one, other, strict=True)) for one, other in pairs]
    assert shares.tolist() == (in_any if pooled else in_the_same)


def grouped_by_rank(parts, number):
    bounds = np.zeros(number + 1, np.int64)
    for ranks, _, _ in parts:
        buckets.count(ranks, bounds[:-1])
    bounds[:-1] = np.cumsum(bounds[:-1])
    bounds[-1] = sum(len(ranks) for ranks, _, _ in parts)
    grouped = np.empty(bounds[-1], np.int32)
    for ranks, of_bucket, first in reversed(parts):
        buckets.by_rank(ranks, of_bucket, first, bounds[:-1], grouped)
    return bounds, grouped


def laid_out(memberships, rooms):
    """The arrays as ``Buckets`` lays them out."""
    pairs = sorted((bucket, rank) for rank, own in enumerate(memberships) for bucket in own)
    ranks = np.array([rank for _, rank in pairs], np.int32)
    of_bucket = np.array([bucket for bucket, _ in pairs], np.int32)
    bounds, grouped = grouped_by_rank([(ranks, of_bucket, 0)], len(memberships))
    entry_bounds = np.cumsum([0, *rooms]).astype(np.int64)
    return {
        "member_bounds": bounds,
        "memberships": grouped,
        "entry_bounds": entry_bounds,
        "entries": np.full(entry_bounds[-1], -1, np.int32),
        "filled": np.zeros(len(rooms), np.int32),
        "overflow": np.zeros(len(rooms), np.int32),
    }


@given(MEMBERSHIPS)
def test_by_rank_groups_what_each_rank_is_in(memberships):
    arrays = laid_out(memberships, [1] * 4)
    found = np.split(arrays["memberships"], arrays["member_bounds"][1:-1])
    assert [part.tolist() for part in found] == [sorted(own) for own in memberships]


@given(MEMBERSHIPS, st.integers(0, 20))
def test_by_rank_takes_memberships_in_parts(memberships, cut):
    """Of two parts, the second one's buckets are numbered on behind the first one's four."""
    pairs = [(bucket, rank) for rank, own in enumerate(memberships) for bucket in sorted(own)]
    parts = [
        (np.array([rank for _, rank in part], np.int32), np.array([bucket for bucket, _ in part], np.int32), first)
        for part, first in ((pairs[:cut], 0), (pairs[cut:], 4))
    ]
    bounds, grouped = grouped_by_rank(parts, len(memberships))
    expected = [[] for _ in memberships]
    for part, first in ((pairs[:cut], 0), (pairs[cut:], 4)):
        for bucket, rank in part:
            expected[rank].append(first + bucket)
    assert [part.tolist() for part in np.split(grouped, bounds[1:-1])] == expected


def proposed(arrays, asking, seen, capacity):
    bounds = np.full(len(asking) + 1, -1, np.int64)
    candidates = np.full(capacity, -1, np.int32)
    done, missed = buckets.propose(np.array(asking, np.int32), *arrays.values(), seen, bounds, candidates)
    found = [candidates[begin:end].tolist() for begin, end in itertools.pairwise(bounds[: done + 1])]
    return done, missed, found


def listed(arrays):
    edges = arrays["entry_bounds"]
    return [
        arrays["entries"][begin : begin + filled].tolist()
        for begin, filled in zip(edges[:-1], arrays["filled"], strict=True)
    ]


@given(MEMBERSHIPS, ROOMS, st.sets(st.integers(0, 11)), st.integers(1, 5), st.integers(12, 60))
def test_propose_and_retire_follow_a_model_of_lists(memberships, rooms, gone, block, capacity):
    arrays = laid_out(memberships, rooms)
    seen = np.full(len(memberships), -1, np.int32)
    model, passed_over = [[] for _ in rooms], [0] * len(rooms)
    begin = 0
    while begin < len(memberships):
        asking = range(begin, min(begin + block, len(memberships)))
        done, missed, found = proposed(arrays, asking, seen, capacity)
        expected_missed = 0
        for rank, candidates in zip(asking, found, strict=False):
            assert candidates == sorted({entry for bucket in memberships[rank] for entry in model[bucket]})
            for bucket in memberships[rank]:
                expected_missed += passed_over[bucket]
                if len(model[bucket]) < rooms[bucket]:
                    model[bucket].append(rank)
                else:
                    passed_over[bucket] += 1
        assert missed == expected_missed
        assert done == len(found)
        if done < len(asking):  # it stopped because the next one's candidates might not have fitted
            waiting = sum(len(model[bucket]) for bucket in memberships[begin + done])
            assert sum(map(len, found)) + waiting > capacity
        assert done > 0 or capacity < 4 * max(rooms)
        if done == 0:
            return
        leaving = [rank for rank in asking[:done] if rank in gone]
        buckets.retire(np.array(leaving, np.int32), *arrays.values())
        for rank in leaving:
            for bucket in memberships[rank]:
                if rank in model[bucket]:
                    model[bucket].remove(rank)
                else:
                    passed_over[bucket] -= 1
        assert listed(arrays) == model
        assert arrays["overflow"].tolist() == passed_over
        begin += done
