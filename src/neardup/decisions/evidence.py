"""The evidence: how much two documents have in common, measured on their feature sets."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.kernels.cosines import cosines, make_weighted
from neardup.kernels.sets import CONTAINMENT, OVERLAP, RESEMBLANCE, intersections, make_distinct
from neardup.model.arrays import AnyPositions, Features, Flags, Positions, Values, Words
from neardup.model.engine import Engine, in_parts

COLUMNS: Final = ("resemblance", "contained_in_kept", "contains_kept")
SET_MEASURES: Final = {"resemblance": RESEMBLANCE, "overlap": OVERLAP, "containment": CONTAINMENT}
COSINE: Final = "cosine"

WeightTable = tuple[Words, Positions, npt.NDArray[np.uint32], np.uint32]  # see ``neardup.kernels.weights``


def exact_measure(rule: str) -> str:
    """Return what exact verification compares for a scheme's *rule*: the rule itself, or the resemblance."""
    return rule if rule in SET_MEASURES or rule == COSINE else "resemblance"


class FeatureSets:
    """The features of documents, made distinct on demand; those of document *d* are at ``positions[d]``.

    Repeats are removed in place, per document, when it is first compared: most documents are never compared.
    """

    def __init__(self, features: Features, positions: Positions) -> None:
        self.positions = positions
        self.values: Words = features.values
        self.starts: Positions = features.offsets[positions]
        self.sizes: Positions = features.offsets[positions + 1] - self.starts
        self._distinct: Flags = np.zeros(len(positions), np.bool_)

    def add(self, features: Features, documents: Positions, positions: Positions) -> None:
        """Set the features of more *documents*, which had none: those at *positions*, behind all features so far."""
        self.values = features.values
        self.positions[documents] = positions
        self.starts[documents] = features.offsets[positions]
        self.sizes[documents] = features.offsets[positions + 1] - self.starts[documents]

    @property
    def arrays(self) -> tuple[Words, Positions, Positions]:
        """The sets as ``neardup.kernels.sets`` takes them."""
        return self.values, self.starts, self.sizes

    def repeating(self, documents: AnyPositions) -> Positions:
        """Return those of these documents whose repeats have not been removed, each once."""
        asked = np.zeros(len(self.positions), np.bool_)
        asked[documents] = True
        return np.flatnonzero(asked & ~self._distinct)

    def make_distinct(self, documents: Positions) -> None:
        """Remove the repeats of these documents, unless that has been done.

        Threads may call it in parallel for different documents.
        """
        make_distinct(self.arrays, documents, self._distinct)

    def make_all_distinct(self, documents: AnyPositions, engine: Engine) -> None:
        """Remove the repeats of these documents, which may be named several times."""
        repeating = self.repeating(documents)
        in_parts(engine, lambda part: self.make_distinct(repeating[part]), len(repeating))

    def measured(self, measure: str, left: Positions, right: Positions) -> Values:
        """Return the *measure* (see ``Shared``) of pairs of documents; their repeats must be removed already."""
        return shared_by(self, left, right).measured(measure)

    def smaller(self, left: AnyPositions, right: AnyPositions) -> Positions:
        """Return the size of the smaller one of each pair of documents; their repeats must be removed already."""
        return np.minimum(self.sizes[left], self.sizes[right])


class WeightedSets(FeatureSets):
    """Feature sets with the weights of a *table*, multiplied by how often a document has a feature.

    *norms* are the sums of the squared weights of documents, once these have been made distinct.
    """

    def __init__(self, features: Features, positions: Positions, table: WeightTable) -> None:
        super().__init__(features, positions)
        self._table = table
        self.weights = np.empty(len(self.values))
        self.norms = np.zeros(len(positions))

    def add(self, features: Features, documents: Positions, positions: Positions) -> None:
        """Set the features of more *documents*, which had none."""
        super().add(features, documents, positions)
        self.weights = np.concatenate([self.weights, np.empty(len(self.values) - len(self.weights))])

    def make_distinct(self, documents: Positions) -> None:
        """Remove the repeats of these documents, and count them."""
        make_weighted(self.arrays, documents, self._distinct, *self._table, self.weights, self.norms)

    def cosines(self, left: AnyPositions, right: AnyPositions) -> Values:
        """Return the cosines of documents ``left[i]`` and ``right[i]``; 0 if one has no features."""
        self.make_distinct(self.repeating(np.concatenate([left, right])))
        found = np.empty(len(left))
        cosines(self.arrays, self.weights, self.norms, left, right, found)
        return found

    def measured(self, measure: str, left: Positions, right: Positions) -> Values:  # noqa: ARG002 - as of other sets
        """Return the cosines of pairs of documents."""
        return self.cosines(left, right)


def distinct_sets(features: Features, table: WeightTable | None = None) -> FeatureSets:
    """Return the sets of all documents with these features, whose repeats are removed in place.

    With a *table*, they have its weights.
    """
    everything = np.arange(len(features))
    sets = FeatureSets(features, everything) if table is None else WeightedSets(features, everything, table)
    sets.make_distinct(everything)
    return sets


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Of pairs (A, B): ``|A & B|``, ``|A|`` and ``|B|``. A share of an empty set is 0."""

    shared: Positions
    left: Positions
    right: Positions

    @property
    def resemblance(self) -> Values:
        """``|A & B| / |A | B|``."""
        return _share(self.shared, self.left + self.right - self.shared)

    @property
    def left_in_right(self) -> Values:
        """Containment of A in B, ``|A & B| / |A|``."""
        return _share(self.shared, self.left)

    @property
    def right_in_left(self) -> Values:
        """Containment of B in A, ``|A & B| / |B|``."""
        return _share(self.shared, self.right)

    @property
    def columns(self) -> dict[str, Values]:
        """The measures of dropped documents A and kept documents B, by the columns of a table of decisions."""
        return dict(zip(COLUMNS, (self.resemblance, self.left_in_right, self.right_in_left), strict=True))

    @property
    def of_smaller(self) -> Values:
        """``|A & B| / min(|A|, |B|)``."""
        return _share(self.shared, self.smaller)

    @property
    def smaller(self) -> Positions:
        """``min(|A|, |B|)``."""
        return np.minimum(self.left, self.right)

    def measured(self, measure: str) -> Values:
        """Return the ``resemblance``, the ``overlap`` (of the smaller set) or the ``containment`` (of A in B)."""
        if measure == "overlap":
            return self.of_smaller
        return self.left_in_right if measure == "containment" else self.resemblance


def count_shared(sets: FeatureSets, left: Positions, right: Positions) -> Positions:
    """Count what the pairs ``(left[i], right[i])`` share; their repeats must be removed already."""
    shared = np.empty(len(left), np.int64)
    intersections(sets.arrays, left, right, shared)
    return shared


def shared_by(sets: FeatureSets, left: Positions, right: Positions) -> Shared:
    """Return what the pairs ``(left[i], right[i])`` have in common; their repeats must be removed already."""
    return Shared(count_shared(sets, left, right), sets.sizes[left], sets.sizes[right])


def _share(part: Positions, whole: Positions) -> Values:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
