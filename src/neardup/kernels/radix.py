"""Words sorted digit by digit, the lowest digit first; each pass is stable.

The time depends on the number of words only, not on their values.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit, returned

DIGIT_BITS = 8
NO_PLACES = np.empty(0, np.uint32)


@kernel
def sort(words, places, lowest):
    """Sort *words* (uint64) by their bits from *lowest* on, stably, and *places* with them.

    *places* (uint32) has an entry for each word, or is empty. Returns ``(words, places)`` in the new order; the
    arguments are changed, too. A digit that is the same in all words costs no pass.
    """
    words, places = by_digits(words, places, lowest)
    return returned(words), returned(places)


@njit
def ordered(words):
    """Return the words in ascending order, in the argument or another array; the argument is overwritten."""
    return by_digits(words, np.empty(0, np.uint32), np.int64(0))[0]


@njit
def by_digits(words, places, lowest):
    """Sort words and places as ``sort`` does; either is returned as the argument, or as another array."""
    values = 1 << DIGIT_BITS
    digits = (64 - lowest + DIGIT_BITS - 1) // DIGIT_BITS
    below = np.uint64(values - 1)
    carries = places.size > 0
    starts = np.zeros((digits, values), np.int64)
    for word in words:
        for digit in range(digits):
            starts[digit, (word >> np.uint64(lowest + digit * DIGIT_BITS)) & below] += 1
    other_words, other_places = np.empty_like(words), np.empty_like(places)
    for digit in range(digits):
        shift = np.uint64(lowest + digit * DIGIT_BITS)
        row = starts[digit]
        total = 0
        largest = 0
        for value in range(values):
            number = row[value]
            row[value] = total
            total += number
            largest = max(largest, number)
        if largest == words.size:
            continue
        for i in range(words.size):
            word = words[i]
            value = (word >> shift) & below
            place = row[value]
            row[value] = place + 1
            other_words[place] = word
            if carries:
                other_places[place] = places[i]
        words, other_words = other_words, words
        places, other_places = other_places, places
    return words, places
