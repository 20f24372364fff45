"""The host, the registered domain and the first path levels of an address, which identify the hits of one site."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from neardup.model.errors import ExtraMissing, require_whole
from neardup.sources.addresses import Addresses

_ADDRESSES: Final = Addresses()
_FRONT: Final = re.compile("[^:/?#]*://[^/?#]*[/?#]?")  # the part that decides the host: scheme, authority and its end
_SHORT: Final = 300  # characters of a front that is cached
_REMEMBERED: Final = 1 << 12  # a crawl has many pages of each host


def host(address: Any) -> str | None:
    """Return the host of an address in its normal form: lower case, ASCII, no final dot, no port, an IPv6 in brackets.

    ``None`` for an address without a host; nothing is raised.

    >>> host("https://user@WWW.Example.com.:8080/a"), host("mailto:somebody@example.com")
    ('www.example.com', None)
    """
    front = _FRONT.match(address) if isinstance(address, str) else None
    if front is None:
        return None
    return _host(front[0]) if len(front[0]) <= _SHORT else _host.__wrapped__(front[0])


def named_host(name: str) -> str:
    """Return the normal form of a host that a person names, also by a URL; the name itself if it is not a host.

    >>> named_host("Example.COM:8080"), named_host("http://bücher.example/a"), named_host("")
    ('example.com', 'xn--bcher-kva.example', '')
    """
    return host(name) or host(f"https://{name}/") or name


@lru_cache(_REMEMBERED)
def _host(front: str) -> str | None:
    place = _ADDRESSES.place(front)
    return None if place is None else place[0]


def registered_domain(address: Any) -> str | None:
    """Return the registered domain of the host of an address: one label more than a public suffix.

    For a host without a registered domain, such as an IP address, ``localhost`` or a public suffix, it is the host
    itself, so that hits of the same site have the same value. Unknown suffixes have one label. Suffixes under which
    names are given away count as public (``github.io``). ``None`` for an address without a host; no address raises an
    error. The list is part of the library ``publicsuffixlist``; nothing is downloaded.

    Raises ``ExtraMissing`` without that library: ``pip install 'neardup[web]'``.

    >>> registered_domain("https://news.example.co.uk/a"), registered_domain("http://127.0.0.1:8000/")
    ('example.co.uk', '127.0.0.1')
    """
    suffixes = _suffixes()
    own = host(address)
    if own is None or own.rpartition(".")[2].isdigit() or own.startswith("["):
        return own
    found = suffixes.privatesuffix(own)  # only the number of labels counts
    return own if found is None else ".".join(own.split(".")[-1 - found.count(".") :])


@lru_cache(maxsize=1)
def _suffixes() -> Any:
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError as error:
        raise ExtraMissing("publicsuffixlist", "web") from error
    return PublicSuffixList()


@dataclass(frozen=True, slots=True)
class PathLevels:
    """A function that returns the host and the first *levels* of the path of an address, in normal form.

    A level is the text between two slashes; the last level may end without a slash. Paths with fewer levels are
    returned whole. The function returns ``None`` for an address without a host; nothing is raised. Two functions with
    the same number of levels are equal.

    >>> two = path_levels(2)
    >>> two("https://example.com/docs/4.2/install.html"), two("https://example.com/docs/"), two("about:blank")
    ('example.com/docs/4.2', 'example.com/docs', None)
    """

    levels: int

    def __post_init__(self) -> None:
        require_whole("levels", self.levels, 1)

    @property
    def __name__(self) -> str:
        """Its name in the name of a rule."""
        return f"first {self.levels} path level{'s' if self.levels > 1 else ''}"

    def __call__(self, address: Any) -> str | None:
        """Return the host and the first levels of an address; ``None`` without a host."""
        place = _ADDRESSES.place(address) if isinstance(address, str) else None
        if place is None:
            return None
        own, path = place
        return "/".join([own, *path.split("/", self.levels + 1)[1 : self.levels + 1]]).rstrip("/")


path_levels: Final = PathLevels
