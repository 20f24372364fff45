"""Mirrors among the hosts of a crawl: whole hosts, and folders of them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa

from neardup.decisions.mirrors import COVERAGE, LEAST, HostAgreement, HostPages, agreement, candidates, main_hosts
from neardup.model.arrays import AnyPositions, Flags, Positions, inverse
from neardup.pipeline.crawl.crawled_pages import addressed
from neardup.sources.url_forms import web_address

WHOLE: Final = ("same", "mostly")
SAME: Final = 0.9  # the least share of a mirror that is the same, not mostly the same
MISSED: Final = 0.1  # the most of a mirror's pages that may have contents of their own if none of them is fetched
ALIKE: Final = 0.5  # the least share of a host's paths with other contents on another host to report it
_SAMPLED: Final = 100  # common contents, evenly spaced, whose folders are compared
_EXAMPLES: Final = 3
_AFTER_SLASH: Final = chr(ord("/") + 1)

_TYPES: Final = {str: pa.string(), int: pa.int64(), float: pa.float64(), list[str]: pa.list_(pa.string())}


@dataclass(frozen=True, slots=True)
class Mirror:
    """A host, or a folder of it, with the pages of another host.

    ``kind``: ``same`` or ``mostly`` (at least 90 % of the common paths have the same content, or fewer), ``below a
    prefix`` (the paths are common without ``prefix`` on this host and ``main_prefix`` on the other), or ``same paths``,
    which is not a mirror: other contents at common paths, such as a translation that has at least 5 contents in common
    with the original. ``share`` is ``same / common``, ``at_least`` its lower bound at 95 %, ``coverage`` the share of
    the host's pages, or of the folder's, whose path is common, and ``missing`` the share of them whose content the
    other host does not have at any path. ``examples`` are up to three URLs of the host, as they were first given, whose
    content is the same; for ``same paths``, whose path is common.
    """

    host: str
    mirror_of: str
    kind: str
    prefix: str
    main_prefix: str
    common: int
    same: int
    share: float
    at_least: float
    coverage: float
    missing: float
    examples: list[str]


@dataclass(frozen=True, slots=True)
class Mirrors:
    """What was found: the mirrors by host, the number of hosts and pages, and of contents on too many hosts."""

    found: list[Mirror]
    hosts: int
    pages: int
    contents_left_out: int

    def __repr__(self) -> str:
        """Return the counts in one line."""
        return f"Mirrors(found={len(self.found):,}, hosts={self.hosts:,}, pages={self.pages:,})"

    def table(self) -> pa.Table:
        """Return one row per mirror."""
        schema = pa.schema([(field.name, _TYPES[cast("Any", field.type)]) for field in fields(Mirror)])
        return pa.Table.from_pylist([asdict(each) for each in self.found], schema)

    def replaceable(self) -> dict[str, str]:
        """Return the hosts that a crawler need not fetch, each with its main host, which has the same pages.

        These are the mirrors with at most 10 % of pages whose content the main host does not have. A mirror of another
        such mirror is left out.
        """
        found = {one.host: one.mirror_of for one in self.found if one.kind in WHOLE and one.missing <= MISSED}
        return {host: main for host, main in found.items() if main not in found}

    def nutch(self) -> bytes:
        """Return ``host-urlnormalizer.txt`` of Apache Nutch: the ``replaceable`` hosts, each with its main host."""
        return "".join(f"{host} {main}\n" for host, main in self.replaceable().items()).encode()


def find_mirrors(urls: Sequence[str], contents: Sequence[int] | AnyPositions) -> Mirrors:
    """Return the mirrors among the hosts of these URLs.

    *contents* are numbers, the same for pages of the same content: in a ``Result`` of ``dedup``, its ``clusters``.
    Pairs of hosts with at least 5 common contents, without those on more than 50 hosts, are compared path by path. Two
    hosts are mirrors if at least 5 of their common paths have the same content, which are at least a fifth of the pages
    of the smaller host, and if the share of these among the common paths has a lower bound of at least 0.5. A mirror
    matches its main host itself: that with more pages, with https, or with the shorter name; if possible, one that is
    not a mirror. http and https are the same address; a path of a host with different contents has a content of its
    own. The order of the pages, and which numbers the contents have, make no difference. Values that are not URLs of
    the web are ignored. Raises ``DataError`` unless *contents* has one integer per URL.
    """
    return _Crawl(*addressed(urls, contents)).mirrors()


class _Crawl:
    """The pages of a crawl, by host and path; a path includes the query. Paths are numbered in their order."""

    def __init__(self, urls: Sequence[str], contents: Positions) -> None:
        host_of: dict[str, int] = {}
        known_paths: dict[str, int] = {}
        hosts, paths, rows = [], [], []
        secure: set[int] = set()
        for row, url in enumerate(urls):
            if (known := web_address(url)) is None:
                continue
            name, normal = known
            host = host_of.setdefault(name, len(host_of))
            hosts.append(host)
            paths.append(known_paths.setdefault(normal[normal.index("/", len("https://")) :], len(known_paths)))
            rows.append(row)
            if url.lstrip()[:6].lower() == "https:":
                secure.add(host)
        self._urls, self._rows = urls, rows
        self._paths_of: dict[int, list[str]] = {}
        self.names, self.paths = list(host_of), sorted(known_paths)
        self.path_of = {path: number for number, path in enumerate(self.paths)}
        numbered = np.array([self.path_of[path] for path in known_paths], np.int64)
        _, numbers = np.unique(contents[rows] if rows else np.empty(0, np.int64), return_inverse=True)
        self.pages = HostPages(
            np.array(hosts, np.int64), numbered[np.array(paths, np.int64)], numbers.astype(np.int64), len(host_of)
        )
        sizes = self.pages.sizes.tolist()
        order = sorted(
            range(len(host_of)),
            key=lambda host: (-sizes[host], host not in secure, len(self.names[host]), self.names[host]),
        )
        self.ranks = inverse(order)

    def mirrors(self) -> Mirrors:
        pairs, left_out = candidates(self.pages)
        sizes = self.pages.sizes
        swap = self.ranks[pairs.left] < self.ranks[pairs.right]
        small, large = np.where(swap, pairs.right, pairs.left), np.where(swap, pairs.left, pairs.right)
        found = agreement(self.pages, small, large)
        whole = found.matches(sizes[small])
        mains = main_hosts(self.ranks, small[whole], large[whole])
        lines = [self._mirror(self._folder(host, int(mains[host]))) for host in np.flatnonzero(mains >= 0).tolist()]
        others = np.flatnonzero(~whole)
        worth = others[pairs.shared[others] >= COVERAGE * sizes[small[others]]]
        folders = list(self._folders(small[worth], large[worth], mains))
        alike = others[(found.common[others] >= np.maximum(LEAST, ALIKE * sizes[small[others]]))]
        lines += folders + self._same_paths(small[alike], large[alike], mains, {line.host for line in folders})
        lines.sort(key=lambda line: (line.host, line.prefix, line.mirror_of))
        return Mirrors(lines, len(self.names), len(self.pages.keys), left_out)

    def _same_paths(self, small: Positions, large: Positions, mains: Positions, known: set[str]) -> list[Mirror]:
        """Return one line for each host with the paths of another that has other contents."""
        lines: dict[int, Mirror] = {}
        for pair in self._ordered(small, large, mains):
            host, main = int(small[pair]), int(large[pair])
            if mains[host] < 0 and host not in lines and self.names[host] not in known:
                lines[host] = self._mirror(self._folder(host, main), "same paths")
        return list(lines.values())

    def _ordered(self, small: Positions, large: Positions, mains: Positions) -> list[int]:
        """Return pairs of hosts in the order of the better-ranked, those with mirrors last."""
        mirrored = (mains[small] >= 0) | (mains[large] >= 0)
        order: list[int] = np.lexsort((self.ranks[small], self.ranks[large], mirrored)).tolist()
        return order

    def _mirror(self, folder: "_Folder", kind: str | None = None) -> Mirror:
        common, same = int(folder.common.sum()), int(folder.same.sum())
        shown = folder.rows[folder.common if kind == "same paths" else folder.same][:_EXAMPLES]
        return Mirror(
            host=self.names[folder.host],
            mirror_of=self.names[folder.main],
            kind=kind or ("same" if same / common >= SAME else "mostly"),
            prefix=folder.prefix,
            main_prefix=folder.main_prefix,
            common=common,
            same=same,
            share=round(same / common, 4),
            at_least=round(float(folder.agreement.at_least[0]), 4),
            coverage=round(common / len(folder.rows), 4),
            missing=round(1 - float(self.pages.have(folder.main, self.pages.contents[folder.rows]).mean()), 4),
            examples=[self._urls[self._rows[row]].strip() for row in self.pages.given[shown]],
        )

    def _folders(self, small: Positions, large: Positions, mains: Positions) -> Iterator[Mirror]:
        """Yield the folders that are mirrors, each of one main host: one that is not a mirror itself, if possible."""
        known: set[tuple[int, str]] = set()
        for pair in self._ordered(small, large, mains):
            left, right = int(small[pair]), int(large[pair])
            prefixes = self._prefixes(left, right)
            if prefixes is None:
                continue
            own, other = prefixes
            if len(own) < len(other):
                left, right, own, other = right, left, other, own
            if mains[left] >= 0 or (left, own) in known:
                continue
            folder = self._folder(left, right, own, other)
            if folder.agreement.matches(np.array([min(len(folder.rows), self.pages.sizes[right])]))[0]:
                known.add((left, own))
                yield self._mirror(folder, "below a prefix")

    def _prefixes(self, left: int, right: int) -> tuple[str, str] | None:
        """Return the folders in which two hosts most often have a common content at the same path below."""
        ones, twos = (self.pages.paths[rows] for rows in self.pages.with_same_content(left, right))
        chosen = slice(None, None, -(-len(ones) // _SAMPLED) or 1)
        found: Counter[tuple[str, str]] = Counter()
        for first, second in zip(ones[chosen].tolist(), twos[chosen].tolist(), strict=True):
            found[_differing(self.paths[first], self.paths[second])] += 1
        best = min(found, key=lambda each: (-found[each], each), default=("", ""))
        return None if best == ("", "") else best

    def _folder(self, host: int, main: int, prefix: str = "", main_prefix: str = "") -> "_Folder":
        """Compare the pages below the prefix of a host with those of the main host at the same path below its own.

        Below an empty prefix are all pages.
        """
        pages = self.pages
        if host not in self._paths_of:  # a host may have thousands of folders that are mirrors
            self._paths_of[host] = [self.paths[path] for path in pages.paths[pages.of(host)].tolist()]
        paths, begin = self._paths_of[host], int(pages.begins[host])
        rows = begin + np.arange(bisect_left(paths, prefix + "/"), bisect_left(paths, prefix + _AFTER_SLASH))
        wanted = [main_prefix + self.paths[path][len(prefix) :] for path in pages.paths[rows].tolist()]
        found = np.array([self.path_of.get(path, -1) for path in wanted], np.int64)
        others = pages.find(np.full(len(rows), main), np.maximum(found, 0))
        common = (found >= 0) & (others >= 0)
        same = common & (pages.contents[others] == pages.contents[rows])
        return _Folder(host, main, prefix, main_prefix, rows, common, same)


class _Folder(NamedTuple):
    """The rows of the pages in a folder; which paths the main host has in common, and which with the same content."""

    host: int
    main: int
    prefix: str
    main_prefix: str
    rows: Positions
    common: Flags
    same: Flags

    @property
    def agreement(self) -> HostAgreement:
        return HostAgreement(np.array([self.common.sum()]), np.array([self.same.sum()]))


def _differing(one: str, other: str) -> tuple[str, str]:
    """Return the beginnings of two paths without the longest common end of whole segments.

    >>> _differing("/mirror/site/a/b.html", "/a/b.html")
    ('/mirror/site', '')
    """
    ones, others = one.split("/"), other.split("/")
    while len(ones) > 1 and len(others) > 1 and ones[-1] == others[-1]:
        ones.pop()
        others.pop()
    return "/".join(ones), "/".join(others)
