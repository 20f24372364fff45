"""All pairs of documents of any number: their features are in files, and are compared block by block."""

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.decisions.evidence import COSINE, FeatureSets, Shared, WeightedSets, distinct_sets
from neardup.decisions.pairs import clusters_of
from neardup.engines.local import LocalEngine
from neardup.model.arrays import ROUNDING, Features, Positions, Words, ragged
from neardup.pipeline.partners.pairs import PairRule, pair_table
from neardup.pipeline.spilled.job import ID, IDS, Job, of_shard
from neardup.pipeline.spilled.signing import fields_of
from neardup.sources.record_faults import LackingFields, RecordFaults
from neardup.text.columns import batches, gathered

Record = dict[str, Any]

SHINGLED: Final = "shingled-"
_SIZES: Final = ("sizes", "distinct")
_EACH: Final = 320  # bytes of a document in a block, besides its features
_HELD: Final = 1 << 20  # pairs that are sorted together


def shingle(job: Job, rule: PairRule, task: int) -> Record:
    """Read a shard, and store the features of its documents, part by part: the distinct ones unless they count.

    A part has one piece, or several small ones, as those of small inputs are.
    """
    record: Record = {"parts": 0, "files": {}}
    faults = RecordFaults()
    lacking = LackingFields(fields_of(job))
    ids: list[pa.Table] = []
    held: list[tuple[Words, Positions, Positions]] = []
    size = 0  # of the features that are held, in bytes

    def store() -> None:
        name = f"{task:06}-{record['parts']:06}.raw"
        for kind, arrays in zip((SHINGLED, *(f"{kind}-" for kind in _SIZES)), zip(*held, strict=True), strict=True):
            record["files"] |= job.save(f"{kind}{name}", np.concatenate(arrays))
        record["parts"] += 1
        held.clear()

    for piece in job.shards.pieces(job.shards.shards[task]):
        faults.add(piece)
        lacking.add(piece)
        if not len(piece):
            continue
        ids.append(pa.table({"id": piece.ids.cast(pa.large_string())}))
        own = [_stored(job.scheme.shingling.batch_features(batch), rule) for batch in batches(piece.texts)]
        held += own
        size += sum(values.nbytes for values, *_ in own)
        if size >= job.shards.size:
            store()
            size = 0
    if held:
        store()
    record["files"] |= job.save_table(of_shard(IDS, task), pa.concat_tables([pa.schema(ID).empty_table(), *ids]))
    return {**record, **msgspec.to_builtins(faults), "lacking": lacking.found}


def _stored(features: Features, rule: PairRule) -> tuple[Words, Positions, Positions]:
    """Return the features of documents to store, one after the other, their numbers, and those of distinct ones."""
    counted = features.values.copy() if rule.measure == COSINE else None
    sets = distinct_sets(features)
    if counted is not None:
        return counted, np.diff(features.offsets), sets.sizes
    return sets.values[ragged(sets.starts, sets.sizes)], sets.sizes, sets.sizes


