"""What an index reports about its documents and about itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an index knows it.

    *first_seen* is when its id was first admitted, *changed_at* when its present content was admitted, and *last_seen*
    when the id was last admitted or seen. *representative* is the id of the kept document of its cluster: its own if it
    is kept.
    """

    id: str
    first_seen: datetime
    changed_at: datetime
    last_seen: datetime
    representative: str
    fields: dict[str, Any]
    text: str | None


class Admission(NamedTuple):
    """When a document was admitted, and when the last verdict to keep it was returned, as increasing numbers.

    *number* is the number of the admission of its present content. *reported* is the number of the next admission at
    the time of the last verdict to keep the document; -1 if there was none.
    """

    number: int
    reported: int


class GroupPage(NamedTuple):
    """Some *members* of a cluster of *total* documents, by id, and the id of its *representative*."""

    representative: str
    total: int
    members: list[str]


class Removal(NamedTuple):
    """The number of removed documents, and the ids of those that are kept since then, in order of admission."""

    removed: int
    promoted: list[str]


@dataclass(frozen=True, slots=True)
class Stats:
    """The contents and the size of an index.

    ``kept`` counts the ``documents`` that are not duplicates of others. ``bytes`` is the size of the ``segments`` and
    the log together, ``bytes_in_log`` that of the log alone. ``scheme`` is the name of the scheme, and ``recipe`` the
    id of its recipe.
    ``removed_in_files`` counts removed documents that ``compact`` has not purged from the files yet.
    ``oversized_buckets`` counts, since the index was opened, the lookups of a key that more than 64 documents have.
    ``discarded_bytes`` counts the bytes after the last record of the log, which were discarded on opening: they were
    never acknowledged, or were not synced when the power failed. ``generation`` is what ``Index.changes`` takes to
    return later changes. ``extraction`` is how web pages became texts (``Extraction.identity``); ``None`` if there were
    no pages.
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
    extraction: dict[str, str | None] | None
