"""Snippets: passages of found texts, with the terms of the query marked."""

import unicodedata
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np

from neardup.kernels import marks as kernels
from neardup.kernels.search_words import ROOM
from neardup.model.answers import Marked
from neardup.model.arrays import TextBatch
from neardup.model.query import Term
from neardup.text.unicode import unicode_tables

REACH: Final = kernels.REACH  # bytes of a text that are searched
MOST_SHOWN: Final = 400  # characters: a word may be as long as a text
_ELLIPSIS: Final = "…"
_MOST_MARKS: Final = 30  # combining marks in a row that belong to a letter


class Marker:
    """Marks terms in texts, at most 64, by the words and folded letters of the search table."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._tables = unicode_tables().search
        known = dict(zip(self._folded(terms), terms, strict=True))
        if len(known) < len(terms):
            terms = [*known.values()]
            self._folded(terms)
        self._begins = np.array([term.begins for term in terms], np.bool_)

    def _folded(self, terms: Sequence[Term]) -> list[tuple[Any, ...]]:
        """Fold the terms, and return the bits that distinguish different terms."""
        texts = TextBatch.of([term.text.encode(errors="replace") for term in terms])
        room = ROOM * len(texts.data)
        self._letters, self._bounds = np.empty(room, np.uint32), np.zeros(room + 1, np.int64)
        self._terms = np.empty(len(terms) + 1, np.int64)
        kernels.fold_terms(texts.data, texts.offsets, *self._tables, self._letters, self._bounds, self._terms)
        letters, bounds = self._letters.tolist(), self._bounds.tolist()
        words = [tuple(letters[begin:end]) for begin, end in pairwise(bounds[: self._terms[-1] + 1])]
        places = pairwise(self._terms.tolist())
        return [(term.begins, *words[begin:end]) for term, (begin, end) in zip(terms, places, strict=True)]

    def mark(self, texts: TextBatch, words: int) -> list[Marked]:
        """Return the best *words* words of each text for the terms, at most ``MOST_SHOWN`` characters.

        *words* is at least 1. Spans are in characters. An ellipsis replaces omitted text. For longer texts, only the
        first ``REACH`` bytes are searched.

        >>> texts = TextBatch.of([b"The storm broke over the harbour at dawn"])
        >>> Marker([Term("STORM"), Term("at da", True)]).mark(texts, 7)
        [Marked(text='…storm broke over the harbour at dawn', spans=((1, 6), (30, 37)))]
        """
        number = len(texts)
        windows, counts = np.empty((number, 2), np.int64), np.empty(number, np.int64)
        spans = np.empty((number, words, 2), np.int64)
        terms = self._letters, self._bounds, self._terms, self._begins
        kernels.mark(texts.data, texts.offsets, *self._tables, *terms, words, windows, spans, counts)
        data, bounds = memoryview(texts.data), texts.offsets.tolist()  # type: ignore[arg-type]
        marked = list[Marked]()
        for row, ((begin, end), count) in enumerate(zip(windows.tolist(), counts.tolist(), strict=True)):
            edges = [begin, *(begin + edge for edge in spans[row, :count].ravel().tolist()), end]
            pieces = [_ELLIPSIS if begin > bounds[row] else ""]
            pieces += [str(data[one:other], "utf-8", "replace") for one, other in pairwise(edges)]
            places = [*accumulate(map(len, pieces))]  # every second piece is marked
            pieces.append(_ELLIPSIS if end < bounds[row + 1] else "")
            text = "".join(pieces).replace("\0", " ")
            marked.append(_shortened(text, [*zip(places[1:-1:2], places[2::2], strict=True)]))
        return marked


def _shortened(text: str, spans: list[tuple[int, int]]) -> Marked:
    """Cut a text, if it is too long to be shown, around the first span."""
    first = spans[0][0] if spans else 0
    begin = max(0, min(first - MOST_SHOWN // 4, len(text) - MOST_SHOWN))
    end = _before_marks(text, begin + MOST_SHOWN)
    begin = _before_marks(text, begin)
    ahead = _ELLIPSIS if begin else ""
    shift = begin - len(ahead)
    cuts = ((one - shift, min(other, end) - shift) for one, other in spans if one < end)
    return Marked(ahead + text[begin:end] + (_ELLIPSIS if end < len(text) else ""), tuple(cuts))


def _before_marks(text: str, place: int) -> int:
    """Return a place where a text can be cut, at most a few characters before the given one: not before a mark."""
    least = max(0, place - _MOST_MARKS)
    while place > least and place < len(text) and unicodedata.category(text[place])[0] == "M":
        place -= 1
    return place
