"""URLs of the pages, with any text as a parameter, and URLs of other sites, if they may become links."""

from typing import Final
from urllib.parse import quote, urlencode, urlsplit

START: Final = "/"
COMPARE: Final = "/compare"
DOCUMENT: Final = "/documents"
OPENSEARCH: Final = "/opensearch.xml"
MOST: Final = 4 << 10  # bytes of an address that the service takes

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
