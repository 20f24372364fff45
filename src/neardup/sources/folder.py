"""A folder of text and HTML files, each a document named by its path inside the folder.

Files are found recursively and sorted by that path. Text files are decoded as UTF-8, without a byte order mark; HTML
becomes text as ``neardup.web_pages.Extraction`` describes. Patterns choose other files, which are then text. Hidden
files, and those in hidden folders, are only read if a pattern has their dot. All other files are ignored, and counted.

Links to folders are not followed, and links to files outside the folder are not read: a link must not add files from
elsewhere.

A file is rejected if it is UTF-16 (except for pages with a byte order mark), UTF-32 or, of text, not valid UTF-8 (with
the first invalid line), cannot be read, or is larger than the cap. An empty file is a document with an empty text. A
folder without a text or HTML file is an error. With several folders, the name of the folder precedes each path, so
these names must differ. If ``full_names`` are requested, the id of a document is its full path.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Final, NamedTuple

import pyarrow as pa

from neardup.model.arrays import Flags
from neardup.model.engine import silent
from neardup.model.errors import DataError, OutputError, OutputRefused, counted, raising, reason, require
from neardup.sources.collection import Advance, Append, InputPiece
from neardup.sources.compression import HEAD, MARKED, changed, encoding_code, sniff
from neardup.sources.document import HTML, page_of
from neardup.sources.formats import DOCUMENTS, FOLDER, display, ending, is_document, is_pipe, kind
from neardup.sources.lines import BOM
from neardup.sources.output import new_folder
from neardup.sources.pages import BATCH, PAGE_FIELDS, Batch, extracted, field_of
from neardup.sources.patterns import entries, is_hidden, is_link_to_folder, matches
from neardup.sources.record_faults import Rejected, missing_field
from neardup.sources.request import Request
from neardup.sources.tables import slices
from neardup.text.html import LARGEST_PAGE, capped

_FIELDS: Final = {"size": pa.int64(), "modified": pa.timestamp("ns")}
_SHOWN: Final = 5  # endings that a message names


@dataclass(frozen=True, slots=True)
class _Document:
    """A file that was read: its path, its path in the output, and its state when it was read."""

    path: Path
    relative: str
    size: int
    modified: int  # nanoseconds


class Folder(InputPiece):
    """The files of a folder.

    Their fields are ``size`` in bytes, the time ``modified`` and, for HTML, its ``title``, the address
    ``canonical`` that it names as its own, as written, and its language ``lang``; ``noindex`` is 1 for
    pages that search engines are asked not to index, and 0 for others.
    """

    def __init__(  # noqa: PLR0913 - what is read, and how
        self,
        path: str,
        request: Request,
        files: Sequence[str],
        advance: Advance = silent,
        *,
        prefixed: bool = False,
        markup: bool = False,
    ) -> None:
        """Read these *files* of a folder; their ids are *prefixed* by its name if there are several folders.

        With *markup*, the texts of pages remain HTML.
        """
        prefix = f"{_name(path)}/" if prefixed else ""
        self.has_pages = any(map(_is_page, files))
        self._documents: list[_Document] = []
        rejected: list[Rejected] = []
        faults: Counter[str] = Counter()

        def batches() -> Iterator[tuple[Batch, pa.Table, float]]:
            batch = Batch()
            for number, relative in enumerate(files, 1):
                outcome = _read(Path(path, relative), prefix + relative, request, markup=markup)
                if isinstance(outcome, Rejected):
                    rejected.append(outcome)
                    request.check(rejected)
                else:
                    document, content, fault = outcome
                    self._documents.append(document)
                    faults[fault] += 1
                    batch.add(content, display(str(document.path)))
                advance(number / len(files))
                if batch.size >= BATCH:
                    yield batch, batch.pages(), number / len(files)
                    batch = Batch()
            yield batch, batch.pages(), 1.0

        found = extracted(request.extraction, request.processes, batches(), whole=request.whole_texts)
        parts = [batch.documents(pages, request.extraction) for batch, pages in found]
        self.found = pa.concat_tables(parts)
        self._whole = self.found["whole"]
        ids = [
            request.name_of(str(document.path)) if request.full_names else display(document.relative)
            for document in self._documents
        ]
        super().__init__([path], FOLDER, self.found["texts"], pa.chunked_array([ids], pa.string()), rejected)
        self.text = request.text
        self.sites = None if request.extraction.templates is None else self.found["sites"]
        self.body_faults = {fault: number for fault, number in faults.items() if fault}

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field of the files: ``size``, ``modified``, or one that pages have, if any has it."""
        if name in _FIELDS:
            column = pa.array([getattr(document, name) for document in self._documents], _FIELDS[name])
        elif (found := self.of_pages(name)) is not None:
            column = found
        else:
            raise missing_field(self.source, name, [*_FIELDS])
        return column.cast(pa.large_string()) if literal else column

    def html_pages(self, url: str | None) -> Iterator[tuple[str | None, bytes | str]]:
        """Yield the HTML of each page of a piece with markup, without an address; texts are not among them."""
        del url
        for document, page in zip(self._documents, self.texts.to_pylist(), strict=True):
            if _is_page(document.relative):
                yield None, page

    def rows(self) -> Iterator[pa.Table]:
        """Yield the documents as a table of their ids, texts and fields; see ``Request``."""
        texts = pa.compute.coalesce(self._whole, self.texts)
        pages = {name: field_of(self.found, name) for name in PAGE_FIELDS}
        fields = {name: self.column(name) for name in _FIELDS}
        table = pa.table({"id": self.ids.cast(pa.large_string()), "text": texts, **pages, **fields})
        yield from slices(table)

    def place(self, row: int) -> tuple[str, int]:
        """Return the file that a document is, and its first line."""
        return display(str(self._documents[row].path)), 1

    @classmethod
    @contextmanager
    def writer(cls, path: str) -> Iterator[Append]:
        """Copy files to a new folder; they have no fields that marks could be added to."""
        target = Path(os.path.realpath(path))
        own = target.is_dir()  # others were refused: it is that of this run, which was interrupted before it noted that
        with raising(OutputError.by, path), new_folder(target) as made:

            def append(piece: Folder, mask: Flags, marks: pa.Table | None) -> None:
                del marks
                for document, wanted in zip(piece._documents, mask.tolist(), strict=True):
                    if wanted:
                        _copy(document, made / document.relative)

            yield append
            if own:
                shutil.rmtree(target)
            elif target.exists():
                raise OutputRefused(path, "it was made during this run, by another program; name another path")
            made.rename(target)


