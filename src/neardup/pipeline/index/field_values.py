"""Values of fields, read from how they are written.

A value is of its field's kind, or a string that writes one, as in CSV. Each value is read by itself: whether it is
valid does not depend on the other values of its batch. An empty string counts as missing, except in a field of strings.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import pyarrow as pa

_MOST_INTEGER: Final = 1 << 63


class FieldReading(NamedTuple):
    """How a kind is read: *read* raises ``ValueError`` or ``KeyError`` for values other than the *expected* ones."""

    read: Callable[[str], Any]
    type: pa.DataType
    expected: str


def _integer(written: str) -> int:
    value = int(written)
    if not -_MOST_INTEGER <= value < _MOST_INTEGER:
        raise ValueError(written)
    return value


def _moment(written: str) -> datetime:
    """Read a moment; one without a zone is in UTC."""
    value = datetime.fromisoformat(written)
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


READ: Final = {
    "integer": FieldReading(_integer, pa.int64(), "an integer of 64 bits"),
    "number": FieldReading(float, pa.float64(), "a number"),
    "time": FieldReading(_moment, pa.timestamp("us", "UTC"), "a time such as 2026-01-31T12:00:00Z"),
    "flag": FieldReading({"true": True, "false": False}.__getitem__, pa.bool_(), "true or false"),
}


def read_field(kind: str, written: str | None) -> Any:
    """Return the value of a kind that a string writes; the errors are those of ``FieldReading``."""
    return None if written in {None, ""} else READ[kind].read(written)
