"""Two texts on a page: what they share, linked from one to the other, and what only one has, marked."""

from collections.abc import Iterable
from html import escape

from neardup.interfaces.escaping import printable_lines
from neardup.interfaces.pieces import Piece


def safe(text: str) -> str:
    r"""Escape a text for a page; its line ends and tabs stay, other control characters become visible.

    >>> safe("<b>\u202e\n")
    '&lt;b&gt;\\u202e\n'
    """
    return escape(printable_lines(text))


def marked(pieces: Iterable[Piece], side: str, other: str) -> str:
    """Render the pieces of one text: passage *n* is the anchor *side* and *n*, and leads to *other* and *n*."""
    return "".join(_rendered(piece, side, other) for piece in pieces)


def _rendered(piece: Piece, side: str, other: str) -> str:
    content = safe(piece.text)
    if piece.omitted:
        what = {"shared": "the same", "alone": "only here", "between": "of no word"}[piece.kind]
        content += f'<span class="omitted"> … {piece.omitted:,} characters {what} … </span>{safe(piece.rest)}'
    if piece.kind == "alone":
        return f"<mark>{content}</mark>"
    if not piece.passages:
        return content
    first, *others = piece.passages
    more = "".join(f'<span id="{side}{number}"></span>' for number in others)
    return f'{more}<a id="{side}{first}" href="#{other}{first}">{content}</a>'
