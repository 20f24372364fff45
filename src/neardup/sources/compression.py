"""The bytes of a file, expanded if it is compressed, and compressed output.

A plain file stays on disk and is read block by block. It is never mapped into memory: if another process shortened a
mapped file, the system would end this process with a signal that cannot be caught.
"""

import bz2
import gzip
import lzma
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

import zstandard
from isal import isal_zlib

from neardup.model.errors import DataError, raising
from neardup.sources.formats import PACKED, STDIN, display, is_pipe
from neardup.sources.standard_input import available, standard_input

_STEP: Final = 1 << 14  # zstd may expand by a factor of 32,768: one step stays below 512 MiB
_EXPANDED: Final = 1 << 24  # bytes that bzip2 and xz expand at a time: a block of 45 bytes may expand to 45 MB
_RATED: Final = 1 << 22  # expanded bytes that show how far a file expands
_LONGEST_WINDOW: Final = 1 << 31  # the window of `zstd --long=31`; the default limit is 128 MiB
_ZSTD_LEVEL: Final = 3
_GZIP_LEVEL: Final = 6
_ENDS: Final = 1 << 16  # bytes at each end of a file that are digested
HEAD: Final = 64  # bytes that show the format of a file
ZSTD_FRAME: Final = b"\x28\xb5\x2f\xfd"

MARKED: Final = "UTF-16 text"  # what ``sniff`` finds at the byte order mark
_GZIP: Final = b"\x1f\x8b"
_MAGIC: Final = (
    (_GZIP, "gzip"),
    (ZSTD_FRAME, "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "Parquet"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe", MARKED),
    (b"\xfe\xff", MARKED),
)
_PADDED: Final = {"gzip", "bzip2", "xz"}  # zero bytes may follow: tapes and some loggers write them
_FOREIGN: Final = "the data after its compressed data is not compressed"
_REPEATED: Final = 1  # the type of a block that is one byte, repeated
_MOST_BLOCKS: Final = 1 << 22  # of a frame, and frames of a file: these are 512 GiB


GzipError: Final = cast("type[Exception]", isal_zlib.error)
"""The error of damaged gzip or zlib data; the type information of isal declares an instance."""


class Expander(Protocol):
    """The common interface of isal's and zstandard's decompression objects: one member, or one frame."""

    @property
    def eof(self) -> bool:
        """Whether it has ended."""

    @property
    def unused_data(self) -> bytes:
        """The data behind its end."""

    def decompress(self, data: bytes, /) -> bytes:
        """Return what some more data hold."""


class Writable(Protocol):
    """A file that data are only written to: that of zstandard has no ``writelines``."""

    def write(self, data: bytes | memoryview, /) -> int:
        """Write data."""


class Contents:
    """All bytes of one input, or some of its lines from the number *first* on: in memory, or in a file."""

    def __init__(self, source: str, data: memoryview, *, first: int = 1) -> None:
        self.source, self.first, self._data = source, first, data

    def __len__(self) -> int:
        return len(self._data)

    @property
    def data(self) -> memoryview:
        """All bytes, read into memory."""
        return self.read(0, len(self))

    def read(self, first: int, last: int) -> memoryview:
        """Return the bytes from *first* to *last*; ``DataError`` if the file was changed since it was first read."""
        return self._data[first:last]


class _OnDisk(Contents):
    """The bytes of a file in a known state, closed between reads: there may be more files than can be open."""

    def __init__(self, source: str, path: str, then: os.stat_result) -> None:
        super().__init__(source, memoryview(b""))
        self._path, self._then = path, then

    def __len__(self) -> int:
        return self._then.st_size

    def read(self, first: int, last: int) -> memoryview:
        with raising(DataError.by, self.source):
            try:
                with Path(self._path).open("rb") as file:
                    file.seek(first)
                    data = file.read(last - first)
                    now = os.fstat(file.fileno())
            except FileNotFoundError:
                raise changed(self.source) from None
        if _state(now) != _state(self._then) or len(data) < last - first:
            raise changed(self.source)
        return memoryview(data)


def _state(about: os.stat_result) -> tuple[int, int, int, int]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def changed(source: str) -> DataError:
    """Return the error about a file that another process changes."""
    return DataError(source, "it was changed or removed while it was read", "changed")


def check_size(source: str, size: int, most: int) -> None:
    """Raise ``DataError`` if expanded data is larger than allowed."""
    if size > most:
        raise DataError(source, f"it expands to more than {most:,} bytes", "too large")


@contextmanager
def within_memory(path: str) -> Iterator[None]:
    """Name the input in the error if there is not enough memory for it."""
    try:
        yield
    except MemoryError as error:
        raise DataError(display(path), "there is not enough memory for it", "memory") from error


def is_skippable(head: bytes) -> bool:
    """Return whether a frame of zstd or lz4 that begins so has other data, such as metadata: 0x5?, then three bytes."""
    return head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5  # noqa: PLR2004 - 0x50 to 0x5f


