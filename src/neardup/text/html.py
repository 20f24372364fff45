"""The visible text of an HTML page, in source order.

The scan follows the tokenizer of the HTML standard in everything that decides what is text, so that a page that is cut
off or deliberately malformed is read as by a browser. It does not use ``html.parser``, for three reasons: its results
changed between patch releases of Python (the same page must have the same text everywhere), it takes quadratic time on
unclosed comments and tags, and it raises errors on some declarations.
"""

import codecs
import re
from html import unescape
from typing import Final, NamedTuple

# Elements whose content is not markup: it ends at the element's own end tag and nowhere else.
_RAW_DROPPED: Final = frozenset({"script", "style", "noscript", "iframe", "noembed", "noframes"})
_RAW_KEPT: Final = frozenset({"title", "textarea"})
_HEAD: Final = _RAW_DROPPED | {"head", "title", "meta", "link", "base", "basefont", "bgsound", "template"}
_NEVER_HIDDEN: Final = frozenset(
    "html body area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905 - prose
)
_BLOCK: Final = frozenset(
    """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup option p pre
    search section select summary table tbody tfoot thead tr ul
    """.split()  # noqa: SIM905 - the same
)

_BODY: Final = re.compile("<body", re.IGNORECASE)
_OPENING: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_MARKUP: Final = re.compile(r"<[a-zA-Z/!?][^>]*+>?")
_NAMED: Final = re.compile(r"</?[a-zA-Z]")
# Name and value. A quote that is never closed opens nothing; a leading "=" belongs to the name.
_PARTS: Final = r"""([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))?"""
_ATTRIBUTE: Final = re.compile(_PARTS, re.ASCII)
_ATTRIBUTES: Final = rf"(?:[\s/]++|{_PARTS.replace('(', '(?:', 1)})*+"
_TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^\s/>]*+)({_ATTRIBUTES})>", re.ASCII)
_TEXT_AND_TAG: Final = re.compile(rf"([^<]*+){_TAG.pattern}", re.ASCII)
_COMMENT: Final = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_RAW_END: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE | re.ASCII) for name in _RAW_DROPPED | _RAW_KEPT
}
_CSS_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_NUMBER: Final = re.compile(r"&#0*([0-9]*)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

MOST_TAGS: Final = 150_000  # of a page, which take less than half a second
MOST_CANONICALS: Final = 64  # links with the address of a page
_META_WINDOW: Final = 1024
_META_CHARSET: Final = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# The charsets of the web: Python's name for the declared one, and the one that browsers use instead.
_CHARSETS: Final = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "euc_jp": "euc_jp",
    "euc_kr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso2022_jp": "iso2022_jp",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "mac-cyrillic": "mac-cyrillic",
    "mac-roman": "mac-roman",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    **{name: name for name in ("koi8-r", "koi8-u", "cp866", "cp874", "cp932", "cp949")},
    **{name: name for name in (f"cp{page}" for page in range(1250, 1259))},
    **{name: name for name in (f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16))},
}


class PageContent(NamedTuple):
    """The text of a page without its title, and what its markup defines; ``None`` where it does not.

    ``canonical`` is the address in the link of this name in the head, as written; empty if several differ, or if there
    are more than 64. ``noindex``: whether the head asks search engines not to index the page
    (``<meta name="robots">``).
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


# Marks between pieces of text, which have no NUL.
_BLOCK_END: Final = "\0b"
_LINE_END: Final = "\0l"
_VERBATIM: Final = "\0v"  # before text of a <pre>, whose white space is kept
_MARKS: Final = {"br": _LINE_END, "/br": _LINE_END, "td": " ", "th": " "}  # browsers read </br> as <br>
_MARKS.update({end + name: _BLOCK_END for name in _BLOCK for end in ("", "/")})
_SPECIAL: Final = _RAW_DROPPED | _RAW_KEPT | {"head", "/head", "html", "pre", "/pre", "template"}  # more than marks


def visible_text(markup: bytes | str) -> str:
    r"""Return the visible text of a page, one paragraph per block.

    - The first ``<title>`` is the first line. Nothing else in the head is text.
    - The content of ``script``, ``style``, ``template``, ``noscript``, ``iframe``, ``noembed`` and ``noframes``,
      comments, declarations and processing instructions are removed.
    - An element with the attribute ``hidden``, or ``display: none`` in ``style``, is removed at its end tag; one that
      is never closed hides nothing, and ``html`` and ``body`` are never hidden.
    - A block element ends a paragraph before and after it; paragraphs are separated by one empty line. ``<br>``
      ends a line (several make one empty line), ``<td>`` and ``<th>`` add a space.
    - Character references are decoded; inside a paragraph every run of white space, no-break spaces included,
      becomes one space, except in ``<pre>``. NUL is removed, a lone surrogate becomes U+FFFD.
    - A tag, a comment or a ``script`` that never ends includes the rest of the page, as in a browser.
    - After 150,000 tags, all that begins like a tag is replaced by a space, up to the next ``>``: no page takes long.

    Bytes are decoded by their byte order mark, or by the charset that a ``<meta>`` in the first 1,024 bytes declares,
    or, without a valid charset of the web, as UTF-8; bytes that cannot be decoded become U+FFFD. No page raises an
    error, and the time is linear in the length.

    >>> print(visible_text("<title>Bees &amp; us</title><p>One <b>hive</b>,\n many<br>bees<script>x()</script><p>End"))
    Bees & us
    <BLANKLINE>
    One hive, many
    bees
    <BLANKLINE>
    End
    """
    return visible_content(decoded(markup) if isinstance(markup, bytes) else markup).whole


def visible_content(markup: str) -> PageContent:
    """Return the visible text of a page apart from its title."""
    page = _Page(without_surrogates(markup).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    title, canonical, lang = (own and without_surrogates(own) for own in (page.title, page.canonical, page.lang))
    text = without_surrogates(page.text())
    return PageContent(text, title or None, canonical, lang, page.noindex)  # references name surrogates


def canonical_address(page: bytes | str) -> str | None:
    """Return the address in the canonical link of a page's head, as written; ``None`` if it has none, or several."""
    text = decoded(page) if isinstance(page, bytes) else page
    body = _BODY.search(text)
    return visible_content(text[: body.start()] if body else text).canonical or None


