"""Adding: the leaders of a run become a segment of a state."""

from collections.abc import Iterator
from datetime import UTC, datetime
from math import prod
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.decisions.drops import UNKNOWN
from neardup.model.arrays import Positions, Words
from neardup.pipeline.spilled.earlier import COUNTS, ROWS, SITE, Rows, RunInputs
from neardup.pipeline.spilled.heads import HEAD_OF, HEADS, gather_rows
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.outcome import REPRESENTATIVES, settled_of
from neardup.pipeline.spilled.signed import Signed
from neardup.pipeline.spilled.state import SegmentInfo, State, header_of
from neardup.text.columns import gathered

_ROWS: Final = "added_rows.npy"
_COLUMNS: Final = {"present": np.bool_, "text": np.uint64, "length": np.int64, "features": np.int64}
_LONGEST: Final = (1 << 32) - 1  # bytes of a text that can be recorded


def add(job: Job, signed: Signed, blocks: int, state: State, name: str) -> dict[str, Any]:
    """Add the leaders of this run to a state, unless the segment of this name is there."""
    if name in {part.name for part in state.segments}:
        return {}
    known = len(job.earlier)
    heads = np.asarray(job.array(HEADS))[known:]
    equal = signed.equal
    heads = heads[signed.column("present", np.bool_)[heads] | equal[heads].any(axis=1)]  # nothing can match the others
    numbers = np.full(len(signed), -1, np.int64)  # by position
    numbers[:known] = np.arange(known)
    numbers[heads] = known + np.arange(len(heads))
    positions = np.asarray(job.array(REPRESENTATIVES)[heads])
    representatives = np.where(positions < 0, -1, numbers[positions])
    shards = job.shards.of_texts()
    part = SegmentInfo(
        name=name,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        documents=len(signed) - known,
        leaders=len(heads),
        kept=int((job.array(REPRESENTATIVES)[known:] < 0).sum()),
        inputs=shards.inputs,
    )
    gather_rows(job, signed, _ROWS, heads)
    rows = _rows(job, signed, heads, equal[heads], representatives, _counts(job, heads[representatives >= 0], blocks))
    state.add(
        part,
        rows,
        RunInputs(shards, signed.edges - known, job.policy.keep),
        header_of(job.scheme, job.policy, job.salt.tobytes().hex(), job.shards.extraction),
    )
    job.path(_ROWS).unlink()
    return {}


def _counts(job: Job, dropped: Positions, blocks: int) -> Positions:
    """Return what dropped leaders share with their representatives: int64[3, n], ``UNKNOWN`` if it was not counted."""
    settled = settled_of(job, blocks)
    found = np.full((3, len(job.array(HEAD_OF))), UNKNOWN, np.int64)
    if job.policy.verify == "exact" and not job.scheme.columns:
        found[:, settled[0]] = settled[2:]
    counts: Positions = found[:, np.asarray(job.array(HEAD_OF)[dropped])]
    return counts


def _rows(  # noqa: PLR0913, PLR0917 - the columns, of all leaders
    job: Job, signed: Signed, heads: Positions, equal: Words, representatives: Positions, counts: Positions
) -> Iterator[Rows]:
    columns = {name: signed.column(name, kind)[heads] for name, kind in _COLUMNS.items()}
    sites = {SITE: signed.sites[heads]} if job.has_sites else {}
    ids, signatures = signed.ids(), job.array(_ROWS)
    kind, shape = signed.row_kind()
    width = kind.itemsize * prod(shape)
    others = np.concatenate([[0], np.cumsum(representatives >= 0)])
    for begin in range(0, max(len(heads), 1), ROWS):
        part = slice(begin, begin + ROWS)
        own = representatives[part]
        kept = np.flatnonzero(own < 0)
        raw = pa.py_buffer(np.ascontiguousarray(signatures[part]))
        some = counts[:, others[begin] : others[min(begin + ROWS, len(heads))]].astype(np.int32)
        yield Rows(
            pa.table(
                {
                    "equal": equal[part, 0],
                    "equal_high": equal[part, 1],
                    "present": columns["present"][part],
                    "representative": own.astype(np.int32),
                    "row": pa.Array.from_buffers(pa.binary(width), len(own), [None, raw]),
                    **{name: column[part] for name, column in sites.items()},
                }
            ),
            pa.table(
                {
                    "text": columns["text"][part][kept],
                    "length": np.minimum(columns["length"][part][kept], _LONGEST).astype(np.uint32),
                    "features": columns["features"][part][kept].astype(np.uint32),
                    "position": (heads[part][kept] - len(job.earlier)).astype(np.uint32),
                }
            ),
            pa.table(dict(zip(COUNTS, some, strict=True))),
            pa.table({"id": gathered(ids, heads[part]).cast(pa.large_string())}),
        )
