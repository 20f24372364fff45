"""Folded text to token hashes.

The hash of a token, public: with ``h = seed``, for each 8 bytes of the token (little-endian, the last
ones padded with zero bytes; a token whose length divides by 8 has one more word, of zero)
``h = (h ^ word) * MULTIPLIER mod 2**64``, then ``h ^= h >> 32``. A token never holds a zero byte.

Keyed: SipHash-1-3 of the token's bytes under the 128-bit key (Aumasson and Bernstein 2012). It takes blocks
of 8 bytes; the last one is padded with zero bytes and ends in the token's length mod 256.

Tokens are found first and then hashed in groups: all as if they were shorter than 8 bytes, without a
branch, because the lengths of words cannot be predicted; then the longer tokens again. So the keyed
hashes of several tokens are computed in parallel in vector registers.
"""

import numpy as np

from neardup.kernels.compile import filled_at, kernel, last_word, njit, ones, trailing_zeros, word_at

MULTIPLIER = 0x9E3779B97F4A7C15
USUAL = 16  # words in 64 bytes: seldom more
SPACE = 0x20  # the letter between two words
GROUP = 256  # tokens; what is noted of them stays in the processor's first-level cache

_MULTIPLIER = np.uint64(MULTIPLIER)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)


@njit
def zero_bytes(word):
    """Set the high bit of the lowest zero byte (and perhaps of higher ones)."""
    return (word - _LOW_BITS) & ~word & _HIGH_BITS


@njit
def _below(zeros):
    """Return a mask of the bits below the high bit of the lowest zero byte."""
    return (zeros & (_ZERO - zeros)) - _ONE


@njit
def _step(state, word):
    state = (state ^ word) * _MULTIPLIER
    return state ^ (state >> np.uint64(32))


@njit
def _hash_from(folded, position, state):
    """Update the public hash with the rest of a zero-ended token, from *position* on."""
    word = word_at(folded, position)
    zeros = zero_bytes(word)
    while zeros == 0:
        state = _step(state, word)
        position += 8
        word = word_at(folded, position)
        zeros = zero_bytes(word)
    return _step(state, word & _below(zeros))


@njit
def _hash_public(folded, tokens, seed):
    """Replace, in place, the positions of zero-ended tokens by their public hashes."""
    places = np.empty(GROUP, np.int64)
    rests = np.empty(GROUP, np.int64)
    for begin in range(0, tokens.size, GROUP):
        group = tokens[begin : begin + GROUP]
        longer = 0
        for i in range(group.size):
            position = np.int64(group[i])
            word = word_at(folded, position)
            zeros = zero_bytes(word)
            places[longer], rests[longer] = i, position + 8
            longer += np.int64(zeros == 0)
            group[i] = _step(seed, word & _below(zeros))  # where there is no zero byte, the whole word
        for i in range(longer):
            group[places[i]] = _hash_from(folded, rests[i], group[places[i]])


@njit
def _turn(value, left):
    return (value << np.uint64(left)) | (value >> np.uint64(64 - left))


@njit
def _sip_round(v0, v1, v2, v3):
    v0 += v1
    v2 += v3
    v1 = _turn(v1, 13) ^ v0
    v3 = _turn(v3, 16) ^ v2
    v0 = _turn(v0, 32)
    v2 += v1
    v0 += v3
    v1 = _turn(v1, 17) ^ v2
    v3 = _turn(v3, 21) ^ v0
    v2 = _turn(v2, 32)
    return v0, v1, v2, v3


@njit
def _sip_start(key0, key1):
    return (
        key0 ^ np.uint64(0x736F6D6570736575),
        key1 ^ np.uint64(0x646F72616E646F6D),
        key0 ^ np.uint64(0x6C7967656E657261),
        key1 ^ np.uint64(0x7465646279746573),
    )


@njit
def _sip_word(v0, v1, v2, v3, word):
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3 ^ word)
    return v0 ^ word, v1, v2, v3


@njit
def _sip_end(v0, v1, v2, v3):
    v0, v1, v2, v3 = _sip_round(v0, v1, v2 ^ np.uint64(0xFF), v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@njit
def _last_block(word, zeros, before):
    """Make the last block of a token that ends within *word*, after *before* earlier bytes."""
    length = np.uint64(before) + (trailing_zeros(zeros) >> np.uint64(3))
    return (word & _below(zeros)) | (length << np.uint64(56))


@njit
def _hash_any(folded, position, key0, key1):
    """SipHash-1-3 of the zero-ended token at *position*, of any length."""
    v0, v1, v2, v3 = _sip_start(key0, key1)
    begin = position
    word = word_at(folded, position)
    zeros = zero_bytes(word)
    while zeros == 0:
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, word)
        position += 8
        word = word_at(folded, position)
        zeros = zero_bytes(word)
    v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, _last_block(word, zeros, position - begin))
    return _sip_end(v0, v1, v2, v3)


@njit
def _hash_ones(blocks, key0, key1):
    """Replace, in place, each block by the hash of the token that consists of it."""
    for i in range(blocks.size):
        v0, v1, v2, v3 = _sip_start(key0, key1)
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, blocks[i])
        blocks[i] = _sip_end(v0, v1, v2, v3)


@njit
def _hash_twos(firsts, lasts, key0, key1):
    """Replace, in place, the first of two blocks by the token's hash."""
    for i in range(firsts.size):
        v0, v1, v2, v3 = _sip_start(key0, key1)
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, firsts[i])
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, lasts[i])
        firsts[i] = _sip_end(v0, v1, v2, v3)


