"""Writing: the inputs are read a last time, and the kept records are copied; reports come from the stored decisions."""

import os
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.engines.journal import Files, WorkFolder
from neardup.engines.local import ahead
from neardup.model.arrays import Flags
from neardup.model.errors import DataError
from neardup.pipeline.corpus.report import revisit_rows, write_report
from neardup.pipeline.corpus.result import marks_of
from neardup.pipeline.run_settings import RunSettings
from neardup.pipeline.spilled.forecast import require_room
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.outputs import (
    REPORT,
    Output,
    Part,
    chosen,
    is_converted,
    make_folder,
    output_parts,
    own_format,
    record_places,
    remove_other_parts,
    reporting,
    require_own,
    writing,
)
from neardup.pipeline.spilled.run import Stages
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.sources.collection import Extent, InputPiece
from neardup.sources.formats import PAGE_FORMATS, Kind, display, display_all, is_url, kind
from neardup.sources.output import PAGES, is_page, is_special, output_kind, write_file
from neardup.sources.pages import extracting
from neardup.sources.plain_columns import check_values, has_limits
from neardup.sources.read import reader
from neardup.sources.shards import Shards
from neardup.sources.tables import ONLY_LINES, TOGETHER, check_levels, check_representable, united
from neardup.sources.whole_inputs import converter

_ROWS: Final = 1 << 16  # decisions that are written together
_AHEAD: Final = 4  # pieces: a group of rows of Parquet has many, and is written at once
_SURE: Final = 0.7  # of the size of an output: records differ in length, and compress differently
_DECISION: Final = 150  # bytes of a decision in JSON lines, without ids


def require_representable(job: Job, outputs: Sequence[Output], stages: Stages) -> None:
    """Raise ``DataError`` for records that an output in another format than that of its inputs cannot represent.

    The records of all these inputs are read, to find the types of all fields.
    """
    converted = [output for output in outputs if is_converted(job.shards, output)]
    if converted:
        numbers = {number for output in converted for number in job.shards.numbers(output.sources)}
        sizes = [shard.size if number in numbers else 0 for number, shard in enumerate(job.shards.shards)]
        stages.each("fields-", partial(_fields, job.shards), sizes, only=sorted(numbers))
        for output in converted:
            _schema_of(job.shards, output, stages.journal)


def write_outputs(
    job: Job, result: StoredResult, outputs: Sequence[Output], stages: Stages, settings: RunSettings
) -> None:
    """Write the report and the outputs, and remove the parts that other runs have left in folders of outputs.

    Raises ``OutputRefused`` for a file that others have made since the outputs were checked, and ``StorageFailed`` if a
    disk has no room for the outputs.
    """
    report, processes = settings.report, settings.request.processes
    require_own(job, outputs, report, force=settings.force)
    _require_room(job.shards, outputs, result, report)
    if processes is not None and any(_writes_texts(job.shards, output) for output in outputs):
        result.summarizing()  # it reads pages by the earlier function
        processes.turn_to(extracting(settings.request.extraction, whole=True))
    if report is not None:
        stage = f"report-{reporting(job, outputs, report)}"
        stages.one(stage, partial(_write_report, job, result, report, settings.page))
    parts = output_parts(result, outputs)
    tasks = together(job.shards, result, parts)
    special = any(is_special(output.path) for output in outputs)  # a terminal or pipe of this process
    stage = f"{'print' if special else 'write'}-{writing(job, outputs)}"
    function = partial(write, job, result, tasks, reading_ahead=len(tasks) < stages.engine.threads)
    sizes = _sizes(job.shards, tasks)
    marks = [task for task, groups in enumerate(tasks) if groups[0][0].output.target == "mark"]
    stages.each(stage, function, sizes, "write", only=marks)  # first: they fail if a record has a field of theirs
    stages.each(stage, function, sizes, "write")
    remove_other_parts(outputs, parts)


def _fields(shards: Shards, task: int) -> dict[str, Any]:
    """Return the schemas of the extents of a shard, and why only Parquet can represent their records, if that is so.

    Of inputs whose values can all be written, other than JSON lines, only the first extent has a schema.
    """
    found = [_fields_of(shards, extent) for extent in shards.shards[task].extents]
    schemas = [b64encode(schema.serialize()).decode() for schema, _ in found]
    return {"schemas": schemas, "misfits": [misfit for _, misfit in found]}


def _fields_of(shards: Shards, extent: Extent) -> tuple[pa.Schema, str | None]:
    path, form = shards.inputs[extent.source], shards.kinds[extent.source].format
    source = display(path)
    checked = form == "parquet" and has_limits(reader(form).columns_in(path))
    pieces = shards.pieces_of(extent, whole=True, markup=True)
    schemas: list[pa.Schema] = []
    misfit: str | None = None
    if form != "jsonl" and not checked:
        pieces = islice(pieces, shards.extents([extent.source])[0] == extent)
    for piece in pieces:
        schemas.append(piece.schema)
        if not checked:
            continue
        try:
            check_values(source, piece.rows())
        except DataError as error:
            misfit = error.rule
            break
    schema = united((source, one) for one in schemas)
    check_levels(source, schema)  # Arrow cannot read a schema with more
    return schema, misfit


