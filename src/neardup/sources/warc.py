"""The records of a WARC file, each either complete or part of a gap that is reported.

Every member of a compressed archive is expanded alone, so a record is only accepted if its member is complete, its
checksum is right, and the member ends where its ``Content-Length`` ends. After damage, reading resumes at the next
member that begins with a record. In a plain file a record must be followed by its line ends, and agree with its block
digest if it has one; reading resumes where the next record seems to begin. The digests are checked, too, where frames
of zstd and lz4 may have no checksum, and where a member that holds a whole archive has not ended yet.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from string import printable
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import quote

import zstandard

from neardup.model.errors import DataError, raising
from neardup.sources.compression import changed
from neardup.sources.formats import compression_of, display
from neardup.sources.members import (
    CUT,
    LARGEST,
    NO_DICTIONARY,
    Damage,
    FileBytes,
    HeldBytes,
    PackedMember,
    Packing,
    begins_with,
    next_member,
    packing_of,
)

_READ: Final = 1 << 18
_VERSION: Final = b"WARC/"
_NEXT: Final = re.compile(rb"WARC/\d\.\d+\r?\n[A-Za-z-]{1,99}[ \t]*:")
_NEXT_LENGTH: Final = 1 << 7  # bytes that are enough to recognise it
_ARC: Final = b"filedesc://"
_HEADERS: Final = 1 << 20  # bytes of the headers of a record
_HEADERS_FIRST: Final = 1 << 12
_ENDS: Final = (b"\r\n\r\n", b"\n\n")
_FOLDED: Final = re.compile(r"\r?\n[ \t]+")
_ANOTHER: Final = re.compile(
    r"(?:\n|\AWARC/)[^:\n]*WARC/\d\.\d+\r?\n"
)  # the version of a record after a line that is cut
_CONCURRENT: Final = "warc-concurrent-to"
_ONCE: Final = frozenset({"warc-type", "warc-record-id", "warc-date", "content-length"})
_DIGESTS: Final = ("sha1", "sha256", "sha512", "md5")
_DAMAGED: Final = "its {} is damaged"
_NO_MEMBER: Final = "no {} begins here"
_NO_END: Final = "it does not end before the next record begins"
_NO_BEGINNING: Final = "these bytes are not the beginning of a record"
_REST: Final = "; later records that are compressed with it are not read"
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
    """Bytes of a file that hold no complete record, and why. Without *damage*, they are a record that is too large.

    A file must not be cut between the gap and *reach*: how it is read there depends on the damage.
    """

    offset: int
    end: int
    reason: str
    damage: bool = True
    reach: int = 0


def records(path: str, begin: int = 0, end: int | None = None) -> Iterator[Record | Gap]:
    """Yield the records of a file that begin in a range of bytes, and its gaps, in order.

    The range must begin at a record or a member. Raises ``DataError`` for a file that cannot be read, or is not a WARC
    file at all.
    """
    source, compression = display(path), compression_of(path)
    with raising(DataError.by, source), Path(path).open("rb") as file:
        size = file.seek(0, 2)
        if not begin:
            _check_beginning(source, file, compression)
        last = size if end is None else min(end, size)
        if compression is None:
            yield from _of_plain(source, file, begin, last)
        else:
            yield from _of_packed(source, file, compression, begin, last)
        if not size:
            yield Gap(0, 0, "the file is empty")


def _check_beginning(source: str, file: BinaryIO, compression: str | None) -> None:
    """Raise ``DataError`` for an ARC file, and for a file that is compressed in another way than its name promises."""
    data = FileBytes(file)
    head = data.read(0, len(_ARC))
    gzip = packing_of(file, "gzip")
    is_gzip = head.startswith(gzip.magic)
    if head.startswith(_ARC) or (is_gzip and begins_with(gzip, data, 0, _ARC)):
        raise DataError(source, "it is an ARC file", "arc")
    if head.startswith(_VERSION) and compression is not None:
        raise DataError(source, f"its ending is that of {compression}, but it is not compressed", "ending")
    if is_gzip and compression != "gzip":
        raise DataError(source, "its first bytes are those of gzip; its name must end in .warc.gz", "ending")


def _of_packed(source: str, file: BinaryIO, compression: str, at: int, last: int) -> Iterator[Record | Gap]:
    """Yield the records of the members that begin before *last*."""
    try:
        packing = packing_of(file, compression)
    except EOFError:
        yield Gap(0, last, CUT)
    except zstandard.ZstdError as error:
        yield Gap(0, last, f"the dictionary of its zstd frames cannot be used ({error})")
    else:
        yield from _of_members(source, FileBytes(file), packing, max(at, packing.first), last)


def _of_members(source: str, data: FileBytes, packing: Packing, at: int, last: int) -> Iterator[Record | Gap]:
    """Yield what the members of a file hold that begin in a part of it."""
    damage = Damage(data)
    while at < last and not (at > packing.first and packing.padded and _only_zeros(data, at)):
        damage.begin(at)
        member = PackedMember(packing, data, at)
        pieces = member.first()
        if member.end is not None:
            whole = b"".join(pieces)
            pieces.clear()
            yield from _placed(source, whole, at, member.end, packing)
        elif member.fault is None:  # a long one: a whole archive, or a large record
            yield from _streamed(source, chain(_emptied(pieces), member.more), at, member)
            for _ in member.more:  # to its end
                pass
        else:  # of a single record nothing counts; of a whole archive, what precedes the damage
            for one, following in pairwise(_in_order(source, HeldBytes(b"", _emptied(pieces)))):
                if one.offset != following.offset:
                    yield _without_place(one, at)
        resumed = member.end
        if resumed is None:
            resumed = next_member(packing, data, damage.resume(at), last, _VERSION)
            begins = packing.magic.startswith(data.read(at, at + len(packing.magic)))
            reason = _why_damaged(member.fault, packing, begins=begins, to_end=resumed == data.size)
            yield Gap(at, resumed, reason, reach=damage.end)
        at = resumed


def _why_damaged(fault: str | None, packing: Packing, *, begins: bool, to_end: bool) -> str:
    """Return why a member cannot be read that *begins* as one or not; *to_end*: no other one follows it in its file."""
    if fault == NO_DICTIONARY:
        return NO_DICTIONARY
    if fault == CUT and to_end and (begins or not packing.checked):
        return CUT
    return (_DAMAGED if begins else _NO_MEMBER).format(packing.name)


def _only_zeros(data: FileBytes, at: int) -> bool:
    step = 1  # as nearly always the first byte decides
    while at < data.size and not (held := data.read(at, at + step)).strip(b"\0"):
        at, step = at + len(held), _READ
    return at >= data.size


def read_record(path: str, data: bytes) -> Record:
    """Return a record that was read again; ``DataError`` if its bytes have changed."""
    found, _ = _record(display(path), HeldBytes(data, iter(())), 0)
    if isinstance(found, Gap):
        raise changed(display(path))
    return found


def _emptied(pieces: list[bytes]) -> Iterator[bytes]:
    """Yield the elements of a list, which is emptied, so that they are not held."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _placed(source: str, whole: bytes, at: int, end: int, packing: Packing) -> Iterator[Record | Gap]:
    """Yield what a whole member holds, at its place. Only a record that is alone in it can be read there.

    If its checksum is right, damage was written so. A record before it counts if another one begins where it ends.
    """
    single, size = _record(source, HeldBytes(whole, iter(())), 0)
    if isinstance(single, Record) and size == len(whole):  # as of nearly all members
        yield _in_member(single, at, end, packing, alone=True)
        return
    del single
    count = 0
    found = _in_order(source, HeldBytes(whole, iter(())), len(whole))
    for one, following in pairwise(chain(found, [None])):
        if isinstance(one, Gap) and one.damage:  # it is the last one
            cut = f"a record is longer than its {packing.name}; if bgzip or pzstd wrote this file, decompress it first"
            reason = cut if one.reason == CUT else one.reason
            yield Gap(at, end, f"{reason}{_REST if count else ''}")
        elif one is not None and not (isinstance(following, Gap) and following.reason == _NO_BEGINNING):
            alone = not count and following is None
            count += 1
            yield _in_member(one, at, end, packing, alone=alone)


