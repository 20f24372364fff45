"""An overview of a run: the resemblance of dropped and kept documents, the sizes of clusters, and examples.

Documents are positions in the input. A cluster is a kept document with all documents that were dropped for it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from neardup.model.arrays import Flags, Positions, Values

BINS: Final = 50
CLUSTERS: Final = 10
MEMBERS: Final = 3
SAMPLE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """A kept document, the number of documents in its cluster, and a few of the dropped ones.

    The examples range from the least resemblance to the greatest; exact duplicates are only included if there are no
    others.
    """

    kept: int
    size: int
    shown: Positions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overview:
    """An overview of a run.

    ``counts[i]``: near duplicates with a resemblance of ``edges[i] <= r < edges[i + 1]``; the last bin includes its
    end. ``unmeasured`` counts those whose resemblance was not measured. ``clusters[i]`` is the number of clusters of
    ``sizes[i]`` documents, 2 or more, ascending; ``alone`` counts kept documents without duplicates. ``largest`` are
    the largest clusters, ties to the smallest position. ``sample`` are near duplicates of different clusters, from the
    least resemblance to the greatest; ``exact`` is one exact duplicate, or -1.
    """

    edges: Values
    counts: Positions
    unmeasured: int
    sizes: Positions
    clusters: Positions
    alone: int
    largest: tuple[Cluster, ...]
    sample: Positions
    exact: int


def overview(representatives: Positions, resemblance: Values, exact: Flags) -> Overview:
    """Return an overview of a run over *n* documents: int64[n], float64[n] and bool[n].

    *representatives* has the position of the kept document for each dropped document, and -1 for a kept document;
    *resemblance* is NaN if it is unknown; *exact* is true for drops that are equal byte by byte. The last two are only
    read for dropped documents. The same arrays return the same overview.
    """
    dropped = np.flatnonzero(representatives >= 0)
    near = dropped[~exact[dropped]]
    known = resemblance[near][~np.isnan(resemblance[near])]
    counts, edges = np.histogram(known, bins=np.arange(BINS + 1) / BINS)  # 0.7, not the number after it
    members = np.bincount(representatives[dropped], minlength=len(representatives))
    kept = np.flatnonzero(representatives < 0)
    sizes, clusters = np.unique(members[members > 0] + 1, return_counts=True)
    largest = np.argsort(-members, kind="stable")[:CLUSTERS]
    copies = dropped[exact[dropped]]
    return Overview(
        edges=edges,
        counts=counts.astype(np.int64),
        unmeasured=len(near) - len(known),
        sizes=sizes.astype(np.int64),
        clusters=clusters.astype(np.int64),
        alone=int((members[kept] == 0).sum()),
        largest=tuple(
            Cluster(
                kept=int(one),
                size=int(members[one]) + 1,
                shown=_spread(np.flatnonzero(representatives == one), resemblance, exact),
            )
            for one in largest
            if members[one]
        ),
        sample=_across(near, representatives, resemblance),
        exact=int(copies[0]) if len(copies) else -1,
    )


def _spread(members: Positions, resemblance: Values, exact: Flags) -> Positions:
    """Choose a few members of a cluster, evenly by the rank of their resemblance; ties to the smallest position."""
    near = members[~exact[members]]
    if not len(near):
        return members[:1]
    ordered = near[np.argsort(resemblance[near], kind="stable")]  # unknown resemblance last
    return ordered[np.unique(np.linspace(0, len(ordered) - 1, MEMBERS).astype(np.int64))]


def _across(near: Positions, representatives: Positions, resemblance: Values) -> Positions:
    """Choose near duplicates of different clusters, as evenly over the range of resemblance as they allow.

    For each of evenly spaced values, the nearest of a cluster not yet chosen is selected, ties to the smallest
    position. If no resemblance is known, they are spread evenly over the input instead.
    """
    values = resemblance[near]
    known = ~np.isnan(values)
    if known.any():
        near, values = near[known], values[known]
    else:
        values = near.astype(np.float64)
    if not len(near):
        return near
    kept = representatives[near]
    free = np.ones(len(near), np.bool_)
    chosen: list[int] = []
    for wanted in np.linspace(values.min(), values.max(), SAMPLE):
        if not free.any():
            break
        nearest = int(np.argmin(np.where(free, np.abs(values - wanted), np.inf)))
        chosen.append(nearest)
        free &= kept != kept[nearest]
    rows = np.array(sorted(chosen, key=lambda row: (values[row], row)), np.int64)
    return near[rows]
