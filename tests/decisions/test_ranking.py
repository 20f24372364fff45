import itertools
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from math import isnan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.ranking import AddressRanks, date_ranks, ranking, times_named
from neardup.model.errors import DataError, ValueRefused
from neardup.model.policy import Policy

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES)  # noqa: DTZ001 - they get a zone


def ranked(keep, lengths, values=None):
    policy = Policy(keep=keep)
    return ranking(policy, np.array(lengths, np.int64), dict.fromkeys(policy.fields, values)).tolist()


def by_value(keep, values, kind=None, chunks=1):
    array = pa.array(values, kind)
    cuts = np.linspace(0, len(values), chunks + 1).astype(int)
    parts = [array[begin:end] for begin, end in itertools.pairwise(cuts)]
    return ranked(keep, [0] * len(values), pa.chunked_array(parts, array.type))


def is_missing(value):
    return value is None or value == "" or (isinstance(value, float) and isnan(value))


def defined(values, *, descending):
    """Best first, missing values last, ties in order of position."""
    there = [place for place, value in enumerate(values) if not is_missing(value)]
    there.sort(key=lambda place: values[place])
    if descending:
        best = sorted({values[place] for place in there}, reverse=True)
        there = [place for value in best for place in there if values[place] == value]
    return there + [place for place in range(len(values)) if place not in there]


LENGTHS = st.lists(st.integers(0, 4), max_size=12)


@given(LENGTHS)
def test_positions_and_lengths(lengths):
    positions = list(range(len(lengths)))
    assert ranked("first", lengths) == positions
    assert ranked("last", lengths) == positions[::-1]
    assert ranked("longest", lengths) == sorted(positions, key=lambda place: -lengths[place])
    assert ranked("shortest", lengths) == sorted(positions, key=lambda place: lengths[place])


VALUES = st.one_of(
    st.lists(st.none() | st.integers(-3, 3), max_size=12),
    st.lists(st.none() | st.sampled_from([0.5, -1.5, float("inf"), float("-inf"), float("nan")]), max_size=12),
    st.lists(st.none() | st.sampled_from(["a", "b", "B", "", "é"]), max_size=12),
    st.lists(st.none() | st.booleans(), max_size=12),
)


@pytest.mark.parametrize("keep", ["max:x", "min:x"])
@given(values=VALUES, chunks=st.integers(1, 3))
def test_documents_are_ranked_by_their_values(keep, values, chunks):
    kind = pa.int8() if all(value is None for value in values) else None
    assert by_value(keep, values, kind, chunks) == defined(values, descending=keep == "max:x")


def test_ties_nulls_and_nan():
    values = [2.0, None, 5.0, float("nan"), 2.0, 5.0, None]
    assert by_value("max:x", values) == [2, 5, 0, 4, 1, 3, 6]
    assert by_value("min:x", values) == [0, 4, 2, 5, 1, 3, 6]
    assert isnan(values[3])


NOW = datetime(2024, 2, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 3, 2], pa.uint64()),
        ([1, 3, 2], pa.float32()),
        ([np.float16(1), np.float16(3), np.float16(2)], pa.float16()),
        (["a", "c", "b"], pa.string()),
        (["a", "c", "b"], pa.large_string()),
        (["a", "c", "b"], pa.string_view()),
        ([b"a", b"c", b"b"], pa.binary()),
        (["a", "c", "b"], pa.dictionary(pa.int8(), pa.string())),
        ([NOW, NOW + timedelta(days=2), NOW + timedelta(days=1)], pa.timestamp("us", "UTC")),
        ([NOW.date(), NOW.date() + timedelta(days=2), NOW.date() + timedelta(days=1)], pa.date32()),
        ([timedelta(1), timedelta(3), timedelta(2)], pa.duration("s")),
        ([Decimal("1.10"), Decimal("3.00"), Decimal("2.50")], pa.decimal128(5, 2)),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else "",
)
def test_every_ordered_type(values, kind):
    assert by_value("max:x", values, kind) == [1, 2, 0]
    assert by_value("min:x", values, kind) == [0, 2, 1]


NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.integers(2**63 - 2, 2**63 + 2).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["1", "1.0", "+1", "1e0", "0.1", "0.10000000000000000001", "1e400", "2e400", "-1e400", "0", "-0", "1e-400"]
    ),
)


