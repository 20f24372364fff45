"""The main text of a page, without navigation, advertisements and other parts that belong to its site.

This is the only module that imports resiliparse.
"""

import re
from functools import cache
from html import unescape
from typing import Any, Final

from neardup.model.errors import ExtraMissing
from neardup.text.charsets import charset_of
from neardup.text.html import PageContent, page_fields

_BODY: Final = re.compile(r"<body(?=[\s/>])", re.IGNORECASE)
_DEEPER: Final = "<div>" * 3
_MARK: Final = "\ufdd0"  # a noncharacter: texts have none
_BLANKS: Final = r"[ \t\n\r\f\0]*+"
# Characters of three bytes, apart from those for private use and those without width.
_WIDE: Final = re.compile(
    r"[^\0-\u07ff\ud800-\uf8ff\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U00010000-\U0010ffff]"
)
_NARROW: Final = r"#\d\d?;|[lg]t;|amp;|nbsp;|quot;"  # the most frequent references, which are not to wide characters
_ALONE: Final = re.compile(rf">{_BLANKS}({_WIDE.pattern}|&(?!{_NARROW})#?\w{{2,31}};?)(?={_BLANKS}<)")
_GLUED: Final = (
    *("aside", "caption", "dialog", "dir", "figcaption", "figure", "footer", "legend", "listing", "menu", "nav"),
    *("optgroup", "search", "select", "summary", "xmp"),
)
_LETTERS: Final = "".join(f"[{''.join(sorted(set(letters)))}]" for letters in list(zip(*_GLUED, strict=False))[:3])
_GLUING_TAG: Final = re.compile(
    rf"<(?=/?{_LETTERS})(?=/?(?:{'|'.join(_GLUED)})[\s/>])",  # few tags have these letters
    re.IGNORECASE,
)


def main_text(markup: str) -> PageContent | None:
    """Return the main text of a page without lone surrogates, whose shape a parser can bear; ``None`` if it fails.

    resiliparse takes every ``ul`` and ``nav`` with fewer than three elements between it and the body for a menu, also
    the lists of an article in a page with little markup. So the page is put into three elements, inside of its body.
    It deletes characters of three bytes that are alone between two tags, so these are marked; and it joins the words
    at some tags, which get a blank. Raises ``ExtraMissing`` without resiliparse.
    """
    parser, extract, failed = _library()
    prepared, marked = _prepared(markup)
    try:
        tree = parser.parse(prepared)
    except (failed, MemoryError):  # there is too little memory
        return None
    text: str = extract(
        tree, main_content=True, alt_texts=False, list_bullets=False, comments=False, post_meta=False
    ).strip()
    if _DEEPER not in markup:  # an element before the body that never ends contains these as text
        text = text.replace(_DEEPER, "")
    if marked:
        text = text.replace(_MARK, "").strip()
    return page_fields(markup)._replace(text=text)


def _prepared(markup: str) -> tuple[str, bool]:
    """Return a page with more elements around all that is in its body, marks and blanks; and whether it has marks.

    Without a body tag, no elements are added. A page with noncharacters gets no marks.
    """
    body = _BODY.search(markup)
    inside = 0 if body is None else markup.find(">", body.end()) + 1
    content, marks = _GLUING_TAG.sub(" <", markup[inside:]), 0
    if _MARK not in markup:
        content, marks = _ALONE.subn(_marked, f">{content}<")
        content = content[1:-1]
    return f"{markup[:inside]}{_DEEPER if inside else ''}{content}", marks > 0


def _marked(found: re.Match[str]) -> str:
    """Return a lone character with a mark added; unchanged if a reference means something else."""
    is_wide = _WIDE.fullmatch(unescape(found[1])) is not None
    return found[0] + _MARK if is_wide else found[0]


def detected(page: bytes) -> str:
    """Return Python's name of the charset that the bytes of a page look like; ``ExtraMissing`` without resiliparse."""
    _library()
    from resiliparse.parse.encoding import detect_encoding

    return charset_of(detect_encoding(page) or "", zeros=b"\0" in page) or "utf-8"


@cache
def installed() -> str | None:
    """Return the library with its version, and how it is used: main text depends on these; ``None`` without it."""
    from importlib.metadata import PackageNotFoundError, version  # it loads slowly

    try:
        return f"resiliparse {version('resiliparse')} with deeper lists, lone characters and EUC-KR"
    except PackageNotFoundError:
        return None


@cache
def _library() -> tuple[Any, Any, Any]:
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.html import HTMLParserException, HTMLTree
    except ImportError as error:
        raise ExtraMissing("resiliparse", "warc") from error
    return HTMLTree, extract_plain_text, HTMLParserException
