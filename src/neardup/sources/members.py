"""The members of an archive, each expanded alone: those of gzip, and the frames of zstd and lz4."""

import gzip
import io
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Protocol, cast

import pyarrow as pa
import zstandard

from neardup.sources.compression import ZSTD_FRAME, Expander, GzipError, changed, inflater, is_skippable
from neardup.sources.formats import compression_of, display

LARGEST: Final = 1 << 26  # bytes of a record
CUT: Final = "the file ends in the middle of a record"

_READ: Final = 1 << 18
_BEGINNING: Final = 16  # expanded bytes that show what a member begins with
_GZIP_BEGINNING: Final = 1 << 12  # compressed bytes that have them
_GZIP_STEP: Final = 1 << 14  # compressed bytes that are expanded at a time: each may expand to 1 KiB
_ZSTD_STEP: Final = 1 << 10  # each may expand to 32 KiB
_LZ4_STEP: Final = 1 << 16  # expanded bytes
_MOST_READ: Final = 64  # times that bytes are read for damaged members: those of 256 bytes are in 64 steps of gzip
_CALL: Final = 64  # bytes that take as long as a call
_WINDOW: Final = 1 << 31  # bytes of the largest window of a zstd frame
_ZSTD_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_LZ4_FRAME: Final = b"\x04\x22\x4d\x18"
_LZ4_BLOCK_SIZE: Final = (1 << 31) - 1  # the bit above it marks a block that is not compressed
NO_DICTIONARY: Final = "its zstd frame needs a dictionary, and the file does not begin with one"
_MISMATCH: Final = "Dictionary mismatch"  # the error of zstd
_FAULTS: Final = (GzipError, zstandard.ZstdError, OSError)

Pieces = Generator[bytes, None, int]


