"""Words that analysis replaces by their stem or removes, by hash: most words are processed only a few times."""

from itertools import accumulate
from threading import local
from typing import Final

import numpy as np

from neardup.kernels import tokens as kernels
from neardup.kernels import vocabulary as table
from neardup.model.arrays import Bytes, Positions, Words
from neardup.text.stems import has_kernel, may_change, stems, zero_ended

MOST: Final = 1 << 18  # words that a thread remembers; 4 MB
_TOGETHER: Final = 1 << 14  # tokens that are processed together: their words and stems fit into the cache
_TURNS: Final = 8  # of 8 parts whose words are mostly new, 7 look none of them up


class Vocabulary:
    """Maps token hashes to the hashes of stems, and removes stop words.

    A stop word is one token or several consecutive ones. Each thread has its own cache of at most ``MOST`` words, where
    new words replace others. So memory is bounded, and the cache never affects the result.
    """

    def __init__(self, key: Words, *, keyed: bool, stop_words: list[list[bytes]], language: str | None) -> None:
        self._key, self._keyed, self._language = key, keyed, language
        single = self.hashes([parts[0] for parts in stop_words if len(parts) == 1])
        self._stops: Words = np.zeros(2 << len(single).bit_length(), np.uint64)  # at most half full
        table.insert(self._stops, single)
        runs = [self.hashes(parts).tolist() for parts in stop_words if len(parts) > 1]
        runs.sort(key=lambda run: (run[0], -len(run)))
        self._runs: Words = np.array([token for run in runs for token in run], np.uint64)
        self._bounds: Positions = np.array([*accumulate(map(len, runs), initial=0)], np.int64)
        self._own = local()

    def hashes(self, words: list[bytes]) -> Words:
        """Hash words one by one, with the hashes that they have in a text; none may be empty."""
        return self._hashed(*zero_ended(words), len(words))

    def _hashed(self, folded: Bytes, bounds: Positions, number: int) -> Words:
        hashed = np.empty(number + kernels.USUAL, np.uint64)
        nowhere = np.empty(0, np.int64)
        count = kernels.words(folded, bounds, self._key, self._keyed, hashed, np.empty(2, np.int64), nowhere)
        return hashed[:count]

    def translate(self, tokens: Words, offsets: Positions, starts: Positions, folded: Bytes) -> None:
        """Replace or remove, in place, the tokens of documents (*offsets*).

        Their words begin at *starts* of *folded*.
        """
        if len(self._runs):
            table.drop_runs(tokens, offsets, self._runs, self._bounds)
        if self._stops.any():
            table.drop_listed(tokens, self._stops)
        if self._language is not None:
            for begin in range(0, len(tokens), _TOGETHER):
                part = slice(begin, begin + _TOGETHER)
                self._stem(tokens[part], starts[part], folded, self._language)

    def _stem(self, tokens: Words, starts: Positions, folded: Bytes, language: str) -> None:
        own = self._own
        if not hasattr(own, "cache"):
            own.cache, own.mostly_new, own.turn = np.zeros((MOST // 2, 4), np.uint64), False, 0
        own.turn += 1
        # Where most words are new, those that no step changes are not looked up, and the others only now and then:
        # the kernel needs little more time for a stem than for looking it up
        positions = may_change(folded, starts, language) if own.mostly_new else np.arange(len(tokens))
        looks_up = not own.mostly_new or own.turn % _TURNS == 0 or not has_kernel(language)
        if looks_up:
            unknown = positions[: table.recall(tokens, positions, own.cache)]
            own.mostly_new = len(unknown) > len(positions) // 2
        else:
            unknown = positions[tokens[positions] != table.DROPPED]
        if len(unknown):
            stemmed = self._hashed(*stems(folded, starts[unknown], language), len(unknown))
            if looks_up:
                table.remember(tokens, unknown, stemmed, own.cache)
            else:
                tokens[unknown] = stemmed
