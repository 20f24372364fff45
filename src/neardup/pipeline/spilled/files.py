"""Deduplication of files of any size, in a work folder from which an interrupted run continues."""

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.engines.executors import Executors, elsewhere
from neardup.engines.journal import BLOCK, Journal
from neardup.engines.local import LocalEngine
from neardup.index.disk.arrays import understood
from neardup.model.changes import Change
from neardup.model.errors import (
    NeardupError,
    OutputRefused,
    ParameterConflict,
    ParameterError,
    RunChanged,
    StorageDamaged,
    require,
)
from neardup.pipeline.progress import Progress
from neardup.pipeline.run_settings import RunSettings
from neardup.pipeline.spilled.addition import add
from neardup.pipeline.spilled.changes import LEARNED, RESTORABLE, abandoning, journal_of, report_continuation, terms_of
from neardup.pipeline.spilled.forecast import require_room
from neardup.pipeline.spilled.job import OTHER, HeldTexts, Job
from neardup.pipeline.spilled.outputs import (
    PLACE,
    Output,
    Part,
    check_outputs,
    fields,
    outputs_of,
    own_format,
    parts_of,
    record_place,
    remove_other_parts,
    reporting,
    require_own,
    schema_of,
    targets_of,
    together,
    write,
    write_decisions,
    writes_texts,
    writing,
)
from neardup.pipeline.spilled.run import Map, Stages, decided, listed
from neardup.pipeline.spilled.state import State
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.pipeline.spilled.workers import is_shared, job_of, tasks_of
from neardup.schemes.scheme import Scheme
from neardup.sources.copies import name_of_copy, needs_copy
from neardup.sources.formats import STDIN, Kind, is_url, kind
from neardup.sources.inputs import Inputs
from neardup.sources.output import PAGES, check_table, is_page, is_special, write_file
from neardup.sources.output_places import InputPaths
from neardup.sources.pages import extracting
from neardup.sources.remote import fetch
from neardup.sources.shards import SHARD, Shards
from neardup.sources.standard_input import check_same, repeated_input, standard_input
from neardup.text.extraction import Extraction

_SHARES: Final = 16  # the shards and blocks of all threads together take about half of the memory
_HELD: Final = 4  # shards whose bytes are the most that the held texts take
_WRITTEN: Final = ("check", PLACE, "write", "print", "report")  # the stages of outputs
_SURE: Final = 0.7  # of the size of an output: records differ in length, and compress differently
_DECISION: Final = 150  # bytes of a decision in JSON lines, without ids
_LEAST: Final = 1 << 20  # bytes of a shard or block


