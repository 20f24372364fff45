"""Documents that share a key, as buckets of ranks.

A rank is a document's place from best to worst, so in every bucket the better document comes first.
"""

import numpy as np

from neardup.kernels.ascending import first_from, merge_runs
from neardup.kernels.compile import fetch_ahead, kernel, returned
from neardup.kernels.sets import empty_table, enter, place_in

_AHEAD = 16  # entries whose memory is fetched before they are read
SPREAD_BITS = 3  # eight places in a filter for each key


@kernel
def repeated(keys, place_bits):
    """Return ``key | place`` words, in order of place, of keys that may occur several times; a few occur once.

    The low *place_bits* bits of a word are a place in *keys* (uint64), the other bits the beginning of the key there. A
    key is left out if no other has the same last bits.
    """
    last = (np.uint64(1) << np.uint64(place_bits + SPREAD_BITS)) - np.uint64(1)
    words = (int(last) >> 6) + 1
    once, twice = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for key in keys:
        word, bit = (key & last) >> np.uint64(6), np.uint64(1) << (key & np.uint64(63))
        twice[word] |= once[word] & bit
        once[word] |= bit
    packed = np.empty(keys.size, np.uint64)
    count = 0
    above = ~((np.uint64(1) << np.uint64(place_bits)) - np.uint64(1))
    for place in range(keys.size):
        key = keys[place]
        packed[count] = (key & above) | np.uint64(place)
        count += int(twice[(key & last) >> np.uint64(6)] >> (key & np.uint64(63)) & np.uint64(1))
    return returned(packed[:count])


@kernel
def asked_for(keys, members, first_rank, bits):
    """Return the keys that asking members may have, in order, and their members; a few others stay.

    Member ``members[i]`` has the key ``keys[i]`` (uint64), and asks if it is *first_rank* or more. A key is left out if
    no member that asks has a key with the same last *bits* bits, which are 6 or more.
    """
    last = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    seen = np.zeros(1 << (bits - 6), np.uint64)
    for place in range(keys.size):
        if members[place] >= first_rank:
            seen[(keys[place] & last) >> np.uint64(6)] |= np.uint64(1) << (keys[place] & np.uint64(63))
    left, owners = np.empty(keys.size, np.uint64), np.empty(keys.size, np.int32)
    count = 0
    for place in range(keys.size):
        key = keys[place]
        left[count], owners[count] = key, members[place]
        count += int(seen[(key & last) >> np.uint64(6)] >> (key & np.uint64(63)) & np.uint64(1))
    return returned(left[:count]), returned(owners[:count])


@kernel
def runs(packed, rank_bits, keys, ranks, places, sizes):
    """Find the keys of several documents in sorted ``key | place`` words.

    The low *rank_bits* bits of a word are a place in *keys* and *ranks*; the other bits are the beginning of that key.
    Each key of several documents becomes a bucket: its places are written to *places*, their number to *sizes*. A
    document that has a key several times counts once; if *ranks* is empty, every document has a key once. Returns
    ``(places, buckets, whether the keys of each bucket are equal)``.
    """
    count = 0
    found = 0
    equal = True
    shift = np.uint64(rank_bits)
    below = (np.uint64(1) << shift) - np.uint64(1)
    begin = 0
    while begin < packed.size:
        cut = packed[begin] >> shift
        end = begin + 1
        while end < packed.size and packed[end] >> shift == cut:
            end += 1
        for ahead in range(begin + _AHEAD, min(end + _AHEAD, packed.size)):
            fetch_ahead(keys, np.int64(packed[ahead] & below))
        if end - begin > 1:
            first = count
            key = keys[np.int64(packed[begin] & below)]
            for entry in packed[begin:end]:
                place = np.int64(entry & below)
                equal &= keys[place] == key
                if count == first or ranks.size == 0 or ranks[place] != ranks[places[count - 1]]:
                    places[count] = place
                    count += 1
            if count - first > 1:
                sizes[found] = count - first
                found += 1
            else:
                count = first
        begin = end
    return count, found, equal


@kernel
def share(keys, left, right, position_independent, shares):
    """Return whether rows ``left[i]`` and ``right[i]`` have a key in common: in the same column, or in any.

    The latter is for *position_independent* keys: the keys of ``left[i]`` are entered in a table once for all
    consecutive pairs with this row.
    """
    table, owners = empty_table(keys.shape[1])
    owner = -1
    for pair in range(left.size):
        one = keys[left[pair]]
        other = keys[right[pair]]
        found = False
        if position_independent:
            if pair == 0 or left[pair] != left[pair - 1]:
                owner = pair
                enter(one, table, owners, owner)
            for key in other:
                if owners[place_in(key, table, owners, owner)] == owner:
                    found = True
                    break
        else:
            for column in range(one.size):
                found |= other[column] == one[column]
        shares[pair] = found


