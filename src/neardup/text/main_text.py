"""The main text of a page, without navigation, advertisements and other parts that belong to its site.

This is the only module that imports resiliparse.
"""

from functools import cache
from typing import Any

from neardup.model.errors import ExtraMissing
from neardup.text.html import MOST_CANONICALS, PageContent, forbids_index, resolved


def main_text(markup: str) -> PageContent | None:
    """Return the main text of a page without lone surrogates, whose shape a parser can bear; ``None`` if it fails.

    Raises ``ExtraMissing`` without resiliparse.
    """
    parser, extract, failed = _library()
    try:
        tree = parser.parse(markup)
    except (failed, MemoryError):  # there is too little memory
        return None
    text: str = extract(
        tree, main_content=True, alt_texts=False, list_bullets=False, comments=False, post_meta=False
    ).strip()
    head, root = tree.head, tree.document.query_selector("html")
    links = [] if head is None else head.query_selector_all("link[rel~=canonical]")
    listed = links if len(links) <= MOST_CANONICALS else ()  # going through all would take quadratic time
    named = {address for link in listed if (address := (link.getattr("href") or "").strip())}
    if len(links) > MOST_CANONICALS:
        canonical: str | None = ""
    else:
        base = None if head is None or not named else head.query_selector("base[href]")
        address = None if base is None else base.getattr("href")
        canonical = resolved(named.pop(), address) if len(named) == 1 else "" if named else None
    robots = [] if head is None else head.query_selector_all('meta[name="robots" i]')
    noindex = any(forbids_index(tag.getattr("content") or "") for tag in robots[:MOST_CANONICALS])
    lang = None if root is None else (root.getattr("lang") or "").strip()
    return PageContent(text, tree.title or None, canonical, lang or None, noindex)


def detected(page: bytes) -> str:
    """Return a page decoded by the encoding that its bytes look like; raises ``ExtraMissing`` without resiliparse."""
    _library()
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    found: str = bytes_to_str(page, detect_encoding(page) or "utf-8")
    return found


@cache
def installed() -> str | None:
    """Return the name and version of the library, on which main text depends; ``None`` if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # it loads slowly

    try:
        return f"resiliparse {version('resiliparse')}"
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
