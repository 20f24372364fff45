"""Documents of the index: one with those that it represents, and two side by side."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Final, Literal

from neardup.evaluation.comparison import Explanation
from neardup.interfaces.escaping import middle_shortened, printable, printable_lines, shortened
from neardup.interfaces.http.links import COMPARE, DOCUMENT, LinkChoice, linked, paging
from neardup.interfaces.http.views.results import PageQuery, RepeatView, entry
from neardup.interfaces.wording.excerpts import Excerpt
from neardup.interfaces.wording.match_decisions import estimate_of, excerpts_of, passages_of, value_of
from neardup.interfaces.wording.numbers import decimals, percent
from neardup.model.errors import counted
from neardup.model.seen import Document

Shown = Literal["auto", "whole", "differences"]

MOST: Final = 200_000  # characters of a text that are shown, and compared
MEMBERS: Final = 20  # represented documents on a page
PIECES: Final = 4_000  # of each of two texts that are shown
CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end

_NAME: Final = 120  # characters
_VALUE: Final = 1_000


def entry_of(document: Document, back: str = "") -> SimpleNamespace:
    """Return the entry of a stored document; its title and URL are the fields of these names."""
    known = {name: value for name, value in document.fields.items() if isinstance(value, str)}
    title, url = known.get("title"), known.get("url")
    return entry(id=document.id, title=title, url=url, moment=document.changed_at, back=back)


def document_view(  # noqa: PLR0913 - all that is shown
    document: Document,
    number: int,
    members: Sequence[tuple[Document, float | None]],
    page: int,
    *,
    measure: str = "similarity",
    asked: PageQuery | None = None,
) -> SimpleNamespace:
    """Return what the page of a document shows, which represents a *number* of others, *members* on this page.

    A member is a document with their estimated similarity, if known. *status* is a sentence on its cluster,
    *representative* the document that represents it, with the URLs of its page and of their comparison. *measure* is
    what the scheme estimates, and *asked* the search that the page links back to.
    """
    own, back = document.id, asked.back if asked else ""
    kept, compares, representative = document.representative, document.text is not None, None
    if kept != own:
        representative = SimpleNamespace(
            label=middle_shortened(kept, _NAME),
            href=linked(DOCUMENT, back, id=kept),
            compare=linked(COMPARE, back, a=kept, b=own) if compares else None,
        )

    def repeat(member: Document, estimate: float | None) -> RepeatView:
        compare = linked(COMPARE, back, a=own, b=member.id) if compares else None
        known = "" if estimate is None else f"Estimated {measure} {decimals(estimate)}"
        return RepeatView(entry_of(member, back), known, shortened(own, _NAME), compare)

    return SimpleNamespace(
        entry=entry_of(document, back),
        status=_status(number if kept == own else None),
        representative=representative,
        fields=tuple(
            (shortened(name, _NAME), shortened(str(value), _VALUE))
            for name, value in (("id", own), *document.fields.items())
            if value is not None
        ),
        text=None if document.text is None else printable_lines(document.text[:MOST]),
        note=_note(document.text),
        number=f"{number:,}",
        others=tuple(repeat(*member) for member in members),
        pages=paging(
            page, -(-number // MEMBERS), lambda other: linked(DOCUMENT, back, id=own, page=other if other > 1 else None)
        ),
        search=asked,
    )


def _status(others: int | None) -> str:
    """Describe a document in its cluster; *others* counts those it represents, ``None`` means it is a repeat."""
    if others is None:
        return "It is a repeat. Its representative is"
    if not others:
        return "It repeats no other document, and none repeats it."
    return f"It represents {counted(others, 'other document')}, which {'repeats' if others == 1 else 'repeat'} it."


def _note(text: str | None) -> str:
    if text is None:
        return "The index keeps no texts."
    return f"The first {MOST:,} of {len(text):,} characters." if len(text) > MOST else ""


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
