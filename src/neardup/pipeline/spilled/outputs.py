"""Writing: the inputs are read a last time, and the kept records are copied; reports come from the stored decisions."""

import os
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engines.journal import WorkFolder
from neardup.engines.local import ahead
from neardup.model.arrays import Flags, Positions
from neardup.model.errors import (
    DataError,
    OutputError,
    OutputRefused,
    ParameterError,
    StorageBusy,
    StorageDamaged,
    require,
)
from neardup.pipeline.corpus.report import reading_terms, write_report
from neardup.pipeline.corpus.result import MARKS, marks_of
from neardup.pipeline.spilled.job import OTHER, Job, digest
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.sources.collection import InputPiece, check_marks, converter, require_new
from neardup.sources.formats import (
    COMPRESSIONS,
    FOLDER,
    KNOWN,
    PAGE_FORMATS,
    STDIN,
    WARC_COMPRESSIONS,
    Kind,
    display,
    is_url,
    kind,
)
from neardup.sources.output import check_target, is_folder, is_special, output_kind
from neardup.sources.output_places import InputPaths
from neardup.sources.plain_columns import check_values, has_limits
from neardup.sources.read import reader
from neardup.sources.remote import exists, matching, remove
from neardup.sources.shards import Shards
from neardup.sources.tables import ONLY_LINES, TOGETHER, check_levels, check_representable, united

PLACE: Final = "place"  # the stage that records which outputs get their names

_PART: Final = "part-"
_DIGITS: Final = 5  # of the number of a part; with more than 100,000 parts, all numbers have more, to be in order
_ROWS: Final = 1 << 16  # decisions that are written together
_AHEAD: Final = 4  # pieces: a group of rows of Parquet has many, and is written at once


class Output(NamedTuple):
    """A file, or a folder of documents, that the records of some inputs go to."""

    target: str  # out, dropped or mark
    path: str  # of the first of the parts, if there are parts
    sources: list[int]
    part: int = 0  # bytes of text in a part; 0 for a single file
    revisits: bool = False  # whether equal payloads of dropped pages are written as revisit records


class Part(NamedTuple):
    """A file of an output: the records of some documents, from *begin* to *end*."""

    output: Output
    path: str
    begin: int
    end: int


def outputs_of(
    shards: Shards, targets: dict[str, str], compared: int = 0, part: int = 0, form: str | None = None
) -> list[Output]:
    """Return the outputs of a run: one file for all inputs, or in a folder one file for each input or numbered parts.

    The first *compared* inputs have none. A folder (see ``is_folder``) is made. Its files have the format *form*, such
    as ``jsonl.zst``, or that of the inputs. Raises ``ParameterError`` for one input that has two files in a folder, for
    parts of a file, and for marks of documents without fields.
    """
    require(
        form is None or kind(f"x.{form}") is not None, "out_format", form, f"must be one of {KNOWN}, without the dot"
    )
    everything = list(range(compared, len(shards.inputs)))
    formats = {shards.kinds[source].format for source in everything}
    is_copy = formats == {FOLDER} and form is None  # of a folder of documents, which may have any name
    folders = {path for path in targets.values() if is_folder(path) or (is_copy and kind(path) is None)}
    require(
        form is None or not targets or bool(folders),
        "out_format",
        form,
        "requires a folder as an output; a file has the format of its ending",
    )
    found: list[Output] = []
    for target, path in targets.items():
        if target == "mark":
            check_marks(path, formats, form)
        if part:
            require(path in folders, "part_size", part, f"requires a folder as an output; {path} is a file")
            if form is None and FOLDER in formats:
                rule = "requires a format, because parts of a folder of documents are tables"
                raise ParameterError("part_size", part, rule, "parts of texts")
            name = f"{_PART}{0:0{_DIGITS}}.{form or _ending_of(shards, compared)}"
            found.append(Output(target, _joined(path, name), everything, part))
            continue
        if path not in folders or is_copy:
            found.append(Output(target, path, everything))
            continue
        names = _names(shards, everything, form)
        if len({*names}) < len(names):
            name, _ = Counter(names).most_common(1)[0]
            raise ParameterError(target, path, f"must be a file, as several inputs would be written to {name} in it")
        paths = [_joined(path, name) for name in names]
        _require_files(paths)
        found += [Output(target, one, [source]) for source, one in zip(everything, paths, strict=True)]
    return found


def writing(job: Job, outputs: Sequence[Output]) -> str:
    """Return a name for the writing of this answer to these outputs, wherever the process is."""
    return digest(
        [job.deciding, [[one.target, _absolute(one.path), one.sources, one.part, one.revisits] for one in outputs]]
    )


def reporting(job: Job, outputs: Sequence[Output], report: str | None) -> str:
    """Return a name for everything that a run writes."""
    return digest([writing(job, outputs), None if report is None else _absolute(report)])


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - links stay: standard output is another one in each process


