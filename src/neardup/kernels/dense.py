"""The first values near queries, in ranges of entries where most entries are near.

Listing all values near each of many queries of one range takes the square of its size. If only the first positions of
each query are wanted, the entries are put in the order of their positions once, and each query reads them until it has
enough.

Tables, probes and packed pairs are those of ``neardup.kernels.hamming``.
"""

import numpy as np

from neardup.kernels.compile import kernel, ones, returned
from neardup.kernels.hamming import (
    BOUNDS,
    DISTANCE_BITS,
    FIRST,
    HIGHS,
    POSITION_BITS,
    POSITIONS,
    behind_first,
    is_first,
    is_intact,
    is_there,
    positions_of,
    rank_of,
    refuse,
    reordered,
    rest_of,
    restored,
    room_for,
)

PLACE_BITS = 32
_PLACE = np.uint64((1 << PLACE_BITS) - 1)
_ABOVE = np.uint64(PLACE_BITS)
_DISTANCE = np.uint64(DISTANCE_BITS)
_RIGHT = np.uint64(DISTANCE_BITS + POSITION_BITS)
_NONE = np.uint64(0)


@kernel
def entries_of(probe, queries, layout, entries, lists, there, guard):
    """Return the positions of the entries of a probe's range, and the bits that their bucket does not imply.

    The positions that are *there* are packed as ``position << 32 | entry``, where the range has the entries 0, 1, ....
    """
    _, rotations, masks, _, _, _, flips, _ = layout
    bucket_bits, lows, highs, starts = entries
    positions, bounds = lists
    table, begin, end = probe[1], probe[3], probe[4]
    to_bucket = np.uint64(64 - bucket_bits)
    word = reordered(queries[probe[0]], rotations[table], masks[table]) ^ flips[probe[2]]
    above = word >> to_bucket << to_bucket
    rests, keys = np.empty(end - begin, np.uint64), np.empty(end - begin, np.uint64)
    is_intact(guard, HIGHS, table, begin, end)
    number = 0
    for entry in range(end - begin):
        rank, rests[entry] = begin + entry, rest_of(lows[table], highs[table], begin + entry)
        if table > 0:
            value = restored(above | rests[entry], rotations[table], masks[table])
            rank = rank_of(value, lows[0], highs[0], starts[0], to_bucket, guard)
        if rank < 0:
            continue
        first, last = positions_of(rank, bounds, guard)
        if last > positions.size or last - first > positions.size - number:  # different values have different positions
            refuse(guard, BOUNDS, FIRST, rank)
            break
        is_intact(guard, POSITIONS, FIRST, first, last)
        keys = room_for(keys, number + last - first)
        for place in range(first, last):
            if np.int64(positions[place]) >= positions.size:
                refuse(guard, POSITIONS, FIRST, place)
            elif is_there(there, positions[place]):
                keys[number] = np.uint64(positions[place]) << _ABOVE | np.uint64(entry)
                number += 1
    return returned(keys[:number]), returned(rests)


@kernel
def first_near(probes, queries, layout, bucket_bits, keys, rests, most):
    """Return what the probes of one range find: packed ``query << 33 | position << 3 | distance``.

    *keys* are ascending. Of each probe's matches, only the *most* with the smallest positions count; those that belong
    to another table are left out.
    """
    distance, rotations, masks, covers, radii, leads, flips, _ = layout
    table = probes[0, 1]
    to_bucket, behind = np.uint64(64 - bucket_bits), behind_first(leads[table])
    found = np.empty(64, np.uint64)
    number = 0
    for probe in range(probes.shape[0]):
        query, flip = probes[probe, 0], flips[probes[probe, 2]]
        word = reordered(queries[query], rotations[table], masks[table])
        above = (word ^ flip) >> to_bucket << to_bucket
        matches = 0
        for key in keys:
            difference = (above | rests[np.int64(key & _PLACE)]) ^ word
            differing = ones(difference)
            if differing > np.uint64(distance) or (difference ^ flip) & ~behind != _NONE:
                continue
            if is_first(restored(difference, rotations[table], masks[table]), table, covers, radii):
                found = room_for(found, number + 1)
                found[number] = np.uint64(query) << _RIGHT | key >> _ABOVE << _DISTANCE | differing
                number += 1
            matches += 1
            if matches == most:
                break
    return returned(found[:number])
