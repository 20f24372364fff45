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


def test_the_order_of_pages_does_not_matter(web):
    once, again = find_mirrors(web.urls, web.column), find_mirrors(web.urls[::-1], web.column[::-1])
    kept = ("host", "mirror_of", "kind", "prefix", "main_prefix", "common", "same")
    assert once.table().select(kept) == again.table().select(kept)


def site(host, pages, prefix="", first=0):
    return [f"{host}{prefix}/p{page}.html" for page in range(first, pages)]


def test_a_folder_is_a_mirror_of_the_host_that_it_copies():
    urls = [*site("http://a.example", 20), *site("http://b.example", 15, "/pub/a"), *site("http://b.example", 9, "/x")]
    contents = np.array([*range(20), *range(15), *range(100, 109)])
    (mirror,) = find_mirrors(urls, contents).found
    assert (mirror.host, mirror.mirror_of, mirror.kind) == ("b.example", "a.example", "below a prefix")
    assert (mirror.prefix, mirror.main_prefix, mirror.common, mirror.same) == ("/pub/a", "", 15, 15)
    assert (mirror.share, mirror.coverage) == (1.0, 1.0)
    assert mirror.examples == urls[20:23]


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


def test_other_contents_at_the_same_paths_are_no_mirror():
    urls = [*site("http://en.example", 30), *site("http://fr.example", 30)]
    (line,) = find_mirrors(urls, np.array([*range(30), *range(6), *range(100, 124)])).found
    assert (line.kind, line.host, line.common, line.same) == ("same paths", "fr.example", 30, 6)


def test_a_result_is_shown_in_one_line():
    urls = [*site("http://a.example", 8), *site("http://b.example", 8)]
    assert repr(find_mirrors(urls, np.tile(np.arange(8), 2))) == "Mirrors(found=1, hosts=2, pages=16)"


def test_nothing_is_found_in_nothing():
    for urls in ([], ["", "no url"], ["http://a.example/"]):
        found = find_mirrors(urls, np.arange(len(urls)))
        assert (found.found, len(found.table())) == ([], 0)