class HeldBytes:
    """Bytes from *begin* on in memory, and those that follow, from a stream; ``forget`` may drop some."""

    def __init__(self, first: bytes, more: Iterator[bytes]) -> None:
        self._held, self._more, self.begin = first, more, 0

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from *begin* to *end*, fewer at the end of the stream."""
        if end > self.begin + len(self._held):
            self._extend(begin, end)
        return self._held[begin - self.begin : end - self.begin]

    def _extend(self, begin: int, end: int) -> None:
        pieces = [self._held]
        size = self.begin + len(self._held)
        while size < end and (piece := next(self._more, None)) is not None:
            pieces.append(piece)
            size += len(piece)
            if begin >= size:  # skipped bytes are not needed
                pieces, self.begin = [], size
        self._held = b"".join(pieces)

    def forget(self, begin: int) -> None:
        """Let the bytes before *begin* go."""
        if 2 * (begin - self.begin) > len(self._held):  # bytes are moved once
            self._held = self._held[begin - self.begin :]
            self.begin = begin


class FileBytes:
    """The bytes of a file; some are held, as records are shorter than what is read at once.

    *used* counts the bytes that were read, and *reach* is the end of the last ones in the file; see ``Damage``.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._begin, self._held = file, 0, b""
        self.size = file.seek(0, 2)
        self.used = self.reach = 0

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from *begin* to *end*, fewer at the end of the file."""
        if begin >= self.size:  # a damaged Content-Length may be beyond what a file can have
            return b""
        if not self._begin <= begin <= end <= self._begin + len(self._held):
            self._file.seek(begin)
            self._begin, self._held = begin, self._file.read(max(end - begin, _READ))
        found = self._held[begin - self._begin : end - self._begin]
        self.used += max(len(found), _CALL)
        self.reach = max(self.reach, begin + len(found))
        return found


class Damage:
    """Damaged records or members that overlap, and the bytes that were read for them.

    As the length of a damaged one may be wrong, the next may begin inside it, and be damaged, too. When those that
    overlap have taken ``_MOST_READ`` times the bytes they extend over, reading resumes behind them all. So it takes
    linear time for any file.
    """

    def __init__(self, data: FileBytes) -> None:
        self._data, self._begin, self._used = data, 0, 0
        self.end = 0

    def begin(self, at: int) -> None:
        """Count the bytes that are read from now on for the record or member at a byte."""
        self._data.used, self._data.reach = 0, at

    def resume(self, at: int) -> int:
        """Return where to search for the next one, because the one at a byte is damaged."""
        if at >= self.end:
            self._begin, self._used = at, 0
        self.end = max(self.end, self._data.reach)
        self._used += self._data.used
        is_long = self._used > _MOST_READ * (self.end - self._begin)
        return max(self.end, at + 1) if is_long else at + 1


class _FileRange(io.RawIOBase):
    """The bytes of a file from one to another, as a file."""

    def __init__(self, data: FileBytes, begin: int, end: int) -> None:
        self._data, self._at, self._end = data, begin, end

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        found = self._data.read(self._at, min(self._at + size, self._end))
        self._at += len(found)
        return found


class Packing(Protocol):
    """How an archive is compressed."""

    name: str
    """What a member is called."""
    magic: bytes
    """The bytes that a member begins with."""
    checked: bool
    """Whether all members have checksums."""
    padded: bool
    """Whether zero bytes may follow the last member."""
    first: int
    """The byte at which the first member begins."""

    def beginning(self, data: FileBytes, at: int) -> bytes:
        """Return the first bytes that the member at a byte holds. Raises one of several errors for damage."""

    def pieces(self, data: FileBytes, at: int) -> Pieces:
        """Yield what the member at a byte holds, some at a time, and return where it ends.

        Raises ``EOFError`` if the file ends before, and one of several errors for damage.
        """


class _Gzip:
    name, magic, checked, padded, first = "gzip member", b"\x1f\x8b\x08", True, True, 0

    def beginning(self, data: FileBytes, at: int) -> bytes:
        return inflater().decompress(data.read(at, at + _GZIP_BEGINNING), _BEGINNING)

    def pieces(self, data: FileBytes, at: int) -> Pieces:
        return _expanded(inflater(), _GZIP_STEP, data, at)


class _Zstd:
    """Zstd frames. The first frame of a file may be the dictionary of all others, compressed or not."""

    name, magic, checked, padded = "zstd frame", ZSTD_FRAME, False, False

    def __init__(self, file: BinaryIO) -> None:
        """Read the dictionary; the errors of ``packing_of``."""
        file.seek(0)
        head = file.read(8)
        self.first, dictionary = 0, None
        if head.startswith(_ZSTD_DICTIONARY):
            size = int.from_bytes(head[4:], "little")
            content = file.read(min(size, LARGEST))
            if size > LARGEST:
                raise zstandard.ZstdError(f"it is larger than {LARGEST >> 20} MiB")
            if len(content) < size or len(head) < 8:  # noqa: PLR2004 - the magic number, and the size
                raise EOFError
            if content.startswith(ZSTD_FRAME):
                content = zstandard.ZstdDecompressor().stream_reader(content).read(LARGEST)
            self.first, dictionary = 8 + size, zstandard.ZstdCompressionDict(content)
        self._expander = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=_WINDOW)

    def beginning(self, data: FileBytes, at: int) -> bytes:
        part = cast("IO[bytes]", _FileRange(data, at, data.size))  # it only reads
        return self._expander.stream_reader(part, read_size=_ZSTD_STEP).read(_BEGINNING)

    def pieces(self, data: FileBytes, at: int) -> Pieces:
        return _expanded(self._expander.decompressobj(), _ZSTD_STEP, data, at)


class _Lz4:
    """Lz4 frames.

    The decoder accepts a frame that ends in its header or before its end mark; therefore the sizes of its blocks are
    added up here.
    """

    name, magic, checked, padded, first = "lz4 frame", _LZ4_FRAME, False, False, 0

    def beginning(self, data: FileBytes, at: int) -> bytes:
        return bytes(_lz4_reader(data, at, data.size).read(_BEGINNING))

    def pieces(self, data: FileBytes, at: int) -> Pieces:
        end, is_data = _lz4_frame(data, at)
        if is_data:
            reader = _lz4_reader(data, at, min(end, data.size))
            try:
                yield from iter(lambda: reader.read(_LZ4_STEP), b"")
            except OSError as error:
                if error.errno is not None or end <= data.size:
                    raise
        if end > data.size:
            raise EOFError
        return end


def _lz4_reader(data: FileBytes, begin: int, end: int) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(_FileRange(data, begin, end), "r"), "lz4")


def _lz4_frame(data: FileBytes, at: int) -> tuple[int, bool]:
    """Return where a frame ends, which is after the file if it is cut, and whether it holds data.

    Anything else, such as a frame of the first lz4 programs, which has no end mark, extends to the end of the file.
    """
    head = data.read(at, at + 8)
    if len(head) < 8:  # noqa: PLR2004 - all frames are longer
        return at + 8, True
    if is_skippable(head):
        return at + 8 + int.from_bytes(head[4:], "little"), False
    if not head.startswith(_LZ4_FRAME):
        return data.size, True
    has_dictionary, has_checksum, has_size, has_block_checksums = (head[4] >> bit & 1 for bit in (0, 2, 3, 4))
    place = at + 7 + 8 * has_size + 4 * has_dictionary
    while place + 4 <= data.size:
        block = int.from_bytes(data.read(place, place + 4), "little")
        if not block:  # the end mark
            return place + 4 + 4 * has_checksum, True
        place += 4 + (block & _LZ4_BLOCK_SIZE) + 4 * has_block_checksums
    return data.size + 1, True


def packing_of(file: BinaryIO, compression: str) -> Packing:
    """Return how a file of a *compression* is compressed: ``gzip``, ``zstd`` or ``lz4``.

    Raises ``EOFError`` or ``ZstdError`` without the whole dictionary of a zstd file.
    """
    return _Zstd(file) if compression == "zstd" else _Lz4() if compression == "lz4" else _Gzip()


def packed(content: bytes, compression: str | None) -> bytes:
    """Return a member that holds some bytes; for ``None``, the bytes. The same bytes have the same member."""
    if compression == "zstd":
        return zstandard.ZstdCompressor(write_checksum=True).compress(content)
    if compression == "lz4":
        return bytes(pa.compress(content, "lz4"))
    return content if compression is None else gzip.compress(content, mtime=0)


def _expanded(expander: Expander, step: int, data: FileBytes, at: int) -> Pieces:
    while not expander.eof:
        piece = data.read(at, at + step)
        if not piece:
            raise EOFError
        at += len(piece)
        yield expander.decompress(piece)
    return at - len(expander.unused_data)


class PackedMember:
    """One member. ``end`` is where it ends, once that is known, and ``fault`` what is wrong with it."""

    def __init__(self, packing: Packing, data: FileBytes, at: int) -> None:
        self.end: int | None = None
        self.fault: str | None = None
        self.more = self._pieces(packing, data, at)

    def _pieces(self, packing: Packing, data: FileBytes, at: int) -> Iterator[bytes]:
        try:
            self.end = yield from packing.pieces(data, at)
        except EOFError:
            self.fault = CUT
        except _FAULTS as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the file
                raise
            self.fault = NO_DICTIONARY if _MISMATCH in str(error) else f"its {packing.name} is damaged"

    def first(self) -> list[bytes]:
        """Return the pieces of the whole member, or of the beginning of a long one."""
        pieces = []
        size = 0
        for piece in self.more:
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                break
        return pieces


def next_member(packing: Packing, data: FileBytes, at: int, last: int, beginning: bytes) -> int:
    """Return where the next member begins that holds these bytes at its *beginning*; *last* if there is none."""
    while at < last:
        held = data.read(at, at + _READ)
        place = held.find(packing.magic)
        while place >= 0:
            if at + place < last and begins_with(packing, data, at + place, beginning):
                return at + place
            place = held.find(packing.magic, place + 1)
        at += _READ - len(packing.magic) + 1
    return last


def begins_with(packing: Packing, data: FileBytes, at: int, beginning: bytes) -> bool:
    """Return whether a member begins at a byte that holds these bytes at its *beginning*."""
    try:
        return packing.beginning(data, at).startswith(beginning)
    except _FAULTS as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        return False


class Members:
    """Reads what members hold. Parts of one member, in order, cost one expansion of it."""

    def __init__(self) -> None:
        self._open: tuple[str, int] | None = None
        self._file: BinaryIO | None = None
        self._held = HeldBytes(b"", iter(()))

    def close(self) -> None:
        """Close the file that was read last."""
        if self._file is not None:
            self._file.close()
        self._open = self._file = None

    def read(self, path: str, offset: int, span: tuple[int, int]) -> bytes:
        """Return some bytes of what the member at *offset* holds; ``DataError`` if it does not have them now."""
        begin, end = span
        if self._open != (path, offset) or begin < self._held.begin:
            self._held = HeldBytes(b"", PackedMember(*self._opened(path), offset).more)
            self._open = path, offset
        data = self._held.read(begin, end)
        self._held.forget(begin)
        if len(data) < end - begin:
            raise changed(display(path))
        return data

    def whole(self, path: str, offset: int) -> bytes:
        """Return all that the member at *offset* expands to, at most a record; ``DataError`` if it is changed."""
        member = PackedMember(*self._opened(path), offset)
        pieces = member.first()
        if member.end is None:
            raise changed(display(path))
        return b"".join(pieces)

    def _opened(self, path: str) -> tuple[Packing, FileBytes]:
        self.close()
        self._file = Path(path).open("rb")  # noqa: SIM115 - it stays open for the next records
        try:
            packing = packing_of(self._file, compression_of(path) or "gzip")
        except (EOFError, zstandard.ZstdError) as error:
            raise changed(display(path)) from error
        return packing, FileBytes(self._file)
