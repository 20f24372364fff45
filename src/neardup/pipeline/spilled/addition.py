"""Adding: the leaders of a run become a segment of a state."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.decisions.drops import UNKNOWN
from neardup.engines.local import LocalEngine
from neardup.model.arrays import Positions, Words
from neardup.pipeline.spilled.earlier_documents import (
    COUNTS,
    ROWS,
    SITE,
    TEXT_HIGH,
    WHOLE,
    Rows,
    RunInputs,
    stored_rows,
)
from neardup.pipeline.spilled.forecast import bytes_to_add, require_room
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.outcome import REPRESENTATIVES, settled_of
from neardup.pipeline.spilled.ranking import LEADER_OF, LEADER_POSITIONS, gather_rows, leader_count
from neardup.pipeline.spilled.signing import Signed
from neardup.pipeline.spilled.state import SegmentInfo, State, header_of
from neardup.sources.shards import Shard
from neardup.text.columns import gathered

_ROWS: Final = "added_rows.raw"
_WHOLE_ROWS: Final = "added_whole_rows.raw"
_COLUMNS: Final = {"present": np.bool_, "text": np.uint64, "length": np.int64, "features": np.int64}
_LONGEST: Final = (1 << 32) - 1  # bytes of a text that can be recorded


def add(  # noqa: PLR0913, PLR0917 - the run, and the segment
    job: Job, signed: Signed, blocks: int, state: State, name: str, engine: LocalEngine
) -> None:
    """Add the leaders of this run to a state, unless the segment of this name is there.

    Raises ``StorageFailed`` if a disk has no room for them.
    """
    if name in {part.name for part in state.segments}:
        return
    known = len(job.earlier)
    leaders = np.asarray(job.array(LEADER_POSITIONS, np.int64))[known:]
    equal = signed.equal
    # Nothing can match the others.
    leaders = leaders[signed.column("present", np.bool_)[leaders] | equal[leaders].any(axis=1)]
    for folder in (job.journal.folder, state.folder):
        require_room(folder, bytes_to_add(job, len(leaders)), "add the documents to the state")
    numbers = np.full(len(signed), -1, np.int64)  # by position
    numbers[:known] = np.arange(known)
    numbers[leaders] = known + np.arange(len(leaders))
    positions = np.asarray(job.array(REPRESENTATIVES, np.int64)[leaders])
    representatives = np.where(positions < 0, -1, numbers[positions])
    extents = [*signed.extents(range(len(job.shards.inputs)))]
    # Later runs read each by itself: an input that they do not need may be missing.
    shards = replace(job.shards.of_texts(), shards=[Shard((extent,)) for extent, *_ in extents])
    edges = np.array([0, *(end - known for *_, end in extents)])
    part = SegmentInfo(
        name=name,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        documents=len(signed) - known,
        leaders=len(leaders),
        kept=int((job.array(REPRESENTATIVES, np.int64)[known:] < 0).sum()),
        inputs=shards.inputs,
    )
    gather_rows(job, signed, _ROWS, leaders, engine)
    if job.stores_whole:
        gather_rows(job, signed, _WHOLE_ROWS, leaders[representatives < 0], engine, whole=True)
    rows = _rows(
        job,
        signed,
        leaders,
        equal[leaders],
        representatives,
        _counts(job, leaders[representatives >= 0], blocks),
    )
    state.add(
        part,
        rows,
        RunInputs(shards, edges),
        header_of(job.scheme, job.policy, job.salt.tobytes().hex(), job.shards.extraction, for_index=job.for_index),
    )
    job.remove(_ROWS, _WHOLE_ROWS)


def _counts(job: Job, dropped: Positions, blocks: int) -> Positions:
    """Return what dropped leaders share with their representatives: int64[3, n], ``UNKNOWN`` if it was not counted."""
    settled = settled_of(job, blocks)
    found = np.full((3, leader_count(job)), UNKNOWN, np.int64)
    if job.policy.verify == "exact" and not job.scheme.columns:
        found[:, settled[0]] = settled[2:]
    counts: Positions = found[:, np.asarray(job.array(LEADER_OF, np.int32)[dropped])]
    return counts


def _rows(  # noqa: PLR0913, PLR0917 - the columns, of all leaders
    job: Job, signed: Signed, leaders: Positions, equal: Words, representatives: Positions, counts: Positions
) -> Iterator[Rows]:
    kinds: dict[str, Any] = _COLUMNS | ({TEXT_HIGH: np.uint64} if job.for_index else {})
    columns = {name: signed.column(name, kind)[leaders] for name, kind in kinds.items()}
    sites = {SITE: signed.sites[leaders]} if job.has_sites else {}
    row, whole, ids = job.no_rows(), job.no_rows(whole=True), signed.ids()
    signatures = np.asarray(job.array(_ROWS, row.dtype, shape=(-1, *row.shape[1:])))
    wholes = job.array(_WHOLE_ROWS, whole.dtype, shape=(-1, *whole.shape[1:])) if job.stores_whole else None
    others = np.concatenate([[0], np.cumsum(representatives >= 0)])
    for begin in range(0, max(len(leaders), 1), ROWS):
        part = slice(begin, begin + ROWS)
        own = representatives[part]
        kept = np.flatnonzero(own < 0)
        first, last = others[[begin, min(begin + ROWS, len(leaders))]].tolist()
        some = counts[:, first:last].astype(np.int32)
        more = {} if wholes is None else {WHOLE: stored_rows(wholes[begin - first :][: len(kept)])}
        if job.for_index:
            more[TEXT_HIGH] = pa.array(columns[TEXT_HIGH][part][kept])
        yield Rows(
            pa.table(
                {
                    "equal": equal[part, 0],
                    "equal_high": equal[part, 1],
                    "present": columns["present"][part],
                    "representative": own.astype(np.int32),
                    "row": stored_rows(signatures[part]),
                    **{name: column[part] for name, column in sites.items()},
                }
            ),
            pa.table(
                {
                    "text": columns["text"][part][kept],
                    "length": np.minimum(columns["length"][part][kept], _LONGEST).astype(np.uint32),
                    "features": columns["features"][part][kept].astype(np.uint32),
                    "position": (leaders[part][kept] - len(job.earlier)).astype(np.uint32),
                    **more,
                }
            ),
            pa.table(dict(zip(COUNTS, some, strict=True))),
            pa.table({"id": gathered(ids, leaders[part]).cast(pa.large_string())}),
        )