def require_other_names(folders: Sequence[str]) -> None:
    """Raise ``ParameterError`` if two folders have the same name."""
    names = {_name(path) for path in folders}
    require(len(names) == len(folders), "inputs", list(folders), "must be folders of different names")


class FolderState(NamedTuple):
    """The size of each file of a folder, and a digest of their names, sizes and times, which changes with them."""

    sizes: list[int]
    digest: str


def state_of(root: str, files: Sequence[str]) -> FolderState:
    """Return the state of some files of a folder; one that cannot be read has no size and no time."""
    sizes: list[int] = []
    known = blake2b(digest_size=16)
    for name in files:
        try:
            about = os.stat(f"{root}{os.sep}{name}")  # noqa: PTH116 - a string
            sizes.append(about.st_size)
            known.update(repr((name, about.st_size, about.st_mtime_ns)).encode())
        except OSError:  # it will be rejected
            sizes.append(0)
            known.update(repr((name,)).encode())
    return FolderState(sizes, known.hexdigest())


def documents_in(root: str, globs: Sequence[str]) -> tuple[list[str], int]:
    """Return the relative paths of a folder's documents, sorted, and how many other entries were ignored.

    Raises ``DataError`` for a folder without documents and, without *globs*, for one with as many tables or archives as
    documents: probably a data set and what is written about it.
    """
    inside = PurePath(os.path.realpath(root))
    found: list[str] = []
    tables: list[str] = []
    others = links = 0
    endings: Counter[str] = Counter()
    for relative, entry in entries(root):
        known = not is_hidden(relative, globs) and (matches(relative, globs) if globs else is_document(entry.name))
        leads_out = entry.is_symlink() and not PurePath(os.path.realpath(entry)).is_relative_to(inside)
        if is_link_to_folder(entry) or (known and leads_out):
            links += 1
        elif known and (entry.is_file(follow_symlinks=False) or not is_pipe(entry.path)):
            found.append(relative)
        else:
            others += 1
            if kind(entry.name) is not None and not is_hidden(relative, globs, "._"):
                tables.append(relative)
            endings[PurePath(entry.name).suffix.lower() or "no ending"] += 1
    if not found:
        raise _nothing_in(root, globs, endings, links)
    if len(tables) >= len(found) and not globs:
        kinds = zip((found, tables), ("text", "table"), strict=True)
        there = " and ".join(
            f"{counted(len(names), noun)} ({min(names)}{', ...' * (len(names) > 1)})" for names, noun in kinds
        )
        raise DataError(root, f"this folder contains {there}, so it is unclear which are the documents", "mixed folder")
    return sorted(found), others + links


