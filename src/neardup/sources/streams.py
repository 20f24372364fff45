"""Readers of compressed data that only web archives have. This is the only module that imports fastwarc."""

from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from typing import Any, BinaryIO, Final

from neardup.model.errors import ExtraMissing

_STEP: Final = 1 << 16
_SHORTER: Final = 1 << 8  # times shorter steps, to find damage in a step
_CAREFUL: Final = 1 << 6  # compressed bytes that are read at a time, to find damage


def brotli(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what a brotli stream holds, some at a time; ``OSError`` if it is damaged, ``ExtraMissing``.

    Everything before the damage is yielded, up to ``_CAREFUL`` bytes before it. For that, the *stream* is read again.
    """
    opened, at, step = _opened("BrotliReader", stream), 0, _STEP
    while True:
        try:
            piece = opened.read(step)
        except OSError:  # the library drops what it has expanded of this step
            if step == 1:
                raise
            step //= _SHORTER
            stream.seek(0)
            opened = _opened("BrotliReader", _InSteps(stream))
            for begin in range(0, at, _STEP):
                opened.read(min(_STEP, at - begin))
            continue
        if not piece:
            return
        yield piece
        at += len(piece)


class _InSteps:
    """A stream that returns a few bytes at a time: the library drops what it has expanded of damaged ones."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.tell = stream, stream.tell

    def read(self, size: int) -> bytes:
        return self._stream.read(min(size, _CAREFUL))


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
