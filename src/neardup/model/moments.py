"""The rule of times before which documents are removed."""

from datetime import UTC, datetime, timedelta
from typing import Final

from neardup.model.errors import require

_LATEST: Final = timedelta(minutes=1)  # after now: clocks differ


def require_past(name: str, at: datetime, written: str = "") -> None:
    """Raise ``ParameterError`` for a time in the future: all recorded times are before it.

    The error shows the time as it was *written*. East of Greenwich, a local time of today that is read as UTC may be in
    the future.
    """
    now = datetime.now(UTC)
    rule = f"is in the future, so everything would be removed; it is {now:%Y-%m-%d %H:%M} UTC now"
    require(at <= now + _LATEST, name, written or f"{at:%Y-%m-%d %H:%M}", rule)
