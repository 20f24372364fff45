"""Deciding: the decisions on all documents, from those on the leaders and on blocks of pairs, with their evidence."""

from typing import Any, Final

import numpy as np

from neardup.decisions.evidence import Shared
from neardup.decisions.exact import spread
from neardup.engines.local import LocalEngine
from neardup.model.arrays import Positions, positions_in
from neardup.pipeline.spilled.blocks import ROWS, settled_name
from neardup.pipeline.spilled.candidates import MATCHED
from neardup.pipeline.spilled.job import Job
from neardup.pipeline.spilled.ranking import LEADER_OF, LEADER_POSITIONS, comparison_of, ranked, signatures
from neardup.pipeline.spilled.signing import Signed

REPRESENTATIVES: Final = "representatives.raw"  # int64[n]: by position, the position of the representative, or -1
DROPPED: Final = "dropped.raw"  # int64[d]: as ``StoredResult`` numbers them, ascending
EXACT: Final = "exact.raw"  # bool[d]
RULES: Final = "rules.raw"  # int8[d]: a place in the rules of the record


def decide(job: Job, signed: Signed, blocks: int, engine: LocalEngine) -> dict[str, Any]:
    """Decide every document, and store its representative and the evidence of each drop; count without earlier ones."""
    number = len(signed)
    order, leaders = ranked(job, number), job.array(LEADER_POSITIONS, np.int64)
    leader_of = job.array(LEADER_OF, np.int32, number)
    of = np.asarray(leader_of)[order]  # by rank
    ranks_of_leaders = np.flatnonzero(leaders[of] == order)
    of_leaders, settled = _decided_leaders(job, blocks, len(leaders))
    matched, first = spread(of_leaders, ranks_of_leaders, of), signed.first
    dropped = np.flatnonzero((matched >= 0) & (order >= first))
    dropped = dropped[np.argsort(order[dropped])]  # in the order of positions
    representatives = np.full(len(order), -1, np.int64)
    representatives[order[matched >= 0]] = order[matched[matched >= 0]]
    left, right = order[dropped], order[matched[dropped]]
    own, kept_for = of[dropped], of[matched[dropped]]
    text, length = signed.column("text", np.uint64), signed.column("length", np.int64)  # a keyed digest of the text
    same = (text[left] == text[right]) & (length[left] == length[right]) & (length[left] > 0)
    equal = same if job.scheme.columns else own == kept_for
    exact = same & equal
    units = dropped if job.scheme.columns else own
    comparison = comparison_of(job, engine)
    evidence = comparison.evidence(_shared(settled, units), own, kept_for, equal, exact)
    rules, codes = np.unique(evidence["rule"].astype(str), return_inverse=True)
    files = job.save(REPRESENTATIVES, representatives) | job.save(DROPPED, left - first) | job.save(EXACT, exact)
    files |= job.save(RULES, codes.astype(np.int8))
    for name in evidence.keys() - {"rule"}:
        files |= job.save(f"{name}.raw", evidence[name])
    present = np.asarray(signatures(job).present)
    empty, blank = ~present[np.asarray(leader_of)][first:], signed.column("blank", np.bool_)[first:]
    return {
        "kept": len(order) - first - len(left),
        "exact": int(exact.sum()),
        "near": len(left) - int(exact.sum()),
        "empty": int((empty & blank).sum()),
        "too_short": int((empty & ~blank).sum()),
        "rules": rules.tolist(),
        "files": files,
    }


def _decided_leaders(job: Job, blocks: int, leaders: int) -> tuple[Positions, Positions]:
    """Return the kept leader that each leader is dropped for, or -1, and what was settled; see ``settled_name``."""
    settled = settled_of(job, blocks)
    if job.policy.verify != "exact" or job.scheme.columns:
        return np.asarray(job.array(MATCHED, np.int64, leaders)), settled
    settled = np.concatenate([job.earlier.settled(), settled], axis=1)
    matched = np.full(leaders, -1, np.int64)
    matched[settled[0]] = settled[1]
    return matched, settled


def settled_of(job: Job, blocks: int) -> Positions:
    """Return what was settled in all blocks; see ``settled_name``."""
    parts = (job.array(name, np.int64, shape=(ROWS, -1)) for name in map(settled_name, range(blocks)))
    return np.concatenate([np.empty((ROWS, 0), np.int64), *parts], axis=1)


def _shared(settled: Positions, units: Positions) -> Shared:
    """Return what dropped documents share with their representatives: that of their unit, if it was counted."""
    order = np.argsort(settled[0], kind="stable")
    rows = np.append(order, len(order))[positions_in(settled[0][order], units)]
    counts = np.concatenate([settled[2:], np.zeros((3, 1), np.int64)], axis=1)  # the last: not counted
    return Shared(*counts[:, rows])
