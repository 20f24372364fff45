"""The records of a WARC file, each either complete or part of a gap that is reported.

In a ``.warc.gz`` every gzip member is expanded alone, so a record is only accepted if its member is complete, its
checksum is right, and the member ends where its ``Content-Length`` ends. After damage, reading resumes at the next
member that begins a record. In a plain file a record must be followed by its line ends, and agree with its block
digest if it has one; reading resumes where the next record seems to begin. Archives compressed as a stream (``.zst``,
``.lz4``, gzip around a whole archive) have no places that reading could resume at; the digests are checked, too.
"""

import base64
import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import zstandard

from neardup.model.errors import DataError
from neardup.sources.compression import GzipError, inflater
from neardup.sources.formats import display, readable
from neardup.sources.streams import CUT_FRAME, lz4

LARGEST: Final = 1 << 26  # bytes of a record

_READ: Final = 1 << 18
_STEP: Final = 1 << 14  # compressed bytes that are expanded at a time: each may expand to 1 KiB
_MEMBER: Final = b"\x1f\x8b\x08"
_VERSION: Final = b"WARC/"
_NEXT: Final = re.compile(rb"WARC/\d\.\d+\r?\n[A-Za-z-]{1,99}[ \t]*:")
_NEXT_LENGTH: Final = 1 << 7  # bytes that are enough to recognise it
_ARC: Final = b"filedesc://"
_BEGIN: Final = 1 << 12  # compressed bytes that show how a member begins
_HEADERS: Final = 1 << 20  # bytes of the headers of a record
_HEADERS_FIRST: Final = 1 << 12
_ENDS: Final = (b"\r\n\r\n", b"\n\n")
_FOLDED: Final = re.compile(r"\r?\n[ \t]+")
_CONCURRENT: Final = "warc-concurrent-to"
_ONCE: Final = frozenset({"warc-type", "warc-record-id", "warc-date", "content-length"})
_DIGESTS: Final = ("sha1", "sha256", "sha512", "md5")
_ZSTD_STEP: Final = 1 << 10  # compressed bytes: each may expand to 32 KiB
_WINDOW: Final = 1 << 31  # bytes of the largest window of a zstd frame
_ZSTD_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_ZSTD_FRAME: Final = b"\x28\xb5\x2f\xfd"
_DAMAGED: Final = "its gzip member is damaged"
_NO_BEGINNING: Final = "these bytes are not the beginning of a record"
CUT: Final = "the file ends in the middle of a record"
_REST: Final = "; the rest of the data that is compressed with it is not read"
CHANGED: Final = "it was changed while it was read"
UNENDED: Final = "the file ends without the line ends after its last record; the record was read"


class Record(NamedTuple):
    """A complete record. *offset* and *length* are bytes of the file; ``None`` if it cannot be read there alone.

    The names of *headers* are in lower case; of equal names the first counts. *concurrent* are the records that it
    names as parts of the same capture. *block* is everything after the headers, and *missing* the line ends that should
    be after it but are not, as a file, stream or member ends there. Of a record without a length, *span* are the bytes
    of what its member or stream expands to.
    """

    offset: int
    length: int | None
    headers: dict[str, str]
    concurrent: tuple[str, ...]
    block: bytes
    missing: bytes = b""
    span: tuple[int, int] = (0, 0)


class Gap(NamedTuple):
    """Bytes of a file that hold no complete record, and why. Without *damage*, they are a record that is too large."""

    offset: int
    end: int
    reason: str
    damage: bool = True


class _Held:
    """Bytes in memory, and those that follow, from a stream; those before ``forget`` are not needed any more."""

    def __init__(self, first: bytes, more: Iterator[bytes]) -> None:
        self._held, self._more, self._begin = first, more, 0

    def read(self, begin: int, end: int) -> bytes:
        if end > self._begin + len(self._held):
            self._extend(begin, end)
        return self._held[begin - self._begin : end - self._begin]

    def _extend(self, begin: int, end: int) -> None:
        pieces = [self._held]
        size = self._begin + len(self._held)
        while size < end and (piece := next(self._more, None)) is not None:
            pieces.append(piece)
            size += len(piece)
            if begin >= size:  # skipped bytes are not needed
                pieces, self._begin = [], size
        self._held = pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def forget(self, begin: int) -> None:
        if 2 * (begin - self._begin) > len(self._held):  # bytes are moved once
            self._held = self._held[begin - self._begin :]
            self._begin = begin


