"""Tokenising: from texts to token hashes."""

from functools import lru_cache

import numpy as np

from neardup.kernels import folding, segments, shingles, tokens
from neardup.kernels import vocabulary as table
from neardup.model.arrays import Bytes, Features, Positions, TextBatch, Words
from neardup.model.errors import ParameterError
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.normalizing import normalized
from neardup.text.scratch import scratch
from neardup.text.segmentation import abbreviations
from neardup.text.unicode import unicode_tables
from neardup.text.vocabulary import Vocabulary

_NOWHERE: Positions = np.empty(0, np.int64)
_AROUND = ("", ""), ("0 ", " 0"), ("a", "b"), ("", "b")  # what is around a symbol where it counts: 0 + 0, a|b, !b


class Tokenizer:
    """Computes the token hashes of a batch, a ragged array like features."""

    def __init__(self, analysis: Analysis, hashing: Hashing) -> None:
        self._analysis = analysis
        self._keyed = hashing.keyed
        self._key: Words = np.frombuffer(hashing.derive("tokens", 16), "<u8").astype(np.uint64)
        self._vocabulary: Vocabulary | None = None
        if analysis.stop_words or analysis.stem:
            self._vocabulary = Vocabulary(
                self._key,
                keyed=self._keyed,
                stop_words=[self._words_of(word) for word in analysis.stop_words],
                language=analysis.stem,
            )

    def __call__(self, batch: TextBatch) -> Features:
        """Tokenise; a document without words has no tokens."""
        tokens = self.lent(batch)
        return Features(tokens.values.copy(), tokens.offsets)

    def lent(self, batch: TextBatch) -> Features:
        """Tokenise into an array that is valid until this thread tokenises again."""
        batch = normalized(batch, self._analysis.normalization)
        if self._analysis.unit == "letter":
            return self._letters(batch)
        if self._analysis.unit == "word":
            return self._words(batch)
        cuts, parts = segments_of(batch, sentences=self._analysis.unit == "sentence")
        words = self._words(TextBatch(batch.data, cuts))
        hashes = np.empty(len(words), np.uint64)  # at most one per part
        bounds = np.empty(len(batch) + 1, np.int64)
        count = shingles.sequences(words.values, words.offsets, parts, hashes, bounds)
        return Features(hashes[:count], bounds)

    def _fold(self, batch: TextBatch) -> tuple[Bytes, Positions]:
        tables, analysis = unicode_tables(), self._analysis
        size = int(batch.offsets[-1] - batch.offsets[0])
        folded: Bytes = scratch("folded", folding.GROWTH * size + len(batch) + folding.PADDING, np.uint8)
        bounds = np.empty(len(batch) + 1, np.int64)
        own = *tables.analysis, tables.expansions, analysis.fold_case, analysis.symbols
        folding.fold(batch.data, batch.offsets, *own, folded, bounds)
        return folded, bounds

    def _letters(self, batch: TextBatch) -> Features:
        folded, bounds = self._fold(batch)
        hashes: Words = scratch("hashes", int(bounds[-1]), np.uint64)
        offsets = np.empty(len(batch) + 1, np.int64)
        count = tokens.letters(folded, bounds, self._key, self._keyed, hashes, offsets)
        return Features(hashes[:count], offsets)

    def _words(self, batch: TextBatch) -> Features:
        folded, bounds = self._fold(batch)
        most = int(bounds[-1]) // 2 + 1 + tokens.USUAL
        chooses = self._vocabulary is not None or self._analysis.min_length > 1
        starts: Positions = scratch("starts", most, np.int64) if chooses else _NOWHERE
        hashes: Words = scratch("hashes", most, np.uint64)
        offsets = np.empty(len(batch) + 1, np.int64)
        count = tokens.words(folded, bounds, self._key, self._keyed, hashes, offsets, starts)
        hashes = hashes[:count]
        if not chooses:
            return Features(hashes, offsets)
        if self._vocabulary is not None:
            self._vocabulary.translate(hashes, offsets, starts[:count], folded)
        if self._analysis.min_length > 1:
            table.drop_short(hashes, starts, folded, self._analysis.min_length, *unicode_tables().analysis)
        return Features(hashes[: table.remove_dropped(hashes, offsets)], offsets)

    def _words_of(self, word: str) -> list[bytes]:
        """Fold a stop word like a text: into one word, or several consecutive words.

        A symbol that does not count alone is read where it is an operator.
        """
        for before, behind in _AROUND:
            found = self._folded_words(f"{before}{word}{behind}")
            if parts := found[bool(before) : len(found) - bool(behind)]:
                return parts
        raise ParameterError("stop_words", word, "must contain a letter, a digit or a symbol that counts")

    def _folded_words(self, text: str) -> list[bytes]:
        batch = TextBatch.of([text.encode("utf-8", "surrogatepass")])
        folded, bounds = self._fold(normalized(batch, self._analysis.normalization))
        return [part for part in folded[: bounds[-1]].tobytes().split(b"\0") if part]


def segments_of(batch: TextBatch, *, sentences: bool = False) -> tuple[Positions, Positions]:
    """Return the bounds of lines or *sentences*, until this thread's next call, and the first one of each text."""
    cuts: Positions = scratch("cuts", int(batch.offsets[-1] - batch.offsets[0]) + 1, np.int64)
    parts = np.empty(len(batch) + 1, np.int64)
    if sentences:
        lists = *unicode_tables().analysis, *abbreviations()
        count = segments.sentences(batch.data, batch.offsets, *lists, cuts, parts)
    else:
        count = segments.lines(batch.data, batch.offsets, cuts, parts)
    return cuts[: count + 1], parts


@lru_cache(maxsize=16)
def tokenizer(analysis: Analysis, hashing: Hashing) -> Tokenizer:
    """Return a cached tokeniser, so that each stem is computed once for all batches."""
    return Tokenizer(analysis, hashing)
