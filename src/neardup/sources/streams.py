"""Readers of compressed streams that only web archives have. This is the only module that imports fastwarc."""

from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from neardup.model.errors import ExtraMissing

_STEP: Final = 1 << 16


def brotli(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what a brotli stream holds, some at a time; ``OSError`` if it is damaged, ``ExtraMissing``."""
    try:
        from fastwarc.stream_io import BrotliReader
    except ImportError as error:
        raise ExtraMissing("fastwarc", "warc") from error
    return _pieces(BrotliReader(stream).read)


def lz4(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what lz4 frames hold, some at a time; ``OSError`` if they are damaged, ``ExtraMissing``."""
    try:
        from fastwarc.stream_io import Lz4Reader
    except ImportError as error:
        raise ExtraMissing("fastwarc", "warc") from error
    return _pieces(Lz4Reader(stream).read)


def _pieces(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while piece := read(_STEP):
        yield piece