class _OfFile:
    """The bytes of a plain file; some are held, as records are shorter than what is read at once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._begin, self._held = file, 0, b""
        self._size = file.seek(0, 2)

    def read(self, begin: int, end: int) -> bytes:
        if begin >= self._size:  # a damaged Content-Length may be beyond what a file can have
            return b""
        if not self._begin <= begin <= end <= self._begin + len(self._held):
            self._file.seek(begin)
            self._begin, self._held = begin, self._file.read(max(end - begin, _READ))
        return self._held[begin - self._begin : end - self._begin]


def records(path: str, compression: str | None, begin: int = 0, end: int | None = None) -> Iterator[Record | Gap]:
    """Yield the records of a file that begin in a range of bytes, and its gaps, in order.

    *compression* is ``gzip``, ``zstd``, ``lz4`` or ``None``. The range must begin at a record; it counts for gzip and
    plain files only. Raises ``DataError`` for a file that cannot be read, or is not a WARC file at all.
    """
    source = display(path)
    with readable(source), Path(path).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(_BEGIN)
        if not begin:
            _check_beginning(source, head, compression)
        last = size if end is None else min(end, size)
        if compression == "gzip":
            yield from _of_members(source, file, begin, last, size)
        elif compression is None:
            yield from _of_plain(source, file, begin, last)
        else:
            file.seek(0)
            yield from _of_stream(source, file, compression, size)
        if not size:
            yield Gap(0, 0, "the file is empty")


def _check_beginning(source: str, head: bytes, compression: str | None) -> None:
    """Raise ``DataError`` for an ARC file, and for a file that is compressed in another way than its name promises."""
    plain = _beginning(head) if head.startswith(_MEMBER) else head
    if plain.startswith(_ARC):
        raise DataError(source, "it is an ARC file; convert it first, with `warcio recompress`", "arc")
    if head.startswith(_VERSION) and compression is not None:
        raise DataError(source, f"its ending is that of {compression}, but it is not compressed", "ending")
    if head.startswith(_MEMBER) and compression != "gzip":
        raise DataError(source, "its first bytes are those of gzip; its name must end in .warc.gz", "ending")


def _beginning(member: bytes) -> bytes:
    """Return the first bytes of what a gzip member holds; nothing for other bytes."""
    try:
        return inflater().decompress(member, 16)
    except GzipError:
        return b""


def _of_members(source: str, file: BinaryIO, at: int, last: int, size: int) -> Iterator[Record | Gap]:
    """Yield the records of the gzip members that begin before *last*, in a file of *size* bytes."""
    data = _OfFile(file)
    while at < last:
        member = _Member(data, at)
        pieces = member.first()
        if member.end is not None:
            whole = b"".join(pieces)
            found = list(_in_order(source, _Held(whole, iter(())), len(whole)))
            yield from _placed(found, at, member.end)
        elif member.fault is None:  # a long one: gzip around a whole archive, or a large record
            yield from _streamed(source, chain(_emptied(pieces), member.more()), member.place, member.faulty)
            for _ in member.more():  # to its end
                pass
        else:  # of a single record nothing counts; of gzip around a whole archive, what precedes the damage
            found = list(_in_order(source, _Held(b"", _emptied(pieces))))
            yield from (_without_place(one, at) for one in found[:-1] if one.offset != found[-1].offset)
        resumed = member.end
        if resumed is None:
            resumed = _next_member(file, at + 1, last)
            yield Gap(at, resumed, CUT if member.fault == CUT and resumed == size else _DAMAGED)
        at = resumed


class _Member:
    """One gzip member. ``end`` is where it ends, once that is known, and ``fault`` what is wrong with it."""

    def __init__(self, data: _OfFile, at: int) -> None:
        self._data, self._at, self._begin = data, at, at
        self._expander = inflater()
        self.end: int | None = None
        self.fault: str | None = None

    def faulty(self) -> bool:
        return self.fault is not None

    def place(self, _: int) -> int:
        return self._begin

    def first(self) -> list[bytes]:
        """Return the pieces of the whole member, or of the beginning of a long one."""
        pieces = []
        size = 0
        for piece in self.more():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                break
        return pieces

    def more(self) -> Iterator[bytes]:
        """Yield what follows, some at a time."""
        while self.end is None and self.fault is None:
            data = self._data.read(self._at, self._at + _STEP)
            if not data:
                self.fault = CUT
                return
            try:
                piece = self._expander.decompress(data)
            except GzipError:
                self.fault = _DAMAGED
                return
            self._at += len(data)
            if self._expander.eof:
                self.end = self._at - len(self._expander.unused_data)
            yield piece


class Members:
    """Reads records that share gzip members. Records in order cost one expansion of their member."""

    def __init__(self) -> None:
        self._open: tuple[str, int] | None = None
        self._file: BinaryIO | None = None
        self._begin = 0
        self._held = _Held(b"", iter(()))

    def close(self) -> None:
        """Close the file that was read last."""
        if self._file is not None:
            self._file.close()
        self._open = self._file = None

    def read(self, path: str, offset: int, span: tuple[int, int]) -> bytes:
        """Return some bytes of what the member at *offset* expands to; ``DataError`` if it does not have them now."""
        begin, end = span
        if self._open != (path, offset) or begin < self._begin:
            self.close()
            self._file = Path(path).open("rb")  # noqa: SIM115 - it stays open for the next records
            self._open = path, offset
            self._held = _Held(b"", _Member(_OfFile(self._file), offset).more())
        data = self._held.read(begin, end)
        self._held.forget(begin)
        self._begin = begin
        if len(data) < end - begin:
            raise DataError(display(path), CHANGED, "changed")
        return data

    def record(self, path: str, offset: int, span: tuple[int, int]) -> Record:
        """Return a record that shares the member at *offset*."""
        found, _ = _record(display(path), _Held(self.read(path, offset, span), iter(())), 0)
        if isinstance(found, Gap):
            raise DataError(display(path), CHANGED, "changed")
        return found


def _emptied(pieces: list[bytes]) -> Iterator[bytes]:
    """Yield the elements of a list, which is emptied, so that they are not held."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _placed(found: list[Record | Gap], at: int, end: int) -> Iterator[Record | Gap]:
    """Yield what a whole member holds, at its place. Only a record that is alone in it can be read there.

    The checksum is right, so damage was written so. A record before it counts if another one begins where it ends.
    """
    last = found[-1] if found else None
    if isinstance(last, Gap) and last.reason == _NO_BEGINNING:
        found = found[:-2]
    elif isinstance(last, Gap) and last.damage:
        found = found[:-1]
    for one in found:
        if isinstance(one, Gap):
            yield Gap(at, end, one.reason, one.damage)
        elif len(found) == 1 and one is last:
            yield Record(at, end - at, *one[2:])
        else:
            yield _shared(one, at)
    if isinstance(last, Gap) and last.damage:
        reason = last.reason if last.reason != CUT else "its gzip member ends before its Content-Length"
        yield Gap(at, end, f"{reason}{_REST if found else ''}")


