"""The registered domain of an address, by the list of public suffixes; it requires the extra ``web``."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup.model.errors import ExtraMissing
from neardup.sources.hosts import host

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


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
def _suffixes() -> "PublicSuffixList":
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError as error:
        raise ExtraMissing("publicsuffixlist", "web") from error
    return PublicSuffixList()
