# ruff: noqa: RUF003 - quotation marks of all languages
"""The words and phrases of a query."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

MOST_QUERY: Final = 4_096  # characters of a query that count
MOST_TERMS: Final = 64  # different words and phrases of a query that count

_TERM: Final = re.compile(r'"([^"]*)(?:"(\*?)|$)|([^\s"]+)')
_SAME: Final = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f«»\u2039\u203a「」『』《》〈〉〝〞〟\uff02", '"') | {"\uff0a": "*"}
)
_SINGLE: Final = re.compile(  # ‘so’, where each mark is at the edge of a word; elsewhere it is an apostrophe
    '(?<!\\w)[\u2018\u201a\u201b](?=\\w)([^"\u2018\u201a\u201b]*?\\w)[\u2019\u2018](?!\\w)'
)


class Term(NamedTuple):
    """A word or phrase to search; if it *begins* a longer one, its last word may be the beginning of a word."""

    text: str
    begins: bool = False


def terms_of(query: str) -> tuple[Term, ...]:
    r"""Return the words and phrases of a query.

    Text in quotation marks of any language is a phrase, which a missing second quote ends at the end of the query.
    Single ones are quotation marks only around whole words; others are apostrophes. A ``*`` after a word or phrase
    matches any continuation of its last word, also before the second quote. Everything else is separated by white
    space. Words of letters with other characters between them, such as ``e-mail``, and words of scripts without spaces
    are phrases. There is no other syntax, and no query is invalid.

    >>> for term in terms_of('storm "at  dawn" harb* "never ended OR'):
    ...     print(term.text, term.begins)
    storm False
    at dawn False
    harb True
    never ended OR False
    """
    terms: dict[Term, None] = {}
    text = _SINGLE.sub(r'"\1"', readable(_shortened(query)).translate(_SAME))
    for phrase, star, word in _TERM.findall(text):
        written = word or phrase.rstrip() + star
        text, begins = written.rstrip("*"), written.endswith("*")
        if any(letter.isalnum() or letter > "\x7f" for letter in text):
            terms[Term(" ".join(text.split()), begins)] = None
        if len(terms) == MOST_TERMS:
            break
    return tuple(terms)


def _shortened(query: str) -> str:
    """Return the characters of a query that count, without a word that ends beyond them, unless it is the only one."""
    kept = query[:MOST_QUERY]
    if len(query) == len(kept) or query[MOST_QUERY].isspace() or kept[-1].isspace():
        return kept
    return kept.rsplit(maxsplit=1)[0]


def written(terms: Sequence[Term]) -> str:
    """Return a query of these terms.

    >>> written(terms_of("storm “at dawn” harb*"))
    'storm "at dawn" harb*'
    """
    words = (f'"{term.text}"' if " " in term.text else term.text for term in terms)
    return " ".join(f"{word}{'*' if term.begins else ''}" for word, term in zip(words, terms, strict=True))


def readable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, and NUL characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    return text.replace("\0", " ")
