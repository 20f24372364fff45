"""Deduplication on Spark: a run in pieces whose tasks the executors do, of files or of a DataFrame.

Only the numbers of tasks pass through Spark; the executors read files and write to the work folder.
"""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup.engines.journal import is_interrupted
from neardup.engines.spark import SparkExecutors, naming_errors
from neardup.model.errors import OutputRefused, ParameterError, StorageRefused, reason, require, require_sequence
from neardup.model.policy import Policy
from neardup.pipeline.corpus.result import Summary
from neardup.pipeline.corpus.run import chosen_scheme
from neardup.pipeline.files import dedup as files
from neardup.pipeline.spilled.job import digest
from neardup.schemes.checksum import BODY
from neardup.schemes.scheme import Scheme
from neardup.sources.formats import AnyPath, local_folder
from neardup.sources.record_faults import Rejected
from neardup.text.common_shingles import CommonShingles

_RUN: Final = "run"
_DECISIONS: Final = "decisions.parquet"
_STORED: Final = "documents-"
_COMPLETE: Final = "_SUCCESS"  # Spark writes it last
_OF_POLICY: Final = ("verify", "gather", "representative")
_NUMBERS: Final = re.compile(r"(?<=[\w)\]`])(#\d+L?|@[0-9a-f]+)")  # of columns and objects, other ones in each session


@dataclass(frozen=True, slots=True, eq=False)
class SparkResult:
    """The result of ``dedup``; ``decisions`` is a DataFrame with the columns of ``neardup.results.Result.decisions``.

    It reads the file that the run left in the work folder. ``summary`` is the run in numbers. ``rejected`` are the rows
    that have no decision, because their text or id is not valid UTF-8.
    """

    decisions: Any
    summary: Summary
    rejected: Sequence[Rejected]

    def clusters(self) -> Any:
        """Return a DataFrame with the ``id`` of each document and the id of the ``representative`` of its cluster."""
        return self.decisions.selectExpr("id", "coalesce(representative, id) AS representative")

    def pairs(self) -> Any:
        """Return a DataFrame with one row per dropped document, with the columns of ``Result.pairs``."""
        columns = self.decisions.columns
        evidence = columns[columns.index("rule") :]
        places = ["position AS dropped", "representative_position AS representative"]
        names = ["id AS dropped_id", "representative AS representative_id"]
        return self.decisions.where("NOT kept").selectExpr(*places, *names, *evidence)


def dedup_files(
    inputs: Sequence[AnyPath], out: AnyPath | None = None, *, work: AnyPath, spark: Any = None, **options: Any
) -> files.FilesResult:
    """Deduplicate files on the executors of a Spark session, by default of the active one.

    The executors must see the inputs, the outputs and the folder *work* at the same paths as this process. *memory* is
    that of a core, *threads* are those of this process. Everything else is as in ``neardup.dedup_files``, with the same
    answer. Raises its errors, ``EngineFailed`` if Spark fails, and ``ExtraMissing`` without PySpark.
    """
    return files.dedup_files(inputs, out, work=work, executors=SparkExecutors(spark), **options)


