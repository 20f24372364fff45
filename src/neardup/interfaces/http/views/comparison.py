"""Two documents side by side: shared and unshared passages, and the decision of the scheme of the index."""

from types import SimpleNamespace
from typing import Final, Literal

from neardup.evaluation.comparison import Explanation
from neardup.interfaces.escaping import printable
from neardup.interfaces.http.links import COMPARE, LinkChoice, linked
from neardup.interfaces.http.views.documents import MOST, entry_of
from neardup.interfaces.http.views.results import PageQuery
from neardup.interfaces.wording.excerpts import Excerpt
from neardup.interfaces.wording.match_decisions import estimate_of, excerpts_of, passages_of, value_of
from neardup.interfaces.wording.numbers import decimals, percent
from neardup.model.seen import Document

Shown = Literal["auto", "whole", "differences"]

PIECES: Final = 4_000  # of a text that are shown
CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end


def comparison_view(
    a: Document, b: Document, found: Explanation, shown: Shown = "auto", asked: PageQuery | None = None
) -> SimpleNamespace:
    """Return what the page of two documents shows; passages are searched in the first ``MOST`` characters.

    *shown* chooses the whole texts, or only the first words of shared passages; ``"auto"`` shows the whole texts on
    wide screens. *asked* is the search that the page links back to.
    """
    back = asked.back if asked else ""
    excerpted = excerpts_of(found, (a.text or "")[:MOST], (b.text or "")[:MOST], CONTEXT, most=PIECES)
    notes = [passages_of(found)]
    if found.passages:
        notes.append("Each passage links to its place in the other text.")
    if any(len(one.text or "") > MOST for one in (a, b)):
        notes.append(f"Only the first {MOST:,} characters of each text are shown and searched for passages.")
    how = "on their texts" if found.verified else "by their signatures"
    answer = f"These two {'repeat' if found.matches else 'do not repeat'} each other, by the rule of the index, {how}"
    return SimpleNamespace(
        matches=found.matches,
        answer="Both are the same document" if a.id == b.id else answer,
        decision=printable(f"{found.scheme}: {value_of(found)}; rule: {found.rule}"),
        estimate=printable(f"Signatures alone: {estimate_of(found.estimate)}"),
        measures=(
            ("Resemblance", decimals(found.resemblance), "shared, of all that both have"),
            ("A in B", percent(found.a_in_b), "of A is in B"),
            ("B in A", percent(found.b_in_a), "of B is in A"),
        ),
        notes=tuple(notes),
        sides=tuple(_side(back, *side) for side in zip("AB", (a, b), excerpted, ("ab", "ba"), strict=True)),
        shown=shown,
        ways=tuple(
            LinkChoice(label, linked(COMPARE, back, a=a.id, b=b.id, shown=way), way == shown)
            for way, label in (("whole", "whole texts"), ("differences", "differences only"))
        ),
        search=asked,
    )


def _side(back: str, letter: str, document: Document, excerpted: Excerpt, anchors: str) -> SimpleNamespace:
    """Return a document; *anchors* are the letters of the anchors of its passages and of their targets."""
    text = excerpted._replace(left=excerpted.left + max(0, len(document.text or "") - MOST))
    return SimpleNamespace(letter=letter, entry=entry_of(document, back), text=text, anchors=anchors)
