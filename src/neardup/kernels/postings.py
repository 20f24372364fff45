"""Which documents have a key: sorted lists that never change, and chains that grow.

*Keys.* ``keys`` is uint64[n, K]. A key belongs to its column, unless all are *pooled*: then row *d* stands for the set
of its keys, and one that repeats the row's first key adds nothing.

*Room.* Of the documents that share a key the first *room* are listed, in the order of their numbers. Whoever meets a
key with more than that is told so by a count of *oversized* keys: the work for one key is bounded, whatever is put in.

*Sorted lists.* Row *c* of ``entries`` (uint64[C, m], ascending) holds the keys of column *c* (of all columns, where
they are pooled and C is 1), their low *document_bits* replaced by the document's number. ``starts[c, p]`` up to
``starts[c, p + 1]`` are those that begin with the bits *p*.

*Chains.* Keys of a column that are equal in some mixed bits are on one chain, the oldest first, from ``heads[bits]``
on by ``following`` up to ``tails[bits]``. A node has ``node_keys`` (mixed with its column) and ``node_documents``.
"""

import numpy as np

from neardup.kernels.blocks import INTACT, damaged
from neardup.kernels.compile import fetch_ahead, kernel, njit

_FEW = 16  # entries of a list that are looked at all
_AHEAD = 16  # rows whose memory is on its way

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_COLUMN = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX = np.uint64(0xD6E8_FEB8_6659_FD93)
_HALF = np.uint64(32)


@njit(nogil=True)
def _repeats(keys, row, column, pooled):
    """Say whether a pooled key stands in the row already."""
    return pooled and column > 0 and keys[row, column] == keys[row, 0]


