"""The inputs of a run, cut into shards: parts of files that are read one at a time, and as often as needed.

A shard is a range of whole lines of plain JSON lines, or of plain CSV or TSV without quotation marks; the lines that
begin in a range of frames of JSON lines with zstd; a range of row groups of a Parquet file; of whole captures of a web
archive; or some of the sorted files of a folder. Other files, which are compressed or have records that may span
lines, must be read from the beginning: each is one shard. A shard is read in *pieces*, collections of bounded size, so
that no more than one piece is in memory at a time. The inputs may have different formats.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np
import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.engines.processes import Processes
from neardup.model.errors import NO_FILE, DataError, InputRefused, require
from neardup.sources import remote
from neardup.sources.collection import InputPiece, extract
from neardup.sources.compression import Contents, check_size, frame_edges, identity, load, stream
from neardup.sources.copies import copied, is_pipe, needs_copy
from neardup.sources.fields import joined
from neardup.sources.folder import Folder, documents_in, require_other_names, state_of
from neardup.sources.formats import (
    FOLDER,
    STDIN,
    WARC,
    Kind,
    display,
    is_url,
)
from neardup.sources.inputs import Inputs, kind_of_input
from neardup.sources.lines import blocks_of_lines
from neardup.sources.missing_fields import LackingFields
from neardup.sources.pages import extracting
from neardup.sources.record_faults import Rejected
from neardup.sources.request import Request
from neardup.text.extraction import Extraction

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 60)]
SHARD: Final = 1 << 26  # bytes
_READ: Final = 1 << 24  # bytes read at a time to count lines
_HEAD: Final = 1 << 16  # bytes that are searched for a header
_NEWLINE: Final = b"\n"
_SOURCE: Final = attrgetter("source")


class Shard(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A part of one input. *source* is the number of the input; *begin* and *end* are bytes, row groups or files.

    *first* is the number of its first line or row, from 1. *size* is the number of bytes on disk. The bytes of a *torn*
    shard, expanded, begin in the middle of a line, which belongs to the shard before.
    """

    source: Count
    begin: Count
    end: Count
    first: Count
    size: Count
    torn: bool = False


