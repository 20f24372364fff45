"""Sorted tables of 64-bit values, and what in them differs from a value in few bits.

Row *t* of ``rotations`` and ``masks`` says in which order table *t* reads the bits of a value *v*: as the bitwise
or of ``rotate_left(v & masks[t, m], rotations[t, m])`` over *m*. Table 0 reads them as they are. A table is
sorted by what it reads. The high bits of an entry choose its bucket, ``starts[t, b]`` up to ``starts[t, b + 1]``;
the low 32 bits are in ``lows[t]``, those between in ``highs[t]``.

The first ``leads[t]`` bits that a table reads lead. It is probed for the query with each of
``flips[flip_bounds[t]:flip_bounds[t + 1]]`` changed, and a probe finds what has exactly these leading bits.
``covers[t]`` are the leading bits as they stand in a value, and ``radii[t]`` is how many of them a probe
changes at most. So a table finds what differs there in at most that many bits, and a match belongs to the first
table that finds it.

The distinct values are ranked by size. Those of rank *r* are at ``positions[bounds[r]:bounds[r + 1]]``, ascending;
where all are distinct, *bounds* is empty and the position is ``positions[r]``.

Found pairs are packed as ``left << 33 | right << 3 | distance``.
"""

import numpy as np
from numba import njit

from neardup.kernels.compile import kernel, ones, ones32

CHUNK = 128  # entries that are passed over together if none of them is near
NARROW = 64  # entries of a bucket that are scanned without a search for the leading bits

DISTANCE_BITS, POSITION_BITS = 3, 30

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_STORED = np.uint64(32)
_FAR = np.uint32(33)
_DISTANCE = np.uint64(DISTANCE_BITS)
_RIGHT = np.uint64(DISTANCE_BITS + POSITION_BITS)
_DISTANCE_MASK = np.uint64((1 << DISTANCE_BITS) - 1)


@njit(nogil=True)
def _rotated(value, by):
    """Rotate left by 0 to 63 places."""
    by = np.uint64(by)
    return (value << by) | (value >> ((np.uint64(64) - by) & np.uint64(63)))


@njit(nogil=True)
def _read(value, rotations, masks):
    """Put the bits of a value in a table's order."""
    read = _ZERO
    for move in range(masks.size):
        read |= _rotated(value & masks[move], rotations[move])
    return read


@njit(nogil=True)
def _restored(read, rotations, masks):
    """Put bits that a table has read back in their own order."""
    value = _ZERO
    for move in range(masks.size):
        value |= _rotated(read, (np.int64(64) - rotations[move]) & 63) & masks[move]
    return value


@kernel
def read(values, rotations, masks, out):
    """Put the bits of all *values* (uint64) in the order of one table: one row of *rotations* and *masks*."""
    for i in range(values.size):
        out[i] = _read(values[i], rotations, masks)


@kernel
def store(read, bucket_bits, lows, highs, starts):
    """Cut sorted words into buckets and stored bits: one row each of *lows*, *highs* and *starts*."""
    to_bucket = np.uint64(64 - bucket_bits)
    below = (_ONE << to_bucket) - _ONE
    bucket = 0
    for i in range(read.size):
        lows[i] = np.uint32(read[i] & _LOW)
        highs[i] = (read[i] & below) >> _STORED
        while bucket <= np.int64(read[i] >> to_bucket):
            starts[bucket] = i
            bucket += 1
    starts[bucket:] = read.size


@njit(nogil=True)
def _rest(lows, highs, place):
    """Give the bits of an entry that its bucket does not imply."""
    return np.uint64(highs[place]) << _STORED | np.uint64(lows[place])


@njit(nogil=True)
def _first_from(lows, highs, begin, end, rest):
    """Find the first entry of a part of a bucket that is not below *rest*."""
    while begin < end:
        middle = (begin + end) >> 1
        if _rest(lows, highs, middle) < rest:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(nogil=True)
def _next_near(lows, begin, end, low, distance):
    """Find the first entry whose low bits differ from *low* in at most *distance* places, else *end*."""
    while begin < end:
        stop = min(begin + CHUNK, end)
        nearest = _FAR
        for differing in lows[begin:stop]:
            count = ones32(differing ^ low)
            if count < nearest:
                nearest = count
        if nearest <= distance:
            while ones32(lows[begin] ^ low) > distance:
                begin += 1
            return begin
        begin = stop
    return end