def _schema_of(shards: Shards, output: Output, journal: WorkFolder) -> pa.Schema:
    """Return the schema of an output of converted records, from what ``_fields`` has recorded for its shards.

    Raises ``DataError`` for records that it cannot represent.
    """
    parts, form = [*shards.shard_parts(output.sources)], output_kind(output.path, "jsonl").format
    found: list[tuple[str, pa.Schema, str | None]] = []
    for (number, own), record in zip(parts, journal.records("fields-", [number for number, _ in parts]), strict=True):
        every = zip(shards.shards[number].extents, record["schemas"], record["misfits"], strict=True)
        for extent, schema, misfit in [*every][own]:
            read = pa.ipc.read_schema(pa.py_buffer(b64decode(schema)))
            found.append((display(shards.inputs[extent.source]), read, misfit))
    why = TOGETHER if len(output.sources) > 1 else ONLY_LINES
    whole = united(((owner, schema) for owner, schema, _ in found), why)
    check_representable(display_all(shards.inputs[source] for source in output.sources), whole, form)
    for owner, _, misfit in found:
        if form != "parquet" and misfit is not None:
            raise DataError(owner, misfit, "unrepresentable")
    return whole


def _writes_texts(shards: Shards, output: Output) -> bool:
    """Return whether pages of archives or folders are written as texts, in another format."""
    pages = any(shards.kinds[source].format in PAGE_FORMATS for source in output.sources)
    return pages and is_converted(shards, output)


def together(shards: Shards, result: StoredResult, parts: Sequence[Part]) -> list[list[list[Part]]]:
    """Return the parts that each task writes, in groups.

    A group has those of an output that begin in the same shard, which is read once. A task has one group, or those of
    the small inputs of one shard: each task costs a run some files.
    """
    signed = result.documents.signed
    edges = signed.edges - signed.first

    def place(part: Part) -> tuple[Output, int]:
        return part.output, int(np.searchsorted(edges, part.begin, "right"))

    def task(group: Sequence[Part]) -> tuple[str, int | str]:
        output = group[0].output
        numbers = shards.numbers(output.sources)
        return output.target, group[0].path if output.part or len(numbers) > 1 else numbers.start

    groups = [[*group] for _, group in groupby(parts, place)]
    return [[*own] for _, own in groupby(groups, task)]


def write(
    job: Job, result: StoredResult, tasks: Sequence[Sequence[Sequence[Part]]], task: int, *, reading_ahead: bool = False
) -> dict[str, Any]:
    """Write some outputs, each *reading ahead* in another thread; return their sizes, if they are files."""
    paths = [part.path for group in tasks[task] for part in group]
    files: Files = {}
    for group in tasks[task]:
        files |= _write(job, result, group, paths, reading_ahead=reading_ahead)
    return {"files": files}


def _write(
    job: Job, result: StoredResult, group: Sequence[Part], paths: Sequence[str], *, reading_ahead: bool
) -> Files:
    """Write the files of a group, which get their names once those at these *paths* are recorded."""
    if group[0].output.target == REPORT:
        return _write_reports(job, result, group, paths)
    output, alone = group[0].output, len(group) == 1
    form = own_format(job.shards, output)
    schema = _schema_of(job.shards, output, job.journal) if form is None else None
    found = _records(job, result, group, copied=form is not None)
    found = ahead(found, _AHEAD) if reading_ahead and alone else found
    files: Files = {}
    for part, own in [(group[0], found)] if alone else groupby(found, itemgetter(0)):
        if form is not None:
            writer = reader(form).writer(part.path)
        else:
            writer = converter(part.path, output_kind(part.path, "jsonl"), schema)
        make_folder(part.path)
        with writer as append:
            for _, *each in own:
                append(*each)
            record_places(job, paths)  # each time: the run may have ended since this process was suspended
        files |= _size_of(part.path)
    return files


def _records(
    job: Job, result: StoredResult, group: Sequence[Part], *, copied: bool
) -> Iterator[tuple[Part, InputPiece, Flags, pa.Table | None]]:
    """Yield what is appended to each part of a group, one part after another."""
    output = group[0].output
    for piece, first in _pieces(job, result, group, copied=copied):
        representatives = np.asarray(result.representatives[first : first + len(piece)])
        own = np.arange(first, first + len(piece))
        wanted = chosen(output, representatives)
        for part in group:
            if not _belongs(piece, first, part):
                continue
            inside = (own >= part.begin) & (own < part.end)
            marks: pa.Table | None = None
            if output.target == "mark":
                kept = representatives < 0
                marks = marks_of(np.where(kept, own, representatives), kept, result.documents.ids)
            if output.revisits:
                marks = result.documents.originals(np.where(inside, representatives, -1))
            if copied and len(group) == 1:  # a piece is prepared for one file only
                piece.choose(wanted & inside, marks)
            yield part, piece, wanted & inside, marks


