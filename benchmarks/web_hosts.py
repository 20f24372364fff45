"""Documentation packages as hosts: their pages, the content of each by the package's own markup, and the truth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np
from resiliparse.parse.html import HTMLTree

from corpus import CACHE, corpus
from documentation import visible
from figures import SMALL
from truth import join

PAGES: Final = 60 if SMALL else 1_500  # of a host, at most
ENOUGH: Final = 50  # pages of a host, at least
CONTENTS: Final = ("div[role=main]", "main", "div.body", "body")  # the first of these that a page has
FRAMES: Final = (
    "div.navheader, div.navfooter, div.spirit-nav, div.copyright-footer, div.related, div.sphinxsidebar, "
    "div.footer, div.header[role=banner], nav, header, footer, a.headerlink"
)
LOGO: Final = "table[cellpadding='2'][width='100%']"  # the links above each page of Boost
ALIKE: Final = 0.6
WRONG: Final = 0.5


@dataclass(frozen=True, slots=True)
class HostPage:
    """A page of a documentation package, with an invented address."""

    host: str
    url: str
    markup: bytes


def hosts() -> dict[str, list[HostPage]]:
    """Return the pages of each package, of large ones a part that is the same in all versions of the package."""
    corpus()  # it unpacks the packages
    found = {}
    for package in sorted((CACHE / "unpacked").iterdir()):
        if package.name.startswith("linux-doc"):
            continue
        paths = sorted(path for path in package.rglob("*.html") if path.is_file() and not path.is_symlink())
        if len(paths) >= ENOUGH:
            names = {path: str(path.relative_to(package)).replace(package.name, "doc") for path in paths}
            chosen = sorted(paths, key=lambda path, names=names: (crc32(names[path].encode()), names[path]))[:PAGES]
            found[f"{package.name}.example"] = list(read(f"{package.name}.example", chosen, names))
    return found


def read(host: str, paths: Sequence[Path], names: dict[Path, str]) -> Iterator[HostPage]:
    for path in sorted(paths):
        yield HostPage(host, f"https://{host}/{names[path]}", path.read_bytes())


def content(markup: str) -> str:
    r"""Return the text of the element that the package's own markup calls the content, without navigation in it.

    >>> content("<nav>menu</nav><div role=main><p>a<p>b<div class=footer>c</div></div>")
    'a\nb'
    """
    tree = HTMLTree.parse(markup)
    chosen = next((node for one in CONTENTS if (node := tree.document.query_selector(one)) is not None), None)
    if chosen is None:
        return ""
    for frame in chosen.query_selector_all(f"{FRAMES}, {LOGO}"):
        frame.decompose()
    return visible(chosen.html)


class Truth:
    """How much the contents of pages resemble each other, exactly; below ``WRONG`` it is 0."""

    def __init__(self, contents: list[str], shingle: int) -> None:
        self._contents = contents
        pairs = join(contents, shingle)
        ends = zip(pairs["left"].to_pylist(), pairs["right"].to_pylist(), strict=True)
        self.pairs = dict(zip(ends, pairs["resemblance"].to_pylist(), strict=True))
        self.first: dict[str, int] = {}  # pages with equal contents, such as none, resemble each other completely
        self.same = [self.first.setdefault(text, place) for place, text in enumerate(contents)]

    def resemblance(self, one: int, other: int) -> float:
        """Return the resemblance of the contents of two pages."""
        if self.same[one] == self.same[other]:
            return 1.0
        return self.pairs.get((min(one, other), max(one, other)), 0.0)

    def repeats(self) -> np.ndarray:
        """Return which pages resemble an earlier page that is not one of them by at least ``ALIKE``."""
        before: list[list[int]] = [[] for _ in self._contents]
        for (one, other), value in self.pairs.items():
            if value >= ALIKE:
                before[max(one, other)].append(min(one, other))
        found = np.zeros(len(before), bool)
        for place, earlier in enumerate(before):
            found[place] = self.same[place] != place or any(not found[one] for one in earlier)
        return found