class StoredSets:
    """The features of all documents, and their ids, in the files of shards with these *records*.

    *sizes* are the numbers of features that are stored, and *distinct* those of distinct ones.
    """

    def __init__(self, job: Job, rule: PairRule, records: list[Record]) -> None:
        self._job, self._rule = job, rule
        names = [f"{task:06}-{n:06}.raw" for task, one in enumerate(records) for n in range(one["parts"])]
        sizes, distinct = ([np.asarray(job.array(f"{kind}-{name}", np.int64)) for name in names] for kind in _SIZES)
        self._files = [f"{SHINGLED}{name}" for name in names]
        self._edges = np.cumsum([0, *map(len, sizes)])
        self.shards = np.cumsum([0, *(one["documents"] for one in records)])
        self.sizes: Positions = np.concatenate([np.empty(0, np.int64), *sizes])
        self.distinct: Positions = np.concatenate([np.empty(0, np.int64), *distinct])
        self._begins = np.concatenate([np.empty(0, np.int64), *(np.cumsum(one) - one for one in sizes)])
        self.ids = pa.concat_tables(job.table(of_shard(IDS, task)) for task in range(len(records))).column("id")

    def __len__(self) -> int:
        return len(self.sizes)

    def load(self, documents: Positions) -> FeatureSets:
        """Read the features of some documents, ascending."""
        sizes = self.sizes[documents]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        values = np.empty(int(offsets[-1]), np.uint64)
        bounds = np.searchsorted(documents, self._edges)
        for name, begin, end in zip(self._files, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            if begin < end:
                spans = ragged(self._begins[documents[begin:end]], sizes[begin:end])
                values[offsets[begin] : offsets[end]] = self._job.array(name, np.uint64)[spans]
        return self._rule.sets(self._job.scheme, Features(values, offsets))

    def names(self, positions: Positions) -> pa.Array:
        """Return the ids at these positions, as a dictionary."""
        distinct, places = np.unique(positions, return_inverse=True)
        names = gathered(self.ids, distinct).cast(pa.large_string()).dictionary_encode()
        return names.take(pa.array(places))


class BlockPairs:
    """The blocks of *documents* that are compared, and the *pairs* of these: each alone or with another one.

    Documents of similar size are in one block, so that blocks of too different sizes need not be compared.
    """

    def __init__(self, sizes: Positions, first: int, most: int, rule: PairRule) -> None:
        """Cut documents with these numbers of features into blocks of at most about *most* bytes.

        *first* is the first document of the second collection, if the pairs are between two.
        """
        end = first if rule.between else len(sizes)
        own, others = _cut(sizes, 0, end, most), _cut(sizes, end, len(sizes), most)
        every: Iterable[tuple[int, int]] = combinations_with_replacement(range(len(own)), 2)
        if rule.between:
            every = product(range(len(own)), range(len(own), len(own) + len(others)))
        self.documents = [*own, *others]
        ends = [(int(sizes[block].min()), int(sizes[block].max())) for block in self.documents]
        least = rule.threshold if rule.measure == "resemblance" else 0.0

        def may_match(one: int, other: int) -> bool:
            return all(
                ends[left][1] >= least * ends[right][0] - ROUNDING for left, right in ((one, other), (other, one))
            )

        self.pairs = [pair for pair in every if may_match(*pair)]

    @property
    def work(self) -> list[int]:
        """The numbers of documents that are compared for each pair of blocks."""
        return [len(self.documents[one]) + len(self.documents[other]) * (one != other) for one, other in self.pairs]

    def loaded(self, stored: StoredSets, task: int) -> tuple[Positions, FeatureSets, Words | None]:
        """Read a block, or two: return the documents, their features, and which block each is of if there are two."""
        one, other = self.pairs[task]
        if one == other:
            return self.documents[one], stored.load(self.documents[one]), None
        documents = np.sort(np.concatenate([self.documents[one], self.documents[other]]))
        sides = np.isin(documents, self.documents[other], assume_unique=True).astype(np.uint64)
        return documents, stored.load(documents), sides


def _cut(sizes: Positions, begin: int, end: int, most: int) -> list[Positions]:
    """Return blocks of the documents that have features, from small to large ones; positions ascend in each."""
    documents = begin + np.flatnonzero(sizes[begin:end])
    documents = documents[np.argsort(sizes[documents], kind="stable")]
    blocks = np.cumsum(8 * sizes[documents] + _EACH) // most
    edges = np.flatnonzero(np.diff(blocks)) + 1
    return [np.sort(block) for block in np.split(documents, edges) if len(block)]


def compare(
    job: Job, rule: PairRule, loaded: tuple[Positions, FeatureSets, Words | None], engine: LocalEngine, task: int
) -> Record:
    """Find the pairs of two blocks, or of one with itself, and store them in sorted runs."""
    documents, sets, sides = loaded
    join = rule.join(sets, sides, engine)
    held: list[npt.NDArray[np.int32]] = []
    record: Record = {"pairs": 0, "runs": 0, "files": {}}

    def store() -> None:
        left, right, shared = np.concatenate(held, axis=1)
        held.clear()
        order = np.lexsort((right, left))
        left, right, shared = left[order], right[order], shared[order].astype(np.int64)
        run = [documents[left], documents[right], shared]
        if isinstance(sets, WeightedSets):
            run.append(sets.cosines(left, right).view(np.int64))
        record["files"] |= job.save(_run(task, record["runs"]), np.stack(run))
        record["runs"] += 1
        record["pairs"] += len(order)

    for rows in rule.found(join, engine):
        held.append(rows)
        if sum(one.shape[1] for one in held) >= _HELD:
            store()
    if held:
        store()
    return record


def tables(  # noqa: PLR0913 - what was found, of what, by which rule
    job: Job, rule: PairRule, stored: StoredSets, records: list[Record], first: int | None, *, clusters: bool
) -> Iterator[pa.Table]:
    """Yield the pairs of all blocks, some at a time, as ``pairs`` has them in memory; at least one table.

    *first* is the first document of the second collection, if the pairs are between two.
    """
    names = [_run(task, run) for task, one in enumerate(records) for run in range(one["runs"])]
    rows = 3 + (rule.measure == COSINE)
    runs = [job.array(name, np.int64, shape=(rows, -1)) for name in names]
    some = (run[:2, begin : begin + _HELD] for run in runs for begin in range(0, run.shape[1], _HELD))
    connected = clusters_of(map(np.array, some), len(stored)) if clusters else None
    named = [stored.names, lambda positions: stored.names(positions + (first or 0))][: 1 if first is None else 2]
    for begin, end in _ranges(runs, len(stored)):
        bounds = [np.searchsorted(run[0], [begin, end]).tolist() for run in runs]
        parts = [run[:, low:high] for run, (low, high) in zip(runs, bounds, strict=True)]
        every = np.concatenate([np.empty((rows, 0), np.int64), *parts], axis=1)
        left, right, shared, *cosines = every[:, np.lexsort((every[1], every[0]))]
        common = Shared(shared, stored.distinct[left], stored.distinct[right])
        measured = cosines[0].view(np.float64) if cosines else None
        yield pair_table(left, right, common, named, first or 0, measured, connected)


def _ranges(runs: list[Any], number: int) -> list[tuple[int, int]]:
    """Return ranges of left documents that together have about as many pairs as are sorted at a time."""
    counts = np.zeros(number + 1, np.int64)
    for left, *_ in runs:
        for begin in range(0, len(left), _HELD):
            documents, times = np.unique(left[begin : begin + _HELD], return_counts=True)
            counts[documents] += times
    edges = np.flatnonzero(np.diff(np.cumsum(counts) // _HELD)) + 1
    return [*pairwise([0, *edges.tolist(), number + 1])]


def _run(task: int, run: int) -> str:
    return f"pairs-{task:06}-{run:06}.raw"
