"""How much two people agree who labelled the same pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from neardup.evaluation.intervals import Share, share
from neardup.evaluation.plain_results import AsDict
from neardup.model.errors import DataError
from neardup.model.labels import Label, LabelledPair, by_pair

_MANY: Final = 10_000_000  # pairs, from which the labelled ones are drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement(AsDict):
    """A pair with two different labels."""

    a: str
    b: str
    first: Label
    second: Label
    resemblance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(AsDict):
    """How much two people agree on the pairs that both of them labelled.

    *agreed* is the share of equal labels among the *both* pairs that both labelled as same or different, with its
    interval of 95 %; *unsure* counts the pairs that at least one of them was unsure about, and *single* those that only
    one of them labelled. *kappa* is Cohen's kappa: the agreement beyond what chance alone would give, 1 if all labels
    are equal, and 0 if they are independent. It is ``None`` if both used one and the same label only. Its interval is
    that of *agreed*, at the same shares of labels. *first_same* and *second_same* are how many pairs each of them
    labelled as the same. *disagreements* are the pairs with different labels, by falling resemblance.
    """

    both: int
    unsure: int
    single: int
    first_same: int
    second_same: int
    agreed: Share
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    disagreements: tuple[Disagreement, ...]

    def __repr__(self) -> str:
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
        return f"Agreement(both={self.both:,}, agreed={self.agreed.found:,}, kappa={kappa})"


def compare_labels(first: Sequence[LabelledPair], second: Sequence[LabelledPair]) -> Agreement:
    """Compare the labels of two people, as from ``read_labels``; of several labels for a pair, the last one counts.

    Raises ``ParameterError`` for other values than labelled pairs, and ``DataError`` if no pair is in both lists.

    >>> def labels(*named):
    ...     return [LabelledPair(a="a", b=str(number), label=label) for number, label in enumerate(named)]
    >>> compare_labels(labels("same", "same", "different", "same"), labels("same", "same", "different", "different"))
    Agreement(both=4, agreed=3, kappa=0.50)
    """
    known = [by_pair(name, labels) for name, labels in (("first", first), ("second", second))]
    pairs = [pair for pair in known[0] if pair in known[1]]
    if not pairs:
        raise DataError("the labels", "no pair is in both; the second person must label the pairs of the first")
    both = [(known[0][pair], known[1][pair]) for pair in pairs]
    decided = [(one.label, other.label) for one, other in both if "unsure" not in {one.label, other.label}]
    equal = sum(one == other for one, other in decided)
    agreed = share(equal, len(decided), max(_MANY, len(decided)))
    same = [sum(labels[side] == "same" for labels in decided) for side in range(2)]
    kappa, low, high = (_kappa(value, same, len(decided)) for value in (agreed.value, agreed.low, agreed.high))
    different = [
        Disagreement(a=one.a, b=one.b, first=one.label, second=other.label, resemblance=one.resemblance)
        for one, other in both
        if one.label != other.label
    ]
    different.sort(key=lambda one: -1.0 if one.resemblance is None else one.resemblance, reverse=True)
    return Agreement(
        both=len(decided),
        unsure=len(both) - len(decided),
        single=len(known[0]) + len(known[1]) - 2 * len(pairs),
        first_same=same[0],
        second_same=same[1],
        agreed=agreed,
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        disagreements=tuple(different),
    )


def _kappa(agreed: float | None, same: Sequence[int], number: int) -> float | None:
    """Return the kappa for a share of equal labels, by how many pairs each person labelled as the same."""
    if agreed is None or number == 0:
        return None
    first, second = (count / number for count in same)
    chance = first * second + (1 - first) * (1 - second)
    return None if chance == 1 else max(-1.0, (agreed - chance) / (1 - chance))
