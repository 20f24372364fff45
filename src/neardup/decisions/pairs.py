"""All pairs of documents that share enough of their features: exactly, without signatures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.decisions.evidence import SET_MEASURES, FeatureSets
from neardup.kernels.families import deviations, gather
from neardup.kernels.joins import add_occurrences, join, lists, occurrences, parities, rarest_first
from neardup.kernels.sets import OVERLAP, connect_given, roots
from neardup.model.arrays import ROUNDING, Bytes, Positions, Words
from neardup.model.engine import IN_TURN, Engine

_ROOM: Final = 1 << 16  # pairs that are found at a time
_PLACES: Final = 26  # bits of the largest table of occurrences
_PARITIES: Final = 2048  # bits of each document; far longer documents differ in half of them
_LEAST: Final = 32  # members of a family
_FEW: Final = 1 << 18  # features of a family that are always analysed together
_SHARE: Final = 16  # of all features: as many as their analysis needs no more memory than these
_MOST: Final = 8  # values in which two members both deviate, on average; more take as long as a comparison


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPairs:
    """Pairs of documents, ``left < right``, and how much they share; *compared* pairs were compared for them."""

    left: Positions
    right: Positions
    shared: Positions
    compared: int


class Join:
    """Documents whose pairs are found: those whose *measure* is at least *threshold*.

    The measure is ``"resemblance"`` or ``"overlap"``.

    A pair shares one of the rarest features of both, or of the smaller one: if *s* of the *n* features of a document
    must be shared, those are the first ``n - s + 1`` by any order that is the same for all documents (Chaudhuri,
    Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). Rare features first make short lists. What members of a
    family share follows from how they deviate from its median (see ``families_of``); other pairs are
    compared unless the parities of their features differ in too many bits. *sides*, if given, are the collections of
    the documents; then only pairs of two collections count. The features of *sets* are reordered.
    *sizes* are the documents' numbers of distinct features, and *families* those of documents in order of size.
    """

    def __init__(
        self,
        sets: FeatureSets,
        threshold: float,
        *,
        measure: str = "resemblance",
        sides: Words | None = None,
        engine: Engine = IN_TURN,
    ) -> None:
        self._threshold, self._measure = threshold, SET_MEASURES[measure]
        sets.make_all_distinct(np.arange(len(sets.sizes)), engine)
        self._order: Positions = np.argsort(sets.sizes, kind="stable")
        self.sizes, self._sizes = sets.sizes, sets.sizes[self._order]
        self._sets = sets.values, sets.starts[self._order], self._sizes
        self._sides = np.empty(0, np.uint64) if sides is None else sides[self._order]
        self._probes = self._sizes if self._measure == OVERLAP else _first(self._sizes, threshold)
        self._alone = np.empty_like(self._sizes)
        self._parities = np.empty((len(self), _PARITIES // 64), np.uint64)
        self._arrange(engine)
        self._index()

    def _arrange(self, engine: Engine) -> None:
        """Put the rarest features of each document first, by how often features with their highest bits occur."""
        bits = min(_PLACES, max(10, int(self._sizes.sum()).bit_length()))
        shift = np.uint64(64 - bits)
        everything, turns = np.arange(len(self)), len(engine.parts(len(self)))
        tables = len(engine.parts(2))  # two at most, because they are large

        def count(turn: int) -> Bytes:
            values, starts, sizes = self._sets
            found = np.zeros(1 << bits, np.uint8)
            occurrences((values, starts[turn::tables].copy(), sizes[turn::tables].copy()), shift, found)
            return found

        counts, *more = engine.map(count, range(tables))
        for one in more:
            add_occurrences(one, counts)

        def arrange(turn: int) -> None:
            chosen = everything[turn::turns]  # as many long ones as the other threads
            rarest_first(self._sets, shift, counts, chosen, self._probes, self._alone)
            parities(self._sets, chosen, self._parities)

        list(engine.map(arrange, range(turns)))

    def _index(self) -> None:
        """Note which documents have which of their rarest features."""
        sizes, share = self._sizes, self._threshold
        of_indexed = share if self._measure == OVERLAP else 2 * share / (1 + share)  # of the smaller one of a pair
        ends = np.maximum(self._alone, _first(sizes, of_indexed))  # of those that others have, too
        total = int((ends - self._alone).sum())
        begins, owners, at = np.empty(total + 2, np.int64), *np.empty((2, total), np.uint32)
        bits = max(3, (2 * total).bit_length())
        self._table = np.empty(total, np.uint64), np.full(1 << bits, -1, np.int32)
        known = lists(self._sets, self._alone, ends, self._table, begins, owners, at)
        self._lists = begins[: known + 1], owners, at
        self.families = families_of(self._sets, begins[: known + 1], owners)

    def __len__(self) -> int:
        return len(self._sizes)

    def pairs(self, part: slice) -> Iterator[JoinedPairs]:
        """Yield the pairs of a part of the documents, in order of size, with smaller ones, some at a time.

        Threads may take different parts at a time. The order of pairs does not depend on the parts.
        """
        first, room = part.start, _ROOM
        while first < part.stop:
            arrays = [np.empty(room, np.int64) for _ in range(3)]
            following, found, compared = join(
                *(self._sets, self._sides, first, part.stop, self._alone, self._probes, self._parities),
                *(self._table, self._lists, tuple(self.families), self._threshold, self._measure, *arrays),
            )
            if following == first:
                room *= 2
            first = following
            later, earlier, shared = (array[:found] for array in arrays)
            own, others = self._order[later], self._order[earlier]
            yield JoinedPairs(np.minimum(own, others), np.maximum(own, others), shared, compared)


def _first(sizes: Positions, share: float) -> Positions:
    """Return how many of its first features a document must have looked up if *share* of them are shared at least."""
    least = np.maximum(1, np.ceil(share * sizes - ROUNDING)).astype(np.int64)
    return np.asarray(np.maximum(0, sizes - least + 1))


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


def clusters_of(pairs: Iterable[Positions], number: int) -> Positions:
    """Return the smallest position of the documents that pairs, int64[2, n] at a time, connect with each one."""
    parents = np.arange(number)
    for left, right in pairs:
        connect_given(left, np.arange(len(left) + 1), right, np.ones(len(left), np.bool_), parents)
    roots(parents)
    return parents
