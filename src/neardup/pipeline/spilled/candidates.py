"""Candidates: the plausible pairs of all leaders, stored, and the blocks in which they are compared.

Tasks of some columns find their buckets; tasks of a range of ranks propose candidates from all of these.
"""

from contextlib import ExitStack
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.decisions.drops import GivenMatches
from neardup.decisions.evidence import COSINE
from neardup.engines.journal import Files
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import RANGE, Column, column_of, proposed
from neardup.kernels import sets as kernels
from neardup.model.arrays import Flags, Positions, inverse, parts_of, ragged
from neardup.model.candidates import Candidates, Ranks, joined
from neardup.pipeline.corpus.comparison import SignatureKeys, pairs_left
from neardup.pipeline.progress import Progress
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.ranking import (
    FEATURES,
    LEADER_OF,
    LEADER_POSITIONS,
    PRESENT,
    ROWS_OF_LEADERS,
    StoredKeys,
    comparison_of,
    gather_keys,
    gather_signatures,
    leader_count,
    ranked,
    remove_signatures,
    signatures,
)
from neardup.pipeline.spilled.signing import Signed

MATCHED: Final = "matched.raw"  # int64[h]: the kept leader that a leader is dropped for, or -1
BLOCKS: Final = "blocks.raw"  # int32: the block of a unit, or -1
UNITS: Final = "units.raw"  # int32[n]: by position, the number of the document among those compared, or -1
LEADERS: Final = "leaders.raw"  # int64[n]: by rank, the rank of the leader; only where fields are signed
ASKING: Final = "asking.raw"  # int64: places in the pairs, of each block in turn
ASKING_BOUNDS: Final = "asking_bounds.raw"
PARTS: Final = "parts.raw"  # int64[m, 3]: of each part of a large block: the block, and where the part begins and ends
_BYTES: Final = 8  # of a feature
_BUCKET: Final = "bucket-"
_PAIR_KINDS: Final = (np.int32, np.int64, np.int32)  # of the files of pairs: see ``Candidates``
_LEADERS: Final = 1 << 14  # for each task of finding buckets
_MOST_RANGES: Final = 64  # each task reads the buckets of all ranks
_MOST_PARTS: Final = 256  # each task reads where all features of the block are
_OF_DOCUMENT: Final = 200  # bytes that comparing a document takes besides its features


