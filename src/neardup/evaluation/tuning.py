"""The rule and the threshold that fit labelled pairs best, and how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.evaluation.rulings import AsDict
from neardup.model.arrays import Flags, Positions
from neardup.model.errors import ParameterError

Values = npt.NDArray[np.float64]
Part = Literal["f1", "precision", "recall"]

GRID: Final[Values] = np.arange(5, 101) / 100  # thresholds
FOLDS: Final = 5
NARROW: Final = 0.02  # the half width of an interval that ``needed`` is about

_REPEATS: Final = 5  # of cross-validation, with other folds
_INNER: Final = 2  # the same inside a fold
_NEAR: Final = 3  # neighbours on each side of a threshold by which its errors are smoothed
_EQUAL: Final = 0.002  # thresholds with hardly a difference; the middle one of them is chosen
_Z: Final = 1.959964  # standard deviations of 95 %
_CLEARLY: Final = 1.5  # standard deviations by which a rule with variants must be better than the best one without
_ROUNDING: Final = 1e-9
_OF: Final = {"precision": [0, 1], "recall": [0, 2], "f1": [0, 1, 2]}  # the rows of counts that a share is about


class Goal(NamedTuple):
    """What a rule must be good at: the best F1, or the least *value* of *part*, then the best of the other one."""

    part: Part
    value: float | None = None

    @classmethod
    def of(cls, goal: str) -> "Goal":
        """Read ``f1``, ``precision>=0.99`` or ``recall>=0.99``; ``ParameterError`` for anything else.

        >>> Goal.of("precision>=0.99")
        Goal(part='precision', value=0.99)
        """
        rule = "must be f1, precision>=SHARE or recall>=SHARE, with a share above 0 and at most 1"
        if goal == "f1":
            return cls("f1")
        part, _, share = goal.partition(">=") if isinstance(goal, str) else ("", "", "")
        try:
            value = float(share)
        except ValueError:
            raise ParameterError("goal", goal, rule) from None
        if part == "precision" and 0 < value <= 1:
            return cls("precision", value)
        if part == "recall" and 0 < value <= 1:
            return cls("recall", value)
        raise ParameterError("goal", goal, rule)

    def score(self, found: "Counts") -> Values:
        """Return how well counts reach the goal; those that do not reach it are negative."""
        if self.value is None:
            return found.f1
        wanted, other = (found.precision, found.recall) if self.part == "precision" else (found.recall, found.precision)
        return np.asarray(np.where(wanted >= self.value - _ROUNDING, other, wanted - 1.0 - _ROUNDING))


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Weights of pairs: *true* are the same and match, *false* match only, *missed* are the same only."""

    true: Values
    false: Values
    missed: Values

    @property
    def precision(self) -> Values:
        """The share of the matching pairs that are the same; 1 without any."""
        return _share(self.true, self.true + self.false)

    @property
    def recall(self) -> Values:
        """The share of the pairs that are the same that match; 1 without any."""
        return _share(self.true, self.true + self.missed)

    @property
    def f1(self) -> Values:
        """The harmonic mean of both."""
        return _share(2 * self.true, 2 * self.true + self.false + self.missed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated(AsDict):
    """A share with its interval of 95 %, from *low* to *high*."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Half the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(AsDict):
    """How well pairs are decided, each counted by its weight: *precision*, *recall* and *f1*, with intervals."""

    precision: Estimated
    recall: Estimated
    f1: Estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedRule(AsDict):
    """A rule with the best *threshold* for the goal, which all labels choose; *settings* are those of a file.

    *shares* are those on labels that did not choose the threshold, by cross-validation.
    """

    name: str
    settings: Mapping[str, Any]
    threshold: float
    shares: Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(AsDict):
    """The rules that fit *labels* labelled pairs, the best one for the *goal* first.

    *same* of the pairs are the same; *unsure* more were left out. *expected* are the shares of the recommended rule on
    labels that chose neither it nor its threshold; those in the table of rules are higher, as the same labels compare
    the rules. *reaches* is whether they reach the goal, and *certain* whether their interval does. *default* is the
    default rule with its default threshold. *needed* is about how many labels would narrow the interval of F1, or of
    what the goal is about, to 0.02 on each side. *thresholds*, *precision*, *recall* and *f1* are the curve of the
    first rule, by all labels.
    """

    goal: str
    labels: int
    same: int
    unsure: int
    rules: tuple[TunedRule, ...]
    expected: Shares
    reaches: bool
    certain: bool
    default: TunedRule
    needed: int
    thresholds: tuple[float, ...]
    precision: tuple[float, ...]
    recall: tuple[float, ...]
    f1: tuple[float, ...]

    @property
    def chosen(self) -> TunedRule:
        """The recommended rule."""
        return self.rules[0]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labelled pairs: whether they are the *same*, their *weights*, and the *groups* of those with common documents."""

    same: Flags
    weights: Values
    groups: Positions

    def at(self, chosen: Flags) -> "Labels":
        """Return some of them."""
        return Labels(self.same[chosen], self.weights[chosen], self.groups[chosen])

    def counts(self, scores: Values, thresholds: Values) -> Counts:
        """Return the counts at each threshold, which ascend; the scores may be those of several variants, one a row."""
        rows, number = np.atleast_2d(scores), len(thresholds) + 1
        reached = np.searchsorted(thresholds, rows + _ROUNDING, side="right")  # the number of thresholds
        places = (reached + number * np.arange(len(rows))[:, None]).ravel()
        shape = (*scores.shape[:-1], number)

        def weighed(weights: Values) -> tuple[Values, Values]:
            """Return the weights of pairs that match at each threshold, and of those that do not."""
            sums = np.bincount(places, np.tile(weights, len(rows)), number * len(rows)).reshape(shape)
            return sums[..., ::-1].cumsum(-1)[..., -2::-1], sums.cumsum(-1)[..., :-1]

        true, missed = weighed(self.weights * self.same)
        return Counts(true, weighed(self.weights * ~self.same)[0], missed)


def groups_of(pairs: Sequence[tuple[str, str]]) -> Positions:
    """Return the number of the group of each pair: pairs that are connected by common documents are one group."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        parents.setdefault(name, name)
        while parents[name] != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    for a, b in pairs:
        parents[root(a)] = root(b)
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(root(a), len(numbers)) for a, _ in pairs], np.int64)


class Choice(NamedTuple):
    """What labels choose of a rule: one of its variants, by number, and a threshold."""

    variant: int
    threshold: float

    def decides(self, scores: Values) -> Flags:
        """Return which pairs match; *scores* has a row for each variant."""
        return np.asarray(scores[self.variant] >= self.threshold - _ROUNDING)


def chosen(scores: Values, labels: Labels, goal: Goal) -> Choice:
    """Return the variant, a row of *scores*, and the threshold that are best for the goal.

    The counts at each threshold are means over its neighbours, within 0.03, so that single labels decide little. Of
    variants and of thresholds with hardly a difference, these are the first variant, and the middle threshold.
    """
    found = labels.counts(scores, GRID)
    every = goal.score(Counts(*map(_smoothed, (found.true, found.false, found.missed))))
    tops = every.max(axis=1)
    variant = int(np.argmax(tops >= tops.max() - _EQUAL))
    reached = every[variant]
    best = int(np.argmax(reached))
    first = last = best
    while first and reached[first - 1] >= reached[best] - _EQUAL:
        first -= 1
    while last + 1 < len(GRID) and reached[last + 1] >= reached[best] - _EQUAL:
        last += 1
    return Choice(variant, float(GRID[(first + last) // 2]))


def held_out(scores: Values, labels: Labels, goal: Goal, seed: int, repeats: int = _REPEATS) -> Values:
    """Return the share of the repeats of cross-validation in which each pair matches.

    The pairs of each fold are decided by the variant, a row of *scores*, and the threshold that the other folds choose.
    """
    matched = np.zeros(len(labels.same))
    for inside in _folds(labels, seed, repeats):
        choice = chosen(scores[:, ~inside], labels.at(~inside), goal)
        matched[inside] += choice.decides(scores[:, inside])
    return matched / repeats


def held_out_choice(scores: Sequence[Values], labels: Labels, goal: Goal, seed: int) -> Values:
    """Return the same, if the other folds choose the rule, too: by cross-validation among themselves (Stone 1974)."""
    matched = np.zeros(len(labels.same))
    for inside in _folds(labels, seed, _REPEATS):
        others = labels.at(~inside)
        known = [own[:, ~inside] for own in scores]
        decided = [held_out(own, others, goal, seed, _INNER) for own in known]
        best = _best(decided, [len(own) > 1 for own in known], others, goal)[0]
        matched[inside] += chosen(known[best], others, goal).decides(scores[best][:, inside])
    return matched / _REPEATS


def _folds(labels: Labels, seed: int, repeats: int) -> Iterator[Flags]:
    """Yield the pairs of each fold; groups are dealt at random."""
    number = int(labels.groups.max()) + 1
    random = np.random.default_rng(seed)
    for _ in range(repeats):
        fold = (random.permutation(number) % min(FOLDS, number))[labels.groups]
        for one in range(FOLDS):
            inside = fold == one
            if inside.any() and not inside.all():
                yield inside


def _best(matched: Sequence[Values], varied: Sequence[bool], labels: Labels, goal: Goal) -> list[int]:
    """Return the numbers of rules from best to worst, by the pairs that match; of equally good ones, the first one.

    The best one is the best without variants, unless a rule that has some is clearly better.
    """
    reached = [float(goal.score(_counts(own, labels))) for own in matched]
    order = sorted(range(len(matched)), key=lambda number: (-round(reached[number], 6), number))
    plain = next(number for number in order if not varied[number])
    better = (number for number in order[: order.index(plain)] if _is_clear(matched[number], matched[plain], labels))
    first = next(better, plain)
    return [first, *(number for number in order if number != first)]


def _is_clear(matched: Values, other: Values, labels: Labels) -> bool:
    """Return whether fewer pairs are wrong than by the *other* decisions: by some standard deviations, over groups."""
    errors, others = (np.abs(own - labels.same) for own in (matched, other))
    gained = np.bincount(labels.groups, labels.weights * (others - errors))
    return bool(gained.sum() >= _CLEARLY * sqrt((gained**2).sum()) > 0)


def tuned(  # noqa: PLR0913 - what is chosen from, by what
    rules: Sequence[tuple[str, Any]], scores: Sequence[Values], labels: Labels, goal: str, *, unsure: int, seed: int
) -> Tuning:
    """Choose the best of *rules*, the default one first, by the *scores* of the labelled pairs under each of them.

    A rule is its name and a function from a ``Choice``, or ``None`` for the default, to settings; its scores have a row
    for each of its variants. The best rule reaches the goal best by cross-validation; of equally good ones it is the
    first, and one with variants must be clearly better. Both kinds of labels, and two groups of pairs, are needed.
    """
    wanted = Goal.of(goal)
    found, matched, choices = [], [], []
    for (name, settings), own in zip(rules, scores, strict=True):
        choices.append(chosen(own, labels, wanted))
        matched.append(held_out(own, labels, wanted, seed))
        shares = _shares(matched[-1], labels)
        threshold = choices[-1].threshold
        found.append(TunedRule(name=name, settings=settings(choices[-1]), threshold=threshold, shares=shares))
    order = _best(matched, [len(own) > 1 for own in scores], labels, wanted)
    expected = _shares(held_out_choice(scores, labels, wanted, seed), labels)
    about: Estimated = getattr(expected, wanted.part)
    curve = labels.counts(scores[order[0]][choices[order[0]].variant], GRID)
    name, settings = rules[0]
    usual = settings(None)
    decided = Choice(0, usual["threshold"]).decides(scores[0]).astype(np.float64)
    return Tuning(
        goal=goal,
        labels=len(labels.same),
        same=int(labels.same.sum()),
        unsure=unsure,
        rules=tuple(found[number] for number in order),
        expected=expected,
        reaches=wanted.value is None or about.value >= wanted.value - _ROUNDING,
        certain=wanted.value is None or about.low >= wanted.value - _ROUNDING,
        default=TunedRule(name=name, settings=usual, threshold=usual["threshold"], shares=_shares(decided, labels)),
        needed=max(len(labels.same), ceil(len(labels.same) * (about.width / NARROW) ** 2)),
        thresholds=tuple(GRID.tolist()),
        precision=tuple(curve.precision.tolist()),
        recall=tuple(curve.recall.tolist()),
        f1=tuple(curve.f1.tolist()),
    )


def _counts(matched: Values, labels: Labels) -> Counts:
    """Return the counts if each pair matches in these shares of the decisions."""
    same = labels.weights * labels.same
    other = labels.weights - same
    return Counts(*(np.asarray(part.sum()) for part in (same * matched, other * matched, same * (1 - matched))))


def _shares(matched: Values, labels: Labels) -> Shares:
    """Return what pairs that match in these shares of the decisions show.

    An interval is Wilson's (1927) for as many trials as groups of pairs have a part in the share.
    """
    number = int(labels.groups.max()) + 1
    same = labels.weights * labels.same
    parts = (same * matched, (labels.weights - same) * matched, same * (1 - matched))
    sums = np.stack([np.bincount(labels.groups, part, number) for part in parts])
    whole, found = Counts(*sums.sum(axis=1)), {}
    for name, rows in _OF.items():
        value = float(getattr(whole, name))
        low, high = _wilson(value, int((sums[rows] > 0).any(axis=0).sum()))
        found[name] = Estimated(value=value, low=low, high=high)
    return Shares(**found)


def _wilson(value: float, number: int) -> tuple[float, float]:
    """Return Wilson's interval of a share of this number of trials; from 0 to 1 for none."""
    if number == 0:
        return 0.0, 1.0
    middle = (value + _Z**2 / (2 * number)) / (1 + _Z**2 / number)
    half = _Z / (1 + _Z**2 / number) * sqrt(value * (1 - value) / number + _Z**2 / (4 * number**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _smoothed(counts: Values) -> Values:
    padded = np.pad(counts, ((0, 0), (_NEAR, _NEAR)), mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAR + 1, axis=1).mean(axis=2))


def _share(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.ones_like(np.asarray(whole, np.float64)), where=np.asarray(whole) > 0)
