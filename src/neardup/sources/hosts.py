"""Of an address the host and the first levels of its path, by which hits of one site are told."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from neardup.model.errors import require_whole
from neardup.sources.addresses import Addresses

_ADDRESSES: Final = Addresses()
_FRONT: Final = re.compile("[^:/?#]*://[^/?#]*[/?#]?")  # all that a host depends on: scheme, authority and its end
_SHORT: Final = 300  # characters of a front that is remembered
_REMEMBERED: Final = 1 << 12  # as a crawl has many pages of each host


def host(address: Any) -> str | None:
    """Return the host of an address in its normal form: lower case, ASCII, no final dot, no port, an IPv6 in brackets.

    ``None`` for what has no host; nothing is raised.

    >>> host("https://user@WWW.Example.com.:8080/a"), host("mailto:somebody@example.com")
    ('www.example.com', None)
    """
    front = _FRONT.match(address) if isinstance(address, str) else None
    if front is None:
        return None
    return _host(front[0]) if len(front[0]) <= _SHORT else _host.__wrapped__(front[0])


@lru_cache(_REMEMBERED)
def _host(front: str) -> str | None:
    place = _ADDRESSES.place(front)
    return None if place is None else place[0]


@dataclass(frozen=True, slots=True)
class PathLevels:
    """A function of an address: see ``path_levels``. Two of as many *levels* are equal."""

    levels: int

    def __post_init__(self) -> None:
        require_whole("levels", self.levels, 1)

    @property
    def __name__(self) -> str:
        """What it is called in the name of a rule."""
        return f"first {self.levels} path level{'s' if self.levels > 1 else ''}"

    def __call__(self, address: Any) -> str | None:
        """Return host and first levels of an address; ``None`` for what has no host."""
        place = _ADDRESSES.place(address) if isinstance(address, str) else None
        if place is None:
            return None
        own, path = place
        return "/".join([own, *path.split("/", self.levels + 1)[1 : self.levels + 1]]).rstrip("/")


def path_levels(levels: int) -> PathLevels:
    """Make a function that gives of an address the host and the first *levels* of the path, in their normal form.

    A level is what stands between two slashes; the last one counts with or without a slash behind it. Paths that have
    fewer levels are whole. ``None`` for what has no host; nothing is raised.

    >>> two = path_levels(2)
    >>> two("https://example.com/docs/4.2/install.html"), two("https://example.com/docs/"), two("about:blank")
    ('example.com/docs/4.2', 'example.com/docs', None)
    """
    return PathLevels(levels)
