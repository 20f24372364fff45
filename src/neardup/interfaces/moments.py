"""Times before which documents are removed, as people write them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

RULE: Final = "is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z, or an age such as 90d, 12h or 4w"
_AGE: Final = re.compile(r"(\d{1,6}) ?([hdw])", re.ASCII)
_AGES: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment_in(text: str) -> datetime:
    """Parse a time in UTC, or an age before now; ``ValueError`` for other texts, which break ``RULE``.

    >>> moment_in("2026-01-31").isoformat(), moment_in("2026-01-31T12:00:00+02:00").isoformat()
    ('2026-01-31T00:00:00+00:00', '2026-01-31T10:00:00+00:00')
    >>> abs(datetime.now(UTC) - moment_in("36h") - timedelta(hours=36)) < timedelta(minutes=1)
    True
    """
    age = _AGE.fullmatch(text.strip())
    try:
        if age:
            return datetime.now(UTC) - int(age[1]) * _AGES[age[2]]
        written = datetime.fromisoformat(text.strip())
        return written.astimezone(UTC) if written.tzinfo else written.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(RULE) from error
