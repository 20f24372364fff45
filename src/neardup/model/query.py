"""The words and phrases of a query."""

import re
from typing import Final, NamedTuple

MOST_QUERY: Final = 4_096  # characters of a query that count
MOST_TERMS: Final = 64  # different words and phrases of a query that count

_TERM: Final = re.compile(r'"([^"]*)(?:"(\*?)|$)|([^\s"]+)')


class Term(NamedTuple):
    """A word or phrase to search; if it *begins* a longer one, its last word may be the beginning of a word."""

    text: str
    begins: bool = False


def terms_of(query: str) -> tuple[Term, ...]:
    r"""Return the words and phrases of a query.

    Text in double quotes is a phrase, which a missing second quote ends at the end of the query. A ``*`` after a word
    or phrase matches any continuation of its last word. Everything else is separated by white space. Words of letters
    with other characters between them, such as ``e-mail``, and words of scripts without spaces are phrases. There is no
    other syntax, and no query is invalid.

    >>> for term in terms_of('storm "at  dawn" harb* "never ended OR'):
    ...     print(term.text, term.begins)
    storm False
    at dawn False
    harb True
    never ended OR False
    """
    terms: dict[Term, None] = {}
    for phrase, star, word in _TERM.findall(readable(query[:MOST_QUERY])):
        text, begins = (phrase, bool(star)) if not word else (word.rstrip("*"), word.endswith("*"))
        if any(letter.isalnum() or letter > "\x7f" for letter in text):
            terms[Term(" ".join(text.split()), begins)] = None
        if len(terms) == MOST_TERMS:
            break
    return tuple(terms)


def readable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, and NUL characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    return text.replace("\0", " ")
