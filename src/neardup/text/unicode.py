"""Properties of every code point for the tokeniser and the search table, the same in every version of Python.

Three tables of 128-entry blocks, ``data[index[code >> 7] << 7 | code & 127]``, written by
``tools/make_unicode_tables.py``:

``analysis`` (uint32)
    Unicode 14.0: bits 0-20 the case-folded code point minus the code point, mod 2**21 (a difference, so that most
    blocks are equal), or the row of ``expansions`` if bit 23 is set;
    bits 21-22 its kind: 0 separator, 1 part of a word, 2 a whole word (scripts without spaces), 3 a symbol,
    which counts or not depending on its context (``neardup.kernels.symbols``);
    bit 24 set for a number; bit 25 for an invisible code point (Default_Ignorable_Code_Point, and
    tatweel, which only makes Arabic words longer).
``normal`` (uint16)
    bits 0-7 the canonical combining class of the first code point of its decomposition; bit 8 (NFC) and
    bit 9 (NFKC) set if the code point may change under normalisation; bit 10 if it is not assigned.
``search`` (uint32)
    for the words that search compares (``neardup.kernels.search_words``): bits 0-20 the folded code point minus the
    code point, mod 2**21; bits 21-23 its kind: 0 separator, 1 part of a word, 2 a whole word, 3 dropped (accents and
    invisible code points), 4 a mark that belongs to the letter before, 5 the row in ``search_expansions``: the number
    of folded code points, and each with its kind.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class UnicodeTables(NamedTuple):
    """The arrays for kernels: the index and data of each table, and expansions; those of ``search`` are with it."""

    analysis: tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]
    expansions: npt.NDArray[np.uint32]
    normal: tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]
    search: tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]


@cache
def unicode_tables() -> UnicodeTables:
    """Load the tables once."""
    with (files("neardup.text") / "unicode.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as tables:
        analysis, normal, search = (
            (tables[f"{name}_index"], tables[f"{name}_data"]) for name in ("analysis", "normal", "search")
        )
        return UnicodeTables(analysis, tables["expansions"], normal, (*search, tables["search_expansions"]))
