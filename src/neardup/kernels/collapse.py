"""Hits in rank order; a hit is removed if it matches a better-ranked hit that stays.

Rules are applied in turn. Most rules compare values: ``codes[rule, hit]`` is an integer for each value, negative for a
missing value. The rule with the number ``near`` compares rows. Under each rule, a hit *joins* the best-ranked matching
hit that stays, and becomes a member of its group. It is removed by the first rule whose group already has
``keeps[rule]`` hits that stay; otherwise it stays, in its groups or as the first hit of new ones.

On a page, two hits are in one group if one joined the other under some rule; a removed hit is in the group of the hit
that it matches. Each function fills ``table`` (int64[6, n]), one entry per hit, and returns the numbers of hits that
stay and of groups on the page. The rows of the table:

``OF``       the hit that a removed hit matches, or -1 for a hit that stays
``BY``       the number of the rule that removes it, or -1
``HEADS``    the first hit of its group
``RANKS``    the hits that stay, best first, then removed ones, best first
``MEMBERS``  the hits of the best group, best first, then those of the next
``BEGINS``   where each group begins in ``MEMBERS``; entries after the last group have no meaning
"""

import numpy as np

from neardup.kernels.compile import equal_at, kernel, njit, ones
from neardup.kernels.sentences import EMPTY, decided
from neardup.kernels.sets import denominator, empty_table, enter, may_match, part_for, root_of, shared_enough

GIVEN = -1  # instead of a measure of ``neardup.kernels.sets``
ROWS = 6  # of the table
OF, BY, HEADS, RANKS, MEMBERS, BEGINS = range(ROWS)

_EMPTY = np.uint32(EMPTY)
_LANES = 64
_WORDS = 8
_BLOCK = 32
_VALUES, _AGAIN = _WORDS, _WORDS + 1
_FILTER_BITS = np.uint64(511)
_BIT = np.uint64(63)
_WORD = np.uint64(6)
_ONE = np.uint64(1)


def _first(rows, more, terms, others, number, hit, better):  # noqa: ARG001 - as another named_match
    """Name a removed hit for its best-ranked match."""
    return better


def _fold_by(first_match, named_match=_first):
    """Make the function that decides some hits, by functions that compare them under the rule ``near``.

    ``first_match(rows, more, terms, others, number, hit)`` returns the first match of a hit among the *others*, or -1.
    ``named_match(..., hit, better)`` returns the match that a removed hit is named for; *better* is the first.
    """
    first_match, named_match = njit(first_match, forceinline=True), njit(named_match, forceinline=True)

    @njit(forceinline=True)
    def fold(rows, more, terms, present, near, codes, keeps, table, part):
        """Decide the hits of a *part*, as ``by_sets`` takes it; those that are *present* can match.

        Returns the numbers of ``_listed`` after the last part, and zeros before.
        """
        begin, end, groups = part
        of, by = table[OF], table[BY]
        hits, rules = of.size, keeps.size
        begun, sizes, firsts = groups[0], groups[1], groups[2]
        signed, comparable = _begin(present, groups, table, begin, end)
        matched = np.empty(rules, np.int64)
        for hit in range(begin, end):
            of[hit] = by[hit] = -1
            for rule in range(rules):
                better = np.int64(-1)
                if rule != near:
                    if codes[rule, hit] >= 0:
                        better = firsts[rule, codes[rule, hit]]
                elif present[hit]:
                    better = first_match(rows, more, terms, signed, comparable, hit)
                matched[rule] = better
                if better >= 0 and sizes[rule, begun[rule, better]] >= keeps[rule]:
                    if rule == near:
                        better = named_match(rows, more, terms, signed, comparable, hit, better)
                    of[hit], by[hit] = better, rule
                    break
            if of[hit] < 0:
                _stay(hit, matched, near, codes, groups, table)
                if present[hit]:
                    signed[comparable] = hit
                    comparable += 1
        if end < hits:
            return 0, 0
        return _listed(table)

    return fold


@njit
def _all(present, keeps):
    """Return the part that has all hits."""
    groups = np.empty((3, keeps.size, present.size), np.int64)
    return np.int64(0), present.size, groups  # for a plain 0 helpers would be compiled again


