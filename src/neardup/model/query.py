"""What a query looks for: words and phrases."""

import re
from typing import Final, NamedTuple

MOST_QUERY: Final = 4_096  # characters of a query that count
MOST_TERMS: Final = 64  # different words and phrases of a query that count

_TERM: Final = re.compile(r'"([^"]*)(?:"(\*?)|$)|([^\s"]+)')


class Term(NamedTuple):
    """A word or phrase that is looked for; where it *begins* a longer one, its last word may go on."""

    text: str
    begins: bool = False


def terms_of(query: str) -> tuple[Term, ...]:
    r"""Take a query apart into words and phrases; whatever it says, this is all it does.

    What stands in double quotes is a phrase, a ``*`` behind a word or phrase means whatever goes on so, and all else is
    separated by white space. Words of letters with others between, such as ``e-mail``, are phrases, and so are words of
    scripts without spaces. A quote that never ends is a phrase to the end. There is no other syntax.

    >>> for term in terms_of('storm "at  dawn" harb* "never ended OR'):
    ...     print(term.text, term.begins)
    storm False
    at dawn False
    harb True
    never ended OR False
    """
    terms: dict[Term, None] = {}
    for phrase, star, word in _TERM.findall(readable(query[:MOST_QUERY])):
        said, begins = (phrase, bool(star)) if not word else (word.rstrip("*"), word.endswith("*"))
        if any(letter.isalnum() or letter > "\x7f" for letter in said):  # else there is nothing to look for
            terms[Term(" ".join(said.split()), begins)] = None
        if len(terms) == MOST_TERMS:
            break
    return tuple(terms)


def readable(text: str) -> str:
    """Replace what UTF-8 cannot write, and what ends a string for others."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    return text.replace("\0", " ")
