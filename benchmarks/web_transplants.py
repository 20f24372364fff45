"""Question: how many articles are found again in the real page of another site, and how many pages are mistaken."""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from environment import peers_python
from figures import Figure, publish
from neardup.web_pages import Extraction, learn_templates
from web_sites import ARTICLES, Site, SitePage, sites
from web_templates import features, resemblance

METHOD = """
Articles are put into real pages of other sites, like syndicated ones. The sites are Debian documentation packages,
one for each generator and theme, or with an own design (`benchmarks/web_sites.py` lists them). They were chosen by
structure, before anything was measured: one element holds the content of a page and no navigation, the page has
navigation, a header or a footer around it, and the package has at least twenty pages. An *article* is a page of at
most 3,000 words, at least 150 and at least half of them in paragraphs. A *transplant* is a page of one site
whose content is replaced by that of an article of another site; its title and everything around the content stay. Up
to ten articles of each site are put into one page each of the ten sites that follow it in the list.

*Found* are the transplants that resemble the original page of their article by at least 0.6 or 0.8 (3 words), *false*
those that resemble the page whose content they replaced by at least 0.6. *Main text* is `Extraction(view="main")`,
*auto* the default, without templates; each site is a host, whose template is learned from up to 100 of its pages and
the transplants into them. trafilatura runs with `fast=True`.
"""
FOUND: Final = (0.6, 0.8)  # resemblances
PEER: Final = Path(__file__).parent / "peers" / "texts_of_trafilatura.py"
Page = tuple[str, bytes]  # its host and its markup


@dataclass(frozen=True)
class Transplant:
    """An article of one site in a page of another, in place of the article of that page."""

    original: SitePage
    target: SitePage

    @property
    def pages(self) -> tuple[Page, Page, Page]:
        """The page that the article is from, the page that it replaces one in, and the result."""
        original, target = self.original, self.target
        made = (target.site.host, target.with_article(original))
        return (original.site.host, original.markup), (target.site.host, target.markup), made


def main() -> None:
    chosen = sites()
    made = [transplant.pages for transplant in transplants(chosen)]
    pages = list(dict.fromkeys(page for three in made for page in three))
    templates = learn_templates(
        [(page.url, page.markup) for site in chosen for page in site.pages]
        + [(f"https://{host}/transplant/{number}", markup) for number, (_, _, (host, markup)) in enumerate(made)]
    )
    ways: dict[str, tuple[Callable[[list[Page]], list[str]], dict[str, float]]] = {
        "visible text": (lambda pages: texts(pages, Extraction(view="visible")), {}),
        "main text": (lambda pages: texts(pages, Extraction(view="main")), {}),
        "auto": (lambda pages: texts(pages, Extraction()), {"least": 0.94, "most": 0.005}),
        "with templates": (lambda pages: texts(pages, Extraction(templates=templates)), {"least": 0.99, "most": 0.0}),
        "trafilatura, fast": (peer_texts, {}),
    }
    figures = [
        Figure(name="sites", value=len(chosen), unit=""),
        Figure(name="transplants", value=len(made), unit=""),
        Figure(name="sites with a template", value=len(templates), unit=""),
    ]
    for name, (read, targets) in ways.items():
        sets = dict(zip(pages, features(read(pages)), strict=True))
        same = [resemblance(sets[original], sets[moved]) for original, _, moved in made]
        other = [resemblance(sets[target], sets[moved]) for _, target, moved in made]
        figures += [
            Figure(
                name=f"{name}: found at {least}",
                value=sum(value >= least for value in same) / len(same),
                unit="",
                at_least=targets.get("least") if least == FOUND[0] else None,
            )
            for least in FOUND
        ]
        false = sum(value >= FOUND[0] for value in other) / len(other)
        figures.append(Figure(name=f"{name}: false at {FOUND[0]}", value=false, unit="", at_most=targets.get("most")))
    publish("web_transplants", "Articles on other sites", METHOD, figures)


def transplants(chosen: Sequence[Site]) -> Iterator[Transplant]:
    """Yield transplants of the articles of each site into pages of the ten sites after it, in a circle."""
    for number, one in enumerate(chosen):
        for step in range(min(ARTICLES, len(chosen) - 1)):
            other = chosen[(number + step + 1) % len(chosen)]
            yield Transplant(one.articles[step % len(one.articles)], other.articles[step % len(other.articles)])


def texts(pages: Sequence[Page], extraction: Extraction) -> list[str]:
    return extraction.pages([markup for _, markup in pages], hosts=[host for host, _ in pages]).texts


def peer_texts(pages: Sequence[Page]) -> list[str]:
    asked = json.dumps([markup.decode(errors="replace") for _, markup in pages])
    command = [peers_python("web"), PEER]
    return json.loads(subprocess.run(command, input=asked, check=True, stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    main()
