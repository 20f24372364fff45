"""The documents of keys: sorted lists that never change, and chains that grow.

*Keys.* ``keys`` is uint64[n, K]. A key belongs to its column, unless keys are *position_independent*: then row
*d* is the set of its keys, and a repeat of the row's first key adds nothing.

*Room.* Of the documents that share a key, the first *room* are listed, in the order of their numbers. ``listed[r, c]``
(int32[n, K]) counts the documents that row *r* has listed by the key of column *c*, here and in the lists and chains
that were searched before; it ends at ``room + 1`` if there is another document. Such a key is *oversized*.

*Sorted lists.* Row *c* of ``entries`` (uint64[C, m], ascending) holds the keys of column *c* (of all columns if keys
are position-independent; then C is 1), their low *document_bits* replaced by the document's number. ``starts[c, p]`` up
to ``starts[c, p + 1]`` are those that begin with the bits *p*. In a guarded file (``neardup.kernels.blocks``), each
array begins at the byte that *begins* has at its place.

*Chains* are ``(heads, tails, node_keys, node_documents, following, secret)``. Keys of a column whose mixed bits are
equal are on one chain, the oldest first: from ``heads[bits]`` by ``following`` up to ``tails[bits]``. A node has
``node_keys`` (mixed with its column) and ``node_documents``. The nodes of a document's columns are consecutive.

*Division.* Documents that share an oversized key *x* of column *c* are divided by *y*, their key in column *c + 1*, and
then by *z*, their key in column *c + 2*, and so on down to some *depth*; the first column follows the last one. The
first *whole* documents of *x* in a list or chain are compared one by one. Each later document has a further entry or
node for each level: with the chained key ``((x * 0x9E3779B97F4A7C15) ^ y) * 0xD6E8FEB86659FD93 mod 2**64``, then with
the key chained from this one and *z*, and so on. ``finer[cuts[i]:cuts[i + 1]]``, ascending, are the entries of column
*c* and level *l*, counted from 0, where *i* is ``c * depth + l``.
"""

import numpy as np

from neardup.kernels.ascending import prefix_shift
from neardup.kernels.blocks import INTACT, damaged
from neardup.kernels.compile import fetch_ahead, kernel, njit, returned
from neardup.kernels.sets import places_for

_FEW = 16  # entries of a list that are looked at all
_AHEAD = 16  # rows whose memory is on its way
PASSED = 1 << 12  # runs of removed documents that are remembered

_ONE = np.uint64(1)
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX = np.uint64(0xD6E8_FEB8_6659_FD93)
_HALF = np.uint64(32)


@njit
def _repeats(keys, row, column, position_independent):
    """Return whether a position-independent key is in the row already."""
    return position_independent and column > 0 and keys[row, column] == keys[row, 0]


@njit
def _is_new(seen, row, document):
    """Enter a document in a table whose size is a power of two; return whether it is new for this row.

    Places of other rows count as free.
    """
    mask = seen.size - 1
    stamp = (np.uint64(row + 1) << _HALF) | np.uint64(document)
    place = np.int64((stamp * _MIX) >> _HALF) & mask
    while (seen[place] >> _HALF) == np.uint64(row + 1):
        if seen[place] == stamp:
            return False
        place = (place + 1) & mask
    seen[place] = stamp
    return True


@njit
def _table(most):
    """Make a table for ``_is_new``, with room for more than this number of documents per row."""
    return np.zeros(max(64, places_for(most)), np.uint64)


@njit
def _appended(found, number, document):
    """Append a document to the *number* found ones; return the array, or a larger copy if it was full."""
    if number == found.size:
        larger = np.empty(2 * found.size, found.dtype)
        for place in range(number):
            larger[place] = found[place]
        found = larger
    found[number] = document
    return found