@dataclass(slots=True, eq=False)
class Shards:
    """The shards of some inputs, in input order; *size* bounds a piece in bytes, unless one record is longer.

    *inputs* are paths of files and folders of documents, of these *kinds*; *identities* show whether they have changed.
    The first *texts* inputs are JSON lines with texts that were extracted before. *ignored* counts the files of folders
    that were not requested.
    """

    inputs: tuple[str, ...]
    request: Request
    shards: Sequence[Shard] = ()
    identities: Sequence[Any] = ()
    ignored: int = 0
    size: int = SHARD
    texts: int = 0
    kinds: list[Kind] = field(init=False)
    _listed: dict[int, list[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = [kind_of_input(path, self.request) for path in self.inputs]

    @classmethod
    def opened(cls, inputs: Inputs, request: Request, *, pipes: bool = False) -> Self:
        """Return inputs with their identities, not cut yet.

        Raises ``ParameterError`` for a pipe unless *pipes* are expected, and ``DataError`` for a file that cannot be
        read. Standard input, pipes and files at URLs must be ``copied`` before the inputs are cut.
        """
        for path in inputs.paths:
            why = "because a run in pieces reads its inputs more than once; use - and standard input"
            require(pipes or not is_pipe(path), "inputs", display(path), f"cannot be a pipe or a device, {why}")
        require_other_names(inputs.folders)
        identities: list[Any] = []
        for path, one in zip(inputs.paths, inputs.kinds, strict=True):
            if one.format == FOLDER:
                identities.append([state_of(path, documents_in(path, request.glob)[0])[1]])
            else:
                once = path == STDIN or is_pipe(path)
                identities.append(None if once else remote.identity(path) if is_url(path) else identity(path))
        return cls(inputs.paths, request, identities=identities, ignored=inputs.ignored)

    def behind(self, others: Mapping[str, Any]) -> Self:
        """Return the same inputs after texts, given by name and identity, which must be ``copied`` before the cut.

        Texts of pages have their sites in the field ``SITE`` of the copies.
        """
        inputs, identities = (*others, *self.inputs), [*others.values(), *self.identities]
        return replace(self, inputs=inputs, identities=identities, texts=len(others))

    def copied(self, copies: Mapping[str, Path]) -> Self:
        """Return the same inputs with local copies in the places of standard input, pipes and files at URLs."""
        inputs = tuple(str(copies.get(path, path)) for path in self.inputs)
        pairs = zip(self.inputs, inputs, self.identities, strict=True)
        identities = [then if path == copy else identity(copy) for path, copy, then in pairs]
        return replace(self, inputs=inputs, identities=identities)

    def cut(self, size: int) -> Self:
        """Return the same inputs, cut into shards of about *size* bytes. The lines of JSON lines are counted."""
        shards: list[Shard] = []
        identities = [*self.identities]
        ignored = self.ignored
        for source, (path, found) in enumerate(zip(self.inputs, self.kinds, strict=True)):
            if found.format == FOLDER:
                files, others = documents_in(path, self.request.glob)
                ignored += others
                sizes = state_of(path, files)[0]
                ranges = _ranges(sizes, size)
                identities[source] = [len(files), *(state_of(path, files[b:e])[1] for b, e in ranges)]
                shards += [Shard(source=source, begin=b, end=e, first=1, size=sum(sizes[b:e])) for b, e in ranges]
            elif found.format == "parquet":
                from neardup.sources.parquet import group_sizes

                rows, sizes = group_sizes(path)
                firsts = [1, *(1 + np.cumsum(rows)).tolist()]
                shards += [
                    Shard(source=source, begin=b, end=e, first=firsts[b], size=sum(sizes[b:e]))
                    for b, e in _ranges(sizes, size)
                ]
            elif found.format == WARC:
                from neardup.sources.archives import ranges_of

                shards += [Shard(source=source, begin=b, end=e, first=1, size=e - b) for b, e in ranges_of(path, size)]
            elif found == Kind("jsonl"):
                shards += _line_shards(source, path, size)
            elif found == Kind("jsonl", "zstd") and len(edges := frame_edges(path)) > 2:  # noqa: PLR2004 - of a frame
                shards += _frame_shards(source, path, edges, size, self.request.max_bytes)
            elif found.compression is None and (header := self._header(path, found)):
                shards += _line_shards(source, path, size, len(header))
            else:
                whole = Path(path).stat().st_size
                shards.append(Shard(source=source, begin=0, end=whole, first=1, size=whole))
        return replace(self, shards=shards, identities=identities, ignored=ignored, size=size)

    def without(self, inputs: Sequence[str]) -> Self:
        """Return the shards, not cut yet, of the other inputs."""
        others = {*inputs}
        left = [pair for pair in zip(self.inputs, self.identities, strict=True) if pair[0] not in others]
        return replace(self, inputs=tuple(path for path, _ in left), identities=[one for _, one in left])

    def check_columns(self, sources: Sequence[int]) -> None:
        """Raise ``DataError`` if tables that are to be written to one file have different columns.

        Standard input and files at URLs are not checked before they are copied.
        """
        paths = [self.inputs[source] for source in sources if not needs_copy(self.inputs[source])]
        match self.kinds[sources[0]].format:
            case "parquet":
                from neardup.sources.parquet import check_schemas

                check_schemas(paths)
            case "csv" | "tsv":
                from neardup.sources.delimited import check_headers

                check_headers(paths, self.request)

    def first_fields(self, source: int) -> list[str]:
        """Return the columns of a table, or the fields of its first lines of JSON.

        Archives and folders have none, and inputs that are not copied yet. Raises ``DataError`` for a file that cannot
        be read.
        """
        path = self.inputs[source]
        if needs_copy(path):
            return []
        match self.kinds[source].format:
            case "parquet":
                from neardup.sources.parquet import schema_in

                return list(schema_in(path).names)
            case "csv" | "tsv":
                from neardup.sources.delimited import header_in

                return header_in(path, self.request)
            case "jsonl":
                from neardup.sources.jsonl import first_fields

                return first_fields(path, self.kinds[source].compression, self.request.max_bytes)
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return the shards as plain values."""
        return {
            "inputs": self.inputs,
            "request": {
                **asdict(replace(self.request, extraction=Extraction(), processes=None)),
                "extraction": self.request.extraction.to_dict(),
            },
            "shards": msgspec.to_builtins(self.shards),
            "identities": self.identities,
            "ignored": self.ignored,
            "size": self.size,
            "texts": self.texts,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any], request: Request | None = None) -> Self:
        """Return the shards that ``to_dict`` made, with their own request or another one of the same records."""
        if request is None:
            own = given["request"]
            request = Request(**own | {"extraction": Extraction.from_dict(own["extraction"])})
        shards = msgspec.convert(given["shards"], list[Shard])
        ways = {name: given[name] for name in ("ignored", "size", "texts")}
        return cls(tuple(given["inputs"]), request, shards, given["identities"], **ways)

    def of_texts(self, columns: Sequence[str] = ()) -> Self:
        """Return the same shards for a process in any folder that reads only the texts and these fields."""
        inputs = tuple(map(os.path.abspath, self.inputs))  # links stay
        request = replace(self.request, columns=tuple(columns))
        return replace(self, inputs=inputs, request=request)

    @property
    def extraction(self) -> dict[str, str | None] | None:
        """What decides the texts of web pages; ``None`` if no input has pages."""
        pages = self.request.reads_pages(found.format for found in self.kinds)
        return self.request.extraction.identity if pages else None

    def of(self, source: int) -> list[Shard]:
        """Return the shards of an input."""
        return [self.shards[number] for number in self.numbers([source])]

    def numbers(self, sources: Sequence[int]) -> range:
        """Return the numbers of the shards of some neighbouring inputs."""
        return range(*(bisect_left(self.shards, end, key=_SOURCE) for end in (sources[0], sources[-1] + 1)))

    def bytes_of(self, sources: Sequence[int]) -> int:
        """Return the number of bytes of some neighbouring inputs."""
        return sum(self.shards[number].size for number in self.numbers(sources))

    def check_unchanged(self, shard: Shard) -> None:
        """Raise ``DataError`` if the input of a shard, or of a folder the files of the shard, have changed."""
        path, then = self.inputs[shard.source], self.identities[shard.source]
        with _remaining(path):
            if self.kinds[shard.source].format == FOLDER:
                files = self._files(shard.source)
                now: Any = [len(files), state_of(path, files[shard.begin : shard.end])[1]]
                then = [then[0], then[1 + self.of(shard.source).index(shard)]]
            else:
                now = identity(path)
        if now != then:
            raise DataError(display(path), "it was changed after the run had begun", "changed")

    def _files(self, source: int) -> list[str]:
        if source not in self._listed:
            self._listed[source] = documents_in(self.inputs[source], self.request.glob)[0]
        return self._listed[source]

    def column(self, name: str, parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
        """Return a field of all documents from the stored columns of the shards, as ``WholeInputs.column`` does."""
        written = [self.kinds[shard.source].format == "jsonl" for shard in self.shards]
        return joined(name, parts, written, self.place)

    def place(self, shard: int, row: int) -> tuple[str, int]:
        """Return the place of a document: the source, and its line or, if that is unknown, its number."""
        for piece in self.pieces(self.shards[shard], markup=True):
            if row < len(piece):
                return piece.place(row)
            row -= len(piece)
        raise IndexError(row)

    def every_piece(
        self,
        rejected: list[Rejected] | None = None,
        progress: Callable[[int, int], None] = lambda *_: None,
        *,
        markup: Callable[[], bool] = lambda: False,
        required: Sequence[str] = (),
    ) -> Iterator[InputPiece]:
        """Yield the pieces of all shards; collect their rejected records if a list for them is given.

        *progress* is called with the bytes read so far, and all, and *markup* before each shard; see ``pieces``. Raises
        the errors of ``pieces``, and ``FieldMissing`` at the end if no record has the text field, a field of ids that
        is not the default, or one of the *required* fields.
        """
        lacking = LackingFields([*dict.fromkeys([*self.request.required_fields, *required])])
        total, done = sum(shard.size for shard in self.shards), 0
        for shard in self.shards:
            for piece in self.pieces(shard, markup=markup()):
                if rejected is not None:
                    rejected.extend(piece.rejected)
                if not lacking.all_found:
                    lacking.add(piece)
                yield piece
            done += shard.size
            progress(done, total)
        lacking.require(", ".join(map(display, self.inputs)))

    def pieces(
        self, shard: Shard, *, whole: bool = False, markup: bool = False, documents: int | None = None
    ) -> Iterator[InputPiece]:
        """Yield the records of a shard as collections; those of a *whole* record can be written, too.

        With *markup*, the texts of pages remain HTML, which is enough for copies of them. *documents* is their number
        if they were read before and only their texts and fields are wanted: what need not be read again is left out.
        Names, places and rejected records are numbered as in the whole input. Raises ``DataError`` for an input that
        has changed or was removed, and for one that cannot be read.
        """
        with _remaining(self.inputs[shard.source]):
            for piece in self._pieces(shard, whole=whole, markup=markup, documents=documents):
                if shard.source < self.texts:
                    piece.take_sites()
                elif self.request.html and not markup:
                    extract([piece], self.request)
                yield piece

    def _pieces(self, shard: Shard, *, whole: bool, markup: bool, documents: int | None) -> Iterator[InputPiece]:
        path, found = self.inputs[shard.source], self.kinds[shard.source]
        self.check_unchanged(shard)
        request = self.request if shard.source < self.texts else self.request.with_address()
        match found.format:
            case "parquet":
                from neardup.sources.parquet import pieces_of

                ways: Any = {"whole": whole, "documents": None if self.request.html else documents}
                yield from pieces_of(path, request, shard.begin, shard.end, shard.first, self.size, **ways)
            case "warc":
                from neardup.sources import archives

                yield from archives.pieces_of(path, self.request, shard.begin, shard.end, self.size, markup=markup)
            case "folder":
                files = self._files(shard.source)[shard.begin : shard.end]
                folders = sum(one.format == FOLDER for one in self.kinds)
                yield Folder(path, self.request, files, prefixed=folders > 1, markup=markup)
            case "jsonl":
                from neardup.sources.jsonl import JsonLines

                for contents in self._blocks(path, found, shard):
                    yield JsonLines(path, request, contents)
            case _:
                from neardup.sources.delimited import DelimitedText, pieces_of_records

                blocks, shift = stream(path, found.compression, self.request.max_bytes, self.size), 0
                if shard.begin or shard.size < Path(path).stat().st_size:
                    header = self._header(path, found) if shard.begin else b""
                    blocks, shift = self._range(path, header, shard), shard.first - 1 - _line_count(header)
                for contents in pieces_of_records(display(path), found.format, self.request, blocks):
                    contents.first += shift
                    yield DelimitedText(path, self.request, contents)

    def _header(self, path: str, found: Kind) -> bytes:
        """Return all of a plain file up to its first record if its records are lines, otherwise nothing."""
        from neardup.sources.delimited import header_of_lines

        contents = load(path, None, 1)
        return header_of_lines(contents.read(0, min(_HEAD, len(contents))), found.format, self.request)

    def _range(self, path: str, header: bytes, shard: Shard) -> Iterator[bytes]:
        contents = load(path, None, 1)
        for begin in range(shard.begin, shard.end, self.size):
            yield header + bytes(contents.read(begin, min(begin + self.size, shard.end)))
            header = b""

    def _blocks(self, path: str, found: Kind, shard: Shard) -> Iterator[Contents]:
        source = display(path)
        if found.compression is None:
            lines = load(path, None, self.request.max_bytes).read(shard.begin, shard.end)
            yield Contents(source, lines, first=shard.first)
            return
        first, held = shard.first, [b""]
        for block in self._expanded(path, found.compression, shard):
            cut = block.rfind(_NEWLINE) + 1
            if cut:
                yield Contents(source, memoryview(b"".join([*held, block[:cut]])), first=first)
                first += block.count(_NEWLINE)
                held = []
            held.append(block[cut:])
        rest = b"".join(held)
        if rest or first == 1:  # even an empty file is a piece
            yield Contents(source, memoryview(rest), first=first)

    def _expanded(self, path: str, compression: str, shard: Shard) -> Iterator[bytes]:
        """Yield the lines that begin in a shard of a compressed file, some bytes at a time."""
        most, skipping, ended = self.request.max_bytes, shard.torn, True
        for block in stream(path, compression, most, self.size, shard.begin, shard.end):
            begin = block.find(_NEWLINE) + 1 if skipping else 0
            if begin or not skipping:
                skipping = False
                yield block[begin:]
            ended = block.endswith(_NEWLINE)
        if not ended and shard.end < Path(path).stat().st_size:
            for block in stream(path, compression, most, _HEAD, shard.end):
                end = block.find(_NEWLINE) + 1
                yield block[: end or None]
                if end:
                    return


def _ranges(sizes: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Cut neighbours into ranges of at most *limit* bytes, or one that is larger; nothing is one range."""
    edges, held = [0], 0
    for place, size in enumerate(sizes):
        if held and held + size > limit:
            edges.append(place)
            held = 0
        held += size
    return list(pairwise([*edges, len(sizes)]))


def _line_count(data: bytes) -> int:
    """Return the number of lines of delimited text, where a lone return ends a line, too."""
    return data.count(_NEWLINE) + data.count(b"\r") - data.count(b"\r\n")


def _frame_shards(source: int, path: str, edges: Sequence[int], size: int, most: int) -> list[Shard]:
    """Cut a zstd file after frames, at these *edges*, and count its lines; *most* bytes may be expanded."""
    found: list[Shard] = []
    total, first, torn = 0, 1, False
    for begin, end in ((edges[b], edges[e]) for b, e in _ranges(np.diff(edges).tolist(), size)):
        lines, was_torn = 0, torn
        for block in stream(path, "zstd", most, _READ, begin, end):
            total += len(block)
            check_size(display(path), total, most)
            lines += block.count(_NEWLINE)
            torn = not block.endswith(_NEWLINE)
        if found and not lines:  # no line begins here, unless it is the last one
            found[-1] = msgspec.structs.replace(found[-1], end=end, size=end - found[-1].begin)
        else:
            own = Shard(source=source, begin=begin, end=end, first=first + was_torn, size=end - begin, torn=was_torn)
            found.append(own)
        first += lines
    return found


@contextmanager
def _remaining(path: str) -> Iterator[None]:
    """Raise the ``DataError`` of a changed input if there is no such file any more: it may be restored."""
    try:
        yield
    except InputRefused as error:
        if error.code != NO_FILE:
            raise
        raise DataError(display(path), "it was moved or removed after the run had begun", "changed") from error


def _line_shards(source: int, path: str, size: int, header: int = 0) -> list[Shard]:
    """Cut a plain file after line ends, and count its lines; the *header* of delimited text is in the first shard."""
    contents = load(path, None, 1)
    found: list[Shard] = []
    begin, first, lines = 0, 1, 0
    for at, data, ends in blocks_of_lines(contents, min(_READ, size)):
        end, lines = at + len(data), lines + (_line_count(bytes(data)) if header else len(ends))
        if end == len(contents) or (end - begin >= size and end >= header):
            found.append(Shard(source=source, begin=begin, end=end, first=first, size=end - begin))
            begin, first, lines = end, first + lines, 0
    return found or [Shard(source=source, begin=0, end=0, first=1, size=0)]


@contextmanager
def local_shards(inputs: Inputs, request: Request, *, size: int | None = SHARD) -> Iterator[Shards]:
    """Yield the shards of some inputs; ``None``: not cut yet.

    Standard input, other pipes and files at URLs are first copied to a temporary folder.
    """
    opened = Shards.opened(inputs, request, pipes=True)
    with TemporaryDirectory(prefix="neardup-") as folder:
        formats = {path: one.format for path, one in zip(opened.inputs, opened.kinds, strict=True)}
        opened = opened.copied(copied(formats, folder))
        yield opened if size is None else opened.cut(size)


@contextmanager
def extracted_shards(
    inputs: Inputs, request: Request, threads: int | None = None, *, size: int = SHARD
) -> Iterator[Shards]:
    """Yield the shards of some inputs, whose web pages are extracted by other processes, too.

    There are up to as many processes as *threads* (``None``: every core).
    """
    with local_shards(inputs, request, size=size) as cut, Processes(thread_count(threads)) as processes:
        processes.turn_to(extracting(request.extraction))
        yield replace(cut, request=replace(cut.request, processes=processes))
