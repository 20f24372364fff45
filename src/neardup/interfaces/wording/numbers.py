"""Shares and lists of names as people read them."""

from collections.abc import Sequence


def any_of(names: Sequence[str]) -> str:
    """Return names as a list with "or" before the last; empty without names."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def decimals(share: float, places: int = 2) -> str:
    """Return a share as a decimal; a share below 1 never reads as 1, and a share above 0 never as 0.

    >>> decimals(0.755), decimals(0.9999), decimals(1.0), decimals(0.00001, 4)
    ('0.76', '0.99', '1.00', '0.0001')
    """
    least = 10.0**-places
    return f"{min(max(share, least), 1 - least) if 0 < share < 1 else share:.{places}f}"


def percent(share: float) -> str:
    """Return a share as whole percent; only 0 and 1 are shown as 0 % and 100 %.

    >>> percent(0.0), percent(0.004), percent(0.755), percent(0.999), percent(1.0)
    ('0 %', 'under 1 %', '76 %', 'over 99 %', '100 %')
    """
    whole = round(100 * share)
    if whole == 100 and share < 1:  # noqa: PLR2004 - all of it
        return "over 99 %"
    return "under 1 %" if whole == 0 and share > 0 else f"{whole} %"


def percentage(share: float) -> str:
    """Return a share in percent with two digits after the point at most; only 0 and 1 are shown as 0 and 100 %.

    >>> percentage(1.0), percentage(0.99999), percentage(0.5), percentage(0.0)
    ('100 %', '99.99 %', '50 %', '0 %')
    """
    rounded = round(100 * share, 2)
    if share < 1 and rounded == 100:  # noqa: PLR2004 - all of it
        rounded = 99.99
    if share > 0 and rounded == 0:
        rounded = 0.01
    return f"{rounded:g} %"
