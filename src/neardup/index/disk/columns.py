"""What a scheme defines for an index: its columns, in memory and in its files, and how it finds candidates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import MOST, Array, expect
from neardup.index.disk.buffers import GrowingStrings
from neardup.model.arrays import Flags, Positions, TextBatch, Words
from neardup.model.errors import StorageDamaged
from neardup.model.tables import TableDesign

STRING: Final = "string"
CHANGING: Final = ("representative", "decided", "seen", "reported", "leads")  # columns that change, besides fields
NEVER: Final = -1
COVERED: Final = -2
TIMES: Final = {"first_seen": "first", "changed_at": "time", "last_seen": "seen"}  # the columns of their public names
FIELD_KINDS: Final[dict[str, str]] = {STRING: "", "integer": "<i8", "number": "<f8", "time": "<i8", "flag": "|b1"}

Batch = dict[str, Array | TextBatch]  # one entry per column, all of the same length


@dataclass(frozen=True)
class Columns:
    """The columns of an index: the type and shape of their entries, or strings.

    ``ordinal``   the number of its admission, which grows and is never used again
    ``first``     when its id was first admitted, in microseconds since 1970, UTC
    ``time``      when it was admitted with its present content, likewise
    ``representative``  the ordinal of its representative; its own if it is kept
    ``decided``   the next ordinal when it got its representative or other fields; its own if it was admitted with them
    ``seen``      when it was last seen, likewise
    ``reported``  the next ordinal at the time of the last verdict to keep it; ``NEVER`` before that, or ``COVERED`` if
                  there was one to keep a document that it represents
    ``content``   a digest of its content; zero if only a signature was given
    ``equal``     a digest of its features; zero if they are unknown
    ``leads``     whether it is the leader of documents with this digest, which alone is found by its keys
    ``present``   whether it has a signature
    ``rows``      its signature
    ``id``, ``text`` (if texts are kept), and ``field.NAME`` with ``known.NAME``, which is false for nulls
    """

    row_kind: str
    row_width: int
    fields: tuple[tuple[str, str], ...]
    texts: bool

    @cached_property
    def fixed(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The type and shape of each column without strings."""
        own: dict[str, tuple[str, tuple[int, ...]]] = {
            **dict.fromkeys(("ordinal", "first", "time", "representative", "decided", "seen", "reported"), ("<i8", ())),
            **dict.fromkeys(("content", "equal"), ("<u8", (2,))),
            **dict.fromkeys(("leads", "present"), ("|b1", ())),
            "rows": (self.row_kind, (self.row_width,)),
        }
        for name, kind in self.fields:
            own[f"known.{name}"] = ("|b1", ())
            if kind != STRING:
                own[f"field.{name}"] = (FIELD_KINDS[kind], ())
        return own

    @cached_property
    def changing(self) -> tuple[str, ...]:
        """The columns whose values change after a document was admitted: ``CHANGING`` and those of its fields."""
        return (*CHANGING, *(f"{part}.{name}" for name, _ in self.fields for part in ("known", "field")))

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """The columns of strings."""
        named = tuple(f"field.{name}" for name, kind in self.fields if kind == STRING)
        return ("id", *(("text",) if self.texts else ()), *named)

    def read(self, name: str, array: Callable[[str], Array], number: int, prefix: str = "") -> Array | TextBatch:
        """Return a column of a *number* of values from its arrays, by their names; for use in ``understood``."""
        if name in self.strings:
            return strings_of(f"{prefix}{name}", array, number)
        kind, shape = self.fixed[name]
        column = array(f"{prefix}{name}")
        expect((column.dtype.str, column.shape) == (kind, (number, *shape)), f"{prefix}{name} is another column")
        return column

    def joined(self, name: str, parts: Sequence[Array | TextBatch]) -> Array | TextBatch:
        """Return the values of a column that are in several parts, or in none, together."""
        if name in self.strings:
            strings = GrowingStrings()
            for part in parts:
                strings.extend(cast("TextBatch", part))
            return strings.take(np.arange(len(strings)))
        kind, shape = self.fixed[name]
        return np.concatenate([np.empty((0, *shape), kind), *cast("Sequence[Array]", parts)])


