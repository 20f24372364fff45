"""What the files of the segments of a state must contain, even with the right checksums."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.model.errors import StorageDamaged
from neardup.pipeline.spilled.earlier import COUNTS, DROPPED, IDS, KEPT, LEADERS, SITE, TEXT_HIGH, WHOLE, StoredSegment

_TYPES = {
    LEADERS: {"equal": pa.uint64(), "equal_high": pa.uint64(), "present": pa.bool_(), "representative": pa.int32()},
    KEPT: {"text": pa.uint64(), "length": pa.uint32(), "features": pa.uint32(), "position": pa.uint32()},
    DROPPED: dict.fromkeys(COUNTS, pa.int32()),
    IDS: {"id": pa.large_string()},
}
_ALSO = {LEADERS: {SITE: pa.uint64()}, KEPT: {TEXT_HIGH: pa.uint64()}}
_BYTES = {LEADERS: ("row",), KEPT: (WHOLE,)}
_OTHER = (
    "its content is not that of a state, although its checksum is right; restore the state from a copy, or delete it"
)


def check_segments(segments: Sequence[StoredSegment]) -> None:
    """Raise ``StorageDamaged`` unless the tables fit each other, and each representative is a kept leader.

    Compiled code uses these numbers as places in arrays.
    """
    own = [_representatives(segment) for segment in segments]
    whole = np.concatenate([np.empty(0, np.int32), *own])
    begin = 0
    for segment, found in zip(segments, own, strict=True):
        begin += len(found)
        named = found[found >= 0]
        if (found < -1).any() or (named >= begin).any() or (whole[named] >= 0).any():
            raise _damaged(segment.folder / LEADERS)


def _representatives(segment: StoredSegment) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the representatives of a segment whose tables have the right columns, and fit each other."""
    tables = {name: _table(segment.folder / name, name) for name in _TYPES}
    found: np.ndarray[tuple[int], np.dtype[np.int32]] = tables[LEADERS]["representative"].to_numpy()
    kept = int((found < 0).sum())
    sizes = {LEADERS: len(found), KEPT: kept, DROPPED: len(found) - kept, IDS: len(found)}
    for name, size in sizes.items():
        if len(tables[name]) != size:
            raise _damaged(segment.folder / name)
    documents = int(segment.texts[-1].edges[-1]) if segment.texts else 0
    if kept and int(tables[KEPT]["position"].to_numpy().max()) >= documents:
        raise _damaged(segment.folder / KEPT)
    return found


def _table(path: Path, name: str) -> pa.Table:
    """Return a table of a segment; ``StorageDamaged`` unless it has its columns, without nulls."""
    try:
        table = StoredSegment(path.parent, ()).table(name)
        table.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise _damaged(path) from error
    wanted, also = _TYPES[name], _ALSO.get(name, {})
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    others = {key: kind for key, kind in types.items() if key not in wanted and also.get(key) != kind}
    fit = all(key in _BYTES.get(name, ()) and pa.types.is_fixed_size_binary(kind) for key, kind in others.items())
    complete = wanted.items() <= types.items() and (name != LEADERS or "row" in types)
    if not fit or not complete or len(types) < table.num_columns or any(one.null_count for one in table.columns):
        raise _damaged(path)
    return table


def _damaged(path: Path) -> StorageDamaged:
    return StorageDamaged(str(path), _OTHER)