@njit
def _begin(present, groups, table, begin, end):
    """Return the hits before *begin* that stay and can be compared, best first, with room for those before *end*."""
    of, heads = table[OF], table[HEADS]
    if begin == 0:
        for rule in range(groups.shape[1]):
            for hit in range(of.size):
                groups[1, rule, hit] = 0
                groups[2, rule, hit] = -1
    for hit in range(begin, end):
        heads[hit] = hit
    signed = np.empty(end, np.int64)
    comparable = 0
    for hit in range(begin):
        if of[hit] < 0 and present[hit]:
            signed[comparable] = hit
            comparable += 1
    return signed, comparable


@njit
def _stay(hit, matched, near, codes, groups, table):
    """Put a hit that stays into the groups of the hits that it *matched* by each rule, or begin groups."""
    begun, sizes, firsts = groups[0], groups[1], groups[2]
    heads = table[HEADS]
    for rule in range(matched.size):
        better = matched[rule]
        group = begun[rule, better] if better >= 0 else hit
        begun[rule, hit] = group
        sizes[rule, group] += 1
        if rule != near and better < 0 and codes[rule, hit] >= 0:
            firsts[rule, codes[rule, hit]] = hit
        if better >= 0:
            one, other = root_of(heads, better), root_of(heads, hit)
            heads[max(one, other)] = min(one, other)


@njit
def _listed(table):
    """List the hits that stay, removed hits, and those of each group."""
    of, heads, ranks, members, begins = table[OF], table[HEADS], table[RANKS], table[MEMBERS], table[BEGINS]
    hits = of.size
    for hit in range(hits):  # a head is before its members
        heads[hit] = heads[heads[hit]] if of[hit] < 0 else heads[of[hit]]
    places = np.zeros(hits, np.int64)  # the size of a group, by its head, and then the place of its next member
    stay = 0
    for hit in range(hits):
        places[heads[hit]] += 1
        if of[hit] < 0:
            ranks[stay] = hit
            stay += 1
    goes, groups, listed = stay, 0, 0
    for hit in range(hits):
        if of[hit] >= 0:
            ranks[goes] = hit
            goes += 1
        if heads[hit] == hit:
            begins[groups] = listed
            groups += 1
            listed, places[hit] = listed + places[hit], listed
        members[places[heads[hit]]] = hit
        places[heads[hit]] += 1
    return stay, groups


@njit
def _sampled(rows):
    """Lay one byte of each entry in blocks of 64 columns; what fills the last one up differs in any two near rows."""
    hits, columns = rows.shape
    blocks = (columns + _LANES - 1) // _LANES
    sample = np.empty(blocks * hits * _LANES, np.uint8)
    for block in range(blocks):
        for hit in range(hits):
            begin = (block * hits + hit) * _LANES
            for lane in range(_LANES):
                column = block * _LANES + lane
                sample[begin + lane] = rows[hit, column] if column < columns else hit
    return sample


def _first_by_minima(rows, more, terms, others, number, hit):
    """Skip the hits that the sampled bytes exclude: equal entries have equal bytes."""
    needed = terms[0]
    hits, columns = rows.shape
    for place in range(number):
        other = others[place]
        possible = columns
        for begin in range(0, columns, _LANES):
            block = begin * hits
            same = ones(equal_at(more, block + other * _LANES, block + hit * _LANES))
            possible += np.int64(same) - min(_LANES, columns - begin)
            if possible < needed:
                break
        if possible < needed:
            continue
        equal = np.int64(0)
        for column in range(columns):
            equal += np.int64(rows[other, column] == rows[hit, column])
        if equal >= needed:
            return other
    return -1


@kernel
def by_minima(rows, terms, present, near, codes, keeps, table):
    """Compare rows of uint32: at least ``terms[0]`` columns (at least 1) must be equal."""
    return _fold_by_minima(rows, _sampled(rows), terms, present, near, codes, keeps, table, _all(present, keeps))


