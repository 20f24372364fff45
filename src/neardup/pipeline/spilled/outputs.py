"""Writing: the inputs are read a last time, and the kept records are copied; reports come from the stored decisions."""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Positions
from neardup.model.errors import OutputRefused, ParameterError
from neardup.pipeline.spilled.job import Job, digest
from neardup.pipeline.spilled.stored import StoredResult
from neardup.sources.collection import Collection, converter
from neardup.sources.formats import FOLDER, STDIN, display, kind
from neardup.sources.output import check_target, output_kind, write_table
from neardup.sources.read import reader
from neardup.sources.shards import Shards
from neardup.sources.tables import check_representable, united

FIELDS: Final = "fields-"  # the stage that finds the types of fields for outputs of other formats than the inputs
_ROWS: Final = 1 << 16  # decisions that are written together


class Output(NamedTuple):
    """A file, or a folder of documents, that the records of some inputs go to."""

    target: str  # out, dropped or mark
    path: str
    sources: list[int]


def outputs_of(shards: Shards, targets: dict[str, str], compared: int = 0) -> list[Output]:
    """Return the outputs of a run: one file for all inputs, or in a folder one file for each input.

    The first *compared* inputs have none. A path without the ending of a format is a folder, which is made. Raises
    ``ParameterError`` for inputs of several formats in a pipe, for one input that has two files in a folder, and for
    marks of documents without fields.
    """
    everything = list(range(compared, len(shards.inputs)))
    formats = {shards.kind(source).format for source in everything}
    found: list[Output] = []
    for target, path in targets.items():
        if target == "mark" and FOLDER in formats and kind(path) is None:
            raise ParameterError(target, path, "requires fields; the files of a folder have none")
        if formats == {FOLDER} or kind(path) is not None or (Path(path).exists() and not Path(path).is_dir()):
            if len(formats) > 1 and kind(path) is None:
                rule = "must be a folder, or end in a known format, as the inputs have several formats"
                raise ParameterError(target, path, rule)
            found.append(Output(target, path, everything))
            continue
        names = _names(shards, everything)
        if len({*names}) < len(names):
            raise ParameterError(target, path, "must be a file, as an input is named twice")
        pairs = zip(everything, names, strict=True)
        found += [Output(target, str(Path(path, name)), [source]) for source, name in pairs]
    return found


def writing(job: Job, outputs: Sequence[Output]) -> str:
    """Return a name for the writing of this answer to these outputs, wherever the process is."""
    return digest([job.deciding, [[target, _absolute(path), sources] for target, path, sources in outputs]])


def reporting(job: Job, outputs: Sequence[Output], report: str | None) -> str:
    """Return a name for everything that a run writes."""
    return digest([writing(job, outputs), None if report is None else _absolute(report)])


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - links stay: standard output is another one in each process


def check_outputs(shards: Shards, outputs: Sequence[Output], *, force: bool) -> None:
    """Raise the errors of writing before anything is read. Folders of outputs are made, and removed again."""
    made: list[Path] = []
    try:
        for output in outputs:
            form = shards.kind(output.sources[0]).format
            made += _make_folder(output.path)
            if own_format(shards, output) is not None:
                shards.check_columns(output.sources)
            check_target(output.path, shards.inputs, form, force=force, glob=shards.request.globs)
    finally:
        for folder in reversed(made):
            with suppress(OSError):  # another process has put something there
                folder.rmdir()


def _make_folder(path: str) -> list[Path]:
    """Make the folder of an output; return the folders that were made, outermost first."""
    folder = Path(path).parent
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputRefused(str(folder), f"it cannot be made: {(error.strerror or str(error)).lower()}") from error
    return missing


def own_format(shards: Shards, output: Output) -> str | None:
    """Return the format of the inputs of an output if that is its own; ``None`` if records must be converted."""
    formats = {shards.kind(source).format for source in output.sources}
    form = formats.pop()
    return form if not formats and output_kind(output.path, form).format == form else None


