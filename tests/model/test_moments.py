"""Times before which documents are removed."""

from datetime import UTC, datetime, timedelta

import pytest

from neardup.errors import ParameterError
from neardup.model.moments import require_past


def test_all_recorded_times_are_before_the_future():
    soon, later = (datetime.now(UTC) + timedelta(minutes=minutes) for minutes in (0.5, 2))
    require_past("before", soon)
    with pytest.raises(ParameterError, match="is in the future, so everything would be removed"):
        require_past("before", later)
