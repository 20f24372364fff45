"""Tables of 64-bit values, and finding the values that differ from a query in few bits.

*Order of bits.* Rows *t* of ``rotations`` and ``masks`` define the order in which table *t* reads the bits of a value
*v*: the bitwise or of ``rotate_left(v & masks[t, m], rotations[t, m])`` over *m*. Table 0 does not reorder them.

*Entries.* The first ``leads[t]`` bits in a table's order are its leading bits, and the table is sorted by them; table 0
is sorted by all bits. The first *bucket_bits* of them, at most 32, choose an entry's bucket, ``starts[t, b]`` up to
``starts[t, b + 1]``. The low 32 bits are in ``lows[t]``, the bits between in ``highs[t]``, the lowest byte first.

*Probes.* A table is probed for a query with each of ``flips[flip_bounds[t]:flip_bounds[t + 1]]`` applied, and a probe
finds the values with exactly these leading bits. The flips are all those of at most ``radii[t]`` leading bits;
``covers[t]`` are the leading bits in the order of the value. So a table finds the values that differ from the query in
at most ``radii[t]`` of its leading bits. A match belongs to the first table that finds it, so that each match is
reported once without remembering matches.

*Positions.* The distinct values are ranked by size. Those of rank *r* are at
``positions[bounds[r]:bounds[r + 1]]``, ascending; if all values are distinct, *bounds* is empty and the position is
``positions[r]``.

Found pairs are packed as ``left << 33 | right << 3 | distance``: ``search`` finds ranks, ``listed`` and ``tally`` look
up their positions.

*Arguments.* A *layout* is ``(distance, rotations, masks, covers, radii, leads, flips, flip_bounds)``, the greatest
distance first; *entries* are ``(bucket_bits, lows, highs, starts)``; *lists* are ``(positions, bounds)``.

*Guarded.* Tables that are mapped from a file come with ``(data, sums, seen, begins, sizes, fault)``: the guard of the
file (``neardup.kernels.blocks``); at which byte row *t* of each array begins (``begins[array, t]``, int64); how many
bytes an entry of it has (``sizes[array]``); and one int64 that is ``INTACT``. No entry is used as an address before its
blocks are verified. If one is damaged, *fault* is its number, and the result is invalid. For tables in memory the guard
is ``None``, and nothing is compiled for it.

Forged contents are not found by checksums. So entries that are used as places in arrays are bounded by their sizes. If
one is impossible, *fault* is its block. ``join`` has no guard: its tables are checked as a whole.

``search`` and ``join`` repeat the code of a probe: most probes find nothing, and a function that returns *near* for
each probe takes twice the time.
"""

import numpy as np

from neardup.kernels.blocks import BLOCK_BITS, INTACT, damaged
from neardup.kernels.compile import fetch_ahead, kernel, near_at, njit, ones, returned, trailing_zeros

DISTANCE_BITS, POSITION_BITS = 3, 30
# The arrays of a guard, and the first table; as plain numbers each would be compiled for by itself.
LOWS, HIGHS, STARTS, POSITIONS, BOUNDS = (np.int64(array) for array in range(5))
FIRST = np.int64(0)

BLOCK = 16  # entries that are compared at once, and that come from memory together; a row of lows has as many to spare
NARROW = 512  # entries of a bucket that are scanned without a search, which waits for memory at each step
AHEAD = 32  # probes whose memory is asked for together
FEW = 8  # values near a query: they are always listed
NEVER = 1 << 40  # more positions than a probe finds
RANGES = 4093  # dense ranges that are remembered, by the remainder of their number
FETCHED = 512  # entries of a bucket that are asked for; the processor foresees the others

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_STORED = np.uint64(32)
_DISTANCE = np.uint64(DISTANCE_BITS)
_RIGHT = np.uint64(DISTANCE_BITS + POSITION_BITS)
_DISTANCE_MASK = np.uint64((1 << DISTANCE_BITS) - 1)
_POSITION_MASK = np.uint64((1 << POSITION_BITS) - 1)
_NONE = np.int64(0)


@njit
def _rotated(value, by):
    """Rotate left by 0 to 63 places."""
    by = np.uint64(by)
    return (value << by) | (value >> ((np.uint64(64) - by) & np.uint64(63)))


@njit
def reordered(value, rotations, masks):
    """Return a value with its bits in a table's order."""
    word = _ZERO
    for move in range(masks.size):
        word |= _rotated(value & masks[move], rotations[move])
    return word


