"""The page on a crawl."""

import numpy as np

from neardup.interfaces.pages.crawl import crawl_page
from neardup.pipeline.crawl.mirrors import find_mirrors
from neardup.pipeline.crawl.overview import crawl_overview
from neardup.pipeline.crawl.url_rules import find_url_rules
from neardup.text.host_templates import HostTemplates, Template

HOSTILE = "<script>\x1b[31m"


def page(urls, contents, templates=None):
    contents = np.array(contents, np.int64)
    found = (crawl_overview(urls, contents), find_mirrors(urls, contents), find_url_rules(urls, contents))
    return crawl_page(*found, templates).decode()


def test_it_shows_hosts_mirrors_rules_and_templates():
    urls = [f"http://{name}.example/{n}?sid={sid}" for n in range(12) for name in ("a", "www.a") for sid in (1, 2)]
    errors = [f"http://c.example/{HOSTILE}{n}" for n in range(10)]
    lines = np.array([1, 2], np.uint64)
    template = Template(host="a.example", view="main", kept=30, lines=lines, examples=(HOSTILE, "A footer"))
    contents = [n for n in range(12) for _ in range(4)] + [99] * 10
    shown = page([*urls, *errors], contents, HostTemplates([template], {}))
    assert shown == page([*urls, *errors], contents, HostTemplates([template], {}))
    for part in ("<td>www.a.example</td>", "<td>parameter sid</td>", "<td>c.example</td><td>10</td>", "A footer"):
        assert part in shown
    assert "<script" not in shown
    assert "\x1b" not in shown


def test_the_share_of_repeats_is_that_of_pages_that_a_crawler_could_skip():
    shown = page([f"http://a.example/{n}" for n in range(40)], [n // 2 for n in range(40)])
    assert "Hosts by their share of repeats: all pages but one of each content" in shown
    assert "<td>a.example</td><td>40</td><td>20</td><td>50 %</td><td>0</td>" in shown


def test_translations_are_not_among_the_mirrors():
    urls = [f"http://{name}.example/{n}" for name in ("a", "de-a", "www.a") for n in range(20)]
    contents = [*range(20), *range(6), *range(100, 114), *range(20)]  # de-a has legal notices in common with a
    mirrors, others = page(urls, contents).split("<h2>Mirrors</h2>")[1].split("<h2>")[:2]
    assert ("www.a.example" in mirrors, "de-a.example" in mirrors) == (True, False)
    assert "translations" in others
    assert "<td>de-a.example</td><td>a.example</td>" in others


def test_it_is_bounded():
    urls = [f"http://h{n}.example/{'x' * 3000}" for n in range(400)]
    shown = page(urls, [*range(400)])
    assert "300 more rows, not shown" in shown
    assert len(shown) < 200_000
    assert page([], []).count("None found.") == 5
