"""The rows of a report for revisit records: captures that an archive does not store again."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions

RULE: Final = "revisit"


def with_revisits(tables: Iterable[pa.Table], documents: Any, representatives: Positions) -> Iterator[pa.Table]:
    """Yield tables of decisions on *documents*, at least one, and then the rows of their revisit records."""
    for table in tables:
        yield table
    yield from revisit_rows(documents.revisits, documents.places(), documents.ids, representatives, table.schema)


def revisit_rows(
    revisits: pa.Table | None,
    places: pa.Table | None,
    ids: pa.ChunkedArray,
    representatives: Positions,
    schema: pa.Schema,
) -> list[pa.Table]:
    """Return the rows of revisit records, in a table with the *schema* of the decisions; none without such records.

    *ids*, *places* and *representatives* are those of the documents.

    Each is a dropped capture of the rule ``revisit``. Its representative is the kept document of the page that it
    refers to, by the id of the record or else by the address; null if no document is that page. It has no position.
    """
    if revisits is None or places is None or not len(revisits):
        return []
    from neardup.sources.revisits import REFERENCES, REFERS_TO, REFERS_TO_URL  # most runs read no archives

    found = _positions(revisits.column(REFERS_TO), places.column("record_id"))
    by_url = _positions(revisits.column(REFERS_TO_URL), places.column("url"))
    found = np.where(found < 0, by_url, found)
    own = np.asarray(representatives)[np.maximum(found, 0)] if len(representatives) else found
    positions = pa.array(np.where(own >= 0, own, found), mask=found < 0)
    number = len(revisits)
    known = {
        "id": revisits.column("id"),
        "kept": pa.array(np.zeros(number, np.bool_)),
        "representative": ids.cast(pa.large_string()).take(positions),
        "representative_position": pc.if_else(pc.less(positions, len(representatives)), positions, None),
        "rule": pa.array([RULE] * number),
        **{name: revisits.column(name) for name in revisits.column_names if name not in {"id", *REFERENCES}},
    }
    columns = [known[field.name] if field.name in known else pa.nulls(number, field.type) for field in schema]
    return [pa.table([one.cast(field.type) for one, field in zip(columns, schema, strict=True)], schema=schema)]


def _positions(wanted: pa.ChunkedArray, column: pa.ChunkedArray) -> Positions:
    """Return where each value is first in a column; -1 for nulls and for other values."""
    there = np.flatnonzero(pc.is_in(column, value_set=wanted.drop_null().combine_chunks().cast(column.type)))
    values = column.take(pa.array(there)).combine_chunks().cast(wanted.type)
    found = pc.fill_null(pc.index_in(wanted, value_set=values), -1).to_numpy()  # of equal values, the first
    return np.asarray(np.append(there, -1)[found])