def sniff(head: bytes) -> str | None:
    """Return the format that the first bytes of a file show; ``None`` if it may be UTF-8 text."""
    if is_skippable(head):
        return "zstd"
    found = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    return found or next((f"UTF-{8 * size}{order} text" for size in (4, 2) if (order := _order(head, size))), None)


def encoding_code(form: str | None) -> str:
    """Return the code of an error about text that ``sniff`` found, such as ``utf-16``; empty for other formats."""
    return form.removesuffix(" text").lower() if form is not None and form.endswith("text") else ""


def _order(head: bytes, size: int) -> str:
    """Return the byte order of ASCII letters in UTF-16 or 32 without a byte order mark; empty for other bytes.

    One byte of each *size* is not zero then: the first (LE) or the last (BE).
    """
    filled = [any(head[place::size]) for place in range(size)]
    if len(head) < 2 * size or sum(filled) != 1:
        return ""
    return "LE" if filled[0] else "BE" if filled[-1] else ""


def load(path: str, compression: str | None = None, max_bytes: int = 0, *, page: bool = False) -> Contents:
    """Return the bytes of a file, or of standard input for ``-``, expanded. A *page* may be UTF-16 with a mark.

    Raises ``DataError`` if the file cannot be read; if its first bytes contradict its name; if a compressed file is
    incomplete, corrupt, or has other data after its end; and if it expands (or standard input runs) to more than
    *max_bytes*. A plain file is not limited: it only takes the memory that the caller reads.
    """
    source = display(path)
    if path == STDIN:
        return _held(source, standard_input(), max_bytes)
    with raising(DataError.by, source), Path(path).open("rb") as file:
        about = os.fstat(file.fileno())
        if compression is not None:
            return _held(source, _expansion(source, file, compression), max_bytes, page=page)
        if stat.S_ISREG(about.st_mode) and about.st_size:
            check_plain(source, file.read(HEAD), page=page)
            return _OnDisk(source, path, about)
        return _held(source, available(file), max_bytes, page=page)


def identity(path: str) -> list[Any]:
    """Return what changes with a file: its size, a digest of both ends, and the time of its last change.

    A small file has no time, because its ends are the whole content. Raises ``DataError`` for a pipe, which has no end.
    """
    if is_pipe(path):
        raise DataError(display(path), "it is a pipe or a device now, not a file", "changed")
    with raising(DataError.by, display(path)), Path(path).open("rb") as file:
        about = os.fstat(file.fileno())
        ends = blake2b(file.read(_ENDS), digest_size=16)
        file.seek(max(0, about.st_size - _ENDS))
        ends.update(file.read(_ENDS))
    found: list[Any] = [about.st_size, ends.hexdigest()]
    return found if about.st_size <= 2 * _ENDS else [*found, about.st_mtime_ns]


def stream(  # noqa: PLR0913, PLR0917 - a file, or frames of it
    path: str, compression: str | None, max_bytes: int, size: int, begin: int = 0, end: int | None = None
) -> Iterator[bytes]:
    """Yield the bytes of a file, expanded, about *size* at a time. Raises the errors of ``load``.

    *begin* and *end* select frames of a compressed file: see ``frame_edges``.
    """
    source = display(path)
    with raising(DataError.by, source), Path(path).open("rb") as file:
        if compression is None:
            check_plain(source, file.read(HEAD))
            file.seek(0)
            yield from iter(lambda: file.read(size), b"")
            return
        held, before = bytearray(), 0
        for chunk in _expansion(source, file, compression, begin, end):
            held += chunk
            check_size(source, before + len(held), max_bytes)
            if not begin and not before and len(held) >= HEAD:
                check_plain(source, bytes(held[:HEAD]))
            if len(held) >= size:
                yield bytes(held)
                before += len(held)
                held = bytearray()
        if not begin and not before:
            check_plain(source, bytes(held[:HEAD]))
        if held:
            yield bytes(held)


def frame_edges(path: str) -> list[int]:
    """Return where the frames of a zstd file begin, and its size.

    They are found by the sizes of their blocks, without expanding them. A file with anything else, such as frames of
    metadata, or with very many blocks is not divided: a reader finds what is wrong with it.
    """
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        edges = [0]
        for _ in range(_MOST_BLOCKS):
            if edges[-1] == size:
                return edges
            end = _frame_end(file, edges[-1])
            if end is None or end > size:
                break
            edges.append(end)
    return [0, size]


def _frame_end(file: BinaryIO, begin: int) -> int | None:
    """Return where a zstd frame ends (RFC 8878, section 3.1.1), or ``None`` if that is unknown."""
    file.seek(begin)
    head = file.read(5)
    if len(head) < 5 or head[:4] != ZSTD_FRAME:  # noqa: PLR2004 - the magic number, and the frame's descriptor
        return None
    single, checksum = head[4] >> 5 & 1, head[4] >> 2 & 1
    place = begin + 5 + (1 - single) + (0, 1, 2, 4)[head[4] & 3] + (single, 2, 4, 8)[head[4] >> 6]
    for _ in range(_MOST_BLOCKS):
        file.seek(place)
        block = int.from_bytes(file.read(3), "little")
        place += 3 + (1 if block >> 1 & 3 == _REPEATED else block >> 3)
        if block & 1:
            return place + 4 * checksum
        if not block:  # an empty block, or the end of a file that is cut off
            return None
    return None


