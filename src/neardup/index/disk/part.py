"""The parts of an index: segments, and the recent documents, both with documents in the order of admission.

``documents`` counts them, including removed ones; ``alive`` marks those that were not removed, empty if none was.
``bits`` is the number of low bits of keys that are replaced by numbers of documents in lists.
"""

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from neardup.model.arrays import Positions, Words

if TYPE_CHECKING:
    from neardup.index.disk.growing_part import GrowingPart
    from neardup.index.disk.recent_documents import Recent
    from neardup.index.disk.segment import Segment

LISTS: Final = ("id", "content", "equal", "representative", "key")

Part: TypeAlias = "Segment | Recent"  # some documents, by position
Written: TypeAlias = "Segment | GrowingPart"  # documents that can be written as a segment

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
