"""Text columns of any kind, as batches of bytes without a copy."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Bytes, Positions, TextBatch, inverse
from neardup.model.arrow_types import BINARY, STRINGS, is_one_of, unpacked, widened
from neardup.model.errors import DataError, kind_of
from neardup.text.containers import require_in_memory
from neardup.text.values import as_binary, is_missing

BATCH_BYTES = 1 << 20  # large batches are faster; this is the largest whose results still fit into a cache
BATCH_DOCUMENTS = 1 << 14

_LARGE = (pa.large_string(), pa.large_binary())
_NO_BYTES: Bytes = np.frombuffer(bytes(1), np.uint8)  # of empty texts alone, which may have no buffer


def text_column(texts: Any, name: str = "text") -> pa.ChunkedArray:
    """Return texts of any kind as one Arrow column of strings or of UTF-8 bytes.

    Accepts sequences of ``str`` (and missing values: ``None``, or NaN, ``NA`` and ``NaT`` of pandas), Arrow arrays, and
    any object with the Arrow C interface for one column. A column of any type is accepted if it has only nulls.
    ``string``, ``large_string``, ``binary`` and ``large_binary`` are not copied; ``string_view`` and dictionaries are
    cast once. Lone surrogates in a ``str`` become bytes that are not valid UTF-8, and so separate words. Raises
    ``DataError`` for anything else.
    """
    column = unpacked(_as_arrow(texts, name))
    kind = column.type
    if column.null_count == len(column):  # pandas has numbers in a column without values
        column = pa.chunked_array([pa.nulls(len(column), pa.large_string())])
    elif (wide := widened(kind)) != kind:
        column = column.cast(wide)
    elif not is_one_of(kind, (*STRINGS, *BINARY)):
        raise DataError(f"column {name!r}", f"must contain strings, not {kind}")
    return column


def is_mixed(kind: pa.DataType) -> bool:
    """Return whether a column of this type has values of several types: a sparse union."""
    return bool(pa.types.is_union(kind) and kind.mode == "sparse")


def typed_parts(mixed: pa.Array) -> list[pa.Array]:
    """Return the values of each type as an array in which all other rows are null; types without values have none."""
    begin, end = mixed.offset, mixed.offset + len(mixed)  # which ``type_codes`` ignores
    codes = np.frombuffer(mixed.buffers()[1], np.int8)[begin:end]
    parts = []
    for place, code in enumerate(mixed.type.type_codes):
        child = mixed.field(place)
        part = pc.if_else(pa.array(codes == code), child, pa.scalar(None, child.type))
        parts += [part] if part.null_count < len(part) else []
    return parts


def _as_arrow(texts: Any, name: str) -> pa.ChunkedArray:
    if isinstance(texts, pa.ChunkedArray):
        return texts
    if isinstance(texts, pa.Array):
        return pa.chunked_array([texts])
    if isinstance(texts, str | bytes):
        raise DataError(f"column {name!r}", "must be a sequence of texts, not a single text; put it in a list")
    require_in_memory(texts)
    if hasattr(texts, "columns"):
        raise DataError(f"column {name!r}", f"must be one column, not {kind_of(texts)}: pass one column of it")
    if hasattr(texts, "__arrow_c_stream__"):
        return pa.chunked_array(texts)
    if hasattr(texts, "__arrow_c_array__"):
        return pa.chunked_array([pa.array(texts)])
    if not isinstance(texts, Iterable) or isinstance(texts, Mapping):
        raise DataError(f"column {name!r}", f"must be a sequence of texts, not {kind_of(texts)}")
    return pa.chunked_array([_from_strings(list(texts), name)])


def _from_strings(texts: list[Any], name: str) -> pa.Array:
    strange = {kind for kind in set(map(type, texts)) if not issubclass(kind, str | None)}
    if strange:
        for position, text in enumerate(texts):
            if type(text) in strange and not is_missing(text):
                raise DataError(f"text {position} of {name!r}", f"must be a string or None, not {kind_of(text)}")
        texts = [text if isinstance(text, str) else None for text in texts]
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return as_binary(texts)


def batches(column: pa.ChunkedArray, size: int = BATCH_BYTES) -> Iterator[TextBatch]:
    """Cut a text column into batches of about *size* bytes of whole documents, in order; nulls are empty.

    A document longer than *size* is a batch of its own.
    """
    for chunk in column.chunks:
        whole = chunk_batch(chunk)
        first = 0
        while first < len(whole):
            last = int(np.searchsorted(whole.offsets, whole.offsets[first] + size, side="right")) - 1
            last = min(max(last, first + 1), first + BATCH_DOCUMENTS, len(whole))
            yield TextBatch(whole.data, whole.offsets[first : last + 1])
            first = last


def whole_batch(column: pa.ChunkedArray) -> TextBatch:
    """Return a column as one batch; several chunks are copied together."""
    if column.num_chunks == 1:
        return chunk_batch(column.chunk(0))
    return chunk_batch(column.cast(pa.large_binary()).combine_chunks())


def chunk_batch(chunk: pa.Array) -> TextBatch:
    """Return one chunk of a text column as one batch, without a copy; nulls are empty."""
    if chunk.null_count:
        chunk = chunk.fill_null(pa.scalar(b"", chunk.type))
    _, offsets, data = chunk.buffers()
    width = np.int64 if chunk.type in _LARGE else np.int32
    if offsets is None or offsets.size == 0:
        bounds: Positions = np.zeros(1, np.int64)
    else:
        own = np.frombuffer(offsets, width)[chunk.offset : chunk.offset + len(chunk) + 1]
        bounds = np.array(own, np.int64)
    content: Bytes = np.frombuffer(data, np.uint8) if data is not None and data.size else _NO_BYTES
    return TextBatch(content, bounds)


def text_lengths(column: pa.ChunkedArray) -> Positions:
    """Return the bytes of each text; nulls are empty."""
    lengths = [np.diff(chunk_batch(chunk).offsets) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.int64), *lengths])


def gathered(column: pa.ChunkedArray, positions: Positions) -> pa.Array:
    """Return the texts at these positions, as bytes; nulls stay.

    It works chunk by chunk: Arrow's own ``take`` would first copy all chunks together.
    """
    edges = np.cumsum([0, *(len(chunk) for chunk in column.chunks)])
    by_position = np.argsort(positions, kind="stable")
    ordered = positions[by_position]
    bounds = np.searchsorted(ordered, edges)
    pieces = [
        chunk.take(pa.array(ordered[begin:end] - edge)).cast(pa.large_binary())  # 32-bit offsets would overflow
        for chunk, edge, begin, end in zip(column.chunks, edges[:-1], bounds[:-1], bounds[1:], strict=True)
        if begin < end
    ]
    if not pieces:
        return pa.array([], pa.large_binary())
    whole = pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
    if (ordered == positions).all():
        return whole
    return whole.take(pa.array(inverse(by_position)))


def text_bytes(column: pa.ChunkedArray, position: int) -> bytes:
    """Return the text at a position of a text column as bytes; a null is empty."""
    found = column[position].as_buffer()
    return b"" if found is None else bytes(found.to_pybytes())


def readable_text(column: pa.ChunkedArray, position: int) -> str:
    """Return the text at a position of a text column as people read it: invalid bytes are U+FFFD; a null is empty."""
    return text_bytes(column, position).decode("utf-8", "replace")


def readable_values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column for Python; invalid bytes of strings are U+FFFD.

    Raises ``UnicodeDecodeError`` for a column of lists or structs with such strings.
    """
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise
        raw = column.cast(pa.large_binary()).to_pylist()
        return [None if value is None else value.decode("utf-8", "replace") for value in raw]
