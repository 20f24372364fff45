"""Candidates: the plausible pairs of all leaders, stored, and the blocks in which they are compared."""

from contextlib import ExitStack
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from neardup.decisions.drops import Candidates, GivenMatches
from neardup.decisions.placing import Placed, place
from neardup.engines.local import LocalEngine
from neardup.kernels import sets as kernels
from neardup.model.arrays import Flags, Positions
from neardup.pipeline.comparison import Comparison, unverified
from neardup.pipeline.progress import Progress
from neardup.pipeline.spilled.heads import (
    FEATURES,
    HEAD_OF,
    HEADS,
    ORDER,
    ROWS_OF_HEADS,
    StoredKeys,
    gather_signatures,
    remove_signatures,
    signatures,
)
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.signed import Signed

MATCHED: Final = "matched.npy"  # int64[h]: the kept leader that a leader is dropped for, or -1
BLOCKS: Final = "blocks.npy"  # int32: the block of a unit, or -1
UNITS: Final = "units.npy"  # int32[n]: by position, the number of the document among those compared, or -1
LEADERS: Final = "leaders.npy"  # int64[n]: by rank, the rank of the leader; only where fields are signed
ASKING: Final = "asking.npy"  # int64: places in the pairs, of each block in turn
ASKING_BOUNDS: Final = "asking_bounds.npy"
_BYTES: Final = 8  # of a feature
_PAIRS: Final = ("pairs_asking.raw", "pairs_count.raw", "pairs_candidates.raw")  # int32


class _Written:
    """Writes the pairs that are proposed, and joins the components that they connect; decides nothing."""

    compared = 0

    def __init__(self, files: list[BinaryIO], number: int) -> None:
        self._files = files
        self.parents: Positions = np.arange(number)
        self.involved: Flags = np.zeros(number, np.bool_)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Write the pairs of one block."""
        del matched
        counts = np.diff(block.bounds)
        some = counts > 0
        for file, column in zip(self._files, (block.asking[some], counts[some], block.candidates), strict=True):
            file.write(np.ascontiguousarray(column, np.int32).tobytes())
        self.involved[block.asking[some]] = True
        self.involved[block.candidates] = True
        holds = np.ones(len(block.candidates), np.bool_)
        kernels.connect_given(block.asking, block.bounds, block.candidates, holds, self.parents)

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Write the pairs of one block."""
        self.settle(block, parents)


class Pairs:
    """The stored pairs: those of place *i* are ``asking[i]`` with ``candidates[bounds[i]:bounds[i + 1]]``."""

    def __init__(self, job: Job) -> None:
        self.asking, counts, self.candidates = (_mapped(job, name) for name in _PAIRS)
        self.bounds: Positions = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def propose(job: Job, signed: Signed, engine: LocalEngine, progress: Progress) -> dict[str, Any]:
    """Compare the signatures of all leaders; decide at once if no texts are verified, otherwise place the pairs."""
    gather_signatures(job, signed)
    known = signatures(job)
    comparison = Comparison(job.scheme, job.policy, known, engine)
    keys = None if job.scheme.pooled else StoredKeys(job)
    earlier = job.earlier.representatives
    if job.policy.verify == "exact" and not job.scheme.columns:
        with ExitStack() as stack:
            written = _Written([stack.enter_context(job.output(name)) for name in _PAIRS], len(known))
            decided = comparison.decide(written, progress, keys, earlier)
        files = job.sizes(*_PAIRS)
        kernels.roots(written.parents)
        heads, units = job.array(HEADS), np.full(len(job.array(HEAD_OF)), -1, np.int32)
        units[heads[written.involved]] = np.flatnonzero(written.involved)
        files |= job.save(UNITS, units)
        placed = place(written.parents, written.involved, _BYTES * np.asarray(job.array(FEATURES)), job.block)
        files |= job.save(BLOCKS, placed.blocks)
        files |= _in_order(job, placed)
    else:
        placed = Placed(np.empty(0, np.int32), 0, 0)
        matcher = (
            unverified(job.scheme, job.policy, known)
            if job.policy.verify != "exact"
            else GivenMatches(lambda left, _: np.zeros(len(left), np.bool_))  # equal fields were grouped before
        )
        decided = comparison.decide(matcher, progress, keys, earlier)
        files = job.save(MATCHED, decided.matched)
        if job.policy.verify == "exact":
            placed, more = _groups(job, signed)
            files |= more
    del known, comparison, keys  # they map the files
    remove_signatures(job)
    if job.path(ROWS_OF_HEADS).exists():
        files |= job.sizes(ROWS_OF_HEADS)
    counts = {"compared": decided.compared, "candidates": decided.candidates, "not_compared": decided.not_compared}
    return {**counts, "blocks": placed.number, "files": files}


def _in_order(job: Job, placed: Placed) -> dict[str, int]:
    """Store the order of the pairs by block, then by rank."""
    of = placed.blocks[_mapped(job, _PAIRS[0])]
    order = np.argsort(of, kind="stable")
    edges = np.searchsorted(of[order], np.arange(placed.number + 1))
    return job.save(ASKING, order) | job.save(ASKING_BOUNDS, edges)


def _groups(job: Job, signed: Signed) -> tuple[Placed, dict[str, int]]:
    """Place the groups of documents with equal fields, whose texts are measured; units are ranks."""
    order, heads = np.asarray(job.array(ORDER)), job.array(HEADS)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    leaders = ranks[heads][np.asarray(job.array(HEAD_OF))[order]]
    several = np.bincount(leaders, minlength=len(leaders))[leaders] > 1
    units = np.full(len(order), -1, np.int32)
    units[order[several]] = np.flatnonzero(several)
    placed = place(leaders, several, _BYTES * signed.column("features", np.int64)[order], job.block)
    files = job.save(UNITS, units) | job.save(LEADERS, leaders) | job.save(BLOCKS, placed.blocks)
    return placed, files


def _mapped(job: Job, name: str) -> npt.NDArray[np.int32]:
    path = job.path(name)
    return np.memmap(path, np.int32, "r") if path.stat().st_size else np.empty(0, np.int32)
