"""The registered domain of an address, by the list of public suffixes; it needs the extra ``web``."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup.model.errors import ExtraMissing
from neardup.sources.hosts import host

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registered_domain(address: Any) -> str | None:
    """Return the domain that somebody registered of the host of an address: one label more than a public suffix.

    Of a host that has none, such as an IP address, ``localhost`` or a public suffix, it is the host itself: so hits
    have the same value if they are of the same site. Suffixes that nobody listed have one label. Those under which
    others give names away count as public (``github.io``). ``None`` for what has no host; nothing is raised for an
    address. The list comes with the library ``publicsuffixlist``, and nothing is fetched.

    Raises ``ExtraMissing`` without that library: ``pip install 'neardup[web]'``.

    >>> registered_domain("https://news.example.co.uk/a"), registered_domain("http://127.0.0.1:8000/")
    ('example.co.uk', '127.0.0.1')
    """
    suffixes = _suffixes()
    own = host(address)
    if own is None or own.rpartition(".")[2].isdigit() or own.startswith("["):
        return own
    found = suffixes.privatesuffix(own)  # in its own spelling: only how many labels it has counts
    return own if found is None else ".".join(own.split(".")[-1 - found.count(".") :])


@lru_cache(maxsize=1)
def _suffixes() -> "PublicSuffixList":
    try:
        from publicsuffixlist import PublicSuffixList
    except ImportError as error:
        raise ExtraMissing("publicsuffixlist", "web") from error
    return PublicSuffixList()
