"""The report of a run: its decisions, the rows of revisit records and, in Parquet, how it read and decided."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions
from neardup.model.policy import Policy
from neardup.schemes import terms as schemes
from neardup.schemes.registry import kinds
from neardup.sources.formats import AnyPath
from neardup.sources.output import write_table
from neardup.sources.request import Request

RULE: Final = "revisit"  # of the rows of captures that an archive does not store again
_KEY: Final = b"neardup.run"
_SECONDS: Final = 19  # characters of a date and time such as 2026-11-23T00:00:00


def reading_terms(request: Request, pages: Mapping[str, str | None] | None) -> dict[str, Any]:
    """Return what decides the texts of a run: its fields, and the identity of the extraction of *pages*, if any."""
    return {"text": request.text, "html": request.html is not None, **(pages or {})}


def write_report(  # noqa: PLR0913 - the decisions, and what made them
    path: str, tables: Iterable[pa.Table], *, scheme: Any, policy: Policy, reading: Mapping[str, Any], force: bool
) -> None:
    """Write tables of decisions, at least one.

    The terms of the run are in the metadata, without its secret key; unknown schemes have none. *scheme* has the list
    of shingles that the run has made.
    """
    known = {"keep": policy.keep, "reading": reading}
    if isinstance(scheme, kinds()):
        known |= {"scheme": schemes.written(scheme), "recipe": scheme.recipe}
    metadata = {_KEY: json.dumps(known)}
    write_table(path, (table.replace_schema_metadata(metadata) for table in tables), force=force)


def terms_of_report(path: AnyPath) -> dict[str, Any] | None:
    """Return the terms of the run that wrote a report; ``None`` if they are not in it: only Parquet has them."""
    if os.fspath(path).lower().endswith(".parquet"):
        import pyarrow.parquet as pq  # slow to load

        try:
            with pa.OSFile(os.fsencode(path)) as source:
                found = json.loads((pq.read_schema(source).metadata or {})[_KEY])
        except (OSError, pa.ArrowException, KeyError, ValueError, RecursionError):
            return None  # the reader of the table describes what is wrong
        if isinstance(found, dict) and {"scheme", "recipe", "keep", "reading"} <= found.keys():
            return found if isinstance(found["scheme"], dict) and isinstance(found["reading"], dict) else None
    return None


def revisit_rows(documents: Any, representatives: Positions, schema: pa.Schema) -> list[pa.Table]:
    """Return the rows of revisit records, in a table with the *schema* of the decisions; none without such records.

    Each is a dropped capture of the rule ``revisit``. Its representative is the kept document of the page that it
    refers to: by the id of the record, or else by the address with the date. Of several captures, the first one counts.
    Null if no document is that page. It has no position.
    """
    revisits, places = documents.revisits, documents.places()
    if revisits is None or places is None or not len(revisits):
        return []
    from neardup.sources.revisits import REFERENCES, REFERS_TO, REFERS_TO_DATE, REFERS_TO_URL  # few runs read archives

    by_id = _positions(revisits.column(REFERS_TO), places.column("record_id"))
    dated = _dated(revisits.column(REFERS_TO_URL), revisits.column(REFERS_TO_DATE))
    by_date = _positions(dated, _dated(places.column("url"), places.column("date")))
    found = np.where(by_id < 0, by_date, by_id)
    own = np.asarray(representatives)[np.maximum(found, 0)] if len(representatives) else found
    positions = pa.array(np.where(own >= 0, own, found), mask=found < 0)
    number = len(revisits)
    known = {
        "id": revisits.column("id"),
        "kept": pa.array(np.zeros(number, np.bool_)),
        "representative": documents.ids.cast(pa.large_string()).take(positions),
        "representative_position": pc.if_else(pc.less(positions, len(representatives)), positions, None),
        "rule": pa.array([RULE] * number),
        **{name: revisits.column(name) for name in revisits.column_names if name not in {"id", *REFERENCES}},
    }
    columns = [known[field.name] if field.name in known else pa.nulls(number, field.type) for field in schema]
    return [pa.table([one.cast(field.type) for one, field in zip(columns, schema, strict=True)], schema=schema)]


def _dated(urls: pa.ChunkedArray, dates: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return each address with its date, to the second; null without one of them."""
    seconds = pc.utf8_slice_codeunits(dates, 0, _SECONDS).cast(pa.large_string())
    return pc.binary_join_element_wise(urls.cast(pa.large_string()), seconds, pa.scalar("\n", pa.large_string()))


def _positions(wanted: pa.ChunkedArray, column: pa.ChunkedArray) -> Positions:
    """Return where each value is first in a column; -1 for nulls and for other values."""
    there = np.flatnonzero(pc.is_in(column, value_set=wanted.drop_null().combine_chunks().cast(column.type)))
    values = column.take(pa.array(there)).combine_chunks().cast(wanted.type)
    found = pc.fill_null(pc.index_in(wanted, value_set=values), -1).to_numpy()  # of equal values, the first
    return np.asarray(np.append(there, -1)[found])
