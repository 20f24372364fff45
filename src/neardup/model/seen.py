"""What an index tells of its documents and of itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an index knows it. *kept* is the one that stands for it: itself, or ``None`` if that is gone."""

    id: str
    admitted: datetime
    kept: str | None
    fields: dict[str, Any]
    text: str | None


class Removal(NamedTuple):
    """How many documents were removed, and the ids of those that lost the one that stood for them."""

    removed: int
    orphans: list[str]


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index is made of.

    ``removed_in_files`` documents are gone, but ``compact`` has not left them out of the files yet. ``crowded`` counts,
    since it was opened, the keys that had more documents than were looked at; ``set_aside`` the bytes behind the last
    record that opening found and left out: never acknowledged, or not synced when the power failed.
    """

    documents: int
    kept: int
    segments: int
    bytes: int
    bytes_in_log: int
    removed_in_files: int
    crowded: int
    set_aside: int
    scheme: str
    recipe: str
    generation: int
