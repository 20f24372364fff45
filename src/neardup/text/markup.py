"""Which pages a parser of HTML may read: those whose markup does not cost it too much time or memory.

A parser builds a tree: it takes time for every open element at every tag, and opens formatting elements that were not
closed again in every block. Pages of 40 kB can take a gigabyte. Tags and attributes take up to 300 bytes each.
"""

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from neardup.kernels import markup as kernels
from neardup.kernels.tags import packed_name

MOST_BYTES: Final = 16 << 20
MOST: Final = {
    "nesting": 1024,
    "formatting": 64,
    "attributes": 8192,
    "choices": 4096,
    "reopened": 500_000,
    "walked": 15_000_000,
    "tags": 250_000,
    "values": 500_000,
}
_KINDS: Final = {
    kernels.VOID: "area base br col embed hr img input link meta param source track wbr",
    kernels.IMPLIED: "body caption colgroup dd dt head html li optgroup p rb rp rt rtc tbody td tfoot th thead tr",
    kernels.FORMATTING: "a b big code em font i nobr s small strike strong tt u",
    kernels.CHOICE: "option",
    kernels.RAW: "iframe noembed noframes noscript script style textarea title xmp",
}


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
    shown: int
    size: int

    @property
    def bearable(self) -> bool:
        """Whether a parser can read the page with little time and memory."""
        return self.size <= MOST_BYTES and all(getattr(self, name) <= most for name, most in MOST.items())


def shape(page: bytes) -> Shape:
    """Measure the markup of a page in UTF-8."""
    found = np.empty(kernels.NUMBERS, np.int64)
    kernels.shape(np.frombuffer(page, np.uint8), *_elements(), found)
    return Shape(*[*found.tolist(), len(page)])


@cache
def _elements() -> tuple[Any, Any]:
    """Return the names of the listed elements as numbers, ascending, and their kinds."""
    listed = {packed_name(name): kind for kind, names in _KINDS.items() for name in names.split()}
    names = sorted(listed)
    return np.array(names, np.uint64), np.array([listed[name] for name in names], np.int64)
