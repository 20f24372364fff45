"""The inputs of a run, cut into shards: parts of files that are read one at a time, and as often as needed.

An *extent* is a range of whole lines of plain JSON lines, or of plain CSV or TSV without quotation marks; the lines
that begin in a range of frames of JSON lines with zstd; a range of row groups of a Parquet file; of whole captures of a
web archive; or some of the sorted files of a folder. Other files, which are compressed or have records that may span
lines, must be read from the beginning: each is one extent. A *shard* is one extent, or several small neighbouring
inputs as a whole. It is read in *pieces*, collections of bounded size, so that no more than one piece is in memory at a
time. The inputs may have different formats.
"""

import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.engines.processes import Processes
from neardup.model.engine import StageProgress, silent
from neardup.model.errors import NO_FILE, DataError, InputRefused, require
from neardup.sources import remote
from neardup.sources.collection import Extent, InputPiece, Needs, ranges
from neardup.sources.compression import identity
from neardup.sources.copies import copied, needs_copy
from neardup.sources.fields import joined
from neardup.sources.folder import Folder, documents_in, require_other_names, state_of
from neardup.sources.formats import FOLDER, STDIN, Kind, display, display_all, input_kind, is_pipe, is_url
from neardup.sources.inputs import Inputs
from neardup.sources.output import temporary_folder
from neardup.sources.pages import extracting, replace_markup
from neardup.sources.read import reader
from neardup.sources.record_faults import LackingFields
from neardup.sources.request import Request

SHARD: Final = 1 << 26  # bytes
SMALL: Final = 1 << 20  # bytes of several inputs that are always read together
_TOGETHER: Final = 256  # the most inputs of a shard: each output looks at all of them
_MANY: Final = 128  # shards of several inputs, so that all threads and workers have some
_FIRST: Final = attrgetter("source")
_LAST: Final = attrgetter("last")
_PLAIN: Final = ("ignored", "size", "texts")  # fields of ``Shards``, in their order