@njit
def _filled_up(rows):
    """Lay rows end to end, each filled up to whole blocks of 8 with what no other row has there."""
    hits, columns = rows.shape
    width = (columns + _WORDS - 1) // _WORDS * _WORDS
    flat = np.empty(hits * width, np.uint64)
    for hit in range(hits):
        for column in range(width):
            flat[hit * width + column] = rows[hit, column] if column < columns else hit
    return flat, width


def _first_by_trials(rows, more, terms, others, number, hit):
    """Compare rows that lie end to end and have *more* entries each."""
    for place in range(number):
        other = others[place]
        equal = np.int64(0)
        for begin in range(0, more, _WORDS):
            equal += np.int64(ones(equal_at(rows, other * more + begin, hit * more + begin)))
        if equal >= terms[0]:
            return other
    return -1


@kernel
def by_trials(rows, terms, present, near, codes, keeps, table):
    """Compare rows of uint64: at least ``terms[0]`` columns (at least 1) must be equal."""
    flat, width = _filled_up(rows)
    return _fold_by_trials(flat, width, terms, present, near, codes, keeps, table, _all(present, keeps))


def _first_by_fingerprints(rows, more, terms, others, number, hit):
    """Find the smallest distance to any earlier hit first, by the first words: this needs no branch per hit.

    Whole blocks of words are compared; the last block is filled up with the complement, at the greatest distance.
    """
    word = rows[hit, 0]
    end = (hit + _BLOCK - 1) // _BLOCK * _BLOCK
    more[hit:end] = ~word
    closest = np.uint64(_LANES)
    for before in range(end):
        closest = min(closest, ones(more[before] ^ word))
    more[hit] = word
    if np.int64(closest) <= terms[0]:
        for place in range(number):
            other = others[place]
            differing = np.int64(0)
            for column in range(rows.shape[1]):
                differing += np.int64(ones(rows[other, column] ^ rows[hit, column]))
            if differing <= terms[0]:
                return other
    return -1


@kernel
def by_fingerprints(rows, terms, present, near, codes, keeps, table):
    """Compare rows of uint64: at most ``terms[0]`` bits may differ."""
    more = np.zeros(rows.shape[0] + _BLOCK, np.uint64)
    return _fold_by_fingerprints(rows, more, terms, present, near, codes, keeps, table, _all(present, keeps))


@njit
def _filters(rows):
    """Mark each row's values in 512 bits; the next words count them, and those with a marked bit."""
    filters = np.zeros((rows.shape[0], _WORDS + 2), np.uint64)
    for row in range(rows.shape[0]):
        for value in rows[row]:
            if value == _EMPTY:
                break
            place = np.uint64(value) & _FILTER_BITS
            before = filters[row, place >> _WORD]
            filters[row, place >> _WORD] = before | (_ONE << (place & _BIT))
            filters[row, _VALUES] += _ONE
            filters[row, _AGAIN] += (before >> (place & _BIT)) & _ONE
    return filters


def _first_by_sentences(rows, more, terms, others, number, hit):
    """Skip the hits that the filters exclude: a shared value has a common bit, or met a marked bit in its own row."""
    of_smaller, least = terms[0] != 0, terms[1:]
    values, again = more[hit, _VALUES], more[hit, _AGAIN]
    for place in range(number):
        other = others[place]
        shared = min(again, more[other, _AGAIN])
        for word in range(_WORDS):
            shared += ones(more[hit, word] & more[other, word])
        few, many = min(values, more[other, _VALUES]), max(values, more[other, _VALUES])
        whole = few if of_smaller else many  # the union has no fewer values than the larger set
        if np.int64(shared) >= least[np.int64(whole)] and decided(rows[other], rows[hit], of_smaller, least)[0]:
            return other
    return -1


@kernel
def by_sentences(rows, terms, present, near, codes, keeps, table):
    """Compare rows as ``neardup.kernels.sentences.decided`` does: ``terms`` is whether *of_smaller*, then *least*."""
    return _fold_by_sentences(rows, _filters(rows), terms, present, near, codes, keeps, table, _all(present, keeps))