def fields(shards: Shards, task: int) -> dict[str, Any]:
    """Return the schema of the records of a shard; of tables, only that of the first shard of an input."""
    shard = shards.shards[task]
    pieces = shards.pieces(shard, whole=True)
    if shards.kind(shard.source).format != "jsonl":
        pieces = islice(pieces, shards.of(shard.source)[0] == shard)
    whole = united(display(shards.inputs[shard.source]), (piece.schema() for piece in pieces))
    return {"schema": b64encode(whole.serialize()).decode()}


def schema_of(shards: Shards, output: Output, records: Sequence[dict[str, Any]]) -> pa.Schema:
    """Return the schema of an output of converted records; ``DataError`` for records that it cannot represent."""
    own = [record for record, shard in zip(records, shards.shards, strict=True) if shard.source in output.sources]
    names = ", ".join(display(shards.inputs[source]) for source in output.sources)
    schema = united(names, (pa.ipc.read_schema(pa.py_buffer(b64decode(record["schema"]))) for record in own))
    check_representable(names, schema, output_kind(output.path, "jsonl").format)
    return schema


def write(job: Job, result: StoredResult, outputs: Sequence[Output], task: int) -> dict[str, Any]:
    """Write one output; return its size, if it is a file."""
    output = outputs[task]
    form = own_format(job.shards, output)
    if form is not None:
        writer = reader(form).writer(output.path, form)
    else:
        schema = schema_of(job.shards, output, job.journal.records(FIELDS))
        writer = converter(output.path, output_kind(output.path, "jsonl"), schema)
    _make_folder(output.path)
    with writer as append:
        for piece, begin in _pieces(job, result, output.sources):
            representatives = np.asarray(result.representatives[begin : begin + len(piece)])
            match output.target:
                case "out":
                    append(piece, representatives < 0, None)
                case "dropped":
                    append(piece, representatives >= 0, None)
                case _:
                    append(piece, np.ones(len(piece), np.bool_), _marks(result, begin, representatives))
    return _written(output.path)


def write_report(result: StoredResult, path: str, *, force: bool) -> dict[str, Any]:
    """Write the table of decisions, some rows at a time."""
    number = len(result.documents)
    edges = [*range(0, number, _ROWS), number] if number else [0, 0]
    tables = (result.stored.table(begin, end) for begin, end in pairwise(edges))
    write_table(path, tables, force=force)
    return _written(path)


def _written(path: str) -> dict[str, Any]:
    """Return what is recorded of an output: it is written again if it has another size."""
    real = Path(os.path.realpath(path))
    return {"files": {str(real): real.stat().st_size} if real.is_file() else {}}


def _pieces(job: Job, result: StoredResult, sources: list[int]) -> Iterator[tuple[Collection, int]]:
    """Yield the pieces of some inputs with the position of their first document."""
    signed = result.documents.signed
    for number, shard in enumerate(job.shards.shards):
        if shard.source in sources:
            begin = int(signed.edges[number]) - signed.first
            for piece in job.shards.pieces(shard, whole=True):
                yield piece, begin
                begin += len(piece)


def _marks(result: StoredResult, begin: int, representatives: Positions) -> pa.Table:
    """Return the fields that mark the cluster of each document."""
    kept = representatives < 0
    clusters = np.where(kept, np.arange(begin, begin + len(kept)), representatives)
    names = result.stored.ids_at(clusters)
    return pa.table({"neardup_cluster": clusters, "neardup_kept": kept, "neardup_representative": names})


def _names(shards: Shards, sources: Sequence[int]) -> list[str]:
    """Return the paths of the inputs inside the innermost folder that contains all of them."""
    paths = {source: Path(os.path.realpath(shards.inputs[source])) for source in sources}
    piped = [source for source in sources if shards.inputs[source] == STDIN]
    base = os.path.commonpath([str(path.parent) for source, path in paths.items() if source not in piped] or [os.sep])
    named = {source: f"stdin.{shards.kind(source).format}" for source in piped}
    return [named.get(source) or str(path.relative_to(base)) for source, path in paths.items()]
