"""Containers of documents, read as one Arrow table with texts and ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.exact import count_repeats
from neardup.kernels.sets import equal_ranges
from neardup.model.arrays import Flags, Positions, TextBatch, Words, not_utf8, parts_of
from neardup.model.engine import IN_TURN, Engine, in_parts
from neardup.model.errors import DataError, cut_to, kind_of, require_name
from neardup.model.policy import Policy
from neardup.model.written_values import written_values
from neardup.schemes.checksum import BODY
from neardup.sources.plain_columns import times_as_ids
from neardup.sources.request import DEFAULT_ID, DEFAULT_TEXT
from neardup.text.columns import chunk_batch, gathered, text_column, text_lengths
from neardup.text.containers import OF_FILES, column_missing, records_as_table, require_in_memory, table_or_column
from neardup.text.sites import NO_SITES

Some = TypeVar("Some", bound=Sized)

SITE: Final = "\0site"  # the column of the sites of pages, a name that no column of a user has
_SHOWN: Final = 60  # characters of a text in a message
_COPIED: Final = 1 << 25  # bytes of text that are copied together to be compared
_FEW: Final = 8  # chunks whose texts are compared in place, pair by pair of chunks


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """A table's columns by name, its texts and its ids.

    *named* is whether the ids come from the table. The columns that rank documents may be in a table of their own,
    *ranking*, and the addresses that rank them may be others than the ids.
    """

    texts: pa.ChunkedArray
    ids: pa.ChunkedArray
    table: pa.Table
    named: bool
    ranking: pa.Table | None = None
    other_addresses: pa.ChunkedArray | None = None

    @classmethod
    def of(  # noqa: PLR0913 - a container, and its columns
        cls,
        source: Any,
        text: str,
        id_: str | None,
        needed: Sequence[str] = (),
        optional: Sequence[str] = (),
        *,
        with_text: bool = True,
    ) -> Self:
        """Read the columns of a container, or a plain column of texts.

        Only the texts, the ids, the *needed* columns and the *optional* columns of a table are read. The id column may
        be missing if it has its default name, and the texts unless the documents need them (*with_text*). Raises
        ``DataError`` with the existing columns if a needed one is missing, and ``ParameterError`` for a name that is
        not a string.
        """
        require_name("text", text)
        if id_ is not None:
            require_name("id", id_)
        needed = [*([text] if with_text else []), *needed]
        optional = [text, *([id_] if id_ else []), *optional, *([SITE] if isinstance(source, pa.Table) else [])]
        if id_ is not None and id_ != DEFAULT_ID:
            needed.append(id_)
        opened = _opened(source, needed, optional, text)
        if isinstance(opened, pa.Table):
            there = text in opened.column_names
            texts = text_column(opened.column(text) if there else pa.nulls(len(opened), pa.large_string()), text)
        else:
            texts = text_column(opened, text)
            opened = pa.table({text: texts})
            for name in needed:
                if name not in opened.column_names:
                    raise column_missing(name, opened.column_names, text)
        named = id_ is not None and id_ in opened.column_names
        return cls(texts, _ids(opened, id_ if named else None, len(texts)), opened, named)

    @property
    def sites(self) -> Words:
        """The sites of all documents (see ``neardup.text.sites``), if there is such a column; otherwise none."""
        if SITE not in self.table.column_names:
            return NO_SITES
        found: Words = self.table.column(SITE).to_numpy()
        return found

    @property
    def addresses(self) -> pa.ChunkedArray:
        """The addresses of all documents, by which they may be ranked: usually the ids."""
        return self.ids if self.other_addresses is None else self.other_addresses

    def columns(self, names: Iterable[str]) -> dict[str, pa.ChunkedArray]:
        """Return the existing ones of these columns that rank, by name."""
        table = self.table if self.ranking is None else self.ranking
        return {name: table.column(name) for name in names if name in table.column_names}

    def duplicate_ids(self) -> int:
        """Count the documents with an id that occurs earlier in the inputs."""
        return count_repeats(map(chunk_batch, self.ids.chunks)) if self.named else 0

    def raw_texts(self, positions: Positions) -> list[bytes | None]:
        """Return the texts at these positions, as bytes; null for a missing text."""
        raw: list[bytes | None] = gathered(self.texts, positions).to_pylist()
        return raw

    def same_text(self, left: Positions, right: Positions, engine: Engine = IN_TURN) -> Flags:
        """Return, pair by pair, whether two texts are equal byte by byte; false for empty texts.

        Texts of a few chunks are compared in place. Those of many are first copied together, at most ``_COPIED`` bytes
        of each side at a time, so the work does not depend on the number of chunks.
        """
        if self.texts.num_chunks <= _FEW:
            return self._same_in_place(left, right, engine)
        return self._same_in_copies(left, right, engine)

    def _same_in_place(self, left: Positions, right: Positions, engine: Engine) -> Flags:
        same = np.zeros(len(left), np.bool_)
        chunks = [chunk_batch(chunk) for chunk in self.texts.chunks]
        edges = np.cumsum([0, *map(len, chunks)])
        of_left, of_right = (np.searchsorted(edges, side, side="right") - 1 for side in (left, right))
        for one, other in product(range(len(chunks)), repeat=2):
            pairs = np.flatnonzero((of_left == one) & (of_right == other))
            places = left[pairs] - edges[one], right[pairs] - edges[other]
            same[pairs] = _equal_texts(chunks[one], chunks[other], *places, engine)
        return same

    def _same_in_copies(self, left: Positions, right: Positions, engine: Engine) -> Flags:
        same = np.zeros(len(left), np.bool_)
        lengths = text_lengths(self.texts)
        pairs = np.flatnonzero(lengths[left] == lengths[right])
        for part in parts_of(lengths[left[pairs]], _COPIED):
            block = pairs[part]
            texts, others = (chunk_batch(gathered(self.texts, side[block])) for side in (left, right))
            rows = np.arange(len(block))
            same[block] = _equal_texts(texts, others, rows, rows, engine)
        return same

    def fields(self, columns: tuple[str, ...]) -> pa.Table:
        """Return the existing ones of these columns; the text is the column ``BODY`` of a table without one."""
        table = self.table.select([name for name in columns if name in self.table.column_names])
        if BODY in columns and BODY not in table.column_names:
            table = table.append_column(BODY, self.texts)
        return table


def needs_text(scheme: Any, text: str, policy: Policy | None = None) -> bool:
    """Return whether some document must have the field *text*.

    It may be missing if it has its default name, the scheme signs other fields and requires one of them, and the policy
    does not rank by the lengths of texts.
    """
    ranks = policy is not None and not {"longest", "shortest"}.isdisjoint(kind for kind, _ in policy.keys)
    return ranks or text != DEFAULT_TEXT or not scheme.required_columns or not {BODY, text}.isdisjoint(scheme.columns)


def placed(every: Iterable[Some]) -> Iterator[tuple[int, Some]]:
    """Yield batches or pieces of documents, each with the position of its first document."""
    start = 0
    for some in every:
        yield start, some
        start += len(some)


def rows_in(every: Iterable[Some], positions: Positions) -> Iterator[tuple[Some, slice, Positions]]:
    """Yield batches or pieces of documents, each with which of some ascending positions it has, and its rows there.

    Without positions, none is read.
    """
    for start, some in placed(every if len(positions) else ()):
        part = slice(*np.searchsorted(positions, [start, start + len(some)]).tolist())
        yield some, part, positions[part] - start


def _opened(source: Any, needed: Sequence[str], optional: Sequence[str], text: str) -> Any:
    require_in_memory(source)
    if isinstance(source, str):
        raise DataError("documents", f"{cut_to(_SHOWN, source)!r} is a single text: put it in a list; {OF_FILES}")
    if isinstance(source, Mapping):
        raise DataError("documents", f"{kind_of(source)} is not a table: make one with pyarrow.table(columns)")
    if isinstance(source, Iterator) and not hasattr(source, "__arrow_c_stream__"):
        source = [*source]  # it may be of dictionaries
    if isinstance(source, tuple | list) and source and isinstance(source[0], Mapping):
        return records_as_table(source, needed, optional, text=text)
    opened = table_or_column(source, needed, optional, text=text)
    if not isinstance(opened, pa.Table | Iterable) and not hasattr(opened, "__arrow_c_array__"):
        rule = f"must be a list of texts, a table or an iterator, not {type(source).__name__}"
        raise DataError("documents", rule)
    return opened


def _equal_texts(one: TextBatch, other: TextBatch, left: Positions, right: Positions, engine: Engine) -> Flags:
    equal = np.empty(len(left), np.bool_)
    starts, ends = one.offsets[:-1], one.offsets[1:]

    def compare(part: slice) -> None:
        ranges = one.data, starts, ends, other.data, other.offsets[:-1], other.offsets[1:]
        equal_ranges(*ranges, left[part], right[part], equal[part])

    in_parts(engine, compare, len(left))
    return equal & (ends[left] > starts[left])


def _ids(table: pa.Table, name: str | None, number: int) -> pa.ChunkedArray:
    """Return the ids of documents: the id column as strings, or positions. A missing id is ``#POSITION``."""
    positions = pa.array(np.arange(number)).cast(pa.string())
    if name is None:
        return pa.chunked_array([positions])
    named = _as_strings(table.column(name), name)
    if not named.null_count:
        return named
    named = named.combine_chunks()
    missing, prefix = positions.filter(named.is_null()), "#"
    while pc.any(pc.is_in(pc.binary_join_element_wise(prefix, missing, ""), named)).as_py():
        prefix += "#"  # the table has such an id
    return pa.chunked_array([pc.coalesce(named, pc.binary_join_element_wise(prefix, positions, "").cast(named.type))])


def _as_strings(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column of ids as strings; ``DataError`` for values that cannot be ids."""
    column = written_values(column)
    rule = f"holds {column.type}, but ids must be strings, numbers, times or UUIDs; convert it to strings"
    if pa.types.is_boolean(column.type) or isinstance(column.type, pa.BaseExtensionType):  # a period is not its number
        raise DataError(f"column {name!r}", rule)
    if pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        column = times_as_ids(column, f"column {name!r}").cast(pa.string())
    try:
        named = column.cast(pa.string()) if not pa.types.is_large_string(column.type) else column
        named.validate(full=True)  # casts of strings are not checked
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        with suppress(TypeError, pa.ArrowException):  # it does not hold bytes
            for row in not_utf8(column.cast(pa.large_binary()).to_pylist()):
                rule = "is not valid UTF-8, but ids must be; write binary ids as hexadecimal strings"
                raise DataError(f"column {name!r}, row {row:,}", rule) from error
        raise DataError(f"column {name!r}", rule) from error
    return named
