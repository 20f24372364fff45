"""The visible text of an HTML page, in source order.

The scan follows the tokenizer of the HTML standard in everything that decides what is text, so that a page that is cut
off or deliberately malformed is read as by a browser.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from html import unescape
from html.entities import html5
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urljoin

import numpy as np

from neardup.model.arrays import Bytes
from neardup.model.errors import DataError, kind_of
from neardup.text.charsets import SINGLE_BYTE, charset_of
from neardup.text.unicode import unicode_tables

Markup = TypeVar("Markup", bytes, str, bytes | str)

LARGEST_PAGE: Final = 1 << 24  # bytes of a page that are read
TOO_LONG: Final = f"longer than {LARGEST_PAGE >> 20} MiB, cut there"
_MOST_CANONICALS: Final = 64  # links with the address of a page
MOST_TAGS: Final = 1024  # links and other tags of a head
MOST_HEAD: Final = 1 << 18  # bytes of the attributes of those that are read

_WIDEST: Final = 4  # bytes of a character

VOID: Final = "area base br col embed hr img input link meta param source track wbr"
"""Elements without content and end tag."""
HTML: Final = (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strike strong sub sup table tt u ul var"
)
"""Elements that end SVG and MathML, in which there is no HTML."""
INTEGRATION: Final = "desc mi mn mo ms mtext"
"""Elements of SVG and MathML in which there is HTML: the integration points of the HTML standard."""

# What elements do, in the words of ``neardup.kernels.visible_text``.
_ELEMENTS: Final = {
    "BLOCK": """
        address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
        footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol optgroup
        option p plaintext pre search section select summary table tbody tfoot thead tr ul xmp
    """,
    "CELL": "td th",
    "LINE": "br",
    "PRE": "listing plaintext pre xmp",
    "HTML": HTML,
    "IN_HEAD": """
        head title meta link base basefont bgsound template script style noscript noframes
    """,
    "ROOT": "html",
    "LINK": "link",
    "BASE": "base",
    "META": "meta",
    "TITLE": "title",
    "RAW": "script style noscript iframe noembed noframes plaintext title textarea xmp",
    "KEPT": "textarea",
    "TEMPLATE": "template",
    "SHOWN": f"html head body {VOID}",
    "ANCHOR": "a",
    "FOREIGN": "math svg",
    "INTEGRATION": INTEGRATION,
    "LITERAL": "plaintext xmp",
    "LAST": "plaintext",
}
_NAMED: Final = re.compile(rb"canonical|robots|[&\0]", re.IGNORECASE)  # other links and tags of a head do not matter
# The beginning of a path from the folder of another one.
_RELATIVE: Final = re.compile(r"(?![/?#\\]|[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
_BODY: Final = re.compile("<body", re.IGNORECASE)
# Name and value. A quotation mark that is never closed opens nothing; a leading "=" belongs to the name.
_ATTRIBUTE: Final = re.compile(
    r"""([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))?""", re.ASCII
)
_NUMBER: Final = re.compile(r"&#0*([0-9]*)")
# References in attributes. Before "=" or a letter or digit, a name without a semicolon is text: "?a&section=5".
_REFERENCE: Final = re.compile(r"&(#[xX]?[0-9a-fA-F]++;?|[a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=)))")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_META_WINDOW: Final = 1024
_META_CHARSET: Final = re.compile(  # but not in a comment, or in words about charsets
    rb"""<!(?=--).*?(?:-->|\Z)|<meta\b(?:(?=[^>]*?(?:\bhttp-equiv|text/html))[^>]*?|(?:[^>"']|"[^"]*+"|'[^']*+')*?)"""
    rb"""(?<![\w-])charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE | re.DOTALL,
)
_XML_CHARSET: Final = re.compile(rb"<\?xml\s[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)")
_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNITS: Final = {"utf-16-le": "<u2", "utf-16-be": ">u2"}
_HIGH, _LOW = 0xD800 >> 10, 0xDC00 >> 10  # surrogates


class PageContent(NamedTuple):
    """The text of a page without its title, and what its markup defines; ``None`` where it does not.

    ``canonical`` is the address in the link of this name in the head, as written, or resolved against the address of
    ``<base>``; empty if several differ, or if there are more than 64. ``noindex``: whether the head asks search engines
    not to index the page (``<meta name="robots">``).
    """

    text: str
    title: str | None
    canonical: str | None
    lang: str | None
    noindex: bool = False

    @property
    def whole(self) -> str:
        """The title and the text, as two paragraphs."""
        return "\n\n".join(part for part in (self.title, self.text) if part)


def visible_text(markup: bytes | str) -> str:
    r"""Return the visible text of a page, one paragraph per block.

    - The first ``<title>`` outside of ``svg`` and ``math`` is the first line. Text in the head ends the head, and is
      shown.
    - The content of ``script``, ``style``, ``template``, ``noscript``, ``iframe``, ``noembed`` and ``noframes``,
      comments, declarations and processing instructions are removed. That of ``textarea``, ``xmp`` and ``plaintext``
      is text, and so is markup in it.
    - An element with the attribute ``hidden``, or ``display: none`` in ``style``, is removed at its end tag; one that
      is never closed hides nothing, and ``html``, ``head`` and ``body`` are never hidden.
    - A block element ends a paragraph before and after it; paragraphs are separated by one empty line. ``<br>``
      ends a line (several make one empty line), ``<td>`` and ``<th>`` add a space.
    - Character references are decoded, except in ``xmp`` and ``plaintext``; inside a paragraph every run of white
      space, no-break spaces included, becomes one space, except in these, ``pre`` and ``listing``. NUL is removed, a
      lone surrogate becomes U+FFFD.
    - A tag, a comment or a ``script`` that never ends includes the rest of the page, as in a browser. In ``svg`` and
      ``math``, an element whose tag ends with ``/>`` is empty.

    Bytes are decoded by their byte order mark, or by the charset that a ``<meta>`` in the first 1,024 bytes declares,
    or, without a valid charset of the web, as UTF-8; bytes that cannot be decoded become U+FFFD. No page raises an
    error, and the time is linear in the length. Anything else raises ``DataError``.

    >>> print(visible_text("<title>Bees &amp; us</title><p>One <b>hive</b>,\n many<br>bees<script>x()</script><p>End"))
    Bees & us
    <BLANKLINE>
    One hive, many
    bees
    <BLANKLINE>
    End
    """
    require_page("markup", markup)
    return visible_content(decoded(markup) if isinstance(markup, bytes) else markup).whole


def require_page(name: str, markup: object) -> None:
    """Raise ``DataError`` unless a page is bytes or a string."""
    if not isinstance(markup, bytes | str):
        raise DataError(name, f"is {kind_of(markup)}, but a page must be bytes or a string")


def visible_content(markup: str, *, links: bool = True) -> PageContent:
    """Return the visible text of a page apart from its title; without *links*, also without lines of links only.

    The words of such a line, or of a paragraph without ``<br>``, are all in elements ``<a href>``.

    >>> visible_content("<li><a href=/a>One</a> | <a href=/b>two</a><p>See <a href=/c>three</a>", links=False).text
    'See three'
    """
    pieces, about = _scanned(markup, links=not links)
    return about._replace(text=_paragraphs(pieces, marked=not links))


def visible_contents(markup: str) -> tuple[PageContent, PageContent]:
    """Return the visible text of a page, and that without lines of links only: see ``visible_content``."""
    pieces, about = _scanned(markup, links=True)
    whole, rest = (_paragraphs(pieces.copy(), marked=True, links=links) for links in (True, False))
    return about._replace(text=whole), about._replace(text=rest)


def page_fields(markup: str) -> PageContent:
    """Return what a page states about itself, with an empty text."""
    return _scanned(markup, links=False)[1]


def _scanned(markup: str, *, links: bool) -> tuple[Bytes, PageContent]:
    """Return the pieces of the visible text of a page, marked *links* among them, and its content without a text."""
    from neardup.kernels import references  # it loads Numba
    from neardup.kernels import visible_text as kernels

    _, page = encoded(markup)
    most, of = references.GROWTH
    pieces = np.empty(len(page) * most // of + 1, np.uint8)
    tags, found = np.empty((MOST_TAGS, 3), np.int64), np.empty(kernels.NUMBERS, np.int64)
    kernels.pieces(np.frombuffer(page, np.uint8), *_elements(), *_references(), links, tags, pieces, found)
    size, title_begin, title_end, listed = found.tolist()
    title = _title(page[title_begin:title_end]) if title_begin >= 0 else None
    canonical, lang, noindex = _head((kind, page[begin:end]) for kind, begin, end in tags[:listed].tolist())
    return pieces[:size], PageContent("", title or None, canonical, lang, noindex)


def _title(content: bytes) -> str:
    from neardup.kernels import references

    most, of = references.GROWTH
    out = np.empty(len(content) * most // of + 1, np.uint8)
    size = references.decode(np.frombuffer(content, np.uint8), *_references(), out)
    return " ".join(out[:size].tobytes().decode().split())


def _paragraphs(pieces: Bytes, *, marked: bool, links: bool = False) -> str:
    """Return the text of pieces; of *marked* ones, which are changed, without lines of links only, unless *links*."""
    from neardup.kernels import visible_text as kernels

    if marked:
        pieces = pieces[: kernels.drop_links(pieces, not links, *unicode_tables().analysis)]
    out = np.empty(len(pieces) * 3 // 2 + 1, np.uint8)
    return out[: kernels.paragraphs(pieces, out)].tobytes().decode()


def canonical_address(page: bytes | str) -> str | None:
    """Return the canonical address of a page, see ``PageContent``; ``None`` if it has none, or several."""
    page = capped(page)[0]
    text = decoded(page) if isinstance(page, bytes) else page
    body = _BODY.search(text)
    return page_fields(text[: body.start()] if body else text).canonical or None


def forbids_index(directives: str) -> bool:
    """Return whether the directives of a robots tag, separated by commas, ask not to index a page.

    >>> forbids_index("NoIndex, nofollow"), forbids_index("nofollow")
    (True, False)
    """
    return not {"noindex", "none"}.isdisjoint(part.strip() for part in directives.lower().split(","))


def encoded(page: str) -> tuple[str, bytes]:
    """Return a page without a byte order mark, with U+FFFD instead of lone surrogates, and the same in UTF-8."""
    page = page.removeprefix("\ufeff")
    try:
        return page, page.encode()
    except UnicodeEncodeError:
        page = _SURROGATE.sub("\ufffd", page)
        return page, page.encode()


def _head(tags: Iterable[tuple[int, bytes]]) -> tuple[str | None, str | None, bool]:
    """Return the canonical address, the language and whether search engines must not index the page.

    Tags are those of the head that the kernel lists, with their attributes.
    """
    from neardup.kernels.visible_text import BASE, LINK, META

    links, base, lang, noindex, room = [], None, None, False, MOST_HEAD
    for kind, attributes in tags:
        if kind in {LINK, META} and not _NAMED.search(attributes):
            continue
        room -= len(attributes)
        if room < 0:
            break
        values = _values(attributes.decode())
        if kind == BASE:
            base = values.get("href") if base is None else base
        elif kind == LINK:
            if "canonical" in values.get("rel", "").lower().split():
                links.append(values.get("href", "").strip())
        elif kind == META:
            robots = values.get("name", "").strip().lower() == "robots"
            noindex = noindex or (robots and forbids_index(values.get("content", "")))
        else:
            lang = lang or values.get("lang", "").strip() or values.get("xml:lang", "").strip() or None
    canonical, named = None, set(filter(None, links))
    if named:
        clear = len(named) == 1 and len(links) <= _MOST_CANONICALS
        canonical = _resolved(named.pop(), base) if clear else ""
    return canonical, lang, noindex


def _resolved(link: str, base: str | None) -> str:
    """Return an address of a page resolved against that of its ``<base>``, if it has a valid one.

    The result is relative if the base is: to the address of the page.

    >>> _resolved("b", "http://a.example/c/"), _resolved("b", "../c/d"), _resolved("/b", "../c/d")
    ('http://a.example/c/b', '../c/b', '/b')
    """
    base = (base or "").strip()
    if not base or base.lower().startswith(("data:", "javascript:")):
        return link
    if _RELATIVE.match(link) and _RELATIVE.match(base):  # urljoin drops the leading ".." of such a base
        path = base.partition("#")[0].partition("?")[0]
        return path[: path.rfind("/") + 1] + link
    try:
        return urljoin(base, link)
    except ValueError:  # such as an invalid address of IPv6
        return link


@cache
def _elements() -> tuple[Any, Any]:
    from neardup.kernels import visible_text as kernels

    return packed_kinds((getattr(kernels, kind), names) for kind, names in _ELEMENTS.items())


def packed_kinds(elements: Iterable[tuple[int, str]]) -> tuple[Any, Any]:
    """Return the names of the elements of each kind as numbers, ascending, and all kinds of each, for kernels."""
    from neardup.kernels.tags import packed_name

    kinds: dict[int, int] = defaultdict(int)
    for kind, names in elements:
        for name in names.split():
            kinds[packed_name(name)] |= kind
    listed = sorted(kinds)
    return np.array(listed, np.uint64), np.array([kinds[name] for name in listed], np.int64)


@cache
def _references() -> tuple[Any, Any, Any]:
    """Return the names of characters with what they mean, their first bytes, and what small numbers mean."""
    from neardup.kernels.references import NAME

    names = sorted(html5, key=lambda name: (name.endswith(";"), name))
    rows = [name.encode().ljust(NAME, b"\0") + html5[name].encode().ljust(8, b"\0") for name in names]
    meant = [unescape(f"&#{code};") for code in range(160)]
    codes = np.array([ord(text) if text else -1 for text in meant], np.int64)
    table = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    shorts = sum(not name.endswith(";") for name in names)
    begins = np.arange(129)
    firsts = [np.searchsorted(table[:shorts, 0], begins), shorts + np.searchsorted(table[shorts:, 0], begins)]
    return table, np.stack(firsts, axis=1).astype(np.int64), codes


def _unescaped(text: str) -> str:
    """Return the value of an attribute without NUL, its references decoded; those to control characters are removed.

    >>> _unescaped("/?a&section=5&amp;copy=2&#38;b&copy")
    '/?a&section=5&copy=2&b©'
    """
    text = text.replace("\0", "")
    if "&" not in text:
        return text
    if "&#" in text:  # int() refuses thousands of digits; eight already exceed Unicode
        text = _NUMBER.sub(lambda number: f"&#{number[1][:8] or 0}" if number[0] != "&#" else "&#", text)
    return _REFERENCE.sub(lambda one: unescape(one[0]) if one[1][0] == "#" else html5.get(one[1], one[0]), text)


def _values(attributes: str) -> dict[str, str]:
    """Return the values of attributes by their names; of two of the same name, the first."""
    found: dict[str, str] = {}
    for one in _ATTRIBUTE.finditer(attributes):
        value = one[0][len(one[1]) :].lstrip().removeprefix("=").strip()
        quoted = value[:1] in {'"', "'"}
        found.setdefault(one[1].lower(), _unescaped(value[1:-1] if quoted else value))
    return found


def capped(page: Markup) -> tuple[Markup, str]:
    """Return what is read of a page: its first ``LARGEST_PAGE`` bytes, of a string in UTF-8; and the fault, if any."""
    if isinstance(page, bytes):
        return (page[:LARGEST_PAGE], TOO_LONG) if len(page) > LARGEST_PAGE else (page, "")
    if len(page) * _WIDEST <= LARGEST_PAGE:
        return page, ""
    markup, fault = capped(encoded(page[: LARGEST_PAGE + 1])[1])
    return markup.decode(errors="ignore") if fault else page, fault


def decoded(page: bytes, declared: str | None = None, *, markup: bool = True) -> str:
    """Decode a page by its byte order mark, its *declared* charset, or that of its *markup*; see ``visible_text``."""
    for mark, encoding in _ORDER_MARKS:
        if page.startswith(mark):
            return decoded_as(page[len(mark) :], encoding)
    head = page[:_META_WINDOW]
    charset = charset_of(declared, zeros=b"\0" in head) if declared else None
    return decoded_as(page, charset or (_charset_in(head) if markup else None) or "utf-8")


def decoded_as(page: bytes, encoding: str) -> str:
    """Return ``page.decode(encoding, "replace")``, without the long time that some codecs take for invalid bytes."""
    if encoding in SINGLE_BYTE:
        return codecs.charmap_decode(page, "strict", bytes(range(256)).decode(encoding, "replace"))[0]
    if encoding in _UNITS and len(page) > 1:
        units = np.frombuffer(page, _UNITS[encoding], len(page) // 2)
        halves = units >> 10
        paired = (halves[:-1] == _HIGH) & (halves[1:] == _LOW)
        alone = np.append(halves[:-1] == _HIGH, False)  # what follows the last one decides about it
        alone[:-1] &= ~paired
        alone[1:] |= (halves[1:] == _LOW) & ~paired
        alone[0] |= halves[0] == _LOW
        if alone.any():
            replaced = np.where(alone, units.dtype.type(0xFFFD), units).astype(units.dtype)
            page = replaced.tobytes() + page[2 * len(units) :]
    return page.decode(encoding, "replace")


def _charset_in(head: bytes) -> str | None:
    """Return the charset that the first bytes of a page declare; a ``<meta>`` counts before the XML declaration."""
    names = [name for name in _META_CHARSET.findall(head) if name]
    if (xml := _XML_CHARSET.match(head)) is not None:
        names.append(xml[1])
    return next(filter(None, (charset_of(name.decode("ascii")) for name in names)), None)
