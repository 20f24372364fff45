"""Excerpts of texts: their shared and unshared pieces, with long stretches shortened."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.evaluation.passages import Passage

Span = tuple[int, int]
PieceKind = Literal["shared", "alone", "between"]

_OMITTED: Final[dict[PieceKind, str]] = {"shared": "the same", "alone": "only here", "between": "not marked"}
_ALONE: Final = 10  # times as much context is shown of unshared text


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A stretch of a text: *shared* with the other text, *alone* in this one, or *between* words.

    *passages* are the numbers of the shared passages that begin in it. For a long stretch, *text* is the beginning,
    *rest* the end, and *omitted* the number of characters between them.
    """

    kind: PieceKind
    text: str
    rest: str = ""
    omitted: int = 0
    passages: tuple[int, ...] = ()

    @property
    def omission(self) -> str:
        """Describe the characters that are left out."""
        return f"{counted(self.omitted, 'character')} {_OMITTED[self.kind]}"


class Excerpt(NamedTuple):
    """The pieces of a text that are shown, and how many characters are left after them."""

    pieces: tuple[TextPiece, ...]
    left: int


def excerpt(  # noqa: PLR0913 - a text with its spans, and three bounds
    text: str,
    shared: Sequence[Span],
    alone: Sequence[Span],
    context: int,
    *,
    most: int | None = None,
    characters: int | None = None,
) -> Excerpt:
    """Return the first *most* pieces of a text, and no more once *characters* of it are shown; ``None``: no bound.

    An empty text has no pieces.
    """
    chosen, shown, left = list[TextPiece](), 0, len(text)
    for piece in islice(pieces(text, shared, alone, context), most):
        if characters is not None and shown >= characters:
            break
        chosen.append(piece)
        shown += len(piece.text) + len(piece.rest)
        left -= len(piece.text) + piece.omitted + len(piece.rest)
    return Excerpt(tuple(chosen), left)


def excerpts(
    texts: tuple[str, str], shared: "Sequence[Passage]", alone: Sequence[Sequence[Span]], context: int, **bounds: int
) -> tuple[Excerpt, Excerpt]:
    """Return the excerpts of two texts with their *shared* passages, and the stretches that each has *alone*."""
    a, b = texts
    left = excerpt(a, [one.a for one in shared], alone[0], context, **bounds)
    return left, excerpt(b, [one.b for one in shared], alone[1], context, **bounds)


def compared(one: str, other: str, context: int, **bounds: int) -> tuple[Excerpt, Excerpt]:
    """Return the excerpts of two texts after looking for the passages that they share."""
    from neardup.evaluation.passages import shared_passages

    found = shared_passages(one, other)
    return excerpts((one, other), found.shared, (found.only_in_a, found.only_in_b), context, **bounds)


def pieces(text: str, shared: Sequence[Span], alone: Sequence[Span], context: int) -> Iterator[TextPiece]:
    """Cut a text at the ends of its *shared* passages and of its unshared stretches, *alone*; yield the pieces.

    In order the pieces are the whole text; of overlapping passages the later one is cut. At each end of a shared
    stretch, at most *context* characters are shown; of an unshared stretch, ten times as many.
    """
    for kind, begin, end, passages in _stretches(len(text), shared, alone):
        yield _shortened(kind, text[begin:end], passages, context if kind == "shared" else _ALONE * context)


def _stretches(
    length: int, shared: Sequence[Span], alone: Iterable[Span]
) -> Iterator[tuple[PieceKind, int, int, tuple[int, ...]]]:
    marked = sorted([(begin, end, number) for number, (begin, end) in enumerate(shared)] + [(*s, -1) for s in alone])
    done = place = 0
    while place < len(marked):
        begin, end, number = marked[place]
        if begin > done:
            yield "between", done, begin, ()
        behind = place + 1
        while behind < len(marked) and marked[behind][1] <= end:  # inside this passage, so it is already cut
            behind += 1
        numbers = tuple(met for _, _, met in marked[place:behind] if met >= 0)
        yield "shared" if number >= 0 else "alone", max(begin, done), end, numbers
        done, place = end, behind
    if done < length:
        yield "between", done, length, ()


def _shortened(kind: PieceKind, text: str, passages: tuple[int, ...], context: int) -> TextPiece:
    head, tail = _head(text, context), _tail(text, context)
    if head >= tail:
        return TextPiece(kind=kind, text=text, passages=passages)
    return TextPiece(kind=kind, text=text[:head], rest=text[tail:], omitted=tail - head, passages=passages)


def _head(text: str, context: int) -> int:
    """Return where to cut: after a space in the second half of the context, if there is one."""
    space = text.rfind(" ", context // 2, context)
    return context if space < 0 else space + 1


def _tail(text: str, context: int) -> int:
    begin = len(text) - context
    space = text.find(" ", max(begin, 0), max(begin + context // 2, 0))
    return begin if space < 0 else space
