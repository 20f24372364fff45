"""What ranks documents by their addresses: how often an address is named as canonical, https, and the length."""

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.ranking import AddressRanks, times_named
from neardup.model.arrays import Positions, Words, positions_in
from neardup.model.policy import CANONICAL, NOINDEX, Policy
from neardup.sources.collection import Collection, InputPiece
from neardup.sources.fields import are_true

if TYPE_CHECKING:
    from neardup.sources.addresses import Addresses

WRITTEN: Final = {CANONICAL: pa.large_string(), NOINDEX: pa.bool_()}  # the types of ``written_fields``
_AT_ONCE: Final = 1 << 16  # strings of Python
_WEB: Final = frozenset({"http", "https"})
_BLANKS: Final = " \t\r\n"


def written_fields(documents: Collection, policy: Policy) -> dict[str, pa.Array]:
    """Return the fields that rank documents by what they declare, by name; nulls where a piece has no address.

    ``canonical`` is as written, ``noindex`` true or false.
    """
    found: dict[str, pa.Array] = {}
    for name in policy.written_fields:
        if name == NOINDEX:
            found[name] = documents.flags(name)
        elif isinstance(documents, InputPiece) and documents.lacking(name) is not None:
            found[name] = pa.nulls(len(documents), WRITTEN[name])
        else:
            found[name] = documents.column(name, literal=True)
    return found


def address_ranks(
    policy: Policy, addresses: pa.ChunkedArray, values: Mapping[str, pa.ChunkedArray]
) -> AddressRanks | None:
    """Return what *policy* needs of the *addresses* of documents, usually their ids; ``None`` if they do not count.

    *values* are columns by name, among them those of ``written_fields``; there may be no ``noindex``. See ``Policy``.
    """
    if not policy.ranks_addresses:
        return None
    addresses = addresses.cast(pa.large_string())
    own = pc.utf8_lower(pc.utf8_ltrim(addresses, _BLANKS))
    named = np.zeros(len(addresses), np.int64)
    if CANONICAL in policy.written_fields:
        named = times_named(*_addresses(addresses, values[CANONICAL].cast(pa.large_string())))
    https = pc.fill_null(pc.starts_with(own, "https:"), fill_value=False)
    sizes = pc.fill_null(pc.binary_length(addresses), 0)
    noindex = np.zeros(len(addresses), np.bool_)
    if NOINDEX in policy.written_fields and NOINDEX in values:
        noindex = are_true(values[NOINDEX]).to_numpy()
    secure = https.to_numpy(zero_copy_only=False).astype(np.bool_)
    return AddressRanks(named, secure, noindex, sizes.to_numpy().astype(np.int64))


def named_address(own: str, canonical: str | None) -> str:
    """Return the address that a document names as canonical, in normal form: its own without a valid other one.

    Addresses are those of http and https, and relative ones.

    >>> named_address("http://a.example/b", "javascript:void(0)")
    'https://a.example/b'
    >>> named_address("http://a.example/b/c?sid=1", "../c"), named_address("http://a.example/b", None)
    ('https://a.example/c', 'https://a.example/b')
    """
    if canonical is not None and not _is_blank(canonical):
        try:
            address = urljoin(own, canonical.strip())
            if not (scheme := urlsplit(canonical.strip()).scheme) or (scheme in _WEB and urlsplit(address).netloc):
                return _forms().normal(address)
        except ValueError:  # such as an invalid address of IPv6
            pass
    return _forms().normal(own)


def hint_counts(addresses: pa.ChunkedArray, canonicals: pa.ChunkedArray, representatives: Positions) -> dict[str, int]:
    """Count the effects of the *canonicals* that documents declare, as parts of a summary; see ``address_ranks``.

    ``canonical_kept``: the kept documents that a dropped document of their cluster names. ``canonical_contradicted``:
    the documents that name the address of other documents of the run that are all in other clusters.

    *representatives* are the positions of those that documents are dropped for, or -1; documents of other runs have
    larger positions. Without documents, nothing counts.
    """
    own, named = _addresses(addresses.cast(pa.large_string()), canonicals.cast(pa.large_string()))
    number = len(own)
    others = np.flatnonzero(own != named)
    clusters = np.where(representatives < 0, np.arange(number), representatives)
    of_others = representatives[others]
    inside = (of_others >= 0) & (of_others < number)
    followed = own[of_others[inside]] == named[others][inside]
    known, codes = np.unique(own, return_inverse=True)
    places = positions_in(known, named[others])
    width = int(clusters.max(initial=0)) + 1
    agree = np.isin(places * width + clusters[others], codes * width + clusters)
    return {
        "canonical_kept": len(np.unique(of_others[inside][followed])),
        "canonical_contradicted": int(((places >= 0) & ~agree).sum()),
    }


def _addresses(addresses: pa.ChunkedArray, canonicals: pa.ChunkedArray) -> tuple[Words, Words]:
    """Return hashes of the address of each document, and of the one that it names."""
    own, named = bytearray(), bytearray()
    for begin in range(0, len(addresses), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        for each, canonical in zip(addresses[part].to_pylist(), canonicals[part].to_pylist(), strict=True):
            address = _digest(_forms().normal(each or ""))
            own += address
            named += address if _is_blank(canonical) else _digest(named_address(each or "", canonical))
    return np.frombuffer(own, np.uint64), np.frombuffer(named, np.uint64)


def _is_blank(canonical: str | None) -> bool:
    return canonical is None or not canonical.strip()


def _digest(address: str) -> bytes:
    return blake2b(address.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@cache
def _forms() -> "Addresses":
    """Return the rules of normal forms, which are loaded for runs that need them."""
    from neardup.sources.addresses import Addresses

    return Addresses(ignore_scheme=True)
