"""Hosts that publish the same pages at the same paths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from neardup.model.arrays import AnyPositions, Flags, Positions, Values, parts_of, positions_in, ragged, run_starts

MOST_HOSTS: Final = 50  # contents on more hosts are licences and default pages
LEAST: Final = 5  # common contents of a candidate pair; pages of a mirror that are the same
BOUND: Final = 0.5  # the least share of common paths with the same content, at a confidence of 95 %
COVERAGE: Final = 0.2  # the least share of the smaller host's pages

_LOW: Final = 32  # numbers of hosts, paths and contents are below 2**32: two are packed into one to be sorted
_BELOW: Final = (1 << _LOW) - 1
_Z: Final = 1.96
_AT_ONCE: Final = 1 << 22  # pages that are compared together


class HostPages:
    """The pages of hosts: ``hosts``, ``paths`` and ``contents`` are int64 by row, sorted by host and path.

    Host *h* has the rows ``begins[h]`` to ``begins[h + 1]``. A path that a host has several times counts once; if its
    pages have different contents, it counts as a content that no other path has. ``given`` is the place of the first
    given page at the path.
    """

    def __init__(self, hosts: Positions, paths: Positions, contents: Positions, number: int) -> None:
        """Sort pages of a *number* of hosts. All numbers are from 0, and below 2**30."""
        order = np.argsort(_packed(hosts, paths), kind="stable")
        self.keys, first = np.unique(_packed(hosts, paths)[order], return_index=True)
        self.given: Positions = order[first]
        self.hosts, self.paths = hosts[self.given], paths[self.given]
        self.contents = np.minimum.reduceat(contents[order], first)
        several = self.contents != np.maximum.reduceat(contents[order], first)
        self.contents[several] = contents.max(initial=0) + 1 + np.arange(several.sum())
        self.begins: Positions = np.searchsorted(self.hosts, np.arange(number + 1))

    @property
    def sizes(self) -> Positions:
        """The number of pages of each host."""
        return np.diff(self.begins)

    def of(self, host: int) -> slice:
        """Return the rows of a host."""
        return slice(int(self.begins[host]), int(self.begins[host + 1]))

    def find(self, hosts: AnyPositions, paths: Positions) -> Positions:
        """Return the row of each path on a host, -1 if it has none."""
        return positions_in(self.keys, _packed(hosts, paths))

    def with_same_content(self, small: int, large: int) -> tuple[Positions, Positions]:
        """Return the rows of two hosts with a common content, the first one of each, in the order of the *small* host.

        The time is that of looking up the contents of the *small* host, however many pages the large one has.
        """
        keys, rows, begins = self._by_content
        own = slice(int(begins[small]), int(begins[small + 1]))
        found = positions_in(keys, _packed(np.array(large), keys[own] & _BELOW))
        both = np.flatnonzero(found >= 0)
        both = both[np.argsort(rows[own][both])]
        return rows[own][both], rows[found[both]]

    def have(self, host: int, contents: Positions) -> Flags:
        """Return which of these contents a host has."""
        return positions_in(self._by_content[0], _packed(np.array(host), contents)) >= 0

    @cached_property
    def _by_content(self) -> tuple[Positions, Positions, Positions]:
        """The different contents of each host, its first row with each, and where each host begins."""
        keys, rows = np.unique(_packed(self.hosts, self.contents), return_index=True)
        return keys, rows, np.searchsorted(keys >> _LOW, np.arange(len(self.begins)))


@dataclass(frozen=True, slots=True, eq=False)
class HostPairs:
    """Pairs of hosts, ``left[p] < right[p]``, with the number of contents that both have."""

    left: Positions
    right: Positions
    shared: Positions


@dataclass(frozen=True, slots=True, eq=False)
class HostAgreement:
    """How far pairs of hosts agree: their ``common`` paths, and how many of these have the ``same`` content."""

    common: Positions
    same: Positions

    @property
    def at_least(self) -> Values:
        """The lower bound of the share of the same: that of Wilson's interval at 95 %; 0 without common paths."""
        number = np.maximum(self.common, 1)
        share = self.same / number
        spread = _Z * np.sqrt(share * (1 - share) / number + (_Z / (2 * number)) ** 2)
        bound = (share + _Z**2 / (2 * number) - spread) / (1 + _Z**2 / number)
        return np.asarray(np.where(self.common > 0, np.maximum(bound, 0), 0.0))

    def matches(self, pages: Positions) -> Flags:
        """Return which are mirrors; *pages* are those of the smaller host, or of the folder on it."""
        return np.asarray((self.same >= LEAST) & (self.at_least >= BOUND) & (self.same >= COVERAGE * pages))


def candidates(pages: HostPages) -> tuple[HostPairs, int]:
    """Return the pairs of hosts with at least 5 common contents, and the number of contents left out.

    Contents on more than 50 hosts are left out, so that the time is linear in the pages, but for sorting.
    """
    packed = np.unique(_packed(pages.contents, pages.hosts))
    contents, hosts = packed >> _LOW, packed & _BELOW
    begins = np.flatnonzero(run_starts(contents))
    sizes = np.diff(np.append(begins, len(contents)))
    found = [np.empty(0, np.int64)]
    for size in range(2, MOST_HOSTS + 1):
        block = hosts[begins[sizes == size, None] + np.arange(size)]
        left, right = np.triu_indices(size, 1)
        found.append(_packed(block[:, left], block[:, right]).ravel())
    pairs, shared = np.unique(np.concatenate(found), return_counts=True)
    enough = shared >= LEAST
    pairs, shared = pairs[enough], shared[enough]
    return HostPairs(pairs >> _LOW, pairs & _BELOW, shared), int((sizes > MOST_HOSTS).sum())


def agreement(pages: HostPages, small: Positions, large: Positions) -> HostAgreement:
    """Compare pairs of hosts path by path; *small* are those with fewer pages, whose paths are looked up."""
    sizes = pages.sizes[small]
    common, same = np.zeros(len(small), np.int64), np.zeros(len(small), np.int64)
    for part in parts_of(sizes, _AT_ONCE):
        own = sizes[part]
        pair = np.repeat(np.arange(part.start, part.stop), own)
        rows = ragged(pages.begins[small[part]], own)
        others = pages.find(large[pair], pages.paths[rows])
        equal = (others >= 0) & (pages.contents[others] == pages.contents[rows])
        common += np.bincount(pair[others >= 0], minlength=len(small))
        same += np.bincount(pair[equal], minlength=len(small))
    return HostAgreement(common, same)


def main_hosts(ranks: Positions, left: Positions, right: Positions) -> Positions:
    """Return the host that each is a mirror of, -1 for the others.

    *ranks* are by host, 0 is best; the pairs are mirrors of each other. In rank order, a host is a mirror of the
    best-ranked host before it that it matches and that is not a mirror itself; if all of these are mirrors, of the
    best-ranked of them.
    """
    better = np.where(ranks[left] < ranks[right], left, right)
    worse = left + right - better
    mains = np.full(len(ranks), -1, np.int64)
    for pair in np.lexsort((ranks[better], ranks[worse])).tolist():
        host, main = worse[pair], better[pair]
        if mains[host] < 0 or (mains[mains[host]] >= 0 and mains[main] < 0):
            mains[host] = main
    return mains


def _packed(high: AnyPositions, low: AnyPositions) -> Positions:
    return (np.asarray(high, np.int64) << _LOW) | np.asarray(low, np.int64)
