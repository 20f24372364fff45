"""Times before which documents are removed."""

from datetime import UTC, datetime, timedelta

import pytest

from neardup.errors import ParameterError
from neardup.model.moments import moment_in, moment_of_text, require_past


def test_all_recorded_times_are_before_the_future():
    soon, later = (datetime.now(UTC) + timedelta(minutes=minutes) for minutes in (0.5, 2))
    require_past(soon)
    with pytest.raises(ParameterError, match="is in the future, so everything would be removed"):
        require_past(later)


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "1y", f"{'9' * 5000}d"])
def test_other_texts_are_refused(text):
    with pytest.raises(ParameterError, match="must be a time such as 2026-01-31"):
        moment_in(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-13-01", "2026-02-30", "2026-02-03T25:00:00Z"),
        *("2026-02-03T24:00:00Z", "2026-02-03T12:00:00.1234567Z", "\u0662026-02-03", "2026-02-03x12:00:00"),
        *("999999w", "999999999d", f"{10**20}h", "0001-01-01T00:00:00+01:00"),
    ],
)
def test_times_that_do_not_exist_are_refused(text):
    with pytest.raises(ParameterError, match="must be a time such as"):
        moment_in(text)


@pytest.mark.parametrize("text", ["0d", "00h", "0 w"])
def test_an_age_of_0_is_refused_where_it_would_remove_everything(text):
    with pytest.raises(ParameterError, match="is now, so everything would be removed") as refused:
        moment_in(text)
    assert refused.value.value == text
    moment_in(refused.value.rule.rpartition(" ")[2])


@pytest.mark.parametrize(
    "written", ["2026-01-31T12:00:00.123456000Z", "20260131T130000.123456+0100", "2026-W05-6 12:00:00,123456"]
)
def test_a_moment_is_read_from_all_its_spellings(written):
    assert moment_of_text(written) == datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    ["2026-01-31T24:00:00", "2026-01-31T12:00:00.0000001", "2026-01-31\n", "\u0662026-01-31", "2026-01-31_12:00"],
)
def test_no_moment_is_cut_or_guessed(written):
    with pytest.raises(ValueError, match=written):
        moment_of_text(written)
