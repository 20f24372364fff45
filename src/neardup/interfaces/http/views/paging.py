"""Links with a selected one, and links to the pages of a list."""

from collections.abc import Callable
from typing import Final, NamedTuple

_AROUND: Final = 2  # numbers on either side of the page that is shown


class LinkChoice(NamedTuple):
    """A link that may be the selected one."""

    label: str
    href: str | None
    chosen: bool = False


class Paging(NamedTuple):
    """Links to pages; ``None`` among the numbers is a gap."""

    previous: str | None
    following: str | None
    numbers: tuple[LinkChoice | None, ...]


def paging(page: int, pages: int, href: Callable[[int], str | None]) -> Paging | None:
    """Return links to the neighbors of a page, the first and the last; ``None`` if there are no other pages.

    >>> [choice and choice.label for choice in paging(6, 11, str).numbers]
    ['1', None, '4', '5', '6', '7', '8', None, '11']
    """
    if pages <= 1 or not 1 <= page <= pages:
        return None
    wanted = sorted({1, pages, *range(max(1, page - _AROUND), min(pages, page + _AROUND) + 1)})
    numbers: list[LinkChoice | None] = []
    for place, number in enumerate(wanted):
        gap = number - wanted[place - 1] if place else 1
        if gap == 2:  # noqa: PLR2004 - one page takes no more room than the dots
            numbers.append(LinkChoice(f"{number - 1:,}", href(number - 1)))
        elif gap > 1:
            numbers.append(None)
        numbers.append(LinkChoice(f"{number:,}", href(number), number == page))
    return Paging(href(page - 1) if page > 1 else None, href(page + 1) if page < pages else None, tuple(numbers))
