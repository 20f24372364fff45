"""The bytes of a file, expanded if it is compressed, and the way back.

A plain file is mapped, not read: its pages stay the system's, and writing copies straight from them.
"""

import gzip
import mmap
import os
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import zstandard

from neardup.model.errors import DataError, OutputError
from neardup.sources.formats import STDIN, display

_STEP: Final = 1 << 14  # zstd may expand 32,768-fold: one step stays below 512 MiB
_LONGEST_WINDOW: Final = 1 << 31  # what `zstd --long=31` makes; the usual limit is 128 MiB
_PATIENCE: Final = 200  # milliseconds until a waiting reader looks up
_ZSTD_LEVEL: Final = 3
_GZIP_LEVEL: Final = 6
_REMEDY: Final = "--max-bytes raises this cap"

_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "Parquet"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
_SKIPPABLE: Final = b"\x2a\x4d\x18"  # a zstd stream may start with a frame of metadata: 0x5?, then these


class _Expander(Protocol):
    """What zlib's and zstandard's decompression objects have in common: one member, or one frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Contents:
    """All bytes of one input."""

    source: str
    data: memoryview
    mapped: tuple[str, os.stat_result] | None = None  # the file that the bytes still lie in, and its state then

    def check_unchanged(self) -> None:
        """Raise ``DataError`` if the mapped file was written to since it was read.

        A file that was replaced or removed is no harm: the map holds the old one.
        """
        if self.mapped is None:
            return
        path, then = self.mapped
        try:
            now = Path(path).stat()
        except OSError:
            return
        same_file = (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
        if same_file and (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            raise DataError(self.source, "it was changed while being read")


@dataclass(frozen=True, slots=True)
class _Cap:
    """How many bytes an input may run or expand to, and what to say if it has more."""

    most: int
    remedy: str

    def check(self, source: str, size: int) -> None:
        if size > self.most:
            raise DataError(source, f"it expands to more than {self.most:,} bytes; {self.remedy}")


def sniff(head: bytes) -> str | None:
    """Say what the first bytes of a file show it to be; None for anything that may be UTF-8 text."""
    if head[1:4] == _SKIPPABLE and head[0] >> 4 == 5:  # noqa: PLR2004 - 0x50 to 0x5f
        return "zstd"
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def load(path: str, compression: str | None, max_bytes: int, *, remedy: str = _REMEDY) -> Contents:
    """Return the bytes of a file, or of standard input for ``-``, expanded.

    Raises ``DataError`` if the file cannot be read; if its first bytes contradict its name; if a compressed
    file ends in the middle, is corrupt, or goes on after its end; and if it expands (or standard input runs)
    to more than *max_bytes* (*remedy* is what the error then says of the cap). A plain file is not limited: it
    takes no more memory than the caller reads of it.
    """
    source = display(path)
    cap = _Cap(max_bytes, remedy)
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise DataError(source, "it is closed")
            return Contents(source, _plain(source, sys.stdin.buffer, cap))  # type: ignore[arg-type] # it has read1
        with Path(path).open("rb") as file:
            about = os.fstat(file.fileno())
            regular = stat.S_ISREG(about.st_mode)
            if compression is not None:
                return Contents(source, _expanded(source, file, compression, cap))
            if regular and about.st_size:
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                _check_plain(source, bytes(data[:8]))
                return Contents(source, data, (path, about))
            return Contents(source, _plain(source, file, cap))
    except OSError as error:
        raise DataError(source, f"it cannot be read: {error.strerror or error}") from error


def _check_plain(source: str, head: bytes) -> None:
    found = sniff(head)
    if found is None:
        return
    remedy = "pipe it through a decompressor" if source == display(STDIN) else "give it the ending that says so"
    if found.startswith("UTF-16"):
        remedy = "save it as UTF-8"
    raise DataError(source, f"it should be plain text, but its first bytes are those of {found}; {remedy}")


def _plain(source: str, file: BufferedIOBase, cap: _Cap) -> memoryview:
    data = bytearray()
    while chunk := _next(file):
        data += chunk
        cap.check(source, len(data))
    _check_plain(source, bytes(data[:8]))
    return memoryview(data)


def _next(file: BufferedIOBase) -> bytes:
    """Read what there is, and notice Ctrl-C while there is nothing.

    ``read`` would go on until it has all it was asked for; and a signal that comes just before a read that
    has to wait is noticed after it only, so the wait is cut in pieces.
    """
    if isinstance(file, BufferedReader) and hasattr(select, "poll"):
        waiting = select.poll()
        waiting.register(file, select.POLLIN)
        while not waiting.poll(_PATIENCE):
            pass
    return file.read1(1 << 20)


def _expanded(source: str, file: BinaryIO, compression: str, cap: _Cap) -> memoryview:
    head = file.read(8)
    if head and sniff(head) != compression:
        raise DataError(source, f"its name says {compression}, but its first bytes are not those of {compression}")
    file.seek(0)
    data = bytearray()
    for chunk in _members(source, file, _expander(compression)):
        data += chunk
        cap.check(source, len(data))
    _check_plain(source, bytes(data[:8]))
    return memoryview(data)


def _expander(compression: str) -> Callable[[], _Expander]:
    if compression == "gzip":
        return lambda: zlib.decompressobj(wbits=31)
    return zstandard.ZstdDecompressor(max_window_size=_LONGEST_WINDOW).decompressobj


def _members(source: str, file: BinaryIO, new: Callable[[], _Expander]) -> Iterator[bytes]:
    """Yield what the members (or frames) of a file expand to, one after the other.

    The decompressors' own file objects end silently where the file does; here the last member must be complete.
    """
    member: _Expander | None = None
    complete = 0
    try:
        while rest := file.read(_STEP):
            while rest:
                member = member or new()
                yield member.decompress(rest)
                if not member.eof:
                    break
                rest, member, complete = member.unused_data, None, complete + 1
    except (zlib.error, zstandard.ZstdError) as error:
        after = "what follows its compressed data is not compressed data" if complete else "it is corrupt"
        raise DataError(source, f"{after} ({error})") from error
    if member is not None or not complete:
        raise DataError(source, "it ends in the middle: the file is truncated")


@contextmanager
def compressed(file: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """Compress what is written, leaving *file* open. The same input gives the same bytes: no time, no name."""
    if compression == "gzip":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc] # a GzipFile is all of a BinaryIO that is used
    elif compression == "zstd":
        with zstandard.ZstdCompressor(level=_ZSTD_LEVEL).stream_writer(file, closefd=False) as packed:
            yield packed
    elif compression is None:
        yield file
    else:
        raise OutputError(str(compression), "is no known compression")
