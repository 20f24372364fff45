"""Words that analysis replaces by their stem or removes, by hash: each distinct word is processed only a few times."""

from itertools import accumulate
from threading import local
from typing import Final

import numpy as np

from neardup.kernels import tokens as kernels
from neardup.kernels import vocabulary as table
from neardup.kernels.folding import PADDING
from neardup.model.arrays import Bytes, Positions, Words
from neardup.text.scratch import scratch
from neardup.text.stems import stems

MOST: Final = 1 << 18  # words in the table of a thread; 8 MB
_SMALLEST: Final = 1 << 10
_TOGETHER: Final = 1 << 13  # tokens that are processed together: their words and stems fit into the cache


class Vocabulary:
    """Maps token hashes to the hashes of stems, and removes stop words.

    A stop word is one token or several consecutive ones. Each thread has its own table of at most ``MOST`` words and
    clears it when it is full. So memory is bounded, and the table never affects the result.
    """

    def __init__(self, key: Words, *, keyed: bool, stop_words: list[list[bytes]], language: str | None) -> None:
        self._key, self._keyed, self._language = key, keyed, language
        self._single = self.hashes([parts[0] for parts in stop_words if len(parts) == 1])
        runs = [self.hashes(parts).tolist() for parts in stop_words if len(parts) > 1]
        runs.sort(key=lambda run: (run[0], -len(run)))
        self._runs: Words = np.array([token for run in runs for token in run], np.uint64)
        self._bounds: Positions = np.array([*accumulate(map(len, runs), initial=0)], np.int64)
        self._own = local()

    def hashes(self, words: list[bytes]) -> Words:
        """Hash words one by one, with the hashes that they have in a text; none may be empty."""
        folded = np.frombuffer(b"\0".join([*words, bytes(PADDING)]), np.uint8).copy()
        bounds = np.array([0, len(folded) - PADDING], np.int64)
        hashed = np.empty(len(words) + kernels.USUAL, np.uint64)
        nowhere = np.empty(0, np.int64)
        count = kernels.words(folded, bounds, self._key, self._keyed, hashed, np.empty(2, np.int64), nowhere)
        return hashed[:count]

    def translate(self, tokens: Words, offsets: Positions, starts: Positions, folded: Bytes) -> None:
        """Replace or remove, in place, the tokens of documents (*offsets*).

        Their words begin at *starts* of *folded*.
        """
        if len(self._runs):
            table.drop_runs(tokens, offsets, self._runs, self._bounds)
        known: _Table | None = getattr(self._own, "known", None)
        if known is None:
            known = self._own.known = _Table(self._single)
        for begin in range(0, len(tokens), _TOGETHER):
            part = slice(begin, begin + _TOGETHER)
            if self._language is not None:
                known.make_room(len(tokens[part]))
                self._learn(known, tokens[part], starts[part], folded, self._language)
            table.translate(tokens[part], known.keys, known.values)

    def _learn(self, known: "_Table", tokens: Words, starts: Positions, folded: Bytes, language: str) -> None:
        found, places = np.empty((2, len(tokens)), np.int64)
        count = table.meet(tokens, known.keys, known.values, found, places)
        if count == 0:
            return
        known.count += count
        gathered: Bytes = scratch("gathered", len(folded), np.uint8)
        size = table.gather(folded, starts[found[:count]], gathered)
        words = gathered[: size - 1].tobytes().split(b"\0")
        known.values[places[:count]] = self.hashes(stems(words, language))


class _Table:
    """The table of one thread: *count* tokens, including the stop words; at most half full."""

    keys: Words
    values: Words
    count: int

    def __init__(self, dropped: Words) -> None:
        self._dropped = dropped
        self._begin(_SMALLEST)

    def make_room(self, more: int) -> None:
        """Make room for *more* tokens: grow, or clear the table."""
        if self.count + more > MOST and self.count > len(self._dropped):
            self._begin(len(self.keys))
        size = len(self.keys)
        while size < 2 * (self.count + more):
            size *= 2
        if size > len(self.keys):
            old_keys, old_values = self.keys, self.values
            filled = old_keys != 0
            self.keys, self.values = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
            table.insert(self.keys, self.values, old_keys[filled], old_values[filled])

    def _begin(self, size: int) -> None:
        while size < 2 * len(self._dropped):
            size *= 2
        self.keys = np.zeros(size, np.uint64)
        self.values = np.zeros(size, np.uint64)
        self.count = len(self._dropped)
        table.insert(self.keys, self.values, self._dropped, np.full(self.count, table.DROPPED, np.uint64))
