"""Sites of many designs: documentation packages whose markup shows which part of a page is its article."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final
from zlib import crc32

from resiliparse.parse.html import HTMLTree

from corpus import CACHE
from documentation import download, visible
from figures import SMALL

PAGES: Final = 100  # of a site, at most
ARTICLES: Final = 10  # of a site, at most
PROSE: Final = 150  # words in the paragraphs of an article, at least
LARGEST: Final = 200_000  # bytes of a page
LONGEST: Final = 3_000  # words of an article

PARAGRAPH: Final = re.compile(r"<p[ >].*?</p>", re.DOTALL)  # in markup that a parser has written


@dataclass(frozen=True)
class Site:
    """The pages of a package, all of one design.

    ``content`` is the selector of the element with the article, ``frames`` that of those of its children that are
    navigation, ``files`` the pattern of the names of pages.
    """

    package: str
    content: str
    frames: str = "script"
    files: str = "*.html"

    @property
    def host(self) -> str:
        """An invented host."""
        return f"{self.package}.example"

    @cached_property
    def pages(self) -> list["SitePage"]:
        """The pages, sorted by a checksum of their paths; of large packages not all."""
        folder = CACHE / "sites" / self.package
        paths = {
            str(path.relative_to(folder)): path
            for path in folder.rglob(self.files)
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST
        }
        chosen = sorted(paths, key=lambda name: (crc32(name.encode()), name))[:PAGES]
        return [SitePage(self, name, paths[name].read_bytes()) for name in chosen]

    @cached_property
    def articles(self) -> list["SitePage"]:
        """The first pages that are articles."""
        return list(islice((page for page in self.pages if page.is_article), ARTICLES))


@dataclass(frozen=True)
class SitePage:
    """A page of a site."""

    site: Site
    name: str
    markup: bytes = field(repr=False)

    @property
    def url(self) -> str:
        """An invented address."""
        return f"https://{self.site.host}/{self.name}"

    @property
    def article(self) -> str:
        """The markup of the article; empty if the page has none."""
        return self._opened()[2]

    @property
    def is_article(self) -> bool:
        """Whether the page has an article of moderate length, at least half of whose words are in paragraphs."""
        article = self.article
        words, prose = (len(visible(text).split()) for text in (article, " ".join(PARAGRAPH.findall(article))))
        return max(PROSE, words / 2) <= prose and words <= LONGEST

    def with_article(self, other: "SitePage") -> bytes:
        """Return the page with the article of another page in place of its own."""
        tree, before, _, after = self._opened()
        tree.document.query_selector(self.site.content).inner_html = before + other.article + after
        return tree.document.html.encode()

    def _opened(self) -> tuple[HTMLTree, str, str, str]:
        """Return the tree of the page, and what is before the article, the article, and what is after it."""
        tree = HTMLTree.parse(self.markup.decode(errors="replace"))
        container = tree.document.query_selector(self.site.content)
        if container is None:
            return tree, "", "", ""
        before, article, after = "", container.inner_html.lstrip(), ""
        for frame in (one.html for one in container.query_selector_all(self.site.frames)):
            if article.startswith(frame):
                before += frame
            else:
                after += frame
            article = article.replace(frame, "", 1).lstrip()
        return tree, before, article, after


SITES: Final = (
    Site("apache2-doc", "#page-content", files="manual/en/**/*.html"),
    Site("appstream-doc", "#_content .documentation"),
    Site("beets-doc", "div.body"),
    Site("borgbackup-doc", "div.document.body"),
    Site("clang-16-doc", "div.content"),
    Site("cmake-doc", "div.body"),
    Site("doxygen-doc", "div.contents"),
    Site("exim4-doc-html", "#chapter"),
    Site("freetype2-doc", "div.col1"),
    Site("git-doc", "#content"),
    Site("gtkmm-documentation", "body", "div.navheader, div.navfooter"),
    Site("h2o-doc", "#main"),
    Site("ikiwiki", "#content"),
    Site("kitty-doc", "article"),
    Site("krb5-doc", "div.body"),
    Site("lemonldap-ng-doc", "div.body"),
    Site("libboost1.81-doc", "body", "body > table, body > hr, div.spirit-nav"),
    Site("libvirt-doc", "#body"),
    Site("llvm-14-doc", "div.body"),
    Site("mkdocs-doc", "div.col-md-9"),
    Site("nim-doc", "#content"),
    Site("nova-doc", "div.docs-body"),
    Site("ntpsec-doc", "#content"),
    Site("postgresql-doc-15", "body", "div.navheader, div.navfooter"),
    Site("privoxy", "body", "div.NAVHEADER, div.NAVFOOTER"),
    Site("python-celery-doc", "div.body", "div.deck"),
    Site("python-django-doc", "#yui-main div.yui-g"),
    Site("python-djangorestframework-doc", "#main-content"),
    Site("python-flask-doc", "div.body"),
    Site("python-markdown-doc", "div.body"),
    Site("python-scrapy-doc", "div[itemprop=articleBody]"),
    Site("python-sqlalchemy-doc", "#docs-body"),
    Site("python-typer-doc", "div[role=main] > div.section"),
    Site("python3.11-doc", "div.body"),
    Site("rsyslog-doc", "div.body"),
    Site("slurm-wlm-doc", "div.content > div.section > div.container"),
    Site("sphinx-doc", "div.body"),
    Site("sqlite3-doc", "body", "div.nosearch, script"),
    Site("tomcat10-docs", "#content"),
    Site("varnish-doc", "div.body"),
)


def sites() -> tuple[Site, ...]:
    """Return the sites, whose packages are fetched by the first call."""
    chosen = SITES[:6] if SMALL else SITES
    download(tuple(site.package for site in chosen), CACHE / "debs", CACHE / "sites")
    return chosen
