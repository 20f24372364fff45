"""Readers of compressed streams that only web archives have. This is the only module that imports fastwarc."""

from collections.abc import Iterator
from importlib import import_module
from typing import BinaryIO, Final

from neardup.model.errors import ExtraMissing

CUT_FRAME: Final = "the file ends in the middle of a frame"

_STEP: Final = 1 << 16
_LZ4: Final = b"\x04\x22\x4d\x18"
_SKIPPABLE: Final = b"\x2a\x4d\x18"  # 0x50 to 0x5f, then these: a frame of other data
_BLOCK_SIZE: Final = (1 << 31) - 1  # the bit above it marks a block that is not compressed


def brotli(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what a brotli stream holds, some at a time; ``OSError`` if it is damaged, ``ExtraMissing``."""
    return _pieces("BrotliReader", stream)


def lz4(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield what the frames of an lz4 file hold, some at a time, with the byte that the frame begins at.

    Raises ``OSError`` if a frame is damaged, ``EOFError`` if the file ends in the middle of one, and ``ExtraMissing``.
    The decoder accepts a frame that ends in its header or before its end mark; therefore the sizes of its blocks are
    added up here.
    """
    size, at = stream.seek(0, 2), 0
    while at < size:
        yield at, b""
        end, is_data = _lz4_frame(stream, at, size)
        if is_data:
            yield from ((at, piece) for piece in _pieces("Lz4Reader", _Part(stream, at, min(end, size))))
        if end > size:
            raise EOFError(CUT_FRAME)
        at = end


def _lz4_frame(stream: BinaryIO, at: int, size: int) -> tuple[int, bool]:
    """Return where a frame ends, which is after *size* if it is cut, and whether it holds data.

    Anything else, such as a frame of the first lz4 programs, which has no end mark, extends to the end of the file.
    """
    stream.seek(at)
    head = stream.read(8).ljust(8, b"\0")
    if head[1:4] == _SKIPPABLE and head[0] >> 4 == 5:  # noqa: PLR2004 - 0x50 to 0x5f
        return at + 8 + int.from_bytes(head[4:], "little"), False
    if not head.startswith(_LZ4):
        return size, True
    has_dictionary, has_checksum, has_size, has_block_checksums = (head[4] >> bit & 1 for bit in (0, 2, 3, 4))
    place = at + 7 + 8 * has_size + 4 * has_dictionary
    while place + 4 <= size:
        stream.seek(place)
        block = int.from_bytes(stream.read(4), "little")
        if not block:  # the end mark
            return place + 4 + 4 * has_checksum, True
        place += 4 + (block & _BLOCK_SIZE) + 4 * has_block_checksums
    return size + 1, True


class _Part:
    """The bytes of a file from *begin* to *end*, as a file."""

    def __init__(self, stream: BinaryIO, begin: int, end: int) -> None:
        self._stream, self._end = stream, end
        stream.seek(begin)

    def tell(self) -> int:
        return self._stream.tell()

    def read(self, size: int) -> bytes:
        return self._stream.read(min(size, self._end - self._stream.tell()))


def _pieces(reader: str, stream: "BinaryIO | _Part") -> Iterator[bytes]:
    try:
        library = import_module("fastwarc.stream_io")
    except ImportError as error:
        raise ExtraMissing("fastwarc", "warc") from error
    opened = getattr(library, reader)(stream)
    return iter(lambda: opened.read(_STEP), b"")
