"""What stands around every page: it needs no network and no script, and its policy forbids both."""

from html import escape
from typing import Final

from neardup import __version__
from neardup.interfaces.pages.style import STYLE


def framed(title: str, lead: str, sections: str, *, style: str = "", note: str = "") -> bytes:
    """Make a page, in UTF-8; all parts but the title are HTML, escaped already. *style* comes behind the common one."""
    page = _FRAME.format(
        title=escape(title), style=STYLE + style, lead=lead, sections=sections, note=note, version=escape(__version__)
    )
    return page.encode("utf-8", errors="replace")


_FRAME: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{lead}</p>
</header>
<main>
{sections}</main>
<footer>neardup {version}{note}</footer>
</body>
</html>
"""
