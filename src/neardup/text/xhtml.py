"""XHTML as HTML: what XML writes in other ways than HTML.

A parser of HTML ignores the slash of ``<script/>``, and takes the rest of the page for the script. It does not know
sections of CDATA either.
"""

import re
from typing import Final

from neardup.text.html import VOID

TYPE: Final = "application/xhtml+xml"

_VOID: Final = frozenset(VOID.encode().split())
_MOST: Final = 1 << 17  # empty elements, and sections of CDATA, that are changed: each takes time
# What is between < and />. Groups have no possessive quantifiers, which match too much in Python 3.11.0 to 3.11.4.
_TAG: Final = re.compile(rb"""([A-Za-z][\w:.-]{0,63}+)(?:\s[^"'<>]*+(?:(?:"[^"<]*+"|'[^'<]*+')[^"'<>]*+)*)?""")


def as_html(page: bytes) -> bytes:
    """Return a page of XHTML, in an encoding that contains ASCII, with the same elements and text for parsers of HTML.

    Empty elements get an end tag, unless HTML has none for them, and sections of CDATA become text; at most ``_MOST``
    of each. Pages in UTF-16 are returned unchanged.

    >>> as_html(b'<p><script src="a.js"/><![CDATA[1 < 2]]><br/></p>')
    b'<p><script src="a.js"></script>1 &lt; 2<br/></p>'
    """
    if b"\0" in page[:4] or page.startswith((b"\xff\xfe", b"\xfe\xff")):
        return page
    return _with_end_tags(_without_sections(page))


def _without_sections(page: bytes) -> bytes:
    first, *others = page.split(b"<![CDATA[", _MOST)
    pieces, inside = [first], False
    for other in others:
        data, end, rest = other.partition(b"]]>")
        text = data.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
        pieces += [b"&lt;![CDATA[" * inside, text, rest]  # in a section, its beginning is text
        inside = not end
    return b"".join(pieces)


def _with_end_tags(page: bytes) -> bytes:
    *pieces, last = page.split(b"/>", _MOST)
    found = []
    for piece in pieces:
        tag = _TAG.fullmatch(piece, piece.rfind(b"<") + 1)
        is_empty = tag is not None and tag.start() > 0 and tag[1].lower() not in _VOID
        found += [piece, b"></" + tag[1] + b">" if tag is not None and is_empty else b"/>"]
    return b"".join([*found, last])