@njit
def restored(word, rotations, masks):
    """Return a value with its own order of bits from that of a table."""
    value = _ZERO
    for move in range(masks.size):
        value |= _rotated(word, (64 - rotations[move]) & 63) & masks[move]
    return value


@kernel
def read(values, rotations, masks, words):
    """Put the bits of all *values* in the order of one table, with its row of *rotations* and *masks*."""
    for i in range(values.size):
        words[i] = reordered(values[i], rotations, masks)


@kernel
def store(words, bucket_bits, lows, highs, starts):
    """Cut words, sorted by their leading bits, into the buckets and stored bits of one table."""
    to_bucket = np.uint64(64 - bucket_bits)
    below = (_ONE << to_bucket) - _ONE
    next_bucket = 0
    for i in range(words.size):
        lows[i] = np.uint32(words[i] & _LOW)
        high = (words[i] & below) >> _STORED
        for byte in range(highs.shape[1]):
            highs[i, byte] = np.uint8((high >> np.uint64(8 * byte)) & np.uint64(0xFF))
        while next_bucket <= np.int64(words[i] >> to_bucket):
            starts[next_bucket] = i
            next_bucket += 1
    starts[next_bucket:] = words.size


@njit
def is_intact(guard, array, table, begin, end):
    """Return whether these entries of a table's row are intact; otherwise record the damaged block."""
    if guard is None:
        return True
    data, sums, seen, begins, sizes, fault = guard
    row, size = begins[array, table], sizes[array]
    block = damaged((data, sums, seen), row + begin * size, row + end * size)
    if block != INTACT:
        fault[0] = block
    return block == INTACT


@njit
def refuse(guard, array, table, entry):
    """Record the block of an entry that is impossible; in memory there are none."""
    if guard is not None:
        _, _, _, begins, sizes, fault = guard
        fault[0] = (begins[array, table] + entry * sizes[array]) >> BLOCK_BITS


@njit
def are_intact(guard, array, probes, number):
    """Return whether the entries ``probes[i, 3]`` up to ``probes[i, 4]`` of tables ``probes[i, 1]`` are all intact.

    It is faster than ``is_intact`` for each probe, because every call counts references to all arrays of a guard.
    """
    if guard is None:
        return True
    data, sums, seen, begins, sizes, fault = guard
    size = sizes[array]
    for i in range(number):
        row = begins[array, probes[i, 1]]
        first, last = row + probes[i, 3] * size, row + probes[i, 4] * size
        block, beyond = first >> BLOCK_BITS, (last - 1) >> BLOCK_BITS
        if beyond - block > 1 or not (seen[block] and seen[beyond]):
            bad = damaged((data, sums, seen), first, last)
            if bad != INTACT:
                fault[0] = bad
                return False
    return True


@njit
def rest_of(lows, highs, place):
    """Return the bits of an entry that its bucket does not imply."""
    rest = np.uint64(lows[place])
    for byte in range(highs.shape[1]):
        rest |= np.uint64(highs[place, byte]) << (_STORED + np.uint64(8 * byte))
    return rest


@njit
def _first_from(lows, highs, begin, end, rest, guard, table):
    """Find the first entry of a part of a bucket that is not below *rest*."""
    while begin < end:
        middle = (begin + end) >> 1
        is_intact(guard, LOWS, table, middle, middle + 1)
        is_intact(guard, HIGHS, table, middle, middle + 1)
        if rest_of(lows, highs, middle) < rest:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit
def _next_near(lows, begin, end, low, distance):
    """Find the first entry whose low bits differ from *low* in at most *distance* places, else *end*."""
    while begin < end:
        near = near_at(lows, begin, low, distance)
        if near != _ZERO:
            return min(begin + np.int64(trailing_zeros(near)), end)
        begin += BLOCK
    return end


@njit
def room_for(found, number):
    """Return an array with the same contents and room for at least this number of entries."""
    if number <= found.size:
        return found
    grown = np.empty(max(2 * found.size, number), found.dtype)
    for place in range(found.size):
        grown[place] = found[place]
    return grown


@njit
def rank_of(value, lows, highs, starts, to_bucket, guard):
    """Find a value that is in table 0."""
    bucket = np.int64(value >> to_bucket)
    if not is_intact(guard, STARTS, FIRST, bucket, bucket + 2):
        return np.int64(-1)
    rest = value & ((_ONE << to_bucket) - _ONE)
    entries = highs.shape[0]
    begin, end = min(np.int64(starts[bucket]), entries), min(np.int64(starts[bucket + 1]), entries)
    return min(_first_from(lows, highs, begin, end, rest, guard, FIRST), entries - 1)


