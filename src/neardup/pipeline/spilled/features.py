"""Gathering: the features of the documents that are compared, in one file a task, ordered by block."""

from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Features, Flags, Positions, Words
from neardup.pipeline.corpus.documents import rows_in
from neardup.pipeline.spilled.candidates import BLOCKS, UNITS
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.ranking import sites_of
from neardup.pipeline.spilled.signing import Signed
from neardup.text.columns import batches, gathered
from neardup.text.sites import separate

_NONE: Final[Words] = np.empty(0, np.uint64)
_ROWS: Final = 4  # of a file of spans


class FeatureSpans(NamedTuple):
    """Where features are: those of unit ``units[i]`` are ``starts[i]`` to ``ends[i]`` of the file of ``tasks[i]``."""

    units: Positions
    tasks: Positions
    starts: Positions
    ends: Positions

    def at(self, chosen: Positions) -> "FeatureSpans":
        """Return some of them."""
        return FeatureSpans(*(column[chosen] for column in self))


def gather(job: Job, signed: Signed, task: int) -> dict[str, Any]:
    """Read a shard again, or a group of small ones, and store the features of its documents that are in a block.

    The groups, of a state's leaders, come after the shards of the inputs.
    """
    units = job.array(UNITS, np.int32, len(signed))
    own = task - len(job.shards.shards)
    if own < 0:
        of_rows = units[signed.edges[task] : signed.edges[task + 1]]
        every = [(signed.texts(task), np.arange(len(of_rows)), of_rows)]
    else:
        group = [(shard, *job.earlier.kept_of(shard)) for shard in range(*job.earlier.groups[own])]
        every = [(job.earlier.texts_of(shard), rows, units[leaders]) for shard, leaders, rows in group]
    chosen = np.concatenate([of_rows[of_rows >= 0] for *_, of_rows in every])
    stored = job.array(BLOCKS, np.int32)
    sites = sites_of(job)
    parts: list[Words] = []  # the features of each document, where they were made
    for piece, _, rows in chain.from_iterable(rows_in(texts, rows[of_rows >= 0]) for texts, rows, of_rows in every):
        for batch in batches(pa.chunked_array([gathered(piece, rows)])):
            features = job.scheme.shingling.batch_features(batch)
            some = chosen[len(parts) : len(parts) + len(batch)]
            separate(features, sites[some] if len(sites) else sites, np.arange(len(batch)))
            parts += [features.values[low:high] for low, high in pairwise(features.offsets.tolist())]
    blocks = np.asarray(stored[chosen])
    order = np.lexsort((chosen, blocks))
    parts = [parts[place] for place in order.tolist()]
    values = np.concatenate([_NONE, *parts])
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    spans = np.stack([blocks[order], chosen[order], np.append(0, ends[:-1])[: len(ends)], ends])
    files = job.save(_name(task), values) | job.save(_spans(task), spans)
    return {"features": len(values), "files": files}


def spans_of(job: Job, block: int, wanted: Flags | None = None) -> FeatureSpans:
    """Find the features of a block, or of its units that are *wanted* (bool, by unit); units ascend."""
    found: list[tuple[Positions, ...]] = []
    for task in range(len(job.shards.shards) + len(job.earlier.groups)):
        blocks, *stored = job.array(_spans(task), np.int64, shape=(_ROWS, -1))
        begin, end = np.searchsorted(blocks, [block, block + 1]).tolist()
        if begin < end:
            chosen = slice(begin, end) if wanted is None else begin + np.flatnonzero(wanted[stored[0][begin:end]])
            units, starts, ends = (np.asarray(column[chosen]) for column in stored)
            found.append((units, np.full(len(units), task), starts, ends))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return FeatureSpans(*(column[order] for column in columns))


def load(job: Job, chosen: FeatureSpans) -> Features:
    """Read the features of some units, in their order."""
    files = {int(task): np.asarray(job.array(_name(task), np.uint64)) for task in np.unique(chosen.tasks)}
    spans = zip(chosen.tasks.tolist(), chosen.starts.tolist(), chosen.ends.tolist(), strict=True)
    values = np.concatenate([_NONE, *(files[task][begin:end] for task, begin, end in spans)])
    bounds = np.concatenate([[0], np.cumsum(chosen.ends - chosen.starts)])
    return Features(values, bounds, getattr(job.scheme.shingling, "recipe", None))


def remove_features(job: Job) -> None:
    """Remove what was gathered, which takes much of the disk, once all blocks are settled."""
    for task in range(len(job.shards.shards) + len(job.earlier.groups)):
        job.remove(_name(task), _spans(task))


def _name(task: int) -> str:
    return f"features-{task:06}.raw"


def _spans(task: int) -> str:
    """Return the name of the file of spans: int64[4, n], the block, unit, start and end of each document."""
    return f"places-{task:06}.raw"