@njit(forceinline=True)
def begin_of(entries, low, high, key, guard, entries_begin):
    """Return the first of ``entries[low:high]`` that is not below *key*, and a damaged block or ``INTACT``."""
    while high - low > _FEW:
        middle = (low + high) >> 1
        at = entries_begin + 8 * middle
        block = damaged(guard, at, at + 8)
        if block != INTACT:
            return low, block
        if entries[middle] < key:
            low = middle + 1
        else:
            high = middle
    smaller = 0  # of few, all are counted: that takes no branch an entry
    for place in range(low, high):
        smaller += np.int64(entries[place] < key)
    return low + smaller, damaged(guard, entries_begin + 8 * low, entries_begin + 8 * high)


@njit
def _behind_removed(entries, place, end, key, above, alive, passed, guard, entries_begin):
    """Return the place after the removed documents of a key that begin at *place*, and a damaged block or ``INTACT``.

    *passed* (int64[n, 2], zeros at first) remembers where long runs of them begin and end: they stay removed.
    """
    last = place
    while last < end:
        known = last % passed.shape[0]
        if passed[known, 0] == last and passed[known, 1] > last:
            last = passed[known, 1]
            continue
        block = damaged(guard, entries_begin + 8 * last, entries_begin + 8 * last + 8)
        if block != INTACT:
            return last, block
        document = np.int64(entries[last] & ~above)
        if entries[last] & above != key or document >= alive.size or alive[document]:
            break
        last += 1
    known = place % passed.shape[0]
    if last - place > max(_FEW, passed[known, 1] - passed[known, 0]):
        passed[known, 0], passed[known, 1] = place, last
    return last, INTACT


