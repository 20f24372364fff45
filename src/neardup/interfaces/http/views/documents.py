"""A document of the index, and the documents that it represents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from neardup.interfaces.escaping import printable_lines, shortened
from neardup.interfaces.http.links import COMPARE, DOCUMENT, link
from neardup.interfaces.http.views.entries import Entry, entry, middle_shortened
from neardup.interfaces.http.views.paging import Paging, paging

if TYPE_CHECKING:
    from neardup.model.seen import Document

MOST: Final = 200_000  # characters of a text that are shown
SIZE: Final = 20  # represented documents on a page

_NAME: Final = 120  # characters
_VALUE: Final = 1_000


class Other(NamedTuple):
    """Another document, with the URLs of its page and of its comparison."""

    label: str
    href: str | None
    compare: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document; *status* is a sentence on its cluster, *representative* the document that represents it."""

    entry: Entry
    status: str
    representative: Other | None
    fields: tuple[tuple[str, str], ...]
    text: str | None
    note: str
    number: str
    others: tuple[Other, ...]
    pages: Paging | None


def entry_of(document: "Document") -> Entry:
    """Return the entry of a stored document; its title and URL are the fields of these names."""
    title, url = (document.fields.get(name) for name in ("title", "url"))
    return entry(
        id=document.id,
        title=title if isinstance(title, str) else None,
        url=url if isinstance(url, str) else None,
        moment=document.changed_at,
    )


def document_view(document: "Document", members: Sequence[str], page: int) -> DocumentView:
    """Return the page of a document; *members* are the ids of its cluster."""
    own = document.id
    stands = document.representative == own
    others = [member for member in members if member != own] if stands else []
    begin = (page - 1) * SIZE
    compares = document.text is not None
    representative = (
        None if stands else _other(document.representative, own, document.representative, compares=compares)
    )
    pages = -(-len(others) // SIZE)
    return DocumentView(
        entry=entry_of(document),
        status=_status(len(others) if stands else None),
        representative=representative,
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
    """Return one of two documents, with a link to their comparison if the index keeps texts."""
    compare = link(COMPARE, a=a, b=b) if compares else None
    return Other(middle_shortened(shown, _NAME), link(DOCUMENT, id=shown), compare)


def _status(others: int | None) -> str:
    """Describe a document in its cluster; *others* counts those it represents, ``None`` means it is a repeat."""
    if others is None:
        return "It is a repeat. Its representative is"
    if not others:
        return "It repeats no other document, and none repeats it."
    return (
        "It represents another document, which repeats it."
        if others == 1
        else f"It represents {others:,} other documents, which repeat it."
    )


def _note(text: str | None) -> str:
    if text is None:
        return "The index keeps no texts."
    return f"The first {MOST:,} of {len(text):,} characters." if len(text) > MOST else ""
