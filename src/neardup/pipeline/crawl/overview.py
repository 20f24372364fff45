"""A crawl by host: how many of its pages repeat others, and which contents are at many addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from neardup.model.arrays import AnyPositions
from neardup.sources.hosts import host

LEAST: Final = 10  # pages of a host with one content, from which on it is listed
MOST: Final = 100  # hosts, and contents, that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRepeats:
    """The pages of a host, their different contents, and how many of these other hosts have, too."""

    host: str
    pages: int
    contents: int
    elsewhere: int

    @property
    def repeats(self) -> int:
        """How many pages would be dropped if one page of each content were kept."""
        return self.pages - self.contents

    @property
    def share(self) -> float:
        """The share of the pages that would be dropped."""
        return self.repeats / self.pages


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedContent:
    """A content that many pages of a host have: an error page, a form, or an address with parts of no effect."""

    host: str
    pages: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOverview:
    """The ``MOST`` hosts with the most repeats, and the ``MOST`` contents with the most pages of one host.

    The hosts are in the order of their share of repeats. Their number of repeats decides which are listed; otherwise,
    small hosts would displace large ones.

    ``pages`` and ``hosts`` are the numbers of all; values that are not URLs with a host are ignored.
    """

    pages: int
    hosts: int
    contents: int
    by_host: tuple[HostRepeats, ...]
    repeated: tuple[RepeatedContent, ...]


def crawl_overview(urls: Sequence[str], contents: AnyPositions) -> CrawlOverview:
    """Return an overview of the pages at these URLs; *contents* are numbers, the same for pages of the same content.

    >>> found = crawl_overview(["http://a.example/1", "http://a.example/2", "http://b.example/"], np.array([7, 7, 8]))
    >>> [(one.host, one.pages, one.repeats) for one in found.by_host]
    [('a.example', 2, 1), ('b.example', 1, 0)]
    """
    numbers: dict[str, int] = {}
    names = [host(url) for url in urls]
    rows = np.array([row for row, name in enumerate(names) if name is not None], np.int64)
    hosts = np.array([numbers.setdefault(name, len(numbers)) for name in names if name is not None], np.int64)
    different, codes = np.unique(np.asarray(contents)[rows], return_inverse=True)
    width = max(len(different), 1)
    groups, group_of, counts = np.unique(hosts * width + codes, return_inverse=True, return_counts=True)
    of_host, of_content = groups // width, groups % width
    pages, found = np.bincount(hosts, minlength=len(numbers)), np.bincount(of_host, minlength=len(numbers))
    common = np.bincount(of_content, minlength=width)[of_content] > 1
    elsewhere = np.bincount(of_host[common], minlength=len(numbers))
    known = [*numbers]
    by_host = [
        HostRepeats(host=known[place], pages=int(pages[place]), contents=int(found[place]), elsewhere=int(shared))
        for place, shared in enumerate(elsewhere.tolist())
    ]
    most = sorted(by_host, key=lambda one: (-one.repeats, one.host))[:MOST]
    largest = [group for group in np.argsort(-counts, kind="stable")[:MOST].tolist() if counts[group] >= LEAST]
    return CrawlOverview(
        pages=len(rows),
        hosts=len(known),
        contents=len(different),
        by_host=tuple(sorted(most, key=lambda one: -one.share)),
        repeated=tuple(
            RepeatedContent(
                host=known[int(of_host[group])],
                pages=int(counts[group]),
                examples=tuple(urls[row] for row in rows[np.flatnonzero(group_of == group)[:3]].tolist()),
            )
            for group in largest
        ),
    )
