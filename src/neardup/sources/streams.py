"""Readers of compressed data that only web archives have. This is the only module that imports fastwarc."""

from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO, Final

from neardup.model.errors import ExtraMissing

_STEP: Final = 1 << 16


def brotli(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what a brotli stream holds, some at a time; ``OSError`` if it is damaged, ``ExtraMissing``."""
    opened = _opened("BrotliReader", stream)
    return iter(lambda: opened.read(_STEP), b"")


def lz4_reader(stream: Any) -> BinaryIO:
    """Return a file that expands lz4 data, with ``OSError`` if it is damaged; ``ExtraMissing``.

    Of the *stream*, ``tell`` and ``read`` are used.
    """
    opened: BinaryIO = _opened("Lz4Reader", stream)
    return opened


def lz4_frame(content: bytes) -> bytes:
    """Return an lz4 frame that holds these bytes; the library writes no checksum. ``ExtraMissing``."""
    stream = BytesIO()
    with _opened("Lz4Writer", stream) as writer:
        writer.write(content)
    return stream.getvalue()


def _opened(name: str, stream: Any) -> Any:
    try:
        library = import_module("fastwarc.stream_io")
    except ImportError as error:
        raise ExtraMissing("fastwarc", "warc") from error
    return getattr(library, name)(stream)
