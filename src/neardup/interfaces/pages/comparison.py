"""Two texts compared, as one HTML page."""

from typing import TYPE_CHECKING, Final

from neardup.interfaces.pages.templates import render
from neardup.interfaces.pieces import excerpt
from neardup.interfaces.rulings import marked_in

if TYPE_CHECKING:
    from neardup.evaluation.comparison import Comparison

CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end


def comparison_page(
    names: tuple[str, str], texts: tuple[str, str], found: "Comparison", *, context: int = CONTEXT
) -> bytes:
    """Render a comparison as a page that needs nothing else; names and texts are escaped."""
    a, b = texts
    left = excerpt(a, [one.a for one in found.passages], marked_in(found, found.only_in_a), context)
    right = excerpt(b, [one.b for one in found.passages], marked_in(found, found.only_in_b), context)
    return render("compared", found=found, sides=list(zip(names, (left, right), strict=True)))
