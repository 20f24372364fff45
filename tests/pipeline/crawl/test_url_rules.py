import numpy as np
import pytest
from invented_web import crawl_with_rules

from neardup.sources.url_rules import KINDS
from neardup.urls import Addresses, find_url_rules


def named(rules):
    """The rules as (host, kind, name)."""
    found = set()
    for host, own in rules.hosts.items():
        for kind in KINDS:
            value = getattr(own, kind)
            names = list(value) if isinstance(value, dict) else [""] * (value is not None)
            found |= {(host, kind, name) for name in names}
    return found


def test_planted_rules_are_found_and_no_baits():
    crawl = crawl_with_rules(hosts=15, pages=40)
    rules = find_url_rules(crawl.urls, crawl.column)
    assert named(rules) == crawl.rules
    addresses = Addresses(ignore_scheme=True, rules=rules)
    content_of = {}
    for url, content in zip(crawl.urls, crawl.numbers, strict=True):
        assert content_of.setdefault(addresses.normal(url), content) == content


def test_the_order_of_pages_and_the_numbers_of_contents_do_not_matter():
    crawl = crawl_with_rules(hosts=5, pages=20)
    rules = find_url_rules(crawl.urls, crawl.column)
    assert find_url_rules(crawl.urls[::-1], crawl.column[::-1]) == rules
    assert find_url_rules(crawl.urls, [~number for number in crawl.numbers]) == rules  # any numbers, such as hashes


def test_a_url_with_several_contents_agrees_with_none():
    urls = [f"http://a.example/{page}{end}" for page in range(12) for end in ("", "/")]
    contents = np.repeat(np.arange(12), 2)
    assert len(find_url_rules(urls, contents)) == 1
    again = np.concatenate([contents, np.full(3, 99)])
    assert len(find_url_rules([*urls, *urls[:6:2]], again)) == 0
    assert len(find_url_rules([*urls[:6:2], *urls], np.roll(again, 3))) == 0


@pytest.mark.parametrize(
    "forms",
    [
        {"p?id={}": 0, "p?id={}&slug=s{}": 0, "p?slug=s{}": 0},  # each parameter is only needed without the other
        {"p?id={}": 0, "p?id={}&v=1": 0, "view?v={}": 100},  # v only matters at one path
        {"p/{}": 0, "p/{};v=1": 0, "view;v={}": 100},
    ],
)
def test_what_distinguishes_many_pages_in_one_group_is_no_rule(forms):
    pages = [(f"http://a.example/{form.format(n, n)}", first + n) for form, first in forms.items() for n in range(30)]
    urls, contents = zip(*pages, strict=True)
    addresses = Addresses(rules=find_url_rules(urls, contents))
    content_of = {}
    for url, content in pages:
        assert content_of.setdefault(addresses.normal(url), content) == content


def test_pages_without_urls_have_no_rules():
    assert len(find_url_rules(["", "page 7", "file:///a"], np.arange(3))) == 0
    assert len(find_url_rules([], np.arange(0))) == 0
