"""Documents from best to worst, by the keep policy."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions
from neardup.model.errors import DataError
from neardup.model.policy import Policy


def ranking(policy: Policy, lengths: Positions, values: pa.ChunkedArray | None) -> Positions:
    """Order positions from best to worst; ties go to the smallest position.

    *lengths* are the texts' bytes; *values* is the policy's column, if it names one. A missing
    value (null or NaN) ranks behind all others. A column that has no order raises ``DataError``.
    """
    number = len(lengths)
    match policy.keep.partition(":")[0]:
        case "first":
            return np.arange(number)
        case "last":
            return np.arange(number)[::-1].copy()
        case "longest":
            return np.argsort(-lengths, kind="stable")
        case "shortest":
            return np.argsort(lengths, kind="stable")
        case kind:
            return _by_value(values, policy.field or "", descending=kind == "max")


def _by_value(values: pa.ChunkedArray, field: str, *, descending: bool) -> Positions:
    values = _sortable(values)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    try:
        ranks = pc.rank(
            values,
            sort_keys="descending" if descending else "ascending",  # nulls stand at the end
            tiebreaker="first",
        )
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise DataError(f"column {field!r}", f"holds {values.type}, which has no order to rank by") from error
    order: Positions = np.empty(len(values), np.int64)
    order[ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1] = np.arange(len(values))
    return order


def _sortable(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give the same values in a type that Arrow sorts."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _sortable(values.cast(kind.value_type))
    if pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    if pa.types.is_float16(kind):
        return values.cast(pa.float32())
    return values.cast(pa.int8()) if pa.types.is_null(kind) else values