class Shard(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One extent of an input, or several small inputs of one format and compression as a whole."""

    extents: Annotated[tuple[Extent, ...], msgspec.Meta(min_length=1)]

    @property
    def source(self) -> int:
        """The number of its first input."""
        return self.extents[0].source

    @property
    def last(self) -> int:
        """The number of its last input."""
        return self.extents[-1].source

    @property
    def size(self) -> int:
        """The number of its bytes on disk."""
        return sum(extent.size for extent in self.extents)


@dataclass(slots=True, eq=False)
class Shards:
    """The shards of some inputs, in input order; *size* bounds a piece in bytes, unless one record is longer.

    *inputs* are paths of files and folders of documents; *identities* show whether they have changed. The first *texts*
    inputs are JSON lines with texts that were extracted before. *ignored* counts the files of folders that were not
    requested. *kinds* are those of the inputs, which are looked up if they are not given.
    """

    inputs: tuple[str, ...]
    request: Request
    shards: Sequence[Shard] = ()
    identities: Sequence[Any] = ()
    ignored: int = 0
    size: int = SHARD
    texts: int = 0
    kinds: Sequence[Kind] = ()
    _listed: dict[int, list[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = self.kinds or [input_kind(path, self.request.format) for path in self.inputs]

    @property
    def names(self) -> list[str]:
        """The inputs, as messages name them."""
        return [*map(display, self.inputs)]

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
                identities.append([state_of(path, documents_in(path, request.glob)[0]).digest])
            else:
                once = path == STDIN or is_pipe(path)
                identities.append(None if once else remote.identity(path) if is_url(path) else identity(path))
        return cls(inputs.paths, request, identities=identities, ignored=inputs.ignored, kinds=inputs.kinds)

    def behind(self, others: Mapping[str, Any]) -> Self:
        """Return the same inputs after texts, given by name and identity, which must be ``copied`` before the cut.

        Texts of pages have their sites in the field ``SITE`` of the copies.
        """
        inputs, identities = (*others, *self.inputs), [*others.values(), *self.identities]
        return replace(self, inputs=inputs, identities=identities, texts=len(others), kinds=())

    def copied(self, copies: Mapping[str, Path]) -> Self:
        """Return the same inputs with local copies in the places of standard input, pipes and files at URLs."""
        inputs = tuple(str(copies.get(path, path)) for path in self.inputs)
        pairs = zip(self.inputs, inputs, self.identities, strict=True)
        identities = [then if path == copy else identity(copy) for path, copy, then in pairs]
        return replace(self, inputs=inputs, identities=identities, kinds=())

    def cut(self, size: int, compared: int = 0) -> Self:
        """Return the same inputs, cut into shards of about *size* bytes. The lines of JSON lines are counted.

        No shard has both one of the first *compared* inputs and another one.
        """
        extents: list[Extent] = []
        identities = [*self.identities]
        ignored = self.ignored
        for source, (path, found) in enumerate(zip(self.inputs, self.kinds, strict=True)):
            if found.format == FOLDER:
                files, others = documents_in(path, self.request.glob)
                ignored += others
                sizes = state_of(path, files).sizes
                edges = ranges(sizes, size)
                identities[source] = [len(files), *(state_of(path, files[b:e]).digest for b, e in edges)]
                extents += [Extent(source=source, begin=b, end=e, first=1, size=sum(sizes[b:e])) for b, e in edges]
            else:
                extents += reader(found.format).cut(source, path, self.request, size)
        shards = self._shards_of(extents, size, compared)
        return replace(self, shards=shards, identities=identities, ignored=ignored, size=size)

    def _shards_of(self, extents: Sequence[Extent], size: int, compared: int) -> list[Shard]:
        """Join small inputs: each shard costs a run some files, which take longer to write than a small input."""
        number = Counter(extent.source for extent in extents)
        most = min(size, max(SMALL, sum(extent.size for extent in extents) // _MANY))
        groups: list[list[Extent]] = []
        held = 0
        for extent in extents:
            before, own = groups[-1][-1].source if groups else -1, extent.source
            whole = number[before] == number[own] == 1 and own not in {self.texts, compared}
            room = whole and len(groups[-1]) < _TOGETHER and held + extent.size <= most
            if room and self._are_alike(before, own):
                groups[-1].append(extent)
                held += extent.size
            else:
                groups.append([extent])
                held = extent.size
        return [Shard(tuple(group)) for group in groups]

    def _are_alike(self, one: int, other: int) -> bool:
        """Return whether two inputs have one format and compression and, as Parquet files, the same columns."""
        if self.kinds[one] != self.kinds[other] or self.kinds[one].format != "parquet":
            return self.kinds[one] == self.kinds[other]
        columns = [reader("parquet").columns_in(self.inputs[source]) for source in (one, other)]
        return bool(columns[0].equals(columns[1]))

    def without(self, inputs: Sequence[str]) -> Self:
        """Return the shards, not cut yet, of the other inputs."""
        others = {*inputs}
        left = [pair for pair in zip(self.inputs, self.identities, strict=True) if pair[0] not in others]
        return replace(self, inputs=tuple(path for path, _ in left), identities=[one for _, one in left], kinds=())

    def check_columns(self, sources: Sequence[int]) -> None:
        """Raise ``DataError`` if tables that are to be written to one file have different columns.

        Standard input and files at URLs are not checked before they are copied.
        """
        paths = [self.inputs[source] for source in sources if not needs_copy(self.inputs[source])]
        form = reader(self.kinds[sources[0]].format)
        first: Any = None
        for path in paths:
            columns = form.columns_in(path, self.request)
            first = columns if path == paths[0] else first
            form.require_columns(display(path), columns, first, display(paths[0]))

    def first_fields(self, source: int) -> list[str]:
        """Return the columns of a table, or the fields of its first lines of JSON.

        Archives and folders have none, and inputs that are not copied yet. Raises ``DataError`` for a file that cannot
        be read.
        """
        path = self.inputs[source]
        return [] if needs_copy(path) else reader(self.kinds[source].format).first_fields(path, self.request)

    def to_dict(self) -> dict[str, Any]:
        """Return the shards as plain values."""
        plain = {name: getattr(self, name) for name in ("inputs", "identities", *_PLAIN)}
        return {**plain, "request": self.request.to_dict(), "shards": msgspec.to_builtins(self.shards)}

    @classmethod
    def from_dict(cls, given: dict[str, Any], request: Request | None = None) -> Self:
        """Return the shards that ``to_dict`` made, with their own request or another one of the same records."""
        request = request or Request.from_dict(given["request"])
        shards = msgspec.convert(given["shards"], list[Shard])
        return cls(tuple(given["inputs"]), request, shards, given["identities"], *(given[name] for name in _PLAIN))

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

    def kind(self, shard: Shard) -> Kind:
        """Return the format and the compression of the inputs of a shard."""
        return self.kinds[shard.source]

    def extents(self, sources: Sequence[int]) -> list[Extent]:
        """Return the extents of some neighbouring inputs."""
        return [extent for number, own in self.shard_parts(sources) for extent in self.shards[number].extents[own]]

    def shard_parts(self, sources: Sequence[int]) -> Iterator[tuple[int, slice]]:
        """Yield the number of each shard with some neighbouring inputs, and the places of their extents in it."""
        for number in self.numbers(sources):
            extents = self.shards[number].extents
            begin = bisect_left(extents, sources[0], key=_FIRST)
            yield number, slice(begin, bisect_right(extents, sources[-1], begin, key=_FIRST))

    def numbers(self, sources: Sequence[int]) -> range:
        """Return the numbers of the shards that some neighbouring inputs are in."""
        begin = bisect_left(self.shards, sources[0], key=_LAST)
        return range(begin, bisect_right(self.shards, sources[-1], begin, key=_FIRST))

    def bytes_of(self, sources: Sequence[int]) -> int:
        """Return the number of bytes of some neighbouring inputs."""
        return sum(extent.size for extent in self.extents(sources))

    def check_unchanged(self, shard: Shard) -> None:
        """Raise ``DataError`` if the inputs of a shard, or of a folder the files of the shard, have changed."""
        for extent in shard.extents:
            self._check_unchanged(extent)

    def _check_unchanged(self, extent: Extent) -> None:
        path, then = self.inputs[extent.source], self.identities[extent.source]
        with _remaining(path):
            if self.kinds[extent.source].format == FOLDER:
                files = self._files(extent.source)
                now: Any = [len(files), state_of(path, files[extent.begin : extent.end]).digest]
                then = [then[0], then[1 + self.extents([extent.source]).index(extent)]]
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
        are_json = [self.kind(shard).format == "jsonl" for shard in self.shards]
        return joined(name, parts, are_json, self.place)

    def place(self, shard: int, row: int) -> tuple[str, int]:
        """Return the place of a document: the source, and its line or, if that is unknown, its number."""
        for piece in self.pieces(self.shards[shard], markup=True):
            if row < len(piece):
                return piece.place(row)
            row -= len(piece)
        raise IndexError(row)

    def every_piece(
        self,
        progress: StageProgress = silent,
        *,
        markup: Callable[[], bool] = lambda: False,
        required: Sequence[str] = (),
    ) -> Iterator[InputPiece]:
        """Yield the pieces of all shards.

        *progress* is called with the bytes read so far, and all, and *markup* before each shard; see ``pieces``. Raises
        the errors of ``pieces``, and ``FieldMissing`` at the end if no record has the text field, a field of ids that
        is not the default, or one of the *required* fields.
        """
        lacking = LackingFields([*dict.fromkeys([*self.request.required_fields, *required])])
        total, done = sum(shard.size for shard in self.shards), 0
        for shard in self.shards:
            for piece in self.pieces(shard, markup=markup()):
                if not lacking.all_found:
                    lacking.add(piece)
                yield piece
            done += shard.size
            progress(done, total)
        lacking.require(display_all(self.inputs))

    def pieces(
        self, shard: Shard, *, whole: bool = False, markup: bool = False, documents: int | None = None
    ) -> Iterator[InputPiece]:
        """Yield the records of a shard as collections; see ``pieces_of``. *documents* are all of the shard."""
        only = documents if len(shard.extents) == 1 else None
        for extent in shard.extents:
            yield from self.pieces_of(extent, whole=whole, markup=markup, documents=only)

    def pieces_of(
        self, extent: Extent, *, whole: bool = False, markup: bool = False, documents: int | None = None
    ) -> Iterator[InputPiece]:
        """Yield the records of an extent as collections; ``Needs`` explains the parameters.

        Names, places and rejected records are numbered as in the whole input. Raises ``DataError`` for an input that
        has changed or was removed, and for one that cannot be read.
        """
        path, form = self.inputs[extent.source], self.kinds[extent.source].format
        request = self.request if extent.source < self.texts else self.request.with_address()
        with _remaining(path):
            self._check_unchanged(extent)
            if form == FOLDER:
                files = self._files(extent.source)[extent.begin : extent.end]
                folders = sum(one.format == FOLDER for one in self.kinds)
                found = iter([Folder(path, request, files, prefixed=folders > 1, markup=markup)])
            else:
                found = reader(form).pieces(path, request, extent, self.size, Needs(whole, markup, documents))
            for piece in found:
                if extent.source < self.texts:
                    piece.take_sites()
                elif request.html is not None and not markup:
                    replace_markup([piece], request)
                yield piece


@contextmanager
def _remaining(path: str) -> Iterator[None]:
    """Raise the ``DataError`` of a changed input if there is no such file any more: it may be restored."""
    try:
        yield
    except InputRefused as error:
        if error.code != NO_FILE:
            raise
        raise DataError(display(path), "it was moved or removed after the run had begun", "changed") from error


@contextmanager
def local_shards(inputs: Inputs, request: Request, *, size: int | None = SHARD) -> Iterator[Shards]:
    """Yield the shards of some inputs; ``None``: not cut yet.

    Standard input, other pipes and files at URLs are first copied to a temporary folder.
    """
    opened = Shards.opened(inputs, request, pipes=True)
    with temporary_folder() as folder:
        formats = {path: one.format for path, one in zip(opened.inputs, opened.kinds, strict=True)}
        opened = opened.copied(copied(formats, str(folder)))
        yield opened if size is None else opened.cut(size)


@contextmanager
def extracted_shards(inputs: Inputs, request: Request, *, size: int = SHARD) -> Iterator[Shards]:
    """Yield the shards of some inputs, whose web pages are also extracted by other processes, one for each core."""
    with local_shards(inputs, request, size=size) as cut, Processes(thread_count(None)) as processes:
        processes.turn_to(extracting(request.extraction))
        yield replace(cut, request=replace(cut.request, processes=processes))
