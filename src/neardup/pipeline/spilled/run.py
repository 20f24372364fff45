"""A run in pieces, stage by stage: every stage reads files of the work folder, and writes others."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from neardup.decisions.exact import count_repeats
from neardup.engines.journal import Journal, WorkFolder
from neardup.engines.local import LocalEngine
from neardup.model.policy import CANONICAL
from neardup.pipeline.corpus.address_ranks import hint_counts
from neardup.pipeline.corpus.clusters import what_is_shared
from neardup.pipeline.corpus.comparison import needs_rows
from neardup.pipeline.corpus.result import Summary
from neardup.pipeline.progress import Progress
from neardup.pipeline.spilled import common_shingles
from neardup.pipeline.spilled.blocks import match, settle
from neardup.pipeline.spilled.candidates import arrange, bucket, groups, pair, propose, ranges, remove_buckets
from neardup.pipeline.spilled.features import gather, remove_features
from neardup.pipeline.spilled.forecast import (
    SHARDS,
    Forecast,
    bytes_to_compare,
    bytes_to_gather,
    bytes_to_order,
    forecast,
    require_room,
    sample_of,
    warn_of_full_buckets,
    warn_of_shortage,
)
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.outcome import decide
from neardup.pipeline.spilled.ranking import gather_keys, gather_signatures, leader_count, rank
from neardup.pipeline.spilled.signing import Signed, faults_in, fields_of, sign
from neardup.pipeline.spilled.stored_documents import StoredDocuments, StoredResult
from neardup.schemes.checksum import BODY
from neardup.sources.formats import display, first_names
from neardup.sources.record_faults import LackingFields, missing_field
from neardup.text.columns import chunk_batch

Record = dict[str, Any]
Map = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


class Stages:
    """The stages of a run: their tasks are recorded in the journal, by names that end in what decides about them."""

    def __init__(
        self,
        journal: Journal,
        engine: LocalEngine,
        progress: Progress,
        elsewhere: Callable[[str], Map | None] = lambda _: None,
    ) -> None:
        """Do tasks by the engine, except those of stages for which *elsewhere* returns another way to map."""
        self.journal, self.engine, self.progress, self._elsewhere = journal, engine, progress, elsewhere

    def each(
        self,
        stage: str,
        function: Callable[[int], Record],
        sizes: Sequence[int],
        words: str = "",
        *,
        only: Sequence[int] | None = None,
    ) -> list[Record]:
        """Do a stage of one task for each size, or *only* some of these, and report its progress in *words*."""

        def report(_: str, done: int, whole: int) -> None:
            self.progress(words or stage.partition("-")[0], done, whole)

        map_ = self._elsewhere(stage) or self.engine.map
        return self.journal.run(stage, len(sizes), function, map=map_, sizes=sizes, only=only, progress=report)

    def are_done(self, stage: str, tasks: int) -> bool:
        """Return whether all tasks of a stage are recorded, with their files."""
        return self.journal.intact(stage) >= {*range(tasks)}

    def placed(self, stage: str, function: Callable[[], Record]) -> Record:
        """Do the stage that places pairs into blocks; if it is done again, so is what was done by block.

        With another memory the blocks differ.
        """
        if not self.are_done(stage, 1):
            for later in ("gather", "match", "settle", "decide"):
                self.journal.forget(f"{later}-{stage.partition('-')[2]}")
        return self.one(stage, function)

    def one(self, stage: str, function: Callable[[], Record | None]) -> Record:
        """Do a stage that is a single task, which may have nothing to record."""
        return self.journal.run(stage, 1, lambda _: function() or {}, map=map)[0]


def listed(job: Job, stages: Stages, share: float | None) -> Job:
    """Return the same run, whose scheme leaves out the shingles that more than a *share* of the documents have.

    With ``None``, the scheme stays as it is; a list that it has is stored for workers.
    """
    if share is None:
        known: Any = getattr(job.scheme, "common", None)
        if known is not None:
            stages.one("common-", partial(common_shingles.store, job, known))
        return job
    if not stages.are_done("common-", 1):
        require_room(job.journal.folder, common_shingles.room(job), "find common shingles")
        sizes = [shard.size for shard in job.shards.shards]
        stages.each("sample-", partial(common_shingles.sample, job, common_shingles.Bound()), sizes)
        stages.one("common-", lambda: common_shingles.find(job, share))
    common_shingles.remove_samples(job)
    return replace(job, scheme=job.scheme.with_common(common_shingles.list_of(job.journal)))


def decided(
    job: Job,
    stages: Stages,
    announce: Callable[[Forecast], None] = lambda _: None,
    memory: int = 0,
    *,
    revisits: bool = False,
) -> StoredResult:
    """Decide all documents of the inputs; the stages that are recorded are not repeated.

    The summary is made in parallel to what follows. With *revisits*, it counts those that will be missing.

    *announce* is called with what the run is expected to need, with this *memory* for texts and features in progress,
    when its first shards were read. Raises ``DataError`` if no document is left, and if no record has a field that was
    requested; and ``StorageFailed`` if the disk has no room for a stage.
    """
    engine, sizes = stages.engine, [shard.size for shard in job.shards.shards]
    some = sample_of(job.shards)
    with_text = stages.are_done(job.stage("sign_text"), len(sizes))  # the files of ``sign`` were replaced
    signing = (job.stage("sign_text" if with_text else "sign"), partial(sign, job, body=with_text), sizes, "read")
    first = stages.each(*signing, only=some)
    found = forecast(job, some, first, engine.threads, memory)
    announce(found)
    _check_forecast(job, found, first)
    records = stages.each(*signing)
    if not with_text and BODY in job.scheme.columns and BODY in lacking_in(records):
        records = stages.each(job.stage("sign_text"), partial(sign, job, body=True), sizes, "read")
    documents = StoredDocuments(job, records)
    needed = {job.shards.request.text, job.shards.request.id, *job.policy.required_fields}
    # The text replaces the body, and an optional field may be missing.
    dispensable = {BODY, *set(job.policy.fields).difference(job.scheme.columns)} - needed
    require_documents(job, documents.records, documents.names, dispensable)
    _require_compared(job, records, dispensable)
    signed = documents.signed
    to_order = partial(bytes_to_order, len(signed))
    stages.one(job.stage("rank"), _with_room(job, to_order, "rank documents", partial(rank, job, signed)))
    if job.policy.verify == "exact" and not job.scheme.columns:
        proposed = _paired(job, signed, stages)
    else:
        proposal = partial(propose, job, signed, engine, stages.progress)
        proposed = stages.placed(job.stage("propose"), _with_room_to_compare(job, proposal))
    blocks = int(proposed["blocks"])
    compared: list[Record] = []
    tasks = {"match": (match, int(proposed["parts"])), "settle": (settle, blocks)}
    if not all(stages.are_done(job.stage(name), number) for name, (_, number) in tasks.items()):
        sizes = [*sizes, *(sum(job.earlier.sizes[begin:end]) for begin, end in job.earlier.groups)]
        rest = 1 - len(job.journal.done(job.stage("gather"))) / len(sizes)
        require_room(job.journal.folder, rest * bytes_to_gather(job, signed), "gather features")
        stages.each(job.stage("gather"), partial(gather, job, signed), sizes)
    for name, (task, number) in tasks.items():
        if number:
            compared += stages.each(job.stage(name), partial(task, job), [1] * number)
    stages.journal.forget(job.stage("gather"))
    removing = engine.begin(partial(remove_features, job))
    decisions = partial(decide, job, signed, blocks, engine)
    record = stages.one(job.stage("decide"), _with_room(job, to_order, "decide", decisions))
    removing()
    result = StoredResult(job, documents, record["rules"])
    counts = {**proposed, **record, "compared": proposed["compared"] + sum(one["compared"] for one in compared)}
    result.summarizing = engine.begin(partial(_summary, job, result, counts, engine, revisits=revisits))
    return result


def _check_forecast(job: Job, found: Forecast, records: list[Record]) -> None:
    """Raise ``StorageFailed`` without room to read the inputs; warn of a lack of disk and memory, and of full buckets.

    The *records* are those of the first shards.
    """
    rest = 1 - len(job.journal.done(job.stage("sign"))) / len(job.shards.shards)
    require_room(job.journal.folder, rest * found.signed, "read the inputs")
    if rest > 0:
        warn_of_shortage(job, found, rest)
        warn_of_full_buckets(job, Signed(job, records[:SHARDS]), found.documents)


def _paired(job: Job, signed: Signed, stages: Stages) -> Record:
    """Store the plausible pairs of all leaders, and place them into blocks."""
    sizes = [end - begin for begin, end in ranges(job)]
    paired = stages.are_done(job.stage("pair"), len(sizes))
    if not paired or needs_rows(job.scheme, job.policy):
        signatures = partial(gather_signatures, job, signed, stages.engine)
        stages.one(job.stage("rows"), _with_room_to_compare(job, signatures))
    if not paired:
        stages.one(job.stage("keys"), partial(gather_keys, job, stages.engine))
        stages.each(job.stage("bucket"), partial(bucket, job), [len(columns) for columns in groups(job)])
    pairs = stages.each(job.stage("pair"), partial(pair, job), sizes, "compare")
    remove_buckets(job)
    return stages.placed(job.stage("arrange"), lambda: arrange(job, job.journal.records(job.stage("bucket")), pairs))


def _with_room(job: Job, needed: Callable[[], float], words: str, task: Callable[[], Record]) -> Callable[[], Record]:
    """Return a task that first raises ``StorageFailed`` unless the disk has room for the bytes that it writes."""

    def checked() -> Record:
        require_room(job.journal.folder, needed(), words)
        return task()

    return checked


def _with_room_to_compare(job: Job, task: Callable[[], Record]) -> Callable[[], Record]:
    return _with_room(job, lambda: bytes_to_compare(job, leader_count(job)), "compare signatures", task)


def records_of(folder: WorkFolder, job: Job) -> list[Record]:
    """Return the records of the shards of a run that has signed all of them."""
    return folder.records(job.stage("sign_text")) or folder.records(job.stage("sign"))


def result_of(folder: WorkFolder, job: Job) -> StoredResult:
    """Return the result, without a summary, of a run that has decided."""
    rules = folder.records(job.stage("decide"))[0]["rules"]
    return StoredResult(job, StoredDocuments(job, records_of(folder, job)), rules)


def lacking_in(records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the fields that no record of any shard has, each with the fields that there are.

    Without records, they are those of tables.
    """
    lacking = LackingFields()
    for record in records:
        lacking.note(record["lacking"], record["documents"])
    some = any(record["documents"] for record in records)
    return {name: existing for name, existing in lacking.found.items() if some or existing}