@njit
def is_first(difference, table, covers, radii):
    """Return whether no table before this one finds values that differ in these bits."""
    for before in range(table):
        if ones(difference & covers[before]) <= radii[before]:
            return False
    return True


@njit
def behind_first(lead):
    """Return a mask of the bits after the first *lead* bits (1 to 64)."""
    return (_ALL >> np.uint64(lead - 1)) >> _ONE


@njit
def _range(word, lead, bucket_bits, lows, highs, starts, guard, table):
    """Find the range of the entries with the leading bits of *word*, or a slightly larger one; a table is its rows."""
    to_bucket = np.uint64(64 - bucket_bits)
    bucket = np.int64(word >> to_bucket)
    entries = highs.shape[0]
    begin, end = min(np.int64(starts[bucket]), entries), min(np.int64(starts[bucket + 1]), entries)
    if end - begin > NARROW and lead > bucket_bits:
        behind = behind_first(lead)
        rest = word & ((_ONE << to_bucket) - _ONE) & ~behind
        begin = _first_from(lows, highs, begin, end, rest, guard, table)
        end = _first_from(lows, highs, begin, end, rest + behind + _ONE, guard, table)
    return begin, end


@njit
def _collect(query, flip, place, end, table, layout, entries, guard, near, number):
    """Collect what a probe finds up to *end*; *place* is the first entry whose low bits are near.

    *query* is as the table reads it. Writes ``rank << 3 | distance`` to ``near[number:]`` for the near entries that
    have the leading bits of ``query ^ flip`` and belong to this table. Returns *near*, perhaps grown, and the new
    *number*.
    """
    distance, rotations, masks, covers, radii, leads, _, _ = layout
    bucket_bits, lows, highs, starts = entries
    row, high_row = lows[table], highs[table]
    to_bucket = np.uint64(64 - bucket_bits)
    above = (query ^ flip) >> to_bucket << to_bucket
    behind = behind_first(leads[table])
    while place < end:
        is_intact(guard, HIGHS, table, place, place + 1)
        difference = (above | rest_of(row, high_row, place)) ^ query
        differing = ones(difference)
        if differing <= np.uint64(distance) and (difference ^ flip) & ~behind == _ZERO:
            rank = place
            if table > 0:
                difference = restored(difference, rotations[table], masks[table])
                rank = -1
                if is_first(difference, table, covers, radii):
                    value = restored(query, rotations[table], masks[table]) ^ difference
                    rank = rank_of(value, lows[0], highs[0], starts[0], to_bucket, guard)
            if rank >= 0:
                near = room_for(near, number + 1)
                near[number] = np.uint64(rank) << _DISTANCE | differing
                number += 1
        place = _next_near(row, place + 1, end, np.uint32(query & _LOW), np.uint32(distance))
    return near, number


@njit
def list_probes(queries, cursor, layout, bucket_bits, directory, words, probes):
    """List the next probes, and prefetch the memory of the directory that they need.

    *cursor* holds the next query, table and flip. Writes the queries in the order of the tables to *words*, and to
    *probes* the numbers of query, table and flip, and the range of the directory. Returns the number of probes.
    """
    _, rotations, masks, _, _, _, flips, flip_bounds = layout
    to_bucket = np.uint64(64 - bucket_bits)
    number = 0
    query, table, flip = cursor[0], cursor[1], cursor[2]
    while number < AHEAD and query < queries.size:
        word = reordered(queries[query], rotations[table], masks[table])
        stop = min(flip_bounds[table + 1], flip + AHEAD - number)
        for changed in range(flip, stop):
            words[number] = word
            bucket = np.int64((word ^ flips[changed]) >> to_bucket)
            probes[number, 0], probes[number, 1], probes[number, 2] = query, table, changed
            probes[number, 3], probes[number, 4] = bucket, bucket + 2
            fetch_ahead(directory[table], bucket)
            number += 1
        flip = stop
        if flip == flip_bounds[table + 1]:
            table += 1
            if table == flip_bounds.size - 1:
                query, table, flip = query + 1, 0, 0
    cursor[0], cursor[1], cursor[2] = query, table, flip
    return number


