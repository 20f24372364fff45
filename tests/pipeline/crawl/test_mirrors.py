import time

import numpy as np
import pytest
from invented_web import web_with_mirrors

from neardup.pipeline.crawl.mirrors import find_mirrors


@pytest.fixture(scope="module")
def web():
    return web_with_mirrors(90)


def test_mirrors_of_an_invented_web_are_found_and_no_baits(web):
    found = find_mirrors(web.urls, web.column)
    told = [mirror for mirror in found.found if mirror.kind != "same paths"]
    assert all(web.sites.get(mirror.host) == web.sites[mirror.mirror_of] for mirror in told)
    assert len({mirror.host for mirror in told}) >= 0.9 * len(web.mirrored)
    assert {mirror.kind for mirror in found.found} == {"same", "mostly", "below a prefix", "same paths"}
    alike = [mirror.host for mirror in found.found if mirror.kind == "same paths"]
    assert {"translation", "third"} <= {host.partition("-")[0].rstrip("0123456789") for host in alike}
    assert len({(mirror.host, mirror.prefix) for mirror in found.found}) == len(found.found)


def test_the_order_of_pages_and_the_numbers_of_contents_do_not_matter(web):
    urls = [*web.urls, *(url.replace("http:", "https:") for url in web.urls[::7])]
    contents = np.concatenate([web.column, np.where(np.arange(len(web.urls[::7])) % 2, web.column[::7], 1 << 40)])
    once = find_mirrors(urls, contents).table().drop("examples")
    for seed in range(3):
        chosen = np.random.default_rng(seed)
        order, numbers = chosen.permutation(len(urls)), chosen.permutation(web.contents)
        renumbered = np.where(contents < web.contents, numbers[np.minimum(contents, web.contents - 1)], -5)
        again = find_mirrors([urls[place] for place in order], renumbered[order])
        assert again.table().drop("examples") == once


@pytest.mark.parametrize("turn", [lambda pages: pages, lambda pages: [(url, 1000 - its) for url, its in pages[::-1]]])
def test_a_path_with_different_contents_agrees_with_no_other(turn):
    own = [
        (f"{scheme}://a.example/{n}", first + n) for scheme, first in (("http", 0), ("https", 100)) for n in range(10)
    ]
    copy = [(f"https://b.example/{n}", n) for n in range(10)]
    same = [(f"http://{host}.example/x/{n}", 500 + n) for host in "ab" for n in range(30)]
    assert find_mirrors(*zip(*turn(own + copy), strict=True)).found == []
    (mirror,) = find_mirrors(*zip(*turn(own + copy + same), strict=True)).found
    assert (mirror.common, mirror.same, mirror.missing) == (40, 30, 0.25)


def site(host, pages, prefix="", first=0):
    return [f"{host}{prefix}/p{page}.html" for page in range(first, pages)]


def test_a_folder_is_a_mirror_of_the_host_that_it_copies():
    urls = [*site("http://a.example", 20), *site("http://b.example", 15, "/pub/a"), *site("http://b.example", 9, "/x")]
    contents = np.array([*range(20), *range(15), *range(100, 109)])
    (mirror,) = find_mirrors(urls, contents).found
    assert (mirror.host, mirror.mirror_of, mirror.kind) == ("b.example", "a.example", "below a prefix")
    assert (mirror.prefix, mirror.main_prefix, mirror.common, mirror.same) == ("/pub/a", "", 15, 15)
    assert (mirror.share, mirror.coverage) == (1.0, 1.0)
    assert mirror.examples == [f"http://b.example/pub/a/p{page}.html" for page in (0, 1, 10)]


def test_the_time_grows_with_the_pages_of_a_host_that_has_copies_of_many_hosts():
    spent = []
    for hosts in (100, 1000):
        urls = [url for host in range(hosts) for url in site(f"http://h{host}.example", 20)]
        urls += [url for host in range(hosts) for url in site("http://archive.example", 20, f"/h{host}")]
        started = time.process_time()
        found = find_mirrors(urls, np.tile(np.arange(20 * hosts), 2)).found
        spent.append(time.process_time() - started)
        assert {(line.host, line.prefix, line.mirror_of) for line in found} == {
            ("archive.example", f"/h{host}", f"h{host}.example") for host in range(hosts)
        }
    assert spent[1] <= 20 * spent[0]


def test_of_equal_hosts_that_with_https_or_the_shorter_name_is_the_main_one():
    urls = [*site("http://a.example", 8), *site("https://longer.example", 8), *site("http://b.a.example", 8)]
    found = find_mirrors(urls, np.tile(np.arange(8), 3)).found
    assert {mirror.host: mirror.mirror_of for mirror in found} == {
        "a.example": "longer.example",
        "b.a.example": "longer.example",
    }