def _in_member(one: Record | Gap, at: int, end: int, packing: Packing, *, alone: bool) -> Record | Gap:
    """Return a record or a gap of a whole member at its place."""
    if isinstance(one, Gap):
        return Gap(at, end, one.reason, one.damage)
    if not packing.checked and (fault := _digest_fault(one)) is not None:
        return Gap(at, end, fault)
    return Record(at, end - at, *one[2:]) if alone else _shared(one, at)


def _streamed(source: str, pieces: Iterator[bytes], at: int, member: PackedMember) -> Iterator[Record | Gap]:
    """Yield the records of a long member; without the last gap, if the member itself is damaged."""
    for one in _in_order(source, HeldBytes(b"", pieces)):
        if isinstance(one, Gap) and one.damage and one.reason != UNENDED:
            if member.fault is None:
                yield Gap(at, at, f"{one.reason}{_REST}")
        else:
            yield _without_place(one, at)


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


def _of_plain(source: str, file: BinaryIO, at: int, last: int) -> Iterator[Record | Gap]:
    """Yield the records of a plain file that begin before *last*."""
    data = FileBytes(file)
    damage = Damage(data)
    while at < last:
        damage.begin(at)
        if blank := _blank(data, at):
            at += blank
            continue
        found, end = _record(source, data, at)
        if isinstance(found, Record) and (fault := _digest_fault(found)) is not None:
            found = Gap(at, end, fault)
        if isinstance(found, Gap) and found.damage:
            end = _next_record(file, damage.resume(at), last)
            reason = _NO_END if found.reason == CUT and end < data.size else found.reason
            yield Gap(at, end, reason, reach=damage.end)
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


