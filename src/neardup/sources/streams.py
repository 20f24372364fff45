"""Readers of compressed streams that only web archives have. This is the only module that imports fastwarc."""

from collections.abc import Iterator
from importlib import import_module
from typing import BinaryIO, Final

from neardup.model.errors import ExtraMissing

_STEP: Final = 1 << 16


def brotli(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what a brotli stream holds, some at a time; ``OSError`` if it is damaged, ``ExtraMissing``."""
    return _pieces("BrotliReader", stream)


def lz4(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what lz4 frames hold, some at a time; ``OSError`` if they are damaged, ``ExtraMissing``."""
    return _pieces("Lz4Reader", stream)


def _pieces(reader: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        library = import_module("fastwarc.stream_io")
    except ImportError as error:
        raise ExtraMissing("fastwarc", "warc") from error
    opened = getattr(library, reader)(stream)
    return iter(lambda: opened.read(_STEP), b"")