def check_outputs(shards: Shards, outputs: Sequence[Output], *, force: bool) -> None:
    """Raise the errors of writing before anything is read. Folders of outputs are made, and removed again."""
    made: list[Path] = []
    inputs = InputPaths(shards.inputs)
    try:
        for output in outputs:
            formats = {shards.kinds[source].format for source in output.sources}
            made += _make_folder(output.path)
            if own_format(shards, output) is not None:
                shards.check_columns(output.sources)
            check_target(output.path, inputs, formats, force=force, glob=shards.request.glob, name=output.target)
            parts = _existing_parts(output)
            _require_files(parts)
            for path in parts:
                inputs.check(path)
                if not force:
                    raise OutputRefused(display(path), "it exists already", "exists")
    finally:
        for folder in reversed(made):
            with suppress(OSError):  # another process has put something there
                folder.rmdir()
    for source in (source for output in outputs if output.target == "mark" for source in output.sources):
        require_new(display(shards.inputs[source]), MARKS, shards.first_fields(source))


def record_place(job: Job, path: str) -> None:
    """Record that a complete output is about to get its name: a file that is there later is that of the run.

    Raises ``StorageBusy`` if this process no longer shares the run, so that the output gets no name that is not
    recorded.
    """
    place = _place(job, path)
    if not job.journal.attempt(place, 0, lambda _: {}) and not job.journal.done(place):
        raise StorageBusy(str(job.journal.folder), "another process has taken over this run, and writes its outputs")


def require_own(job: Job, outputs: Sequence[Output], report: str | None, *, force: bool) -> None:
    """Raise ``OutputRefused`` for a file that others have made since the outputs were checked, but not with *force*."""
    for path in () if force else targets_of(outputs, report):
        there = not is_special(path) and (exists(path) if is_url(path) else Path(path).exists())
        if there and not job.journal.done(_place(job, path)):
            raise OutputRefused(display(path), "it exists already", "exists")


def _place(job: Job, path: str) -> str:
    return f"{PLACE}-{digest([job.deciding, _absolute(path)])}"


def _make_folder(path: str) -> list[Path]:
    """Make the folder of an output; return the folders that were made, outermost first."""
    if is_url(path):
        return []
    folder = Path(path).parent
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.by(error, folder, "made") from error
    return missing


def own_format(shards: Shards, output: Output) -> str | None:
    """Return the format of the inputs of an output if that is its own; ``None`` if records must be converted."""
    formats = {shards.kinds[source].format for source in output.sources}
    form = formats.pop()
    return form if not formats and output_kind(output.path, form).format == form else None


def fields(shards: Shards, task: int) -> dict[str, Any]:
    """Return the schema of the records of a shard, and why only Parquet can represent them, if that is so.

    Of inputs whose values can all be written, other than JSON lines, only the first shard has a schema.
    """
    shard = shards.shards[task]
    path, form = shards.inputs[shard.source], shards.kinds[shard.source].format
    source = display(path)
    checked = form == "parquet" and has_limits(reader(form).columns_in(path))
    pieces = shards.pieces(shard, whole=True, markup=True)
    schemas: list[pa.Schema] = []
    misfit: str | None = None
    if form != "jsonl" and not checked:
        pieces = islice(pieces, shards.of(shard.source)[0] == shard)
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
    return {"schema": b64encode(schema.serialize()).decode(), "misfit": misfit}


def writes_texts(shards: Shards, output: Output) -> bool:
    """Return whether pages of archives or folders are written as texts, in another format."""
    pages = any(shards.kinds[source].format in PAGE_FORMATS for source in output.sources)
    return pages and own_format(shards, output) is None


def schema_of(shards: Shards, output: Output, journal: WorkFolder) -> pa.Schema:
    """Return the schema of an output of converted records, from what ``fields`` has recorded for its shards.

    Raises ``DataError`` for records that it cannot represent, and ``StorageDamaged`` for a damaged record of a shard.
    """
    names = [display(path) for path in shards.inputs]
    numbers = sorted(shards.numbers(output.sources))
    owners = [names[shards.shards[number].source] for number in numbers]
    records, form = journal.records("fields-", numbers), output_kind(output.path, "jsonl").format
    read: list[pa.Schema] = []
    for number, record in zip(numbers, records, strict=True):
        try:
            read.append(pa.ipc.read_schema(pa.py_buffer(b64decode(record["schema"]))))
        except (ValueError, OSError, pa.ArrowException) as error:  # Arrow has OSError for some of its own
            raise StorageDamaged(str(journal.path("done", f"fields--{number}.json")), OTHER) from error
    why = TOGETHER if len(output.sources) > 1 else ONLY_LINES
    schema = united(zip(owners, read, strict=True), why)
    check_representable(", ".join(names[source] for source in output.sources), schema, form)
    for owner, record in zip(owners, records, strict=True):
        if form != "parquet" and (misfit := record.get("misfit")) is not None:
            raise DataError(owner, misfit, "unrepresentable")
    return schema


