"""The parts of a long text that are worth showing: around what differs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Span = tuple[int, int]  # from a character offset up to another

LIMIT: Final = 1_600
CONTEXT: Final = 160
_WORTH: Final = 60  # characters to leave out: for fewer, saying so takes as much room
_NEAR: Final = 20  # characters by which a cut may move to spare a word


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch of a text, whether the other text lacks it, and how many characters are left out before it."""

    text: str
    differs: bool
    omitted: int = 0


def excerpt(text: str, differing: Sequence[Span], *, limit: int = LIMIT, context: int = CONTEXT) -> list[Fragment]:
    """Shorten a text to at most *limit* characters: what differs, with *context* characters around it.

    *differing* are ascending spans that do not overlap. The fragments stand in text order, and with what is left out
    they make up the text: a last fragment without text says how much is left out at its end. A text in which nothing
    differs is shown from its beginning; an empty one gives nothing.
    """
    fragments: list[Fragment] = []
    shown = end = 0
    for begin, wanted, differs in _stretches(text, differing, limit, context):
        stop = min(wanted, begin + limit - shown)
        if stop > begin:
            fragments.append(Fragment(text[begin:stop], differs, begin - end))
            shown += stop - begin
            end = stop
    if end < len(text):
        fragments.append(Fragment("", False, len(text) - end))
    return fragments


def _stretches(text: str, differing: Sequence[Span], limit: int, context: int) -> Iterator[tuple[int, int, bool]]:
    for begin, end, differs in _runs(len(text), differing):
        keep = max(_NEAR, limit // 4 if differs else context if differing else limit)
        if end - begin <= 2 * keep + _WORTH:
            yield begin, end, differs
        else:
            yield begin, _behind_space(text, begin + keep), differs
            yield _at_space(text, end - keep), end, differs


def _behind_space(text: str, place: int) -> int:
    """Move a cut back behind a space, if there is one near."""
    space = text.rfind(" ", place - _NEAR, place)
    return space + 1 if space >= 0 else place


def _at_space(text: str, place: int) -> int:
    """Move a cut forward to a space, if there is one near."""
    space = text.find(" ", place, place + _NEAR)
    return max(space, place)


def _runs(length: int, differing: Iterable[Span]) -> Iterator[tuple[int, int, bool]]:
    """Cut a text into what differs and what does not."""
    at = 0
    for begin, end in differing:
        if at < begin:
            yield at, begin, False
        if begin < end:
            yield begin, end, True
        at = end
    if at < length:
        yield at, length, False
