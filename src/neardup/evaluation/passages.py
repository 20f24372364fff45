"""The passages that two texts share, and the parts that only one of them has."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from neardup.kernels import passages as kernels
from neardup.kernels.machine_code import is_kept
from neardup.kernels.shingles import SPREAD, shingles
from neardup.model.arrays import Flags, Positions, Words
from neardup.text.spans import WordSpans, word_spans

Span = tuple[int, int]

RUN: Final = 3  # words: runs of two are often shared by chance


@dataclass(frozen=True, slots=True)
class Passage:
    """The words ``text_a[a[0]:a[1]]`` and ``text_b[b[0]:b[1]]`` are the same.

    *words* is their number. Case, punctuation and space between the words do not count.
    """

    a: Span
    b: Span
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The passages that two texts share, in the order of the first, and the unshared stretches of each."""

    run: int
    shared: tuple[Passage, ...]
    only_in_a: tuple[Span, ...]
    only_in_b: tuple[Span, ...]


def is_compiled() -> bool | None:
    """Return whether the machine code that finds passages is on disk; ``None`` if no folder can store it."""
    return is_kept(kernels.passages)


def shared_passages(a: str, b: str) -> Passages:
    """Find the stretches of at least ``RUN`` words that are in both texts, in time linear in their length.

    Words are those of the default ``Analysis``. Each position of *a* is in at most one passage. A position of *b* may
    be in several if *a* repeats it, and passages may be in another order in *b*. Passages are disjoint in *a*, so not
    every shared run is inside one. Unshared stretches are determined by runs: the words in no run of ``RUN`` words that
    occurs anywhere in the other text. Two texts of the same words, fewer than ``RUN``, share all of them.
    ``neardup.kernels.passages`` defines how passages are chosen. Offsets are those of Python's slices.

    >>> a, b = "The ferry left the harbour at dawn", "At noon the ferry left the harbour!"
    >>> [(a[slice(*one.a)], b[slice(*one.b)]) for one in shared_passages(a, b).shared]
    [('The ferry left the harbour', 'the ferry left the harbour')]
    """
    return passages_of_words(word_spans(a), word_spans(b))


def longest_passage(a: str, b: str, *, least: int = RUN) -> Span | None:
    """Return the longest run of words of *a* that is also in *b*; of equally long runs, the first.

    Return ``None`` if this run has fewer than *least* words, unless it is all of *a*. Words are those of the
    default ``Analysis``.

    >>> a, b = "The ferry left at dawn", "It left at dawn, they say: the ferry left"
    >>> a[slice(*longest_passage(a, b))]
    'The ferry left'
    """
    words = word_spans(a)
    own_runs, (others, other_runs) = _runs(words.hashes), _document(b)

    def shared(size: int) -> Flags:
        own, other = own_runs(size), other_runs(size)
        known = np.sort(own)  # mostly far fewer than the others
        places = np.searchsorted(known, other)
        places[places == len(known)] = 0
        return np.isin(own, other[known[places] == other])

    sizes = range(max(1, min(least, len(words))), min(len(words), others) + 1)
    number = bisect_left(sizes, True, key=lambda size: not shared(size).any())  # a run has all shorter ones
    if not number:
        return None
    begin = int(np.argmax(shared(sizes[number - 1])))
    return int(words.starts[begin]), int(words.ends[begin + sizes[number - 1] - 1])


@lru_cache(maxsize=1)  # many items are compared with one document
def _document(text: str) -> tuple[int, Callable[[int], Words]]:
    """Return the number of words of a text, and the hashes of its runs."""
    hashes = word_spans(text).hashes
    return len(hashes), _runs(hashes)


def _runs(hashes: Words) -> Callable[[int], Words]:
    """Return a function of a size, at least 1, that hashes all runs of this number of words.

    The hash of ``t[0] .. t[q - 1]`` is ``sum(t[j] * SPREAD ** j) mod 2**64``, from the sums of all beginnings.
    """
    number = len(hashes)
    powers, inverses = (
        np.multiply.accumulate(np.full(number, base, np.uint64)) for base in (SPREAD, pow(SPREAD, -1, 1 << 64))
    )
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes * powers, dtype=np.uint64)])
    return lambda size: (sums[size:] - sums[:-size]) * inverses[: number - size + 1]


def passages_of_words(a: WordSpans, b: WordSpans, run: int = RUN) -> Passages:
    """Find shared passages as ``shared_passages`` does, in texts whose words are known.

    A run has *run* words, and a passage as many, but at least ``RUN``.
    """
    least = max(run, RUN)
    runs_a, runs_b = _shingles(a.hashes, run), _shingles(b.hashes, run)
    if 0 < len(a) < least and np.array_equal(a.hashes, b.hashes):
        least = len(a)
    rows = np.empty((len(a) // least, 4), np.int64)
    count, _ = kernels.passages(a.hashes, b.hashes, _shingles(a.hashes, least), _shingles(b.hashes, least), least, rows)
    rows = rows[:count]
    begin_a, end_a, begin_b, end_b = (rows[:, column].copy() for column in range(4))
    halves = _in_pictures(b, begin_b) & ~_in_pictures(a, begin_a)
    begin_b, end_b = begin_b - halves, end_b - halves
    numbers = (a.starts[begin_a], a.ends[end_a - 1], b.starts[begin_b], b.ends[end_b - 1], end_a - begin_a)
    shared = zip(*(column.tolist() for column in numbers), strict=True)
    return Passages(
        run=run,
        shared=tuple(Passage((one, two), (three, four), words) for one, two, three, four, words in shared),
        only_in_a=_uncovered(a, runs_a, runs_b, run),
        only_in_b=_uncovered(b, runs_b, runs_a, run),
    )


def _in_pictures(words: WordSpans, begins: Positions) -> Flags:
    """Return whether passages begin with the second of the two tokens of a picture, such as an emoji.

    If the passage begins with a whole picture in the other text, it is nothing but that picture, again and again. So it
    is also one token before, where it begins with a whole picture in both.
    """
    before = np.maximum(begins - 1, 0)
    same = (words.starts[before] == words.starts[begins]) & (words.hashes[before] == words.hashes[begins])
    return np.asarray(same & (begins > 0))


def _shingles(tokens: Words, size: int) -> Words:
    values, bounds = np.empty(len(tokens), np.uint64), np.empty(2, np.int64)
    count = shingles(tokens, np.array([0, len(tokens)], np.int64), size, values, bounds)
    return values[:count]


def _uncovered(words: WordSpans, own: Words, other: Words, run: int) -> tuple[Span, ...]:
    """Return the stretches of words in none of their *own* runs that is also in the *other* text."""
    begins = np.flatnonzero(np.isin(own, other))
    ends = np.minimum(begins + run, len(words))
    number = len(words) + 1
    covered = np.cumsum(np.bincount(begins, minlength=number) - np.bincount(ends, minlength=number))[:-1] > 0
    edges = np.flatnonzero(np.diff(covered, prepend=True, append=True))
    firsts, lasts = edges[::2], edges[1::2] - 1
    return tuple(zip(words.starts[firsts].tolist(), words.ends[lasts].tolist(), strict=True))
