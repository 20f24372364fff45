from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.dates import date_ranks

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES)  # noqa: DTZ001 - they get a zone


def ranks(*written):
    return date_ranks(pa.array(written, pa.large_string())).to_pylist()


def spellings(moment):
    """Return ways to write a moment."""
    whole = moment.isoformat()
    basic = moment.strftime("T%H%M%S.%f%z")
    utc = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return [
        whole,
        whole.replace("T", " "),
        f"{whole[:-6]} {whole[-6:]}",
        f"{moment.date().isoformat()}{basic}",
        *(utc + zone for zone in ("", "Z", "z", " UTC", "GMT", "+00", "-0000")),
    ]


@given(st.lists(MOMENTS, max_size=6), st.data())
def test_dates_rank_by_the_moments_that_they_mean(moments, data):
    written = [data.draw(st.sampled_from(spellings(moment))) for moment in moments]
    found = ranks(*written)
    assert [[a < b for b in found] for a in found] == [[a < b for b in moments] for a in moments]


def test_parts_that_are_not_written_are_the_first():
    equal = ranks("2024-02", "2024-02-01", "2024-02-01T00", "2024-02-01 00:00", "2024-01-31T24:00:00,000Z")
    assert len(set(equal)) == 1
    assert ranks("2016-12-31T23:59:60Z") != [None]  # a leap second
    finer = ranks("2024-01-01T00:00:00Z", "2024-01-01T00:00:00.0000000001Z", "2024-01-01T00:00:00.1Z")
    assert finer == sorted(set(finer))


NOT_DATES = """
2024|2024-1-1|2024-00|2024-13|2024-02-30|2023-02-29|0000-00-00|20240101|12024-01-01|31.01.2024|2024-W05
2024-01-01T|2024-01-01T25|2024-01-01T10:60|2024-01-01T10:00:61|2024-01-01T10:00:00.|2024-01-01T10:00+24:00
2024-01-01 10:00 CET|2024-01-01x|
"""


@pytest.mark.parametrize("written", [*NOT_DATES.strip().replace("\n", "|").split("|"), "2024-01-01\n", "٢٠٢٤-01-01"])
def test_what_is_not_a_date_has_no_rank(written):
    found = ranks(written, "2024-01-01")
    assert found[0] is None
    assert found[1] is not None
    assert ranks(written) == [None]


def test_nothing_has_no_ranks():
    assert ranks() == []
