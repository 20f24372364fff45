"""Tuning: the rule and the threshold for a collection, by labelled pairs of its documents."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import COSINE, distinct_sets, exact_measure
from neardup.engines.local import LocalEngine
from neardup.evaluation.labelling import FLOOR
from neardup.evaluation.tuning import Choice, Goal, Labels, ScoredRule, Tuning, groups_of, tuned
from neardup.model.arrays import ROUNDING, Positions, Values
from neardup.model.errors import DataError, kind_of, require, require_whole
from neardup.model.labels import Label, LabelledPair, by_pair
from neardup.model.layout import bands_law
from neardup.model.tables import BITS
from neardup.pipeline.config import scheme_from
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.minhash import MinHash
from neardup.schemes.signing import signed_features

_FARTHEST: Final = 20  # bits that may differ
_SHARES: Final = (0.1, 0.9)  # of the pairs that are short ones, at least and at most
_SIZES: Final = 8  # that are tried for short documents
_RAISED: Final = (0.25, 0.5, 0.75, 0.9)
_FEW = 5  # labels of each kind, below which a threshold is little more than a guess
_RANDOM_PAIRS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRule:
    """A rule without its threshold: *settings* as in ``neardup.toml``, and what a pair is scored by, in words.

    The score is from 0 to 1. If *by_distance*, it is the share of equal bits of two fingerprints, and the threshold a
    distance.
    """

    name: str
    settings: Mapping[str, Any]
    by_distance: bool = False
    by_length: bool = False  # whether pairs with a short document may need more

    def at(self, threshold: float) -> dict[str, Any]:
        """Return the settings with a threshold."""
        if not self.by_distance:
            more = _more_permutations(threshold) if self.settings["scheme"] == MinHash.name else {}
            return {**self.settings, "threshold": round(threshold, 4), **more}
        distance = min(_FARTHEST, int((1 - threshold) * BITS + ROUNDING))
        return {**self.settings, "distance": distance, "verify": "estimate"}

    def measured(self, texts: Sequence[str], left: Positions, right: Positions) -> tuple[Values, Positions]:
        """Return the scores of pairs of texts, given by their positions, and the sizes of their smaller documents.

        The scores are float64[n]; the size of a document is the number of its different features.
        """
        scheme: Any = scheme_from(self.settings)
        column = pa.chunked_array([pa.array(texts, pa.large_string())])
        features, signatures = signed_features(scheme, column)
        if self.by_distance:
            differing = scheme.distances(signatures[left], signatures[right])
            scores = np.asarray(np.where(differing <= _FARTHEST, 1 - differing / BITS, 0.0))
            return scores, np.minimum(*(np.diff(features.offsets)[side] for side in (left, right)))
        sets = distinct_sets(features, scheme.weight_table if scheme.rule == COSINE else None)
        values = sets.measured(exact_measure(scheme.rule), left, right)
        if scheme.signatures_decide or scheme.passes is not None:
            values = np.where(scheme.match_pairs(signatures, left, right), values, 0.0)
        return values, sets.smaller(left, right)


class Stricter(NamedTuple):
    """A higher threshold for pairs whose smaller document has fewer than *short* features.

    It is *raised* by this share of what is left up to 1.
    """

    short: int
    raised: float

    def settings(self, threshold: float) -> dict[str, Any]:
        """Return the settings in addition to those of a rule with this threshold."""
        return {"short": self.short, "short_threshold": round(threshold + self.raised * (1 - threshold), 4)}

    def scores(self, scores: Values, smaller: Positions) -> Values:
        """Return scores that reach a threshold where the given ones reach that of their pair."""
        lowered = np.maximum(0.0, (scores - self.raised) / (1 - self.raised))
        return np.where(smaller < self.short, lowered, scores)


def ways_to_be_stricter(smaller: Positions) -> tuple[Stricter, ...]:
    """Return the ways that are tried for pairs whose smaller documents have these sizes, the mildest first.

    >>> [way.short for way in ways_to_be_stricter(np.array([8, 12, 33, 57, 140, 360]))][:_SIZES]
    [10, 16, 25, 40, 63, 100, 160, 250]
    """
    low, high = np.maximum(1, np.quantile(smaller, _SHARES))
    sizes = dict.fromkeys(int(float(f"{size:.2g}")) for size in np.geomspace(low, high, _SIZES))  # two digits
    return tuple(Stricter(short, raised) for raised in _RAISED for short in sizes)


def match_rules() -> tuple[MatchRule, ...]:
    """Return the rules that ``tune`` chooses from, the default one first."""
    found = [_of_shingles(size, "word") for size in (3, 1, 2, 4, 5)]
    found += [_of_shingles(size, "letter") for size in (4, 6, 9)]
    for size in (1, 2, 3, 5):
        settings = {"scheme": "fracminhash", "measure": "overlap", "shingle": size}
        found.append(MatchRule(name=f"overlap of {size}-word shingles", settings=settings))
    for measure in ("resemblance", "overlap"):
        settings = {"scheme": "sentences", "measure": measure}
        found.append(MatchRule(name=f"{measure} of sentences", settings=settings))
    found.append(MatchRule(name="trials of 2-word sequences", settings={"scheme": "trials"}))
    found.append(MatchRule(name="trials and fingerprints combined", settings={"scheme": "combined"}))
    far = {"scheme": "simhash", "measure": "cosine", "distance": _FARTHEST}
    found.append(MatchRule(name="cosine of word counts", settings=far))
    for size in (1, 2):
        settings = {"scheme": "simhash", "shingle": size}
        found.append(MatchRule(name=f"fingerprints of {size}-word shingles", settings=settings, by_distance=True))
    return tuple(found)


def _more_permutations(threshold: float) -> dict[str, int]:
    """Return the setting of permutations if the default cannot reach the default recall at a low threshold."""
    usual = MinHash()
    number = usual.permutations
    while bands_law(threshold, number, number) < usual.recall:
        number += 8  # permutations are a multiple of 8
    return {} if number == usual.permutations else {"permutations": number}


def _of_shingles(size: int, unit: str) -> MatchRule:
    settings: dict[str, Any] = {"scheme": "minhash", "shingle": size}
    if unit != "word":
        settings["unit"] = unit
    return MatchRule(name=f"resemblance of {size}-{unit} shingles", settings=settings, by_length=True)


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
    _require_both_kinds(known)
    groups = groups_of([one.pair for one in pairs])
    if groups.max() == 0:
        raise DataError(
            "the labels",
            "all labelled pairs are connected by common documents; label pairs of other documents",
            "one group",
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


def _require_both_kinds(known: Sequence[LabelledPair]) -> None:
    """Raise ``DataError`` unless some of these pairs are the same, and some different."""
    if not known:
        raise DataError("the labels", "there are no labels", "no labels")
    counts = Counter(one.label for one in known)
    kinds: tuple[tuple[Label, Label], ...] = (("same", "different"), ("different", "same"))
    for label, other in kinds:
        if not counts[label]:
            unsure = f", {counts['unsure']:,} 'unsure'" if counts["unsure"] else ""
            rule = f"no pair is labelled {label!r} ({counts[other]:,} {other!r}{unsure}); label more pairs"
            raise DataError("the labels", f"{rule}, until at least {_FEW} are labelled {label!r}", "one kind")


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
        if texts is not None:
            raise DataError("the labels", f"no text of {name!r}, and the documents have no such id", "unknown id")
        raise DataError("the labels", f"no text of {name!r}", "no text")
    return places.setdefault(text, len(places))