@njit
def _prepare(queries, cursor, layout, entries, guard, words, probes):
    """List the next probes with the entries that they scan, and prefetch their memory.

    Writes the ranges of the entries to *probes*. Returns the number of probes; a negative number if a block is damaged.
    """
    _, _, _, _, _, leads, flips, _ = layout
    bucket_bits, lows, highs, starts = entries
    number = list_probes(queries, cursor, layout, bucket_bits, starts, words, probes)
    if not are_intact(guard, STARTS, probes, number):
        return -1
    for i in range(number):
        table = probes[i, 1]
        word = words[i] ^ flips[probes[i, 2]]
        begin, end = _range(word, leads[table], bucket_bits, lows[table], highs[table], starts[table], guard, table)
        probes[i, 3], probes[i, 4] = begin, end
        for place in range(begin, min(end, begin + FETCHED), BLOCK):
            fetch_ahead(lows[table], place)
    return number if are_intact(guard, LOWS, probes, number) else -1


@njit
def positions_of(rank, bounds, guard):
    """Return where the positions of a value begin and end."""
    if bounds.size == 0:
        return rank, rank + 1
    if not is_intact(guard, BOUNDS, FIRST, rank, rank + 2):
        return np.int64(0), np.int64(0)
    begin, end = np.int64(bounds[rank]), np.int64(bounds[rank + 1])
    if begin > end:
        refuse(guard, BOUNDS, FIRST, rank)
        return np.int64(0), np.int64(0)
    return begin, end


@njit(forceinline=True)
def is_there(there, position):
    """Return whether a position exists; one that is too large does not."""
    return there.size == 0 or (np.int64(position) < there.size and there[position])


@njit
def last_of(begin, end, most, positions, there, guard):
    """Return the end of the first *most* positions that are *there*, in the list from *begin* up to *end*."""
    if there.size == 0:
        end = min(end, begin + most)
    is_intact(guard, POSITIONS, FIRST, begin, end)
    if there.size == 0 or end - begin <= most:
        return end
    number = 0
    while begin < end and number < most:
        number += np.int64(is_there(there, positions[begin]))
        begin += 1
    return begin


@kernel
def search(queries, layout, entries, bounds, guard, dense):
    """Find the values near each of the *queries* (at most 2**30): packed ``query << 33 | rank << 3 | distance``.

    The values of one query are not sorted. Once a probe has found more than *dense* positions in a range of entries,
    later probes of this range are only listed: query, table, flip, and the range; see ``neardup.kernels.dense``.
    """
    distance, flips, lows = np.uint32(layout[0]), layout[6], entries[1]
    cursor, words, probes = np.zeros(3, np.int64), np.empty(AHEAD, np.uint64), np.empty((AHEAD, 5), np.int64)
    near = np.empty(64, np.uint64)
    found = np.empty(max(16, queries.size), np.uint64)
    ranges, later = np.full(RANGES, -1, np.int64), np.empty(0, np.int64)
    number = listed_later = 0
    while cursor[0] < queries.size:
        prepared = _prepare(queries, cursor, layout, entries, guard, words, probes)
        for i in range(prepared):
            query, table, flip = probes[i, 0], probes[i, 1], probes[i, 2]
            begin, end = probes[i, 3], probes[i, 4]
            own = np.int64(table << POSITION_BITS | begin)
            slot = own % RANGES
            if end - begin > FEW and ranges[slot] == own:
                later = room_for(later, listed_later + probes.shape[1])
                for column in range(probes.shape[1]):
                    later[listed_later + column] = probes[i, column]
                listed_later += probes.shape[1]
                continue
            place = _next_near(lows[table], begin, end, np.uint32(words[i] & _LOW), distance)
            if place == end:
                continue
            near, matches = _collect(words[i], flips[flip], place, end, table, layout, entries, guard, near, _NONE)
            if matches > FEW and _positions(near[:matches], bounds, guard) > dense:
                ranges[slot] = own
            found = room_for(found, number + matches)
            for match in near[:matches]:
                found[number] = np.uint64(query) << _RIGHT | match
                number += 1
    return returned(found[:number]), returned(later[:listed_later].reshape(-1, probes.shape[1]))


@njit
def _positions(near, bounds, guard):
    """Count the positions of values."""
    number = 0
    for match in near:
        begin, end = positions_of(np.int64(match >> _DISTANCE), bounds, guard)
        number += end - begin
    return number