def dedup_in_pieces(  # noqa: PLR0913, PLR0917 - the documents, and how they are compared
    inputs: Inputs, compared: int, settings: RunSettings, state: State | None, engine: LocalEngine, progress: Progress
) -> StoredResult:
    """Deduplicate files in a work folder, and remove that at the end unless it is kept.

    The first *compared* inputs are earlier documents, which the others are only compared with. *state* is that of
    ``opened_state``. A run of the same inputs and settings continues an earlier one. Raises the errors of
    ``neardup.dedup_files``, ``RunChanged`` if the work folder is of another run, ``RunComplete`` if only its removal
    was left, ``StorageBusy`` if another process uses it, and ``StorageDamaged`` if its first record is lost.
    """
    shards, outputs, terms = _opened(inputs, compared, settings, state)
    size = _share(settings.memory, engine.threads if settings.executors is None else 1)
    terms["changeable"][BLOCK] = size
    with journal_of(settings.folder, terms, restart=settings.restart) as journal:

        def by(scheme: Scheme) -> Stages:
            return Stages(journal, engine, progress, partial(_elsewhere, settings.executors, journal, scheme))

        stages = by(settings.scheme)
        if settings.earlier.indexes or any(map(needs_copy, shards.inputs)):
            shards = _copied(shards, stages, outputs, settings)
        settings = _learned(inputs, shards, stages, outputs, settings)
        shards = shards.with_request(settings.request)
        _require_split(stages)
        with abandoning(journal):
            begun = stages.one("split-", partial(_begun, shards, size, state, settings))
        shards = Shards.from_dict(begun["shards"], settings.request)
        _require_segments(journal, begun, state)
        held = HeldTexts(_HELD * size)
        memory = settings.memory if settings.executors is None else 0  # executors have texts in progress
        job = replace(job_of(journal, settings.scheme, begun, terms), shards=shards, held=held)
        report = settings.outputs.get("report")
        has_read = not journal.kept and _has_read(journal)
        _accept(job, stages, outputs, settings)
        with abandoning(journal, but=RESTORABLE, has_read=has_read):
            job = listed(job, stages, settings.ignore_common)
            stages, where, whole = by(job.scheme), writing(job, outputs), reporting(job, outputs, report)
            report_continuation(job, journal, settings.continued)
            result = decided(job, stages, engine, progress, settings.announce, memory)
        result.segment = begun["segment"]
        if settings.revisits:
            known = result.documents.originals(np.asarray(result.representatives)[result.exact])
            result.summary = replace(result.summary, revisits_missing=known["offset"].null_count)
        require_own(job, outputs, report, force=settings.force)
        _require_room(shards, outputs, result, report)
        parts = parts_of(result, outputs)
        groups = together(result, parts)
        sizes = _sizes(shards, groups)
        if settings.request.processes is not None and any(writes_texts(shards, output) for output in outputs):
            settings.request.processes.turn_to(extracting(settings.request.extraction, whole=True))
        written = partial(write, job, result, groups, reading_ahead=len(groups) < engine.threads)
        if report is not None:
            stages.one(f"report-{whole}", partial(_report, job, result, settings, report))
        special = any(is_special(output.path) for output in outputs)  # a terminal or pipe of this process
        _marks_first(
            partial(stages.each, f"{'print' if special else 'write'}-{where}", written, sizes, "write"), groups
        )
        remove_other_parts(outputs, parts)
        if state is not None and settings.earlier.adds:
            signed, blocks = result.documents.signed, len(journal.records(job.stage("settle")))
            stages.one(f"add-{whole}", partial(add, job, signed, blocks, state, begun["segment"]))
        for stage in _WRITTEN if settings.keep_work else ():
            journal.forget(stage)  # the next run in the folder checks and writes outputs of its own
        journal.finish(keep=settings.keep_work, rejected=len(result.documents.rejected))
        return result


def _check_places(settings: RunSettings) -> None:
    """Refuse outputs in the work folder, a folder that cannot be kept, as runs of a state are in it, and components.

    Those would change earlier decisions, which the documents of a state have.
    """
    rule = "must be executors, such as those of neardup.spark"
    require(settings.executors is None or hasattr(settings.executors, "each"), "executors", settings.executors, rule)
    earlier, gather = settings.earlier, settings.policy.gather
    compared = "state" if earlier.adds else "against"
    others = [*filter(None, [earlier.state]), *earlier.inputs, *(index.path for index in earlier.indexes)]
    if settings.keep_work and others:
        why = "such a run is audited by its state or its report"
        raise ParameterConflict("keep_work", True, compared, str(others[0]), why)
    if gather == "components" and earlier.state is not None:
        why = "a new document may connect clusters of earlier runs, which are decided"
        raise ParameterConflict("gather", gather, compared, str(earlier.state), why)
    _require_outside(settings.folder, "work folder", settings)


def _require_outside(folder: Path, what: str, settings: RunSettings) -> None:
    """Raise ``OutputRefused`` for an output inside a folder, which would have files of others when a run continues."""
    for path in settings.outputs.values():
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise OutputRefused(path, f"it must not be inside the {what}; name a path elsewhere")


