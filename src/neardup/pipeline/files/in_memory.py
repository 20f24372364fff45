"""Deduplication of files that fit into memory: decide the documents, and write the outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from neardup.engines.local import LocalEngine
from neardup.model.errors import FieldMissing, ValueRefused
from neardup.model.policy import Policy
from neardup.pipeline.corpus.address_ranks import written_fields
from neardup.pipeline.corpus.documents import SITE, Documents
from neardup.pipeline.corpus.report import reading_terms, revisit_rows, write_report
from neardup.pipeline.corpus.result import MARKS, Result, marks_of, with_places
from neardup.pipeline.corpus.run import deduplicated
from neardup.pipeline.progress import Progress
from neardup.pipeline.run_settings import RunSettings
from neardup.schemes.checksum import BODY
from neardup.sources.collection import Collection, require_new
from neardup.sources.formats import PAGE_FORMATS, first_names
from neardup.sources.inputs import Inputs
from neardup.sources.output import PAGES, check_table, check_target, is_page, output_kind, write_file
from neardup.sources.output_places import InputPaths
from neardup.sources.plain_columns import check_values
from neardup.sources.tables import check_representable
from neardup.sources.whole_inputs import WholeInputs, check_marks
from neardup.text.columns import text_column


def check_outputs(inputs: Inputs, settings: RunSettings, *, or_page: bool) -> None:
    """Raise the errors of writing the outputs before anything is read; a report may be a page if that is rendered."""
    where = InputPaths(inputs.paths)
    for name, path in settings.outputs.items():
        if name == "report":
            check_table(path, inputs.paths, force=settings.force, or_page=or_page, name=name)
        else:
            check_target(path, where, inputs.formats, force=settings.force, name=name)
    if (mark := settings.outputs.get("mark")) is not None:
        check_marks(mark, inputs.formats)


def writes_texts(inputs: Inputs, settings: RunSettings) -> bool:
    """Return whether pages of archives or folders are written as texts, in another format."""
    return any(_forms(settings.outputs, form) != {form} for form in inputs.formats & PAGE_FORMATS)


def check_documents(documents: WholeInputs, outputs: Mapping[str, str]) -> None:
    """Raise ``DataError`` for documents that an output cannot have, before any output is written."""
    forms = _forms(outputs, documents.format)
    own = documents.formats & forms if len(documents.formats) == 1 else set()
    first = documents.pieces[0]
    for piece in documents.pieces if own else ():
        piece.require_columns(piece.source, piece.columns, first.columns, first.source)
    for form in sorted(forms - own):
        check_representable(first_names(documents.names), documents.schema, form)
    for piece in documents.pieces:
        if forms - own and piece.format == "parquet":
            check_values(piece.source, piece.rows())
        if "mark" in outputs:
            require_new(piece.source, MARKS, [name for name in MARKS if piece.lacking(name) is None])


def _forms(outputs: Mapping[str, str], own: str) -> set[str]:
    """Return the formats of the outputs that have documents; those without an ending have their *own*."""
    return {output_kind(path, own).format for name, path in outputs.items() if name != "report"}


def decided_documents(
    documents: WholeInputs, settings: RunSettings, engine: LocalEngine, progress: Progress
) -> tuple[Result, pa.Table | None]:
    """Decide the documents of files; an error names their places.

    Return the result, and where the records of the representatives are, if there are revisit records to write.
    """
    scheme, policy = settings.scheme, settings.policy
    ranked = _ranked(documents, scheme.columns, policy)
    try:
        result = deduplicated(ranked, scheme, settings.ignore_common, policy, engine, progress)
    except ValueRefused as error:
        raise error.at(documents.place(error.row)) from error
    decisions = with_places(result.decisions, documents.places())
    originals = documents.originals(result.representatives) if settings.revisits else None
    missing = 0 if originals is None else originals.filter(decisions["exact"])["offset"].null_count
    summary = replace(result.summary, revisits_missing=missing)
    return replace(result, decisions=decisions, summary=summary), originals


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
        pages = request.extraction.identity if request.reads_pages(documents.formats) else None
        scheme: Any = settings.scheme
        if result.summary.common is not None:
            scheme = scheme.with_common(result.summary.common)
        terms: dict[str, Any] = {"scheme": scheme, "policy": settings.policy, "reading": reading_terms(request, pages)}
        revisits = revisit_rows(documents, result.representatives, result.decisions.schema)
        write_report(report, [result.decisions, *revisits], **terms, force=force)
    if (dropped := outputs.get("dropped")) is not None:
        documents.write(dropped, result.representatives >= 0, force=force)
    if (mark := outputs.get("mark")) is not None:
        documents.write(mark, slice(None), marks_of(result.clusters, result.mask, documents.ids), force=force)
    if (out := outputs.get("out")) is not None:
        documents.write(out, result.kept, originals, force=force)


def _ranked(documents: Collection, fields: Sequence[str], policy: Policy) -> Documents:
    """Return the documents with the columns that ``dedup`` needs: the *fields* as they are written, others by value."""
    table: dict[str, Any] = {documents.text: documents.texts}
    if documents.sites is not None:
        table[SITE] = documents.sites
    for name in fields:
        try:
            if name not in table:
                table[name] = documents.column(name, literal=True)
        except FieldMissing:
            if name != BODY:  # the text replaces it
                raise
    ranking: dict[str, Any] = written_fields(documents, policy)
    ranking |= {name: documents.column(name) for name in policy.value_fields}
    addresses = documents.addresses if policy.ranks_addresses else None
    texts = text_column(documents.texts)
    return Documents(texts, documents.ids, pa.table(table), True, pa.table(ranking), addresses)
