"""Deduplication of files: read, decide, and write the kept documents and the evidence."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final, Literal, cast

from neardup.engines.executors import Executors
from neardup.engines.files import why_no_folder
from neardup.engines.local import LocalEngine, thread_count
from neardup.engines.processes import Processes
from neardup.engines.resources import available_memory
from neardup.model.errors import (
    NeardupError,
    OutputRefused,
    ParameterConflict,
    ParameterError,
    require,
    require_flag,
    require_function,
    require_other_fields,
    require_path,
    require_paths,
    require_whole,
)
from neardup.model.folders import BESIDE, WORK
from neardup.model.memory import LEAST_OF_RUN, OF_RUN
from neardup.model.policy import Gather, Policy, Representative, Verify
from neardup.pipeline.corpus.documents import needs_text
from neardup.pipeline.corpus.memory import needed_memory
from neardup.pipeline.corpus.result import Result, totals
from neardup.pipeline.corpus.run import chosen_scheme
from neardup.pipeline.crawl.file_templates import templates_of
from neardup.pipeline.files.in_memory import (
    check_documents,
    check_outputs,
    decided_documents,
    write_outputs,
    writes_texts,
)
from neardup.pipeline.progress import Progress, followed
from neardup.pipeline.run_settings import EarlierDocuments, RunSettings
from neardup.schemes.scheme import Scheme
from neardup.schemes.thresholds import require_policy
from neardup.sources.first_records import first_records
from neardup.sources.formats import FOLDER, STDIN, WARC, AnyPath, Kind, is_pipe, is_url, kind, local, local_folder
from neardup.sources.inputs import Inputs, inputs_of, require_once
from neardup.sources.output import check_separate, is_folder, is_special, temporary_folder
from neardup.sources.output_places import InputPaths
from neardup.sources.patterns import is_pattern
from neardup.sources.read import read_requested
from neardup.sources.record_faults import Rejected
from neardup.sources.request import AUTO, MAX_BYTES, Quoting, Request
from neardup.text.columns import text_column
from neardup.text.common_shingles import CommonShingles
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates

if TYPE_CHECKING:  # runs in pieces are loaded when there is one
    from neardup.pipeline.spilled.changes import Continuation
    from neardup.pipeline.spilled.forecast import Forecast
    from neardup.pipeline.spilled.state import State
    from neardup.pipeline.spilled.stored_documents import StoredDocuments, StoredResult
    from neardup.sources.whole_inputs import WholeInputs

_LARGE: Final = 1 << 24  # bytes of inputs: smaller ones always fit
_LOADED: Final = 10**8  # bytes of the libraries and kernels that a run loads
_OF_PIECES: Final = 4 * 10**8  # bytes that a run in pieces needs in any case
_PLACE: Final = 16  # bytes: where a record is in its file


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FilesResult:
    """The result of ``dedup_files``.

    ``result`` is that of ``dedup``, with the same attributes; ``rejected`` are the records that are not documents, each
    with its location, the reason and a ``code``; ``documents`` are the others. ``templates`` are those that web pages
    were read with, ``None`` without any; the run learned those of ``hosts_learned`` hosts.
    """

    result: "Result | StoredResult"
    rejected: list[Rejected]
    documents: "WholeInputs | StoredDocuments"
    templates: HostTemplates | None = None
    hosts_learned: int = 0

    def __repr__(self) -> str:
        return f"FilesResult({totals(self.result.summary)}, rejected={len(self.rejected):,})"

    def _repr_html_(self) -> str:
        """Return the numbers as a small table, for notebooks."""
        return self.result._repr_html_()


PageRenderer = Callable[[FilesResult], bytes]


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
    page: PageRenderer | None = None,
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
    url: str | None = None,
    learn_templates: AnyPath | Literal[False] | None = None,
    mark: AnyPath | None = None,
    revisits: bool = False,
    out_format: str | None = None,
    part_size: int | None = None,
    work: AnyPath | None = None,
    memory: int | None = None,
    restart: bool = False,
    keep_work: bool = False,
    state: AnyPath | None = None,
    for_index: bool = False,
    against: AnyPath | Sequence[AnyPath] | None = None,
    executors: Executors | None = None,
    forecast: "Callable[[Forecast], None] | None" = None,
    continued: "Callable[[Continuation], None] | None" = None,
    progress: bool | Progress | None = None,
) -> FilesResult:
    """Deduplicate files: write the kept records to *out*, in the inputs' columns and order; return a ``FilesResult``.

    The ending of *out*, *dropped* and *mark* decides their format; records of the same format are copied unchanged.
    ``neardup.sources.tables`` explains the conversion of others, and which values are a ``DataError``.

    *report* (``.parquet`` or ``.jsonl``, or a folder) receives the decisions, *dropped* the removed records. *mark*
    receives every document with three more fields: ``neardup_cluster``, the position of its representative, which all
    documents of a cluster share; ``neardup_kept``, whether it is the representative; ``neardup_representative``, the id
    of the representative. ``None`` writes nothing. With *page*, a function that renders a run, *report* may end in
    ``.html`` or ``.htm``, and receives that page. Outputs are checked before anything is read, must be different files,
    and appear only when complete, *out* last. With *revisits*, *out* must be an archive; it has revisit records for the
    dropped pages whose payload is equal byte by byte to that of their representative.

    With *work*, the run is one in pieces: it uses that folder, which it makes, and about *memory* bytes of memory
    (default: 2 GiB) besides 80 bytes for each document; the answer is the same. If it is interrupted, the same call
    continues it; with *restart* it begins again. The folder is removed at the end, unless *keep_work*: then
    ``audit_files`` can read what was decided, and a later run of the same inputs with another policy does not sign them
    again; runs with *state* or *against* cannot keep it.

    If *out*, *dropped* or *mark* has no ending, ends in a slash, or exists as a folder, it is a folder, which receives
    one file for each input, or with *part_size* numbered files (``part-00000.jsonl``) of about that many bytes of text,
    in the format *out_format* (``parquet``, ``jsonl.zst``, ...; default: that of the inputs). Such runs, except for
    folders of documents that are written as a folder, and those with *memory* or *restart* are in pieces, too; the
    default for *work* is then a folder next to the first output, or without outputs a temporary one.

    With *against*, the documents are compared with those of a state, of an index with texts or of other files, too:
    these rank before all of the inputs, those of an index as it admitted them, and are in no output. The decisions on
    the inputs are those of one run over both. *state* is a folder that does the same, and to which the run adds its
    documents; it is made if there is none. Both are runs in pieces; the default for *work* is then a folder inside the
    state, next to the first output, or a temporary one. With *for_index*, the first run with a state decides that it
    has all that ``Index.fill`` needs for an index without texts and fields; later runs need not repeat it.

    Of web archives, and of tables with the fields *html* and *url*, the templates of hosts are learned first, as
    ``learn_templates`` in ``neardup.web_pages`` does, and the pages are read with them; the result has them as
    ``templates``. The inputs are read twice then. Nothing is learned if *learn_templates* is ``False``, if the
    *extraction* has templates, if no host has enough pages, or if an input is standard input or a URL. A *state* keeps
    the templates: later runs with it, or *against* it, use them, and learn those of other hosts. So do runs against an
    index; pages that it or a state has without templates are compared with pages without templates. With
    *learn_templates*, the name of a file of templates (``.arrow``), those of hosts that it does not have are learned
    from all inputs that are web pages, and added to it. Those that it has stay as they are. The file need not exist: it
    begins with those of the state or index then. *extraction* must have no templates. An interrupted run that is
    continued does not learn again.

    *executors*, such as those of ``neardup.spark``, do most tasks of a run in pieces, in processes of their own.
    *forecast* is called by a run in pieces, after its first shards, with what the whole run needs: its ``documents``,
    bytes of ``disk`` in the work folder and of ``memory``, and ``seconds``. *continued* is called by a run that
    continues an earlier one, with what that has finished. Everything else is as in ``dedup`` and
    ``neardup.sources.read``.

    A run whose inputs would not fit into memory is one in pieces, too, and so is a run that continues one which has
    left its folder next to the first output. These warn (``RuntimeWarning``) of what *forecast* and *continued* are not
    called with.

    Raises ``ParameterError``, ``DataError``, ``OutputError`` and ``ExtraMissing``; runs in pieces also
    ``StorageError``.
    """
    require_function("page", page)
    require_function("forecast", forecast)
    require_function("continued", continued)
    policy = Policy(keep=keep, verify=verify, gather=gather, representative=representative)
    require_other_fields(text, id=id)
    chosen, common = chosen_scheme(scheme, preset, threshold, ignore_common, measure)
    require_policy(chosen, policy)
    threads = thread_count(threads)
    given_outputs = {"out": out, "report": report, "dropped": dropped, "mark": mark}
    flags = {"strict": strict, "force": force, "restart": restart, "keep_work": keep_work, "for_index": for_index}
    _check_paths(require_paths("inputs", inputs), given_outputs, learn_templates, revisits=revisits, **flags)
    earlier = _earlier(state, against, for_index=for_index)
    compared = filter(_may_have_more, earlier.inputs if earlier else ())
    known = InputPaths(compared, folder="the folder that is compared with,")
    named = {name: local(path) for name, path in given_outputs.items() if path is not None}
    for path in named.values():
        known.check(path)  # a run that is continued would compare with outputs there
    settings = RunSettings(
        request=Request(
            text=text,
            id=id,
            columns=[*dict.fromkeys([*chosen.columns, *policy.fields])],
            format=format,
            quoting=quoting,
            glob=glob,
            extraction=extraction,
            html=html,
            url=url,
            strict=strict,
            max_bytes=max_bytes,
            full_names=state is not None,
            needs_text=needs_text(chosen, text, policy),
        ),
        scheme=chosen,
        ignore_common=common,
        policy=policy,
        learn_templates=learn_templates,
        outputs=named,
        force=force,
        revisits=revisits,
        memory=OF_RUN if memory is None else require_whole("memory", memory, LEAST_OF_RUN, unit="bytes"),
        restart=restart,
        keep_work=keep_work,
        part_size=None if part_size is None else require_whole("part_size", part_size, 1, unit="bytes"),
        out_format=out_format,
        executors=executors,
        earlier=earlier or EarlierDocuments(),
    )
    found: Inputs | None = None
    unasked: int | None = None
    if work is None and earlier is None:
        if keep_work:
            raise ParameterError("keep_work", keep_work, "can only be used with a named work folder", "work needed")
        require(executors is None, "work", None, "must be a folder that all executors can use")
        found = inputs_of(inputs, settings.request)
        if memory is None and not _needs_pieces(found, settings):
            unasked = _unasked_memory(found, settings)
            if unasked is None:
                return _in_memory(found, settings, page, threads, progress)
            settings = replace(settings, memory=unasked)
    work = _work_of(settings) if work is None else work
    announce = forecast or (_warn if unasked else settings.announce)
    # Without a work folder there is nothing to continue a run for.
    place = temporary_folder() if work is None else nullcontext(work)
    with place as folder, followed(progress) as follow, LocalEngine(threads) as engine, Processes(threads) as processes:
        settings = replace(
            settings,
            request=replace(settings.request, processes=processes),
            folder=local_folder("work", folder),
            page=None if page is None else lambda done: page(_stored(done)),
            announce=lambda found: announce(replace(found, asked=unasked is None)),
            continued=continued or (_warn if unasked else settings.continued),
        )
        return _in_pieces(inputs, settings, engine, follow, found)


def _in_memory(
    inputs: Inputs,
    settings: RunSettings,
    page: PageRenderer | None,
    threads: int,
    progress: bool | Progress | None,  # noqa: FBT001 - the same
) -> FilesResult:
    own = templates_of(settings.learn_templates, inputs, settings.request)
    settings = _reading(settings, own.extraction)
    check_outputs(inputs, settings, or_page=page is not None)
    with followed(progress) as follow, LocalEngine(threads) as engine:
        with Processes(threads) as processes:
            settings = replace(settings, request=replace(settings.request, processes=processes))
            settings = _reading(settings, own.extended(inputs, settings.request, follow))
            request = replace(settings.request, whole_texts=writes_texts(inputs, settings))
            documents = read_requested(inputs, request, progress=follow)
        check_documents(documents, settings.outputs)
        result, originals = decided_documents(documents, settings, engine, follow)
    templates = settings.request.extraction.templates if documents.has_pages else None
    done = FilesResult(result, documents.rejected, documents, templates, own.learned(templates))
    rendered = None if page is None else lambda: page(done)
    write_outputs(result, documents, settings, originals=originals, page=rendered)
    return done


def _in_pieces(
    inputs: Sequence[AnyPath],
    settings: RunSettings,
    engine: LocalEngine,
    progress: Progress,
    found: Inputs | None = None,
) -> FilesResult:
    """Do a run in pieces while its state is locked; *found* are its known inputs."""
    from neardup.pipeline.spilled.files import dedup_in_pieces, opened_state

    require_once(tuple(index.path for index in settings.earlier.indexes))
    if settings.ignore_common is not None and settings.earlier.state is not None:
        rule = "cannot be used with a state: all its runs need the same list of shingles, so make that first"
        raise ParameterError("ignore_common", settings.ignore_common, rule, "share with state")
    with opened_state(settings) as state:
        earlier = settings.earlier.inputs
        compared = len(inputs_of(earlier, settings.request, inputs).paths) if earlier else 0
        found = found or inputs_of([*earlier, *inputs], settings.request)
        stored = partial(_stored_pages, settings.earlier, state)
        own = templates_of(settings.learn_templates, found, settings.request, stored)
        settings = replace(_reading(settings, own.extraction), templates=own if own.learns else None)
        done = _stored(dedup_in_pieces(found, compared, settings, state, engine, progress))
        if state is not None and settings.earlier.adds:
            _warn_if_added_before(done, state)
    return replace(done, hosts_learned=own.learned(done.templates))


def _warn_if_added_before(done: FilesResult, state: "State") -> None:
    """Warn if a run has kept nothing, and an earlier run with its state has read the same paths."""
    segments, result = state.segments, cast("StoredResult", done.result)
    own = [part.name for part in segments].index(result.segment)  # later runs may have added theirs, too
    summary, before = result.summary, {path for part in segments[:own] for path in part.inputs}
    if summary.known and summary.kept <= summary.empty and before.issuperset(segments[own].inputs):
        why = f"an earlier run with the state {state.folder} has read the same paths"
        where = "if these files have not changed, the outputs of earlier runs have the kept documents"
        warnings.warn(f"all documents with a text were dropped: {why}; {where}", RuntimeWarning, stacklevel=3)


def _stored_pages(earlier: EarlierDocuments, state: "State | None") -> list[Extraction]:
    """Return how the pages that a state or indexes have became texts."""
    found = [*(index.extraction for index in earlier.indexes), *([] if state is None else [state.extraction])]
    return [one for one in found if one is not None]


def _reading(settings: RunSettings, extraction: Extraction) -> RunSettings:
    """Return the settings of a run that reads pages as an extraction describes."""
    return replace(settings, request=replace(settings.request, extraction=extraction))


def _needs_pieces(inputs: Inputs, settings: RunSettings) -> bool:
    """Return whether settings are only those of a run in pieces: parts, formats or files in folders, or a restart."""
    if settings.restart or settings.part_size is not None or settings.out_format is not None:
        return True
    named = [path for name, path in settings.outputs.items() if name == "report" or inputs.formats != {FOLDER}]
    return any(map(is_folder, named))


def _unasked_memory(inputs: Inputs, settings: RunSettings) -> int | None:
    """Return the memory of a run that is to be one in pieces although that was not requested; otherwise ``None``.

    A run whose inputs would not fit is one in pieces, and warns; so is a run that continues one. Standard input and
    URLs are not read for this. An error in an input is left to the run.
    """
    folder, there = _work_of(settings), available_memory()
    least = settings.memory if there is None else min(settings.memory, (there - _OF_PIECES) // 2)
    memory = max(LEAST_OF_RUN, least)
    if folder is not None and os.path.isdir(folder):  # noqa: PTH112 - no error if its name is too long
        from neardup.engines.journal import is_interrupted

        if is_interrupted(folder):
            return memory
    if there is None:
        return None
    try:
        needed = _needed_memory(inputs, settings)
    except (NeardupError, OSError):
        return None
    if needed <= there:
        return None
    place = f"{folder}; if it is interrupted, the same run continues it"
    if folder is None:
        place = f"a temporary folder in {gettempdir()}; if it is interrupted, it cannot be continued"
    warnings.warn(
        f"these inputs need about {needed / 1e9:,.1f} GB of memory, but only {there / 1e9:,.1f} GB are available, so"
        f" this is a run in pieces, with its intermediate files in {place}",
        RuntimeWarning,
        stacklevel=3,
    )
    return memory


def _needed_memory(inputs: Inputs, settings: RunSettings) -> int:
    """Return about how many bytes a run in memory needs with its documents, by the first records of each format."""
    request = settings.request
    sizes = {path: size for path in inputs.paths if not is_url(path) and (size := _size_of(path)) is not None}
    if STDIN in inputs.paths or sum(sizes.values()) < _LARGE:
        return 0
    kinds: dict[Kind, list[str]] = {}
    for path, one in zip(inputs.paths, inputs.kinds, strict=True):
        if path in sizes:
            kinds.setdefault(one, []).append(path)
    exact, needed = settings.policy.verify == "exact", _LOADED
    for alike in kinds.values():
        largest = max(alike, key=sizes.__getitem__)
        first = first_records(largest, request)
        times = first.times * sum(sizes[path] for path in alike) / max(1, sizes[largest])
        texts, ids = text_column(first.piece.texts), first.piece.ids
        needed += needed_memory(settings.scheme, texts, exact=exact, times=times)
        needed += int(times * (texts.nbytes + ids.nbytes + len(ids) * _PLACE + first.held))
    return needed


def _size_of(path: str) -> int | None:
    """Return the bytes of a file, or of all files in a folder; ``None`` for standard input and pipes."""
    if Path(path).is_dir():
        return sum(Path(folder, name).lstat().st_size for folder, _, names in os.walk(path) for name in names)
    return Path(path).stat().st_size if Path(path).is_file() else None


def _warn(found: "Forecast | Continuation") -> None:
    """Warn of what a run that was not asked to be one in pieces needs, or continues."""
    warnings.warn(str(found), RuntimeWarning, stacklevel=2)


def _earlier(
    state: AnyPath | None, against: AnyPath | Sequence[AnyPath] | None, *, for_index: bool
) -> EarlierDocuments | None:
    if for_index and state is None:
        raise ParameterError("for_index", for_index, "can only be used with a state", "state needed")
    if state is not None:
        if against is not None:
            raise ParameterConflict("against", against, "state", state, "compare with one of them per run")
        return EarlierDocuments(state=local_folder("state", state), adds=True, for_index=for_index)
    if against is None:
        return None
    names = require_paths("against", [against] if isinstance(against, str | os.PathLike) else against)
    require(bool(names), "against", names, "must name at least one state, index, file or folder")
    from neardup.engines.journal import is_work
    from neardup.pipeline.spilled.state import is_state

    paths = [*map(local, names)]
    for path in paths:
        rule = "is a state, which cannot be combined with other paths; add their documents to it first"
        require(len(paths) == 1 or not is_state(Path(path)), "against", path, rule)
        rule = "is the work folder of a run; compare with a state, with an index with texts, or with files"
        require(not is_work(Path(path)), "against", path, rule)
        rule = "must be a file, a folder, an index or a state, not a pipe or a device; save it in a file"
        require(not is_pipe(path), "against", path, rule)
    if len(paths) == 1 and is_state(Path(paths[0])):
        return EarlierDocuments(state=Path(paths[0]))
    from neardup.pipeline.files.ingestion import is_index  # it loads all of indexes
    from neardup.pipeline.index.texts import IndexTexts

    indexes = [path for path in paths if is_index(path)]
    return EarlierDocuments(
        inputs=tuple(path for path in paths if path not in indexes), indexes=tuple(map(IndexTexts, indexes))
    )


def _work_of(settings: RunSettings) -> Path | None:
    """Return the work folder of a run that names none; ``None`` if it has no outputs either.

    Raises ``OutputRefused`` if the folder of the output that it is next to does not exist.
    """
    if settings.earlier.adds and settings.earlier.state is not None:
        return settings.earlier.state / WORK
    named = [path for path in settings.outputs.values() if not is_special(path) and not is_url(path)]
    if not named:
        return None
    first = Path(named[0])
    place = Path(f"{first if first.name not in {'', '..'} else first.resolve()}{BESIDE}")
    if not place.parent.is_dir():
        raise OutputRefused(named[0], why_no_folder(place.absolute().parent))
    return place


def _stored(result: "StoredResult") -> FilesResult:
    return FilesResult(result, result.documents.rejected, result.documents, result.documents.templates)


def _may_have_more(path: str) -> bool:
    """Return whether an input may have more files in the next run."""
    return is_url(path) or os.path.isdir(path) or is_pattern(path)  # noqa: PTH112 - of any kind


def _check_paths(
    inputs: Sequence[AnyPath],
    outputs: Mapping[str, AnyPath | None],
    templates: AnyPath | Literal[False] | None,
    **flags: bool,
) -> None:
    """Refuse values of other types, outputs among the inputs or inside each other, and revisits elsewhere.

    The tables of a folder are inputs of their own, so it must be looked at before they take its place.
    """
    for name, flag in flags.items():
        require_flag(name, flag)
    written = {**outputs, "learn_templates": None if templates is False else templates}
    for name, path in written.items():
        if path is None:
            continue
        require_path(name, path)
        both = os.fspath(path).endswith(os.sep) and kind(os.fspath(path)) is not None
        require(not both, name, path, "ends in a slash, as a folder does, and in the ending of a file")
    check_separate(written)
    known = InputPaths(filter(_may_have_more, map(local, inputs)))
    for path in (one for one in written.values() if one is not None):
        known.check(local(path))
    found = None if outputs["out"] is None else kind(os.fspath(outputs["out"]))
    is_archive = found is not None and found.format == WARC
    rule = "requires a web archive as output, such as kept.warc.gz"
    require(is_archive or not flags["revisits"], "revisits", flags["revisits"], rule)