def forbids_index(directives: str) -> bool:
    """Return whether the directives of a robots tag, separated by commas, ask not to index a page.

    >>> forbids_index("NoIndex, nofollow"), forbids_index("nofollow")
    (True, False)
    """
    return not {"noindex", "none"}.isdisjoint(part.strip() for part in directives.lower().split(","))


def without_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class _Page:
    """One pass over the markup, from left to right; every character is read once."""

    def __init__(self, markup: str) -> None:
        self._markup = markup
        self.title: str | None = None
        self.lang: str | None = None
        self._canonicals: dict[str, None] = {}
        self._canonical_links = 0
        self.noindex = False
        self._head_is_over = False
        self._pieces: list[str] = []  # text, and the two kinds of ends
        self._pre = 0  # <pre> elements open
        self._in_head = False
        self._hiding = ""  # name of the element being hidden, how many of that name are open, and where it began
        self._hiding_depth = 0
        self._hiding_from = 0
        self._scan()

    @property
    def canonical(self) -> str | None:
        clear = len(self._canonicals) == 1 and self._canonical_links <= MOST_CANONICALS
        return next(iter(self._canonicals)) if clear else "" if self._canonicals else None

    def text(self) -> str:
        found = map(_paragraph, "".join(self._pieces).split(_BLOCK_END))
        return "\n\n".join(paragraph for paragraph in found if paragraph)

    def _scan(self) -> None:
        markup, at, left = self._markup, 0, MOST_TAGS
        while left > 0:
            at, left = self._scan_body(at, left)
            if not left:
                break
            opening = _OPENING.search(markup, at)
            if opening is None:
                return self._say(markup[at:])
            self._say(markup[at : opening.start()])
            at, left = self._markup_end(opening.start()), left - 1
        return self._say(_MARKUP.sub(" ", markup[at:]))

    def _scan_body(self, at: int, left: int) -> tuple[int, int]:
        """Process up to *left* tags that are at most marks; return the end of the last one, and how many are left.

        Almost all tags are of this kind: this loop decides how much time a page takes.
        """
        if self._in_head or self._hiding or not self._head_is_over:
            return at, left
        markup, append, verbatim = self._markup, self._pieces.append, _VERBATIM if self._pre else ""
        while left and (part := _TEXT_AND_TAG.match(markup, at)):
            text, closing, name, attributes = part.groups()
            name = f"{closing}{name.lower()}"
            if name in _SPECIAL or (attributes and not closing and _hides(name, attributes)):
                break
            if text:
                append(verbatim + (_unescaped(text) if "&" in text or "\0" in text else text))
            if name in _MARKS:
                append(_MARKS[name])
            at, left = part.end(), left - 1
        return at, left

    def _markup_end(self, at: int) -> int:
        """Process the construct that begins at *at*, and return its end."""
        markup = self._markup
        if tag := _TAG.match(markup, at):
            closing, name, attributes = tag[1], tag[2].lower(), tag[3]
            if closing:
                self._end(name)
                return tag.end()
            self._start(name, attributes)
            return self._raw_end(name, tag.end()) if name in _RAW_END else tag.end()
        if _NAMED.match(markup, at):
            return len(markup)  # the tag never ends
        if markup.startswith("<!--", at):
            comment = _COMMENT.match(markup, at)
            return comment.end() if comment else len(markup)
        end = markup.find(">", at)  # a declaration, an instruction, or a bogus comment such as "</ >"
        return len(markup) if end < 0 else end + 1

    def _raw_end(self, name: str, at: int) -> int:
        end = _RAW_END[name].search(self._markup, at)
        content = slice(at, end.start() if end else len(self._markup))
        if name == "title":
            if self.title is None and not self._hiding:
                self.title = " ".join(_unescaped(self._markup[content]).split())
        elif name in _RAW_KEPT:
            self._say(self._markup[content])
        return content.stop

    def _say(self, text: str) -> None:
        if text and not self._in_head:
            self._head_is_over = self._head_is_over or not text.isspace()
            self._pieces.append((_VERBATIM if self._pre else "") + _unescaped(text))

    def _start(self, name: str, attributes: str) -> None:
        self._in_head = name == "head" or (self._in_head and name in _HEAD)
        self._head_is_over = self._head_is_over or (name != "html" and name not in _HEAD)
        if name == "link" and not self._head_is_over:
            self._link(attributes)
        elif name == "meta" and not (self._head_is_over or self.noindex):
            values = _values(attributes)
            named = values.get("name", "").strip().lower() == "robots"
            self.noindex = named and forbids_index(values.get("content", ""))
        elif name == "html" and self.lang is None:
            self.lang = _values(attributes).get("lang", "").strip() or None
        if self._hiding:
            self._hiding_depth += name == self._hiding
        elif name == "template" or _hides(name, attributes):
            self._hiding, self._hiding_depth, self._hiding_from = name, 1, len(self._pieces)
        if mark := _MARKS.get(name):
            self._pieces.append(mark)
            self._pre += name == "pre"

    def _link(self, attributes: str) -> None:
        values = _values(attributes)
        if "canonical" not in values.get("rel", "").lower().split():
            return
        self._canonical_links += 1
        if address := values.get("href", "").strip():
            self._canonicals[address] = None

    def _end(self, name: str) -> None:
        if name == "head":
            self._in_head = False
            self._head_is_over = True
        if mark := _MARKS.get(f"/{name}"):
            self._pieces.append(mark)
            if name == "pre" and self._pre:
                self._pre -= 1
        if name == self._hiding:
            self._hiding_depth -= 1
            if not self._hiding_depth:
                self._hiding = ""
                del self._pieces[self._hiding_from :]
                if name in _BLOCK:
                    self._pieces.append(_BLOCK_END)


