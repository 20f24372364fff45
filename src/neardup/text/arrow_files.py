"""Arrow files whose batches are not compressed: reading one takes no more memory than the file has bytes.

A compressed batch may expand to any size, and Arrow has no limit for it. The format is that of the specification of the
Arrow columnar format: a footer lists the messages of the batches, and both are tables of FlatBuffers.
"""

import struct
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

_END: Final = struct.Struct("<i6s")  # the size of the footer, and the magic bytes
_BLOCK: Final = struct.Struct("<qi4xq")  # of a message: where it begins, its bytes, and those of its body
_DICTIONARIES, _BATCHES = 2, 3  # fields of a footer
_HEADER: Final = 2  # field of a message
_DATA: Final = 1  # field of a dictionary: its batch
_COMPRESSION: Final = 3  # field of a batch
_CONTINUED: Final = b"\xff\xff\xff\xff"  # before the size of a message, except in old files


def open_arrow(source: pa.NativeFile) -> pa.RecordBatchFileReader:
    """Open a file; raise ``ValueError`` if one of its batches is compressed, or if it is not an Arrow file."""
    try:
        compressed = any(_are_compressed(source))
    except (struct.error, OverflowError) as error:
        raise ValueError("it is not an Arrow file") from error
    if compressed:
        raise ValueError("its batches are compressed")
    source.seek(0)
    return pa.ipc.open_file(source)


def _are_compressed(source: pa.NativeFile) -> Iterator[bool]:
    """Yield of each batch whether it is compressed."""
    end = source.size() - _END.size
    size, _ = _END.unpack(_read(source, end, _END.size))
    footer = _read(source, end - size, size)
    for kind in (_DICTIONARIES, _BATCHES):
        place = _field(footer, _followed(footer, 0), kind)
        blocks = _followed(footer, place) if place else 0
        for number in range(_whole(footer, blocks) if place else 0):
            begin, length, _ = _BLOCK.unpack_from(footer, blocks + 4 + number * _BLOCK.size)
            message = _read(source, begin, length)
            message = message[8 if message.startswith(_CONTINUED) else 4 :]
            batch = _followed(message, _field(message, _followed(message, 0), _HEADER))
            if kind == _DICTIONARIES:
                batch = _followed(message, _field(message, batch, _DATA))
            yield _field(message, batch, _COMPRESSION) > 0


def _read(source: pa.NativeFile, begin: int, size: int) -> bytes:
    if begin < 0 or not 0 <= size <= source.size() - begin:
        raise struct.error("outside of the file")
    source.seek(begin)
    return bytes(source.read(size))


def _whole(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])


def _followed(data: bytes, place: int) -> int:
    """Return the place that a place refers to; 0 refers to the table of a FlatBuffer."""
    return place + _whole(data, place)


def _field(data: bytes, table: int, number: int) -> int:
    """Return where a field of a table is; 0 if the table has none."""
    listed = table - int(struct.unpack_from("<i", data, table)[0])
    if listed < 0:
        raise struct.error("outside of the message")
    (size,) = struct.unpack_from("<H", data, listed)
    offset = struct.unpack_from("<H", data, listed + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
    return table + int(offset) if offset else 0
