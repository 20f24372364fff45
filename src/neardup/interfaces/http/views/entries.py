"""A document in a list: its title, URL, time of admission, and a passage of its text."""

from datetime import datetime
from types import SimpleNamespace
from typing import Final

from neardup.interfaces.escaping import middle_shortened, parts, shortened
from neardup.interfaces.http.links import DOCUMENT, elsewhere, linked
from neardup.model.answers import Snippet

_TITLE: Final = 300  # characters
_ADDRESS: Final = 70
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")  # in any locale


def entry(  # noqa: PLR0913 - all that is shown
    *,
    id: str,  # noqa: A002 - the word users know
    title: str | None,
    url: str | None,
    moment: datetime,
    snippet: Snippet | None = None,
    back: str = "",
) -> SimpleNamespace:
    """Return an entry; a *snippet* marks the words of the query. Without a title, the URL is shown.

    *href* links to the source of the document on the web, *document* to its page, which links *back* to a search.
    """
    address = url or id
    title = title if title and not title.isspace() else None  # the text of a link must be visible
    name = shortened(title or address, _TITLE)
    return SimpleNamespace(
        name=name,
        title=(parts(snippet.title.text, snippet.title.spans) if snippet and title else ()) or ((name, False),),
        href=elsewhere(address),
        address=middle_shortened(address, _ADDRESS),
        document=linked(DOCUMENT, back, id=id),
        stamp=moment.isoformat(timespec="seconds"),
        day=f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}",
        snippet=parts(snippet.body.text, snippet.body.spans) if snippet else (),
    )
