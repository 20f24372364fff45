"""A crawl by host, compared with counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.pipeline.crawl.overview import LEAST, MOST, crawl_overview
from neardup.sources.hosts import host

PAGE = st.tuples(st.sampled_from(["http://a.example/", "https://b.example/", "no address", ""]), st.integers(0, 4))


@given(st.lists(PAGE, max_size=60))
def test_hosts_are_counted(pages):
    urls, contents = [f"{url}{row}" if url else "" for row, (url, _) in enumerate(pages)], [one for _, one in pages]
    found = crawl_overview(urls, np.array(contents, np.int64))
    own = {}
    for url, content in zip(urls, contents, strict=True):
        if host(url):
            own.setdefault(host(url), []).append(content)
    assert (found.pages, found.hosts) == (sum(map(len, own.values())), len(own))
    assert found.contents == len({one for each in own.values() for one in each})
    for one in found.by_host:
        others = {content for name, each in own.items() if name != one.host for content in each}
        assert (one.pages, one.contents) == (len(own[one.host]), len({*own[one.host]}))
        assert one.elsewhere == len({*own[one.host]} & others)
        assert one.repeats == one.pages - one.contents
    shares = [1 - len({*each}) / len(each) for each in own.values()]
    assert [one.share for one in found.by_host] == pytest.approx(sorted(shares, reverse=True))
    expected = sorted((each.count(content) for each in own.values() for content in {*each}), reverse=True)
    assert [one.pages for one in found.repeated] == [number for number in expected if number >= LEAST]
    for one in found.repeated:
        rows = [urls.index(url) for url in one.examples]
        assert len({contents[row] for row in rows}) == 1
        assert {host(urls[row]) for row in rows} == {one.host}


def test_small_hosts_do_not_displace_those_with_the_most_repeats():
    small = [(f"http://{number:03}.example/{page}", number) for number in range(MOST) for page in range(2)]
    large = [(f"http://large.example/{page}", MOST + page % 8) for page in range(10)]
    urls, contents = zip(*small, *large, strict=True)
    hosts = [one.host for one in crawl_overview(urls, np.array(contents)).by_host]
    assert hosts == [*(f"{number:03}.example" for number in range(MOST - 1)), "large.example"]


def test_a_content_is_listed_from_ten_pages_on():
    urls = [f"http://a.example/{page}" for page in range(19)]
    assert [one.pages for one in crawl_overview(urls, np.repeat([1, 2], [10, 9])).repeated] == [10]
