"""Ranking: the order of all documents, the groups of equal ones, and what is compared of their leaders."""

from collections import deque
from typing import Any, Final

import numpy as np

from neardup.decisions.exact import Leaders, leaders_by_key
from neardup.decisions.ranking import ranking
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import ROWS
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import AnyPositions, Positions, Signatures, Words
from neardup.model.errors import ValueRefused
from neardup.pipeline.corpus.address_ranks import address_ranks
from neardup.pipeline.corpus.comparison import LeaderComparison, needs_rows
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.signing import Signed
from neardup.schemes.thresholds import thresholds_of
from neardup.text.sites import NO_SITES

ORDER: Final = "order.raw"  # int64[n]: positions from best to worst
LEADER_OF: Final = "leader_of.raw"  # int32[n]: by position, the number of the leader
LEADER_POSITIONS: Final = "leader_positions.raw"  # int64[h]: the positions of the leaders, best first
ROWS_OF_LEADERS: Final = "rows.raw"
PRESENT: Final = "present.raw"
KEYS: Final = "keys.raw"  # uint64[K, ROWS] of the first leaders, then of the next ones
FEATURES: Final = "features.raw"  # int64[h]: the number of features
SITES: Final = "sites.raw"  # uint64[h], if the job has sites


def rank(job: Job, signed: Signed) -> dict[str, Any]:
    """Rank all documents, and group equal ones."""
    order = _order(job, signed)
    equal = signed.equal[order]
    leaders = Leaders.by_rank(leaders_by_key(equal, np.flatnonzero(equal.any(axis=1))), order)
    del equal
    leader_of = np.empty(len(order), np.int32)
    leader_of[order] = leaders.of
    files = job.save(ORDER, order) | job.save(LEADER_OF, leader_of) | job.save(LEADER_POSITIONS, leaders.positions)
    del order
    for name, column, kind in ((FEATURES, "features", np.int64), (PRESENT, "present", np.bool_)):
        files |= job.save(name, signed.column(column, kind)[leaders.positions])
    if job.has_sites:
        files |= job.save(SITES, signed.sites[leaders.positions])
    return {"leaders": len(leaders.positions), "files": files}


def gather_signatures(job: Job, signed: Signed, engine: LocalEngine) -> dict[str, Any]:
    """Store the signatures of the leaders, by rank."""
    gather_rows(job, signed, ROWS_OF_LEADERS, job.array(LEADER_POSITIONS, np.int64), engine)
    return {"files": job.files(ROWS_OF_LEADERS)}


def gather_keys(job: Job, engine: LocalEngine) -> dict[str, Any]:
    """Store the keys of the leaders by column; keys that count in any column are made from the signatures instead."""
    if job.scheme.position_independent:
        return {}
    known = signatures(job)

    def keys(begin: int) -> Words:
        return np.ascontiguousarray(job.scheme.keys(known[begin : begin + ROWS]).T)

    with job.output(KEYS) as file:
        for part in engine.map(keys, range(0, len(known), ROWS)):
            file.write(part.data)
    return {"files": job.files(KEYS)}


def remove_signatures(job: Job) -> None:
    """Remove the keys, and the signatures unless decisions need them: they take much of the disk."""
    job.remove(KEYS)
    if not needs_rows(job.scheme, job.policy):
        job.remove(ROWS_OF_LEADERS)


def ranked(job: Job, number: int) -> Positions:
    """Return the positions of all documents, each once, from best to worst."""
    return np.asarray(job.array(ORDER, np.int64, number))


def leader_count(job: Job) -> int:
    """Return the number of all leaders."""
    return len(job.array(LEADER_POSITIONS, np.int64))


def signatures(job: Job) -> Signatures:
    """Return the signatures of all leaders, by rank; rows of nothing if they were removed."""
    present = np.asarray(job.array(PRESENT, np.bool_, leader_count(job)))
    if not job.path(ROWS_OF_LEADERS).exists():
        return Signatures(np.empty((len(present), 0), np.uint8), present, job.scheme.recipe)
    nothing = job.no_rows()
    rows = job.array(ROWS_OF_LEADERS, nothing.dtype, len(present), shape=(-1, *nothing.shape[1:]))
    return Signatures(rows, present, job.scheme.recipe)


