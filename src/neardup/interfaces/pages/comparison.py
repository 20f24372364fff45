"""Two texts compared, as one HTML page."""

from typing import Final

from neardup.evaluation.comparison import Comparison
from neardup.interfaces.pages.templates import render
from neardup.interfaces.wording.match_decisions import excerpts_of

CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end


def comparison_page(
    names: tuple[str, str], texts: tuple[str, str], found: Comparison, *, context: int = CONTEXT
) -> bytes:
    """Render a comparison as a page that needs nothing else; names and texts are escaped."""
    sides = list(zip(names, excerpts_of(found, *texts, context), strict=True))
    return render("compared", found=found, sides=sides)