@pytest.mark.parametrize("keep", ["max:x", "min:x"])
@given(
    values=st.lists(NUMBERS | st.sampled_from(["", " ", "inf", "-Infinity", "NaN", None]), max_size=12),
    blank=st.booleans(),
)
def test_strings_that_are_numbers_rank_exactly_by_their_values(keep, values, blank):
    if not any(value and any(letter.isdigit() for letter in value) for value in values):
        values.append("7")
    known = [None if value is None or not value.strip() or value == "NaN" else Decimal(value) for value in values]
    written = [f" {value}\t" if blank and value is not None else value for value in values]
    assert by_value(keep, written, pa.string(), 2) == defined(known, descending=keep == "max:x")


@pytest.mark.parametrize("odd", ["1,000", "n/a", "NULL", "-", "0x10", "1_000", "٣", "10 %", "1.2.3"])
@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_a_value_that_is_not_a_number_among_numbers_is_refused_with_its_row(odd, kind):
    with pytest.raises(
        ValueRefused, match=r"column 'x', row 3 is .* which is not a number, but other values are"
    ) as caught:
        by_value("max:x", ["9", None, "10", f" {odd}", odd, "11"], kind)
    assert caught.value.row == 3
    assert repr(f" {odd}") in str(caught.value)


def test_nan_among_dates_is_a_missing_value():
    assert by_value("max:x", ["2024-01-05", "NaN", "2024-02-05"]) == [2, 0, 1]


def test_strings_none_of_which_is_a_number_rank_as_text():
    assert by_value("max:x", ["2024-02-01", "2024-11-30", " 2024-03-01", ""]) == [1, 2, 0, 3]
    assert by_value("max:x", ["beta", "gamma", " delta", "", "inf"]) == [4, 1, 2, 0, 3]
    assert by_value("max:x", ["Title 0", "title 10", "Title 9"]) == [1, 2, 0]


@pytest.mark.parametrize(
    "values",
    [
        ["7%", "100%"],
        ["$9", "$ 10"],
        ["1,000", "20,000"],
        ["v9", "v10"],
        ["31.05.2024", "01/06/24"],
        ["Fri, 31 May 2024 10:00:00 GMT", "Sat, 01 Jun 2024 10:00:00 GMT"],
        ["May 31, 2024", "Jun 1, 2024"],
        ["31-May-2024", "1 june 2024"],
        ["September 5, 2024", "January 06, 2025"],
        ["Wednesday, 5 June 2024", "Friday, 7 June 2024"],
        ["Fri May 31", "Sat Jun 01"],
        ["31.12.2023", "01.01.2024"],
        ["12/2023", "01/2024"],
        ["5k", "1M"],
        ["2024/9/1", "2024/10/1"],
        ["2024-9-1", "2024-10-1 10:00"],
        ["1.2.9", "1.2.10"],
        ["v1.9", "v1.10"],
        ["1,000,000", "9,000"],
        ["1.000.000", "9.000,50"],
        ["1 000 000", "9\u202f000"],
        ["1.5 GB", "2 MB"],
        ["\uff19", "\uff11\uff10"],
        ["\u0669", "\u0661\u0660"],
        ["\u0663\u0661.\u0660\u0665.\u0662\u0660\u0662\u0664", "\u0660\u0661.\u0660\u0666.\u0662\u0660\u0662\u0664"],
    ],
)
def test_quantities_and_dates_that_rank_as_text_are_warned_of(values):
    with pytest.warns(
        RuntimeWarning, match=f"field 'x' is ranked as text, because values such as '{re.escape(values[0])}' are"
    ):
        by_value("max:x", [*values, "", None])
    for text in (
        ["chapter ten", "the 3 bears", "May I"],
        ["12 Monkeys", "3 Idiots", "Solaris", "Stalker", "Mirror"],
        ["Nan", "Ann"],
        ["a", "b"],
        ["img001", "img002"],
        ["2024-02", "2024-10"],
        ["2024-05-31 10:00 UTC", "2024-06-01 09:00 UTC"],
        ["001 apple", "002 pear 10"],
        ["v1.10", "v1.11"],
        ["Mark 5", "Sunset 7"],
        ["", None],
    ):
        by_value("max:x", text, pa.string())