def parts_of(result: StoredResult, outputs: Sequence[Output]) -> list[Part]:
    """Return the files of all outputs; a part ends before the document that begins after its bytes of text."""
    found: list[Part] = []
    number = len(result.documents)
    for output in outputs:
        if not output.part:
            found.append(Part(output, output.path, 0, number))
            continue
        signed = result.documents.signed
        places = np.flatnonzero(_chosen(output, np.asarray(result.representatives)))
        lengths = signed.column("length", np.int64)[signed.first :][places]
        starts = np.unique(np.searchsorted(np.cumsum(lengths) - lengths, np.arange(0, lengths.sum(), output.part)))
        edges = [0, *places[starts[(starts > 0) & (starts < len(places))]].tolist(), number]
        digits = max(_DIGITS, len(f"{len(edges) - 2}"))
        found += [
            Part(output, _numbered(output, f"{place:0{digits}}"), *ends) for place, ends in enumerate(pairwise(edges))
        ]
    return found


def remove_other_parts(outputs: Sequence[Output], parts: Sequence[Part]) -> None:
    """Remove the parts that runs with more parts, or of another format, have left in the same folders."""
    for output in outputs:
        names = {Path(part.path).name for part in parts if part.output == output}
        for path in _existing_parts(output):
            if Path(path).name not in names:
                remove(path) if is_url(path) else Path(path).unlink()


def targets_of(outputs: Sequence[Output], report: str | None) -> Iterator[str]:
    """Yield the paths that outputs and a report replace or remove."""
    for output in outputs:
        yield output.path
        yield from _existing_parts(output)
    if report is not None:
        yield report


def _existing_parts(output: Output) -> list[str]:
    """Return the parts in the folder of an output, of all formats: programs that read the folder read all.

    A name with more digits than usual is that of a part only if there is the first part with as many.
    """
    if not output.part:
        return []
    folder, name = output.path.rpartition("/")[0], f"{_PART}{'[0-9]' * _DIGITS}*.*"
    found = matching(_joined(folder, name)) if is_url(folder) else sorted(map(str, Path(folder).glob(name)))
    numbers = [PurePath(path).name.removeprefix(_PART).partition(".")[0] for path in found]
    firsts = {"0" * _DIGITS, *numbers}
    return [
        path
        for path, number in zip(found, numbers, strict=True)
        if number.isdecimal() and "0" * len(number) in firsts and kind(path) is not None
    ]


def _require_files(paths: Iterable[str]) -> None:
    """Raise ``OutputRefused`` for a link in a folder of outputs: its target is not a named output."""
    for path in paths:
        if Path(path).is_symlink():
            raise OutputRefused(path, "it is a link, and its target would be replaced; remove the link")


def _numbered(output: Output, number: str) -> str:
    folder, _, name = output.path.rpartition("/")
    return _joined(folder, f"{_PART}{number}{name[len(_PART) + _DIGITS :]}")


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else str(Path(folder, name))


def _chosen(output: Output, representatives: Positions) -> Flags:
    if output.target == "mark":
        return np.ones(len(representatives), np.bool_)
    return representatives < 0 if output.target == "out" else representatives >= 0


