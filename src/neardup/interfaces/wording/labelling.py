"""Labelling in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from neardup.interfaces.escaping import shortened
from neardup.interfaces.wording.estimates import INTERVALS, estimate
from neardup.interfaces.wording.numbers import decimals
from neardup.model.errors import counted, plural
from neardup.model.labels import LABELS, Label, LabelledPair

if TYPE_CHECKING:
    from neardup.evaluation.agreement import Agreement
    from neardup.pipeline.labels.labelling import Labelling

KEYS: Final[dict[str, Label]] = {"s": "same", "d": "different", "u": "unsure"}
QUESTION: Final = "Would you keep only one of these two?"

_NAME: Final = 60  # characters of an id
_LISTED: Final = 20


def place_of(labelling: "Labelling") -> str:
    """Return the number of the current pair, such as ``Pair 3 of 50``, and its label after going back."""
    number = f"Pair {labelling.number:,}" + (f" of {labelling.wanted:,}" if labelling.wanted else "")
    return f"{number}, labelled {labelling.given}" if labelling.given else number


def end_of(labelling: "Labelling") -> str:
    """Return why there is no current pair."""
    if labelling.wanted is None or labelling.exhausted:
        return "No more pairs to label"
    return f"{counted(labelling.wanted, 'pair')} as wanted; a larger --labels adds more"


def counts_of(answers: Sequence[LabelledPair]) -> str:
    """Return how many pairs have which label: ``3 pairs labelled: 2 same, 1 different, 0 unsure``."""
    parts = ", ".join(f"{sum(one.label == label for one in answers):,} {label}" for label in LABELS)
    return f"{counted(len(answers), 'pair')} labelled: {parts}"


def agreement_lines(found: "Agreement") -> list[str]:
    """Describe how much two people agree."""
    lines = [f"agreement {estimate(found.agreed)}: {found.agreed.found:,} of {counted(found.both, 'pair')}"]
    if found.kappa is None or found.kappa_low is None or found.kappa_high is None:
        reason = "no pair is labelled same or different by both" if not found.both else "both used one label only"
        lines.append(f"Cohen's kappa unknown: {reason}")
    else:
        interval = f"{_signed(found.kappa_low)} to {_signed(found.kappa_high)}"
        lines.append(f"Cohen's kappa {_signed(found.kappa)} ({interval})")
    if found.both:
        lines.append(INTERVALS)
        lines.append(f"labelled same: {found.first_same:,} by the first person, {found.second_same:,} by the second")
    reasons = ((found.unsure, "at least one person was unsure"), (found.single, "labelled by one person only"))
    for number, reason in reasons:
        if number:
            lines.append(f"{counted(number, 'pair')} {'is' if number == 1 else 'are'} left out: {reason}")
    if found.disagreements:
        lines.append(f"{plural(len(found.disagreements), 'pair')} with different labels:")
    for one in found.disagreements[:_LISTED]:
        names = f"{shortened(one.a, _NAME)} and {shortened(one.b, _NAME)}"
        about = "" if one.resemblance is None else f" (resemblance {decimals(one.resemblance)})"
        lines.append(f"  {names}: {one.first}, {one.second}{about}")
    if len(found.disagreements) > _LISTED:
        lines.append(f"  and {len(found.disagreements) - _LISTED:,} more")
    return lines


def _signed(value: float) -> str:
    return f"-{decimals(-value)}" if value < 0 else decimals(value)
