"""What has changed in an index, for engines that are kept up to date with it."""

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.index.disk.columns import TIMES
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.model.errors import StorageRefused, require
from neardup.pipeline.index.fields import ARROW, field_values
from neardup.pipeline.index.inputs import TOGETHER
from neardup.sources.output import write_table

if TYPE_CHECKING:
    from neardup.pipeline.index.index import Index


class Changes(NamedTuple):
    """What has changed in an index since an earlier *generation*; pass the new one to the next call.

    *documents* yields tables with a row for each document that was admitted, or got another representative or other
    fields, since then: ``id``, ``representative``, ``first_seen``, ``changed_at``, ``last_seen``, and the fields; a
    field with one of these names is ``field.NAME``. *removed* are the ids of documents that are no longer in the index.
    """

    generation: int
    removed: list[str]
    documents: Iterator[pa.Table]


class Exported(NamedTuple):
    """The *generation* of an index that was exported, and the numbers of its documents and removed documents."""

    generation: int
    documents: int
    removed: int


def changes(store: Store, kinds: Mapping[str, str], since: int) -> Changes:
    """Return what has changed since a generation; see ``Index.changes``. *kinds* are those of the fields."""
    with store.busy:
        store.require_open()
        now = store.next_ordinal
        rule = f"must be a generation that this index reached, at most {now}"
        require(isinstance(since, int) and not isinstance(since, bool) and 0 <= since <= now, "since", since, rule)
        if 0 < since < store.removals.complete_from:
            reason = f"does not know all changes since {since} any more; take all documents again"
            raise StorageRefused(str(store.folder), reason, "changes unknown")
        return Changes(now, store.removals.since(since) if since else [], _changed(store, kinds, since))


def _changed(store: Store, kinds: Mapping[str, str], since: int) -> Iterator[pa.Table]:
    """Yield the documents that were admitted, or got another representative or other fields, since a generation."""
    with store.busy:
        ordinals = [store.take("ordinal", places) for places in store.decided_since(since)]
    for own in ordinals:
        for begin in range(0, len(own), TOGETHER):
            with store.busy:
                places = store.with_ordinals(own[begin : begin + TOGETHER])
                table = _table(store, kinds, places[places >= 0])
            yield table


def _table(store: Store, kinds: Mapping[str, str], places: Places) -> pa.Table:
    kept = store.with_ordinals(store.take("representative", places))
    columns = {
        "id": pa.array(store.decoded("id", places), pa.large_string()),
        "representative": pa.array(store.decoded("id", kept), pa.large_string()),
    }
    for name, column in TIMES.items():
        columns[name] = pa.array(store.take(column, places)).cast(pa.timestamp("us", "UTC"))
    for name, kind in kinds.items():
        values = pa.array(field_values(store, name, kind, places), ARROW[kind])
        columns[f"field.{name}" if name in columns else name] = values
    return pa.table(columns)


def export(index: "Index", path: str | PathLike[str], since: int, *, force: bool) -> Exported:
    """Write what ``Index.changes`` returns to one table, in which removed documents have no representative.

    Raises the errors of ``write_table`` and ``Index.changes``.
    """
    found = index.changes(since)
    documents = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal documents
        empty = _table(index.store, index.fields, np.empty(0, np.int64))
        yield empty
        for table in found.documents:
            documents += len(table)
            yield table
        nulls = {field.name: pa.nulls(len(found.removed), field.type) for field in empty.schema}
        yield pa.table({**nulls, "id": pa.array(found.removed, pa.large_string())})

    write_table(path, tables(), force=force)
    return Exported(found.generation, documents, len(found.removed))