@kernel
def within(members, sizes, room, begin, end, chosen, chosen_sizes):
    """Copy the part of the buckets that determines the candidates of the ranks from *begin* to *end*.

    Bucket *b* has the next ``sizes[b]`` of *members*, by rank. Its part has the members that rank better than *end* and
    either are among its first *room* members or ask for candidates. A part is omitted if no rank in it asks, or if the
    only one that asks is the best. Returns ``(members, buckets)``, the numbers of both.
    """
    count = 0
    found = 0
    last = 0
    for size in sizes:
        place = last
        last += size
        if members[place] >= end or members[last - 1] < begin:
            continue
        first = count
        further = min(place + room, last)
        for part in (members[place:further], members[first_from(members, further, last, begin) : last]):
            for member in part:
                if member >= end:
                    break
                chosen[count] = member
                count += 1
        if count - first > 1 and chosen[count - 1] >= begin:
            chosen_sizes[found] = count - first
            found += 1
        else:
            count = first
    return count, found


@kernel
def count(members, sizes, room, first_rank, rooms, counts):
    """Add to ``counts[r]`` the number of buckets in which the rank ``first_rank + r`` has candidates.

    Bucket *b* has the next ``sizes[b]`` of *members*, by rank. Its first member has no candidates there, and its last
    member is not a candidate. ``rooms[b]`` becomes the number of members that the bucket lists. Ranks below
    *first_rank* do not ask.
    """
    end = 0
    for bucket in range(sizes.size):
        for member in members[end + 1 : end + sizes[bucket]]:
            if member >= first_rank:
                counts[member - first_rank] += 1
        end += sizes[bucket]
        rooms[bucket] = min(sizes[bucket] - 1, room)


@kernel
def arrange(members, sizes, first_bucket, first_rank, ends, memberships, entry_bounds, entries):
    """Write the buckets in which each rank from *first_rank* on has candidates, and the members that each bucket lists.

    Bucket *b* has the number ``first_bucket + b``. Each rank's buckets are written from the end: ``ends[r]`` moves
    forward, so that ``memberships[ends[r]:]`` begins with the buckets of the rank ``first_rank + r``. The last part of
    all buckets is passed first; after the first part, *ends* are the beginnings.
    """
    end = members.size
    for bucket in range(sizes.size - 1, -1, -1):
        begin = end - sizes[bucket]
        number = first_bucket + bucket
        for place in range(begin + 1, end):
            if place >= 2 * _AHEAD and ends.size:
                fetch_ahead(ends, max(0, members[place - 2 * _AHEAD] - first_rank))
                fetch_ahead(memberships, max(0, ends[max(0, members[place - _AHEAD] - first_rank)] - 1))
            member = members[place]
            if member >= first_rank:
                ends[member - first_rank] -= 1
                memberships[ends[member - first_rank]] = number
        first = entry_bounds[number]
        for entry in range(first, entry_bounds[number + 1]):
            entries[entry] = members[begin + entry - first]
        end = begin


@kernel
def propose(asking, first_rank, lists, seen, bounds, candidates):
    """Write the better-ranked members that the buckets of each asking rank list, ascending, each once.

    *lists* are ``(member_bounds, memberships, entry_bounds, entries)``, as ``arrange`` leaves them:
    ``memberships[member_bounds[r]:]`` are the buckets of the rank ``first_rank + r``.
    ``candidates[bounds[i]:bounds[i + 1]]`` belong to ``asking[i]``. *seen* is scratch memory with one place per rank;
    no rank may have asked before. Stops if *candidates* may be too small for the next rank; returns the number of
    asking ranks done.
    """
    member_bounds, memberships, entry_bounds, entries = lists
    other = np.empty_like(candidates)
    count = 0
    for turn in range(asking.size):
        rank = asking[turn]
        own = memberships[member_bounds[rank - first_rank] : member_bounds[rank - first_rank + 1]]
        bounds[turn] = count
        most = 0
        for bucket in own:
            most += entry_bounds[bucket + 1] - entry_bounds[bucket]
        if count + most > candidates.size:
            return turn
        for bucket in own:
            for entry in entries[entry_bounds[bucket] : entry_bounds[bucket + 1]]:
                if entry >= rank:
                    break
                if seen[entry] != rank:
                    seen[entry] = rank
                    candidates[count] = entry
                    count += 1
        merge_runs(candidates[bounds[turn] : count], other[: count - bounds[turn]])
    bounds[asking.size] = count
    return asking.size
