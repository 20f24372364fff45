"""Words that analysis replaces by their stem or leaves out, by hash: each distinct word is looked at once."""

from threading import Lock

import numpy as np

from neardup.kernels import tokens as kernels
from neardup.kernels import vocabulary as table
from neardup.kernels.folding import PADDING
from neardup.model.arrays import Bytes, Positions, Words
from neardup.text.stems import stems

_SMALLEST = 1 << 10


class Vocabulary:
    """Maps token hashes to the hashes of stems, and stop words to nothing.

    It learns each new word's stem when the word is first met. Threads share one vocabulary: what
    is learned is a new pair of tables put in the place of the old one.
    """

    def __init__(self, key: Words, *, keyed: bool, stop_words: list[bytes], language: str | None) -> None:
        self._key, self._keyed, self._language = key, keyed, language
        self._lock = Lock()
        self._count = 0
        self._tables: tuple[Words, Words] = (np.zeros(_SMALLEST, np.uint64), np.zeros(_SMALLEST, np.uint64))
        self._add(self.hashes(stop_words), np.full(len(stop_words), table.DROPPED, np.uint64))

    def hashes(self, words: list[bytes]) -> Words:
        """Hash words one by one, as the tokeniser hashes them in a text; none may be empty."""
        folded = np.frombuffer(b"\0".join([*words, bytes(PADDING)]), np.uint8).copy()
        bounds = np.array([0, len(folded) - PADDING], np.int64)
        hashed = np.empty(len(folded), np.uint64)
        nowhere = np.empty(0, np.int64)
        count = kernels.words(folded, bounds, self._key, self._keyed, hashed, np.empty(2, np.int64), nowhere)
        return hashed[:count]

    def translate(self, tokens: Words, starts: Positions, folded: Bytes) -> None:
        """Replace or drop, in place, the tokens whose words begin at *starts* of *folded*."""
        if self._language is not None:
            self._learn(tokens, starts, folded, self._language)
        table.translate(tokens, *self._tables)

    def _learn(self, tokens: Words, starts: Positions, folded: Bytes, language: str) -> None:
        found = np.empty(len(tokens), np.int64)
        with self._lock:
            count = table.missing(tokens, self._tables[0], found)
            if count == 0:
                return
            new, first = np.unique(tokens[found[:count]], return_index=True)
            words = [_word_at(folded, starts[found[place]]) for place in first]
            stemmed = [stem or word for stem, word in zip(stems(words, language), words, strict=True)]
            self._add(new, self.hashes(stemmed))

    def _add(self, keys: Words, values: Words) -> None:
        self._count += len(keys)
        old_keys, old_values = self._tables
        size = len(old_keys)
        while size < 2 * self._count:
            size *= 2
        if size == len(old_keys):
            new_keys, new_values = old_keys.copy(), old_values.copy()
        else:
            new_keys, new_values = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
            filled = old_keys != 0
            table.insert(new_keys, new_values, old_keys[filled], old_values[filled])
        table.insert(new_keys, new_values, keys, values)
        self._tables = (new_keys, new_values)


def _word_at(folded: Bytes, start: int) -> bytes:
    width = 32
    while (piece := folded[start : start + width].tobytes()).find(0) < 0:
        width *= 8
    return piece[: piece.index(0)]
