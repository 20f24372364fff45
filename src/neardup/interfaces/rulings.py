"""Numbers and rulings in words: the same on the terminal and on pages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.evaluation.rulings import Ruling


def share(number: float) -> str:
    """Print a share from 0 to 1; what is below 1 never reads as 1, and what is above 0 never as 0.

    >>> share(0.5), share(0.99999), share(0.00001), share(1.0)
    ('0.5000', '0.9999', '0.0001', '1.0000')
    """
    if 0.0 < number < 1.0:
        number = min(max(number, 0.0001), 0.9999)
    return f"{number:.4f}"


def answer_of(said: "Ruling") -> str:
    """Say whether it is a match."""
    return "match" if said.matches else "no match"


def value_of(said: "Ruling") -> str:
    """Say what the rule looked at, with what else the signatures tell; or why there is nothing to look at."""
    if said.value is None:
        return said.reason or ""
    if said.measure == "equality":
        return "equal" if said.matches else "different"
    value = share(said.value) if said.measure.startswith("estimated") else f"{said.value:g}"
    more = [f"{name} {share(told)}" for name, told in said.detail.items() if isinstance(told, float)]
    named = value if said.rule.startswith(said.measure) else f"{said.measure} {value}"
    return ", ".join([named, *more])
