"""Tuning: the rule and the threshold for a collection, by labelled pairs of its documents."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from neardup.engines.local import LocalEngine
from neardup.evaluation.labelling import FLOOR
from neardup.evaluation.tuning import Choice, Goal, Labels, ScoredRule, Tuning, groups_of, tuned
from neardup.model.arrays import Positions
from neardup.model.errors import DataError, kind_of, require, require_whole
from neardup.model.labels import LabelledPair, by_pair
from neardup.pipeline.config import scheme_from
from neardup.pipeline.labels.match_rules import MatchRule, Stricter, match_rules, ways_to_be_stricter
from neardup.pipeline.progress import Progress, followed

_FEW = 5  # labels of each kind, below which a threshold is little more than a guess
_RANDOM_PAIRS = 2_000


def tune(  # noqa: PLR0913 - every one a keyword with a default
    labels: Sequence[LabelledPair],
    texts: Mapping[str, str] | None = None,
    *,
    goal: str = "f1",
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Tuning:
    """Choose the rule and the threshold that fit *labels* best; see ``Tuning`` for the result.

    *texts* are those of documents, by id, that the labels left out. *goal* is ``"f1"``, or ``"precision>=0.99"`` or
    ``"recall>=0.99"`` with any share: then the other one is as high as possible. Each label counts by its weight. A
    rule is judged by cross-validation over documents: pairs that have documents in common, also through other pairs,
    are never on both sides. If no rule is expected to be better on other labels, the default one is chosen. *seed*
    deals the folds, and draws the samples of intervals.

    The rules are resemblances of shingles of 1 to 5 words and of 4, 6 and 9 letters; overlaps of the smaller document;
    sentences; trials; the combined scheme; cosines; and distances of fingerprints. A resemblance of shingles may have a
    higher threshold for pairs with a short document: such a rule is chosen only if it is clearly better than the best
    one with a single threshold. Rules and thresholds by which many random pairs of documents from different labels
    match are only chosen if there are no others. Each rule is one that ``dedup`` can verify: ``neardup.load_config``
    reads its settings from a file.

    Raises ``DataError`` if a text is missing, and unless there are labels of both kinds, same and different, for pairs
    without common documents, and if no rule finds a pair that is labelled as the same. Raises ``ParameterError`` for an
    invalid goal.
    """
    Goal.of(goal)
    require_whole("seed", seed, 0)
    require(texts is None or isinstance(texts, Mapping), "texts", texts, "must map ids to strings, or None")
    known = [*by_pair("labels", labels).values()]
    pairs = [one for one in known if one.label != "unsure"]
    same = np.array([one.label == "same" for one in pairs], np.bool_)
    if not known:
        raise DataError("the labels", "there are no labels", "one kind")
    for label, number in (("same", int(same.sum())), ("different", int((~same).sum()))):
        if number == 0:
            left_out = len(known) - len(pairs)
            other = "different" if label == "same" else "same"
            unsure = f", {left_out:,} 'unsure'" if left_out else ""
            rule = f"no pair is labelled {label!r} ({len(pairs):,} {other!r}{unsure}); label more pairs"
            raise DataError("the labels", f"{rule}, until at least {_FEW} are labelled {label!r}", "one kind")
    groups = groups_of([one.pair for one in pairs])
    if groups.max() == 0:
        raise DataError(
            "the labels", "all pairs are connected by common documents; label pairs of other documents", "one group"
        )
    places: dict[str, int] = {}
    left = np.array([_place(one.a, one.text_a, texts, places) for one in pairs], np.int64)
    right = np.array([_place(one.b, one.text_b, texts, places) for one in pairs], np.int64)
    one, other = np.random.default_rng(seed).integers(0, len(pairs), (2, _RANDOM_PAIRS))
    apart = groups[one] != groups[other]
    sides = np.append(left, left[one[apart]]), np.append(right, right[other[apart]])
    with followed(progress) as follow, LocalEngine(threads) as engine:
        rules = _scored([*places], sides, len(pairs), engine, follow)
    weights = np.array([pair.weight for pair in pairs], np.float64)
    resemblance = np.array([math.nan if pair.resemblance is None else pair.resemblance for pair in pairs], np.float64)
    doubted = ~np.where(same, resemblance >= 1, resemblance < FLOOR)
    return tuned(rules, Labels(same, weights, groups, doubted), goal, unsure=len(known) - len(pairs), seed=seed)


def _scored(
    texts: Sequence[str], sides: tuple[Positions, Positions], labelled: int, engine: LocalEngine, progress: Progress
) -> list[ScoredRule]:
    """Return all rules, those with variants last, with the scores of pairs; the first of these are *labelled*."""
    rules = match_rules()
    plain, varied = list[ScoredRule](), list[ScoredRule]()
    measured = engine.map(lambda tried: tried.measured(texts, *sides), rules)
    for done, (tried, (scores, smaller)) in enumerate(zip(rules, measured, strict=True)):
        plain.append(ScoredRule.of(tried.name, partial(_settings, tried), scores[None, :], labelled))
        ways = ways_to_be_stricter(smaller[:labelled]) if tried.by_length else ()
        if len(ways) > 1:
            rows = np.stack([way.scores(scores, smaller) for way in ways])
            name = f"{tried.name}, stricter for short documents"
            varied.append(ScoredRule.of(name, partial(_stricter, tried, ways), rows, labelled))
        progress("compare", done + 1, len(rules))
    return [*plain, *varied]


def _settings(rule: MatchRule, choice: Choice | None) -> dict[str, Any]:
    """Return the settings of a rule, by default with the threshold of its scheme."""
    return rule.at(scheme_from(rule.settings).threshold if choice is None else choice.threshold)


def _stricter(rule: MatchRule, ways: Sequence[Stricter], choice: Choice) -> dict[str, Any]:
    """Return the settings of a rule by which pairs with a short document need more."""
    return rule.at(choice.threshold) | ways[choice.variant].settings(choice.threshold)


def _place(name: str, text: str | None, texts: Mapping[str, str] | None, places: dict[str, int]) -> int:
    """Return the number of a document's text; new texts are added to the numbered ones."""
    if text is None:
        text = (texts or {}).get(name)
        rule = f"must map ids to strings, but {name!r} has {kind_of(text)}"
        require(text is None or isinstance(text, str), "texts", text, rule)
    if text is None:
        rule = f"no text of {name!r}{'' if texts is None else ', and the documents have no such id'}"
        raise DataError("the labels", rule, "no text")
    return places.setdefault(text, len(places))
