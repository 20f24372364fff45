"""One file as one document: a text, or the text of an HTML page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from neardup.sources.compression import load
from neardup.sources.formats import COMPRESSIONS, display, require_file
from neardup.sources.lines import BOM
from neardup.text.extraction import Extraction
from neardup.text.xhtml import as_html

_XHTML: Final = ".xhtml"
HTML: Final = (".html", ".htm", _XHTML)


@dataclass(frozen=True, slots=True)
class NamedText:
    """A text, its name, and the number of places with invalid UTF-8."""

    name: str
    text: str
    replaced: int


def read_document(path: str, max_bytes: int, extraction: Extraction) -> NamedText:
    """Read a file of text or HTML, plain or compressed, or standard input for ``-``.

    Invalid UTF-8 becomes U+FFFD; pages become text as *extraction* describes. Raises ``InputRefused`` for a path
    that is not that of a file, and ``DataError`` for a file that is larger than *max_bytes*, also expanded, cannot be
    read, or is UTF-16 or UTF-32, except for pages in UTF-16 with a byte order mark.
    """
    name = display(path)
    require_file(path, max_bytes, or_standard_input=True)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    endings = suffixes[-1 - (compression is not None) :]
    is_page = any(suffix in HTML for suffix in endings)
    data = bytes(load(path, compression, max_bytes, page=is_page).data)
    if is_page:
        page = page_of("".join(endings[:1]), data)
        return NamedText(name, extraction.pages([page]).texts[0], 0)
    return named_text(name, data.removeprefix(BOM))


def named_text(name: str, data: bytes) -> NamedText:
    """Return bytes as a text: invalid UTF-8 becomes U+FFFD, and is counted."""
    text = data.decode("utf-8", "replace")
    return NamedText(name, text, text.count("\ufffd") - data.count("\ufffd".encode()))


def page_of(name: str, content: bytes) -> bytes:
    """Return the HTML of a file with this *name*: of XHTML, the same page as HTML."""
    return as_html(content) if name.lower().endswith(_XHTML) else content