@kernel
def find(keys, asking, position_independent, lists, document_bits, alive, passed, room, listed, guard, begins):
    """Find the documents that share a key with each row that is *asking*, in sorted *lists*, ``(entries, starts)``.

    *alive* marks existing documents; if it is empty, all exist. *passed* is that of ``_behind_removed``. Returns
    ``(bounds, found, oversized, block)``: row *r* has found ``found[bounds[r]:bounds[r + 1]]``, each once and not
    sorted. *block* is the first damaged block, which makes the result invalid, or ``INTACT``.

    Three passes over the lists of a row prefetch the memory that they need; for rows of one key, also that of later
    rows. Prefetched blocks need not be verified.
    """
    entries, starts = lists[0].reshape(-1), lists[1].reshape(-1)  # a view for each list would cost more than a lookup
    (number_of_lists, length), width = lists[0].shape, lists[1].shape[1]
    entries_begin, starts_begin = begins[0], begins[1]
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    shift = prefix_shift(width - 1)
    bounds = np.zeros(keys.shape[0] + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(keys.shape[1] * room)
    lows, ends = np.zeros(keys.shape[1], np.int64), np.zeros(keys.shape[1], np.int64)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    oversized = 0
    for row in range(keys.shape[0]):
        columns = keys.shape[1] if asking[row] and length > 0 else 0
        if columns == 1 and row + _AHEAD < keys.shape[0]:
            fetch_ahead(starts, np.int64(keys[row + _AHEAD, 0] >> shift))
            prefix = np.int64(keys[row + _AHEAD // 2, 0] >> shift)
            fetch_ahead(entries, min(np.int64(starts[prefix]), length - 1))
        for column in range(columns):
            line = column if number_of_lists > 1 else 0
            fetch_ahead(starts, line * width + np.int64(keys[row, column] >> shift))
        for column in range(columns):
            line = column if number_of_lists > 1 else 0
            prefix = line * width + np.int64(keys[row, column] >> shift)
            at = starts_begin + 4 * prefix
            block = damaged(guard, at, at + 8)
            if block != INTACT:
                return returned(bounds), returned(found[:0]), oversized, block
            lows[column], ends[column] = starts[prefix], min(np.int64(starts[prefix + 1]), length)
            fetch_ahead(entries, line * length + min(lows[column], length - 1))
            fetch_ahead(entries, line * length + max(0, ends[column] - 1))  # mostly in another line
        for column in range(columns):
            if listed[row, column] > room or _repeats(keys, row, column, position_independent):
                continue
            first = length * (column if number_of_lists > 1 else 0)
            key = keys[row, column] & above
            at = entries_begin + 8 * first
            low, block = begin_of(entries, first + lows[column], first + ends[column], key, guard, entries_begin)
            if block != INTACT:
                return returned(bounds), returned(found[:0]), oversized, block
            low -= first
            while low < ends[column]:
                block = damaged(guard, at + 8 * low, at + 8 * low + 8)
                if block != INTACT:
                    return returned(bounds), returned(found[:0]), oversized, block
                if entries[first + low] & above != key:
                    break
                document = np.int64(entries[first + low] & ~above)
                if alive.size == 0 or document >= alive.size or alive[document]:  # one too large is found, and refused
                    listed[row, column] += 1
                    if listed[row, column] > room:
                        oversized += 1
                        break
                    if _is_new(seen, row, document):
                        found = _appended(found, number, document)
                        number += 1
                    low += 1
                else:
                    begin, end = first + low, first + ends[column]
                    low, block = _behind_removed(entries, begin, end, key, above, alive, passed, guard, entries_begin)
                    if block != INTACT:
                        return returned(bounds), returned(found[:0]), oversized, block
                    low -= first
        bounds[row + 1] = number
    return returned(bounds), returned(found[:number]), oversized, INTACT


@njit
def _chained(key, further):
    """Chain a key with one of the next column."""
    return ((key * _SPREAD) ^ further) * _MIX


@kernel
def find_divided(keys, rows, columns, lists, cuts, document_bits, alive, passed, whole, room, listed, guard, begins):
    """Find the documents in the divisions of oversized keys, in sorted *lists*, ``(entries, starts, finer)``.

    The keys are those of ``rows[i]``, ascending, in ``columns[i]``. ``listed[i, l]`` (int32[m, depth]) counts what was
    listed in the division of level *l*; it ends at *room*. Returns ``(bounds, found, block)``: key *i* has found
    ``found[bounds[i]:bounds[i + 1]]``, without the documents that an earlier key of its row has found.
    """
    entries, starts, finer = lists[0].reshape(-1), lists[1].reshape(-1), lists[2]
    length, width, depth = lists[0].shape[1], lists[1].shape[1], listed.shape[1]
    entries_begin, starts_begin, finer_begin = begins[0], begins[1], begins[2]
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    shift = prefix_shift(width - 1)
    bounds = np.zeros(rows.size + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(keys.shape[1] * room * depth)
    wanted = np.empty(depth + 1, np.uint64)
    lows, ends = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    for asked in range(rows.size):
        bounds[asked + 1] = number
        if length == 0 or listed[asked].min() >= room:
            continue
        for step in range(depth + 1):
            column = (columns[asked] + step) % keys.shape[1]
            wanted[step] = keys[rows[asked], column] & above
            prefix, first = column * width + np.int64(wanted[step] >> shift), column * length
            block = damaged(guard, starts_begin + 4 * prefix, starts_begin + 4 * prefix + 8)
            if block == INTACT:
                low, ends[step] = first + np.int64(starts[prefix]), first + min(np.int64(starts[prefix + 1]), length)
                lows[step], block = begin_of(entries, low, ends[step], wanted[step], guard, entries_begin)
            if block != INTACT:
                return returned(bounds), returned(found[:0]), block
        block = damaged(guard, entries_begin + 8 * lows[1], entries_begin + 8 * min(lows[1] + 1, ends[1]))
        if block != INTACT:
            return returned(bounds), returned(found[:0]), block
        if lows[1] >= ends[1] or entries[lows[1]] & above != wanted[1]:
            continue
        place, last = lows[0], min(lows[0] + whole, ends[0])
        while place < last:
            block = damaged(guard, entries_begin + 8 * place, entries_begin + 8 * place + 8)
            if block != INTACT:
                return returned(bounds), returned(found[:0]), block
            if entries[place] & above != wanted[0]:
                break
            document = np.int64(entries[place] & ~above)
            there = alive.size == 0 or document >= alive.size or alive[document]
            for level in range(depth):
                if not there:
                    break
                entry = wanted[level + 1] | np.uint64(document)
                low, end = lows[level + 1], ends[level + 1]
                low, block = begin_of(entries, low, end, entry, guard, entries_begin)
                if block == INTACT and low < end:
                    block = damaged(guard, entries_begin + 8 * low, entries_begin + 8 * low + 8)
                if block != INTACT:
                    return returned(bounds), returned(found[:0]), block
                lows[level + 1] = low
                there = low < end and entries[low] == entry
                if there and listed[asked, level] < room:
                    listed[asked, level] += 1
                    if _is_new(seen, rows[asked], document):
                        found = _appended(found, number, document)
                        number += 1
            place += 1
        chained = wanted[0]
        for level in range(depth if place == lows[0] + whole else 0):
            chained = _chained(chained, wanted[level + 1])
            key, part = chained & above, columns[asked] * depth + level
            end = cuts[part + 1]
            low, block = begin_of(finer, cuts[part], end, key, guard, finer_begin)
            while block == INTACT and low < end and listed[asked, level] < room:
                block = damaged(guard, finer_begin + 8 * low, finer_begin + 8 * low + 8)
                if block != INTACT or finer[low] & above != key:
                    break
                document = np.int64(finer[low] & ~above)
                if alive.size == 0 or document >= alive.size or alive[document]:
                    listed[asked, level] += 1
                    if _is_new(seen, rows[asked], document):
                        found = _appended(found, number, document)
                        number += 1
                    low += 1
                else:
                    low, block = _behind_removed(finer, low, end, key, above, alive, passed, guard, finer_begin)
            if block != INTACT:
                return returned(bounds), returned(found[:0]), block
        bounds[asked + 1] = number
    return returned(bounds), returned(found[:number]), INTACT


@njit
def _mixed(key, column, position_independent):
    """Mix the column into a key."""
    return key if position_independent else (key ^ (np.uint64(column + 1) * _SPREAD)) * _MIX


@njit
def _chain(mixed, secret, size):
    """Return one of a power of two of chains; without the *secret* it cannot be predicted."""
    return np.int64((mixed * secret) >> _HALF) & (size - 1)


@kernel
def follow(keys, asking, position_independent, first, chains, nodes, alive, whole, depth, room, listed, ends):
    """Find the documents that share a key with each *asking* row on chains, and add each row to the chains.

    Row *r* becomes document ``first + r``, so that later rows find it; with a negative *first*, rows are not added. The
    arrays of nodes must have free places for all keys, and the same number for each level of *depth*. Documents that
    are not *alive* are removed from the chains. ``ends[r]`` (int64[n]) becomes the number of nodes before row *r* was
    added. Returns ``(bounds, found, oversized, nodes)``: the first three as in ``find``, and the new number of nodes.
    """
    heads, tails, node_keys, node_documents, following, secret = chains
    bounds = np.zeros(keys.shape[0] + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(keys.shape[1] * room)
    divided = np.zeros(keys.shape[1], np.bool_)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    oversized = 0
    for row in range(keys.shape[0]):
        ends[row] = nodes
        divides = False
        for column in range(keys.shape[1] if asking[row] else 0):
            if _repeats(keys, row, column, position_independent):
                continue
            if first < 0 and listed[row, column] > room:
                continue
            mixed = _mixed(keys[row, column], column, position_independent)
            chain = _chain(mixed, secret, heads.size)
            last = np.int64(-1)
            node = heads[chain]
            here = 0
            while node >= 0:
                document = np.int64(node_documents[node])
                if not alive[document]:
                    node = _left_out(node, last, chain, heads, tails, following)
                    continue
                if node_keys[node] == mixed and (first < 0 or document != first + row):
                    here += 1
                    if listed[row, column] <= room:
                        listed[row, column] += 1
                        if listed[row, column] > room:
                            oversized += 1
                        elif _is_new(seen, row, document):
                            found = _appended(found, number, document)
                            number += 1
                    if listed[row, column] > room and (first < 0 or here >= whole):
                        break
                last = node
                node = following[node]
            divided[column] = here >= whole
            divides |= divided[column]
            if first >= 0:  # oversized or not: others may be removed
                _put_last(nodes, mixed, first + row, chain, heads, tails, node_keys, node_documents, following)
                nodes += 1
        for column in range(keys.shape[1] if divides and first >= 0 else 0):
            chained = keys[row, column]
            for level in range(1, depth + 1 if divided[column] else 0):
                chained = _chained(chained, keys[row, (column + level) % keys.shape[1]])
                mixed = _mixed(chained, level * keys.shape[1] + column, False)
                chain = _chain(mixed, secret, heads.size)
                _put_last(nodes, mixed, first + row, chain, heads, tails, node_keys, node_documents, following)
                nodes += 1
        bounds[row + 1] = number
    return returned(bounds), returned(found[:number]), oversized, nodes


@kernel
def follow_divided(keys, rows, columns, chains, alive, whole, room, listed, ends):
    """Find the documents in the divisions of oversized keys on chains; as ``find_divided``, which searches lists.

    Row *r* only finds the first ``ends[r]`` nodes, which existed when ``follow`` searched its keys.
    """
    heads, tails, node_keys, node_documents, following, secret = chains
    depth, number_of_columns = listed.shape[1], keys.shape[1]
    bounds = np.zeros(rows.size + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(number_of_columns * room * depth)
    wanted = np.empty(depth + 1, np.uint64)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    for asked in range(rows.size):
        bounds[asked + 1] = number
        if listed[asked].min() >= room:
            continue
        row, own = rows[asked], columns[asked]
        for step in range(depth + 1):
            column = (own + step) % number_of_columns
            wanted[step] = _mixed(keys[row, column], column, False)
        chain = _chain(wanted[0], secret, heads.size)
        last, node = np.int64(-1), np.int64(heads[chain])
        here = 0
        while 0 <= node < ends[row]:
            document = np.int64(node_documents[node])
            if not alive[document]:
                node = _left_out(node, last, chain, heads, tails, following)
                continue
            if node_keys[node] == wanted[0]:
                if here == whole:
                    break
                here += 1
                for level in range(depth):
                    if node_keys[node - own + (own + level + 1) % number_of_columns] != wanted[level + 1]:
                        break
                    if listed[asked, level] < room:
                        listed[asked, level] += 1
                        if _is_new(seen, row, document):
                            found = _appended(found, number, document)
                            number += 1
            last = node
            node = following[node]
        behind = node  # those whose nodes come later were not looked at
        chained = keys[row, own]
        for level in range(depth if 0 <= behind < ends[row] else 0):
            chained = _chained(chained, keys[row, (own + level + 1) % number_of_columns])
            mixed = _mixed(chained, (level + 1) * number_of_columns + own, False)
            chain = _chain(mixed, secret, heads.size)
            last, node = np.int64(-1), np.int64(heads[chain])
            while 0 <= node < ends[row] and listed[asked, level] < room:
                document = np.int64(node_documents[node])
                if not alive[document]:
                    node = _left_out(node, last, chain, heads, tails, following)
                    continue
                if node_keys[node] == mixed and node > behind:
                    listed[asked, level] += 1
                    if _is_new(seen, row, document):
                        found = _appended(found, number, document)
                        number += 1
                last = node
                node = following[node]
        bounds[asked + 1] = number
    return returned(bounds), returned(found[:number])


@njit
def _put_last(node, mixed, document, chain, heads, tails, node_keys, node_documents, following):
    """Append a node of a key and a document to a chain."""
    node_keys[node] = mixed
    node_documents[node] = document
    following[node] = -1
    if heads[chain] < 0:
        heads[chain] = node
    else:
        following[tails[chain]] = node
    tails[chain] = node


@njit
def _left_out(node, last, chain, heads, tails, following):
    """Remove a node from a chain, after the *last* one or at its front; return the next one."""
    after = following[node]
    if last < 0:
        heads[chain] = after
    else:
        following[last] = after
    if after < 0:
        tails[chain] = last
    return after


@kernel
def chain_anew(chains, nodes):
    """Distribute all nodes to new chains, in their old order."""
    heads, tails, node_keys, node_documents, following, secret = chains
    heads[:] = -1
    for node in range(nodes):
        mixed, document = node_keys[node], node_documents[node]
        chain = _chain(mixed, secret, heads.size)
        _put_last(node, mixed, document, chain, heads, tails, node_keys, node_documents, following)
