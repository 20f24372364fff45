"""How an index finds candidates."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

from neardup.model.arrays import Flags, Words
from neardup.model.tables import TableDesign

Keyed = Callable[[npt.NDArray[Any], Flags], Words]


class Lookup(NamedTuple):
    """How signatures lead to candidates: by a shared key or, of fingerprints in files, by their distance.

    *keyed* gives the keys of rows of signatures, and is told which are there; *pooled* says that a key counts in
    whatever column it stands. *design* says how the tables of so many fingerprints of 64 bits are cut; without it files
    have lists of keys.
    """

    keyed: Keyed
    pooled: bool
    design: Callable[[int], TableDesign] | None = None
