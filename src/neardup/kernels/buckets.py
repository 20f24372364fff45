"""Documents that share a key, as buckets of ranks.

A rank is a document's place from best to worst, so in every bucket the better document comes first.
"""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.sets import first_place, places_for

_ONE = np.uint64(1)


@kernel
def runs(packed, rank_bits, first_bucket, ranks, buckets, sizes):
    """Find the keys that several documents share in sorted ``key | rank`` words.

    The low *rank_bits* bits of a word are the rank, the rest is the key. Each key that occurs at
    least twice becomes a bucket, numbered on from *first_bucket*: its members go to *ranks* and
    *buckets*, its size to *sizes*. Returns ``(members, new buckets)``.
    """
    members = 0
    found = 0
    shift = np.uint64(rank_bits)
    below = (np.uint64(1) << shift) - np.uint64(1)
    begin = 0
    while begin < packed.size:
        key = packed[begin] >> shift
        end = begin + 1
        while end < packed.size and packed[end] >> shift == key:
            end += 1
        if end - begin > 1:
            for place in range(begin, end):
                ranks[members] = np.int32(packed[place] & below)
                buckets[members] = np.int32(first_bucket + found)
                members += 1
            sizes[found] = end - begin
            found += 1
        begin = end
    return members, found


@kernel
def next_larger(keys, rank_bits, current):
    """Replace ``current[i]`` by the next larger key of row *i*, the smallest after the largest.

    Keys count as what their low *rank_bits* bits leave: ``key >> rank_bits``.
    """
    shift = np.uint64(rank_bits)
    for row in range(current.size):
        before = current[row]
        least = ~np.uint64(0)
        nearest = ~np.uint64(0)
        found = False
        for whole in keys[row]:
            key = whole >> shift
            least = min(least, key)
            if key > before:
                nearest = min(nearest, key)
                found = True
        current[row] = nearest if found else least


@kernel
def share(keys, left, right, pooled, shares):
    """Say whether rows ``left[i]`` and ``right[i]`` have a key in common: in the same column, or *pooled* in any.

    Pooled, the keys of ``left[i]`` are entered in a table, once for all pairs that follow each other.
    """
    table = np.empty(places_for(keys.shape[1]), np.uint64)
    owners = np.full(table.size, -1, np.int64)
    mask = np.uint64(table.size - 1)
    owner = -1
    for pair in range(left.size):
        one = keys[left[pair]]
        other = keys[right[pair]]
        found = False
        if pooled:
            if pair == 0 or left[pair] != left[pair - 1]:
                owner = pair
                for key in one:
                    place = first_place(key, mask)
                    while owners[place] == owner and table[place] != key:
                        place = (place + _ONE) & mask
                    owners[place] = owner
                    table[place] = key
            for key in other:
                place = first_place(key, mask)
                while owners[place] == owner and table[place] != key:
                    place = (place + _ONE) & mask
                if owners[place] == owner:
                    found = True
                    break
        else:
            for column in range(one.size):
                found |= other[column] == one[column]
        shares[pair] = found


@kernel
def count(ranks, counts):
    """Add to ``counts[r]`` how often rank *r* occurs."""
    for rank in ranks:
        counts[rank] += 1


@kernel
def by_rank(ranks, buckets, first_bucket, ends, grouped):
    """Add memberships in front of each rank's own: ``grouped[ends[r]:]`` begins with the buckets of rank *r*.

    Bucket *b* of these memberships gets the number ``first_bucket + b``. Called with one part of all memberships
    after the other, and at first with the ends of the ranks' places, *ends* are the beginnings at last.
    """
    for member in range(ranks.size - 1, -1, -1):
        place = ends[ranks[member]] - 1
        grouped[place] = np.int32(first_bucket + buckets[member])
        ends[ranks[member]] = place


@kernel
def propose(asking, member_bounds, memberships, entry_bounds, entries, filled, overflow, seen, bounds, candidates):
    """Write the better-ranked members of each asking rank's buckets, ascending, each once; then enter it there.

    ``candidates[bounds[i]:bounds[i + 1]]`` belong to ``asking[i]``. A bucket *b* lists at most
    ``entry_bounds[b + 1] - entry_bounds[b]`` members; ``overflow[b]`` counts those it had no room for.
    *seen* is scratch, one place a rank, of ranks never asked before. Stops when *candidates* might
    not hold the next one's; returns ``(asking ranks done, pairs not proposed for want of room)``.
    """
    count = 0
    missed = 0
    for turn in range(asking.size):
        rank = asking[turn]
        bounds[turn] = count
        most = 0
        for bucket in memberships[member_bounds[rank] : member_bounds[rank + 1]]:
            most += filled[bucket]
        if count + most > candidates.size:
            return turn, missed
        for bucket in memberships[member_bounds[rank] : member_bounds[rank + 1]]:
            begin = entry_bounds[bucket]
            for place in range(begin, begin + filled[bucket]):
                entry = entries[place]
                if seen[entry] != rank:
                    seen[entry] = rank
                    candidates[count] = entry
                    count += 1
            missed += overflow[bucket]
            if begin + filled[bucket] < entry_bounds[bucket + 1]:
                entries[begin + filled[bucket]] = rank
                filled[bucket] += 1
            else:
                overflow[bucket] += 1
        candidates[bounds[turn] : count].sort()
    bounds[asking.size] = count
    return asking.size, missed


@kernel
def retire(gone, member_bounds, memberships, entry_bounds, entries, filled, overflow):
    """Take the *gone* ranks out of their buckets."""
    for rank in gone:
        for bucket in memberships[member_bounds[rank] : member_bounds[rank + 1]]:
            begin = entry_bounds[bucket]
            end = begin + filled[bucket]
            place = end - 1
            while place >= begin and entries[place] != rank:
                place -= 1
            if place < begin:
                overflow[bucket] -= 1
                continue
            for later in range(place, end - 1):
                entries[later] = entries[later + 1]
            filled[bucket] -= 1
