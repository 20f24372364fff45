"""Which names a service answers to: a page elsewhere cannot make a browser speak to it under a name of its own."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from neardup.model.errors import require

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_ANYWHERE: Final = {"0.0.0.0", "::"}  # noqa: S104 - what is compared, not bound to
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a host.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Hosts:
    """The names that are answered to: those of the loopback, the one that is bound, and those that are *allowed*.

    Bound to every address, a machine is known by numbers that nobody listed, so any is answered to: a number cannot be
    made to lead elsewhere.

    >>> hosts = Hosts("127.0.0.1", ["search.example"])
    >>> [hosts.knows(host) for host in (b"localhost:80", b"search.example", b"evil.example", b"10.0.0.1")]
    [True, True, False, False]
    """

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        names = [_bracketed(bound), *allowed]
        for name in names:
            require(_AUTHORITY.fullmatch(name.lower()) is not None, "allow_host", name, "must be the name of a host")
        self._names = {_name(name) for name in (*LOOPBACK, *names)}
        self._numbers = bound in _ANYWHERE
        self._met: dict[bytes, bool] = {}

    def knows(self, host: bytes) -> bool:
        """Say whether a ``Host`` is answered to."""
        known = self._met.get(host)
        if known is None:
            known = self._allows(host.decode("latin-1"))
            if known and len(self._met) < 64:  # noqa: PLR2004 - spellings of few names
                self._met[host] = True
        return known

    def _allows(self, host: str) -> bool:
        name = _name(host)
        return name is not None and (name in self._names or (self._numbers and _is_number(name)))


def _name(authority: str) -> str | None:
    found = _AUTHORITY.fullmatch(authority.lower())
    return found[1].rstrip(".") if found else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _is_number(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