def _streamed(
    source: str, pieces: Iterator[bytes], place: Callable[[int], int], damaged: Callable[[], bool]
) -> Iterator[Record | Gap]:
    """Yield the records of a stream; without the last gap, if the stream itself is *damaged*.

    *place* returns the byte of the file at which the member or frame begins that has a byte of the stream.
    """
    for one in _in_order(source, _Held(b"", pieces)):
        if isinstance(one, Gap) and one.damage and one.reason != UNENDED:
            if not damaged():
                at = place(one.offset)
                yield Gap(at, at, f"{one.reason}{_REST}")
        else:
            yield _without_place(one, place(one.offset))


def _without_place(one: Record | Gap, at: int) -> Record | Gap:
    """Return a record or gap of a stream, which has no place of its own in the file.

    The digest of a record is checked, because checksums may be missing, wrong, or still to come.
    """
    if isinstance(one, Record) and (fault := _digest_fault(one)) is not None:
        return Gap(at, at, fault)
    return one._replace(offset=at, end=at) if isinstance(one, Gap) else _shared(one, at)


def _shared(one: Record, at: int) -> Record:
    """Return a record of the member or stream that begins at a byte, and has others, too."""
    return one._replace(offset=at, length=None, span=(one.offset, one.offset + (one.length or 0)))


