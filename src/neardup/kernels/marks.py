"""The places of searched words in texts, and the passage that shows most of them.

Words are those of ``neardup.kernels.search_words``. Texts are UTF-8; invalid bytes separate.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit
from neardup.kernels.search_words import ROOM, find_words

REACH = 1 << 20  # bytes of a text that are looked at
_MOST_COMPARED = 1 << 25  # words and letters, of a text with terms: then no more are found

_ONE = np.uint64(1)
_FOUND, _JOINED = np.uint8(1), np.uint8(2)  # a word of a term; and what is between it and the next one


@kernel
def fold_terms(data, offsets, index, table, expansions, letters, bounds, terms):
    """Split terms: term *t* is the words ``terms[t] .. terms[t + 1] - 1``.

    Word *w* folds to ``letters[bounds[w]:bounds[w + 1]]``. *letters* (uint32) and *bounds* (int64) have room for
    ``ROOM`` entries per byte, and one more.
    """
    terms[0] = 0
    for term in range(offsets.size - 1):
        source = data[offsets[term] : offsets[term + 1]]
        number = terms[term]
        places = np.empty((2, ROOM * source.size), np.int64)
        begin = bounds[number] if number > 0 else 0
        own = bounds[number:]
        found = find_words(source, index, table, expansions, places[0], places[1], letters[begin:], own)
        for word in range(found + 1):
            own[word] += begin
        terms[term + 1] = number + found


@njit(forceinline=True)  # to hand arrays on for every word would take four times as long
def _stands_at(first, words, letters, bounds, term_letters, term_bounds, begin, end, begins):
    """Return whether the words *begin* .. *end* - 1 of a term are in a text from its word *first* on.

    Also returns the number of words and letters compared.
    """
    compared = 1
    if first + end - begin > words:
        return False, compared
    for word in range(begin, end):
        own, wanted = bounds[first + word - begin], term_bounds[word]
        length, least = bounds[first + word - begin + 1] - own, term_bounds[word + 1] - wanted
        if length != least and not (begins and word == end - 1 and length > least):
            return False, compared
        compared += 1 + least
        for letter in range(least):
            if letters[own + letter] != term_letters[wanted + letter]:
                return False, compared
    return True, compared


@njit
def _find_terms(words, letters, bounds, term_letters, term_bounds, terms, begins, most, begun, ended, marks):
    """Find the terms among the words of a text.

    ``marks[w]`` is the kind of a word. ``begun`` and ``ended`` have bit *t* at the first and the last word of each
    occurrence of term *t*; an occurrence of more than *most* words ends after *most* words.
    """
    for word in range(words):
        begun[word], ended[word], marks[word] = 0, 0, 0
    compared = 0
    for word in range(words):
        for term in range(terms.size - 1):
            begin, end = terms[term], terms[term + 1]
            if begin == end:
                continue
            stands, more = _stands_at(word, words, letters, bounds, term_letters, term_bounds, begin, end, begins[term])
            compared += more
            if stands:
                last = word + end - begin - 1
                for place in range(word, last):
                    marks[place] = _JOINED
                marks[last] = max(marks[last], _FOUND)
                begun[word] |= _ONE << np.uint64(term)
                ended[min(last, word + most - 1)] |= _ONE << np.uint64(term)
        compared += terms.size
        if compared > _MOST_COMPARED:
            break


@njit
def _best_passage(words, begun, ended, terms, most, often):
    """Find the *most* consecutive words with the most different terms; ties by the most terms, then the first.

    Returns the first word of a term in them, and the word after the last word of a term; 0 and 0 without terms.
    """
    often[:] = 0
    different = together = most_different = most_together = entering = 0
    best = behind = 0
    for begin in range(words):
        if begun[begin] == 0:
            continue
        stop = min(begin + most, words)
        for word in range(max(entering, begin), stop):
            if ended[word] != 0:
                for term in range(terms):
                    if (ended[word] >> np.uint64(term)) & _ONE:
                        different += np.int64(often[term] == 0)
                        often[term] += 1
                        together += 1
        entering = max(entering, stop)
        if different > most_different or (different == most_different and together > most_together):
            best, behind, most_different, most_together = begin, stop, different, together
        for term in range(terms):  # as they take no more words than there are here, they have all ended here
            if (begun[begin] >> np.uint64(term)) & _ONE:
                often[term] -= 1
                different -= np.int64(often[term] == 0)
                together -= 1
    while behind > best and ended[behind - 1] == 0:
        behind -= 1
    return best, behind


@njit
def _frame(first, behind, words, most):
    """Choose *most* words with *first* .. *behind* - 1 in the middle."""
    begin = max(0, first - (most - (behind - first)) // 2)
    end = min(words, begin + most)
    return max(0, end - most), end


@njit
def _find_spans(window, begin, end, starts, ends, marks, spans):
    """Find the marked spans among words, in bytes from the byte *window*; return their number."""
    count = 0
    word = begin
    while word < end:
        last = word
        if marks[word] != 0:
            while last + 1 < end and marks[last + 1] != 0:
                if marks[last] != _JOINED and ends[last] < starts[last + 1]:
                    break
                last += 1
            if count > 0 and starts[word] - window < spans[count - 1, 1]:  # of one character that folds to several
                count -= 1
            else:
                spans[count, 0] = starts[word] - window
            spans[count, 1] = ends[last] - window
            count += 1
        word = last + 1
    return count


@kernel
def mark(
    data, offsets, index, table, expansions, term_letters, term_bounds, terms, begins, most, windows, spans, counts
):
    """Mark the searched terms in every text of a batch, in the *most* words that show it best.

    Text *d* is ``data[offsets[d]:offsets[d + 1]]`` (uint8, UTF-8). Terms, 64 at most, are as ``fold_terms`` returns
    them; in those with ``begins[t]`` (bool) the last word may be longer. *most* is 1 or more.

    The window of text *d* is ``data[windows[d, 0]:windows[d, 1]]`` (int64): all of it if it has at most *most* words.
    In the window, counted in bytes, ``spans[d, i]`` (int64[n, most, 2]) for *i* below ``counts[d]`` (int64) are marked.
    A phrase is one span, and so are words without anything between them. The best words are those with the most
    different terms; ties by the most terms, then the first; they are in the middle of the window. Only the first
    ``REACH`` bytes of a text are searched, without the word that is cut there.
    """
    longest = 0
    for document in range(offsets.size - 1):
        longest = max(longest, min(offsets[document + 1] - offsets[document], REACH))
    room = ROOM * longest
    letters, bounds = np.empty(room, np.uint32), np.empty(room + 1, np.int64)
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    begun, ended = np.empty(room, np.uint64), np.empty(room, np.uint64)
    marks, often = np.empty(room, np.uint8), np.empty(terms.size, np.int64)
    for document in range(offsets.size - 1):
        origin = offsets[document]
        source = data[origin : min(offsets[document + 1], origin + REACH)]
        words = find_words(source, index, table, expansions, starts, ends, letters, bounds)
        if words > 1 and ends[words - 1] == REACH and offsets[document + 1] - origin > REACH:
            words -= 1
            source = source[: ends[words - 1]]
        _find_terms(words, letters, bounds, term_letters, term_bounds, terms, begins, most, begun, ended, marks)
        first, behind = _best_passage(words, begun, ended, terms.size - 1, most, often)
        begin, end = _frame(first, behind, words, most)
        window = starts[begin] if begin > 0 else 0
        windows[document, 0] = origin + window
        windows[document, 1] = origin + (ends[end - 1] if end < words else source.size)
        counts[document] = _find_spans(window, begin, end, starts, ends, marks, spans[document])
