"""A document of the index, and the documents that it represents."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Final

from neardup.interfaces.escaping import middle_shortened, printable_lines, shortened
from neardup.interfaces.http.links import COMPARE, DOCUMENT, linked, paging
from neardup.interfaces.http.views.entries import entry
from neardup.interfaces.http.views.results import PageQuery, RepeatView
from neardup.interfaces.wording.numbers import decimals
from neardup.model.errors import counted
from neardup.model.seen import Document

MOST: Final = 200_000  # characters of a text that are shown, and compared
MEMBERS: Final = 20  # represented documents on a page

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
