"""Deduplication of files: read, decide, and write the kept documents and the evidence."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.model.errors import (
    FieldMissing,
    OutputRefused,
    ParameterError,
    ValueRefused,
    require,
    require_name,
    require_path,
    require_sequence,
)
from neardup.model.policy import Gather, Policy, Representative, Verify
from neardup.model.protocols import Scheme, require_scheme
from neardup.pipeline.corpus import dedup, require_fitting
from neardup.pipeline.progress import Progress, followed
from neardup.pipeline.result import Result
from neardup.schemes.checksum import BODY
from neardup.sources.collection import Collection, Quoting, Rejected
from neardup.sources.formats import FOLDER, common_format, expand
from neardup.sources.output import PAGES, check_output, check_table, is_page, write_file, write_table
from neardup.sources.read import MAX_BYTES, read
from neardup.text.templates import CommonShingles

AnyPath = str | os.PathLike[str]

_ID: Final = "\0id"  # the column of the ids, a name that no field has: the field may rank documents, by its numbers
_RANK: Final = "\0rank of "


@dataclass(frozen=True, slots=True, eq=False)
class FilesResult:
    """``result`` is that of ``dedup``; *rejected* are the records that are not documents, *documents* the others."""

    result: Result
    rejected: list[Rejected]
    documents: Collection


Page = Callable[[FilesResult], bytes]


def dedup_files(  # noqa: PLR0913 - every one an option of the command line
    inputs: Sequence[AnyPath],
    out: AnyPath | None = None,
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    scheme: Scheme | None = None,
    preset: str | None = None,
    threshold: float | None = None,
    keep: str = "first",
    verify: Verify = "exact",
    gather: Gather = "kept",
    representative: Representative = "best-ranked",
    ignore_common: float | CommonShingles | None = None,
    report: AnyPath | None = None,
    page: Page | None = None,
    dropped: AnyPath | None = None,
    strict: bool = False,
    force: bool = False,
    max_bytes: int = MAX_BYTES,
    threads: int | None = None,
    format: str | None = None,  # noqa: A002 - what users call it
    quoting: Quoting = "auto",
    glob: Sequence[str] = (),
    mark: AnyPath | None = None,
    progress: bool | Progress | None = None,
) -> FilesResult:
    """Deduplicate files: write the kept records to *out*, in the inputs' format, columns and order.

    *report* (``.parquet`` or ``.jsonl``) receives the decisions, *dropped* the removed records. *mark* receives every
    document with three more fields: ``neardup_cluster``, the position of its representative, which all documents of a
    cluster share; ``neardup_kept``, whether it is the representative; ``neardup_representative``, the id of the
    representative. ``None`` writes nothing. With *page*, a function that renders a run, *report* may end in ``.html``
    or ``.htm``, and receives that page. Outputs are checked before anything is read, must be different files, and
    appear only when complete, *out* last. Everything else is as in ``dedup`` and ``neardup.sources.read``. Raises
    ``ParameterError``, ``DataError`` and ``OutputError``.
    """
    policy = Policy(keep=keep, verify=verify, gather=gather, representative=representative)
    require_name("text", text)
    require(text != id, "id", id, "must be another field than the text")
    _check_scheme(scheme, ignore_common)
    threads = thread_count(threads)
    outputs = {"out": out, "report": report, "dropped": dropped, "mark": mark}
    _check_paths(require_sequence("inputs", inputs, "names"), outputs)
    for path in (out, dropped, mark):
        if path is not None:
            check_output(path, inputs, force=force, format=format, glob=glob)
    if mark is not None and common_format(expand(inputs), format) == FOLDER:
        raise ParameterError("mark", os.fspath(mark), "requires fields; the files of a folder have none")
    if report is not None:
        check_table(report, inputs, force=force, or_page=page is not None)
    fields = scheme.columns if scheme is not None else ()
    columns = [*fields, *([policy.field] if policy.field else [])]
    with followed(progress) as follow:
        documents = read(
            inputs,
            text=text,
            id=id,
            columns=columns,
            format=format,
            quoting=quoting,
            glob=glob,
            strict=strict,
            max_bytes=max_bytes,
            progress=follow,
        )
    table, keep = _table(documents, text, fields, policy)
    try:
        result = dedup(
            table,
            text=text,
            id=_ID,
            scheme=scheme,
            preset=preset,
            threshold=threshold,
            keep=keep,
            verify=verify,
            gather=gather,
            representative=representative,
            ignore_common=ignore_common,
            threads=threads,
            progress=progress,
        )
    except ValueRefused as error:
        place = "{}:{}".format(*documents.place(error.row))
        raise ValueRefused(place, f"its {policy.field!r} {error.rule}", error.code, error.row) from error
    done = FilesResult(replace(result, source=None), documents.rejected, documents)
    if report is not None:
        _write_report(report, done, page, force=force)
    if dropped is not None:
        documents.write(dropped, result.representatives >= 0, force=force)
    if mark is not None:
        documents.write_marked(mark, _marks(result, documents), force=force)
    if out is not None:
        documents.write(out, result.kept, force=force)
    return done


def _table(documents: Collection, text: str, fields: Sequence[str], policy: Policy) -> tuple[pa.Table, str]:
    """Return the columns of the documents that ``dedup`` needs, and the keep policy for that table."""
    table: dict[str, Any] = {text: documents.texts, _ID: documents.ids}
    _add_fields(table, documents, fields)
    keep = policy.keep if policy.field is None else _add_ranking(table, documents, policy.field, policy.keep)
    return pa.table(table), keep


def _marks(result: Result, documents: Collection) -> pa.Table:
    """Return each document's cluster, the position of its kept document, and the id of that document."""
    names = documents.ids.cast(pa.large_string()).take(pa.array(result.clusters))
    marks = {"neardup_cluster": result.clusters, "neardup_kept": result.mask, "neardup_representative": names}
    return pa.table(marks)


