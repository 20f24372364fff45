"""Tuning: the rule and the threshold for a collection, by labelled pairs of its documents."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from neardup.engines.local import LocalEngine
from neardup.evaluation.tuning import Goal, Labels, Tuning, groups_of, tuned
from neardup.model.errors import DataError, counted, require_kind, require_sequence, require_whole
from neardup.model.labels import LabelledPair
from neardup.pipeline.config import scheme_from
from neardup.pipeline.match_rules import MatchRule, match_rules
from neardup.pipeline.progress import Progress, followed
from neardup.sources.labels import latest

_FEW = 5  # labels of each kind, below which a threshold is little more than a guess


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
    are never on both sides. *seed* deals the folds.

    The rules are resemblances of shingles of 1 to 5 words and of 4, 6 and 9 letters; overlaps of the smaller document;
    sentences; trials; the combined scheme; cosines; and distances of fingerprints. Each is one that ``dedup`` can
    verify: ``neardup.load_config`` reads its settings from a file.

    Raises ``DataError`` if a text is missing, and unless there are labels of both kinds, same and different, for pairs
    without common documents. Raises ``ParameterError`` for an invalid goal.
    """
    Goal.of(goal)
    require_whole("seed", seed, 0)
    for one in require_sequence("labels", labels, "labelled pairs"):
        require_kind("labels", one, LabelledPair)
    known = latest(labels)
    pairs = [one for one in known if one.label != "unsure"]
    same = np.array([one.label == "same" for one in pairs], np.bool_)
    for label, number in (("same", int(same.sum())), ("different", int((~same).sum()))):
        if number == 0:
            rule = (
                f"of {counted(len(pairs), 'pair')}, none is labelled {label!r}; label more, until at least {_FEW} are"
            )
            raise DataError("the labels", rule, "one kind")
    groups = groups_of([one.pair for one in pairs])
    if groups.max() == 0:
        raise DataError("the labels", "all pairs are connected by common documents; label pairs of others", "one group")
    places: dict[str, int] = {}
    found = (
        [_text(one.a, one.text_a, texts, places) for one in pairs],
        [_text(one.b, one.text_b, texts, places) for one in pairs],
    )
    listed = [text for text, _ in sorted({(text, place) for side in found for place, text in side}, key=lambda x: x[1])]
    left, right = (np.array([place for place, _ in side], np.int64) for side in found)
    rules = match_rules()
    with followed(progress) as follow, LocalEngine(threads) as engine:
        scores = []
        for done, one in enumerate(engine.map(lambda rule: rule.scores(listed, left, right), rules)):
            scores.append(one)
            follow("compare", done + 1, len(rules))
    weights = np.array([one.weight for one in pairs], np.float64)
    named = [(rule.name, partial(_settings, rule)) for rule in rules]
    return tuned(named, scores, Labels(same, weights, groups), goal, unsure=len(known) - len(pairs), seed=seed)


def _settings(rule: MatchRule, threshold: float | None) -> dict[str, Any]:
    """Return the settings of a rule, by default with the threshold of its scheme."""
    return rule.at(scheme_from(rule.settings).threshold if threshold is None else threshold)


def _text(name: str, text: str | None, texts: Mapping[str, str] | None, places: dict[str, int]) -> tuple[int, str]:
    """Return the number of a document and its text."""
    if text is None:
        text = (texts or {}).get(name)
    if text is None:
        rule = "its text was left out of the labels; give the documents, too"
        raise DataError(f"the document {name!r}", rule, "no text")
    return places.setdefault(text, len(places)), text
