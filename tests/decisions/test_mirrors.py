from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions import mirrors
from neardup.decisions.mirrors import HostAgreement, HostPages, agreement, candidates, main_hosts

HOSTS = 5
ROWS = st.lists(st.tuples(st.integers(0, HOSTS - 1), st.integers(0, 12), st.integers(0, 9)), max_size=60)


def pages_of(rows):
    hosts, paths, contents = (np.array(each, np.int64) for each in (zip(*rows, strict=True) if rows else ((), (), ())))
    return HostPages(hosts, paths, contents, HOSTS)


def definition(rows):
    """The content at each path of each host: if there are several, one of its own."""
    found = defaultdict(lambda: defaultdict(set))
    for host, path, content in rows:
        found[host][path].add(content)
    return {
        host: {path: min(its) if len(its) == 1 else (host, path) for path, its in found[host].items()}
        for host in range(HOSTS)
    }


@given(ROWS)
def test_candidates_share_five_contents(rows):
    sites = {host: set(own.values()) for host, own in definition(rows).items()}
    expected = {
        (a, b): len(sites[a] & sites[b]) for a, b in combinations(sorted(sites), 2) if len(sites[a] & sites[b]) >= 5
    }
    pairs, left_out = candidates(pages_of(rows))
    found = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.shared.tolist(), strict=True)
    assert {(a, b): shared for a, b, shared in found} == expected
    assert left_out == 0


@given(ROWS, st.integers(1, 20))
def test_hosts_agree_path_by_path(rows, at_once):
    sites = definition(rows)
    pairs = [(a, b) for a in range(HOSTS) for b in range(HOSTS) if a != b]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mirrors, "_AT_ONCE", at_once)
        found = agreement(pages_of(rows), *np.array(pairs).T)
    common = [sites[a].keys() & sites[b].keys() for a, b in pairs]
    assert found.common.tolist() == [len(each) for each in common]
    same = [sum(sites[a][path] == sites[b][path] for path in each) for (a, b), each in zip(pairs, common, strict=True)]
    assert found.same.tolist() == same


@given(ROWS)
def test_the_pages_with_a_common_content_are_the_first_of_each_host(rows):
    sites = definition(rows)
    pages = pages_of(rows)
    for a in range(HOSTS):
        for b in range(HOSTS):
            ones, others = pages.with_same_content(a, b)
            expected = {content for content in sites[a].values() if content in sites[b].values()}
            assert len(ones) == len(expected)
            assert ones.tolist() == sorted(ones)
            assert pages.contents[ones].tolist() == pages.contents[others].tolist()
            for host, found in ((a, ones), (b, others)):
                first = {content: path for path, content in sorted(sites[host].items(), reverse=True)}
                assert pages.hosts[found].tolist() == [host] * len(found)
                assert set(pages.paths[found].tolist()) == {first[content] for content in expected}


@given(ROWS)
def test_a_host_has_the_contents_of_its_pages(rows):
    sites = definition(rows)
    pages = pages_of(rows)
    contents = [sites[host][path] for host, path in zip(pages.hosts.tolist(), pages.paths.tolist(), strict=True)]
    for host in range(HOSTS):
        expected = [content in sites[host].values() for content in contents]
        assert pages.have(host, pages.contents).tolist() == expected


def test_contents_on_many_hosts_are_left_out():
    rows = np.array([(host, path) for host in range(51) for path in range(6)])
    hosts = HostPages(rows[:, 0], rows[:, 1], rows[:, 1], 51)
    pairs, left_out = candidates(hosts)
    assert (len(pairs.left), left_out) == (0, 6)
    few = rows[rows[:, 0] < 50]
    pairs, left_out = candidates(HostPages(few[:, 0], few[:, 1], few[:, 1], 50))
    assert (len(pairs.left), left_out) == (50 * 49 // 2, 0)


def test_the_bound_is_that_of_wilson():
    found = HostAgreement(np.array([0, 5, 10, 3089, 10]), np.array([0, 5, 10, 3074, 0]))
    assert np.round(found.at_least, 3).tolist() == [0, 0.566, 0.722, 0.992, 0]
    assert found.matches(np.array([9, 9, 9, 4000, 10])).tolist() == [False, True, True, True, False]
    assert not found.matches(np.array([9, 26, 51, 20_000, 10])).any()


def test_a_mirror_is_reported_of_a_main_host_that_it_matches():
    ranks = np.array([2, 0, 1, 3])
    assert main_hosts(ranks, np.array([0, 2, 3]), np.array([1, 1, 0])).tolist() == [1, -1, 1, 0]
    assert main_hosts(ranks, np.array([0, 3, 3]), np.array([1, 0, 2])).tolist() == [1, -1, -1, 2]
    assert main_hosts(ranks, np.array([], np.int64), np.array([], np.int64)).tolist() == [-1] * 4
