"""Question: how many copies on other hosts are found with templates, how many wrongly, and what templates cost."""

import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Final, TypeVar
from unittest.mock import patch

import numpy as np

import neardup
from figures import Figure, publish
from neardup.pipeline.crawl import templates as learning_module
from neardup.sources.hosts import host
from neardup.web_pages import Extraction, HostTemplates, learn_templates

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/promises"))
from invented_sites import Site, article, edited

METHOD = """
The pages are generated: the articles of 40 hosts, each with its own menu (a third of the links of a page are its own),
boxes, one of four advertisements, a stamp and a footer. Every article is on one to three hosts, with 2 % of its words
replaced at random on each. *Found* are the pairs of pages with the same article on two hosts with a resemblance of at
least 0.6 (3 words), *false* those pairs of different articles on one host. *Copies* are one page with many stamps among
54 others of its host: the share of the words of its article that the learned template ignores. *Drift* compares the
features of all pages of a host of 600 under the template of 200 and under that of 500. *Cost* is processor time of
one thread relative to reading the same pages without templates; *learning* reads both views of the pages.
"""
HOSTS: Final = 40
ARTICLES: Final = 1200
AUTO: Final = Extraction()
Page = tuple[str, str]
Result = TypeVar("Result")


def main() -> None:
    pages, names = web()
    learn_templates(pages[:100])
    plain, reading = timed(lambda: texts(pages, None))
    templates, learning = timed(lambda: learn_templates(pages, threads=1))
    texts(pages[:10], templates)
    compared, applying = timed(lambda: texts(pages, templates))
    visible = Extraction(view="visible").pages([page for _, page in pages]).texts
    figures = [
        Figure(name="pages", value=len(pages), unit=""),
        Figure(name="hosts with a template", value=len(templates), unit=""),
    ]
    for label, found in (("visible text", visible), ("main text", plain), ("with templates", compared)):
        recall, false = pairs(found, pages, names)
        least, most = (0.99, 0) if label == "with templates" else (None, None)
        figures += [
            Figure(name=f"{label}: same article on another host, found", value=recall, unit="", at_least=least),
            Figure(name=f"{label}: false pairs of a host", value=false, unit="", at_most=most),
        ]
    figures += [
        Figure(name=f"copies, {copies}: words ignored", value=ignored(copies), unit="", at_most=0.01)
        for copies in (20, 200)
    ]
    below = drift()
    figures += [
        Figure(name="drift, 200 pages: below .8", value=below[0], unit="", at_most=0.05),
        Figure(name="drift, 200 pages: below .6", value=below[1], unit="", at_most=0.01),
        Figure(name="cost of templates that are known", value=applying / reading - 1, unit="", at_most=0.2),
        Figure(name="cost of learning, one pass over both views", value=learning / reading, unit=""),
    ]
    publish("web_templates", "Templates of hosts", METHOD, figures)


def web() -> tuple[list[Page], list[int]]:
    """Return the pages, and the number of the article of each."""
    random = np.random.default_rng(1)
    sites = [Site(f"host{number}.example") for number in range(HOSTS)]
    pages, names = [], []
    for number in range(ARTICLES):
        text = article(f"web {number}", 7)
        for place in random.choice(HOSTS, random.integers(1, 4), replace=False):
            site = sites[place]
            pages.append(site.page(f"a{number}", edited(text, f"{site.host} {number}")))
            names.append(number)
    return pages, names


def texts(pages: Sequence[Page], templates: HostTemplates | None) -> list[str]:
    extraction = Extraction(templates=templates)
    hosts = [host(address) for address, _ in pages]
    return extraction.pages([page for _, page in pages], hosts=hosts).texts


def pairs(found: Sequence[str], pages: Sequence[Page], names: Sequence[int]) -> tuple[float, int]:
    """Return the share of the copies that are found, and the number of pairs of a host that are alike by mistake."""
    sets = features(found)
    by_host: dict[str | None, list[int]] = {}
    by_name: dict[int, list[int]] = {}
    for place, ((address, _), name) in enumerate(zip(pages, names, strict=True)):
        by_host.setdefault(host(address), []).append(place)
        by_name.setdefault(name, []).append(place)
    same = [alike(sets[one], sets[other]) for group in by_name.values() for one, other in combinations(group, 2)]
    false = [alike(sets[one], sets[other]) for group in by_host.values() for one, other in combinations(group, 2)]
    return float(np.mean(same)), sum(false)


def alike(one: frozenset[int], other: frozenset[int]) -> bool:
    return resemblance(one, other) >= neardup.MinHash().threshold


def features(found: Sequence[str]) -> list[frozenset[int]]:
    made = neardup.MinHash().shingling.features(list(found))
    return [frozenset(made.values[begin:end].tolist()) for begin, end in pairwise(made.offsets)]


def resemblance(one: frozenset[int], other: frozenset[int]) -> float:
    shared = len(one & other)
    return shared / max(1, len(one) + len(other) - shared)


def ignored(copies: int) -> float:
    """Return the share of the words of a page that the template ignores if it is on its host many times."""
    site, text = Site("copies.example"), article("copied", 6)
    pages = [site.page(f"c{number}", text) for number in range(copies)]
    templates = learn_templates([*pages, *(site.page(f"p{n}", article(f"other {n}", 6)) for n in range(54))])
    words = [len(paragraph.split()) for paragraph in text]
    (found,) = texts(pages[:1], templates)
    return sum(size for size, paragraph in zip(words, text, strict=True) if paragraph not in found) / sum(words)


def drift() -> tuple[float, float]:
    """Return the shares of pages whose features resemble less than .8 and .6 under two templates."""
    site = Site("large.example", menu=60)
    pages = [site.page(f"p{number}", article(f"large {number}", 4)) for number in range(600)]
    few, many = (features(texts(pages, one)) for one in (learn_templates(pages[:200]), learned_from_most(pages)))
    found = np.array([resemblance(one, other) for one, other in zip(few, many, strict=True)])
    return float((found < 0.8).mean()), float((found < 0.6).mean())


def learned_from_most(pages: Sequence[tuple[str, str | bytes]]) -> HostTemplates:
    """Learn templates from the most pages of a host, although fewer are enough."""
    with patch.object(learning_module, "FROZEN", learning_module.MOST):
        return learn_templates(pages)


def timed(function: Callable[[], Result]) -> tuple[Result, float]:
    begin = time.process_time()
    result = function()
    return result, time.process_time() - begin


if __name__ == "__main__":
    main()
