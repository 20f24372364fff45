"""Deduplication of files of any size, in a work folder from which an interrupted run continues."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from neardup.engines.executors import Executors, elsewhere
from neardup.engines.journal import BLOCK, Journal
from neardup.engines.local import LocalEngine
from neardup.model.changes import Change
from neardup.model.errors import (
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
from neardup.pipeline.spilled.changes import LEARNED, abandoning, has_read, journal_of, report_continuation, terms_of
from neardup.pipeline.spilled.job import HeldTexts, Job
from neardup.pipeline.spilled.output_records import require_representable, write_outputs
from neardup.pipeline.spilled.outputs import (
    PLACE,
    Output,
    check_outputs,
    outputs_of,
    reporting,
    require_own,
    targets_of,
    writing,
)
from neardup.pipeline.spilled.run import Map, Stages, decided, listed
from neardup.pipeline.spilled.state import State
from neardup.pipeline.spilled.stored_documents import StoredResult
from neardup.pipeline.spilled.workers import is_shared, job_of, tasks_of
from neardup.schemes.scheme import Scheme
from neardup.sources.copies import name_of_copy, needs_copy
from neardup.sources.formats import STDIN
from neardup.sources.inputs import Inputs
from neardup.sources.output import check_table
from neardup.sources.output_places import InputPaths
from neardup.sources.pages import extracting
from neardup.sources.remote import fetch
from neardup.sources.shards import SHARD, Shards
from neardup.sources.standard_input import check_same, repeated_input, standard_input
from neardup.text.extraction import Extraction

_SHARES: Final = 16  # the shards and blocks of all threads together take about half of the memory
_HELD: Final = 4  # shards whose bytes are the most that the held texts take
_WRITTEN: Final = ("check", PLACE, "write", "print", "report")  # the stages of outputs
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
    shards, pages = _opened(inputs, settings, state)
    compared += len(settings.earlier.indexes)
    outputs = _outputs(shards, compared, settings, state)
    size = _share(settings.memory, engine.threads if settings.executors is None else 1)
    earlier = settings.earlier
    terms = terms_of(
        shards,
        settings.scheme,
        pages,
        _changeable(outputs, size, settings),
        compared=compared,
        state=None if state is None else [str(state.folder.absolute()), earlier.adds, earlier.for_index],
        ignore_common=settings.ignore_common,
    )
    with journal_of(settings.folder, terms, restart=settings.restart) as journal:
        stages = Stages(journal, engine, progress, partial(_elsewhere, settings.executors, journal, settings.scheme))
        if earlier.indexes or any(map(needs_copy, shards.inputs)):
            shards = _copied(shards, stages, outputs, settings)
        with abandoning(journal):
            settings = _learned(inputs, shards, stages, outputs, settings)
            begun = _begun(replace(shards, request=settings.request), size, compared, stages, state, settings)
            shards = Shards.from_dict(begun["shards"], settings.request)
            job = replace(job_of(journal, settings.scheme, begun, terms), shards=shards, held=HeldTexts(_HELD * size))
            _accept(job, stages, outputs, settings)
            job = listed(job, stages, settings.ignore_common)
            report_continuation(job, journal, settings.continued)
            memory = settings.memory if settings.executors is None else 0  # executors have texts in progress
            result = decided(job, stages, settings.announce, memory, revisits=settings.revisits)
        result.segment = begun["segment"]
        write_outputs(job, result, outputs, stages, settings)
        result.summarizing()  # raises its errors before the run is complete
        if state is not None and earlier.adds:
            blocks = len(journal.records(job.stage("settle")))
            stage = f"add-{reporting(job, outputs, settings.report)}"
            stages.one(stage, partial(add, job, result.documents.signed, blocks, state, result.segment, engine))
        for stage in _WRITTEN if settings.keep_work else ():
            journal.forget(stage)  # the next run in the folder checks and writes outputs of its own
        journal.finish(keep=settings.keep_work, rejected=len(result.documents.rejected))
        return result


def _check_settings(settings: RunSettings) -> None:
    """Raise the errors of settings that no run can have together, and of outputs in its work folder."""
    rule = "must be executors, such as those of neardup.spark"
    require(settings.executors is None or hasattr(settings.executors, "each"), "executors", settings.executors, rule)
    earlier, gather = settings.earlier, settings.policy.gather
    compared = "state" if earlier.adds else "against"
    others = [*filter(None, [earlier.state]), *earlier.inputs, *(index.path for index in earlier.indexes)]
    if settings.keep_work and others:
        why = "such a run is audited by its report"
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
    _check_settings(settings)
    earlier = settings.earlier
    if earlier.state is None:
        yield None
        return
    with State.open(earlier.state, write=earlier.adds) as state:
        state.require(settings.scheme, settings.policy, for_index=earlier.for_index)
        state.check()
        _require_outside(state.folder, "state", settings)
        yield state


def _opened(inputs: Inputs, settings: RunSettings, state: State | None) -> tuple[Shards, dict[str, str | None] | None]:
    """Return the indexes and then the inputs, not yet cut, and the identity of how their pages become texts.

    Raises the errors of a state or an index whose documents were read in another way.
    """
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
    return shards.behind({index.path: index.identity for index in earlier.indexes}), pages


def _outputs(shards: Shards, compared: int, settings: RunSettings, state: State | None) -> list[Output]:
    """Return the outputs; ``OutputRefused`` for one that is an input of a run of the *state*."""
    named = settings.outputs  # the kept documents are written last
    order = ("dropped", "mark", *(() if settings.report else ("report",)), "out")
    targets: dict[str, str] = {name: named[name] for name in order if name in named}
    outputs = outputs_of(shards, targets, compared, settings.part_size or 0, settings.out_format)
    outputs = [one._replace(revisits=settings.revisits and one.target == "out") for one in outputs]
    if state is not None:
        before = (path for part in state.segments for path in part.inputs)
        known = InputPaths(before, "an input of an earlier run, which later runs with this state read again")
        for path in targets_of(outputs, settings.report):
            known.check(path)
    return outputs


def _changeable(outputs: list[Output], size: int, settings: RunSettings) -> dict[str, Any]:
    """Return the terms of a run that may be others when it is continued; *size* is that of its blocks."""
    return {
        "folder": os.getcwd(),  # noqa: PTH109 - where the names of the inputs count
        "policy": asdict(settings.policy),
        "columns": [*settings.request.columns],
        "outputs": outputs,
        BLOCK: size,
    }


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
        with journal.output(name, sync=True) as file:  # it may be impossible to make again
            if distant[task] in indexes:
                indexes[distant[task]].write(file, settings.request)
            elif distant[task] == STDIN:
                file.writelines(repeated_input() if journal.continued else standard_input())
            else:
                fetch(distant[task], file)
        return {"files": journal.files(name)}

    done = journal.intact("copy-")
    if not done:
        with abandoning(journal):
            _check(shards, outputs, settings)
    elif STDIN in names and distant.index(STDIN) in done:
        check_same(journal.path(names[STDIN]))
    stages.each("copy-", copy_input, [1] * len(names))
    return shards.copied({path: journal.path(name).absolute() for path, name in names.items()})


def _learned(
    inputs: Inputs, shards: Shards, stages: Stages, outputs: list[Output], settings: RunSettings
) -> RunSettings:
    """Return the settings with the templates that the run learns, if it learns any, once the outputs are accepted.

    From then on, processes extract pages by these settings. Raises ``RunChanged`` if the templates that were known when
    the run learned are not those known now.
    """
    request, own = settings.request, settings.templates
    found: list[Extraction] = []  # also the contents of the pages that were read

    def learned() -> dict[str, Any]:
        _check(shards, outputs, settings)
        found.append(own.extended(inputs, request, stages.progress))
        return {"known": own.known.identity, "extraction": found[0].to_dict()}

    if own is not None:
        record = stages.one("learn-", learned)
        extraction = found[0] if found else Extraction.from_dict(record["extraction"])
        if (templates := extraction.templates) is not None and not found:
            if own.known.identity not in {record["known"], templates.identity}:
                change = Change("templates", "", record["known"], own.known.identity)
                if stages.journal.kept:
                    stages.journal.abandon()  # it stays as it was, for a run with the templates that were known then
                raise RunChanged(str(stages.journal.folder), [change])
            own.save(templates)
        request = replace(request, extraction=extraction)
    if request.processes is not None:
        request.processes.turn_to(extracting(request.extraction))
    return replace(settings, request=request)


def _accept(job: Job, stages: Stages, outputs: list[Output], settings: RunSettings) -> None:
    """Refuse outputs before anything is read.

    The outputs of a run may be changed when it is continued. Whether they may be replaced is checked once: files that
    are there later must be those of the run itself.
    """
    report = settings.report
    where, whole = writing(job, outputs), reporting(job, outputs, report)
    stages.one(f"check-{where}", partial(check_outputs, job.shards, outputs, force=settings.force))
    stages.one(f"check-{whole}", partial(_check_report, job.shards, settings))
    begun = stages.are_done("common-", 1)  # outputs have their places by the scheme with the list
    require_own(listed(job, stages, settings.ignore_common) if begun else job, outputs, report, force=settings.force)
    require_representable(job, outputs, stages)


def _check(shards: Shards, outputs: list[Output], settings: RunSettings) -> None:
    check_outputs(shards, outputs, force=settings.force)
    _check_report(shards, settings)


def _check_report(shards: Shards, settings: RunSettings) -> None:
    if (report := settings.report) is not None:
        or_page = settings.page is not None
        check_table(report, shards.inputs, force=settings.force, or_page=or_page, name="report")


def _begun(  # noqa: PLR0913, PLR0917 - the inputs and how to cut them, and the run
    shards: Shards, size: int, compared: int, stages: Stages, state: State | None, settings: RunSettings
) -> dict[str, Any]:
    """Return what a run keeps for all its stages: its shards, the key of its digests, and the segments of the state.

    Raises ``StorageDamaged`` if a run has lost that, which it cannot make again, and ``RunChanged`` if a state has
    other segments than when the run began, before the one that the run adds.
    """
    journal = stages.journal
    if not stages.are_done("split-", 1) and (journal.has_begun("check") or has_read(journal)):
        rule = "it is missing or damaged, and the finished tasks need it"
        raise StorageDamaged(str(journal.path("done", "split--0.json")), rule, "run damaged")
    known = None if state is None or state.salt is None else state.header

    def begin() -> dict[str, Any]:
        return {
            "shards": shards.cut(size, compared).to_dict(),
            "salt": secrets.token_bytes(16).hex() if known is None else known.salt,
            "segments": [] if known is None else [part.name for part in known.segments],
            "segment": secrets.token_hex(8),  # that the run adds
            "for_index": settings.earlier.adds and (settings.earlier if known is None else known).for_index,
        }

    begun = stages.one("split-", begin)
    if state is not None:
        before = takewhile(begun["segment"].__ne__, (part.name for part in state.segments))
        if [*before] != begun["segments"]:
            raise RunChanged(str(journal.folder), [Change("changed", f"the state {str(state.folder)!r}")])
    return begun


def _share(memory: int, threads: int) -> int:
    """Return the bytes of a shard and of a block; each thread has a few of both."""
    return max(_LEAST, min(SHARD, memory // (_SHARES * threads)))
