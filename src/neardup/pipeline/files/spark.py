"""Deduplication on Spark: a run in pieces whose tasks the executors do, of files or of a DataFrame.

Only the numbers of tasks pass through Spark; the executors read files and write to the work folder.
"""

import inspect
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup.engines.files import locked, naming
from neardup.engines.journal import is_interrupted
from neardup.engines.spark import SparkExecutors, naming_errors
from neardup.model.errors import OutputRefused, ParameterError, StorageRefused, reason, require, require_sequence
from neardup.model.policy import Policy
from neardup.pipeline.corpus.documents import needs_text
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
_COMPLETE: Final = "_complete"  # an empty file in a folder of stored documents; Spark does not read it as one of them
_TEMPORARY: Final = ".neardup-"  # the beginning of the names of files that a killed process may leave
_LOCK: Final = f"{_TEMPORARY}lock"
_OF_POLICY: Final = ("verify", "gather", "representative")
_OWN: Final = ("report", "executors", "force")  # parameters of ``dedup_files`` that are set here
_WILDCARDS: Final = re.compile(r"([]*?{}[\\])")
_SECOND: Final = "timestampadd(SECOND, unix_seconds({0}), TIMESTAMP_NTZ'1970-01-01 00:00:00')"  # in UTC
_TIME: Final = (
    f"concat({_SECOND}, trim(TRAILING '.' FROM trim(TRAILING '0' FROM concat("  # as ids of tables have it
    "'.', lpad(pmod(unix_micros({0}), 1000000), 6, '0')))), 'Z')"
)


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

    If the run is interrupted, the same call continues it, once the rows were compared with those that were stored. With
    *restart*, it begins again. At the end, only the decisions are left in the
    folder. Everything else is as in ``dedup_files``, but for *report*. Raises ``OutputRefused`` if the folder has the
    decisions of a finished run, ``ParameterError`` for a missing column and for a *state* with exact verification,
    whose later runs read the inputs again, ``EngineFailed`` if Spark fails, ``StorageBusy`` if another call uses the
    folder, and ``StorageRefused`` if executors do not see it, or if it has an interrupted run of another DataFrame.
    """
    folder = local_folder("work", work).absolute()
    for name in _OWN:
        rule = "cannot be used with a DataFrame: the decisions are written to the work folder"
        require(name not in options, name, options.get(name), rule)
    inspect.signature(files.dedup_files).bind((), **options)  # unknown options are refused before rows are stored
    policy = Policy(keep=keep, **{name: options[name] for name in _OF_POLICY if name in options})
    chosen, common = chosen_scheme(scheme, preset, threshold, ignore_common, measure)
    if options.get("verify", "exact") == "exact" and not chosen.columns:
        rule = "cannot be used with a DataFrame and exact verification: later runs with the state read the inputs again"
        way_out = "write the DataFrame to files, and use dedup_files"
        require(options.get("state") is None, "state", options.get("state"), f"{rule}; {way_out}")
    session = getattr(frame, "sparkSession", None)
    require(session is not None, "frame", frame, "must be a Spark DataFrame, such as session.createDataFrame returns")
    executors = SparkExecutors(session)
    pages = {name: options[name] for name in ("html", "url") if options.get(name) is not None}
    with_text = "html" not in pages and (text in frame.columns or needs_text(chosen, text, policy))
    columns = _needed(frame, {"id": id} | pages | ({"text": text} if with_text else {}), chosen, policy)
    by = (order,) if isinstance(order, str) else require_sequence("order", order, "names of columns")
    for name in by:
        require(isinstance(name, str), "order", name, "must be the name of a column")
    decisions = folder / _DECISIONS
    with _reserved(folder):
        if restart:
            decisions.unlink(missing_ok=True)
        elif decisions.exists() and not is_interrupted(folder / _RUN):
            _remove_stored(folder)
            rule = "it exists already: read it, use another folder, or begin again with restart=True"
            raise OutputRefused(str(decisions), rule)
        executors.require_shared(folder)
        with naming_errors():
            stored = _stored(frame, folder, columns, id, by or [_quoted(id)], restart=restart)
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
    with naming_errors():
        return SparkResult(_read(session, decisions), done.result.summary, done.rejected)


def _needed(frame: Any, named: Mapping[str, str], scheme: Scheme, policy: Policy) -> list[str]:
    """Return the columns that a run needs: those that parameters *named*, and those of the scheme and the ranks."""
    fields = [("scheme", name) for name in scheme.columns if name != BODY or name in frame.columns]
    ranking = [("keep", name) for name in policy.fields if name in policy.required_fields or name in frame.columns]
    needed = [*named.items(), *fields, *ranking]
    for parameter, name in needed:
        if name not in frame.columns:
            raise ParameterError(parameter, name, f"must be a column; the DataFrame has {', '.join(frame.columns)}")
    return [*dict.fromkeys(name for _, name in needed)]


@contextmanager
def _reserved(folder: Path) -> Iterator[None]:
    """Make the folder, and lock it.

    Raises ``StorageRefused`` if files of others are in it, and ``StorageBusy`` if another call uses it.
    """
    try:
        folder.mkdir(exist_ok=True)
        found = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise StorageRefused(str(folder), f"it cannot be a work folder: {reason(error)}") from error
    foreign = [name for name in found if name not in {_RUN, _DECISIONS} and not name.startswith((_STORED, _TEMPORARY))]
    if foreign:
        raise StorageRefused(str(folder), f"it has files of others, such as {foreign[0]!r}; use a new or empty folder")
    with naming(folder):
        lock = locked(folder / _LOCK)
    try:
        for name in found:
            if name.startswith(_TEMPORARY) and name != _LOCK:
                (folder / name).unlink(missing_ok=True)
        yield
    finally:
        (folder / _LOCK).unlink(missing_ok=True)
        os.close(lock)


def _stored(  # noqa: PLR0913 - what is stored, and where
    frame: Any, folder: Path, columns: Sequence[str], identifier: str, order: Sequence[str], *, restart: bool
) -> list[str]:
    """Let Spark write the columns of a DataFrame in one order, unless an interrupted run has them; return the files.

    Raises ``StorageRefused`` if that run has other rows.
    """
    names = [*map(_quoted, columns)]
    types = [field.dataType.typeName() for field in frame.select(*names).schema]
    values = [*names]
    for place, name in enumerate(names):
        if types[place] == "timestamp":  # which Spark would write in a type of the past
            time = _TIME if columns[place] == identifier else "unix_micros({0})"
            values[place] = f"{time.format(name)} AS {name}"
    prefix = _STORED + digest([values, types, order])
    if restart or not is_interrupted(folder / _RUN):
        _remove_stored(folder)
        target = folder / f"{prefix}-{secrets.token_hex(8)}"  # to which no executor of a killed call still writes
        ordered = frame.orderBy(*order, *(name for name in names if name not in order)).selectExpr(*values)
        ordered.write.option("maxRecordsPerFile", 0).parquet(f"file://{target}")
        with naming(target):
            (target / _COMPLETE).touch()
    else:
        target = next((path.parent for path in folder.glob(f"{prefix}-*/{_COMPLETE}")), folder)
        stored = None if target == folder else _total(_read(frame.sparkSession, target), names)
        if stored is None or stored != _total(frame.selectExpr(*values), names):
            before = "it has an interrupted run of other rows, columns or order"
            raise StorageRefused(str(folder), f"{before}; repeat that call, or begin again with restart=True")
    parts = sorted(target.glob("part-*.parquet"), key=lambda path: int(path.name.split("-")[1]))
    return [*map(str, parts)]


def _total(frame: Any, names: Sequence[str]) -> Any:
    """Return the number of rows and the sum of their hashes."""
    return frame.selectExpr("count(*)", f"sum(cast(xxhash64({', '.join(names)}) AS decimal(20)))").first()


def _read(session: Any, path: Path) -> Any:
    """Return a file or a folder as a DataFrame; Spark reads paths as patterns."""
    return session.read.parquet("file://" + _WILDCARDS.sub(r"\\\1", str(path)))


def _quoted(name: str) -> str:
    """Return the name of a column as Spark reads it as one name, with any characters."""
    return f"`{name.replace('`', '``')}`"


def _remove_stored(folder: Path) -> None:
    for path in folder.glob(f"{_STORED}*"):
        (path / _COMPLETE).unlink(missing_ok=True)  # first, as this may be interrupted
        shutil.rmtree(path)
