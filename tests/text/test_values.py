import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import neardup
from neardup.model.errors import DataError
from neardup.text.values import column_of


def test_numbers_of_any_size_are_exact():
    found = column_of([2**70, None, -3, np.int64(5), 1.5], "v")
    assert found.to_pylist() == [2**70, None, -3, 5, Decimal("1.5")]
    with pytest.raises(DataError, match="'v' has numbers of more than 76 digits"):
        column_of([10**80], "v")


def test_every_kind_of_nan_is_missing():
    found = column_of([2**70, float("nan"), Decimal("NaN"), Decimal("sNaN"), np.float32("nan")], "v")
    assert found.to_pylist() == [2**70, None, None, None, None]


@pytest.mark.parametrize("infinite", [float("inf"), -np.inf, Decimal("Infinity")])
def test_infinite_numbers_are_no_decimals_but_strings_of_them_rank(infinite):
    with pytest.raises(
        DataError, match=f"'v', row 1 is {infinite}, which cannot be compared exactly with the decimals"
    ):
        column_of([2**70, infinite], "v")
    records = [{"text": "one two three", "v": str(value)} for value in (2**70, infinite)]
    assert neardup.dedup(records, keep="max:v").kept.tolist() == [int(infinite > 0)]


@pytest.mark.parametrize("values", [[Fraction(1, 3), Fraction(1, 2)], [1j, 2j]], ids=["fractions", "complex"])
def test_numbers_that_no_column_can_have_are_refused_not_lost(values):
    records = [{"text": "one two three", "v": value} for value in values]
    with pytest.raises(DataError, match=f"'v', row 0 is a {type(values[0]).__name__} .*, which Arrow cannot repres"):
        neardup.dedup(records, keep="max:v")


@pytest.mark.parametrize("values", [[1.5, True], [None, 2.5, False], [np.float64(0.5), True], [1, np.True_]])
def test_a_boolean_among_numbers_is_refused_wherever_it_is(values):
    """Arrow makes these 1 and 0, but not those before the numbers."""
    for order in (values, values[::-1]):
        records = [{"text": "one two three", "v": value} for value in order]
        for options in ({"keep": "max:v"}, {"id": "v"}):
            with pytest.raises(DataError, match=r"'v', row \d .*; pass one kind") as caught:
                neardup.dedup(records, **options)
            assert caught.value.code == "kinds"
    records = [{"text": "one two three", "v": value} for value in (np.float64("nan"), True, False)]
    assert neardup.dedup(records, keep="max:v").kept.tolist() == [1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([9, "10"], "'v', row 1 is a string ('10'), but earlier rows have a number"),
        ([9, ""], "'v', row 1 is a string (''), but earlier rows have a number; pass one kind, and None if missing"),
        (["a b c", None, 5], "'v', row 2 is a number (5), but earlier rows have a string"),
        ([None, True, 1], "'v', row 2 is a number (1), but earlier rows have true or false"),
        ([1, float("nan"), [2]], "'v', row 2 is a list ([2]), but earlier rows have a number"),
        ([2**70, 3j], "'v', row 1 is a complex (3j), but earlier rows have a number"),
        ([None, 1j, 2], "'v', row 1 is a complex (1j), which Arrow cannot represent"),
    ],
)
def test_the_first_value_of_another_kind_is_named(values, message):
    with pytest.raises(DataError) as caught:
        column_of(values, "v")
    assert message in str(caught.value)
    assert caught.value.code == "kinds"


def test_times_behind_dates_are_not_cut_off():
    times = [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC)]
    records = [{"text": "one two three", "v": value} for value in times]
    for ordered in (records, records[::-1]):
        with pytest.raises(DataError, match=r"'v', row 1 is a date.*, but earlier rows have a date"):
            neardup.dedup(ordered, keep="max:v")
    later = {"text": "one two three", "v": dt.date(2024, 1, 2)}
    assert neardup.dedup([records[0], later], keep="max:v").kept.tolist() == [1]


def test_large_integers_rank_as_in_files():
    records = [{"text": "one two three", "v": value} for value in (2**70, 2**70 + 1, 3)]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(records)
    for documents in (records, frame):
        assert neardup.dedup(documents, keep="max:v").kept.tolist() == [1]


def test_values_of_several_kinds_are_refused_with_their_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["one"] * 2, "id": [9, "10"], "v": ["a", 5]})
    for options, column in (({"id": "id"}, "id"), ({"keep": "max:v"}, "v"), ({"text": "v"}, "v")):
        with pytest.raises(DataError, match=f"column '{column}', row 1 is a"):
            neardup.dedup(frame, **options)


def test_nothing_that_arrow_cuts_off_is_lost():
    """A list, an object column and a column of the type itself give the same."""
    pandas = pytest.importorskip("pandas")
    times = [pandas.Timestamp("2024-01-01T00:00:00.000000001"), pandas.Timestamp("2024-01-01T00:00:00.000000002")]
    spans = [pandas.Timedelta(1), pandas.Timedelta(2)]
    for values, kind in ((times, "datetime64[ns]"), (spans, "timedelta64[ns]")):
        frame = pandas.DataFrame({"text": ["one two three"] * 2, "v": pandas.Series(values, dtype=kind)})
        for documents in (frame, frame.to_dict("records"), frame.astype({"v": object})):
            assert neardup.dedup(documents, keep="max:v").kept.tolist() == [1]
    far = [{"text": "one two three", "v": value} for value in (times[0], dt.datetime.fromisoformat("9999-12-31"))]
    with pytest.raises(DataError, match=r"'v' has times with nanoseconds, .* and others outside of these years; round"):
        neardup.dedup(far, keep="max:v")
    for numbers in ([1, np.float16(1.5)], [1, np.longdouble("1.5")], [np.float32(0.5), 1], [1, 1.5]):
        records = [{"text": "one two three", "v": value} for value in numbers]
        assert neardup.dedup(records, keep="max:v").kept.tolist() == [1]


def test_missing_dates_and_spans_are_missing():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(pandas.Series(["2024-01-01", None, "2025-01-01"])).dt.date
    frame = pandas.DataFrame({"text": ["one two three"] * 3, "v": days})
    for documents in (frame, frame.to_dict("records")):
        assert neardup.dedup(documents, keep="max:v").kept.tolist() == [2]
    for spans in ([np.timedelta64(1, "s"), np.timedelta64("NaT")], [np.timedelta64("NaT"), np.timedelta64(1, "s")]):
        with pytest.raises(
            DataError, match=r"'v' has values \(a timedelta64\) that Arrow cannot represent .*; pass strings"
        ):
            neardup.dedup([{"text": "one two three", "v": span} for span in spans], keep="max:v")
