"""The ranking of documents by the keep policy."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Flags, Positions, Words, not_utf8, positions_in
from neardup.model.arrow_types import BYTES, STRINGS, is_one_of, unpacked
from neardup.model.errors import DataError, ValueRefused
from neardup.model.moments import second_and_digits
from neardup.model.policy import CANONICAL, HTTPS, NOINDEX, SHORTEST_ID, Policy

_BLANKS: Final = " \t\r\n"
_NUMBER: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?$"
_INFINITE: Final = r"(?i)^[+-]?inf(inity)?$"
_NOT_A_NUMBER: Final = r"(?i)^[+-]?nan$"
# What text looks like a quantity, a date or a version, with the decimal digits of all scripts:
_QUANTITY: Final = r"^\P{Nd}{0,5}(?P<digits>\p{Nd}+(?:[^\p{Nd}\p{L}]\p{Nd}+)*)"  # as "$10" and "v1.10" begin
_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY: Final = "(?:sun|mon|tue|wed|thu|fri|sat|(?:sun|mon|tues|wednes|thurs|fri|satur)day)"
_DISORDERED: Final = (  # by text order, also if the numbers are equally long
    rf"(?i)^(?:(?:(?:{_MONTH}|{_WEEKDAY})[., -]+){{1,2}}\p{{Nd}}"  # "May 31, 2024", "Fri, 31 May 2024"
    rf"|\p{{Nd}}{{1,2}}[./ -](?:\p{{Nd}}{{1,2}}|{_MONTH})[,./ -]+\p{{Nd}}{{2}}"  # "31.05.2024", "31 May 2024"
    r"|\p{Nd}{1,2}[./ -]\p{Nd}{4}$"  # "05/2024"
    r"|\P{Nd}{0,5}\p{Nd}[\p{Nd}., ]*[kmgtb](?:i?b|n)?$)"  # "5k" and "1.2 MB"
)
_SHOWN: Final = 40  # characters of a value in a message


@dataclass(frozen=True, slots=True, eq=False)
class AddressRanks:
    """What ranks documents by their addresses.

    ``named``: by how many documents the address is named; ``https``: whether it begins so; ``noindex``: whether search
    engines must not index it; ``sizes``: bytes of the id.
    """

    named: Positions
    https: Flags
    noindex: Flags
    sizes: Positions


def times_named(own: Words, named: Words) -> Positions:
    """Return how many documents name each document's *own* address; both are hashes of addresses, by position."""
    addresses, counts = np.unique(named, return_counts=True)
    return np.asarray(np.append(counts, 0)[positions_in(addresses, own)])  # the last one for those not named


def ranking(
    policy: Policy, lengths: Positions, values: Mapping[str, pa.ChunkedArray], addresses: AddressRanks | None = None
) -> Positions:
    """Return positions from best to worst; ties go to the smallest position.

    *lengths* are the texts' bytes; *values* are the ``value_fields`` of the policy, by name; *addresses* are needed if
    it ranks them. Documents without a value (null, NaN, an empty or blank string) rank last.
    Ordered categories rank by their order. If any string is a number, strings rank as numbers, exactly, with any number
    of digits; then all must be numbers, and ``ValueRefused`` has the row of the first that is not. If any is a date,
    such as ``2026-01-31``, all must be dates, and rank by the moments that they mean. Other strings rank as text, with
    a ``RuntimeWarning`` if they look like quantities, dates or versions that this may disorder. White space around a
    string does not count. Bytes are strings, which must be UTF-8, as in files. Raises ``DataError`` for a column
    without an order.
    """
    plain: dict[str, Callable[[], Positions]] = {  # integers by position: the smallest ranks best
        "first": lambda: np.arange(len(lengths)),
        "last": lambda: -np.arange(len(lengths)),
        "longest": lambda: -lengths,
        "shortest": lambda: lengths,
    }
    if addresses is not None:
        plain |= {
            CANONICAL: lambda: -addresses.named,
            HTTPS: lambda: -addresses.https.astype(np.int64),
            NOINDEX: lambda: addresses.noindex.astype(np.int64),
            SHORTEST_ID: lambda: addresses.sizes,
        }
    keys = [
        _by_value(values[field], field, descending=kind == "max") if field else plain[kind]()
        for kind, field in policy.keys
    ]
    return np.asarray(np.lexsort(keys[::-1]))


def _by_value(values: pa.ChunkedArray, field: str, *, descending: bool) -> Positions:
    values = _sortable(values, field)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    try:
        ranks = pc.rank(
            values,
            sort_keys="descending" if descending else "ascending",  # nulls are at the end
            tiebreaker="min",
        )
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise DataError(f"column {field!r}", f"has the type {values.type}, which has no order") from error
    return np.asarray(ranks.to_numpy(zero_copy_only=False).astype(np.int64))


