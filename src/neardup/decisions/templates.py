"""The template of a host: the lines that many of its pages share, though they differ.

A page with a hundred copies on its host is not a template. Therefore only pages that were kept when the pages of
the host were deduplicated count, once each.
"""

from fractions import Fraction
from typing import Final, Literal

import numpy as np

from neardup.model.arrays import Flags, Positions, Words

LEAST: Final = 10  # kept pages that have a line of the template
SHARE: Final = Fraction(1, 20)  # of all kept pages, which also have it
PAGES: Final = 20  # kept pages of a host with a template
POOR: Final = Fraction(1, 10)  # pages with little main text, above which a host is read by its visible text
LITTLE: Final = Fraction(2, 5)  # of the words of the visible text
RULE: Final = {"least": LEAST, "share": str(SHARE), "pages": PAGES, "poor": str(POOR), "little": str(LITTLE)}


def shared_lines(hashes: Words, parts: Positions, kept: Positions) -> Words:
    """Return the lines that are on at least ``LEAST`` and a ``SHARE`` of the *kept* pages; ascending.

    Page *d* has the lines ``hashes[parts[d]:parts[d + 1]]``; 0 is that of a line without words. A line counts once for
    each page. With fewer than ``PAGES`` kept pages there are none.

    >>> pages = np.array([[7, 7, page] for page in range(100, 130)], np.uint64).reshape(-1)
    >>> shared_lines(pages, np.arange(31) * 3, np.arange(30)).tolist()
    [7]
    """
    if len(kept) < PAGES:
        return np.empty(0, np.uint64)
    own = [np.unique(hashes[parts[page] : parts[page + 1]]) for page in kept.tolist()]
    lines, counts = np.unique(np.concatenate(own), return_counts=True)
    wanted = max(LEAST, -(-SHARE.numerator * len(kept) // SHARE.denominator))
    return np.asarray(lines[(counts >= wanted) & (lines > 0)])


def view_of(main: Positions, visible: Positions) -> Literal["main", "visible"]:
    """Return the view in which the pages of a host are compared, by the words that each page keeps in both views.

    It is ``visible`` if the main text of more than ``POOR`` of the pages has less than ``LITTLE`` of the words.

    >>> view_of(np.array([90, 80, 0]), np.array([100, 100, 100])), view_of(np.array([50]), np.array([100]))
    ('visible', 'main')
    """
    little: Flags = main * LITTLE.denominator < visible * LITTLE.numerator
    return "visible" if little.sum() > POOR * len(main) else "main"