def _nothing_in(root: str, globs: Sequence[str], endings: "Counter[str]", links: int) -> DataError:
    """Return the error for a folder without documents, with the *endings* of its files, and *links*."""
    there = ", ".join(f"{number:,} {ending}" for ending, number in endings.most_common(_SHOWN))
    wanted = f"files that match {' '.join(globs)}" if globs else f"text or HTML files ({' '.join(sorted(DOCUMENTS))})"
    code = "folder of other files" if endings and not globs else ""
    rule = f"this folder contains no {wanted}"
    rule += f"; its files are: {there}" if there else "" if links else "; it is empty"
    if links:
        rule += f"; links to folders, or to files elsewhere, are not followed ({links:,} here): name what they link to"
    return DataError(root, rule, code)


def _name(folder: str) -> str:
    return PurePath(os.path.realpath(folder)).name


def _is_page(name: str) -> bool:
    return ending(name) in HTML


def _read(
    path: Path, relative: str, request: Request, *, markup: bool
) -> tuple[_Document, bytes | str, str] | Rejected:
    """Return a file with its text or, of a page, its bytes, and its fault, if any; or why it has no text.

    With *markup*, HTML is a text.
    """
    is_page = _is_page(relative)
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if about.st_size > request.max_bytes:
                return Rejected(display(str(path)), 1, f"it is larger than {request.max_bytes:,} bytes", "too large")
            data, fault = capped(file.read(LARGEST_PAGE + 1)) if is_page else (file.read(), "")
    except OSError as error:
        return Rejected(display(str(path)), 1, f"it cannot be read: {reason(error)}", "unreadable")
    document = _Document(path, relative, about.st_size, about.st_mtime_ns)
    form = sniff(data[:HEAD])
    if form and (is_page or encoding_code(form)) and not (is_page and form == MARKED):
        return Rejected(display(str(path)), 1, f"it is {form}, not UTF-8", encoding_code(form) or "encoding")
    if is_page:
        page = page_of(relative, data)
        return document, request.extraction.decoded(page) if markup else page, fault
    try:
        return document, data.removeprefix(BOM).decode(), fault
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        rule = f"it is {form}, not UTF-8" if form else "it is not valid UTF-8"
        return Rejected(display(str(path)), line, rule, "encoding")


def _copy(document: _Document, target: Path) -> None:
    try:
        now = document.path.stat()
    except OSError as error:
        raise changed(str(document.path)) from error
    if (now.st_size, now.st_mtime_ns) != (document.size, document.modified):
        raise changed(str(document.path))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(document.path, target)
