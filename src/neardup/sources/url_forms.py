"""The forms of a URL without one of its parts, which show by their contents whether that part makes a difference."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from neardup.sources.addresses import Addresses
from neardup.sources.url_rules import INDEX_PAGES, lowered, without_path_parameters

MOST: Final = 32  # parameters of a URL: each has a form, and forms of thousands of parameters would take quadratic time

_ADDRESSES: Final = Addresses(ignore_scheme=True)
_START: Final = "https://"


class Form(NamedTuple):
    """A URL without one part: of *kind* (see ``HostRules``), with the *name* if such parts have names."""

    kind: str
    name: str
    url: str


def web_address(url: str) -> tuple[str, str] | None:
    """Return the host (and port) of a URL of the web, and its normal form without the difference of http and https.

    ``None`` for all other URLs.

    >>> web_address("http://A.example:80/b?c#d")
    ('a.example', 'https://a.example/b?c')
    """
    normal = _ADDRESSES.normal(url)
    if not normal.startswith(_START) or not _ADDRESSES.place(normal):
        return None
    return normal[len(_START) :].partition("/")[0], normal


def forms(normal: str) -> Iterator[Form]:
    """Yield the forms of a URL in the normal form of ``web_address``, each different from the URL itself.

    A URL with more than 32 parameters has none.

    >>> [tuple(form) for form in forms("https://a.example/B/?id=1&sid=2")]  # doctest: +NORMALIZE_WHITESPACE
    [('parameters', 'id', 'https://a.example/B/?sid=2'),
     ('parameters', 'sid', 'https://a.example/B/?id=1'),
     ('final_slash', '', 'https://a.example/B?id=1&sid=2'),
     ('case', '', 'https://a.example/b/?id=1&sid=2')]
    """
    address, mark, query = normal.partition("?")
    host, _, path = address[len(_START) :].partition("/")
    start, end = f"{_START}{host}/", mark + query
    folder, slash, last = path.rpartition("/")
    before = folder + slash
    parameters = query.split("&") if query else []
    names = [parameter.partition("=")[0] for parameter in parameters]
    own = [parameter.partition("=")[0] for parameter in last.split(";")[1:]]
    if len(parameters) + len(own) > MOST:
        return
    for name in filter(None, dict.fromkeys(names)):
        left = "&".join(each for each, its in zip(parameters, names, strict=True) if its != name)
        yield Form("parameters", name, address + ("?" + left if left else ""))
    for name in filter(None, dict.fromkeys(own)):
        if (segment := without_path_parameters(last, {name})) != last:
            yield Form("path_parameters", name, f"{start}{before}{segment}{end}")
    if last in INDEX_PAGES:
        yield Form("index_pages", last, start + before + end)
    if slash and not last:
        yield Form("final_slash", "", start + path.rstrip("/") + end)
    if (small := lowered(path)) != path:
        yield Form("case", "", start + small + end)