def groups(job: Job) -> list[range]:
    """Cut the columns of the stored keys into groups, one for each task; there is one if there are few leaders."""
    columns = 1 if job.scheme.position_independent else StoredKeys(job).columns
    number = max(1, min(columns, leader_count(job) // _LEADERS))
    return [range(columns * place // number, columns * (place + 1) // number) for place in range(number)]


def bucket(job: Job, task: int) -> dict[str, Any]:
    """Find the buckets of some columns of keys, and store them."""
    known = signatures(job)
    keys = SignatureKeys(job.scheme, known) if job.scheme.position_independent else StoredKeys(job)
    options: dict[str, Any] = {"first": len(job.earlier), "position_independent": job.scheme.position_independent}
    found = [column_of(keys, np.asarray(known.present), column=column, **options) for column in groups(job)[task]]
    members, sizes = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[:2])
    files = job.save(_members(task), members) | job.save(_sizes(task), sizes)
    return {"not_compared": sum(column.not_compared for column in found), "files": files}


def ranges(job: Job) -> list[tuple[int, int]]:
    """Cut the ranks that ask for candidates into ranges, one for each task."""
    first, end = len(job.earlier), leader_count(job)
    number = max(1, min(_MOST_RANGES, -(-(end - first) // RANGE)))
    return [*pairwise(first + (end - first) * place // number for place in range(number + 1))]


def pair(job: Job, task: int) -> dict[str, Any]:
    """Propose candidates to a range of ranks, and store the plausible pairs; the buckets of all columns are stored."""
    begin, end = ranges(job)[task]
    stored = [_column(job, task).within(begin, end) for task in range(len(groups(job)))]
    comparison = comparison_of(job, LocalEngine(1))
    kept = np.ones(end, np.bool_)
    kept[: len(job.earlier)] = job.earlier.representatives < 0  # no document is dropped for a dropped document
    candidates = 0
    with ExitStack() as stack:
        files = [stack.enter_context(job.output(name)) for name in _pairs(task)]
        files[1].write(np.zeros(1, np.int64).tobytes())
        number = 0
        for block in proposed(stored, begin, end):
            candidates += len(block.candidates)
            plausible = comparison.plausible(block.where(kept[block.candidates]) if len(job.earlier) else block)
            some = np.diff(plausible.bounds) > 0
            parts = (plausible.asking[some], number + plausible.bounds[1:][some], plausible.candidates)
            for file, part, kind in zip(files, parts, _PAIR_KINDS, strict=True):
                file.write(np.ascontiguousarray(part, kind).tobytes())
            number += len(plausible.candidates)
    return {"candidates": candidates, "files": job.files(*_pairs(task))}


class StoredPairs:
    """The stored pairs of all ranges, in places by rank: each has an asking document and its candidates."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.parts = [_stored(job, task) for task in range(len(ranges(job)))]
        self._edges = np.cumsum([0, *(len(part.asking) for part in self.parts)]).tolist()

    def __len__(self) -> int:
        return int(self._edges[-1])

    @property
    def asking(self) -> Ranks:
        """The asking document of each place."""
        return np.concatenate([part.asking for part in self.parts])

    def at(self, places: Positions) -> Candidates:
        """Return the pairs of some places, at least one, which ascend."""
        found: list[Candidates] = []
        for part, (begin, end) in zip(self.parts, pairwise(self._edges), strict=True):
            own = places[slice(*np.searchsorted(places, [begin, end]))] - begin
            if len(own):
                begins, ends = part.bounds[own], part.bounds[own + 1]
                counts = ends - begins
                bounds = np.concatenate([[0], np.cumsum(counts)])
                found.append(Candidates(part.asking[own], bounds, part.candidates[ragged(begins, counts)]))
        return joined(found)


def place(roots: npt.NDArray[np.integer[Any]], involved: Flags, sizes: Positions, limit: int) -> tuple[Ranks, int]:
    """Place whole components into blocks of at most twice *limit*, larger components into blocks of their own.

    ``roots[d]`` is the first document of the component of document *d*; only *involved* documents are placed.
    *sizes* is int64[n]. Components are placed in the order of their roots. Returns each document's block (int32[n], -1
    for others) and the number of blocks; those of larger components are the last. No documents need no blocks.
    """
    members = np.flatnonzero(involved)
    blocks = np.full(len(roots), -1, np.int32)
    if not len(members):
        return blocks, 0
    firsts, of = np.unique(roots[members], return_inverse=True)
    totals = np.bincount(of, weights=sizes[members]).astype(np.int64)
    large = totals > limit
    small = np.where(large, 0, totals)
    filled = (np.cumsum(small) - small) // max(limit, 1)
    _, filled = np.unique(filled, return_inverse=True)  # without gaps
    ordinary = int(filled[~large].max(initial=-1)) + 1
    numbers = np.empty(len(firsts), np.int32)
    numbers[~large] = filled[~large]
    numbers[large] = ordinary + np.arange(int(large.sum()))
    blocks[members] = numbers[of]
    return blocks, ordinary + int(large.sum())


def arrange(job: Job, buckets: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the components of the stored pairs, and place these into blocks; the records are those of all tasks."""
    number = len(job.array(LEADER_OF, np.int32))
    leaders = job.array(LEADER_POSITIONS, np.int64)
    present = np.asarray(job.array(PRESENT, np.bool_, len(leaders)))
    parents, involved, stored = np.arange(len(leaders)), np.zeros(len(leaders), np.bool_), StoredPairs(job)
    for part in stored.parts:
        involved[part.asking] = True
        involved[part.candidates] = True
        holds = np.ones(len(part.candidates), np.bool_)
        kernels.connect_given(part.asking, np.array(part.bounds), part.candidates, holds, parents)
    kernels.roots(parents)
    units = np.full(number, -1, np.int32)
    units[leaders[involved]] = np.flatnonzero(involved)
    sizes = _BYTES * np.asarray(job.array(FEATURES, np.int64, len(leaders)))
    blocks, count = place(parents, involved, sizes, job.block)
    of = blocks[stored.asking]
    order = np.argsort(of, kind="stable")
    files = job.save(UNITS, units) | job.save(BLOCKS, blocks) | job.save(ASKING, order)
    bounds = np.searchsorted(of[order], np.arange(count + 1))
    parts = _parts(job, sizes[stored.asking][order], bounds)
    files |= job.save(ASKING_BOUNDS, bounds) | job.save(PARTS, parts)
    candidates = sum(record["candidates"] for record in pairs)
    passed = sum(record["not_compared"] for record in buckets)
    return {
        "compared": 0,
        "candidates": candidates,
        "not_compared": min(passed, pairs_left(present, len(job.earlier), candidates)),
        "blocks": count,
        "parts": len(parts),
        "files": files,
    }


def _parts(job: Job, sizes: Positions, bounds: Positions) -> Positions:
    """Cut blocks with more features than are compared at once; see ``PARTS``.

    *sizes* are the bytes of features in each place. For the closest match, for chains and for cosines, the first match
    of a document does not help.
    """
    parts: list[tuple[int, int, int]] = []
    if (job.policy.gather, job.policy.representative) == ("kept", "best-ranked") and job.scheme.rule != COSINE:
        totals = np.diff(np.concatenate([[0], np.cumsum(sizes)])[bounds])
        for block in np.flatnonzero(totals > 2 * job.block).tolist():
            begin, end = bounds[block : block + 2].tolist()
            own = sizes[begin:end] + _OF_DOCUMENT
            cut = parts_of(own, max(2 * job.block, int(own.sum()) // _MOST_PARTS))
            parts += [(block, begin + part.start, begin + part.stop) for part in cut]
    return np.array(parts, np.int64).reshape(-1, 3)


def remove_buckets(job: Job) -> None:
    """Remove what only the comparison of signatures needed: it takes much of the disk."""
    remove_signatures(job)
    for path in job.path(_members(0)).parent.glob(f"{_BUCKET}*"):
        job.remove(path.name)


def propose(job: Job, signed: Signed, engine: LocalEngine, progress: Progress) -> dict[str, Any]:
    """Decide the leaders by their signatures, without texts; place groups of documents with equal fields."""
    gather_signatures(job, signed, engine)
    gather_keys(job, engine)
    comparison = comparison_of(job, engine)
    keys = None if job.scheme.position_independent else StoredKeys(job)
    matcher = (
        comparison.unverified
        if job.policy.verify != "exact"
        else GivenMatches(lambda left, _: np.zeros(len(left), np.bool_))  # equal fields were grouped before
    )
    decided = comparison.decide(matcher, progress, keys, job.earlier.representatives)
    files = job.save(MATCHED, decided.matched)
    blocks = 0
    if job.policy.verify == "exact":
        blocks, more = _groups(job, signed)
        files |= more
    del comparison, keys  # they map the files
    remove_signatures(job)
    if job.path(ROWS_OF_LEADERS).exists():
        files |= job.files(ROWS_OF_LEADERS)
    counts = {"compared": decided.compared, "candidates": decided.candidates, "not_compared": decided.not_compared}
    return {**counts, "blocks": blocks, "parts": 0, "files": files}


def _groups(job: Job, signed: Signed) -> tuple[int, Files]:
    """Place the groups of documents with equal fields, whose texts are measured, into blocks; units are ranks."""
    number = len(signed)
    order, leaders = ranked(job, number), job.array(LEADER_POSITIONS, np.int64)
    ranks = inverse(order)
    own = np.asarray(job.array(LEADER_OF, np.int32, number))
    best = ranks[leaders][own[order]]  # of each group
    several = np.bincount(best, minlength=number)[best] > 1
    units = np.full(len(order), -1, np.int32)
    units[order[several]] = np.flatnonzero(several)
    blocks, count = place(best, several, _BYTES * signed.column("features", np.int64)[order], job.block)
    files = job.save(UNITS, units) | job.save(LEADERS, best) | job.save(BLOCKS, blocks)
    return count, files


def _stored(job: Job, task: int) -> Candidates:
    return Candidates(*(job.array(name, kind) for name, kind in zip(_pairs(task), _PAIR_KINDS, strict=True)))


def _column(job: Job, task: int) -> Column:
    return Column(job.array(_members(task), np.int32), job.array(_sizes(task), np.int32), 0)


def _members(task: int) -> str:
    return f"{_BUCKET}{task:03}-members.raw"


def _sizes(task: int) -> str:
    return f"{_BUCKET}{task:03}-sizes.raw"


def _pairs(task: int) -> list[str]:
    return [f"pairs-{task:03}-{name}.raw" for name in ("asking", "bounds", "candidates")]