def check_plain(source: str, head: bytes, *, page: bool = False) -> None:
    """Raise ``DataError`` if the first bytes show that this is not UTF-8 text.

    A *page* may also be UTF-16 with a byte order mark.
    """
    found = sniff(head)
    if found is None or (page and found == MARKED):
        return
    code = encoding_code(found) or ("compressed stream" if source == display(STDIN) else "ending")
    code = PACKED if found == "zip" else code
    raise DataError(source, f"it should be plain UTF-8 text, but its first bytes are those of {found}", code)


def _held(source: str, chunks: Iterable[bytes], most: int, *, page: bool = False) -> Contents:
    """Return bytes that are read into memory; they must look like plain text or a *page*, and be at most this many."""
    data = read_whole(source, chunks, most)
    check_plain(source, bytes(data[:HEAD]), page=page)
    return Contents(source, memoryview(data))


def read_whole(source: str, chunks: Iterable[bytes], most: int) -> bytearray:
    """Return all bytes of a stream; ``DataError`` if there are more than allowed."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        check_size(source, len(data), most)
    return data


def inflater(bits: int = 31) -> isal_zlib.Decompress:
    """Return an expander of gzip data, or of zlib data (15) or raw deflate data (-15): ISA-L's, twice as fast as zlib.

    It waits for a whole header before it refuses data that is not compressed.
    """
    return isal_zlib.decompressobj(bits)


def _expander(compression: str) -> Callable[[], Expander]:
    if compression == "gzip":
        return inflater
    if compression == "bzip2":
        return bz2.BZ2Decompressor
    if compression == "xz":
        return lzma.LZMADecompressor
    return zstandard.ZstdDecompressor(max_window_size=_LONGEST_WINDOW).decompressobj


def _decompressed(member: Expander, data: bytes) -> Iterator[bytes]:
    """Yield what more data of a member expands to, some at a time."""
    if not isinstance(member, bz2.BZ2Decompressor | lzma.LZMADecompressor):
        yield member.decompress(data)
        return
    yield member.decompress(data, _EXPANDED)
    while not member.eof and not member.needs_input:
        yield member.decompress(b"", _EXPANDED)


def _expansion(
    source: str, file: BinaryIO, compression: str, begin: int = 0, end: int | None = None
) -> Iterator[bytes]:
    """Yield what the members (or frames) of a file hold, from *begin*, which is the beginning of one, to *end*.

    The decompressors' own file objects silently accept a file that is cut off; here the last member must be complete.
    """
    file.seek(begin)
    head = file.read(8)
    if head and sniff(head) != compression:
        rule = f"its ending is that of {compression}, but its first bytes are not those of {compression}"
        raise DataError(source, rule, "ending" if sniff(head) else "not compressed")
    file.seek(begin)
    new, member, complete = _expander(compression), None, begin > 0
    try:
        while rest := file.read(_STEP if end is None else min(_STEP, end - file.tell())):
            while rest := rest if member or not complete else _behind_member(source, compression, rest):
                member = member or new()
                yield from _decompressed(member, rest)
                if not member.eof:
                    break
                rest, member, complete = member.unused_data, None, True
    except (GzipError, zstandard.ZstdError, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the file; bzip2 files have none
            raise
        raise DataError(source, f"{_FOREIGN if complete else 'it is corrupt'} ({error})") from error
    if member is not None or not complete:
        raise DataError(source, "its compressed data end too early: the file is truncated; get a complete copy")


def _behind_member(source: str, compression: str, rest: bytes) -> bytes:
    """Return what follows a whole member, without padding; ``DataError`` for other data than another member of gzip."""
    rest = rest.lstrip(b"\0") if compression in _PADDED else rest
    if compression == "gzip" and not _GZIP.startswith(rest[: len(_GZIP)]):
        raise DataError(source, _FOREIGN)  # the other decompressors refuse other data at once
    return rest


def expansion_rate(path: str, compression: str) -> float:
    """Return how many times its size the beginning of a compressed file expands to. Raises the errors of ``load``."""
    source, expanded = display(path), 0
    with raising(DataError.by, source), Path(path).open("rb") as file:
        for chunk in _expansion(source, file, compression):
            expanded += len(chunk)
            if expanded >= _RATED:
                break
        return expanded / max(1, file.tell())


@contextmanager
def compressed(file: BinaryIO, compression: str | None) -> Iterator[Writable]:
    """Return a file that compresses into *file*, which stays open. The same input has the same output bytes."""
    packers: dict[str | None, Callable[[], AbstractContextManager[Any]]] = {
        None: lambda: nullcontext(file),
        "gzip": lambda: gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=file, mtime=0),
        "zstd": lambda: zstandard.ZstdCompressor(level=_ZSTD_LEVEL).stream_writer(file, closefd=False),
        "bzip2": lambda: bz2.BZ2File(file, "wb"),
        "xz": lambda: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 - used in a context below
    }
    with packers[compression]() as packed:
        yield packed
