"""Question: which mirrors and URL rules of a crawl are found, and in which time."""

import sys
import time
from pathlib import Path

from figures import SMALL, Figure, publish

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/promises"))
from invented_web import crawl_with_rules, web_with_mirrors

from neardup.urls import find_mirrors, find_url_rules

METHOD = """
The crawls are generated. Every third site has one or two mirrors with 40 to 90 % of its pages; some have 15 % of the
pages changed, or are below a prefix. Other hosts only look like mirrors: translations, copies of a third host,
syndicated articles, and default pages. Each host with URL rules has one rule; the kinds alternate. The same number of
hosts have parameters that matter, or return one page for every address. *Processor time* excludes computing the
contents.
"""
SITES = 270 if SMALL else 2_700
HOSTS = 200


def main() -> None:
    figures = []
    spent = []
    for sites in (SITES, 10 * SITES):
        web = web_with_mirrors(sites)
        started = time.process_time()
        found = find_mirrors(web.urls, web.column)
        spent.append(time.process_time() - started)
        told = [mirror for mirror in found.found if mirror.kind != "same paths"]
        right = [mirror for mirror in told if web.sites.get(mirror.host, -1) == web.sites.get(mirror.mirror_of)]
        baits = {mirror.host for mirror in told} - web.sites.keys()
        name = f"{len(web.urls):,} URLs"
        figures += [
            Figure(name=f"{name}: precision", value=len(right) / len(told), unit="", at_least=0.99),
            Figure(
                name=f"{name}: recall",
                value=len({mirror.host for mirror in right}) / len(web.mirrored),
                unit="",
                at_least=0.93,
            ),
            Figure(name=f"{name}: look-alikes reported", value=len(baits), unit=""),
            Figure(name=f"{name}: processor time", value=spent[-1], unit="s"),
        ]
    figures.append(Figure(name="10 times the URLs: time", value=spent[1] / spent[0], unit="x", at_most=15))
    crawl = crawl_with_rules(HOSTS, 60)
    rules = find_url_rules(crawl.urls, crawl.column)
    planted = {host for host, _, _ in crawl.rules}
    figures += [
        Figure(
            name="URL rules: hosts found",
            value=len(planted & rules.hosts.keys()) / len(planted),
            unit="",
            at_least=0.95,
        ),
        Figure(name="URL rules: wrong hosts", value=len(rules.hosts.keys() - planted), unit="", at_most=0),
    ]
    publish("mirrors", "Mirrors and URL rules", METHOD, figures)


if __name__ == "__main__":
    main()
