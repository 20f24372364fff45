"""Which pages a parser of HTML may read: those whose markup does not cost it too much time or memory.

A parser builds a tree: it takes time for every open element at every tag, and opens formatting elements that were not
closed again in every block. Pages of 40 kB can take a gigabyte. Tags and attributes take up to 300 bytes each. Each of
their names is sought among all different names of the page.
"""

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from neardup.kernels import markup as kernels
from neardup.text.html import HTML, INTEGRATION, VOID, packed_kinds

MOST_BYTES: Final = 12 << 20
MOST: Final = {
    "nesting": kernels.DEEPEST,
    "formatting": kernels.MOST_OPEN,
    "attributes": 8192,
    "choices": 4096,
    "reopened": 500_000,
    "walked": kernels.MOST_WALKED,
    "tags": kernels.MOST_TAGS,
    "values": kernels.MOST_VALUES,
    "compared": 250_000_000,
    "sought": 100_000_000,
}
FEW_NAMES: Final = 14_000  # if all of them are different, fewer than the most are sought
_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"
_BLOCKS: Final = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header "
    f"hgroup li dd dt listing main menu nav ol p pre section summary ul {_HEADINGS}"
)
_SCOPES: Final = "applet button frameset marquee object select table template"
_RAW: Final = "iframe noembed noframes script style textarea title xmp"
_ELEMENTS: Final = {
    kernels.VOID: f"{VOID} basefont bgsound frame image keygen",
    kernels.CELL: "body caption colgroup head html tbody td tfoot th thead tr",
    kernels.FORMATTING: "a b big code em font i nobr s small strike strong tt u",
    kernels.CHOICE: "option",
    kernels.RAW: _RAW,
    kernels.SPECIAL: f"{_BLOCKS} {_SCOPES} {_RAW} noscript plaintext search",
    kernels.BLOCK: f"{_BLOCKS} {_SCOPES}",
    kernels.SCOPE: _SCOPES,
    kernels.LIGHT: "address div p",
    kernels.ITEM: "li",
    kernels.TERM: "dd dt",
    kernels.PARAGRAPH: "p",
    kernels.ENDS_PARAGRAPH: _BLOCKS,
    kernels.FOREIGN: "math svg",
    kernels.HTML: HTML,
    kernels.INTEGRATION: f"{INTEGRATION} title",
    kernels.LASTING: "form",
    kernels.OPAQUE: "frameset select",
    kernels.MERGED: "body html",
    kernels.MARKER: "caption td th",
    kernels.LIST: "ol ul",
    kernels.SINGLE: "a nobr",
    kernels.KEPT: "plaintext textarea xmp",
}
"""The elements of the kinds that ``neardup.kernels.markup`` names."""


class Shape(NamedTuple):
    """The numbers that ``neardup.kernels.markup.shape`` defines, in its order, and the bytes of the page."""

    nesting: int
    formatting: int
    attributes: int
    choices: int
    reopened: int
    walked: int
    tags: int
    values: int
    compared: int
    shown: int
    names: int
    sought: int
    size: int

    @property
    def bearable(self) -> bool:
        """Whether a parser can read the page with little time and memory."""
        return self.size <= MOST_BYTES and all(getattr(self, name) <= most for name, most in MOST.items())


def shape(page: bytes) -> Shape:
    """Measure the markup of a page in UTF-8, unless it is too long; names are only counted where they can matter."""
    found = np.zeros(kernels.NUMBERS, np.int64)
    if len(page) <= MOST_BYTES:
        data = np.frombuffer(page, np.uint8)
        kernels.shape(data, *_elements(), np.empty(0, np.uint64), found)
        many = found[kernels.TAGS] + found[kernels.VALUES] > FEW_NAMES
        if many and Shape(*[*found.tolist(), len(page)]).bearable:
            kernels.shape(data, *_elements(), np.zeros(kernels.PLACES, np.uint64), found)
    return Shape(*[*found.tolist(), len(page)])


@cache
def _elements() -> tuple[Any, Any]:
    return packed_kinds(_ELEMENTS.items())
