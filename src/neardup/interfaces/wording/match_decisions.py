"""Match decisions in words."""

from typing import TYPE_CHECKING, Final

from neardup.interfaces.wording.excerpts import Excerpt, excerpts
from neardup.interfaces.wording.numbers import decimals
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.evaluation.comparison import Comparison, Explanation
    from neardup.evaluation.match_decisions import Estimate, MatchDecision

_CONTAINMENT: Final = "containment"


def answer_of(decision: "MatchDecision | Estimate") -> str:
    """Return whether it is a match, in a word."""
    return "match" if decision.matches else "no match"


def names_of(found: "Comparison") -> list[str]:
    """Return the names of the compared schemes; of two with one name, the first has the options of the call."""
    names = [decision.scheme for decision in found.schemes]
    notes = ("your options", *["default"] * len(names))
    return [f"{name} ({note})" if names.count(name) > 1 else name for name, note in zip(names, notes, strict=False)]


def decided_of(decision: "MatchDecision") -> str:
    """Return the decision of ``dedup``, and whether it was made without the texts.

    >>> from neardup.evaluation.match_decisions import match_decision
    >>> from neardup.schemes.minhash import MinHash
    >>> decided_of(match_decision(MinHash(), "one two three four", "one two three"))
    'no match'
    """
    return answer_of(decision) if decision.verified else f"{answer_of(decision)} (not verified)"


def value_of(decision: "MatchDecision") -> str:
    """Return the measured value, and why there is none or why it is not sufficient.

    By containment, A is the better-ranked document.
    """
    if decision.value is None:
        return decision.reason or ""
    if decision.measure == "equality":
        return "equal" if decision.matches else "different"
    value = f"{_directed(decision.measure)} {decision.told_apart(decimals(decision.value, 4))}"
    if decision.measure == _CONTAINMENT:
        value += " (A counts as better-ranked)"
    return f"{value}, but {decision.reason}" if decision.reason else value


def estimate_of(decision: "Estimate") -> str:
    """Return the result of the signatures alone, with their values."""
    if decision.value is None:
        return "no signature"
    if decision.measure == "equality":
        return "equal" if decision.matches else "different"
    value = decimals(decision.value, 4) if decision.measure.startswith("estimated") else f"{decision.value:g}"
    more = [f"{name} {decimals(detail, 4)}" for name, detail in decision.detail.items() if isinstance(detail, float)]
    return ", ".join([f"{answer_of(decision)}: {_directed(decision.measure)} {value}", *more])


def _directed(measure: str) -> str:
    return f"{measure} of B in A" if measure.endswith(_CONTAINMENT) else measure


def passages_of(found: "Comparison | Explanation") -> str:
    """Return how many passages two texts share, and what is marked: nothing if they have nothing in common.

    Passages compare words without their stems, also where a scheme compares stems.
    """
    if _shares_nothing(found):
        return "The texts share no passage, so nothing is marked."
    words, number = sum(passage.words for passage in found.passages), len(found.passages)
    shared = f"Shared passages: {number:,}, of {counted(words, 'word')}." if number else "The texts share no passage."
    where = "not in the other text" if found.run == 1 else f"in no run of {found.run} words that both texts have"
    one, other = len(found.only_in_a), len(found.only_in_b)
    return f"{shared} Marked words are {where}: {one:,} stretch{'' if one == 1 else 'es'} of A, {other:,} of B."


def excerpts_of(
    found: "Comparison | Explanation", a: str, b: str, context: int, **bounds: int
) -> tuple[Excerpt, Excerpt]:
    """Return both texts in pieces, within *bounds*; nothing is marked if the texts have nothing in common."""
    alone = ((), ()) if _shares_nothing(found) else (found.only_in_a, found.only_in_b)
    return excerpts((a, b), found.passages, alone, context, **bounds)


def _shares_nothing(found: "Comparison | Explanation") -> bool:
    return not found.passages and not getattr(found, "resemblance", 0.0)
