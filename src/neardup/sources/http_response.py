"""An HTTP response in a record: its status, headers and body, decoded under caps.

A body is decoded alone: a coding that yields nothing leaves the bytes as they are, and one that breaks in the middle
leaves what came before, but for what at most some dozens of compressed bytes hold, or one block of zstd. Both are
faults, of a few kinds that can be counted. If bytes that could not be decoded are not text, the body is empty.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import Final, NamedTuple

import pyarrow as pa
import zstandard

from neardup.sources.compression import Expander, GzipError, inflater
from neardup.text.html import LARGEST_PAGE, TOO_LONG, capped

_STATUS: Final = re.compile(rb"HTTP/[\d.]+[ \t]+(\d{3})\b")
_INTERIM: Final = re.compile(rb"HTTP/[\d.]+[ \t]+1(?!01)\d\d\b")  # before the final response, such as 103 Early Hints
_BLANK_LINE: Final = re.compile(rb"\n\r?\n")
_HEADERS: Final = re.compile(
    rb"\n(content-type|content-encoding|transfer-encoding|link|x-robots-tag)[ \t]*:([^\n]*(?:\n[ \t][^\n]*)*)",
    re.IGNORECASE,
)
_ROBOTS: Final = "x-robots-tag"
_FOLDED: Final = re.compile(r"\r?\n")  # a value that continues in the next line
_CHUNK: Final = re.compile(rb"(?:\r?\n)?((?=[0-9a-fA-F])0*+[0-9a-fA-F]{0,8}+)[ \t]*(?:;[^\n]*)?\r?\n")
_LINK: Final = re.compile(r"<([^<>]*)>((?:[^<,\"]|\"[^\"]*\")*)")
_RELATION: Final = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_ANCHOR: Final = re.compile(r";\s*anchor\s*=", re.IGNORECASE)  # the link is that of another page
_CHARSET: Final = re.compile(r"""(?:^|;)\s*charset\s*=\s*("[^"]*"|[^\s;"]+)""", re.IGNORECASE)
_GZIP: Final = re.compile(rb"\x1f\x8b")
_STEP: Final = 1 << 12  # bytes that are expanded at a time
_ZSTD_STEP: Final = 1 << 10  # each byte may expand to 32 KiB
_CAREFUL: Final = 1 << 5  # bytes that are expanded at a time where damage was found: what it may cost
_CHECKSUM: Final = 8  # bytes at the end that may be one: they are read alone, so that a wrong one costs nothing
_AGENT: Final = re.compile(r"\s*(?!unavailable_after|max-)[\w*-]+\s*:")  # the crawler that the rest is for
_CODINGS: Final = 5  # more are an attack
_TOO_MANY: Final = f"more than {_CODINGS} codings"
_UNKNOWN: Final = "unknown coding"
_BINARY: Final = re.compile(
    rb"(?!\xff\xfe|\xfe\xff).{0,511}?[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f]", re.DOTALL
)  # not in text
_DAMAGED: Final = (GzipError, zstandard.ZstdError)
_ZSTD_WINDOW: Final = 1 << 23  # what browsers accept
_ZSTD: Final = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a frame, or one that is skipped
_HEAD: Final = 1 << 18  # bytes of headers that are read: browsers accept no more
_LONG_HEAD: Final = f"headers longer than {_HEAD >> 10} KiB, cut there"
_PARTS: Final = 1 << 17  # chunks, members or frames of a body: each takes time, however short it is
_MANY_PARTS: Final = f"more than {_PARTS:,} parts, cut there"


class Response(NamedTuple):
    """A response; *status* is ``None`` without a status line, *type* in lower case, *charset* as declared.

    *fault* is the kind of what is wrong with the body, such as ``damaged gzip coding``; empty if nothing is.
    *canonical* is the address that the ``Link`` headers name as canonical, as written; ``None`` if they name several,
    or none. *robots* are the directives of the ``X-Robots-Tag`` headers for all crawlers, separated by commas.
    """

    status: int | None
    type: str
    charset: str | None
    body: bytes
    fault: str = ""
    canonical: str | None = None
    robots: str = ""


def response(block: bytes) -> Response:
    """Return the response that the block of a record holds."""
    begin, size = head_of(block)
    status = _STATUS.match(block, begin)
    headers = _fields(block[begin : min(size, begin + _HEAD)])
    body, fault, is_coded = block[size:], _LONG_HEAD if size - begin > _HEAD else "", False
    codings = [*_listed(headers.get("content-encoding", "")), *_listed(headers.get("transfer-encoding", ""))]
    for coding in reversed(codings[-_CODINGS:]):
        before = body
        body, found = _decoded(before, coding)
        is_coded = is_coded or (bool(found) and body is before)
        fault = fault or found
    if len(codings) > _CODINGS:
        fault, is_coded = _TOO_MANY, True
    if is_coded and _BINARY.match(body):
        body = b""
    body, long = capped(body)
    fault = fault or long
    kind, charset = media_type(headers.get("content-type", ""))
    canonical = _canonical(headers["link"]) if "link" in headers else None
    tags = headers[_ROBOTS].split("\n") if _ROBOTS in headers else []
    robots = ",".join([tag for tag in tags if not _AGENT.match(tag)])
    return Response(int(status[1]) if status else None, kind, charset, body, fault, canonical, robots)


def head_of(block: bytes) -> tuple[int, int]:
    """Return where the head of the final response begins, after interim ones, and where its body does.

    The head is the status line, the headers and an empty line.
    """
    begin = 0
    while True:
        blank = _BLANK_LINE.search(block, begin)
        end = blank.end() if blank else len(block)
        if not (_INTERIM.match(block, begin) and _STATUS.match(block, end)):
            return begin, end
        begin = end


def media_type(value: str) -> tuple[str, str | None]:
    """Return the type and the charset of a ``Content-Type``.

    Of several types, separated by commas, the last one counts, as in browsers; without a charset, it has that of the
    same type before it.
    """
    found: tuple[str, str | None] = "", None
    for one in value.split(","):
        kind, _, parameters = one.partition(";")
        kind = kind.strip().lower()
        if kind != "*/*" and ("/" in kind or not found[0]):
            charset = _CHARSET.search(parameters)
            own = charset[1].strip('"') if charset else ""
            found = kind, own or (found[1] if kind == found[0] else None)
    return found


def _canonical(links: str) -> str | None:
    named = set()
    for address, parameters in _LINK.findall(links):
        relation = _RELATION.search(parameters)
        kinds = (relation[1] or relation[2] or "").lower().split() if relation else []
        if "canonical" in kinds and address.strip() and not _ANCHOR.search(parameters):
            named.add(address.strip())
    return named.pop() if len(named) == 1 else None


def _fields(head: bytes) -> dict[str, str]:
    """Return the headers that are read; the values of several headers of one name are joined."""
    found: dict[str, str] = {}
    for name, value in _HEADERS.findall(head):
        key, given = name.decode().lower(), _FOLDED.sub(" ", value.decode("latin-1").strip())
        joint = "\n" if key == _ROBOTS else ", "
        found[key] = f"{found[key]}{joint}{given}" if key in found else given
    return found


def _listed(value: str) -> list[str]:
    return [name for part in value.lower().split(",") if (name := part.strip()) not in {"", "identity"}]


def _decoded(body: bytes, coding: str) -> tuple[bytes, str]:
    """Return a body without one coding, and the kind of what was wrong."""
    name = coding.removeprefix("x-")
    pieces: list[bytes] = []
    size, fault = 0, ""
    try:
        for piece in _pieces(body, name) if body else ():
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_PAGE:
                fault = TOO_LONG
                break
            if len(pieces) > _PARTS:
                fault = _MANY_PARTS
                break
    except (*_DAMAGED, OSError, EOFError, ValueError):
        fault = f"damaged {name} coding" if size else f"unreadable {name} coding"
    except LookupError:
        return body, _UNKNOWN
    return (b"".join(pieces) if size or not fault else body), fault


def _pieces(body: bytes, coding: str) -> Iterator[bytes]:
    match coding:
        case "gzip":
            return _expanded(body, inflater, _STEP, _GZIP)
        case "deflate":  # zlib by the standard, and raw by some servers
            zlib_header = len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0  # noqa: PLR2004
            return _expanded(body, partial(inflater, 15 if zlib_header else -15), _STEP, _GZIP)
        case "zstd":
            library = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
            return _expanded(body, library.decompressobj, _ZSTD_STEP, _ZSTD)
        case "br":
            return _brotli(body)
        case "chunked":
            return _chunks(body)
    raise LookupError(coding)


class _InSteps(BytesIO):
    """Bytes that are read a few at a time: Arrow drops what it has expanded together with damaged ones."""

    def __init__(self, body: bytes, step: int) -> None:
        super().__init__(body)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(self._step, size or 0))


def _brotli(body: bytes) -> Iterator[bytes]:
    """Yield what brotli data hold; from the step before damage in smaller ones."""
    at, failure = 0, OSError()
    for step, expanded in (_STEP, _STEP), (_CAREFUL, _STEP), (_CAREFUL, 1):
        reader = pa.CompressedInputStream(pa.PythonFile(_InSteps(body, step), "r"), "brotli")
        try:
            reader.read(at)
            while piece := reader.read(expanded):
                at += len(piece)
                yield piece
        except OSError as error:
            failure = error
        else:
            return
    raise failure


def _chunks(body: bytes) -> Iterator[bytes]:
    """Yield the chunks of a body; unlike fastwarc's reader, with the extensions that a chunk may have."""
    at = 0
    while header := _CHUNK.match(body, at):
        size = int(header[1], 16)
        if not size:
            return
        yield body[header.end() : header.end() + size]
        at = header.end() + size
    raise EOFError("it is cut off")


def _expanded(body: bytes, new: Callable[[], Expander], step: int, follows: re.Pattern[bytes]) -> Iterator[bytes]:
    """Yield what zlib data, gzip members or zstd frames hold, one after the other; anything after them is ignored.

    The step before damage is expanded again in smaller ones.
    """
    at, checksum = 0, len(body) - _CHECKSUM
    while at == 0 or follows.match(body, at):
        begin, expander = at, new()
        while not expander.eof:
            if at >= len(body):
                raise EOFError("it is cut off")
            end = checksum if at < checksum < at + step else at + step
            try:
                piece = expander.decompress(body[at:end])
            except _DAMAGED:
                if step == _CAREFUL:
                    raise
                step, expander = _CAREFUL, new()
                expander.decompress(body[begin:at])
                continue
            yield piece
            at = end
        at = min(at, len(body)) - len(expander.unused_data)