def together(result: StoredResult, parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts that each task writes: those of an output that begin in the same shard, which is read once."""
    signed = result.documents.signed
    edges = signed.edges - signed.first

    def place(part: Part) -> tuple[Output, int]:
        return part.output, int(np.searchsorted(edges, part.begin, "right"))

    return [[*group] for _, group in groupby(parts, place)]


def write(
    job: Job, result: StoredResult, groups: Sequence[Sequence[Part]], task: int, *, reading_ahead: bool = False
) -> dict[str, Any]:
    """Write some files of an output, one *reading ahead* in another thread; return their sizes, if they are files."""
    group = groups[task]
    output, alone = group[0].output, len(group) == 1
    form = own_format(job.shards, output)
    schema = schema_of(job.shards, output, job.journal) if form is None else None
    found = _records(job, result, group, copied=form is not None)
    found = ahead(found, _AHEAD) if reading_ahead and alone else found
    files: dict[str, int] = {}
    for part, own in [(group[0], found)] if alone else groupby(found, itemgetter(0)):
        if form is not None:
            writer = reader(form).writer(part.path)
        else:
            writer = converter(part.path, output_kind(part.path, "jsonl"), schema)
        _make_folder(part.path)
        with writer as append:
            for _, *each in own:
                append(*each)
            record_place(job, part.path)
        files |= _written(part.path)["files"]
    return {"files": files}


def _records(
    job: Job, result: StoredResult, group: Sequence[Part], *, copied: bool
) -> Iterator[tuple[Part, InputPiece, Flags, pa.Table | None]]:
    """Yield what is appended to each part of a group, one part after another."""
    output, begin, end = group[0].output, group[0].begin, group[-1].end
    for piece, first in _pieces(job, result, output.sources, begin, end, copied=copied):
        representatives = np.asarray(result.representatives[first : first + len(piece)])
        own = np.arange(first, first + len(piece))
        wanted = _chosen(output, representatives)
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


def write_decisions(job: Job, result: StoredResult, path: str) -> dict[str, Any]:
    """Write the table of decisions, some rows at a time."""
    number = len(result.documents)
    edges = [*range(0, number, _ROWS), number] if number else [0, 0]

    def tables() -> Iterator[pa.Table]:
        for begin, end in pairwise(edges):
            yield result.rows(begin, end)
        record_place(job, path)  # just before the report gets its name

    reading = reading_terms(job.shards.request, job.shards.extraction)
    terms: dict[str, Any] = {"scheme": job.scheme, "policy": job.policy, "reading": reading}
    write_report(path, tables(), result.documents, np.asarray(result.representatives), **terms, force=True)
    return _written(path)


def _written(path: str) -> dict[str, Any]:
    """Return what is recorded of an output: it is written again if it has another size."""
    real = Path(os.path.realpath(path))
    return {"files": {str(real): real.stat().st_size} if real.is_file() else {}}


def _pieces(  # noqa: PLR0913 - a part of an output, and how to read it
    job: Job, result: StoredResult, sources: list[int], begin: int, end: int, *, copied: bool
) -> Iterator[tuple[InputPiece, int]]:
    """Yield the pieces of some inputs with documents from *begin* to *end*, and the position of their first document.

    Shards without documents are read, too: an output without documents has their columns.
    """
    signed, request = result.documents.signed, job.shards.request
    markup = copied or request.html is not None  # neither copies nor fields need texts
    shards = job.shards.with_request(replace(request, whole_texts=not copied))
    numbers, edges = job.shards.numbers(sources), signed.edges - signed.first
    firsts, lasts = edges[:-1][numbers.start : numbers.stop], edges[1:][numbers.start : numbers.stop]
    for place in np.flatnonzero((firsts == lasts) | ((firsts < end) & (lasts > begin))).tolist():
        first, last = int(firsts[place]), int(lasts[place])
        documents = last - first if copied else None  # copies need no ids, and no further check
        for piece in shards.pieces(shards.shards[numbers[place]], whole=True, markup=markup, documents=documents):
            yield piece, first
            first += len(piece)
            if end <= first < last:  # the rest of the shard is in other parts
                break


def _endings(path: str) -> str:
    """Return the ending of a file of a known format, with that of its compression, without the first dot."""
    name = PurePath(path.lower())
    packed = name.suffix in COMPRESSIONS | WARC_COMPRESSIONS
    return f"{PurePath(name.stem).suffix if packed else ''}{name.suffix}"[1:]


def _ending_of(shards: Shards, source: int) -> str:
    """Return the ending of an input, if it is one of its format; otherwise that of its format and compression."""
    path, found = shards.inputs[source], shards.kinds[source]
    if kind(path) == found:
        return _endings(path)
    packed = {name: ending for ending, name in (COMPRESSIONS | WARC_COMPRESSIONS).items()}
    return found.format + ("" if found.compression is None else packed[found.compression])


def _names(shards: Shards, sources: Sequence[int], form: str | None) -> list[str]:
    """Return the paths of the inputs inside the innermost folder that contains all of them, ending in *form*.

    Without *form*, only files without the ending of their format get that one. Links keep their own names: the files
    that they point to, such as those of a cache, may have others.
    """
    paths = {source: Path(_absolute(shards.inputs[source])) for source in sources}
    piped = [source for source in sources if shards.inputs[source] == STDIN]
    base = os.path.commonpath([str(path.parent) for source, path in paths.items() if source not in piped] or [os.sep])
    named = {source: f"stdin.{shards.kinds[source].format}" for source in piped}
    names = [named.get(source) or str(path.relative_to(base)) for source, path in paths.items()]
    kinds = [shards.kinds[source] for source in sources]
    return [
        name
        if form is None and own in {kind(name), Kind(FOLDER)}
        else f"{_without_endings(name)}.{form or _ending_of(shards, source)}"
        for name, own, source in zip(names, kinds, sources, strict=True)
    ]


def _without_endings(name: str) -> str:
    """Return the name of a file without what ``_endings`` returns."""
    ending = _endings(name)
    return name[: -len(ending) - 1] if ending else name
