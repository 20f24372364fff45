"""The shared and unshared pieces of a text, with long stretches shortened."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Span = tuple[int, int]
Kind = Literal["shared", "alone", "between"]

_ALONE: Final = 10  # times as much context is shown of unshared text


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a text: *shared* with the other text, *alone* in this one, or *between* words.

    *passages* are the numbers of the shared passages that begin in it. For a long stretch, *text* is the beginning,
    *rest* the end, and *omitted* the number of characters between them.
    """

    kind: Kind
    text: str
    rest: str = ""
    omitted: int = 0
    passages: tuple[int, ...] = ()


def pieces(text: str, shared: Sequence[Span], alone: Sequence[Span], context: int) -> Iterator[Piece]:
    """Cut a text at the ends of its *shared* passages and of its unshared stretches, *alone*; yield the pieces.

    In order the pieces are the whole text; of overlapping passages the later one is cut. At each end of a shared
    stretch, at most *context* characters are shown; of an unshared stretch, ten times as many.
    """
    for kind, begin, end, passages in _stretches(len(text), shared, alone):
        yield _shortened(kind, text[begin:end], passages, context if kind == "shared" else _ALONE * context)


def _stretches(
    length: int, shared: Sequence[Span], alone: Iterable[Span]
) -> Iterator[tuple[Kind, int, int, tuple[int, ...]]]:
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


def _shortened(kind: Kind, text: str, passages: tuple[int, ...], context: int) -> Piece:
    head, tail = _head(text, context), _tail(text, context)
    if head >= tail:
        return Piece(kind=kind, text=text, passages=passages)
    return Piece(kind=kind, text=text[:head], rest=text[tail:], omitted=tail - head, passages=passages)


def _head(text: str, context: int) -> int:
    """Return where to cut: after a space in the second half of the context, if there is one."""
    space = text.rfind(" ", context // 2, context)
    return context if space < 0 else space + 1


def _tail(text: str, context: int) -> int:
    begin = len(text) - context
    space = text.find(" ", max(begin, 0), max(begin + context // 2, 0))
    return begin if space < 0 else space