def numbered(host, pages, first=0):
    return [(f"http://{host}.example/{page}", first + page) for page in pages]


def test_a_mirror_of_a_mirror_alone_is_reported():
    a, b, c = numbered("a", range(60)), numbered("b", [*range(15), *range(100, 110)]), numbered("c", range(100, 110))
    found = find_mirrors(*zip(*(a + b + c), strict=True))
    assert [(one.host, one.mirror_of) for one in found.found] == [
        ("b.example", "a.example"),
        ("c.example", "b.example"),
    ]
    assert found.replaceable() == {"c.example": "b.example"}
    folder = [(url.replace("c.example", "d.example/pub"), its) for url, its in c] + numbered("d", range(20), 700)
    found = find_mirrors(*zip(*(a + b + folder), strict=True))
    assert [(one.host, one.prefix, one.mirror_of) for one in found.found] == [
        ("b.example", "", "a.example"),
        ("d.example", "/pub", "b.example"),
    ]
    assert found.replaceable() == {}  # of d.example, only a folder is a mirror


def test_a_translation_of_a_mirror_alone_is_reported():
    a, b = numbered("a", range(60)), numbered("b", [*range(15), *range(100, 140)])
    other = [*numbered("t", range(100, 106)), *numbered("t", range(106, 130), 700)]
    found = find_mirrors(*zip(*(a + b + other), strict=True)).found
    assert [(one.host, one.kind, one.mirror_of) for one in found] == [
        ("b.example", "same", "a.example"),
        ("t.example", "same paths", "b.example"),
    ]


def test_a_mirror_with_contents_of_its_own_is_not_replaced():
    main = numbered("a", range(60))
    for own, missing, kind in ((40, 0.7692, "same"), (2, 0.1429, "same"), (1, 0.0769, "same")):
        copy = numbered("b", [*range(12), *range(100, 100 + own)])
        found = find_mirrors(*zip(*(main + copy), strict=True))
        assert [(one.kind, one.missing) for one in found.found] == [(kind, missing)]
        assert found.nutch() == (b"" if missing > 0.1 else b"b.example a.example\n")
    nearly = [*numbered("b", range(45)), *numbered("b", range(45, 50), 500)]
    found = find_mirrors(*zip(*(main + nearly), strict=True))
    assert [(one.kind, one.share, one.missing) for one in found.found] == [("same", 0.9, 0.1)]
    assert found.replaceable() == {"b.example": "a.example"}
    changed = [*numbered("b", range(40)), *numbered("b", range(40, 50), 500)]
    moved = [*numbered("b", range(40)), *numbered("b", range(40, 50), 10)]
    for copy, missing in ((changed, 0.2), (moved, 0.0)):
        found = find_mirrors(*zip(*(main + copy), strict=True))
        assert [(one.kind, one.missing) for one in found.found] == [("mostly", missing)]
        assert found.replaceable() == ({} if missing else {"b.example": "a.example"})


def test_a_mirror_of_a_replaced_host_is_not_replaced():
    a, b, c = numbered("a", range(100)), numbered("b", range(5, 107)), numbered("c", range(100, 107))
    found = find_mirrors(*zip(*(a + numbered("a", range(200, 250)) + b + c), strict=True))
    assert [(one.host, one.mirror_of) for one in found.found] == [
        ("b.example", "a.example"),
        ("c.example", "b.example"),
    ]
    assert found.replaceable() == {"b.example": "a.example"}


def test_other_contents_at_the_same_paths_are_no_mirror():
    urls = [*site("http://en.example", 30), *site("http://fr.example", 30)]
    (line,) = find_mirrors(urls, np.array([*range(30), *range(6), *range(100, 124)])).found
    assert (line.kind, line.host, line.common, line.same) == ("same paths", "fr.example", 30, 6)


def test_fewer_than_five_contents_at_the_same_paths_are_not_reported():
    urls = [*site("http://en.example", 12), *site("http://fr.example", 4), "http://fr.example/x"]
    assert find_mirrors(urls, np.array([*range(12), 1, 2, 3, 0, 4])).found == []


def test_a_result_is_shown_in_one_line():
    urls = [*site("http://a.example", 8), *site("http://b.example", 8)]
    assert repr(find_mirrors(urls, np.tile(np.arange(8), 2))) == "Mirrors(found=1, hosts=2, pages=16)"


def test_no_pages_have_no_mirrors():
    for urls in ([], ["", "no url"], ["http://a.example/"]):
        found = find_mirrors(urls, np.arange(len(urls)))
        assert (found.found, len(found.table())) == ([], 0)
