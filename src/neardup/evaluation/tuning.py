"""The rule and the threshold that fit labelled pairs best, and how sure that is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, log, sqrt
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.decisions.pairs import clusters_of
from neardup.evaluation.intervals import Estimated
from neardup.evaluation.plain_results import AsDict
from neardup.model.arrays import ROUNDING, Flags, Positions, Values
from neardup.model.errors import DataError, ParameterError, require

Part = Literal["f1", "precision", "recall"]

_PARTS: Final[tuple[Part, ...]] = ("precision", "recall", "f1")
GRID: Final[Values] = np.arange(5, 101) / 100  # thresholds
FOLDS: Final = 5
NARROW: Final = 0.02  # the half width of an interval that ``needed`` is about

_REPEATS: Final = 5  # of cross-validation, with other folds
_SAMPLES: Final = 200  # of groups of pairs, drawn with repeats
_OUTSIDE: Final = 0.632  # the weight of the pairs that are not in such a sample
_DEVIATIONS: Final = np.linspace(-40, 40, 4_001)  # of logits, in standard deviations, more or less
_NEAR: Final = 3  # neighbours on each side of a threshold by which its errors are smoothed
_EQUAL: Final = 0.002  # thresholds with hardly a difference; the middle one of them is chosen
_ALIKE: Final = 0.01  # variants with hardly a difference; here, too, the middle one
_ENDS: Final = (0.025, 0.975)  # of intervals
_FINDS_NOTHING: Final = -3.0  # the score of what finds no pair that is the same, below all others
_RANDOM: Final = 0.01  # the share of random pairs that may match by a rule
_UNUSABLE: Final = 3.0  # more than scores differ
_SHOWN: Final = 3  # digits of shares


class Goal(NamedTuple):
    """What a rule must be good at: the best F1, or the least *value* of *part*, then the best of the other one."""

    part: Part
    value: float | None = None

    @classmethod
    def of(cls, goal: str) -> "Goal":
        """Read ``f1``, ``precision>=0.99`` or ``recall>=99%``, also with blanks; ``ParameterError`` for anything else.

        >>> Goal.of("precision>=99%")
        Goal(part='precision', value=0.99)
        """
        rule = "must be f1, precision>=SHARE or recall>=SHARE, with a share above 0 and at most 1"
        require(isinstance(goal, str), "goal", goal, rule)
        part, sign, share = map(str.strip, goal.partition(">="))
        if (part, sign) == ("f1", ""):
            return cls("f1")
        try:
            value = float(Decimal(share.removesuffix("%")) / 100) if share.endswith("%") else float(share)
        except (ValueError, ArithmeticError):
            raise ParameterError("goal", goal, rule) from None
        require(part in {"precision", "recall"} and 0 < value <= 1, "goal", goal, rule)
        return cls("precision" if part == "precision" else "recall", value)

    def score(self, found: "Counts") -> Values:
        """Return how well counts reach the goal; negative where they do not.

        Where no pair that is the same matches, the score is the lowest, although the precision may be 1 there.
        """
        scores = self._of_parts(found.precision, found.recall, found.f1)
        return scores if self.value is None else np.asarray(np.where(found.true > 0, scores, _FINDS_NOTHING))

    def score_of(self, shares: "Shares") -> float:
        """Return how well shares reach the goal, rounded as they are shown; negative if they do not."""
        every = (shares.precision, shares.recall, shares.f1)
        return round(float(self._of_parts(*(one.value or 0.0 for one in every))), _SHOWN)

    def _of_parts(self, precision: Any, recall: Any, f1: Any) -> Values:
        if self.value is None:
            return np.asarray(f1)
        wanted, other = (precision, recall) if self.part == "precision" else (recall, precision)
        return np.asarray(np.where(wanted >= self.value - ROUNDING, other, wanted - 1.0 - ROUNDING))


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
class Shares(AsDict):
    """How well pairs are decided, each counted by its weight: *precision*, *recall* and *f1*, with intervals."""

    precision: Estimated
    recall: Estimated
    f1: Estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedRule(AsDict):
    """A rule with the best *threshold* for the goal, which all labels choose; *settings* are those of a file.

    *shares* are those on labels that did not choose the threshold, by cross-validation. *unlabelled* is the share of
    random pairs of documents from different labels that match by the rule.
    """

    name: str
    settings: Mapping[str, Any]
    threshold: float
    shares: Shares
    unlabelled: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(AsDict):
    """The rules that fit *labels* labelled pairs, the best one for the *goal* first, indiscriminate ones last.

    *same* of the pairs are the same; *unsure* more were left out. *default* is the default rule with its default
    threshold; if no rule is expected to be better, it is also the first rule. *expected* are the shares of the
    recommended rule on other labels: corrected for the choice of its threshold, by cross-validation, and of the
    rule, by samples of the labels; those in the table of rules are higher, as the same labels compare the rules.
    Those of the default need no correction, as no label has chosen it. *reaches* is whether they reach the goal,
    and *certain* whether their interval does. *needed* is about how many labels would narrow the interval of F1, or
    of what the goal is about, to 0.02 on each side. *thresholds*, *precision*, *recall* and *f1* are the curve of the
    first rule, by all labels. *expected_same* is the share of all pairs that are the same by the weights of the labels.
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
    expected_same: float = 0.0

    @property
    def indiscriminate(self) -> bool:
        """Whether the recommended rule matches many more random pairs than are the same by the labels: all rules do."""
        return bool(_indiscriminate(np.float64(self.chosen.unlabelled), self.expected_same))

    @property
    def keeps_default(self) -> bool:
        """Whether the recommended rule is the default one with its default threshold."""
        return self.chosen is self.default

    @property
    def chosen(self) -> TunedRule:
        """The recommended rule."""
        return self.rules[0]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labelled pairs: whether they are the *same*, their *weights*, and the *groups* of those with common documents.

    *doubted*: whether pairs like it may have the other label, as those with next to nothing in common have not.
    """

    same: Flags
    weights: Values
    groups: Positions
    doubted: Flags

    def at(self, chosen: Flags) -> "Labels":
        """Return some of them."""
        return Labels(self.same[chosen], self.weights[chosen], self.groups[chosen], self.doubted[chosen])

    def times(self, factors: npt.NDArray[Any]) -> "Labels":
        """Return them with other weights; *factors* may have a row for each of several samples."""
        return Labels(self.same, self.weights * factors, self.groups, self.doubted)

    def typical(self, parts: Values) -> float:
        """Return the mean weight of groups, each weighed by its weight, if *parts* of pairs count; 0 without any."""
        weights = np.bincount(self.groups, self.weights * parts)
        return float(weights @ weights / weights.sum()) if weights.any() else 0.0

    def counts(self, scores: Values, thresholds: Values) -> Counts:
        """Return the counts at each threshold, which ascend; the scores may be those of several variants, one a row."""
        rows, number = np.atleast_2d(scores), len(thresholds) + 1
        reached = np.searchsorted(thresholds, rows + ROUNDING, side="right")  # the number of thresholds
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
    numbers: dict[str, int] = {}
    ends = np.array([[numbers.setdefault(name, len(numbers)) for name in pair] for pair in pairs], np.int64).T
    return np.unique(clusters_of([ends], len(numbers))[ends[0]], return_inverse=True)[1]


class Choice(NamedTuple):
    """What labels choose of a rule: one of its variants, by number, and a threshold."""

    variant: int
    threshold: float

    def decides(self, scores: Values) -> Flags:
        """Return which pairs match; *scores* has a row for each variant."""
        return np.asarray(scores[self.variant] >= self.threshold - ROUNDING)


class ScoredRule(NamedTuple):
    """A rule to choose from, and how it scores pairs: *scores* and *random* have a row for each of its variants.

    They are those of the labelled pairs, and of random pairs of documents, at least one. *settings* returns those of
    the rule with a ``Choice`` or, with ``None``, with its default threshold.
    """

    name: str
    settings: Callable[[Choice | None], dict[str, Any]]
    scores: Values
    random: Values

    @classmethod
    def of(cls, name: str, settings: Callable[..., dict[str, Any]], scores: Values, labelled: int) -> "ScoredRule":
        """Return a rule whose *scores* are first those of the *labelled* pairs, and then those of random ones.

        Without random pairs, none matches at any threshold.
        """
        random = scores[:, labelled:] if scores.shape[1] > labelled else np.zeros((len(scores), 1))
        return cls(name, settings, scores[:, :labelled], random)

    def matching(self) -> Values:
        """Return the share of random pairs that match at each threshold, for each variant."""
        below = [np.searchsorted(row, GRID - ROUNDING) for row in np.sort(self.random, axis=1)]
        return np.asarray(1 - np.stack(below) / self.random.shape[1])


class JudgedRule(NamedTuple):
    """What all labels choose of a rule, which pairs it matches by ``held_out``, and how good it is by these."""

    choice: Choice
    matched: Values
    tuned: TunedRule


def chosen(scores: Values, labels: Labels, goal: Goal, usable: Flags | None = None) -> Choice:
    """Return the variant, a row of *scores*, and the threshold that are best for the goal.

    The counts at each threshold are means over its neighbours, within 0.03, so that single labels decide little. Of
    variants and of thresholds with hardly a difference, these are the middle ones. Those that are not *usable*
    (bool[variants, thresholds]) are only chosen if none is.
    """
    found = labels.counts(scores, GRID)
    every = goal.score(Counts(*map(_smoothed, (found.true, found.false, found.missed))))
    if usable is not None:
        every = np.where(usable, every, every - _UNUSABLE)
    tops = every.max(axis=1)
    alike = np.flatnonzero(tops >= tops.max() - _ALIKE)
    variant = int(alike[len(alike) // 2])
    reached = every[variant]
    best = int(np.argmax(reached))
    worse = np.flatnonzero(reached < reached[best] - _EQUAL)
    first = worse[worse < best].max(initial=-1) + 1
    last = worse[worse > best].min(initial=len(GRID)) - 1
    return Choice(variant, float(GRID[(first + last) // 2]))


def held_out(scores: Values, labels: Labels, goal: Goal, seed: int, usable: Flags | None = None) -> Values:
    """Return the share of the repeats of cross-validation in which each pair matches.

    The pairs of each fold are decided by the variant, a row of *scores*, and the threshold that the other folds choose.
    """
    matched = np.zeros(len(labels.same))
    for inside in _folds(labels, seed):
        choice = chosen(scores[:, ~inside], labels.at(~inside), goal, usable)
        matched[inside] += choice.decides(scores[:, inside])
    return matched / _REPEATS


def _folds(labels: Labels, seed: int) -> Iterator[Flags]:
    """Yield the pairs of each fold; groups are dealt at random."""
    number = int(labels.groups.max()) + 1
    random = np.random.default_rng(seed)
    for _ in range(_REPEATS):
        fold = (random.permutation(number) % min(FOLDS, number))[labels.groups]
        for one in range(FOLDS):
            inside = fold == one
            if inside.any() and not inside.all():
                yield inside


def _best(matched: Values, varied: Sequence[bool], barred: Flags, labels: Labels, goal: Goal) -> list[int]:
    """Return the numbers of rules from best to worst, by the pairs that match; of equally good ones, the first one.

    Barred rules come last. The best one is the best without variants, unless a rule that has some is clearly better.
    """
    order = np.lexsort((-goal.score(_counts(matched, labels)).round(6), barred)).tolist()
    allowed = [number for number in order if not barred[number]] or order
    plain = next((number for number in allowed if not varied[number]), allowed[0])
    better = (one for one in allowed[: allowed.index(plain)] if _is_clear(matched[one], matched[plain], labels))
    first = next(better, plain)
    return [first, *(number for number in order if number != first)]


def _indiscriminate(unlabelled: Any, expected_same: float) -> Flags:
    """Return whether each of some shares of random pairs that match is much more than what is the same."""
    return np.asarray(unlabelled > max(_RANDOM, 2 * expected_same))


def _is_clear(matched: Values, other: Values, labels: Labels) -> bool:
    """Return whether fewer pairs are wrong than by the *other* decisions: by more than one standard error, over groups.

    The rule of one standard error, for the simpler of two models (Breiman et al. 1984).
    """
    errors, others = (np.abs(own - labels.same) for own in (matched, other))
    gained = np.bincount(labels.groups, labels.weights * (others - errors))
    return bool(gained.sum() > (1 + ROUNDING) * sqrt((gained**2).sum()))


def tuned(rules: Sequence[ScoredRule], labels: Labels, goal: str, *, unsure: int, seed: int) -> Tuning:
    """Choose the best of *rules*, the default one first.

    The best rule reaches the goal best by cross-validation; of equally good ones it is the first, and one with variants
    must be clearly better. Labels show little about random pairs, so rules and thresholds by which many more of them
    match than are the same by the labels are only chosen if there are no others. The default rule with its default
    threshold stays unless the best rule is expected to be better on other labels. Both kinds of labels, and two groups
    of pairs, are needed. Raises ``DataError`` if the best rule matches none of the pairs that are the same.
    """
    wanted = Goal.of(goal)
    samples, expected_same = _samples(labels, seed), float(np.average(labels.same, weights=labels.weights))
    judged = [_judged(rule, labels, wanted, seed, expected_same) for rule in rules]
    matched = np.stack([one.matched for one in judged])
    varied = [len(rule.scores) > 1 for rule in rules]
    barred = _indiscriminate(np.array([one.tuned.unlabelled for one in judged]), expected_same)
    order = _best(matched, varied, barred, labels, wanted)
    choice, scores = judged[order[0]].choice, rules[order[0]].scores
    if not (choice.decides(scores) & labels.same).any():
        rule = (
            f"no rule for the goal {goal} finds any of the pairs labelled 'same'; check whether their texts are similar"
        )
        raise DataError("the labels", rule, "nothing found")
    best = [_best(matched, varied, barred, labels.times(sample), wanted)[0] for sample in samples]
    expected = _shares(matched[order[0]], labels, _corrected(matched[best], labels, samples))
    table, shown = [judged[number].tuned for number in order], scores[choice.variant]
    default = _default(rules[0], labels)
    is_usable = barred[order[0]] or not _indiscriminate(default.unlabelled, expected_same)
    if is_usable and default.shares.recall.value and wanted.score_of(default.shares) >= wanted.score_of(expected):
        table, expected, shown = [default, *table], default.shares, rules[0].scores[0]
    about: Estimated = getattr(expected, wanted.part)
    curve = labels.counts(shown, GRID)
    return Tuning(
        goal=goal,
        labels=len(labels.same),
        same=int(labels.same.sum()),
        unsure=unsure,
        rules=tuple(table),
        expected=expected,
        reaches=wanted.value is None or (about.value or 0.0) >= wanted.value - ROUNDING,
        certain=wanted.value is None or about.low >= wanted.value - ROUNDING,
        default=default,
        needed=max(len(labels.same), ceil(len(labels.same) * (about.width / NARROW) ** 2)),
        thresholds=tuple(GRID.tolist()),
        precision=tuple(curve.precision.tolist()),
        recall=tuple(curve.recall.tolist()),
        f1=tuple(curve.f1.tolist()),
        expected_same=expected_same,
    )


def _judged(rule: ScoredRule, labels: Labels, goal: Goal, seed: int, expected_same: float) -> JudgedRule:
    """Choose the variant and the threshold of a rule by all labels, and judge the rule by cross-validation."""
    usable = ~_indiscriminate(rule.matching(), expected_same)
    matched = held_out(rule.scores, labels, goal, seed, usable)
    choice = chosen(rule.scores, labels, goal, usable)
    return JudgedRule(choice, matched, _tuned(rule, rule.settings(choice), choice, matched, labels))


def _default(rule: ScoredRule, labels: Labels) -> TunedRule:
    """Return a rule with its default threshold, which no label has chosen: all of them judge it."""
    settings = rule.settings(None)
    choice = Choice(0, settings["threshold"])
    return _tuned(rule, settings, choice, choice.decides(rule.scores).astype(np.float64), labels)


def _tuned(rule: ScoredRule, settings: dict[str, Any], choice: Choice, matched: Values, labels: Labels) -> TunedRule:
    return TunedRule(
        name=rule.name,
        settings=settings,
        threshold=choice.threshold,
        shares=_shares(matched, labels),
        unlabelled=float(choice.decides(rule.random).mean()),
    )


def _counts(matched: Values, labels: Labels) -> Counts:
    """Return the counts if each pair matches in these shares of the decisions; either may have several rows."""
    same = labels.weights * labels.same
    other = labels.weights - same
    return Counts(*(part.sum(axis=-1) for part in (same * matched, other * matched, same * (1 - matched))))


def _samples(labels: Labels, seed: int) -> Values:
    """Return how often each pair is in each of some samples: as many groups as there are, drawn with repeats."""
    number = int(labels.groups.max()) + 1
    drawn = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), _SAMPLES)
    return drawn[:, labels.groups].astype(np.float64)


def _corrected(matched: Values, labels: Labels, samples: Values) -> dict[Part, float]:
    """Return the shares that rules reach on other labels, with a row of *matched* for the rule of each sample.

    Each sample of groups estimates a share by 0.632 times that of the pairs outside it, which did not choose, plus
    0.368 times that of the pairs inside (Efron 1983; of rules by cross-validation: Tsamardinos et al. 2018).
    """
    inside, outside = (_counts(matched, labels.times(drawn)) for drawn in (samples, samples == 0))
    whole, values = _counts(matched, labels), dict[Part, float]()
    for name in _PARTS:
        known = np.logical_and(
            *(one.true + (one.false if name == "precision" else one.missed) > 0 for one in (inside, outside))
        )
        shares = _OUTSIDE * getattr(outside, name) + (1 - _OUTSIDE) * getattr(inside, name)
        values[name] = float((shares[known] if known.any() else getattr(whole, name)).mean())
    return values


def _shares(matched: Values, labels: Labels, values: Mapping[Part, float] | None = None) -> Shares:
    """Return what pairs that match in these shares of the decisions show, around other *values* if they are given.

    A share is *R* / (*R* + *W*), where *R* and *W* are the weights of its right and wrong pairs. (F1 is 2 *q* / (1 +
    *q*), where *q* is the share of right pairs among those that are the same or match.) Both sums have gamma
    distributions with the mean and the variance of weighted counts, for an upper end with one pair more (Fay and Feuer
    1997); all pairs of a group are one. The ends of the interval are quantiles of the share of lower *R* and upper *W*,
    and of upper *R* and lower *W* (Fay, Proschan and Brittain 2015). With equal weights, these are the intervals of
    Clopper and Pearson (1934). One wrong pair more has the typical weight of all pairs in doubt, wrong or not: labels
    without a mistake that represent many pairs do not prove that there is none.
    """
    same, found = labels.same.astype(np.float64), {}
    right, either, counts = same * matched, np.maximum(same, matched), _counts(matched, labels)
    known = labels.typical(either)
    possible = labels.typical(labels.doubted.astype(np.float64)) or known
    for name, pairs in zip(_PARTS, (matched, same, either), strict=True):
        value = float(getattr(counts, name)) if values is None else values[name]
        share, total = value / (2 - value) if name == "f1" else value, float(labels.weights @ pairs)
        rights = share * total, labels.typical(right) or known
        wrongs = (1 - share) * total, labels.typical(pairs - right) or known
        low, high = 0.0, 1.0
        if total > 0:
            low = _quantile(rights, _and_one(*wrongs, possible), _ENDS[0])
            high = _quantile(_and_one(*rights, known), wrongs, _ENDS[1])
        if name == "f1":
            low, high = 2 * low / (1 + low), 2 * high / (1 + high)
        found[name] = Estimated(value=value, low=min(low, value), high=max(high, value))
    return Shares(**found)


def _and_one(total: float, each: float, one: float) -> tuple[float, float]:
    """Return the sum of weights, and their typical weight, with *one* more."""
    return total + one, (total * each + one * one) / (total + one)


@np.errstate(under="ignore")  # densities too small for a float are 0
def _quantile(right: tuple[float, float], wrong: tuple[float, float], end: float) -> float:
    """Return a quantile of *R* / (*R* + *W*) for gamma distributions with these means, and variances by mean.

    The odds of *R* and *W*, each by its variance by mean, are those of a beta distribution.
    """
    (rights, one), (wrongs, other) = right, wrong
    if min(rights, wrongs) <= ROUNDING * max(rights, wrongs):
        return float(rights > wrongs)
    a, b = rights / one, wrongs / other
    logits = log(a / b) + sqrt(1 / a + 1 / b) * _DEVIATIONS
    densities = -a * np.logaddexp(0, -logits) - b * np.logaddexp(0, logits)
    masses = np.exp(densities - densities.max())
    logit = np.interp(end * masses.sum(), masses.cumsum() - masses / 2, logits) + log(one / other)
    return float(np.exp(-np.logaddexp(0, -logit)))


def _smoothed(counts: Values) -> Values:
    padded = np.pad(counts, ((0, 0), (_NEAR, _NEAR)), mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAR + 1, axis=1).mean(axis=2))


def _share(part: Values, whole: Values) -> Values:
    return np.divide(part, whole, out=np.ones_like(np.asarray(whole, np.float64)), where=np.asarray(whole) > 0)
