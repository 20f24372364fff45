"""Links to the pages, with any text as a parameter, and to other sites, if their URLs may become links."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from neardup.interfaces.http.limits import Limits

START: Final = "/"
COMPARE: Final = "/compare"
DOCUMENT: Final = "/documents"
OPENSEARCH: Final = "/opensearch.xml"
MOST: Final = Limits().url  # bytes

_AROUND: Final = 2  # numbers on either side of the page that is shown
_WRITTEN: Final = "!#$%&'()*+,/:;=?@[]~"  # characters that need no escape, besides letters and digits


class Mount:
    """Where the service is mounted: the *prefix* of the paths of all its URLs, empty or such as ``/neardup``."""

    prefix = ""


def link(path: str, **given: object) -> str | None:
    """Return the URL of a page with its parameters, ``None`` if it is longer than the service accepts.

    Parameters that are ``None`` or empty are omitted.

    >>> link("/documents", id="a b&c#d", page=None)
    '/documents?id=a%20b%26c%23d'
    """
    present = {name: value for name, value in given.items() if value not in {None, ""}}
    asked = urlencode(present, quote_via=quote, safe="", errors="replace")
    whole = f"{Mount.prefix}{path}?{asked}" if asked else f"{Mount.prefix}{path}"
    return whole if len(whole) <= MOST else None


def linked(path: str, back: str, **given: object) -> str | None:
    """Return the URL of a page that links back to a search, or only the page's if that is too long."""
    return link(path, **given, back=back) or link(path, **given)


def elsewhere(address: str | None) -> str | None:
    r"""Return a URL that a page may link to: of http or https, and not ambiguous to browsers; else ``None``.

    >>> elsewhere("https://a.example/x y"), elsewhere("javascript:alert(1)"), elsewhere("http:\\\\a.example")
    ('https://a.example/x%20y', None, None)
    """
    if address is None or not address.lower().startswith(("http://", "https://")):
        return None
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or "\\" in parts.netloc or not parts.netloc.isprintable():
        return None
    return quote(address.strip(), safe=_WRITTEN, errors="replace")


class LinkChoice(NamedTuple):
    """A link that may be the selected one."""

    label: str
    href: str | None
    chosen: bool = False


def paging(page: int, pages: int, href: Callable[[int], str | None]) -> SimpleNamespace | None:
    """Return links to the neighbors of a page, the first and the last; ``None`` if there are no other pages.

    ``None`` among the *numbers* is a gap.

    >>> [choice and choice.label for choice in paging(6, 11, str).numbers]
    ['1', None, '4', '5', '6', '7', '8', None, '11']
    """
    if pages <= 1 or not 1 <= page <= pages:
        return None
    wanted = sorted({1, pages, *range(max(1, page - _AROUND), min(pages, page + _AROUND) + 1)})
    numbers: list[LinkChoice | None] = []
    for place, number in enumerate(wanted):
        gap = number - wanted[place - 1] if place else 1
        if gap == 2:  # noqa: PLR2004 - one page takes no more room than the dots
            numbers.append(LinkChoice(f"{number - 1:,}", href(number - 1)))
        elif gap > 1:
            numbers.append(None)
        numbers.append(LinkChoice(f"{number:,}", href(number), number == page))
    previous, following = href(page - 1) if page > 1 else None, href(page + 1) if page < pages else None
    return SimpleNamespace(previous=previous, following=following, numbers=numbers)