@njit(nogil=True)
def _is_new(seen, row, document):
    """Note a document in a table of a power of two places, and say whether this row has not met it yet.

    A place that another row filled is free.
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


@njit(nogil=True)
def _table(most):
    """Make a table for ``_is_new`` that holds so many documents of a row with room to spare."""
    size = 64
    while size < 2 * most:
        size *= 2
    return np.zeros(size, np.uint64)


@njit(nogil=True)
def _appended(found, number, document):
    """Put a document behind the *number* that were found, in a larger array if need be."""
    if number == found.size:
        larger = np.empty(2 * found.size, found.dtype)
        for place in range(number):
            larger[place] = found[place]
        found = larger
    found[number] = document
    return found


@kernel
def pack(keys, documents, document_bits, packed):
    """Replace the low bits of each key (uint64[n]) by the number of its document."""
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    for i in range(keys.size):
        packed[i] = (keys[i] & above) | np.uint64(documents[i])


@kernel
def repack(packed, old_bits, renumbered, document_bits, out):
    """Give entries of one list the numbers of another; those renumbered to less than 0 are left out.

    *document_bits* is *old_bits* or more. Returns how many there are.
    """
    below = (_ONE << np.uint64(old_bits)) - _ONE
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    number = 0
    for entry in packed:
        document = renumbered[entry & below]
        if document >= 0:
            out[number] = (entry & above) | np.uint64(document)
            number += 1
    return number


@kernel
def prefixes(entries, bits, starts):
    """Tell where the entries of each prefix of so many bits begin, for one sorted list."""
    shift = np.uint64(64 - bits)
    following = 0
    for i in range(entries.size):
        prefix = np.int64(entries[i] >> shift)
        while following <= prefix:
            starts[following] = i
            following += 1
    starts[following:] = entries.size


@njit(nogil=True)
def bits_of(size):
    """Give the binary logarithm of a power of two."""
    bits = 0
    while size > 1:
        size >>= 1
        bits += 1
    return bits


@njit(nogil=True, forceinline=True)
def begin_of(entries, low, high, key, guard, entries_begin):
    """Find the first of ``entries[low:high]`` that is not below *key*; and a damaged block too, or ``INTACT``."""
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


@kernel
def find(keys, asking, pooled, entries, starts, document_bits, alive, room, guard, entries_begin, starts_begin):
    """Find the documents that share a key with each row that is *asking*, in sorted lists.

    *alive* tells which documents are still there; an empty one, that all are. Returns ``(bounds, found, oversized,
    block)``: row *r* has found ``found[bounds[r]:bounds[r + 1]]``, each once, in no order; *block* is the first damaged
    block, or ``INTACT`` if what was found counts.

    The lists of a row are gone through three times, so that the memory that they need is on its way together; where a
    row has but one key, that of later rows is asked for. What is read for that alone needs no verifying.
    """
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    shift = np.uint64(64) - np.uint64(bits_of(starts.shape[1] - 1))
    lists, length, width = entries.shape[0], entries.shape[1], starts.shape[1]
    entries, starts = entries.reshape(-1), starts.reshape(-1)  # a view for each list would cost more than looking it up
    bounds = np.zeros(keys.shape[0] + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(keys.shape[1] * room)
    begins, ends = np.zeros(keys.shape[1], np.int64), np.zeros(keys.shape[1], np.int64)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    oversized = 0
    for row in range(keys.shape[0]):
        columns = keys.shape[1] if asking[row] and length > 0 else 0
        if columns == 1 and row + _AHEAD < keys.shape[0]:
            fetch_ahead(starts, np.int64(keys[row + _AHEAD, 0] >> shift))
            prefix = np.int64(keys[row + _AHEAD // 2, 0] >> shift)
            fetch_ahead(entries, min(np.int64(starts[prefix]), length - 1))
        for column in range(columns):
            line = column if lists > 1 else 0
            fetch_ahead(starts, line * width + np.int64(keys[row, column] >> shift))
        for column in range(columns):
            line = column if lists > 1 else 0
            prefix = line * width + np.int64(keys[row, column] >> shift)
            at = starts_begin + 4 * prefix
            block = damaged(guard, at, at + 8)
            if block != INTACT:
                return bounds, found[:0], oversized, block
            begins[column], ends[column] = starts[prefix], min(np.int64(starts[prefix + 1]), length)
            fetch_ahead(entries, line * length + min(begins[column], length - 1))
            fetch_ahead(entries, line * length + max(0, ends[column] - 1))  # mostly in another line
        for column in range(columns):
            if _repeats(keys, row, column, pooled):
                continue
            first = length * (column if lists > 1 else 0)
            key = keys[row, column] & above
            at = entries_begin + 8 * first
            low, block = begin_of(entries, first + begins[column], first + ends[column], key, guard, entries_begin)
            if block != INTACT:
                return bounds, found[:0], oversized, block
            low -= first
            listed = 0
            while low < ends[column]:
                block = damaged(guard, at + 8 * low, at + 8 * low + 8)
                if block != INTACT:
                    return bounds, found[:0], oversized, block
                if entries[first + low] & above != key:
                    break
                if listed == room:
                    oversized += 1
                    break
                document = np.int64(entries[first + low] & ~above)
                if alive.size == 0 or document >= alive.size or alive[document]:  # one too large is found, and refused
                    listed += 1
                    if _is_new(seen, row, document):
                        found = _appended(found, number, document)
                        number += 1
                low += 1
        bounds[row + 1] = number
    return bounds, found[:number], oversized, INTACT


@njit(nogil=True)
def _mixed(key, column, pooled):
    """Bring the column into a key."""
    return key if pooled else (key ^ (np.uint64(column + 1) * _COLUMN)) * _MIX


@njit(nogil=True)
def _chain(mixed, secret, size):
    """Choose one of a power of two of chains; who does not know the *secret* cannot choose it."""
    return np.int64((mixed * secret) >> _HALF) & (size - 1)


@kernel
def follow(keys, asking, pooled, first, heads, tails, node_keys, node_documents, following, nodes, alive, room, secret):
    """Find the documents that share a key with each row that is *asking*, on chains; then put them there, in turn.

    Row *r* becomes document ``first + r``, so that later rows find it; with a negative *first* nothing is put anywhere.
    The arrays of nodes must have places left for all keys. Whoever is not *alive* leaves the chains. Returns
    ``(bounds, found, oversized, nodes)``, as ``find`` does, and the number of nodes there are then.
    """
    bounds = np.zeros(keys.shape[0] + 1, np.int64)
    found = np.empty(64, np.int32)
    seen = _table(keys.shape[1] * room)
    number = np.int64(0)  # for a plain 0 helpers would be compiled again
    oversized = 0
    for row in range(keys.shape[0]):
        for column in range(keys.shape[1] if asking[row] else 0):
            if _repeats(keys, row, column, pooled):
                continue
            mixed = _mixed(keys[row, column], column, pooled)
            chain = _chain(mixed, secret, heads.size)
            last = np.int64(-1)
            node = heads[chain]
            listed = 0
            while node >= 0:
                document = np.int64(node_documents[node])
                if not alive[document]:
                    node = _left_out(node, last, chain, heads, tails, following)
                    continue
                if node_keys[node] == mixed and (first < 0 or document != first + row):
                    if listed == room:
                        oversized += 1
                        break
                    listed += 1
                    if _is_new(seen, row, document):
                        found = _appended(found, number, document)
                        number += 1
                last = node
                node = following[node]
            if first >= 0:  # oversized or not: others may be removed
                node_keys[nodes] = mixed
                node_documents[nodes] = first + row
                _put_last(nodes, chain, heads, tails, following)
                nodes += 1
        bounds[row + 1] = number
    return bounds, found[:number], oversized, nodes


@njit(nogil=True)
def _put_last(node, chain, heads, tails, following):
    """Put a node at the end of a chain."""
    following[node] = -1
    if heads[chain] < 0:
        heads[chain] = node
    else:
        following[tails[chain]] = node
    tails[chain] = node


@njit(nogil=True)
def _left_out(node, last, chain, heads, tails, following):
    """Take a node out of a chain, behind the *last* one or in front of all; give the next one."""
    after = following[node]
    if last < 0:
        heads[chain] = after
    else:
        following[last] = after
    if after < 0:
        tails[chain] = last
    return after


@kernel
def chain_anew(node_keys, nodes, heads, tails, following, secret):
    """Put all nodes on other chains, in their old order."""
    heads[:] = -1
    for node in range(nodes):
        _put_last(node, _chain(node_keys[node], secret, heads.size), heads, tails, following)
