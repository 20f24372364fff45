# ruff: noqa: RUF002 - letters that look like others are folded
"""Texts and queries as the search table holds them: folded words with a space between two of them."""

from itertools import pairwise

import numpy as np

from neardup.kernels import search_words as kernels
from neardup.model.arrays import TextBatch
from neardup.model.query import Term, terms_of
from neardup.text.unicode import unicode_tables


def search_words(texts: TextBatch, most: int = 1 << 62) -> list[str]:
    """Return the folded words of the first *most* characters of each text, separated by spaces.

    Words are those of the default ``Analysis`` without symbols. They are folded in all scripts: case, compatibility
    forms, digits, accents and points are ignored, and so are invisible characters. Vowel signs are letters. In scripts
    written without spaces and in Hangul, each letter with its marks is a word.

    >>> search_words(TextBatch.of(["Émile: ÆON, ﬁnance ＡＢＣ राम 서울은".encode()]))
    ['emile aeon finance abc राम 서 울 은']
    """
    offsets = texts.offsets
    out = np.empty(kernels.GROWTH * int(offsets[-1] - offsets[0]) + 1, np.uint8)
    places = np.empty(len(texts) + 1, np.int64)
    kernels.cut(texts.data, offsets, *unicode_tables().search, most, out, places)
    data = memoryview(out)  # type: ignore[arg-type]
    return [str(data[begin:end], "utf-8") for begin, end in pairwise(places.tolist())]


def query_words(query: str) -> tuple[Term, ...]:
    """Return the terms of a query in the words of the search table; terms without letters are left out.

    >>> query_words("STORM “at Dawn” harb* 🎉")
    (Term(text='storm', begins=False), Term(text='at dawn', begins=False), Term(text='harb', begins=True))
    """
    terms = terms_of(query)
    words = search_words(TextBatch.of([term.text.encode() for term in terms]))
    return tuple(dict.fromkeys(Term(own, term.begins) for own, term in zip(words, terms, strict=True) if own))
