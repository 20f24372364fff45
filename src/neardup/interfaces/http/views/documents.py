"""One document as the index knows it, and those it stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from neardup.interfaces.escaping import printable_lines
from neardup.interfaces.http.links import COMPARE, DOCUMENT, link
from neardup.interfaces.http.views.entries import Entry, entry, middle_shortened, shortened
from neardup.interfaces.http.views.paging import Paging, paging

if TYPE_CHECKING:
    from neardup.model.seen import Document

MOST: Final = 200_000  # characters of a text that are shown
SIZE: Final = 20  # documents of a page that it stands for

_NAME: Final = 120  # characters
_VALUE: Final = 1_000


class Other(NamedTuple):
    """Another document, and where it is shown and compared."""

    label: str
    href: str | None
    compare: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document: *standing* says what it is to others, of which *keeper* is the one that stands for it."""

    entry: Entry
    standing: str
    keeper: Other | None
    fields: tuple[tuple[str, str], ...]
    text: str | None
    note: str
    number: str
    others: tuple[Other, ...]
    pages: Paging | None


def entry_of(document: "Document") -> Entry:
    """Show a stored document: its title and its address are its fields of these names."""
    title, url = (document.fields.get(name) for name in ("title", "url"))
    return entry(
        id=document.id,
        title=title if isinstance(title, str) else None,
        url=url if isinstance(url, str) else None,
        moment=document.admitted,
    )


def document_view(document: "Document", members: Sequence[str], page: int) -> DocumentView:
    """Show a document; *members* are the ids of its group, in which it may be any."""
    own = document.id
    stands = document.kept == own
    others = [member for member in members if member != own] if stands else []
    begin = (page - 1) * SIZE
    compares = document.text is not None
    keeper = None if stands else _other(document.kept, own, document.kept, compares=compares)
    pages = -(-len(others) // SIZE)
    return DocumentView(
        entry=entry_of(document),
        standing=_standing(len(others) if stands else None),
        keeper=keeper,
        fields=tuple(
            (shortened(name, _NAME), shortened(str(value), _VALUE))
            for name, value in (("id", own), *document.fields.items())
            if value is not None
        ),
        text=None if document.text is None else printable_lines(document.text[:MOST]),
        note=_note(document.text),
        number=f"{len(others):,}",
        others=tuple(_other(own, member, member, compares=compares) for member in others[begin : begin + SIZE]),
        pages=paging(page, pages, lambda number: link(DOCUMENT, id=own, page=number if number > 1 else None)),
    )


def _other(a: str, b: str, shown: str, *, compares: bool) -> Other:
    """Lead to one of two documents, and to where they are compared if their texts are kept."""
    compare = link(COMPARE, a=a, b=b) if compares else None
    return Other(middle_shortened(shown, _NAME), link(DOCUMENT, id=shown), compare)


def _standing(others: int | None) -> str:
    """Say what a document is; *others* counts the documents that it represents; ``None``: it has another."""
    if others is None:
        return "It is a repeat. The document that stands for it is"
    if not others:
        return "It repeats no other document, and none repeats it."
    return (
        "It stands for another document, which repeats it."
        if others == 1
        else f"It stands for {others:,} others, which repeat it."
    )


def _note(text: str | None) -> str:
    if text is None:
        return "The index keeps no texts."
    return f"The first {MOST:,} of {len(text):,} characters." if len(text) > MOST else ""
