"""Times before which documents are removed."""

import pytest

from neardup.interfaces.moments import moment_in


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "1y", "2026-13-01", "999999w", "0001-01-01T00:00:00+01:00"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        moment_in(text)
