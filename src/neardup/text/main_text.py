"""The main text of a page, without navigation, advertisements and other parts that belong to its site.

This is the only module that imports resiliparse.
"""

import re
from functools import cache
from typing import Any, Final

from neardup.model.errors import ExtraMissing
from neardup.text.charsets import charset_of
from neardup.text.html import MOST_CANONICALS, PageContent, forbids_index, resolved

_BODY: Final = re.compile(r"<body(?=[\s/>])", re.IGNORECASE)
_DEEPER: Final = "<div>" * 3


def main_text(markup: str) -> PageContent | None:
    """Return the main text of a page without lone surrogates, whose shape a parser can bear; ``None`` if it fails.

    resiliparse takes every ``ul`` and ``nav`` with fewer than three elements between it and the body for a menu, also
    the lists of an article in a page with little markup. So the page is put into three elements, inside of its body.
    Raises ``ExtraMissing`` without resiliparse.
    """
    parser, extract, failed = _library()
    try:
        tree = parser.parse(_deeper(markup))
    except (failed, MemoryError):  # there is too little memory
        return None
    text: str = extract(
        tree, main_content=True, alt_texts=False, list_bullets=False, comments=False, post_meta=False
    ).strip()
    title: str = tree.title or ""
    if _DEEPER not in markup:  # an element before the body that never ends contains these as text
        text, title = text.replace(_DEEPER, ""), title.replace(_DEEPER, "")
    head, root = tree.head, tree.document.query_selector("html")
    links = [] if head is None else head.query_selector_all("link[rel~=canonical]")
    if len(links) > MOST_CANONICALS:  # going through all would take quadratic time
        canonical: str | None = ""
    else:
        named = {address for link in links if (address := (link.getattr("href") or "").strip())}
        base = None if head is None or not named else head.query_selector("base[href]")
        address = None if base is None else base.getattr("href")
        canonical = resolved(named.pop(), address) if len(named) == 1 else "" if named else None
    robots = [] if head is None else head.query_selector_all('meta[name="robots" i]')
    noindex = any(forbids_index(tag.getattr("content") or "") for tag in robots[:MOST_CANONICALS])
    lang = None if root is None else (root.getattr("lang") or "").strip() or (root.getattr("xml:lang") or "").strip()
    return PageContent(text, title or None, canonical, lang or None, noindex)


def _deeper(markup: str) -> str:
    """Return a page with more elements around all that is in its body; unchanged if it has no tag for that."""
    body = _BODY.search(markup)
    inside = 0 if body is None else markup.find(">", body.end()) + 1
    return f"{markup[:inside]}{_DEEPER}{markup[inside:]}" if inside else markup


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
        return f"resiliparse {version('resiliparse')} with deeper lists"
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