def _next_member(file: BinaryIO, at: int, last: int) -> int:
    """Return where the next gzip member begins that begins with a record; *last* if there is none."""
    while at < last:
        file.seek(at)
        data = file.read(_READ + _BEGIN)
        place = data.find(_MEMBER, 0, _READ + len(_MEMBER) - 1)
        while place >= 0:
            if at + place < last and _beginning(data[place : place + _BEGIN]).startswith(_VERSION):
                return at + place
            place = data.find(_MEMBER, place + 1, _READ + len(_MEMBER) - 1)
        at += _READ
    return last


def _of_plain(source: str, file: BinaryIO, at: int, last: int) -> Iterator[Record | Gap]:
    """Yield the records of a plain file that begin before *last*."""
    data = _OfFile(file)
    while at < last:
        if blank := _blank(data, at):
            at += blank
            continue
        found, end = _record(source, data, at)
        if isinstance(found, Record) and (fault := _digest_fault(found)) is not None:
            found = Gap(at, end, fault)
        if isinstance(found, Gap) and found.damage:
            end = _next_record(file, at + 1, last)
            yield Gap(at, end, found.reason)
        else:
            yield found
            if isinstance(found, Record) and found.missing:
                yield Gap(at, end, UNENDED)
        at = end


def _next_record(file: BinaryIO, at: int, last: int) -> int:
    """Return where the next record of a plain file begins; *last* if there is none.

    Its version and the name of a header are enough, because the line ends before it may be what is damaged.
    """
    while at < last:
        file.seek(at)
        found = _NEXT.search(file.read(_READ + _NEXT_LENGTH))
        if found:
            return min(at + found.start(), last)
        at += _READ
    return last


