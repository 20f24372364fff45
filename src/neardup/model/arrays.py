"""Batches as arrays, which are passed between the stages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.model.errors import DataError, ParameterError, RecipeMismatch, require, require_kind
from neardup.model.recipe import RecipeId

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]
AnyPositions = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Values = npt.NDArray[np.float64]  # of measures, probabilities and weights

ROUNDING: Final = 1e-9  # more than the error of a computed value, and less than any difference that counts

_RECIPE: Final = "neardup.recipe"  # keys of the metadata of a table
_ROW: Final = "neardup.row"
_TABLE: Final = 2  # dimensions of rows


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Texts in one buffer, in UTF-8: document *d* is ``data[offsets[d]:offsets[d + 1]]``.

    *data* is always read-only, so that kernels are compiled for one type only.
    """

    data: Bytes
    offsets: Positions

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _read_only(self.data))

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "TextBatch":
        """Return texts that are bytes in UTF-8 as a batch.

        >>> TextBatch.of([b"one", b"", b"two"]).offsets.tolist()
        [0, 3, 3, 6]
        """
        return cls(np.frombuffer(b"".join(texts) or bytes(1), np.uint8), np.cumsum([0, *map(len, texts)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, document: int) -> bytes:
        """Return the text of one document."""
        return self.data[self.offsets[document] : self.offsets[document + 1]].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The shingle hashes of a batch, as a ragged array: document *d* has ``values[offsets[d]:offsets[d + 1]]``.

    ``values`` is uint64, in text order; repeats count once in a set. ``offsets`` is int64[n + 1]. ``recipe`` is the id
    of the shingling that made them, or ``None``.
    """

    values: Words
    offsets: Positions
    recipe: RecipeId | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The parts of a collection that schemes sign: features, a table of columns, and one Arrow column of texts."""

    features: Features
    fields: Any
    texts: Any


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Signatures:
    """The signatures of documents, one row per document.

    ``rows`` is a two-dimensional array whose width and type depend on the scheme. ``present`` is bool[n]: false for a
    document without a signature, such as one without words. ``recipe`` is the id of the recipe that made them:
    signatures of different recipes are not comparable, and comparing them raises ``RecipeMismatch``. Positions, slices
    and flags select rows; a single position does not. ``rows`` is always read-only, so that kernels are compiled for
    one type only. Raises ``ParameterError`` for arrays of other shapes.
    """

    rows: npt.NDArray[Any]
    present: Flags
    recipe: RecipeId

    def __post_init__(self) -> None:
        rule = "must be a two-dimensional array; select rows by a slice"
        require(np.ndim(self.rows) == _TABLE, "rows", self.rows, rule)
        flags = np.asarray(self.present)
        fits = flags.dtype == np.bool_ and flags.shape == (len(self.rows),)
        require(fits, "present", self.present, f"must have {len(self.rows):,} flags, one per row")
        require(isinstance(self.recipe, str), "recipe", self.recipe, "must be the id of a recipe")
        object.__setattr__(self, "present", flags)
        object.__setattr__(self, "rows", _read_only(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:  # rows that are sent to another process stay read-only
        return type(self), (self.rows, self.present, self.recipe)

    def __getitem__(self, chosen: slice | AnyPositions | Flags) -> "Signatures":
        return Signatures(self.rows[chosen], self.present[chosen], self.recipe)

    def to_arrow(self) -> Any:
        """Return an Arrow table of one row per document, with the columns ``signature`` and ``present``.

        The recipe is in the metadata of the schema, which Parquet and Arrow files keep. Nothing is copied.
        """
        import pyarrow as pa

        words = pa.array(np.ascontiguousarray(self.rows).reshape(-1))
        column = pa.FixedSizeListArray.from_arrays(words, self.rows.shape[1])
        table = pa.table({"signature": column, "present": self.present})
        return table.replace_schema_metadata({_RECIPE: self.recipe, _ROW: _row_of(self.rows)})

    @classmethod
    def from_arrow(cls, table: Any) -> "Signatures":
        """Return the signatures in an Arrow table that ``to_arrow`` made; other columns are ignored.

        Raises ``DataError`` if ``to_arrow`` did not make the table (or record batch).
        """
        import pyarrow as pa

        whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        metadata = (isinstance(whole, pa.Table) and whole.schema.metadata) or {}
        recipe, row = (metadata.get(name.encode(), b"").decode(errors="replace") for name in (_RECIPE, _ROW))
        try:
            width, kind = row.split()
            kinds = [pa.list_(pa.from_numpy_dtype(kind), int(width)), pa.bool_()]
            rows, present = (whole[name].combine_chunks() for name in ("signature", "present"))
            words = rows.flatten()
            nulls = sum(one.null_count for one in (rows, words, present))
            holds = [rows.type, present.type] == kinds and int(width) >= 0 and not nulls  # of -1, they are ragged
        except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException):
            holds = False
        if not (holds and recipe):
            raise DataError("signatures", "must be an Arrow table that Signatures.to_arrow made, with its metadata")
        numbers = words.to_numpy(zero_copy_only=False).reshape(len(rows), int(width))
        return cls(numbers, present.to_numpy(zero_copy_only=False), RecipeId(recipe))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _row_of(rows: npt.NDArray[Any]) -> str:
    """Describe the width and type of rows."""
    return f"{rows.shape[1]} {rows.dtype}"


def require_ascending(name: str, values: Any) -> Words:
    """Return hashes as a read-only array; ``ParameterError`` unless they are uint64, ascending and distinct."""
    hashes = np.array(values)
    holds = hashes.dtype == np.uint64 and hashes.ndim == 1 and bool((hashes[:-1] < hashes[1:]).all())
    require(holds, name, f"array of {hashes.dtype}", "must be ascending, distinct uint64")
    return _read_only(hashes)


def ragged(starts: AnyPositions, sizes: AnyPositions) -> Positions:
    """Return the positions of all values of ragged rows, one row after the other.

    >>> ragged(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def inverse(order: AnyPositions | Sequence[int]) -> Positions:
    """Return the place of each position in an order of all of them.

    >>> inverse([2, 0, 1]).tolist()
    [1, 2, 0]
    """
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def parts_of(sizes: AnyPositions, most: int) -> Iterator[slice]:
    """Cut rows of these sizes into parts whose sizes sum up to *most* at most; a larger row is a part of its own.

    >>> [(part.start, part.stop) for part in parts_of(np.array([2, 3, 9, 1]), 5)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends, begin = np.cumsum(sizes), 0
    while begin < len(ends):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(begin, end)
        begin = end


def run_starts(values: npt.NDArray[np.integer[Any]]) -> Flags:
    """Mark the first value of each run of equal values.

    >>> run_starts(np.array([7, 7, 3, 7])).tolist()
    [True, False, True, True]
    """
    first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def positions_in(ordered: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Positions:
    """Return the position of each wanted value among sorted ones, of equal ones the first, or -1.

    >>> positions_in(np.array([2, 5, 5, 9]), np.array([9, 5, 3, 10])).tolist()
    [3, 1, -1, -1]
    """
    if not len(ordered):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[places] == wanted, places, -1)


def require_same_recipe(left: RecipeId, right: RecipeId) -> None:
    """Raise ``RecipeMismatch`` unless both recipes are the same."""
    if left != right:
        raise RecipeMismatch(left, right)


def require_features(features: Features) -> None:
    """Raise ``ParameterError`` unless the arrays of features are of their types, and the offsets inside the values.

    Kernels do not check this: they would read other memory.
    """
    values, offsets = features.values, features.offsets
    rule = "must be a one-dimensional array of {}"
    for name, array, kind in (("values", values, np.uint64), ("offsets", offsets, np.int64)):
        listed = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == kind
        require(listed, name, array, rule.format(np.dtype(kind)))
    inside = len(offsets) and offsets[0] >= 0 and offsets[-1] <= len(values) and (offsets[:-1] <= offsets[1:]).all()
    require(bool(inside), "offsets", offsets, f"must ascend, with values from 0 to {len(values):,}")


def require_signatures(name: str, value: object, scheme: Any) -> None:
    """Raise ``RecipeMismatch`` for signatures of another recipe, ``ParameterError`` unless a *scheme* makes such rows.

    Kernels do not check this: they would read and write other memory.
    """
    require_kind(name, value, Signatures)
    signatures: Any = value
    require_same_recipe(scheme.recipe, signatures.recipe)
    width, *kinds = scheme.row_format
    if signatures.rows.shape[1] != width or signatures.rows.dtype not in kinds:  # the words take longer than a query
        rule = f"must have rows of {width} {kinds[0]}, as this scheme makes them"
        raise ParameterError(name, f"rows of {_row_of(signatures.rows)}", rule)


def require_comparable(scheme: Any, left: Signatures, right: Signatures) -> None:
    """Raise the errors of ``require_signatures``, and ``DataError`` unless both have equally many rows of one type."""
    require_signatures("left", left, scheme)
    require_signatures("right", right, scheme)
    if len(left) != len(right):
        raise DataError("signatures", f"{len(left)} rows cannot be compared row by row with {len(right)}")
    if left.rows.dtype != right.rows.dtype:
        raise DataError("signatures", f"rows of {left.rows.dtype} cannot be compared with rows of {right.rows.dtype}")


def require_pairs(left: AnyPositions, right: AnyPositions, number: int) -> None:
    """Raise ``ParameterError`` unless both are arrays of positions of *number* documents, of the same length.

    Kernels do not check this: they would read other memory.
    """
    for name, places in (("left", left), ("right", right)):
        listed = isinstance(places, np.ndarray) and places.ndim == 1 and np.issubdtype(places.dtype, np.integer)
        inside = listed and (not len(places) or (places.min() >= 0 and places.max() < number))
        require(bool(inside), name, places, f"must be an array of positions of {number:,} documents")
        require(places.dtype.isnative, name, places, "must be an array in the byte order of this machine")
    require(len(left) == len(right), "right", right, f"must have {len(left):,} positions, as many as left")


def shares(given: Any, name: str = "resemblance") -> Values:
    """Return the argument of a law as an array; ``ParameterError`` unless every number is from 0 to 1."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    require(bool(((numbers >= 0) & (numbers <= 1)).all()), name, given, "must be from 0 to 1")
    return numbers


def not_utf8(values: Iterable[bytes | None]) -> Iterator[int]:
    """Yield the places of the values that are not valid UTF-8; raise ``TypeError`` for a value that is not bytes."""
    for place, value in enumerate(values):
        try:
            str(value or b"", "utf-8")
        except UnicodeDecodeError:
            yield place
