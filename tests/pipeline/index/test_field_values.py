from datetime import UTC, datetime

import pytest

from neardup.pipeline.index.field_values import READ


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("integer", "-9223372036854775808", -(2**63)),
        ("number", "1e3", 1000.0),
        ("time", "2026-01-31T12:00:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("time", "2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("flag", "true", True),
        ("flag", "false", False),
    ],
)
def test_values_are_read(kind, written, value):
    assert READ[kind].read(written) == value


@pytest.mark.parametrize(
    ("kind", "written"),
    [("integer", "9223372036854775808"), ("integer", "1.0"), ("number", "many"), ("time", "soon"), ("flag", "True")],
)
def test_values_that_cannot_be(kind, written):
    with pytest.raises((ValueError, KeyError)):
        READ[kind].read(written)
    assert READ[kind].expected
