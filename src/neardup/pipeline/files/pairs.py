"""All pairs of the documents of files, in a work folder: the collections may be larger than memory."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa

from neardup.engines.journal import is_interrupted
from neardup.engines.local import LocalEngine
from neardup.engines.processes import Processes
from neardup.model.errors import OutputRefused, ParameterError, require_flag, require_path, require_paths, require_whole
from neardup.model.memory import LEAST_OF_RUN, OF_RUN
from neardup.model.policy import Policy
from neardup.pipeline.corpus.run import scheme_of_texts
from neardup.pipeline.partners.pairs import PAIRS_OF_TEXTS, PairMeasure, PairRule
from neardup.pipeline.progress import Progress, followed
from neardup.pipeline.spilled.changes import abandoning, journal_of, terms_of
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.joins import BlockPairs, StoredSets, compare, shingle, tables
from neardup.pipeline.spilled.outputs import record_places, require_own
from neardup.pipeline.spilled.run import Stages, require_documents
from neardup.pipeline.spilled.signing import faults_in
from neardup.schemes.scheme import Scheme
from neardup.sources.copies import needs_copy
from neardup.sources.formats import AnyPath, local_folder
from neardup.sources.inputs import inputs_of
from neardup.sources.output import check_table, write_table
from neardup.sources.pages import extracting
from neardup.sources.record_faults import QuotedLines, RecordFaults, Rejected, WithoutText
from neardup.sources.request import Request
from neardup.sources.shards import SHARD, Shards

_MOST: Final = 1 << 60  # bytes of memory
_BLOCKS: Final = 16  # blocks whose features have as many bytes as the memory: two, and tables of them, are in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedFiles:
    """The numbers of *documents* and of their *pairs*, and the records that were rejected, or have no text.

    *quoted_lines* describes records with line ends inside quotes, if there are any and quoting was not requested.
    """

    documents: int
    pairs: int
    rejected: list[Rejected]
    without_text: WithoutText | None
    quoted_lines: QuotedLines | None

    @classmethod
    def of(cls, read: RecordFaults, pairs: int) -> Self:
        """Return these numbers for what was read."""
        names = ("documents", "rejected", "without_text", "quoted_lines")
        return cls(pairs=pairs, **{name: getattr(read, name) for name in names})


def pair_files(  # noqa: PLR0913 - every one an option of the command line
    inputs: Sequence[AnyPath],
    others: Sequence[AnyPath] | None = None,
    *,
    out: AnyPath,
    work: AnyPath,
    memory: int = OF_RUN,
    restart: bool = False,
    force: bool = False,
    measure: PairMeasure = "resemblance",
    threshold: float | None = None,
    clusters: bool = False,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    scheme: Scheme | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **reading: Any,
) -> PairedFiles:
    """Write all pairs of the documents of files to *out*; the same as ``pairs`` finds, in the same order.

    The features of all documents are stored in the folder *work*, which is removed at the end; if the run is
    interrupted, the same call continues it. Blocks of documents are compared, each with itself and with every other
    block whose sizes allow the threshold, so that *memory* bytes are enough: with half the memory, there are up to four
    times as many comparisons of blocks. About 40 bytes per document are in memory in addition. *reading* are parameters
    of ``neardup.sources.read``.

    Raises the errors of ``pairs``; ``ParameterError`` for standard input and URLs, ``OutputError`` for an output that
    cannot be written, ``RunChanged`` if the work folder is of another run, ``RunComplete`` if only its removal was
    left, ``StorageBusy`` if another process uses it, and ``StorageFailed`` if the system refuses.
    """
    chosen = scheme_of_texts(scheme, PAIRS_OF_TEXTS)
    least = chosen.threshold if threshold is None else threshold
    rule = PairRule(measure, least, clusters=clusters, between=others is not None)
    memory = min(require_whole("memory", memory, LEAST_OF_RUN, unit="bytes"), _MOST)
    block = memory // _BLOCKS
    request = Request(text=text, id=id, **reading)
    folder = local_folder("work", work)
    names = [*require_paths("inputs", inputs), *require_paths("others", () if others is None else others)]
    require_path("out", out)
    for name, flag in {"restart": restart, "force": force}.items():
        require_flag(name, flag)
    continues = not restart and is_interrupted(folder)  # an output that exists may be its own
    check_table(out, [os.fspath(name) for name in names], force=force or continues, name="out")
    if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(folder)):
        raise OutputRefused(os.fspath(out), "it must not be inside the work folder; name a path elsewhere")
    with followed(progress) as follow, LocalEngine(threads) as engine, Processes(engine.threads) as processes:
        processes.turn_to(extracting(request.extraction))
        request = replace(request, processes=processes)
        compared = len(inputs_of(inputs, request, others or ()).paths) if rule.between else 0
        shards = Shards.opened(inputs_of(names, request), request)
        for path in filter(needs_copy, shards.inputs):
            raise ParameterError("inputs", path, "cannot be used with a work folder; save it first")
        searched = {"measure": rule.measure, "threshold": rule.threshold, "memory": memory}
        here = {"out": os.path.abspath(out), "clusters": clusters}  # noqa: PTH100 - as named
        terms = terms_of(shards, chosen, shards.extraction, here, compared=compared, pairs=searched)
        with journal_of(folder, terms, restart=restart) as journal:
            stages = Stages(journal, engine, follow)
            begun = stages.one("split-", lambda: {"shards": shards.cut(min(SHARD, block), compared).to_dict()})
            shards = Shards.from_dict(begun["shards"], request)
            job = Job(journal, shards, chosen, Policy(), np.zeros(2, np.uint64), block, compared)
            require_own(job, (), os.fspath(out), force=force)
            paired = _write_pairs(job, rule, stages, os.fspath(out), clusters=clusters)
            journal.finish()
    return paired


def _write_pairs(job: Job, rule: PairRule, stages: Stages, out: str, *, clusters: bool) -> PairedFiles:
    """Find the pairs, stage by stage, and write them."""
    shards, compared = job.shards.shards, job.compared
    number = sum(shard.source < compared for shard in shards)
    with abandoning(stages.journal):
        records = stages.each("shingle-", partial(shingle, job, rule), [shard.size for shard in shards], "read")
        names = job.shards.names
        require_documents(job, records[:number], names[:compared])
        require_documents(job, records[number:], names[compared:])
    stored = StoredSets(job, rule, records)
    first = int(stored.shards[number]) if rule.between else None
    blocks = BlockPairs(stored.sizes, first or 0, job.block, rule)
    one_by_one = Stages(stages.journal, stages.engine, stages.progress, lambda _: map)  # each with all threads
    found = one_by_one.each(
        "compare-", lambda task: compare(job, rule, blocks.loaded(stored, task), stages.engine, task), blocks.work
    )

    def written() -> Iterator[pa.Table]:
        yield from tables(job, rule, stored, found, first, clusters=clusters)
        record_places(job, [out])

    write_table(out, written(), force=True)
    return PairedFiles.of(faults_in(records), sum(one["pairs"] for one in found))