def _paragraph(text: str) -> str:
    """Return what is between two block ends as a paragraph."""
    if "\0" not in text:
        return " ".join(text.split())
    if _VERBATIM in text:
        return text.replace(_VERBATIM, "").replace(_LINE_END, "\n").rstrip().lstrip("\n")
    lines = (" ".join(line.split()) for line in text.split(_LINE_END))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines).strip("\n"))


def _unescaped(text: str) -> str:
    text = text.replace("\0", "")
    if "&" not in text:
        return text
    if "&#" in text:  # int() refuses thousands of digits; eight already exceed Unicode
        text = _NUMBER.sub(lambda number: f"&#{number[1][:8] or 0}" if number[0] != "&#" else "&#", text)
    return unescape(text)


def _values(attributes: str) -> dict[str, str]:
    """Return the values of attributes by their names; of two of the same name, the first."""
    found: dict[str, str] = {}
    for one in _ATTRIBUTE.finditer(attributes):
        value = one[0][len(one[1]) :].lstrip().removeprefix("=").strip()
        quoted = value[:1] in {'"', "'"}
        found.setdefault(one[1].lower(), _unescaped(value[1:-1] if quoted else value))
    return found


def _hides(name: str, attributes: str) -> bool:
    written = attributes.lower()
    if name in _NEVER_HIDDEN or not ("hidden" in written or "style" in written):
        return False
    given = [(attribute[1].lower(), attribute[0]) for attribute in _ATTRIBUTE.finditer(attributes)]
    style = next((whole.partition("=")[2] for attribute, whole in given if attribute == "style"), "")
    return any(attribute == "hidden" for attribute, _ in given) or _displays_nothing(style)


def _displays_nothing(style: str) -> bool:
    """Return whether the last ``display`` of a style, as written in the tag, is ``none``."""
    declared = _CSS_COMMENT.sub("", unescape(style.strip().strip("\"'"))).lower().split(";")
    values = [
        value.partition("!")[0].strip()
        for name, _, value in (one.partition(":") for one in declared)
        if name.strip() == "display"
    ]
    return values[-1:] == ["none"]


def decoded(page: bytes, declared: str | None = None) -> str:
    """Decode a page by its byte order mark, its *declared* charset, or that of its markup; see ``visible_text``."""
    for mark, encoding in _ORDER_MARKS:
        if page.startswith(mark):
            return page[len(mark) :].decode(encoding, "replace")
    charset = _charset(declared) if declared else None
    if charset is None and (found := _META_CHARSET.search(page[:_META_WINDOW])):
        charset = _charset(found[1].decode("ascii"))
    return page.decode(charset or "utf-8", "replace")


def _charset(declared: str) -> str | None:
    """Return Python's name of a declared charset; ``None`` if it is not one of the web."""
    try:
        name = codecs.lookup(declared.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    return "utf-8" if name == "utf-8" else _CHARSETS.get(name)
