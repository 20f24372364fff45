"""Deduplication of files that fit into memory: decide the documents, and write the outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from neardup.engines.local import LocalEngine
from neardup.model.errors import FieldMissing, ValueRefused
from neardup.model.policy import Policy
from neardup.pipeline.corpus.address_ranks import written_fields
from neardup.pipeline.corpus.documents import ADDRESS, SITE
from neardup.pipeline.corpus.report import reading_terms, write_report
from neardup.pipeline.corpus.result import Result, marks_of, require_unmarked, with_places
from neardup.pipeline.corpus.run import deduplicated
from neardup.pipeline.corpus.same_host_drops import SameHostDrops
from neardup.pipeline.progress import Progress
from neardup.pipeline.run_settings import RunSettings
from neardup.schemes.checksum import BODY
from neardup.sources.collection import Collection, WholeInputs, check_marks
from neardup.sources.formats import PAGE_FORMATS, common_format, expand
from neardup.sources.output import PAGES, AnyPath, check_table, check_target, is_page, output_kind, write_file
from neardup.sources.output_places import InputPaths
from neardup.sources.tables import check_representable

DOCUMENT: Final = "\0id"  # the column of ids, a name that no field has: the field may rank documents, by its numbers
_RANK: Final = "\0rank of "


def check_outputs(inputs: Sequence[AnyPath], settings: RunSettings, *, or_page: bool) -> None:
    """Raise the errors of writing the outputs before anything is read; a report may be a page if that is rendered."""
    paths, request = expand(inputs), settings.request
    found = common_format(paths, request.format)
    for name, path in settings.outputs.items():
        if name == "report":
            check_table(path, paths, force=settings.force, or_page=or_page)
        else:
            check_target(path, InputPaths(paths), found, force=settings.force, glob=request.globs)
    if (mark := settings.outputs.get("mark")) is not None:
        check_marks(mark, {found})


def writes_texts(inputs: Sequence[AnyPath], settings: RunSettings) -> bool:
    """Return whether pages of archives or folders are written as texts, in another format."""
    found = common_format(expand(inputs), settings.request.format)
    others = (output_kind(path, found).format != found for name, path in settings.outputs.items() if name != "report")
    return found in PAGE_FORMATS and any(others)


def check_documents(documents: WholeInputs, outputs: Mapping[str, str]) -> None:
    """Raise ``DataError`` for documents that an output cannot have, before any output is written."""
    for name, path in outputs.items():
        form = output_kind(path, documents.format).format
        if name != "report" and form != documents.format:
            check_representable(", ".join(documents.names), documents.schema, form)
    for piece in documents.pieces if "mark" in outputs else ():
        require_unmarked(piece)


def decided_documents(
    documents: WholeInputs, settings: RunSettings, engine: LocalEngine, progress: Progress
) -> tuple[Result, pa.Table | None]:
    """Decide the documents of files; an error names their places.

    Return the result, and where the records of the representatives are, if there are revisit records to write.
    """
    scheme, policy = settings.scheme, settings.policy
    table, keep = ranked_table(documents, documents.text, scheme.columns, policy)
    ranked = replace(policy, keep=keep)
    try:
        common = settings.ignore_common
        result = deduplicated(table, documents.text, DOCUMENT, scheme, common, ranked, engine, progress)
    except ValueRefused as error:
        error.field = error.field.removeprefix(_RANK)
        raise error.at(documents.place(error.row)) from error
    decisions = with_places(result.decisions, documents.places())
    drops, exact = None, result.decisions["exact"].to_numpy()
    if documents.without_templates:
        drops = SameHostDrops.of(documents.ids, documents.places(), result.representatives, exact)
    originals = documents.originals(result.representatives) if settings.revisits else None
    missing = 0 if originals is None else originals.filter(decisions["exact"])["offset"].null_count
    summary = replace(result.summary, policy=policy, same_host_drops=drops, revisits_missing=missing)
    return replace(result, decisions=decisions, source=None, summary=summary), originals


def write_outputs(
    result: Result,
    documents: WholeInputs,
    settings: RunSettings,
    *,
    originals: pa.Table | None,
    page: Callable[[], bytes] | None,
) -> None:
    """Write the outputs of a run, the kept documents last; *page* renders a report that is a page.

    *originals* are those of ``decided_documents``.
    """
    outputs, force, request = settings.outputs, settings.force, settings.request
    if (report := outputs.get("report")) is not None and page is not None and is_page(report):
        write_file(report, page(), PAGES, force=force)
    elif report is not None:
        pages = request.extraction.identity if request.reads_pages([documents.format]) else None
        scheme: Any = settings.scheme
        if result.summary.common is not None:
            scheme = scheme.with_common(result.summary.common)
        terms: dict[str, Any] = {"scheme": scheme, "policy": settings.policy, "reading": reading_terms(request, pages)}
        write_report(report, [result.decisions], documents, result.representatives, **terms, force=force)
    if (dropped := outputs.get("dropped")) is not None:
        documents.write(dropped, result.representatives >= 0, force=force)
    if (mark := outputs.get("mark")) is not None:
        documents.write_marked(mark, marks_of(result.clusters, result.mask, documents.ids), force=force)
    if (out := outputs.get("out")) is not None:
        documents.write(out, result.kept, originals=originals, force=force)


def ranked_table(documents: Collection, text: str, fields: Sequence[str], policy: Policy) -> tuple[pa.Table, str]:
    """Return the columns of the documents that ``dedup`` needs, and the keep policy for that table."""
    table: dict[str, Any] = {text: documents.texts, DOCUMENT: documents.ids}
    if documents.sites is not None:
        table[SITE] = documents.sites
    if policy.ranks_addresses:
        table[ADDRESS] = documents.addresses
    for name in fields:  # those that are signed, as they are written
        try:
            if name not in table:
                table[name] = documents.column(name, literal=True)
        except FieldMissing:
            if name != BODY:  # the text replaces it
                raise
    table = written_fields(documents, policy) | table
    keep = ",".join(_add_ranking(table, documents, each) for each in policy.keep.split(","))
    return pa.table(table), keep


def _add_ranking(table: dict[str, Any], documents: Collection, keep: str) -> str:
    """Add the field of a part of the keep policy, by its values; return that part for the table."""
    kind, _, field = keep.partition(":")
    if not field:
        return keep
    name = field if field not in table else f"{_RANK}{field}"  # signed as written, ranked by value
    table[name] = documents.column(field)
    return f"{kind}:{name}"