class Lookup(NamedTuple):
    """How signatures become candidates: by a shared key or, for fingerprints in files, by their distance.

    *keyed* returns the keys of rows of signatures and takes which rows are present. If *position_independent*, keys are
    compared across columns. *design* returns the design of tables for a number of fingerprints of 64 bits; without it
    files have lists of keys.
    """

    keyed: Callable[[npt.NDArray[Any], Flags], Words]
    position_independent: bool
    design: Callable[[int], TableDesign] | None = None


def flattened(batch: Mapping[str, Array | TextBatch]) -> dict[str, Array]:
    """Return columns with strings as two arrays, ``NAME.data`` and ``NAME.offsets``."""
    flat: dict[str, Array] = {}
    for name, column in batch.items():
        if isinstance(column, TextBatch):
            begin, end = int(column.offsets[0]), int(column.offsets[-1])
            flat[f"{name}.data"] = column.data[begin:end]
            flat[f"{name}.offsets"] = column.offsets - begin
        else:
            flat[name] = column
    return flat


def unflattened(columns: Columns, flat: Mapping[str, Array]) -> Batch:
    """Return columns from their arrays; for use in ``understood``."""
    ordinals = flat["ordinal"]
    every = (*columns.fixed, *columns.strings)
    batch: Batch = {name: columns.read(name, flat.__getitem__, len(ordinals)) for name in every}
    expect(len(ordinals) > 0 and ordinals[0] >= 0 and ordinals[-1] < MOST, "invalid ordinals")
    expect(bool((np.diff(ordinals) > 0).all()), "its documents are not in the order of their admission")
    return batch


def ordinals_of(array: Array) -> Positions:
    """Check and return a column of ordinals; for use in ``understood``."""
    expect((array.dtype.str, array.ndim) == ("<i8", 1), "invalid ordinals")
    return array


def strings_of(name: str, array: Callable[[str], Array], number: int) -> TextBatch:
    """Return a column of a *number* of strings from its two arrays; for use in ``understood``."""
    data, offsets = array(f"{name}.data"), array(f"{name}.offsets")
    expect((data.dtype.str, data.ndim, offsets.dtype.str) == ("|u1", 1, "<i8"), f"{name!r} is another column")
    cut = offsets.shape == (number + 1,) and offsets[0] == 0 and offsets[-1] == len(data)
    expect(bool(cut and (np.diff(offsets) >= 0).all()), f"{name!r} is not cut as it should be")
    return TextBatch(data, offsets)


def as_bytes(digests: Words) -> list[bytes | None]:
    """Return digests (uint64[n, 2]) as bytes; empty for zero."""
    known: list[bool] = np.asarray(digests.any(axis=1)).tolist()
    raw = np.ascontiguousarray(digests).tobytes()
    return [raw[16 * place : 16 * place + 16] if is_known else None for place, is_known in enumerate(known)]


def decoded(strings: TextBatch) -> list[str]:
    """Return strings as Python objects."""
    raw, bounds = strings.data.tobytes(), strings.offsets.tolist()
    if raw.isascii():  # as most ids: then a character is a byte
        plain = raw.decode("ascii")
        return [plain[begin:end] for begin, end in pairwise(bounds)]
    try:
        return [raw[begin:end].decode() for begin, end in pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise StorageDamaged("a column of strings", f"is not valid UTF-8: {error}") from error


def encoded(strings: list[str]) -> TextBatch:
    """Return strings as a column has them; lone surrogates become bytes that are in no other string.

    Raises ``TypeError`` for values that are not strings.
    """
    joined = "".join(strings)
    if not joined.isascii():
        return TextBatch.of([string.encode(errors="surrogatepass") for string in strings])
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=offsets[1:])
    return TextBatch(np.frombuffer(joined.encode() or bytes(1), np.uint8), offsets)
