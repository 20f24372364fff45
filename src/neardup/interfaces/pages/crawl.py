"""A crawl as one HTML page: hosts by their repeats, mirrors, rules of addresses, and templates."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.pages.templates import render
from neardup.interfaces.wording import percent
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.pipeline.crawl.mirrors import Mirrors
    from neardup.pipeline.crawl.overview import CrawlOverview
    from neardup.sources.url_rules import UrlRules
    from neardup.text.host_templates import HostTemplates

_LISTED: Final = 100  # rows of a table
_SHOWN: Final = 160  # characters of a cell
_LINES: Final = 3  # lines of a template

Row = tuple[str, ...]


def crawl_page(
    seen: "CrawlOverview", mirrors: "Mirrors", rules: "UrlRules", templates: "HostTemplates | None"
) -> bytes:
    """Render a crawl: UTF-8, of bounded size. The same crawl gives the same bytes."""
    own = ((one.host, one.pages, one.contents, percent(one.share), one.elsewhere) for one in seen.by_host)
    repeated = ((one.host, one.pages, " ".join(one.examples)) for one in seen.repeated)
    pairs = [
        (one.host + one.prefix, one.mirror_of + one.main_prefix, one.kind, one.common, percent(one.share))
        for one in mirrors.found
    ]
    same = [row for row in pairs if row[2] != "same paths"]
    other = [(host, main, common, share) for host, main, kind, common, share in pairs if kind == "same paths"]
    tables = [
        _table(
            "Hosts by their share of repeats",
            ("host", "pages", "different contents", "repeats", "contents that other hosts have, too"),
            own,
            seen.hosts,
        ),
        _table(
            "One content at many addresses: error pages, forms, and parameters without effect",
            ("host", "pages", "such as"),
            repeated,
        ),
        _table("Mirrors", ("host", "pages of", "kind", "common paths", "same content"), same, len(same)),
        _table(
            "Not mirrors: other contents at the same paths, such as translations",
            ("host", "paths of", "common paths", "same content"),
            other,
            len(other),
        ),
        _table(
            "What makes no difference in addresses",
            ("host", "rule", "groups of pages that agree", "different contents", "share"),
            _rules(rules),
            len(rules),
        ),
    ]
    if templates is not None:
        all_ = sorted(templates.templates, key=lambda one: (-len(one.lines), one.host))
        largest = ((one.host, len(one.lines), one.kept, one.view, " / ".join(one.examples[:_LINES])) for one in all_)
        heads = ("host", "lines", "different pages", "text", "such as")
        tables.append(_table("Largest templates", heads, largest, len(all_)))
    tiles = ((seen.pages, "pages"), (seen.hosts, "hosts"), (seen.contents, "different contents"))
    return render("crawl", tiles=[(name, f"{value:,}") for value, name in tiles], tables=tables, most=_SHOWN)


def _table(title: str, heads: Row, rows: Any, total: int = 0) -> tuple[str, Row, list[Row], str]:
    """Return what is shown of a table: its title, heads and rows, and how many rows are not shown."""
    shown = [tuple(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) for row in islice(rows, _LISTED)]
    more = total - len(shown)
    return title, heads, shown, f"{counted(more, 'more row')}, not shown" if more > 0 else ""


def _rules(rules: "UrlRules") -> Iterator[tuple[str, str, int, int, str]]:
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
