"""Outputs: which files a run writes, their names and parts, and whether they may be written."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Final, NamedTuple

import numpy as np

from neardup.model.arrays import Flags, Positions
from neardup.model.errors import OutputError, OutputRefused, ParameterError, StorageBusy, require
from neardup.pipeline.corpus.result import MARKS
from neardup.pipeline.spilled.job import Job, digest
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.sources.collection import require_new
from neardup.sources.formats import (
    COMPRESSIONS,
    FOLDER,
    KNOWN,
    STDIN,
    WARC_COMPRESSIONS,
    Kind,
    display,
    is_url,
    kind,
)
from neardup.sources.output import check_target, is_folder, is_special, output_kind
from neardup.sources.output_places import InputPaths
from neardup.sources.remote import exists, matching, remove
from neardup.sources.shards import Shards
from neardup.sources.whole_inputs import check_marks

REPORT: Final = "report"  # a target
PLACE: Final = "place"  # the stage that records which outputs get their names

_PART: Final = "part-"
_DIGITS: Final = 5  # of the number of a part: readers take parts in the order of their names


class Output(NamedTuple):
    """A file, or a folder of documents, that the records of some inputs go to."""

    target: str  # out, dropped or mark, or report if that is in a folder
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
    as ``jsonl.zst``, or that of the inputs; those of a report are Parquet unless *form* is JSON lines. Raises
    ``ParameterError`` for one input that has two files in a folder, for parts or a format without a folder, and for
    marks of documents without fields.
    """
    require(
        form is None or kind(f"x.{form}") is not None, "out_format", form, f"must be one of {KNOWN}, without the dot"
    )
    everything = list(range(compared, len(shards.inputs)))
    formats = {shards.kinds[source].format for source in everything}
    is_copy = formats == {FOLDER} and form is None  # of a folder of documents, which may have any name
    folders = {path for path in targets.values() if is_folder(path) or (is_copy and kind(path) is None)}
    if targets and not folders:
        require(form is None, "out_format", form, "requires a folder as an output; a file has the format of its ending")
        require(
            not part, "part_size", part, f"requires a folder as an output; {next(iter(targets.values()))} is a file"
        )
    found: list[Output] = []
    for target, path in targets.items():
        is_report = target == REPORT
        own = "parquet" if is_report and not (form or "").startswith(("jsonl", "ndjson")) else form
        if target == "mark":
            check_marks(path, formats, form)
        if part and path in folders:
            if own is None and FOLDER in formats:
                rule = "requires a format, because parts of a folder of documents are tables"
                raise ParameterError("part_size", part, rule, "parts of texts")
            first = f"{_PART}{0:0{_DIGITS}}.{own or _ending_of(shards, compared)}"
            found.append(Output(target, _joined(path, first), everything, part))
        elif path not in folders or (is_copy and not is_report):
            found.append(Output(target, path, everything))
        else:
            found += _one_for_each(shards, everything, target, path, own)
    return found


def _one_for_each(
    shards: Shards, sources: Sequence[int], target: str, folder: str, form: str | None
) -> Iterator[Output]:
    """Yield a file of a folder for each input; ``ParameterError`` if two have the same name."""
    names = _names(shards, sources, form)
    if len({*names}) < len(names):
        name, _ = Counter(names).most_common(1)[0]
        raise ParameterError(target, folder, f"must be a file, as several inputs would be written to {name} in it")
    paths = [_joined(folder, name) for name in names]
    _require_files(paths)
    for source, path in zip(sources, paths, strict=True):
        yield Output(target, path, [source])


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
            made += make_folder(output.path)
            if output.target != REPORT and own_format(shards, output) is not None:
                shards.check_columns(output.sources)
            check_target(output.path, inputs, formats, force=force, name=output.target)
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