def _sortable(values: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
    """Return values of the same order in a type that Arrow can sort."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _codes(values, field) if kind.ordered else _sortable(unpacked(values), field)
    if is_one_of(kind, BYTES):
        values = _decoded_bytes(values, field)
    if is_one_of(values.type, STRINGS):
        return _of_strings(values.cast(pa.large_string()), field)
    if pa.types.is_float16(kind):
        return values.cast(pa.float32())
    return values.cast(pa.int8()) if pa.types.is_null(kind) else values


def _codes(values: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
    """Return the positions of ordered categories in their order."""
    orders = [chunk.dictionary for chunk in values.chunks if chunk.null_count < len(chunk)]
    if any(not order.equals(orders[0]) for order in orders):
        raise DataError(f"column {field!r}", "has ordered categories of different order in its chunks")
    return pa.chunked_array([chunk.indices for chunk in values.chunks], values.type.index_type)


def _decoded_bytes(values: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
    """Return bytes as strings; ``ValueRefused`` for the first value that is not UTF-8."""
    values = values.cast(pa.large_binary())
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        row = next(not_utf8(values.to_pylist()))
        value = values[row].as_py()[:_SHOWN]
        rule = f"is {value!r}, which is not valid UTF-8; rank by strings, such as hexadecimal digits"
        raise ValueRefused(f"column {field!r}, row {row:,}", rule, "encoding", row, field) from None


def _of_strings(values: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
    """Return strings without white space around them, or the ranks of the numbers or dates that they are."""
    coded = pc.utf8_trim(values, _BLANKS).combine_chunks().dictionary_encode()
    written, codes = coded.dictionary, coded.indices
    numbers = pc.match_substring_regex(written, _NUMBER)
    blank = pc.equal(written, "")
    missing = pc.or_(blank, pc.match_substring_regex(written, _NOT_A_NUMBER))
    if pc.any(numbers).as_py():
        known = pc.or_(numbers, pc.match_substring_regex(written, _INFINITE))
        _require(pc.or_(known, missing).take(codes), "number", values, field)
        ranks = _ranks(pc.if_else(missing, None, written))
    else:
        ranks = date_ranks(written)
        if ranks.null_count < len(ranks):
            _require(pc.or_(ranks.is_valid(), missing).take(codes), "date", values, field)
        else:
            ranks = pc.if_else(blank, None, written)
            _warn_of_text(ranks.drop_null(), field)
    return pa.chunked_array([ranks.take(codes)])


def _warn_of_text(written: pa.Array, field: str) -> None:
    """Warn if half of the distinct strings or more begin like quantities, dates or versions that may be disordered."""
    looks = pc.match_substring_regex(written, _DISORDERED)
    digits = pc.struct_field(pc.extract_regex(written, _QUANTITY), "digits")
    if pc.count_distinct(pc.replace_substring_regex(digits, r"\p{Nd}", "0")).as_py() > 1:
        looks = pc.or_(looks, digits.is_valid())
    if len(written) and 2 * (pc.sum(looks).as_py() or 0) >= len(written):
        rows = [row for kind in (True, False) if (row := pc.index(looks, value=kind).as_py()) >= 0]
        values = " and ".join(repr(written[row].as_py()[:_SHOWN]) for row in rows)
        rule = f"ranked as text, because values such as {values} are neither numbers nor dates such as 2026-01-31;"
        rule += " to rank by value, write such numbers or dates"
        warnings.warn(f"field {field!r} is {rule}", RuntimeWarning, stacklevel=2)


def _require(known: pa.Array, kind: str, values: pa.ChunkedArray, field: str) -> None:
    """Raise ``ValueRefused`` for the first value that is not *known* to be of a kind."""
    row = pc.index(known, value=False).as_py()
    if row >= 0:
        rule = f"is {values[row].as_py()[:_SHOWN]!r}, which is not a {kind}, but other values are"
        raise ValueRefused(f"column {field!r}, row {row:,}", rule, f"not a {kind}", row, field)


def _ranks(written: pa.Array) -> pa.Array:
    """Rank distinct spellings of numbers by their exact values; equal values have equal ranks, null has none."""
    floats = pc.replace_substring_regex(written, r"^\+", "").cast(pa.float64()).to_numpy(zero_copy_only=False)
    order = np.argsort(floats, kind="stable")[: len(written) - written.null_count]
    sizes = floats[order]
    steps = np.flatnonzero(sizes[1:] > sizes[:-1]) + 1
    ranks = np.zeros(len(written), np.int64)
    for rank, alike in enumerate(np.split(order, steps) if len(order) else []):
        ranks[alike] = rank * len(written)
        if len(alike) > 1:
            values = [Decimal(written[place].as_py()) for place in alike.tolist()]
            places = {value: place for place, value in enumerate(sorted(set(values)))}
            ranks[alike] += [places[value] for value in values]
    return pa.array(ranks, mask=written.is_null().to_numpy(zero_copy_only=False))


def date_ranks(written: pa.Array) -> pa.Array:
    """Return integers in the order of the moments that strings mean; null for strings that are not dates.

    See ``second_and_digits``. Equal moments have equal ranks in any spelling.

    >>> early, same, late, none = date_ranks(
    ...     pa.array(["2026-01-31T00:30+01:00", "2026-01-30T23:30:00Z", "2026-01-31", "2026-02-30"])
    ... ).to_pylist()
    >>> early == same < late, none
    (True, None)
    """
    moments = [_moment(each or "") for each in written.to_pylist()]
    places = {moment: place for place, moment in enumerate(sorted(each for each in {*moments} if each))}
    return pa.array([places[each] if each else None for each in moments], pa.int64())


def _moment(written: str) -> tuple[float, str] | None:
    """Return the seconds from 1970 to a date, and the digits of their fraction; ``None`` for other strings."""
    try:
        second, digits = second_and_digits(written)
    except ValueError:
        return None
    return second.timestamp(), digits
