"""A crawl as one HTML page: hosts by their repeats, mirrors, rules of addresses, and templates."""

from collections.abc import Iterator
from typing import Final

from neardup.interfaces.pages.templates import render
from neardup.interfaces.wording.numbers import percent
from neardup.pipeline.crawl.mirrors import Mirrors
from neardup.pipeline.crawl.overview import CrawlOverview
from neardup.sources.url_rules import UrlRules
from neardup.text.host_templates import HostTemplates

_LISTED: Final = 100  # rows of a table
_SHOWN: Final = 160  # characters of a cell
_LINES: Final = 3  # lines of a template


def crawl_page(seen: CrawlOverview, mirrors: Mirrors, rules: UrlRules, templates: HostTemplates | None) -> bytes:
    """Render a crawl: UTF-8, of bounded size. The same crawl gives the same bytes."""
    pairs = [
        (one.host + one.prefix, one.mirror_of + one.main_prefix, one.kind, one.common, percent(one.share))
        for one in mirrors.found
    ]
    largest = sorted(templates.templates, key=lambda one: (-len(one.lines), one.host)) if templates else []
    return render(
        "crawl",
        seen=seen,
        hosts=[(one.host, one.pages, one.contents, percent(one.share), one.elsewhere) for one in seen.by_host],
        repeated=[(one.host, one.pages, " ".join(one.examples)) for one in seen.repeated],
        mirrors=[row for row in pairs if row[2] != "same paths"],
        others=[(host, main, common, share) for host, main, kind, common, share in pairs if kind == "same paths"],
        rules=[*_rules(rules)],
        largest=None
        if templates is None
        else [(one.host, len(one.lines), one.kept, one.view, " / ".join(one.examples[:_LINES])) for one in largest],
        listed=_LISTED,
        most=_SHOWN,
    )


def _rules(rules: UrlRules) -> Iterator[tuple[str, str, int, int, str]]:
    for host, own in rules.hosts.items():
        named = [
            *((f"parameter {name}", rule) for name, rule in own.parameters.items()),
            *((f"path parameter {name}", rule) for name, rule in own.path_parameters.items()),
            *((f"index page {name}", rule) for name, rule in own.index_pages.items()),
            *(("final slash", rule) for rule in [own.final_slash] if rule),
            *(("case of the path", rule) for rule in [own.case] if rule),
        ]
        for what, rule in named:
            yield host, what, rule.support, rule.contents, percent(rule.confidence)
