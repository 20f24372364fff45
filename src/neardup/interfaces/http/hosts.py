"""The host names that a service answers to, so that no page of another site reaches it under its own name."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from neardup.model.errors import ParameterError, require

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_ANYWHERE: Final = {"0.0.0.0", "::"}  # noqa: S104 - what is compared, not bound to
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def require_proxy(address: str) -> None:
    """Raise ``ParameterError`` unless this is the IP address of a proxy, or the network of several.

    >>> [require_proxy(address) for address in ("127.0.0.1", "::1", "10.0.0.0/8")]
    [None, None, None]
    """
    try:
        ip_network(address)
    except ValueError:
        rule = "must be an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8"
        raise ParameterError("trust_proxy", address, rule) from None


class Hosts:
    """The host names that are served: those of the loopback, the bound one, and the *allowed* ones.

    A service that is bound to all addresses also answers to all IP addresses: they cannot be redirected like names.

    >>> hosts = Hosts("127.0.0.1", ["search.example"])
    >>> [hosts.knows(host) for host in (b"localhost:80", b"search.example", b"evil.example", b"10.0.0.1")]
    [True, True, False, False]
    """

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        names = [f"[{bound}]" if ":" in bound and not bound.startswith("[") else bound, *allowed]
        for name in names:
            plain = _AUTHORITY.fullmatch(name.lower()) is not None and "*" not in name
            require(plain, "allow_host", name, "must be the name of a host, without wildcards")
        self._names = {_name(name) for name in (*LOOPBACK, *names)}
        self._numbers = bound in _ANYWHERE

    def are_asked(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a request with these headers names one host, and the service answers to it."""
        hosts = [value for name, value in headers if name == b"host"]
        return len(hosts) == 1 and self.knows(hosts[0])

    def knows(self, host: bytes) -> bool:
        """Return whether the service answers to a ``Host`` header."""
        name = _name(host.decode("latin-1"))
        return name is not None and (name in self._names or (self._numbers and _address(name.strip("[]")) is not None))


def _name(authority: str) -> str | None:
    found = _AUTHORITY.fullmatch(authority.lower())
    return found[1].rstrip(".") if found else None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