def record_places(job: Job, paths: Sequence[str]) -> None:
    """Record, unless that is done, that some outputs get their names: files there are those of the run from then on.

    Raises ``StorageBusy`` if this process no longer shares the run, so that the outputs get no name that is not
    recorded.
    """
    stage, task = f"{PLACE}-{job.deciding}", int(digest([os.getcwd(), *paths]), 16)  # noqa: PTH109 - as ``_absolute``
    journal = job.journal
    if journal.is_done(stage, task):
        return
    record = {"paths": [*map(_absolute, paths)]}
    if not journal.attempt(stage, task, lambda _: record) and not journal.is_done(stage, task):
        raise StorageBusy(str(journal.folder), "another process has taken over this run, and writes its outputs")


def require_own(job: Job, outputs: Sequence[Output], report: str | None, *, force: bool) -> None:
    """Raise ``OutputRefused`` for a file that others have made since the outputs were checked, but not with *force*."""
    own = {path for record in job.journal.records(f"{PLACE}-{job.deciding}") for path in record["paths"]}
    for path in () if force else targets_of(outputs, report):
        there = not is_special(path) and (exists(path) if is_url(path) else Path(path).exists())
        if there and _absolute(path) not in own:
            raise OutputRefused(display(path), "it exists already", "exists")


def make_folder(path: str) -> list[Path]:
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


def is_converted(shards: Shards, output: Output) -> bool:
    """Return whether records are written in another format than that of their inputs; a report has no records."""
    return output.target != REPORT and own_format(shards, output) is None


def output_parts(result: StoredResult, outputs: Sequence[Output]) -> list[Part]:
    """Return the files of all outputs; a part ends before the document that begins after its bytes of text."""
    found: list[Part] = []
    number = len(result.documents)
    for output in outputs:
        if not output.part:
            found.append(Part(output, output.path, 0, number))
            continue
        signed = result.documents.signed
        places = np.flatnonzero(chosen(output, np.asarray(result.representatives)))
        lengths = signed.column("length", np.int64)[signed.first :][places]
        starts = np.unique(np.searchsorted(np.cumsum(lengths) - lengths, np.arange(0, lengths.sum(), output.part)))
        edges = [0, *places[starts[(starts > 0) & (starts < len(places))]].tolist(), number]
        most = 10**_DIGITS - 1
        least = -(-int(lengths.sum()) // most)
        rule = f"makes too many parts (limit: {most:,}); repeat the run with at least {least:,} bytes: it continues"
        require(len(edges) - 1 <= most, "part_size", output.part, rule)
        found += [Part(output, _numbered(output, place), *ends) for place, ends in enumerate(pairwise(edges))]
    return found


def remove_other_parts(outputs: Sequence[Output], parts: Sequence[Part]) -> None:
    """Remove the parts that runs with more parts, or of another format, have left in the same folders."""
    for output in (output for output in outputs if output.part):
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
    """Return the parts in the folder of an output, of all formats: programs that read the folder read all."""
    if not output.part:
        return []
    folder, name = output.path.rpartition("/")[0], f"{_PART}{'[0-9]' * _DIGITS}.*"
    found = matching(_joined(folder, name)) if is_url(folder) else sorted(map(str, Path(folder).glob(name)))
    return [path for path in found if kind(path) is not None]


def _require_files(paths: Iterable[str]) -> None:
    """Raise ``OutputRefused`` for a link in a folder of outputs: its target is not a named output."""
    for path in paths:
        if Path(path).is_symlink():
            raise OutputRefused(path, "it is a link, and its target would be replaced; remove the link")


def _numbered(output: Output, number: int) -> str:
    folder, _, name = output.path.rpartition("/")
    return _joined(folder, f"{_PART}{number:0{_DIGITS}}{name[len(_PART) + _DIGITS :]}")


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else str(Path(folder, name))


def chosen(output: Output, representatives: Positions) -> Flags:
    """Return which documents an output has, by their representatives."""
    if output.target in {"mark", REPORT}:
        return np.ones(len(representatives), np.bool_)
    return representatives < 0 if output.target == "out" else representatives >= 0


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
