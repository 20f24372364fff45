"""How an index finds candidates."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

from neardup.index.disk.columns import Columns
from neardup.model.arrays import Flags, Words
from neardup.model.tables import TableDesign

Keyed = Callable[[npt.NDArray[Any], Flags], Words]


class Lookup(NamedTuple):
    """How signatures become candidates: by a shared key or, for fingerprints in files, by their distance.

    *keyed* returns the keys of rows of signatures and takes which rows are present. If *pooled*, keys are compared
    across columns. *design* returns the design of tables for a number of fingerprints of 64 bits; without it files have
    lists of keys.
    """

    keyed: Keyed
    pooled: bool
    design: Callable[[int], TableDesign] | None = None


class Terms(NamedTuple):
    """What the scheme defines for a store."""

    columns: Columns
    lookup: Lookup
