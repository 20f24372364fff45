"""Times before which documents are removed."""

from datetime import UTC, datetime, timedelta

import pytest

from neardup.errors import ParameterError
from neardup.interfaces.moments import moment_in, require_past


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "1y", "2026-13-01", "999999w", "0001-01-01T00:00:00+01:00"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        moment_in(text)


def test_all_recorded_times_are_before_the_future():
    soon, later = (datetime.now(UTC) + timedelta(hours=hours) for hours in (20, 30))
    require_past("before", soon)
    require_past("before", later, "expires")  # a time field of the index
    for by in ("last_seen", "first_seen", "changed_at"):
        with pytest.raises(ParameterError, match="is in the future, so everything would be removed"):
            require_past("before", later, by)
