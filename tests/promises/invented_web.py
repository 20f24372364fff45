"""Invented crawls with known answers: hosts with URL rules and baits."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

PARAMETERS = ("sid", "from", "style", "ref", "print", "view")


@dataclass
class Crawl:
    """URLs, the numbers of their contents, and what is true of the hosts."""

    urls: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    rules: set[tuple[str, str, str]] = field(default_factory=set)  # (host, kind, name)
    contents: int = 0

    @property
    def column(self) -> npt.NDArray[np.int64]:
        return np.array(self.numbers, np.int64)

    def new(self) -> int:
        self.contents += 1
        return self.contents - 1

    def add(self, url: str, content: int) -> None:
        self.urls.append(url)
        self.numbers.append(content)


def crawl_with_rules(hosts: int, pages: int, seed: int = 1) -> Crawl:
    """Return a crawl of *hosts* with one rule each, of a kind in turn, and as many baits: hosts without rules.

    A bait has pages or languages that a parameter chooses, or answers every URL with the same page.
    """
    chosen, crawl = random.Random(seed), Crawl()
    for number in range(hosts):
        kind = ("parameters", "path_parameters", "index_pages", "final_slash", "case")[number % 5]
        _plant(crawl, f"rule{number}.example", kind, pages, chosen)
        host = f"bait{number}.example"
        missing = crawl.new()
        for page in range(pages):
            for value in range(1 + page % 3):
                content = missing if number % 3 == 2 else crawl.new()
                name = ("page", "lang", "sid")[number % 3]
                crawl.add(f"http://{host}/a/{page}?{name}={value}", content)
    order = list(range(len(crawl.urls)))
    chosen.shuffle(order)
    crawl.urls = [crawl.urls[place] for place in order]
    crawl.numbers = [crawl.numbers[place] for place in order]
    return crawl


def _plant(crawl: Crawl, host: str, kind: str, pages: int, chosen: random.Random) -> None:
    name = chosen.choice(PARAMETERS)
    for page in range(pages):
        content = crawl.new()
        for path in _spelled(kind, name, page, chosen):
            crawl.add(f"{chosen.choice(('http', 'https'))}://{host}{path}", content)
    crawl.rules.add((host, kind, {"index_pages": "index.php", "final_slash": "", "case": ""}.get(kind, name)))


def _spelled(kind: str, name: str, page: int, chosen: random.Random) -> Iterator[str]:
    """Yield one to three spellings of the path of a page."""
    for number in range(chosen.choice((1, 2, 2, 3))):
        value = f"{name}={chosen.getrandbits(32)}" if number else ""
        match kind:
            case "parameters":
                yield f"/story?id={page}" + ("&" + value if value else "")
            case "path_parameters":
                yield f"/story/{page}" + (";" + value if value else "") + "?x=1"
            case "index_pages":
                yield f"/folder{page}/" + ("index.php" if value else "")
            case "final_slash":
                yield f"/story/{page}" + ("/" if value else "")
            case _:
                yield f"/{'Story' if value else 'story'}/Page{page}" if number < 2 else f"/STORY/page{page}"


@dataclass
class Web(Crawl):
    """A crawl with mirrors: ``mirrors`` maps each host to its site, and ``others`` are hosts that are no mirrors."""

    sites: dict[str, int] = field(default_factory=dict)
    mirrored: set[str] = field(default_factory=set)


def web_with_mirrors(sites: int, seed: int = 1) -> Web:
    """Return *sites* with 8 to 150 pages each, a third of which have mirrors, and hosts that look like mirrors.

    Mirrors have 40 to 90 % of the pages, some with 15 % changed, some below a prefix. Baits are translations (other
    contents at the same paths), hosts with a third of another's contents at the same paths, syndication (the same
    articles at other paths), and default pages (the same contents at the same paths on many hosts).
    """
    chosen, web = random.Random(seed), Web()
    defaults = [web.new() for _ in range(6)]
    articles = [web.new() for _ in range(sites * 5)]
    for site in range(sites):
        paths = [f"/{chosen.choice('abcdef')}/{chosen.getrandbits(24)}.html" for _ in range(chosen.randint(8, 150))]
        own = {path: web.new() for path in dict.fromkeys(paths)}
        main = f"site{site}.example"
        _publish(web, main, site, own)
        kind = ("mirror", "changed", "prefix", "translation", "third", "syndication", "default", "", "")[site % 9]
        for copy in range(chosen.randint(1, 2) if kind else 0):
            host = f"{kind}{copy}-{site}.example"
            part = dict(chosen.sample(sorted(own.items()), max(1, int(len(own) * chosen.uniform(0.4, 0.9)))))
            match kind:
                case "mirror" | "changed" | "prefix":
                    web.mirrored.add(host)
                    changed = 0.15 if kind == "changed" else 0
                    copied = {path: web.new() if chosen.random() < changed else its for path, its in part.items()}
                    _publish(web, host, site, copied, "/mirrors/site" if kind == "prefix" else "")
                case "translation" | "third":
                    every = 10 if kind == "translation" else 3
                    kept = {path for place, path in enumerate(part) if place % every == 0}
                    _publish(web, host, -1, {path: its if path in kept else web.new() for path, its in part.items()})
                case "syndication":
                    shared = {f"/{chosen.getrandbits(24)}": its for its in chosen.sample(articles, 20)}
                    _publish(web, host, -1, shared | {f"/own/{page}": web.new() for page in range(10)})
                case _:
                    pages = {f"/own/{page}": web.new() for page in range(chosen.randint(30, 60))}
                    _publish(web, host, -1, pages | {f"/default/{page}": its for page, its in enumerate(defaults)})
    return web


def _publish(web: Web, host: str, site: int, pages: dict[str, int], prefix: str = "") -> None:
    if site >= 0:
        web.sites[host] = site
    for path, content in pages.items():
        web.add(f"http://{host}{prefix}{path}", content)
