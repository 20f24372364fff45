"""Real pages: documentation packages, downloaded, unpacked, and cut into passages.

The markup is stripped here by a few regular expressions, so that the corpus
does not depend on the library it is to test.
"""

import html
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

PACKAGES: Final = (
    "clang-13-doc",
    "clang-14-doc",
    "clang-15-doc",
    "clang-16-doc",
    "clang-19-doc",
    "libboost1.74-doc",
    "libboost1.81-doc",
    "linux-doc-6.1",
    "openjdk-17-doc",
    "perl-doc",
    "postgresql-doc-15",
    "python3.11-doc",
)

SHORTEST: Final = 200  # characters; less is an index entry or a redirect, not a document
SHORT: Final = 1_500  # a passage ends at the first heading after this many characters
LONG: Final = 6_000  # and at the first line end after this many

INVISIBLE: Final = re.compile(r"<!--.*?-->|<(script|style|svg)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
HEADING: Final = re.compile(r"<h[1-6]\b[^>]*>|^=head", re.IGNORECASE | re.MULTILINE)
BLOCK: Final = re.compile(
    r"</?(?:title|p|div|section|article|header|footer|nav|main|h[1-6]|[uod]l|li|d[td]|table|tr|pre|blockquote|br|hr|form)\b[^>]*>",
    re.IGNORECASE,
)
CELL: Final = re.compile(r"</t[dh]>", re.IGNORECASE)
TAG: Final = re.compile(r"</?[a-zA-Z][^>]*>|<![^>]*>")
BLANKS: Final = re.compile(r"[^\S\n\f]+")
LINE_ENDS: Final = re.compile(r" ?\n[ \n]*")
SECTION: Final = "\f"


def download(packages: tuple[str, ...], debs: Path, unpacked: Path) -> None:
    """Fetch each package with apt-get and unpack it, unless that is done already."""
    for folder in (debs, unpacked):
        folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if not any(debs.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=debs, check=True)
        target = unpacked / package
        if not target.exists():
            partial = unpacked / f"{package}.partial"
            (deb,) = debs.glob(f"{package}_*.deb")
            subprocess.run(["dpkg", "-x", deb, partial], check=True)
            partial.rename(target)


def passages(unpacked: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of every passage of every page, sorted by path."""
    pages = sorted(
        path
        for path in unpacked.rglob("*")
        if path.suffix in {".html", ".pod"} and path.is_file() and not path.is_symlink()
    )
    with ProcessPoolExecutor() as processes:
        for page, texts in zip(pages, processes.map(page_passages, pages, chunksize=64), strict=True):
            name = str(page.relative_to(unpacked)).replace("/usr/share/doc/", "/")
            for number, text in enumerate(texts):
                yield f"{name}#{number}", text


def page_passages(page: Path) -> list[str]:
    source = page.read_text(encoding="utf-8", errors="replace")
    return cut(visible(source) if page.suffix == ".html" else HEADING.sub(SECTION, source))


def visible(source: str) -> str:
    r"""Strip the markup; a heading becomes a form feed, a block a line.

    >>> visible("<title>x</title><h1>One &amp; two</h1><p>a <b>b</b>c<script>d</script>")
    'x\n\x0cOne & two\na bc'
    """
    text = INVISIBLE.sub(" ", source)
    text = HEADING.sub("\n" + SECTION, text)
    text = BLOCK.sub("\n", text)
    text = TAG.sub("", CELL.sub(" ", text))
    return LINE_ENDS.sub("\n", BLANKS.sub(" ", html.unescape(text))).strip(" \n")


def cut(text: str) -> list[str]:
    """Cut a page into passages of about SHORT to LONG characters, at headings where there are any.

    A page up to LONG stays whole. What is shorter than SHORTEST joins the passage
    before it, or is left out where there is none.
    """
    if len(text) <= LONG:
        pieces = [text]
    else:
        pieces = [""]
        for section in text.split(SECTION):
            if len(pieces[-1]) >= SHORT:
                pieces.append("")
            for line in section.splitlines(keepends=True):
                if len(pieces[-1]) >= LONG:
                    pieces.append("")
                pieces[-1] += line
    if len(pieces) > 1 and len(pieces[-1]) < SHORTEST:
        tail = pieces.pop()
        pieces[-1] += tail
    cleaned = (piece.replace(SECTION, "").strip() for piece in pieces)
    return [piece for piece in cleaned if len(piece) >= SHORTEST]