@njit(nogil=True)
def _room_for(found, more):
    """Give an array with the same contents and room for *more* entries, at least."""
    if more <= found.size:
        return found
    grown = np.empty(max(2 * found.size, more), np.uint64)
    grown[: found.size] = found
    return grown


@njit(nogil=True)
def _rank(value, lows, highs, starts, to_bucket):
    """Find a value that is in table 0."""
    bucket = np.int64(value >> to_bucket)
    rest = value & ((_ONE << to_bucket) - _ONE)
    return _first_from(lows, highs, np.int64(starts[bucket]), np.int64(starts[bucket + 1]), rest)


@njit(nogil=True)
def _is_first(difference, table, covers, radii):
    """Tell whether no table before this one finds values that differ in these bits."""
    for before in range(table):
        if ones(difference & covers[before]) <= radii[before]:
            return False
    return True


@njit(nogil=True)
def _probe(query, flip, after, table, distance, order, rules, bucket_bits, stored, found, number):
    """Find the near entries of one table, from *after* on, whose leading bits are those of ``query ^ flip``.

    *query* is as the table reads it. Writes ``rank << 3 | distance`` to ``found[number:]`` for those that belong to
    this table. Returns *found*, perhaps grown, and the new *number*.
    """
    lows, highs, starts = stored
    low_row, high_row = lows[table], highs[table]
    covers, radii, leads = rules
    to_bucket = np.uint64(64 - bucket_bits)
    word = query ^ flip
    bucket = np.int64(word >> to_bucket)
    begin, end = np.int64(starts[table, bucket]), np.int64(starts[table, bucket + 1])
    below_lead = (_ALL >> np.uint64(leads[table] - 1)) >> _ONE
    if end - begin > NARROW and leads[table] > bucket_bits:
        rest = word & ((_ONE << to_bucket) - _ONE) & ~below_lead
        begin = _first_from(low_row, high_row, begin, end, rest)
        end = _first_from(low_row, high_row, begin, end, rest + below_lead + _ONE)
    begin = max(begin, after)
    low = np.uint32(query & _LOW)
    most = np.uint32(distance)
    place = _next_near(low_row, begin, end, low, most)
    while place < end:
        value = np.uint64(bucket) << to_bucket | _rest(low_row, high_row, place)
        difference = value ^ query
        differing = ones(difference)
        if differing <= np.uint64(distance) and (difference ^ flip) & ~below_lead == _ZERO:
            rank = place
            mine = True
            if table > 0:
                rotations, masks = order[0][table], order[1][table]
                difference = _restored(difference, rotations, masks)
                mine = _is_first(difference, table, covers, radii)
                if mine:
                    original = _restored(query, rotations, masks) ^ difference
                    rank = _rank(original, lows[0], highs[0], starts[0], to_bucket)
            if mine:
                found = _room_for(found, number + 1)
                found[number] = np.uint64(rank) << _DISTANCE | differing
                number += 1
        place = _next_near(low_row, place + 1, end, low, most)
    return found, number


@njit(nogil=True)
def _probes(query, distance, order, rules, flips, flip_bounds, bucket_bits, stored, found):
    """Find all that is near a query, as ``rank << 3 | distance``."""
    number = 0
    for table in range(flip_bounds.size - 1):
        read_query = _read(query, order[0][table], order[1][table])
        for flip in flips[flip_bounds[table] : flip_bounds[table + 1]]:
            found, number = _probe(
                read_query, flip, 0, table, distance, order, rules, bucket_bits, stored, found, number
            )
    return found, number


@njit(nogil=True)
def _listed(rank, bounds):
    """Tell where the positions of a value begin and end."""
    if bounds.size == 0:
        return rank, rank + 1
    return np.int64(bounds[rank]), np.int64(bounds[rank + 1])