def require_documents(
    job: Job,
    records: Sequence[Record],
    names: Sequence[str],
    replaced: Container[str] = (),
    fields: Sequence[str] | None = None,
) -> None:
    """Raise ``DataError`` if all records of these inputs were rejected, or none has a field that is not *replaced*.

    The *fields* are by default all that a record of the inputs must have.
    """
    faults_in(records).require_documents(names)
    lacking = lacking_in(records)
    for name in fields_of(job) if fields is None else fields:
        if name in lacking and name not in replaced:
            raise missing_field(first_names(names), name, lacking[name])


def _require_compared(job: Job, records: Sequence[Record], replaced: Container[str]) -> None:
    """Raise the errors of ``require_documents`` for the files that are only compared with: they need what is compared.

    Otherwise all documents would be kept. The texts of an index have what its scheme needs.
    """
    sources = range(job.shards.texts, job.compared)
    own = [one for one, shard in zip(records, job.shards.shards, strict=True) if shard.source in sources]
    names = [display(path) for path in job.shards.inputs[sources.start : sources.stop]]
    require_documents(job, own, names, replaced, [job.shards.request.text, *job.scheme.columns])


def _summary(job: Job, result: StoredResult, counts: Record, engine: LocalEngine, *, revisits: bool) -> Summary:
    """Return the run in numbers; *counts* are those of the stages that proposed, compared and decided."""
    names = ("kept", "exact", "near", "empty", "too_short", "candidates", "compared", "not_compared")
    documents, representatives, exact = result.documents, np.asarray(result.representatives), result.exact
    ids = documents.ids[: len(documents)]
    missing = documents.originals(representatives[exact])["offset"].null_count if revisits else 0
    texts = partial(documents.raw_texts, map_=engine.in_turn)
    hints = dict[str, int]()
    if CANONICAL in job.policy.written_fields:
        signed = documents.signed
        own = slice(int(signed.first - signed.edges[0]), None)  # without those that are only compared with
        hints = hint_counts(signed.addresses()[own], signed.written(CANONICAL)[own], representatives)
    return Summary.of(
        job.scheme,
        job.policy,
        documents=len(documents),
        **{name: counts[name] for name in names},
        duplicate_ids=count_repeats(map(chunk_batch, ids.chunks)),
        known=int((representatives >= len(documents)).sum()),
        revisits_missing=missing,
        **hints,
        **what_is_shared(documents.ids, texts, representatives, exact, job.scheme),
    )