def _of_stream(source: str, file: BinaryIO, compression: str, size: int) -> Iterator[Record | Gap]:
    """Yield the records of a compressed stream, which have no places; of a damaged one those before the damage."""
    faults: list[Exception] = []
    frames, begins = [0], [0]  # the bytes at which frames begin, in the file and in the stream

    def intact() -> Iterator[bytes]:
        read = 0
        try:
            for frame, piece in _zstd(file) if compression == "zstd" else lz4(file):
                if frame != frames[-1]:
                    frames.append(frame)
                    begins.append(read)
                read += len(piece)
                yield piece
        except (zstandard.ZstdError, EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            faults.append(error)

    yield from _streamed(source, intact(), lambda at: frames[bisect_right(begins, at) - 1], lambda: bool(faults))
    if faults:
        yield Gap(frames[-1], size, f"its {compression} data is damaged or incomplete ({faults[0]})")


def _zstd(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield what zstd frames hold, some at a time, with the byte that the frame begins at; ``EOFError`` if one is cut.

    A first frame may be the dictionary of all others, compressed or not.
    """
    dictionary = None
    head = file.read(8)
    if head.startswith(_ZSTD_DICTIONARY):
        size = int.from_bytes(head[4:], "little")
        content = file.read(size)
        if len(content) < size or len(head) < 8:  # noqa: PLR2004 - the magic number, and the size
            raise EOFError(CUT_FRAME)
        if content.startswith(_ZSTD_FRAME):
            content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
        dictionary = zstandard.ZstdCompressionDict(content)
    else:
        file.seek(0)
    expander = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=_WINDOW)
    member, rest, begin = None, b"", 0
    while rest or (rest := file.read(_ZSTD_STEP)):
        if member is None:
            member, begin = expander.decompressobj(), file.tell() - len(rest)
            yield begin, b""
        yield begin, member.decompress(rest)
        rest = member.unused_data if member.eof else b""
        member = None if member.eof else member
    if member is not None:
        raise EOFError(CUT_FRAME)


def _in_order(source: str, data: _Held, size: int | None = None) -> Iterator[Record | Gap]:
    """Yield the records of a stream of bytes, of a known *size* or not, up to the first gap that is damage."""
    at = 0
    while size is None or at < size:
        if blank := _blank(data, at):
            at += blank
            data.forget(at)
            continue
        if not data.read(at, at + 1):
            return
        found, end = _record(source, data, at)
        yield found
        if isinstance(found, Gap) and found.damage:
            return
        if size is None and isinstance(found, Record) and found.missing:
            yield Gap(at, end, UNENDED)
        data.forget(end)
        at = end


def _blank(data: _Held | _OfFile, at: int) -> int:
    """Return how many bytes of empty lines are at a place; some writers have more than two lines after a record."""
    if not data.read(at, at + 1).isspace():
        return 0
    head = data.read(at, at + _HEADERS_FIRST)
    return len(head) - len(head.lstrip())


def _record(source: str, data: _Held | _OfFile, at: int) -> tuple[Record | Gap, int]:  # noqa: PLR0911 - each fault
    """Return the record at a place, or why there is none, and where it ends; after the last one, line ends may miss."""
    head = data.read(at, at + _HEADERS_FIRST)
    if not head.startswith(_VERSION):
        if head.startswith(_ARC):
            raise DataError(source, "it is an ARC file; convert it first, with `warcio recompress`", "arc")
        cut = len(head) < len(_VERSION) and _VERSION.startswith(head)
        return Gap(at, at, CUT if cut else _NO_BEGINNING), at
    size, ends = _header_size(head)
    if not size and len(head) == _HEADERS_FIRST:
        head = data.read(at, at + _HEADERS)
        size, ends = _header_size(head)
    if not size:
        return Gap(at, at, CUT if len(head) < _HEADERS else "its headers are longer than 1 MiB"), at
    headers, concurrent, merged = _headers(head[:size])
    if merged:
        return Gap(at, at, "its headers are followed by those of another record"), at
    given = headers.get("content-length", "")
    if not (given.isascii() and given.isdigit() and len(given) < 16):  # noqa: PLR2004 - a petabyte
        return Gap(at, at, "it has no valid Content-Length"), at
    length = int(given)
    begin, end = at + size, at + size + length
    if length > LARGEST:
        after = data.read(end, end + len(ends))
        reason = f"its record is larger than {LARGEST >> 20} MiB"
        return Gap(at, end + len(ends), reason, damage=after != ends), end + len(ends)
    block, after = data.read(begin, end), data.read(end, end + len(ends))
    if len(block) < length:
        return Gap(at, at, CUT), at
    if not ends.startswith(after):
        return Gap(at, at, "it does not end after the bytes of its Content-Length"), at
    missing = ends[len(after) :]
    return Record(at, size + length + len(after), headers, concurrent, block, missing), end + len(after)


def _header_size(head: bytes) -> tuple[int, bytes]:
    """Return the size of the headers with their empty line, 0 if it is not there, and how lines end, twice."""
    line = head.find(b"\n")
    ends = _ENDS[0] if head[line - 1 : line] == b"\r" else _ENDS[1]
    place = head.find(ends)
    return (place + len(ends) if place >= 0 else 0), ends


def _headers(head: bytes) -> tuple[dict[str, str], tuple[str, ...], bool]:
    """Return the headers of a record, the records it names as concurrent, and whether they are those of two records."""
    text = head.decode("utf-8", "replace")
    if "\n " in text or "\n\t" in text:
        text = _FOLDED.sub(" ", text)
    found: dict[str, str] = {}
    merged = False
    lines = text.split("\n")[1:-2]
    for line in lines:
        name, _, value = line.partition(":")
        name = name.rstrip().lower()
        if name not in found:
            found[name] = value.strip()
        elif name in _ONCE and found[name] != value.strip():
            merged = True
    if _CONCURRENT not in found:
        return found, (), merged
    named = (line.partition(":") for line in lines)
    concurrent = tuple(value.strip() for name, _, value in named if name.rstrip().lower() == _CONCURRENT)
    return found, concurrent, merged


def _digest_fault(record: Record) -> str | None:
    """Return what is wrong with a record whose block has another digest than its headers; others are not checked."""
    kind, _, given = record.headers.get("warc-block-digest", "").partition(":")
    kind = kind.lower().replace("-", "")
    if kind not in _DIGESTS:
        return None
    digest = hashlib.new(kind, record.block, usedforsecurity=False)
    known = {digest.hexdigest(), base64.b32encode(digest.digest()).decode().rstrip("=").lower()}
    return None if given.lower().rstrip("=") in known else "its content differs from its WARC-Block-Digest"