@kernel
def lookup(
    queries,
    most,
    distance,
    rotations,
    masks,
    covers,
    radii,
    leads,
    flips,
    flip_bounds,
    bucket_bits,
    lows,
    highs,
    starts,
    positions,
    bounds,
):
    """Find what is near each of the *queries* (uint64, fewer than 2**30): packed pairs (query, position, distance).

    Of equal values the first *most* are found. The pairs are in no order within a query.
    """
    order, rules, stored = (rotations, masks), (covers, radii, leads), (lows, highs, starts)
    near = np.empty(64, np.uint64)
    found = np.empty(max(16, queries.size), np.uint64)
    number = 0
    for query in range(queries.size):
        near, count = _probes(
            queries[query], distance, order, rules, flips, flip_bounds, bucket_bits, stored, near
        )
        for match in near[:count]:
            begin, end = _listed(np.int64(match >> _DISTANCE), bounds)
            end = min(end, begin + most)
            found = _room_for(found, number + end - begin)
            for place in range(begin, end):
                found[number] = (
                    np.uint64(query) << _RIGHT | np.uint64(positions[place]) << _DISTANCE | match & _DISTANCE_MASK
                )
                number += 1
    return found[:number]


@kernel
def count(
    queries,
    distance,
    rotations,
    masks,
    covers,
    radii,
    leads,
    flips,
    flip_bounds,
    bucket_bits,
    lows,
    highs,
    starts,
    bounds,
    counts,
):
    """Count the positions near each of the *queries* into *counts* (int64)."""
    order, rules, stored = (rotations, masks), (covers, radii, leads), (lows, highs, starts)
    near = np.empty(64, np.uint64)
    for query in range(queries.size):
        near, number = _probes(
            queries[query], distance, order, rules, flips, flip_bounds, bucket_bits, stored, near
        )
        counts[query] = 0
        for match in near[:number]:
            begin, end = _listed(np.int64(match >> _DISTANCE), bounds)
            counts[query] += end - begin


@kernel
def join(
    itself,
    distance,
    rotations,
    masks,
    covers,
    radii,
    leads,
    flips,
    flip_bounds,
    bucket_bits,
    lows,
    highs,
    starts,
    positions,
    bounds,
    other_bits,
    other_lows,
    other_highs,
    other_starts,
    other_positions,
    other_bounds,
):
    """Find what is near the values of other tables of the same design: packed pairs (position, other, distance).

    The other tables are read in their order, one after the other, so that probes go from bucket to bucket. With
    *itself* both are the same tables: each pair is found once, the smaller position left, and none with itself.
    """
    order, rules, stored = (rotations, masks), (covers, radii, leads), (lows, highs, starts)
    to_bucket = np.uint64(64 - other_bits)
    near = np.empty(64, np.uint64)
    found = np.empty(64, np.uint64)
    number = 0
    for table in range(flip_bounds.size - 1):
        bucket = np.int64(0)
        for entry in range(other_lows.shape[1]):
            while other_starts[table, bucket + 1] <= entry:
                bucket += 1
            query = np.uint64(bucket) << to_bucket | _rest(other_lows[table], other_highs[table], entry)
            after = entry + 1 if itself else 0
            count = 0
            for flip in flips[flip_bounds[table] : flip_bounds[table + 1]]:
                near, count = _probe(
                    query, flip, after, table, distance, order, rules, bucket_bits, stored, near, count
                )
            if count > 0:
                value = _restored(query, rotations[table], masks[table])
                rank = _rank(value, other_lows[0], other_highs[0], other_starts[0], to_bucket)
                other_begin, other_end = _listed(rank, other_bounds)
            for match in near[:count]:
                begin, end = _listed(np.int64(match >> _DISTANCE), bounds)
                found = _room_for(found, number + (end - begin) * (other_end - other_begin))
                for place in range(begin, end):
                    for other_place in range(other_begin, other_end):
                        left, right = np.uint64(positions[place]), np.uint64(other_positions[other_place])
                        if itself and left > right:
                            left, right = right, left
                        found[number] = left << _RIGHT | right << _DISTANCE | match & _DISTANCE_MASK
                        number += 1
    if itself:
        for rank in range(bounds.size - 1):
            begin, end = _listed(rank, bounds)
            found = _room_for(found, number + (end - begin) * (end - begin - 1) // 2)
            for place in range(begin, end):
                for later in range(place + 1, end):
                    found[number] = np.uint64(positions[place]) << _RIGHT | np.uint64(positions[later]) << _DISTANCE
                    number += 1
    return found[:number]
