"""What an index tells of its documents and of itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an index knows it.

    *admitted* is when its present content was admitted, *seen* when it was last admitted, with this content or another.
    *kept* is the id of its representative: its own if it is kept.
    """

    id: str
    admitted: datetime
    kept: str
    fields: dict[str, Any]
    text: str | None
    seen: datetime


class Admission(NamedTuple):
    """When a document was admitted, and when a caller was last told to keep it, as numbers that grow.

    *number* is that of the admission of its present content; *told* that of the next admission when a verdict told to
    keep it, and -1 if none did.
    """

    number: int
    told: int


class Removal(NamedTuple):
    """How many documents were removed, and the ids of those that are kept from now on, in the order of admission."""

    removed: int
    promoted: list[str]


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index is made of.

    ``removed_in_files`` counts removed documents that ``compact`` has not purged from the files yet.
    ``oversized_buckets`` counts the keys, since the index was opened, with more documents than were compared.
    ``discarded_bytes`` is the number of bytes after the last record of the log, which were discarded on opening: they
    were never acknowledged, or not synced when the power failed.
    """

    documents: int
    kept: int
    segments: int
    bytes: int
    bytes_in_log: int
    removed_in_files: int
    oversized_buckets: int
    discarded_bytes: int
    scheme: str
    recipe: str
    generation: int