@contextmanager
def opened_state(settings: RunSettings) -> Iterator[State | None]:
    """Yield the state of a run, if it has one, after its files, the settings and the paths of the run were checked.

    No other run can add to it until the end of the block. Raises the errors of ``State.open`` and of
    ``neardup.dedup_files``.
    """
    _check_places(settings)
    earlier = settings.earlier
    if earlier.state is None:
        yield None
        return
    with State.open(earlier.state, write=earlier.adds) as state:
        state.require(settings.scheme, settings.policy, for_index=earlier.for_index)
        state.check()
        _require_outside(state.folder, "state", settings)
        yield state


def _opened(
    inputs: Inputs, compared: int, settings: RunSettings, state: State | None
) -> tuple[Shards, list[Output], dict[str, Any]]:
    earlier = settings.earlier
    shards = Shards.opened(inputs, settings.request)
    pages = shards.extraction
    own = None if pages is None else settings.request.extraction
    if pages is not None and settings.templates is not None:
        pages["templates"] = LEARNED  # those that it knows may be replaced by what it learns before it is continued
    if state is not None:
        state.require_extraction(own)
        rule = "cannot be standard input or a URL, because later runs with the state read the inputs again"
        for path in filter(needs_copy, shards.inputs if earlier.adds else ()):
            raise ParameterError("inputs", path, f"{rule}; save it first")
    for index in earlier.indexes:
        index.require(settings.request, settings.scheme.columns, own, earlier.indexes)
    shards = shards.behind({index.path: index.identity for index in earlier.indexes})
    compared += len(earlier.indexes)
    named = settings.outputs  # the kept documents are written last
    targets: dict[str, str] = {name: named[name] for name in ("dropped", "mark", "out") if name in named}
    outputs = outputs_of(shards, targets, compared, settings.part_size or 0, settings.out_format)
    outputs = [one._replace(revisits=settings.revisits and one.target == "out") for one in outputs]
    if state is not None:
        before = (path for part in state.segments for path in part.inputs)
        known = InputPaths(before, "an input of an earlier run, which later runs with this state read again")
        for path in targets_of(outputs, settings.outputs.get("report")):
            known.check(path)
    changeable = {
        "folder": os.getcwd(),  # noqa: PTH109 - where the names of the inputs count
        "policy": asdict(settings.policy),
        "columns": [*settings.request.columns],
        "outputs": outputs,
    }
    more = {
        "compared": compared,
        "state": None if state is None else [str(state.folder.absolute()), earlier.adds, earlier.for_index],
        "ignore_common": settings.ignore_common,
    }
    return shards, outputs, terms_of(shards, settings.scheme, pages, changeable, **more)


def _elsewhere(executors: Executors | None, journal: Journal, scheme: Scheme, stage: str) -> Map | None:
    """Return how the executors of a run do the tasks of a stage, if it has executors that can."""
    if executors is None or not is_shared(stage):
        return None
    opened = partial(tasks_of, str(journal.folder.absolute()), journal.token, scheme, stage)
    return elsewhere(executors, opened)


def _copied(shards: Shards, stages: Stages, outputs: list[Output], settings: RunSettings) -> Shards:
    """Copy standard input, files at URLs and indexes into the work folder, once the outputs are accepted.

    A run that continues compares standard input with its copy, and needs it again if the copy is not complete.
    """
    journal, indexes = stages.journal, {index.path: index for index in settings.earlier.indexes}
    names = {path: f".neardup-index-{number}.jsonl" for number, path in enumerate(indexes)} | {
        path: name_of_copy(path, shards.kinds[source].format)
        for source, path in enumerate(shards.inputs)
        if needs_copy(path)
    }
    distant = [*names]

    def copy_input(task: int) -> dict[str, Any]:
        name = names[distant[task]]
        with journal.output(name) as file:
            if distant[task] in indexes:
                indexes[distant[task]].write(file, settings.request)
            elif distant[task] == STDIN:
                file.writelines(repeated_input() if journal.continued else standard_input())
            else:
                fetch(distant[task], file)
        return {"files": journal.sizes(name)}

    done = journal.intact("copy-")
    if not done:
        with _refusing(journal):
            _check(shards, outputs, settings)
    elif STDIN in names and distant.index(STDIN) in done:
        check_same(journal.path(names[STDIN]))
    stages.each("copy-", copy_input, [1] * len(names))
    return shards.copied({path: journal.path(name).absolute() for path, name in names.items()})