def _write_report(path: AnyPath, done: FilesResult, page: Page | None, *, force: bool) -> None:
    if page is not None and is_page(path):
        write_file(path, page(done), PAGES, force=force)
    else:
        write_table(path, done.result.decisions, force=force)


def _check_scheme(scheme: Scheme | None, ignore_common: float | CommonShingles | None) -> None:
    """Refuse, before anything is read, a scheme or list that ``dedup`` would refuse."""
    if scheme is not None:
        require_scheme(scheme, "sign_at")
    if ignore_common is not None:
        require_fitting(ignore_common, scheme)


def _check_paths(inputs: Sequence[AnyPath], outputs: Mapping[str, AnyPath | None]) -> None:
    """Refuse values that are not paths, and two outputs of one name, or one inside the other."""
    for name, path in [*(("inputs", path) for path in inputs), *outputs.items()]:
        if path is not None or name == "inputs":
            require_path(name, path)
    named = ((name, os.fspath(path)) for name, path in outputs.items() if path is not None)
    places = [(name, path, Path(os.path.realpath(path))) for name, path in named if path != os.devnull]
    for (name, _, place), (other, path, second) in combinations(places, 2):
        same = place == second or (place.exists() and second.exists() and place.samefile(second))
        if same or place.is_relative_to(second) or second.is_relative_to(place):
            raise OutputRefused(path, f"{name} and {other} must be separate paths, none inside the other")


def _add_fields(table: dict[str, Any], documents: Collection, fields: Sequence[str]) -> None:
    """Add the fields that are signed, as they are written; ``body`` may be missing, as the text replaces it."""
    for name in fields:
        try:
            if name not in table:
                table[name] = documents.column(name, literal=True)
        except FieldMissing:
            if name != BODY:
                raise


def _add_ranking(table: dict[str, Any], documents: Collection, field: str, keep: str) -> str:
    """Add the field that ranks, by its values; return the keep policy for the table."""
    name = field if field not in table else f"{_RANK}{field}"  # signed as written, ranked by value
    table[name] = documents.column(field)
    return f"{keep.partition(':')[0]}:{name}"