def sites_of(job: Job) -> Words:
    """Return the sites of all leaders, by rank; none if the job has no sites."""
    return np.asarray(job.array(SITES, np.uint64, leader_count(job))) if job.has_sites else NO_SITES


def thresholds(job: Job) -> Thresholds:
    """Return what the leaders need to match, by rank."""
    return thresholds_of(job.scheme, sites_of(job))


def comparison_of(job: Job, engine: LocalEngine) -> LeaderComparison:
    """Return the comparison of all leaders."""
    return LeaderComparison(job.scheme, job.policy, signatures(job), engine, thresholds(job))


class StoredKeys:
    """The keys of the leaders, stored by column."""

    def __init__(self, job: Job) -> None:
        number = leader_count(job)
        self.columns = job.scheme.keys(Signatures(job.no_rows(), np.empty(0, np.bool_), job.scheme.recipe)).shape[1]
        keys = job.array(KEYS, np.uint64, number * self.columns)
        parts = np.split(keys, np.arange(ROWS, number, ROWS) * self.columns)
        self._parts = [part.reshape(self.columns, -1) for part in parts]

    def column(self, column: int, documents: AnyPositions) -> Words:
        """Return the keys of these documents in one column."""
        found: Words = np.concatenate([part[column] for part in self._parts])[documents]
        return found

    def rows(self, documents: AnyPositions) -> Words:
        """Return all keys of these documents."""
        return np.stack([self.column(column, documents) for column in range(self.columns)], axis=1)


def _order(job: Job, signed: Signed) -> Positions:
    """Return all positions from best to worst.

    First are the leaders of a state and the documents of indexes, in order; then those of inputs that are only compared
    with, and then the others, each ranked by the policy.
    """
    known, ordered = len(job.earlier), signed.ordered
    policy = job.policy
    values = {field: job.shards.column(field, signed.ranking(field)) for field in policy.value_fields}
    declared = {field: signed.written(field) for field in policy.written_fields}
    every = signed.addresses() if policy.ranks_addresses else None
    lengths = signed.column("length", np.int64)
    found = [np.arange(ordered)]
    for begin, end in ((ordered, signed.first), (signed.first, len(signed))):
        part = slice(begin - known, end - known)
        own = {field: column[begin - ordered : end - ordered] for field, column in values.items()}
        of_part = {field: column[part] for field, column in declared.items()}
        addresses = None if every is None else address_ranks(policy, every[part], of_part)
        try:
            found.append(begin + ranking(policy, lengths[begin:end], own, addresses))
        except ValueRefused as error:
            row = begin + error.row
            shard = int(np.searchsorted(signed.edges, row, side="right")) - 1
            raise error.at(job.shards.place(shard, row - int(signed.edges[shard]))) from error
    return np.concatenate(found)


def gather_rows(  # noqa: PLR0913 - the rows, and where they go
    job: Job, signed: Signed, name: str, leaders: Positions, engine: LocalEngine, *, whole: bool = False
) -> None:
    """Store the signature rows of the documents at these positions; a state's leaders are all among them or none.

    *Whole* ones are only stored of documents that are not in a state yet.
    """
    number_at = np.full(len(signed), -1, np.int32)  # by position
    number_at[leaders] = np.arange(len(leaders), dtype=np.int32)
    nothing = job.no_rows(whole=whole)
    kind, shape = nothing.dtype, nothing.shape[1:]
    with job.new_array(name, kind, (len(leaders), *shape)) as rows:
        begin = 0
        for part in job.earlier.signatures(kind, shape) if signed.edges[0] and number_at[0] == 0 else ():
            rows[begin : begin + len(part)] = part
            begin += len(part)

        def put(shard: int) -> None:
            numbers = number_at[signed.edges[shard] : signed.edges[shard + 1]]
            leads = numbers >= 0
            rows[numbers[leads]] = signed.rows(shard, whole=whole)[leads]

        deque(engine.map(put, range(len(signed.edges) - 1)), maxlen=0)