@njit(forceinline=True)
def _match_by_sets(rows, more, terms, others, number, hit, better):
    """Compare with the plausible better hits after *better*; both lists ascend.

    Return the first match or, if *better* is that, the closest match: not after the hit's leader, if that matches, too.
    """
    first, bounds, estimated, least, leaders, known, values, starts, sizes, table, measure, shares, needed, verified = (
        more
    )
    size = sizes[hit]
    keys, owners = part_for(table, size)
    entered = False
    place = 0
    seeks_first = better < 0
    most = 0.0 if seeks_first else shares[hit]
    last = leaders[hit - first] if leaders[hit - first] >= better >= 0 else hit
    left = np.int64(not seeks_first)
    for entry in range(bounds[hit - first], bounds[hit - first + 1]):
        other = rows[entry]
        if other > last:
            break
        while place < number and others[place] < other:
            place += 1
        if place == number:
            break
        if others[place] != other or other <= better:
            continue
        both = known[hit] and known[other]
        measured = both and measure == GIVEN
        value = estimated[entry]
        if both and not measured and terms[left] > 0:
            if not may_match(size, sizes[other], least[entry], measure):
                continue
            terms[left] -= size + sizes[other]
            if not entered:
                enter(values[starts[hit] : starts[hit] + size], keys, owners, hit)
                entered = True
            shared = shared_enough(hit, other, values, starts, sizes, keys, owners, hit, least[entry], measure)
            value, measured = shared / denominator(size, sizes[other], shared, measure), True
        if value > most:
            shares[hit], needed[hit], verified[hit] = value, least[entry], measured
            if seeks_first:
                return other
            better, most = other, value
    return better


def _first_by_sets(rows, more, terms, others, number, hit):
    return _match_by_sets(rows, more, terms, others, number, hit, np.int64(-1))


def _named_by_sets(rows, more, terms, others, number, hit, better):
    if terms.size == 1:
        return better
    return _match_by_sets(rows, more, terms, others, number, hit, better)


@kernel
def by_sets(part, pairs, sets, known, measure, found, rows, terms, present, near, codes, keeps, table):
    """Measure the sets of plausible pairs as ``neardup.kernels.sets.first_matches`` does, for a part of the hits.

    *part* is ``(begin, end, groups)``: the hits from *begin* to *end* are decided, in parts from the best to the last.
    *groups* (int64[3, rules, n]) are what earlier parts leave to later ones; the last part returns the numbers.

    *pairs* are ``(bounds, estimated, least, leaders)``: the plausible better hits of hit ``begin + h`` are
    ``rows[bounds[h]:bounds[h + 1]]``, ascending; hits that do not stay may be missing. The distinct *sets* of hits have
    meaning where *known*. The measure of the pair of ``rows[i]`` must be at least ``least[i]``. ``terms[0]`` is how
    many values may be compared in all; it is used up. A pair with an unknown set, or beyond that number, matches if it
    is *estimated* to match. The same holds for all pairs if the *measure* is ``GIVEN``: then *estimated* has the
    measure of each matching pair of known sets, and 0 for other pairs. *found* are ``(shares, needed, verified)``: for
    *verified* hits, ``shares[h]`` becomes the measure of a hit and the hit that it matches, and ``needed[h]`` the least
    measure of this pair.

    With ``terms[1]``, how many more values may be compared, a removed hit is named for its closest match, by its
    measure or else by what is *estimated*. Equal hits are named alike: ``leaders[h]`` is the first hit that equals hit
    ``begin + h``; if it also matches one that stays, the closest match is not after it.
    """
    begin, end, _ = part
    widest = 0
    for hit in range(end):
        if known[hit]:
            widest = max(widest, sets[2][hit])
    more = (begin, *pairs, known, *sets, empty_table(widest), measure, *found)
    return _fold_by_sets(rows, more, terms, present, near, codes, keeps, table, part)


_fold_by_minima, _fold_by_trials, _fold_by_fingerprints, _fold_by_sentences = map(
    _fold_by, (_first_by_minima, _first_by_trials, _first_by_fingerprints, _first_by_sentences)
)
_fold_by_sets = _fold_by(_first_by_sets, _named_by_sets)