@pytest.mark.parametrize(
    "values",
    [
        ["$9", "$10", "N/A"],
        ["n/a", "31.12.2023", "01.01.2024"],
        ["9,000", "unknown", "12,000", "", "-"],
        ["v9", "none", "v10"],
        ["5k", "?"],
    ],
)
def test_quantities_and_dates_among_other_text_are_warned_of(values):
    looks = next(one for one in values if any(map(str.isdigit, one)))
    other = next(one for one in values if not any(map(str.isdigit, one)))
    message = (
        f"field 'x' is ranked as text, because values such as {looks!r} and {other!r} are neither numbers nor dates"
    )
    with pytest.warns(RuntimeWarning, match=re.escape(message)):
        by_value("max:x", values)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2024-05-31T10:00:00+02:00", "2024-05-31T09:00:00Z"),
        ("2024-05-31T10:00:00Z", "2024-05-31T10:00:00.25Z"),
        ("2024-05-31T09:00:00", "2024-05-31 23:00:00"),
    ],
)
def test_dates_rank_by_time_whatever_their_spelling(earlier, later):
    assert by_value("max:x", [earlier, None, later]) == [2, 0, 1]
    assert by_value("min:x", [later, "", earlier]) == [2, 0, 1]


@pytest.mark.parametrize("odd", ["n/a", "inf", "unknown", "30.11.2024", "2024-11-30x", "0000-00-00"])
def test_a_value_that_is_not_a_date_among_dates_is_refused_with_its_row(odd):
    for dates in (["2024-02-01", "2024-11-01"], ["2024-02-01T12:00:00Z", " 2024-02-01 12:00 "]):
        with pytest.raises(ValueRefused, match=r"row 3 is .* which is not a date, but other values are") as caught:
            by_value("max:x", [dates[0], None, "", odd, dates[1]])
        assert (caught.value.row, caught.value.code) == (3, "not a date")


@pytest.mark.parametrize("chunks", [1, 2])
def test_ordered_categories_rank_by_their_order(chunks):
    categories = pa.array(["low", "mid", "high"])
    array = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 1, 0], pa.int8()), categories, ordered=True)
    parts = pa.chunked_array([array[:2], array[2:]][:chunks] if chunks == 2 else [array])
    assert ranked("max:x", [0] * 5, parts) == [1, 3, 0, 4, 2]
    assert ranked("min:x", [0] * 5, parts) == [0, 4, 3, 1, 2]


def test_ordered_categories_of_different_orders_are_refused():
    parts = [
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(words), ordered=True)
        for words in (["low", "high"], ["high", "low"])
    ]
    with pytest.raises(DataError, match="has ordered categories of different order in its chunks"):
        ranked("max:x", [0, 0], pa.chunked_array(parts))


def test_a_chunk_without_values_has_no_order():
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(words, pa.string()), ordered=True)
        for places, words in (([0, 1], ["low", "high"]), ([None], []))
    ]
    assert ranked("max:x", [0] * 3, pa.chunked_array(parts)) == [1, 0, 2]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
def test_categories_of_views_rank_as_their_values(kind):
    array = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 2], pa.uint32()), pa.array(["a", "c", "b"], pa.string()).cast(kind)
    )
    assert ranked("max:x", [0] * 3, pa.chunked_array([array])) == [0, 2, 1]


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary())]
)
def test_bytes_rank_as_the_strings_that_they_are(kind):
    assert by_value("max:x", [b"9", b"10", None, b" "], kind) == [1, 0, 2, 3]
    assert by_value("max:x", [b"2026-01-31T00:30+01:00", b"2026-01-31"], kind) == [1, 0]
    with pytest.raises(ValueRefused, match="row 1 is 'n/a', which is not a number"):
        by_value("max:x", [b"9", b"n/a"], kind)
    with pytest.raises(ValueRefused, match=r"row 2 is b'\\xff', which is not valid UTF-8"):
        by_value("max:x", [b"9", b"10", b"\xff", b"\xfe"], kind)
    assert by_value("max:x", [b" 9", b"10"], pa.binary(2)) == [1, 0]


def test_a_column_of_nulls_leaves_the_order_alone():
    assert by_value("max:x", [None, None, None], pa.null()) == [0, 1, 2]


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.map_(pa.int8(), pa.int8())])
def test_what_has_no_order_is_a_data_error(kind):
    with pytest.raises(DataError, match="'x'"):
        by_value("max:x", [None, None], kind)


