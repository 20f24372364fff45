"""Pages that were dropped for another page of their host: without templates, navigation and notices make them alike."""

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.templates import LEAST
from neardup.model.arrays import Flags, Positions
from neardup.text.columns import gathered


@dataclass(frozen=True, slots=True, kw_only=True)
class SameHostDrops:
    """The pages that were dropped as near duplicates of a page of the same host, read without templates.

    Only hosts with ``LEAST`` of them count, which is how many pages a line of a template is on at least. *host* has the
    most, *most*; of several, it is the first by name. *pages* are those of all *hosts*.
    """

    pages: int
    hosts: int
    host: str
    most: int

    @classmethod
    def of(cls, ids: pa.ChunkedArray, places: pa.Table | None, representatives: Positions, exact: Flags) -> Self | None:
        """Count the pages with these *ids*, or with the URLs in their *places*; ``None`` if no host has enough of them.

        *representatives* are the positions of those that pages are dropped for, or -1; documents of other runs have
        larger positions. *exact* is whether both are equal byte by byte.
        """
        from neardup.sources.hosts import host  # most runs need no addresses

        addresses = ids if places is None else pc.coalesce(places["url"], ids.cast(pa.large_string()))
        near = np.flatnonzero((representatives >= 0) & (representatives < len(addresses)) & ~exact)
        sides = (
            gathered(addresses, rows).cast(pa.large_string()).to_pylist() for rows in (near, representatives[near])
        )
        counts: Counter[str] = Counter()
        for own, other in zip(*(map(host, side) for side in sides), strict=True):
            if own is not None and own == other:
                counts[own] += 1
        enough = {name: number for name, number in counts.items() if number >= LEAST}
        if not enough:
            return None
        first = min(enough, key=lambda name: (-enough[name], name))
        return cls(pages=sum(enough.values()), hosts=len(enough), host=first, most=enough[first])
