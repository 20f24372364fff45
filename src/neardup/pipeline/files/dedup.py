"""Deduplication of files: read, decide, and write the kept documents and the evidence."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa

from neardup.engines.executors import Executors
from neardup.engines.local import LocalEngine, thread_count
from neardup.engines.memory import available_memory
from neardup.model.errors import (
    FieldMissing,
    ParameterConflict,
    ParameterError,
    ValueRefused,
    require,
    require_name,
    require_path,
    require_sequence,
    require_whole,
)
from neardup.model.policy import CANONICAL, Gather, Policy, Representative, Verify
from neardup.model.protocols import Scheme
from neardup.pipeline.corpus.comparison import require_policy
from neardup.pipeline.corpus.documents import SITE
from neardup.pipeline.corpus.memory import LEAST_MEMORY, MEMORY
from neardup.pipeline.corpus.result import Result, totals, with_places
from neardup.pipeline.corpus.revisits import revisit_rows
from neardup.pipeline.corpus.run import chosen_scheme, deduplicated
from neardup.pipeline.crawl.templates import TemplatesFile
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.checksum import BODY
from neardup.sources.collection import DEFAULT_URL, Collection, Quoting, Rejected, check_marks
from neardup.sources.formats import STDIN, WARC, Kind, common_format, expand, is_url, kind, local, require_once
from neardup.sources.output import (
    PAGES,
    AnyPath,
    check_separate,
    check_table,
    check_target,
    is_page,
    is_special,
    write_file,
    write_table,
)
from neardup.sources.read import AUTO, MAX_BYTES, read, request_of
from neardup.text.common_shingles import CommonShingles
from neardup.text.extraction import Extraction

if TYPE_CHECKING:  # runs in pieces are loaded when there is one
    from neardup.pipeline.spilled.forecast import Forecast
    from neardup.pipeline.spilled.stored import StoredDocuments, StoredResult

DOCUMENT: Final = (
    "\0id"  # the column of the ids, a name that no field has: the field may rank documents, by its numbers
)
_RANK: Final = "\0rank of "
_EXPANDED: Final = 4  # bytes of text in a byte of a compressed file
_NEEDED: Final = 3  # bytes of memory for a byte of text
_PLAIN: Final = (None, Kind("jsonl"), Kind("csv"), Kind("tsv"))
_WORK: Final = ".neardup-work"
_LARGE: Final = 1 << 30  # bytes: smaller runs always fit


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FilesResult:
    """The result of ``dedup_files``.

    ``result`` is that of ``dedup``, with the same attributes; ``rejected`` are the records that are not documents, each
    with its location, the reason and a ``code``; ``documents`` are the others.
    """

    result: "Result | StoredResult"
    rejected: list[Rejected]
    documents: "Collection | StoredDocuments"

    def __repr__(self) -> str:
        return f"FilesResult({totals(self.result.summary)}, rejected={len(self.rejected):,})"


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
    measure: str | None = None,
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
    extraction: Extraction = AUTO,
    html: str | None = None,
    url: str = DEFAULT_URL,
    learn_templates: AnyPath | None = None,
    mark: AnyPath | None = None,
    revisits: bool = False,
    out_format: str | None = None,
    part_size: int | None = None,
    work: AnyPath | None = None,
    memory: int = MEMORY,
    restart: bool = False,
    keep_work: bool = False,
    state: AnyPath | None = None,
    for_index: bool = False,
    against: AnyPath | Sequence[AnyPath] | None = None,
    executors: Executors | None = None,
    progress: bool | Progress | None = None,
) -> FilesResult:
    """Deduplicate files: write the kept records to *out*, in the inputs' columns and order; return a ``FilesResult``.

    The ending of *out*, *dropped* and *mark* decides their format; records of the same format are copied unchanged.
    ``neardup.sources.tables`` explains the conversion of others, and which values are a ``DataError``.

    *report* (``.parquet`` or ``.jsonl``) receives the decisions, *dropped* the removed records. *mark* receives every
    document with three more fields: ``neardup_cluster``, the position of its representative, which all documents of a
    cluster share; ``neardup_kept``, whether it is the representative; ``neardup_representative``, the id of the
    representative. ``None`` writes nothing. With *page*, a function that renders a run, *report* may end in ``.html``
    or ``.htm``, and receives that page. Outputs are checked before anything is read, must be different files, and
    appear only when complete, *out* last. With *revisits*, *out* must be an archive; it has revisit records for the
    dropped pages whose payload is equal byte by byte to that of their representative.

    With *work*, the run is one in pieces: it uses that folder, which it makes, and about *memory* bytes of memory
    besides 80 bytes for each document; the answer is the same. If it is interrupted, the same call continues it; with
    *restart* it begins again. The folder is removed at the end, unless *keep_work*: then ``audit_files`` can read what
    was decided, and a later run of the same inputs with another policy does not sign them again. A run in pieces also
    reads inputs of several formats, and folders of tables; if *out*, *dropped* or *mark* has no known ending, it is a
    folder, which receives one file for each input, or with *part_size* numbered files (``part-00000.jsonl``) of about
    that many bytes of text, in the format *out_format* (``parquet``, ``jsonl.zst``, ...; default: that of the inputs).

    With *against*, the documents are compared with those of a state, of an index with texts or of other files, too:
    these rank before all of the inputs, and are in no output. The decisions on the inputs are those of one run over
    both. *state* is a folder that does the same, and to which the run adds its documents; it is made if there is none.
    Both are runs in pieces; the default for *work* is then a folder inside the state, next to the first output, or a
    temporary one. With *for_index*, the first run with a state decides that it has all that ``Index.fill`` needs for an
    index without texts and fields; later runs need not repeat it.

    With *learn_templates*, the name of a file of templates (``.arrow``), the templates of hosts that it does not have
    are learned from the inputs, which are web pages, and added to it; then the pages are read with all of them. Those
    that it has stay as they are. The file need not exist, and *extraction* must have no other templates. If the run is
    interrupted, the same call reads the inputs again, but learns nothing else.

    *executors*, such as those of ``neardup.spark``, do most tasks of a run in pieces, in processes of their own.
    Everything else is as in ``dedup`` and ``neardup.sources.read``. Raises
    ``ParameterError``, ``DataError`` and ``OutputError``.
    """
    policy = Policy(keep=keep, verify=verify, gather=gather, representative=representative)
    require_name("text", text)
    require(text != id, "id", id, "must be another field than the text")
    chosen, common = chosen_scheme(scheme, preset, threshold, ignore_common, measure)
    require_policy(chosen, policy)
    threads = thread_count(threads)
    given_outputs = {"out": out, "report": report, "dropped": dropped, "mark": mark}
    _check_paths(require_sequence("inputs", inputs, "names"), given_outputs, learn_templates, revisits=revisits)
    outputs = {name: None if path is None else local(path) for name, path in given_outputs.items()}
    file = None if learn_templates is None else TemplatesFile.opened(learn_templates, extraction, inputs)
    extraction = extraction if file is None else file.extraction
    reading: dict[str, Any] = {"text": text, "id": id, "columns": [*dict.fromkeys([*chosen.columns, *policy.fields])]}
    reading |= {"format": format, "quoting": quoting, "glob": glob, "extraction": extraction, "html": html, "url": url}
    reading |= {"strict": strict, "max_bytes": max_bytes}
    known = _known(state, against, for_index=for_index)
    if "state" in known and gather == "components":
        raise ParameterConflict("gather", gather, "against" if state is None else "state", str(known["state"]))
    if work is None and known:
        work = _work_of(state, *outputs.values())
    unasked = None if work is not None or out is None else _work_if_large(inputs, out)
    work = unasked if work is None else work
    if work is None and not known:
        _refuse_parts(part_size=part_size, out_format=out_format, keep_work=keep_work or None)
        require(executors is None, "work", work, "must be a folder that the executors see")
        _check_outputs(outputs, inputs, force=force, format=format, glob=glob, page=page is not None)
        with followed(progress) as follow, LocalEngine(threads) as engine:
            if file is not None:
                common_format(expand(inputs), format)
                reading["extraction"] = file.extended(inputs, request_of(**reading), follow)
            documents = read(inputs, threads=threads, progress=follow, **reading)
            done = _decided(documents, chosen, common, policy, engine, follow)
        _write(done, outputs, page, force=force, revisits=revisits)
        return done
    from neardup.pipeline.spilled.files import RunSettings, check_run, dedup_in_pieces

    compared, indexes = known.get("compared", ()), known.get("indexes", ())
    require_once((*expand(inputs), *(expand(compared) if compared else ()), *(index.path for index in indexes)))
    with _work_folder(work) as folder, followed(progress) as follow, LocalEngine(threads) as engine:
        chosen, share = _listed(chosen, common, known)
        settings = RunSettings(
            request=request_of(**reading),
            scheme=chosen,
            ignore_common=share,
            policy=policy,
            work=folder,
            memory=require_whole("memory", memory, LEAST_MEMORY, unit="bytes"),
            restart=restart,
            keep_work=keep_work,
            force=force,
            outputs={name: os.fspath(path) for name, path in outputs.items() if path is not None},
            part_size=None if part_size is None else require_whole("part_size", part_size, 1, unit="bytes"),
            out_format=out_format,
            revisits=revisits,
            page=None if page is None else lambda done: page(_stored(done)),
            announce=_announce if unasked else lambda _: None,
            **known,
            executors=executors,
        )
        if file is not None:
            check_run(inputs, settings)
            learned = file.extended(inputs, settings.request, follow)
            settings = replace(settings, request=replace(settings.request, extraction=learned))
        return _stored(dedup_in_pieces(inputs, settings, engine, follow))


def _decided(  # noqa: PLR0913, PLR0917 - as deduplicated
    documents: Collection,
    scheme: Scheme,
    common: float | CommonShingles | None,
    policy: Policy,
    engine: LocalEngine,
    progress: Progress,
) -> FilesResult:
    """Decide the documents of files in memory; an error names their places."""
    table, keep = ranked_table(documents, documents.text, scheme.columns, policy)
    ranked = replace(policy, keep=keep)
    try:
        result = deduplicated(table, documents.text, DOCUMENT, scheme, common, ranked, engine, progress)
    except ValueRefused as error:
        place = "{}:{}".format(*documents.place(error.row))
        field = error.field.removeprefix(_RANK)
        raise ValueRefused(place, f"its {field!r} {error.rule}", error.code, error.row, field) from error
    decisions = with_places(result.decisions, documents.places())
    summary = replace(result.summary, policy=policy)
    return FilesResult(
        replace(result, decisions=decisions, source=None, summary=summary), documents.rejected, documents
    )


def _write(
    done: FilesResult, outputs: Mapping[str, AnyPath | None], page: Page | None, *, force: bool, revisits: bool
) -> None:
    """Write the outputs of a run in memory, the kept documents last."""
    result, documents = cast("Result", done.result), cast("Collection", done.documents)
    if (report := outputs["report"]) is not None:
        _write_report(report, done, page, force=force)
    if (dropped := outputs["dropped"]) is not None:
        documents.write(dropped, result.representatives >= 0, force=force)
    if (mark := outputs["mark"]) is not None:
        documents.write_marked(mark, _marks(result, documents), force=force)
    if (out := outputs["out"]) is not None:
        originals = documents.originals(result.representatives) if revisits else None
        documents.write(out, result.kept, originals=originals, force=force)


def _refuse_parts(**options: object) -> None:
    for name, value in options.items():
        require(value is None, name, value, "can only be used with a work folder")


def _work_if_large(inputs: Sequence[AnyPath], out: AnyPath) -> str | None:
    """Return the work folder of a run whose inputs would not fit into memory, and warn; ``None`` if they fit."""
    paths = [path for path in expand(inputs) if path != STDIN and Path(path).is_file()]
    size = sum(Path(path).stat().st_size * (1 if kind(path) in _PLAIN else _EXPANDED) for path in paths)
    if _NEEDED * size < _LARGE or is_special(os.fspath(out)) or is_url(os.fspath(out)) or STDIN in inputs:
        return None
    there = available_memory()
    if there is None or _NEEDED * size <= there:
        return None
    folder = f"{os.fspath(out).rstrip(os.sep)}{_WORK}"
    warnings.warn(
        f"these inputs need about {_NEEDED * size / 1e9:,.0f} GB of memory, and {there / 1e9:,.0f} GB are available:"
        f" intermediate files are kept in {folder}; if the run is interrupted, the same command continues it",
        RuntimeWarning,
        stacklevel=3,
    )
    return folder


def _announce(found: "Forecast") -> None:
    """Report what a run that was not asked to be one in pieces needs."""
    from neardup.pipeline.spilled.forecast import amount

    minutes = f"{max(1, found.seconds / 60):,.0f} min"
    warnings.warn(
        f"this run of about {found.documents:,} documents needs about {amount(found.disk)} of disk and {minutes};"
        " more disk if more documents have similar ones",
        RuntimeWarning,
        stacklevel=2,
    )


def _known(state: AnyPath | None, against: AnyPath | Sequence[AnyPath] | None, *, for_index: bool) -> dict[str, Any]:
    """Return the settings for the documents that those of the inputs are compared with."""
    require(state is not None or not for_index, "for_index", for_index, "can only be used with a state")
    if state is not None:
        if against is not None:
            raise ParameterConflict("against", against, "state", state)
        return {"state": Path(require_path("state", state)), "adds": True, "for_index": for_index}
    if against is None:
        return {}
    from neardup.engines.journal import is_work
    from neardup.index.disk.manifest import NAME as MANIFEST
    from neardup.pipeline.index.texts import IndexTexts
    from neardup.pipeline.spilled.state import is_state

    paths = [against] if isinstance(against, str | os.PathLike) else require_sequence("against", against, "names")
    for path in paths:
        require_path("against", path)
        rule = "must be the only one, because it is a state; add the documents of the others to it first"
        require(len(paths) == 1 or not is_state(Path(path)), "against", os.fspath(path), rule)
        rule = "is the work folder of a run; compare with a state, with an index with texts, or with files"
        require(not is_work(Path(path)), "against", os.fspath(path), rule)
    if len(paths) == 1 and is_state(Path(paths[0])):
        return {"state": Path(paths[0])}
    indexes = [path for path in paths if (Path(path) / MANIFEST).is_file()]
    return {
        "compared": tuple(os.fspath(path) for path in paths if path not in indexes),
        "indexes": tuple(IndexTexts(os.fspath(path)) for path in indexes),
    }


def _work_of(state: AnyPath | None, *outputs: AnyPath | None) -> Path | None:
    """Return the work folder of a run that names none; ``None`` if it has no outputs either."""
    if state is not None:
        from neardup.pipeline.spilled.state import WORK

        return Path(state, WORK)
    known = (os.fspath(path) for path in outputs if path is not None)
    named = [path for path in known if not is_special(path) and not is_url(path)]
    return Path(f"{named[0].rstrip(os.sep)}{_WORK}") if named else None


@contextmanager
def _work_folder(path: AnyPath | None) -> Iterator[Path]:
    """Yield the work folder; a temporary one without a path, as there is nothing to continue a run for."""
    if path is not None:
        yield Path(require_path("work", path))
    else:
        with TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)


def _stored(result: "StoredResult") -> FilesResult:
    return FilesResult(result, result.documents.rejected, result.documents)


def _check_outputs(  # noqa: PLR0913 - the outputs, and how they are checked
    outputs: Mapping[str, AnyPath | None],
    inputs: Sequence[AnyPath],
    *,
    force: bool,
    format: str | None,  # noqa: A002 - what users call it
    glob: Sequence[str],
    page: bool,
) -> None:
    """Raise the errors of writing the outputs before anything is read."""
    paths = expand(inputs)
    found = common_format(paths, format)
    for name, path in outputs.items():
        if path is not None and name == "report":
            check_table(path, paths, force=force, or_page=page)
        elif path is not None:
            check_target(path, paths, found, force=force, glob=glob)
    if (mark := outputs["mark"]) is not None:
        check_marks(os.fspath(mark), {found})


def _listed(
    scheme: Scheme, common: float | CommonShingles | None, known: Mapping[str, Any]
) -> tuple[Scheme, float | None]:
    """Return a scheme with a list of common shingles, or the share that finds this list."""
    if isinstance(common, CommonShingles):
        return scheme.with_common(common), None
    rule = "cannot be used with a state, all of whose runs need the same list: find that first"
    if common is not None and "state" in known:
        raise ParameterError("ignore_common", common, rule, "share with state")
    return scheme, common


def ranked_table(documents: Collection, text: str, fields: Sequence[str], policy: Policy) -> tuple[pa.Table, str]:
    """Return the columns of the documents that ``dedup`` needs, and the keep policy for that table."""
    table: dict[str, Any] = {text: documents.texts, DOCUMENT: documents.ids}
    if documents.sites is not None:
        table[SITE] = documents.sites
    _add_fields(table, documents, fields)
    keep = ",".join(_add_ranking(table, documents, each) for each in policy.keep.split(","))
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
        result, documents = done.result, done.documents
        schema = result.decisions.schema
        rows = revisit_rows(documents.revisits, documents.places(), documents.ids, result.representatives, schema)
        write_table(path, [result.decisions, *rows], force=force)


def _check_paths(
    inputs: Sequence[AnyPath], outputs: Mapping[str, AnyPath | None], templates: AnyPath | None, *, revisits: bool
) -> None:
    """Refuse values that are not paths, two outputs of one name, or one inside the other, and revisits elsewhere."""
    written = {**outputs, "learn_templates": templates}
    for name, path in [*(("inputs", path) for path in inputs), *written.items()]:
        if path is not None or name == "inputs":
            require_path(name, path)
    check_separate(written)
    found = None if outputs["out"] is None else kind(os.fspath(outputs["out"]))
    is_archive = found is not None and found.format == WARC
    require(is_archive or not revisits, "revisits", revisits, "requires a web archive as output (.warc or .warc.gz)")


def _add_fields(table: dict[str, Any], documents: Collection, fields: Sequence[str]) -> None:
    """Add the fields that are signed, as they are written; ``body`` may be missing, as the text replaces it."""
    for name in fields:
        try:
            if name not in table:
                table[name] = documents.column(name, literal=True)
        except FieldMissing:
            if name != BODY:
                raise


def _add_ranking(table: dict[str, Any], documents: Collection, keep: str) -> str:
    """Add the field of a part of the keep policy, by its values; return that part for the table."""
    kind, _, field = keep.partition(":")
    if kind == CANONICAL and CANONICAL not in table:
        table[CANONICAL] = documents.column(CANONICAL, literal=True)
    if not field:
        return keep
    name = field if field not in table else f"{_RANK}{field}"  # signed as written, ranked by value
    table[name] = documents.column(field)
    return f"{kind}:{name}"
