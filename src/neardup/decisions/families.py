"""Families: many documents that share a rare feature, such as the pages of one template."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.kernels.families import deviations, gather
from neardup.model.arrays import Positions, Words

_LEAST: Final = 32  # members of a family
_FEW: Final = 1 << 18  # features of a family that are always analysed together
_SHARE: Final = 16  # of all features: as many as their analysis needs no more memory than these
_MOST: Final = 8  # values in which two members both deviate, on average; more take as long as a comparison


class Families(NamedTuple):
    """The families of documents, as ``neardup.kernels.joins.join`` takes them.

    *family* is that of each document, or -1; *places* are those of documents in their families; *only* is, for each
    list of a feature, the family of all its documents, or -1. The others are those of ``neardup.kernels.families``:
    *members* and their *bounds*; the sizes of the *medians*; how many values members are *lacking*; where their
    deviations begin, and these; where the lists of *deviants* begin, and these.
    """

    family: npt.NDArray[np.int32]
    places: Positions
    only: npt.NDArray[np.int32]
    members: Positions
    bounds: Positions
    medians: Positions
    lacking: Positions
    deviation_begins: Positions
    deviating: npt.NDArray[np.uint32]
    deviant_begins: Positions
    deviants: npt.NDArray[np.uint32]


def families_of(
    sets: tuple[Words, Positions, Positions], begins: Positions, owners: npt.NDArray[np.uint32]
) -> Families:
    """Make families of documents that share a feature; the longest lists come first.

    ``owners[begins[k] : begins[k + 1]]`` are the documents with feature *k*. Documents that deviate from each other in
    too many values are not a family.
    """
    sizes, lengths = sets[2], np.diff(begins)
    number = len(sizes)
    lists = np.flatnonzero(lengths >= _LEAST)
    lists = lists[np.argsort(-lengths[lists], kind="stable")]
    family = np.full(number, -1, np.int32)
    members, bounds = np.empty(number, np.int64), np.zeros(number // _LEAST + 1, np.int64)
    most = max(_FEW, int(sizes.sum()) // _SHARE)
    found = gather(begins, owners, sizes, lists, _LEAST, most, family, members, bounds)
    bounds = bounds[: found + 1]
    members = members[: bounds[-1]]
    medians, *others = deviations(sets, members, bounds, _MOST)
    widths = np.diff(bounds)
    places = np.zeros(number, np.int64)
    places[members] = np.arange(len(members)) - np.repeat(bounds[:-1], widths)
    family[members[np.repeat(medians < 0, widths)]] = -1
    least, greatest = (own.reduceat(family[owners], begins[:-1]) for own in (np.minimum, np.maximum))
    only = np.where(least == greatest, least, np.int32(-1))
    return Families(family, places, only, members, bounds, medians, *others)