@kernel
def _hash_keyed(folded, tokens, key0, key1):
    """Replace, in place, the positions of zero-ended tokens by their keyed hashes."""
    places = np.empty(GROUP, np.int64)
    firsts = np.empty(GROUP, np.uint64)
    lasts = np.empty(GROUP, np.uint64)
    for begin in range(0, tokens.size, GROUP):
        group = tokens[begin : begin + GROUP]
        longer = 0
        for i in range(group.size):
            word = word_at(folded, np.int64(group[i]))
            zeros = zero_bytes(word)
            places[longer], firsts[longer], lasts[longer] = i, word, group[i]
            longer += np.int64(zeros == 0)
            group[i] = _last_block(word, zeros, 0)
        _hash_ones(group, key0, key1)
        twos = 0
        for i in range(longer):
            position = np.int64(lasts[i])
            word = word_at(folded, position + 8)
            zeros = zero_bytes(word)
            if zeros == 0:  # 16 bytes or more are rare
                group[places[i]] = _hash_any(folded, position, key0, key1)
            else:
                places[twos], firsts[twos], lasts[twos] = places[i], firsts[i], _last_block(word, zeros, 8)
                twos += 1
        _hash_twos(firsts[:twos], lasts[:twos], key0, key1)
        for i in range(twos):
            group[places[i]] = firsts[i]


@njit
def sip_bytes(data, key0, key1):
    """SipHash-1-3 of a whole array of bytes, zero bytes included."""
    v0, v1, v2, v3 = _sip_start(key0, key1)
    full = data.size & ~7
    for position in range(0, full, 8):
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, word_at(data, position))
    last = last_word(data, full, data.size) | np.uint64(data.size) << np.uint64(56)
    v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, last)
    return _sip_end(v0, v1, v2, v3)


@njit
def sip_words(words, key0, key1):
    """SipHash-1-3 of 128 bits, the low half first, of whole words (uint64), each the lowest byte first."""
    v0, v1, v2, v3 = _sip_start(key0, key1)
    v1 ^= np.uint64(0xEE)
    for word in words:
        v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, word)
    v0, v1, v2, v3 = _sip_word(v0, v1, v2, v3, np.uint64(words.size) << np.uint64(59))  # the bytes, modulo 256
    v0, v1, v2, v3 = _sip_round(v0, v1, v2 ^ np.uint64(0xEE), v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    low = v0 ^ v1 ^ v2 ^ v3
    v0, v1, v2, v3 = _sip_round(v0, v1 ^ np.uint64(0xDD), v2, v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return low, v0 ^ v1 ^ v2 ^ v3


@kernel
def _find_words(folded, bounds, seed, keyed, tokens, offsets, starts):
    """As ``words``, but if *keyed*, return the positions of the words instead of hashes."""
    count = 0
    for document in range(bounds.size - 1):
        offsets[document] = count
        base = bounds[document]
        end = bounds[document + 1]
        before = _ZERO
        while base < end:
            mask = filled_at(folded, base)
            if end - base < 64:
                mask &= (_ONE << np.uint64(end - base)) - _ONE
            begins = mask & ~((mask << _ONE) | before)
            before = mask >> np.uint64(63)
            found = np.int64(ones(begins))
            for step in range(USUAL):  # at least this many, as a fixed number of steps is always predicted
                tokens[count + step] = base + np.int64(trailing_zeros(begins))
                begins &= begins - _ONE
            for step in range(USUAL, found):
                tokens[count + step] = base + np.int64(trailing_zeros(begins))
                begins &= begins - _ONE
            count += found
            base += 64
    offsets[bounds.size - 1] = count
    if starts.size > 0:
        for i in range(count):
            starts[i] = tokens[i]
    if not keyed:
        _hash_public(folded, tokens[:count], seed)
    return count


def words(folded, bounds, key, keyed, tokens, offsets, starts) -> int:
    """Hash every word of a folded batch.

    *folded* and *bounds* are the results of ``fold``; *key* is two uint64 (public: the first is the
    seed). The hashes are written to ``tokens[offsets[d]:offsets[d + 1]]`` in order, the positions of the words to
    *starts* unless it is empty. Returns their number, at most half of the bytes; *tokens* must have room for ``USUAL``
    more.
    """
    count: int = _find_words(folded, bounds, key[0], keyed, tokens, offsets, starts)
    if keyed:  # a kernel of its own: few need it, and it takes a second to compile
        _hash_keyed(folded, tokens[:count], key[0], key[1])
    return count


@njit
def _letter_block(letter, width, seed, keyed):
    """Hash the token of the *width* < 8 bytes packed in *letter*; if keyed, only make its block."""
    return letter | (np.uint64(width) << np.uint64(56)) if keyed else _step(seed, letter)


@kernel
def letters(folded, bounds, key, keyed, tokens, offsets):
    """Hash every letter of a folded batch, with one space between two words.

    A letter is a code point of a word. Otherwise as ``words``; at most one token per byte.
    """
    count = 0
    for document in range(bounds.size - 1):
        offsets[document] = count
        source = folded[bounds[document] : bounds[document + 1]]
        position = 0
        between = False
        while position < source.size:
            letter = np.uint64(source[position])
            if letter == 0:
                between = count > offsets[document]
                position += 1
                continue
            if between:
                tokens[count] = _letter_block(np.uint64(SPACE), 1, key[0], keyed)
                count += 1
                between = False
            width = 1
            while source[position + width] & 0xC0 == 0x80:
                letter |= np.uint64(source[position + width]) << np.uint64(8 * width)
                width += 1
            tokens[count] = _letter_block(letter, width, key[0], keyed)
            count += 1
            position += width
    offsets[bounds.size - 1] = count
    if keyed:
        _hash_ones(tokens[:count], key[0], key[1])
    return count