@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest", "max:x"])
def test_no_documents(keep):
    assert ranked(keep, [], pa.chunked_array([], pa.int64())) == []


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.booleans(), st.integers(5, 8)), max_size=12),
    st.permutations(["longest", "min:x", "https", "canonical", "shortest-id"]),
    st.sampled_from([[], ["first"], ["last"]]),
)
def test_several_keys_are_in_order_of_importance(rows, order, end):
    named = [len(rows) - place for place in range(len(rows))]
    secure, sizes = np.array([row[2] for row in rows], np.bool_), np.array([row[3] for row in rows], np.int64)
    addresses = AddressRanks(np.array(named, np.int64), secure, np.zeros(len(rows), np.bool_), sizes)
    policy = Policy(keep=",".join([*order[:3], *end]))
    values = {name: pa.chunked_array([pa.array([row[1] for row in rows], pa.int64())]) for name in policy.value_fields}
    found = ranking(policy, np.array([row[0] for row in rows], np.int64), values, addresses)

    def key(place):
        length, value, https, size = rows[place]
        of = {"longest": -length, "min:x": value, "https": not https, "canonical": -named[place], "shortest-id": size}
        return [*(of[each] for each in order[:3]), -place if end == ["last"] else place]

    assert found.tolist() == sorted(range(len(rows)), key=key)


def test_canonical_ties_go_to_https_then_to_what_may_be_indexed_then_to_the_shortest_id():
    secure, noindex = np.array([True, False, True, True, True]), np.array([False, False, False, False, True])
    addresses = AddressRanks(np.array([1, 2, 2, 2, 2]), secure, noindex, np.array([1, 1, 9, 8, 7]))
    order = ranking(Policy(keep="canonical"), np.zeros(5, np.int64), {}, addresses)
    assert order.tolist() == [3, 2, 4, 1, 0]
    order = ranking(Policy(keep="canonical,first"), np.zeros(5, np.int64), {}, addresses)
    assert order.tolist() == [1, 2, 3, 4, 0]


@given(st.lists(st.integers(0, 5), max_size=9), st.lists(st.integers(0, 5), max_size=9))
def test_addresses_are_counted(own, named):
    found = times_named(np.array(own, np.uint64), np.array(named, np.uint64))
    assert found.tolist() == [named.count(each) for each in own]


def ranks(*written):
    return date_ranks(pa.array(written, pa.large_string())).to_pylist()


def spellings(moment):
    """Return ways to write a moment."""
    whole = moment.isoformat()
    utc = moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    return [whole, whole.replace("T", " "), *(utc + zone for zone in ("", "Z", "+00", "-00:00"))]


@given(st.lists(MOMENTS, max_size=6), st.data())
def test_dates_rank_by_the_moments_that_they_mean(moments, data):
    written = [data.draw(st.sampled_from(spellings(moment))) for moment in moments]
    found = ranks(*written)
    assert [[a < b for b in found] for a in found] == [[a < b for b in moments] for a in moments]


def test_parts_that_are_not_written_are_the_first():
    equal = ranks("2024-02-01", "2024-02-01T00", "2024-02-01 00:00", "2024-02-01T00:00:00,000Z")
    assert len(set(equal)) == 1
    finer = ranks("2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000001Z", "2024-01-01T00:00:00.1Z")
    assert finer == sorted(set(finer))


def test_any_digits_of_a_fraction_rank():
    texts = ["12:00:00.1234561Z", "12:00:00.123456900Z", "13:00:00.123457+01:00", "11:00:01", "12:00:01,0000000001"]
    places = ranks(*(f"2026-01-31T{text}" for text in [*texts, "12:00:00.1234561000Z"]))
    order = [places[place] for place in (3, 0, 1, 2, 4)]
    assert order == sorted(set(order))
    assert places[5] == places[0]


NOT_DATES = """
2024|2024-02|2024-1-1|2024-00|2024-13|2024-02-30|2023-02-29|0000-00-00|12024-01-01|31.01.2024|2016-12-31T23:59:60Z
2024-01-01T|2024-01-01T25|2024-01-01T10:60|2024-01-01T10:00:61|2024-01-01T10:00:00.|2024-01-01T10:00+24:00
2024-01-01 10:00 CET|2024-01-01T10:00 UTC|2024-01-01x|2024-01-01T24:00|20240101T240000Z|2024-01-01+01:00
2024-01-01T10:00.5|2024-01-01T10:00+01:00:00.5|20240101.5|
"""


@pytest.mark.parametrize("written", [*NOT_DATES.strip().replace("\n", "|").split("|"), "2024-01-01\n", "٢٠٢٤-01-01"])
def test_what_is_not_a_date_has_no_rank(written):
    found = ranks(written, "2024-01-01")
    assert found[0] is None
    assert found[1] is not None
    assert ranks(written) == [None]


def test_nothing_has_no_ranks():
    assert ranks() == []