def _learned(
    inputs: Inputs, shards: Shards, stages: Stages, outputs: list[Output], settings: RunSettings
) -> RunSettings:
    """Return the settings with the templates that the run learns, if it learns any, once the outputs are accepted.

    Raises ``RunChanged`` if the templates that were known when the run learned are not those known now.
    """
    request, own = settings.request, settings.templates
    found: list[Extraction] = []  # also the contents of the pages that were read

    def learned() -> dict[str, Any]:
        _check(shards, outputs, settings)
        found.append(own.extended(inputs, request, stages.progress))
        return {"known": own.known.identity, "extraction": found[0].to_dict()}

    if own is not None:
        with _refusing(stages.journal):
            record = stages.one("learn-", learned)
        with understood(stages.journal.path("done", "learn--0.json"), rule=OTHER):
            extraction = found[0] if found else Extraction.from_dict(record["extraction"])
        if (templates := extraction.templates) is not None and not found:
            if own.known.identity not in {record["known"], templates.identity}:
                change = Change("templates", "", record["known"], own.known.identity)
                if stages.journal.kept:
                    stages.journal.abandon()
                raise RunChanged(str(stages.journal.folder), [change])
            own.save(templates)
        request = replace(request, extraction=extraction)
    if request.processes is not None:
        request.processes.turn_to(extracting(request.extraction))
    return replace(settings, request=request)


@contextmanager
def _refusing(journal: Journal) -> Iterator[None]:
    """Abandon a run that is refused before it has read its inputs."""
    try:
        yield
    except NeardupError:
        if journal.kept or not _has_read(journal):
            journal.abandon()
        raise


def _accept(job: Job, stages: Stages, outputs: list[Output], settings: RunSettings) -> None:
    """Refuse outputs before anything is read.

    The outputs of a run may be changed when it is continued. Whether they may be replaced is checked once: files that
    are there later must be those of the run itself.
    """
    report = settings.outputs.get("report")
    where, whole = writing(job, outputs), reporting(job, outputs, report)
    with _refusing(stages.journal):
        stages.one(f"check-{where}", partial(check_outputs, job.shards, outputs, force=settings.force))
        stages.one(f"check-{whole}", partial(_check_report, job.shards, settings))
        begun = stages.are_done("common-", 1)  # outputs have their places by the scheme with the list
        require_own(
            listed(job, stages, settings.ignore_common) if begun else job, outputs, report, force=settings.force
        )
        converted = [output for output in outputs if own_format(job.shards, output) is None]
        if converted:  # other formats than those of the inputs need the types of all fields, and may lack some
            numbers = {number for output in converted for number in job.shards.numbers(output.sources)}
            sizes = [shard.size if number in numbers else 0 for number, shard in enumerate(job.shards.shards)]
            stages.each("fields-", partial(fields, job.shards), sizes, only=sorted(numbers))
            for output in converted:
                schema_of(job.shards, output, stages.journal)


def _has_read(journal: Journal) -> bool:
    """Return whether a run has read some of its inputs, perhaps for another policy."""
    return journal.has_begun("common") or journal.has_begun("sign")


def _require_split(stages: Stages) -> None:
    """Raise ``StorageDamaged`` if a run has lost its shards and the key of its digests, which it cannot make again."""
    journal = stages.journal
    if not stages.are_done("split-", 1) and (journal.has_begun("check") or _has_read(journal)):
        rule = "it is missing or damaged, and the finished tasks need it; restart the run, or remove the work folder"
        raise StorageDamaged(str(journal.path("done", "split--0.json")), rule)


