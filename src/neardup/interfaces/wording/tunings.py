"""Tunings in words."""

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final

from neardup.interfaces.wording.audits import INTERVALS, estimate
from neardup.interfaces.wording.numbers import percentage
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.evaluation.tuning import TunedRule, Tuning

LEAST: Final = 20  # labels, below which they show little
WIDE: Final = 0.15  # half the width from which on an interval is unreliable (Parker et al. 2017, for health statistics)
_LISTED: Final = 8
_estimate: Final = partial(estimate, digits=3)


def tuning_lines(tuning: "Tuning") -> list[str]:
    """Describe what the labels show."""
    chosen, pairs = tuning.chosen, counted(tuning.labels, "labelled pair")
    unsure = f"; {counted(tuning.unsure, 'unsure one')} left out" if tuning.unsure else ""
    lines = [f"{pairs}, {tuning.same:,} of them the same{unsure}"]
    if not tuning.reaches:
        lines.append(f"on other labels, no rule is expected to reach {tuning.goal}; the nearest is:")
    expected = tuning.expected
    lines += [
        f"{chosen.name}, {threshold_of(chosen)}",
        f"F1 {_estimate(expected.f1)}, expected on other labels",
        f"precision {_estimate(expected.precision)}: the share of the dropped pairs that are the same",
        f"recall {_estimate(expected.recall)}: the share of the pairs that are the same that are dropped",
        "this is the default rule: no other rule is expected to be better on other labels"
        if tuning.keeps_default
        else f"the default rule, with threshold {tuning.default.threshold:g}: F1 {_estimate(tuning.default.shares.f1)}",
    ]
    if chosen.settings.get("measure") == "overlap":
        lines.append("if a part of a document is first, this rule keeps the part: --keep longest keeps the document")
    lines.append(INTERVALS)
    if tuning.reaches and not tuning.certain:
        lines.append(f"the labels do not yet prove {tuning.goal}: its interval begins below that")
    if tuning.indiscriminate:
        lines.append(
            f"of random pairs without a label, {percentage(round(chosen.unlabelled, 3))} match by this rule, and many"
            " by every other one: it may drop unrelated documents, so label more pairs"
        )
    if tuning.labels < LEAST:
        lines.append(f"fewer than {LEAST} labels show little: label more pairs")
    goal = tuning.goal.partition(">=")[0].strip()
    part, interval = goal.replace("f1", "F1"), getattr(expected, goal)
    if interval.width > WIDE:
        number = ceil(tuning.labels * (interval.width / WIDE) ** 2)
        lines.append(f"the interval of {part} is too wide to be of use: label at least {number:,} pairs in all")
    elif tuning.needed > tuning.labels:
        lines.append(f"about {tuning.needed:,} labels would narrow the interval of {part} to 2 % on each side")
    return lines


def rule_rows(tuning: "Tuning") -> list[tuple[str, ...]]:
    """Return the best rules and the default one, with a head."""
    rows: list[tuple[str, ...]] = [("rule", "from", "F1", "precision", "recall")]
    others = [rule for rule in tuning.rules if rule is not tuning.default]
    rows += [_row(rule, rule.name) for rule in others[:_LISTED]]
    return [*rows, _row(tuning.default, f"{tuning.default.name}, by default")]


def _row(rule: "TunedRule", name: str) -> tuple[str, ...]:
    parts = (_estimate(part) for part in (rule.shares.f1, rule.shares.precision, rule.shares.recall))
    return name, threshold_of(rule), *parts


def threshold_of(rule: "TunedRule") -> str:
    """Return the threshold, or the distance of fingerprints instead of one."""
    if rule.settings.get("verify") == "estimate":
        return f"distance {rule.settings['distance']}"
    words, short = f"threshold {rule.threshold:g}", rule.settings.get("short")
    return words if short is None else f"{words}, or {rule.settings['short_threshold']:g} below {short:,} shingles"
