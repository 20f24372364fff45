import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import buckets

BITS = 5
ASKED_BITS = 7
MEMBERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**BITS - 1)), max_size=30, unique=True)


@given(st.lists(st.integers(0, 1 << 9) | st.integers(0, 2**64 - 1), max_size=30))
def test_keys_are_left_out_that_share_their_last_bits_with_no_other(keys):
    last = [key % 2 ** (BITS + buckets.SPREAD_BITS) for key in keys]
    left = [(key >> BITS << BITS) | place for place, key in enumerate(keys) if last.count(last[place]) > 1]
    assert buckets.repeated(np.array(keys, np.uint64), BITS).tolist() == left


@given(st.lists(st.tuples(st.integers(0, 1 << 9) | st.integers(0, 2**64 - 1), st.integers(0, 4)), max_size=30))
def test_keys_are_left_out_whose_last_bits_no_asking_member_has(members):
    asked = {key % 2**ASKED_BITS for key, member in members if member >= 2}
    keys, owners = (np.array([one[place] for one in members], kind) for place, kind in ((0, np.uint64), (1, np.int32)))
    left = buckets.asked_for(keys, owners, 2, ASKED_BITS)
    kept = [(key, member) for key, member in members if key % 2**ASKED_BITS in asked]
    assert list(zip(*(column.tolist() for column in left), strict=True)) == kept


@given(MEMBERS, st.booleans())
def test_runs_are_keys_of_several(members, cut):
    """Entry *i* is a key and its document; keys that are *cut* differ only in bits that make room for the place."""
    members.sort(key=lambda member: member[1])
    keys = np.array([key if cut else key << BITS for key, _ in members], np.uint64)
    ranks = np.array([rank // 2 for _, rank in members], np.int32)
    below = np.uint64((1 << BITS) - 1)
    packed = np.sort((keys & ~below) | np.arange(len(members), dtype=np.uint64))
    places, sizes = np.full(len(members), -1, np.int32), np.full(len(members) // 2, -1, np.int32)
    count, found, equal = buckets.runs(packed, BITS, keys, ranks, places, sizes)
    assert equal == (not cut or len({key for key, _ in members}) < 2)
    if equal:
        by_key = {}
        for place, key in enumerate(keys.tolist()):
            group = by_key.setdefault(key, [])
            if not group or ranks[group[-1]] != ranks[place]:
                group.append(place)
        shared = [group for _, group in sorted(by_key.items()) if len(group) > 1]
        assert places[:count].tolist() == [place for group in shared for place in group]
        assert sizes[:found].tolist() == [len(group) for group in shared]


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=5), st.booleans())
def test_shared_keys_equal_their_definition(rows, position_independent):
    left, right = (found.ravel() for found in np.indices((len(rows), len(rows))))
    shares = np.empty(len(left), np.bool_)
    buckets.share(np.array(rows, np.uint64), left, right, position_independent, shares)
    pairs = [(rows[i], rows[j]) for i, j in zip(left, right, strict=True)]
    in_any = [bool({*one} & {*other}) for one, other in pairs]
    in_the_same = [any(a == b for a, b in zip(one, other, strict=True)) for one, other in pairs]
    assert shares.tolist() == (in_any if position_independent else in_the_same)


def arrays_of(made):
    """The members of some buckets, and their sizes."""
    return np.array([*itertools.chain(*made)], np.int32), np.array([*map(len, made)], np.int32)


def laid_out(parts, number, room, first=0):
    """The arrays as ``neardup.index.memory.buckets`` lays them out.

    A part is a list of buckets, a bucket the list of its members.
    """
    parts = [arrays_of(part) for part in parts]
    bounds = np.zeros(number - first + 1, np.int64)
    rooms = [np.empty(len(sizes), np.int32) for _, sizes in parts]
    for (members, sizes), listed in zip(parts, rooms, strict=True):
        buckets.count(members, sizes, room, first, listed, bounds[:-1])
    bounds[:-1] = np.cumsum(bounds[:-1])
    bounds[-1] = bounds[-2]
    entry_bounds = np.concatenate([[0], np.cumsum(np.concatenate(rooms), dtype=np.int64)])
    memberships, entries = np.full(bounds[-1], -1, np.int32), np.full(entry_bounds[-1], -1, np.int32)
    bucket = len(entry_bounds) - 1
    for members, sizes in reversed(parts):
        bucket -= len(sizes)
        buckets.arrange(members, sizes, bucket, first, bounds[:-1], memberships, entry_bounds, entries)
    return bounds, memberships, entry_bounds, entries


BUCKETS = st.lists(st.sets(st.integers(0, 11), min_size=2).map(sorted), max_size=4)


@given(BUCKETS, st.integers(1, 5), st.integers(0, 12), st.integers(0, 12))
def test_parts_of_buckets_have_what_some_ranks_need(made, room, begin, end):
    members, sizes = arrays_of(made)
    chosen, chosen_sizes = np.full(len(members), -1, np.int32), np.full(len(sizes), -1, np.int32)
    count, found = buckets.within(members, sizes, room, begin, end, chosen, chosen_sizes)
    parts = [
        [rank for place, rank in enumerate(bucket) if rank < end and (place < room or rank >= begin)] for bucket in made
    ]
    parts = [part for part in parts if len(part) > 1 and part[-1] >= begin]
    assert chosen[:count].tolist() == [*itertools.chain(*parts)]
    assert chosen_sizes[:found].tolist() == [*map(len, parts)]


@given(BUCKETS, BUCKETS, st.integers(1, 5), st.integers(0, 11))
def test_buckets_list_their_first_members_and_the_others_ask_them(one, other, room, first):
    bounds, memberships, entry_bounds, entries = laid_out([one, other], 12, room, first)
    both = [*one, *other]
    found = [part.tolist() for part in np.split(memberships, bounds[1:-1])]
    assert found == [[b for b, bucket in enumerate(both) if rank in bucket[1:]] for rank in range(first, 12)]
    listed = [entries[begin:end].tolist() for begin, end in itertools.pairwise(entry_bounds)]
    assert listed == [bucket[:-1][:room] for bucket in both]


@given(BUCKETS, st.integers(1, 5), st.integers(0, 30), st.integers(0, 11))
def test_proposals_are_better_members_that_are_listed(made, room, capacity, first):
    arrays = laid_out([made], 12, room, first)
    asking = (first + np.flatnonzero(np.diff(arrays[0]))).astype(np.int32)
    bounds, candidates = np.full(len(asking) + 1, -1, np.int64), np.full(capacity, -1, np.int32)
    done = buckets.propose(asking, first, tuple(arrays), np.full(12, -1, np.int32), bounds, candidates)
    found = [candidates[begin:end].tolist() for begin, end in itertools.pairwise(bounds[: done + 1])]
    expected = [
        sorted({other for bucket in made if rank in bucket for other in bucket[:room] if other < rank})
        for rank in asking.tolist()
    ]
    assert found == expected[:done]
    if done < len(asking):  # it stopped because the next one's candidates might not have fitted
        most = sum(min(room, len(bucket) - 1) for bucket in made if asking[done] in bucket[1:])
        assert sum(map(len, found)) + most > capacity