@kernel
def listed(found, most, there, lists, guard):
    """Return *found* pairs with positions instead of ranks: ``query << 33 | position << 3 | distance``.

    Of the positions of equal values, the first *most* existing ones count; *there* (bool[positions]) marks them, and if
    it is empty, all exist.
    """
    positions, bounds = lists
    pairs = np.empty(found.size, np.uint64)
    number = 0
    query, remaining = _ALL, np.int64(0)  # as the values of a query are different, so are their positions
    for pair in found:
        if query != pair >> _RIGHT:
            query, remaining = pair >> _RIGHT, positions.size
        rank = np.int64((pair >> _DISTANCE) & _POSITION_MASK)
        begin, end = positions_of(rank, bounds, guard)
        remaining -= end - begin
        if remaining < 0 or end > positions.size:
            refuse(guard, BOUNDS, FIRST, rank)
            break
        end = last_of(begin, end, most, positions, there, guard)
        pairs = room_for(pairs, number + min(most, end - begin))
        for place in range(begin, end):
            if np.int64(positions[place]) >= positions.size:
                refuse(guard, POSITIONS, FIRST, place)
            elif is_there(there, positions[place]):
                pairs[number] = pair & ~(_POSITION_MASK << _DISTANCE) | np.uint64(positions[place]) << _DISTANCE
                number += 1
    return returned(pairs[:number])


@kernel
def tally(found, bounds, guard, counts):
    """Add the number of positions of the found ranks to *counts* (int64, one entry per query)."""
    for pair in found:
        begin, end = positions_of(np.int64((pair >> _DISTANCE) & _POSITION_MASK), bounds, guard)
        counts[np.int64(pair >> _RIGHT)] += end - begin


@kernel
def join(itself, layout, entries, lists, other_entries, other_lists):
    """Find the values near those of other tables of the same design: packed pairs (position, other, distance).

    The other tables are read in their own order, so that probes go from bucket to bucket. With *itself*, both are the
    same tables: each pair is found once, with the smaller position on the left, and no value is paired with itself.
    """
    distance, rotations, masks, _, _, leads, flips, flip_bounds = layout
    bucket_bits, lows, highs, starts = entries
    other_bits, other_lows, other_highs, other_starts = other_entries
    (positions, bounds), (other_positions, other_bounds) = lists, other_lists
    to_bucket = np.uint64(64 - other_bits)
    near = np.empty(64, np.uint64)
    found = np.empty(64, np.uint64)
    number = 0
    for table in range(flip_bounds.size - 1):
        low_row, high_row, start_row, lead = lows[table], highs[table], starts[table], leads[table]
        other_low_row, other_high_row, other_start_row = other_lows[table], other_highs[table], other_starts[table]
        table_flips = flips[flip_bounds[table] : flip_bounds[table + 1]]
        bucket = 0
        for entry in range(other_high_row.shape[0]):
            while other_start_row[bucket + 1] <= entry:
                bucket += 1
            query = np.uint64(bucket) << to_bucket | rest_of(other_low_row, other_high_row, entry)
            low = np.uint32(query & _LOW)
            matches = _NONE
            for flip in table_flips:
                begin, end = _range(query ^ flip, lead, bucket_bits, low_row, high_row, start_row, None, table)
                if itself:
                    begin = max(begin, entry + 1)
                place = _next_near(low_row, begin, end, low, np.uint32(distance))
                if place < end:
                    near, matches = _collect(query, flip, place, end, table, layout, entries, None, near, matches)
            if matches == 0:
                continue
            value = restored(query, rotations[table], masks[table])
            rank = rank_of(value, other_lows[0], other_highs[0], other_starts[0], to_bucket, None)
            other_begin, other_end = positions_of(rank, other_bounds, None)
            for match in near[:matches]:
                begin, end = positions_of(np.int64(match >> _DISTANCE), bounds, None)
                found = room_for(found, number + (end - begin) * (other_end - other_begin))
                for place in range(begin, end):
                    for other_place in range(other_begin, other_end):
                        left, right = np.uint64(positions[place]), np.uint64(other_positions[other_place])
                        if itself and left > right:
                            left, right = right, left
                        found[number] = left << _RIGHT | right << _DISTANCE | match & _DISTANCE_MASK
                        number += 1
    if itself:
        for rank in range(bounds.size - 1):
            begin, end = positions_of(rank, bounds, None)
            found = room_for(found, number + (end - begin) * (end - begin - 1) // 2)
            for place in range(begin, end):
                for later in range(place + 1, end):
                    found[number] = np.uint64(positions[place]) << _RIGHT | np.uint64(positions[later]) << _DISTANCE
                    number += 1
    return returned(found[:number])
