"""Reading documents from inputs of any format."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final
from weakref import finalize

import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.engines.processes import open_processes
from neardup.model.engine import Progress
from neardup.model.errors import require_paths
from neardup.sources.collection import InputPiece
from neardup.sources.compression import within_memory
from neardup.sources.copies import copied
from neardup.sources.folder import Folder, documents_in, require_other_names
from neardup.sources.formats import FOLDER, WARC, AnyPath, is_url
from neardup.sources.inputs import Inputs, inputs_of
from neardup.sources.output import temporary_folder
from neardup.sources.pages import extracting, replace_markup
from neardup.sources.record_faults import nothing_left
from neardup.sources.request import Request
from neardup.sources.whole_inputs import WholeInputs

AdvanceInput = Callable[[int, float], None]  # the number of an input, and the share of it that has been read

_CLASSES: Final = {
    "jsonl": "jsonl:JsonLines",
    "csv": "delimited:DelimitedText",
    "tsv": "delimited:DelimitedText",
    "parquet": "parquet:ParquetTable",
    WARC: "archives:Archives",
    FOLDER: "folder:Folder",
}


def read(
    inputs: Sequence[AnyPath],
    *,
    others: Sequence[AnyPath] = (),
    threads: int | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> WholeInputs:
    """Read the documents of files, patterns, folders or, as ``-``, of standard input.

    Inputs may have several formats: ``.jsonl``/``.ndjson``, ``.csv``, ``.tsv`` (each also ``.gz``, ``.zst``, ``.bz2``
    or ``.xz``), ``.parquet``, web archives (``.warc``, also ``.gz``, ``.zst`` or ``.lz4``), folders of such files, and
    folders of text and HTML files. *reading* are the parameters of ``Request``. A record that cannot be read is
    rejected; each format's module defines which records are. Many web pages are extracted by as many processes as there
    are *threads* (``None``: every core), which end before this function does; their texts do not depend on the number.
    *others* are inputs that will be read in the same way: it is enough if a parameter fits some of them.

    *progress* is called with ``"read"``, the bytes read so far, and the total (of the files on disk; 0 of 0 for
    standard input).

    Raises ``DataError`` for inputs that cannot be read as a whole, and if every record was rejected; ``ParameterError``
    for wrong parameters.
    """
    require_paths("inputs", inputs)
    request = Request(**reading)
    return read_requested(inputs_of(inputs, request, others), request, threads=threads, progress=progress)


def read_requested(
    inputs: Inputs, request: Request, *, threads: int | None = None, progress: Progress | None = None
) -> WholeInputs:
    """Read the documents of ``inputs_of`` as ``read`` does, by a request of ``Request``; its processes stay open."""
    extraction = request.extraction
    request = request.with_address()
    opened = open_processes(request.processes, thread_count(threads))
    with ExitStack() as undo, opened as processes:
        local = inputs.paths
        if elsewhere := dict.fromkeys(filter(is_url, local), ""):
            copies = copied(elsewhere, str(undo.enter_context(temporary_folder())))
            local = tuple(str(copies.get(path, path)) for path in local)
        processes.turn_to(extracting(extraction, whole=request.whole_texts))
        request = replace(request, processes=processes)
        advance = _advance(local, progress)
        documents = _of_local(inputs, local, request, advance)
        pa.default_memory_pool().release_unused()  # of buffers, or it would be kept until the end of the run
        if documents.rejected and not len(documents):
            raise nothing_left(documents.names, documents.rejected)
        advance(len(local) - 1, 1.0)
        finalize(documents, undo.pop_all().close)  # the copies are removed when they are not used any more
        return documents


def _of_local(inputs: Inputs, paths: Sequence[str], request: Request, advance: AdvanceInput) -> WholeInputs:
    """Read inputs at these paths, which are copies of those at URLs."""
    require_other_names(inputs.folders)
    pieces = list[InputPiece]()
    ignored = inputs.ignored
    for index, (path, one) in enumerate(zip(paths, inputs.kinds, strict=True)):
        if one.format == FOLDER:
            files, others = documents_in(path, request.glob)
            pieces.append(Folder(path, request, files, partial(advance, index), prefixed=len(inputs.folders) > 1))
            ignored += others
        else:
            with within_memory(path):
                pieces.append(reader(one.format)(path, request, advance=partial(advance, index)))
    if request.html is not None:
        replace_markup(pieces, request)
    return WholeInputs(pieces, request, ignored)


def reader(form: str) -> Any:
    """Load the class of a format's pieces, and no other, because that of Parquet is slow to load."""
    return resolve_name(f"neardup.sources.{_CLASSES[form]}")


def _advance(paths: Sequence[str], progress: Progress | None) -> AdvanceInput:
    """Return a function of the number of an input and the share read of it, which reports the bytes of all inputs."""
    if progress is None:
        return lambda _index, _done: None
    sizes = [Path(path).stat().st_size if Path(path).is_file() else 0 for path in paths]
    before = [0, *accumulate(sizes)]

    def advance(index: int, done: float) -> None:
        progress("read", before[index] + int(sizes[index] * done), before[-1])

    return advance