def dedup(  # noqa: PLR0913 - all are options of a run
    frame: Any,
    *,
    work: AnyPath,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the column's name, as everywhere
    order: Sequence[str] = (),
    scheme: Scheme | None = None,
    preset: str | None = None,
    threshold: float | None = None,
    measure: str | None = None,
    keep: str = "first",
    ignore_common: float | CommonShingles | None = None,
    restart: bool = False,
    **options: Any,
) -> SparkResult:
    """Deduplicate the documents of a Spark DataFrame.

    Spark writes the columns that are needed to the folder *work*, sorted by the columns *order* (default: *id*) and
    then by the others, so that every run has the same order. ``position`` counts in this order, which ``keep="first"``
    and ties depend on. The executors must see the folder at the same path as this process.

    If the run is interrupted, the same call continues it; rows that were stored are not read again. With *restart*, it
    begins again. At the end, only the decisions are left in the folder. Everything else is as in ``dedup_files``.
    Raises ``OutputRefused`` if the folder has the decisions of a finished run, ``ParameterError`` for a missing column
    and for a *state* with exact verification, whose later runs read the inputs again, ``EngineFailed`` if Spark fails,
    and ``StorageRefused`` if executors do not see the folder, or if it has an interrupted run of another DataFrame.
    """
    folder = local_folder("work", work).absolute()
    policy = Policy(keep=keep, **{name: options[name] for name in _OF_POLICY if name in options})
    chosen, common = chosen_scheme(scheme, preset, threshold, ignore_common, measure)
    if options.get("verify", "exact") == "exact" and not chosen.columns:
        rule = "cannot be used with a DataFrame and exact verification: later runs with the state read the inputs again"
        way_out = "write the DataFrame to files, and use dedup_files"
        require(options.get("state") is None, "state", options.get("state"), f"{rule}; {way_out}")
    fields = [name for name in chosen.columns if name != BODY or name in frame.columns]
    ranking = [name for name in policy.fields if name in policy.required_fields or name in frame.columns]
    pages = {name: options[name] for name in ("html", "url") if options.get(name) is not None}
    named = {"id": id} | pages | ({} if "html" in pages else {"text": text})
    columns = [*dict.fromkeys([*named.values(), *fields, *ranking])]
    for parameter, name in (*named.items(), *(("columns", name) for name in columns)):
        if name not in frame.columns:
            raise ParameterError(parameter, name, f"must be a column; the DataFrame has {', '.join(frame.columns)}")
    by = (order,) if isinstance(order, str) else require_sequence("order", order, "names of columns")
    for name in by:
        require(isinstance(name, str), "order", name, "must be the name of a column")
    executors = SparkExecutors(frame.sparkSession)
    decisions = folder / _DECISIONS
    _make(folder)
    if restart:
        decisions.unlink(missing_ok=True)
    elif decisions.exists():
        rule = "it exists already: read it, restart the run, or use another folder"
        raise OutputRefused(str(decisions), rule, "exists")
    executors.require_shared(folder)
    with naming_errors():
        stored = _stored(frame, folder, columns, by or [_quoted(id)], restart=restart)
    done = files.dedup_files(
        stored,
        work=folder / _RUN,
        report=decisions,
        text=text,
        id=id,
        scheme=chosen,
        keep=keep,
        ignore_common=common,
        restart=restart,
        executors=executors,
        force=True,
        **options,
    )
    _remove_stored(folder)
    return SparkResult(executors.session.read.parquet(decisions.as_uri()), done.result.summary, done.rejected)


def _make(folder: Path) -> None:
    """Make the folder; raise ``StorageRefused`` if files of others are in it."""
    try:
        folder.mkdir(exist_ok=True)
        found = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise StorageRefused(str(folder), f"it cannot be a work folder: {reason(error)}") from error
    foreign = [name for name in sorted(found) if name not in {_RUN, _DECISIONS} and not name.startswith(_STORED)]
    if foreign:
        raise StorageRefused(str(folder), f"it has files of others, such as {foreign[0]!r}; use a new or empty folder")


def _stored(frame: Any, folder: Path, columns: Sequence[str], order: Sequence[str], *, restart: bool) -> list[str]:
    """Let Spark write the columns of a DataFrame in one order, unless an interrupted run has them; return the files.

    Raises ``StorageRefused`` if that run is of another DataFrame.
    """
    names = [*map(_quoted, columns)]
    types = {name: field.dataType.typeName() for name, field in zip(names, frame.select(*names).schema, strict=True)}
    query = _NUMBERS.sub("", frame._jdf.queryExecution().analyzed().toString())  # noqa: SLF001 - there is no other way
    target = folder / f"{_STORED}{digest([types, order, sorted(frame.inputFiles()), query])}"
    continues = not restart and is_interrupted(folder / _RUN)
    if continues and not (target / _COMPLETE).exists():
        rule = (
            "it has an interrupted run of another query, columns, order or files; repeat that call, or restart the run"
        )
        raise StorageRefused(str(folder), rule)
    if not continues:
        _remove_stored(folder)
        frame.orderBy(*order, *(name for name in names if name not in order)).selectExpr(
            *(f"unix_micros({name}) AS {name}" if types[name] == "timestamp" else name for name in names)
        ).write.parquet(target.as_uri())
    return [str(path) for path in sorted(target.glob("part-*.parquet"))]


def _quoted(name: str) -> str:
    """Return the name of a column as Spark reads it as one name, with any characters."""
    return f"`{name.replace('`', '``')}`"


def _remove_stored(folder: Path) -> None:
    for path in folder.glob(f"{_STORED}*"):
        shutil.rmtree(path)
