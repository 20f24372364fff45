"""The parts of an index: segments, and the recent documents, both with documents in the order of admission.

``documents`` counts them, including removed ones; ``alive`` marks those that were not removed, empty if none was.
``bits`` is the number of low bits of keys that are replaced by numbers of documents in lists.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from neardup.index.disk.postings import KeyHits, Query
from neardup.model.arrays import Flags, Positions, Words
from neardup.model.candidates import ROOM

if TYPE_CHECKING:
    from neardup.index.disk.growing_part import GrowingPart
    from neardup.index.disk.recent_documents import Recent
    from neardup.index.disk.segment import Segment

DIGESTS: Final = ("content", "equal")
LISTS: Final = ("id", *DIGESTS, "representative", "key")

Part: TypeAlias = "Segment | Recent"  # some documents, by position
Written: TypeAlias = "Segment | GrowingPart"  # documents that can be written as a segment

_FEW: Final = 2  # documents of a digest that are looked at first: one may be excluded
_MORE: Final = 16  # times as much room if it was not sufficient
_ORDINAL: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


def ordinal_keys(ordinals: Positions) -> Words:
    """Return a key for each ordinal; keys of different ordinals differ, also in their high bits."""
    return ordinals.astype(np.uint64) * _ORDINAL


def alive_in(part: Written) -> int:
    """Count the documents of a part that were not removed."""
    return int(np.count_nonzero(part.alive)) if len(part.alive) else part.documents


def existing(part: Written) -> Positions:
    """Return the positions of the documents of a part that were not removed, ascending."""
    return np.flatnonzero(part.alive) if len(part.alive) else np.arange(part.documents)


def hits_of(part: Part, name: str, keys: Words, asking: Flags, room: int = ROOM) -> Iterator[KeyHits]:
    """Yield documents with a key, with more room each time, until all documents of each *asking* key were found.

    Callers may unset the flag of a key between two steps.
    """
    column = np.ascontiguousarray(keys).reshape(-1, 1)
    while True:
        hits = part.find(name, Query.of(column, asking, room))
        yield hits
        if not hits.oversized:
            return
        room *= _MORE


def first_with(part: Part, name: str, digests: Words, asking: Flags, besides: Positions) -> Positions:
    """Return the first document with each *asking* digest (uint64[n, 2]) that is not *besides*, or -1.

    The flags of those that were found are unset.
    """
    found = np.full(len(digests), part.documents)
    for hits in hits_of(part, name, digests[:, 0], asking, _FEW):
        if not len(hits.documents):  # as for most pages of a crawl
            break
        rows = hits.rows
        same = (part.take(name, hits.documents) == digests[rows]).all(axis=1)
        same &= hits.documents != besides[rows]
        np.minimum.at(found, rows[same], hits.documents[same])
        asking &= found == part.documents  # or a digest of a million documents would be listed because of another
    return np.where(found == part.documents, -1, found)


def packed_keys(keys: Words, documents: Positions, number: int, bits: int, *, position_independent: bool) -> Words:
    """Return the entries of one list: keys (uint64[n, K]) and numbers of documents; negative numbers are omitted."""
    chosen = keys.reshape(-1) if position_independent else keys[:, number]
    numbers = np.repeat(documents, keys.shape[1]) if position_independent else documents
    out = with_numbers(chosen, numbers, bits)
    return np.unique(out) if position_independent else out


def with_numbers(keys: Words, documents: Positions, bits: int) -> Words:
    """Replace the low *bits* of each key by the number of its document; negative numbers are omitted."""
    numbered = documents >= 0
    low = np.uint64(bits)
    return np.asarray((keys[numbered] >> low << low) | documents[numbered].astype(np.uint64))
