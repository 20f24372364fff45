"""The order of dates and times that are written as text."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WRITTEN: Final = (
    r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2})(?::?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r" ?(?:[Zz]|UTC|GMT|(?P<sign>[+-])(?P<hours>[0-9]{2})(?::?(?P<minutes>[0-9]{2}))?)?)?)?$"
)
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60  # seconds


def date_ranks(written: pa.Array) -> pa.Array:
    """Return integers in the order of the moments that strings mean; null for strings that are not dates.

    A date is a month, a day or a time of day by ISO 8601, such as ``2026-01``, ``2026-01-31`` and
    ``2026-01-31T12:00:00.5+01:00``, also with a blank for the ``T`` and before the zone, and with ``UTC`` or ``GMT`` as
    the zone. A time without a zone is UTC. Equal moments have equal ranks in any spelling.

    >>> early, same, late, none = date_ranks(
    ...     pa.array(["2026-01-31T00:30+01:00", "2026-01-30T23:30:00Z", "2026-01-31", "2026-02-30"])
    ... ).to_pylist()
    >>> early == same < late, none
    (True, None)
    """
    parts = pc.extract_regex(written, _WRITTEN)
    found = parts.is_valid().to_numpy(zero_copy_only=False)
    if not found.any():  # as of most strings
        return pa.nulls(len(written), pa.int64())

    def number(name: str, least: int, most: int) -> Any:
        """Return a part of the dates, *least* where it is not written; one beyond *most* makes its date invalid."""
        digits = pc.struct_field(parts, name)
        there = pc.and_(parts.is_valid(), pc.not_equal(digits, ""))
        numbers = pc.fill_null(pc.if_else(there, digits, None).cast(pa.int64()), least).to_numpy(zero_copy_only=False)
        found[(numbers < least) | (numbers > most)] = False
        return numbers

    months = ((number("year", 0, 9999) - 1970) * 12 + number("month", 1, 12) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + number("day", 1, 31) - 1
    found[days.astype("datetime64[M]") != months] = False
    sign = np.where(pc.equal(pc.struct_field(parts, "sign"), "-").to_numpy(zero_copy_only=False), -1, 1)
    ahead = sign * (number("hours", 0, 23) * _HOUR + number("minutes", 0, 59) * _MINUTE)
    of_day = number("hour", 0, 24) * _HOUR + number("minute", 0, 59) * _MINUTE + number("second", 0, 60)
    seconds = pa.array(days.astype(np.int64) * _DAY + of_day - ahead, mask=~found)
    fractions = pc.utf8_rtrim(pc.struct_field(parts, "fraction"), "0")
    steps = [pc.rank(part, tiebreaker="dense").to_numpy().astype(np.int64) for part in (seconds, fractions)]
    return pa.array(steps[0] * (len(written) + 1) + steps[1], mask=~found)