def _check(shards: Shards, outputs: list[Output], settings: RunSettings) -> None:
    check_outputs(shards, outputs, force=settings.force)
    _check_report(shards, settings)


def _check_report(shards: Shards, settings: RunSettings) -> None:
    if (report := settings.outputs.get("report")) is not None:
        or_page = settings.page is not None
        check_table(report, shards.inputs, force=settings.force, or_page=or_page, name="report")


def _begun(shards: Shards, size: int, state: State | None, settings: RunSettings) -> dict[str, Any]:
    """Return what a run keeps for all its stages: its shards, the key of its digests, and the segments of the state."""
    known = None if state is None or state.salt is None else state.header
    return {
        "shards": shards.cut(size).to_dict(),
        "salt": secrets.token_bytes(16).hex() if known is None else known.salt,
        "segments": [] if known is None else [part.name for part in known.segments],
        "segment": secrets.token_hex(8),  # that the run adds
        "for_index": settings.earlier.adds and (settings.earlier if known is None else known).for_index,
    }


def _require_segments(journal: Journal, begun: dict[str, Any], state: State | None) -> None:
    """Raise ``RunChanged`` if a state has other segments than when the run began, before the one that the run adds."""
    if state is not None:
        before = takewhile(begun["segment"].__ne__, (part.name for part in state.segments))
        if [*before] != begun["segments"]:
            raise RunChanged(str(journal.folder), [Change("changed", f"the state {str(state.folder)!r}")])


def _share(memory: int, threads: int) -> int:
    """Return the bytes of a shard and of a block; each thread has a few of both."""
    return max(_LEAST, min(SHARD, memory // (_SHARES * threads)))


def _sizes(shards: Shards, groups: list[list[Part]]) -> list[int]:
    """Return the bytes of the inputs of each task that writes, if all parts of an output are alike."""
    number = Counter(part.output.path for group in groups for part in group)
    outputs = [group[0].output for group in groups]
    sources = {output.path: output.sources for output in outputs}
    sizes = {path: shards.bytes_of(own) / number[path] for path, own in sources.items()}
    return [round(sizes[output.path] * len(group)) for output, group in zip(outputs, groups, strict=True)]


def _marks_first(write_files: Callable[..., Any], groups: list[list[Part]]) -> None:
    """Write the marks, then the other outputs: marks fail if a later record has a field of theirs."""
    write_files(only=[task for task, group in enumerate(groups) if group[0].output.target == "mark"])
    write_files()


def _require_room(shards: Shards, outputs: list[Output], result: StoredResult, report: str | None) -> None:
    """Refuse to write outputs that are larger than what the disk has free, by their share of the documents.

    Outputs in another format or compression than their inputs may have any size, and so may reports but JSON lines.
    """
    kept = float(result.mask.mean()) if len(result.mask) else 1.0
    needed: Counter[Path] = Counter()
    for output in outputs:
        size = shards.bytes_of(output.sources)
        same = all(kind(output.path) == shards.kinds[source] for source in output.sources)
        if same and not _is_there(output.path):
            share = {"out": kept, "dropped": 1 - kept}.get(output.target, 1.0)
            needed[Path(os.path.realpath(output.path)).parent] += round(_SURE * share * size)
    if report is not None and kind(report) == Kind("jsonl") and not _is_there(report):
        needed[Path(os.path.realpath(report)).parent] += _DECISION * len(result.documents)
    for folder, size in needed.items():
        require_room(folder, size, "write the outputs")


def _is_there(path: str) -> bool:
    """Return whether an output needs no room on the local disk, or has it."""
    return is_url(path) or is_special(path) or Path(path).exists()


def _report(job: Job, result: StoredResult, settings: RunSettings, path: str) -> dict[str, Any] | None:
    if settings.page is None or not is_page(path):
        return write_decisions(job, result, path)
    page = settings.page(result)
    record_place(job, path)
    write_file(path, page, PAGES, force=True)
    return None