def _belongs(piece: InputPiece, first: int, part: Part) -> bool:
    """Return whether a part may have records of a piece; a file without documents has the columns of all."""
    if not part.output.part or part.begin == part.end:
        return True
    return part.begin < first + len(piece) and first < part.end


def _pieces(job: Job, result: StoredResult, group: Sequence[Part], *, copied: bool) -> Iterator[tuple[InputPiece, int]]:
    """Yield the pieces of the inputs with documents of a group of parts, and the position of their first document.

    Extents without documents are read, too: an output without documents has their columns.
    """
    begin, end, sources = group[0].begin, group[-1].end, group[0].output.sources
    signed, request = result.documents.signed, job.shards.request
    markup = copied or request.html is not None  # neither copies nor fields need texts
    shards = replace(job.shards, request=replace(request, whole_texts=not copied))
    for extent, *edges in signed.extents(sources):
        first, last = (edge - signed.first for edge in edges)
        if first < last and (first >= end or last <= begin):
            continue
        documents = last - first if copied else None  # copies need no ids, and no further check
        for piece in shards.pieces_of(extent, whole=True, markup=markup, documents=documents):
            yield piece, first
            first += len(piece)
            if end <= first < last:  # the rest of the extent is in other parts
                break


def _write_report(
    job: Job, result: StoredResult, path: str, page: Callable[[StoredResult], bytes] | None
) -> dict[str, Any]:
    """Write the report: a page if *page* can render it, otherwise the table of decisions, some rows at a time."""
    if page is not None and is_page(path):
        rendered = page(result)
        record_places(job, [path])
        write_file(path, rendered, PAGES, force=True)
        return {}
    return {"files": _write_decisions(job, result, path, slice(0, len(result.documents)), [path])}


def _write_reports(job: Job, result: StoredResult, group: Sequence[Part], paths: Sequence[str]) -> Files:
    """Write some files of a report in a folder, as ``_write`` does."""
    files: Files = {}
    signed = result.documents.signed
    for output, path, begin, end in group:
        last = output.sources[-1] == len(job.shards.inputs) - 1 and end == len(result.documents)
        edges = [edge - signed.first for _, *own in signed.extents(output.sources) for edge in own]
        make_folder(path)
        rows = slice(begin, end) if output.part else slice(edges[0], edges[-1])
        files |= _write_decisions(job, result, path, rows, paths, last=last)
    return files


def _write_decisions(  # noqa: PLR0913 - the run, and which of its decisions
    job: Job, result: StoredResult, path: str, own: slice, paths: Sequence[str], *, last: bool = True
) -> Files:
    """Write the decisions on a slice of the documents; record *paths* just before this file gets its name.

    The *last* file of a report also has the rows of revisit records.
    """

    def tables() -> Iterator[pa.Table]:
        for low in range(own.start, max(own.stop, own.start + 1), _ROWS):
            yield (rows := result.rows(low, min(low + _ROWS, own.stop)))
        yield from revisit_rows(result.documents, np.asarray(result.representatives), rows.schema) if last else ()
        record_places(job, paths)

    write_report(path, tables(), scheme=job.scheme, policy=job.policy, reading=job.reading, force=True)
    return _size_of(path)


def _size_of(path: str) -> Files:
    """Return the size of an output for the record of a task, if it is a file; one of another size is written again."""
    real = Path(os.path.realpath(path))
    return {str(real): (real.stat().st_size, None)} if real.is_file() else {}


def _sizes(shards: Shards, tasks: Sequence[Sequence[Sequence[Part]]]) -> list[int]:
    """Return the bytes of the inputs of each task that writes, if all parts of an output are alike."""
    number = Counter(part.output.path for groups in tasks for group in groups for part in group)
    sources = {group[0].output.path: group[0].output.sources for groups in tasks for group in groups}
    sizes = {path: shards.bytes_of(own) / number[path] for path, own in sources.items()}
    return [round(sum(sizes[group[0].output.path] * len(group) for group in groups)) for groups in tasks]


def _require_room(shards: Shards, outputs: Sequence[Output], result: StoredResult, report: str | None) -> None:
    """Refuse to write outputs that are larger than what the disk has free, by their share of the documents.

    Outputs in another format or compression than their inputs may have any size, and so may reports but JSON lines.
    """
    kept = float(result.mask.mean()) if len(result.mask) else 1.0
    needed: Counter[Path] = Counter()
    for output in outputs:
        size = shards.bytes_of(output.sources)
        same = all(kind(output.path) == shards.kinds[source] for source in output.sources)
        if same and not _is_there(output.path):
            share = {"out": kept, "dropped": 1 - kept}.get(output.target, 1.0)
            needed[Path(os.path.realpath(output.path)).parent] += round(_SURE * share * size)
    if report is not None and kind(report) == Kind("jsonl") and not _is_there(report):
        needed[Path(os.path.realpath(report)).parent] += _DECISION * len(result.documents)
    for folder, size in needed.items():
        require_room(folder, size, "write the outputs")


def _is_there(path: str) -> bool:
    """Return whether an output needs no room on the local disk, or has it."""
    return is_url(path) or is_special(path) or Path(path).exists()
