"""Times as strings, and times before which documents are removed."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from neardup.model.errors import ParameterError, require

_DIGITS: Final = 6  # of microseconds
_LATEST: Final = timedelta(minutes=1)  # after now: clocks differ
_RULE: Final = (
    "must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z, or an age in hours, days or weeks, such as"
    " 12h, 90d or 4w; in the years 1 to 9999, with at most 6 decimals of a second"
)
_AGE: Final = re.compile(r"(\d+) ?([hdw])", re.ASCII)
_AGES: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DATE: Final = re.compile(  # what all versions of Python read, with any number of digits after the seconds
    r"(?P<time>[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2}(?:-?[0-9])?)"
    r"(?P<clock>[Tt ](?!24)[0-9]{2}(?::?[0-9]{2}(?P<seconds>:?[0-9]{2})?)?)?)"
    r"(?(seconds)(?:[.,](?P<digits>[0-9]+))?)(?P<zone>(?(clock)(?:Z|[+-][0-9]{2}(?::?[0-9]{2}){0,2})?))"
)


def with_zone(moment: datetime) -> datetime:
    """Return a moment with its zone; one without a zone is in UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def second_and_digits(written: str) -> tuple[datetime, str]:
    """Return the second that a date or time means, and the digits of its fraction; ``ValueError`` for other strings.

    A date is a day or a time of day by ISO 8601, such as ``2026-01-31`` and ``2026-01-31T12:00:00.5+01:00``, also with
    a blank for the ``T``, and with any digits of a fraction. A time without a zone is UTC. Hours end at 23, minutes and
    seconds at 59.

    >>> second_and_digits("2026-01-31 12:00:00.1234567890Z")
    (datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc), '123456789')
    """
    parts = _DATE.fullmatch(written)
    if not parts:
        raise ValueError(written)
    return with_zone(datetime.fromisoformat(parts["time"] + parts["zone"])), (parts["digits"] or "").rstrip("0")


def moment_of_text(written: str) -> datetime:
    """Return the moment in UTC that a string means; ``ValueError`` also for one between two microseconds."""
    second, digits = second_and_digits(written)
    if len(digits) > _DIGITS:
        raise ValueError(written)
    return second.astimezone(UTC).replace(microsecond=int(digits.ljust(_DIGITS, "0")))


def moment_in(before: str) -> datetime:
    """Parse a time in UTC, or an age before now; ``ParameterError`` for other texts.

    A time in the future is an error, too, and so is an age of 0: everything would be removed, which only a time makes
    clear.

    >>> moment_in("2026-01-31T12:00:00+02:00").isoformat()
    '2026-01-31T10:00:00+00:00'
    >>> abs(datetime.now(UTC) - moment_in("36h") - timedelta(hours=36)) < timedelta(minutes=1)
    True
    """
    now = datetime.now(UTC)
    age = _AGE.fullmatch(before.strip())
    try:
        found = now - int(age[1]) * _AGES[age[2]] if age else moment_of_text(before.strip())
    except (ValueError, OverflowError):
        raise ParameterError("before", before, _RULE) from None
    require_past(found, before)
    soon = now + timedelta(seconds=1)
    rule = f"is now, so everything would be removed; to do that, write a time: {soon:%Y-%m-%dT%H:%M:%SZ}"
    require(not age or found < now, "before", before, rule)
    return found


def require_past(at: datetime, written: str = "") -> None:
    """Raise ``ParameterError`` for a time in the future: all recorded times are before it.

    The error shows the time as it was *written*. East of Greenwich, a local time of today that is read as UTC may be in
    the future.
    """
    now = datetime.now(UTC)
    rule = f"is in the future, so everything would be removed; it is {now:%Y-%m-%d %H:%M} UTC now"
    require(at <= now + _LATEST, "before", written or f"{at:%Y-%m-%d %H:%M}", rule)
