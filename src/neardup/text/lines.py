"""The lines of texts: where they are, their hashes and their words."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np

from neardup.kernels import segments as kernels
from neardup.kernels import shingles
from neardup.model.arrays import Flags, Positions, TextBatch, Words
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.columns import text_column, whole_batch
from neardup.text.shingling import Shingling
from neardup.text.tokenizer import segments_of, tokenizer

LINES: Final = Shingling(analysis=Analysis(unit="line"), size=1)
"""The hash of a line is its feature: upper and lower case and punctuation do not count."""
NOTICE: Final = "©"
_WORDS: Final = Analysis()


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The lines of some texts: those of text *d* have the numbers ``parts[d]`` up to ``parts[d + 1]``.

    Line *s* is ``data[cuts[s]:cuts[s + 1]]``, line end included, and has ``words[s]`` words and the hash ``hashes[s]``,
    which is 0 if it has no words.
    """

    batch: TextBatch
    cuts: Positions
    parts: Positions
    hashes: Words
    words: Positions

    @classmethod
    def of(cls, texts: Any) -> Self:
        """Cut a text column (see ``text_column``) into lines."""
        batch = whole_batch(text_column(texts))
        cuts, parts = segments_of(batch)
        cuts, number = cuts.copy(), len(cuts) - 1
        tokens = tokenizer(_WORDS, Hashing()).lent(TextBatch(batch.data, cuts))
        words = np.diff(tokens.offsets)
        sequences, bounds = np.empty(number, np.uint64), np.empty(number + 1, np.int64)
        count = shingles.sequences(tokens.values, tokens.offsets, np.arange(number + 1), sequences, bounds)
        features, ends = np.empty(count, np.uint64), np.empty(count + 1, np.int64)
        shingles.shingles(sequences[:count], np.arange(count + 1), 1, features, ends)
        hashes = np.zeros(number, np.uint64)
        hashes[words > 0] = features
        return cls(batch, cuts, parts, hashes, words)

    def __len__(self) -> int:
        return len(self.parts) - 1

    def listed(self, lists: Positions, terms: Words, begins: Positions) -> Flags:
        """Flag the lines that are in the list of their text: see ``neardup.kernels.segments.listed_lines``."""
        flags = np.empty(len(self.hashes), np.bool_)
        kernels.listed_lines(self.parts, self.hashes, self.words, lists, terms, begins, flags)
        return flags

    def notices(self) -> Flags:
        """Flag the copyright notices, which have the sign ©, and what follows a notice in the last quarter of a text.

        Only lines with words are counted. So two copies still share three quarters of them if only one has a notice.
        """
        first, second = NOTICE.encode()
        data = self.batch.data
        signs = np.flatnonzero((data[:-1] == first) & (data[1:] == second))
        lines = np.unique(np.searchsorted(self.cuts, signs, "right") - 1)
        flags = np.zeros(len(self.hashes), np.bool_)
        flags[lines] = True
        counts = np.concatenate([[0], np.cumsum(self.words > 0)])
        texts = np.searchsorted(self.parts, lines, "right") - 1
        begins, ends = self.parts[texts], self.parts[texts + 1]
        last = 4 * (counts[ends] - counts[lines]) <= counts[ends] - counts[begins]
        for line, end in zip(lines[last].tolist(), ends[last].tolist(), strict=True):
            flags[line:end] = True
        return flags

    def words_left(self, flags: Flags) -> Positions:
        """Return the number of words of each text that are not on flagged lines."""
        ends = np.concatenate([[0], np.cumsum(np.where(flags, 0, self.words))])
        left: Positions = ends[self.parts[1:]] - ends[self.parts[:-1]]
        return left

    def others(self, flags: Flags) -> list[str]:
        """Return the texts without the flagged lines; invalid UTF-8 becomes U+FFFD."""
        out = np.empty(int(self.batch.offsets[-1] - self.batch.offsets[0]), np.uint8)
        bounds = np.empty(len(self) + 1, np.int64)
        kernels.copy_other_lines(self.batch.data, self.cuts, self.parts, flags, out, bounds)
        whole = out.tobytes()
        return [whole[begin:end].decode(errors="replace") for begin, end in pairwise(bounds)]

    def line(self, number: int) -> str:
        """Return a line without the white space around it."""
        return self.batch.data[self.cuts[number] : self.cuts[number + 1]].tobytes().decode(errors="replace").strip()
