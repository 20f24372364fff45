"""Snowball stems; the one module that imports PyStemmer.

PyStemmer holds the interpreter lock and makes two objects for each word. Where its module exports the functions of
libstemmer, as on Linux, kernels call these: the same stems in half of the time, in all threads at once.
"""

import ctypes
import weakref
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from neardup.model.arrays import Flags

# English words that end in another byte are their own stems: every rule removes or changes an ending.
_ENGLISH_ENDINGS: Final = b"cdegilmnrsty"


@cache
def stem_languages() -> tuple[str, ...]:
    """Name the languages that have a Snowball stemmer."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def stemmer_version() -> str:
    """Name the release of the stemmers."""
    import Stemmer

    return str(Stemmer.version())


def stems(words: list[bytes], language: str) -> list[bytes]:
    """Stem each word (UTF-8). Words that are not UTF-8 stay as they are."""
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)  # its own cache halves the speed, and each word comes here once
    return [stemmed if isinstance(stemmed, bytes) else stemmed.encode() for stemmed in stemmer.stemWords(words)]


@cache
def changing_endings(language: str) -> Flags:
    """Return by byte (bool[256]) whether the stem of a word that ends in it may be another one."""
    flags = np.ones(256, np.bool_)
    if language == "english":
        flags[:] = False
        flags[list(_ENGLISH_ENDINGS)] = True
    return flags


class NativeStemmer(NamedTuple):
    """The functions of libstemmer inside PyStemmer and a stemmer of theirs, for one thread, as addresses (uint64)."""

    stem: np.uint64
    length: np.uint64
    stemmer: np.uint64


class StemmerOwner:
    """Holds a stemmer of libstemmer as long as it lives; *native* is ``None`` where PyStemmer hides the functions."""

    def __init__(self, language: str) -> None:
        self.native: NativeStemmer | None = None
        library = _library()
        if library is not None and (handle := library.sb_stemmer_new(language.encode(), b"UTF_8")):
            weakref.finalize(self, library.sb_stemmer_delete, handle)
            functions = (library.sb_stemmer_stem, library.sb_stemmer_length)
            addresses = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
            self.native = NativeStemmer(*map(np.uint64, (*addresses, handle)))


@cache
def _library() -> ctypes.CDLL | None:
    import Stemmer

    try:
        library = ctypes.CDLL(Stemmer.__file__)
        library.sb_stemmer_new.restype = ctypes.c_void_p
        library.sb_stemmer_new.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        library.sb_stemmer_delete.argtypes = [ctypes.c_void_p]
        library.sb_stemmer_delete.restype = None
        _ = library.sb_stemmer_stem, library.sb_stemmer_length
    except (AttributeError, OSError):  # not exported on every system
        return None
    return library
