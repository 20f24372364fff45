"""The words of one text, and their positions in it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.kernels import spans as kernels
from neardup.model.arrays import Bytes, Flags, Positions, TextBatch, Words
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis, Normalization
from neardup.text.normalizing import BITS, may_change, normalize
from neardup.text.tokenizer import tokenizer
from neardup.text.unicode import unicode_tables

_FORM: Final[Normalization] = "NFC"
_NOT_NORMALIZED: Final = Analysis(normalization=None)
_HASHING: Final = Hashing()


@dataclass(frozen=True, slots=True, eq=False)
class WordSpans:
    """Word *w* of a text is ``text[starts[w]:ends[w]]`` and has the hash ``hashes[w]``."""

    hashes: Words
    starts: Positions
    ends: Positions

    def __len__(self) -> int:
        return len(self.hashes)


def word_spans(text: str) -> WordSpans:
    r"""Return the words of a text under the default ``Analysis``: normalised (NFC), case-folded.

    Positions are those in the original text. If normalisation combines or splits characters, a word begins before and
    ends after all of them. Lone surrogates and NUL separate words. A symbol that counts is a word.

    >>> text = "Cafe\u0301 au lait"
    >>> words = word_spans(text)
    >>> [ascii(text[begin:end]) for begin, end in zip(words.starts, words.ends)]
    ["'Cafe\\u0301'", "'au'", "'lait'"]
    """
    batch = _batch(text)
    if not may_change(batch, _FORM).any():
        return _words_of(batch)
    begins, ends = _filled(kernels.unsettled, batch.data, *unicode_tables().normal, BITS[_FORM])
    cuts = [0, *np.column_stack([begins, ends]).ravel().tolist(), len(text)]
    pieces = [text[begin:end] for begin, end in pairwise(cuts)]
    settled = {stretch: _settled(stretch) for stretch in set(pieces[1::2])}
    pieces[1::2], growth, whole = zip(*(settled[stretch] for stretch in pieces[1::2]), strict=True)
    words = _words_of(_batch("".join(pieces)))
    old, new = _edges(begins, ends, np.cumsum(growth), np.array(whole, np.bool_))
    spans = (_unsettled(words.starts, old, new, ends=False), _unsettled(words.ends, old, new, ends=True))
    return WordSpans(words.hashes, *spans)


def _settled(stretch: str) -> tuple[str, int, bool]:
    """Return a stretch of text normalised, its growth, and whether its characters were not normalised one by one."""
    text = normalize(stretch, _FORM)
    return text, len(text) - len(stretch), [normalize(letter, _FORM) for letter in stretch] != [*text]


def _batch(text: str) -> TextBatch:
    return TextBatch.of([text.encode("utf-8", "surrogatepass") or b"\0"])


def _words_of(batch: TextBatch) -> WordSpans:
    """Return the words of a text that normalisation does not change."""
    starts, ends = _filled(kernels.spans, batch.data, *unicode_tables().analysis, _NOT_NORMALIZED.symbols)
    return WordSpans(tokenizer(_NOT_NORMALIZED, _HASHING)(batch).values, starts, ends)


def _filled(kernel: Any, data: Bytes, *tables: npt.NDArray[Any] | np.uint16 | bool) -> tuple[Positions, Positions]:
    starts, ends = np.empty(len(data), np.int64), np.empty(len(data), np.int64)
    count = kernel(data, *tables, starts, ends)
    return starts[:count].copy(), ends[:count].copy()


def _edges(begins: Positions, ends: Positions, grown: Positions, whole: Flags) -> tuple[Positions, Positions]:
    """Return the begin and end of each *whole* stretch, in the original text and in the normalised one."""
    before = np.concatenate([[0], grown[:-1]])
    old = np.column_stack([begins, ends])[whole].ravel()
    new = np.column_stack([begins + before, ends + grown])[whole].ravel()
    return np.concatenate([[0], old]), np.concatenate([[0], new])


def _unsettled(positions: Positions, old: Positions, new: Positions, *, ends: bool) -> Positions:
    """Map begins, or *ends*, to the original text: inside a whole stretch, to its begin, or its end."""
    edge = np.maximum(np.searchsorted(new, positions, side="left" if ends else "right") - 1, 0)
    inside = edge % 2 == 1  # after the begin of a stretch, before its end
    outer = np.minimum(edge + ends, len(old) - 1)
    return np.asarray(np.where(inside, old[outer], old[edge] + positions - new[edge]))