def _in_order(source: str, data: HeldBytes, size: int | None = None) -> Iterator[Record | Gap]:
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


def _blank(data: HeldBytes | FileBytes, at: int) -> int:
    """Return how many bytes of empty lines are at a place; some writers have more than two lines after a record."""
    if not data.read(at, at + 1).isspace():
        return 0
    head = data.read(at, at + _HEADERS_FIRST)
    return len(head) - len(head.lstrip())


def _record(source: str, data: HeldBytes | FileBytes, at: int) -> tuple[Record | Gap, int]:  # noqa: PLR0911 - each fault
    """Return the record at a place, or why there is none, and where it ends; after the last one, line ends may miss."""
    head = data.read(at, at + _HEADERS_FIRST)
    if not head.startswith(_VERSION):
        if head.startswith(_ARC):
            raise DataError(source, "it is an ARC file", "arc")
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
    """Return the headers of a record, the records it names as concurrent, and whether they are those of two records.

    If they are not valid UTF-8, bytes beyond ASCII are percent-encoded, as in URLs.
    """
    try:
        text = head.decode()
    except UnicodeDecodeError:  # addresses as old crawlers wrote them, which must stay different
        text = quote(head, printable)
    if "\n " in text or "\n\t" in text:
        text = _FOLDED.sub(" ", text)
    found: dict[str, str] = {}
    merged = text.find("WARC/", len(_VERSION)) > 0 and _ANOTHER.search(text) is not None
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
    digest = hashlib.new(kind, record.block, usedforsecurity=False).digest()
    written = (base64.b16encode, base64.b32encode, base64.b64encode, base64.urlsafe_b64encode)  # by some programs
    known = {encode(digest).decode().rstrip("=").lower() for encode in written}
    return None if given.strip().lower().rstrip("=") in known else "its content differs from its WARC-Block-Digest"
