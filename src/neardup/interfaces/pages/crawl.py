"""A crawl as one HTML page: hosts by their repeats, mirrors, rules of addresses, and templates."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.pages.templates import render
from neardup.interfaces.wording import percent
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.pipeline.crawl_overview import CrawlOverview
    from neardup.pipeline.mirrors import Mirrors
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
    tables = [
        _table(
            "Hosts with the most repeats",
            ("host", "pages", "different contents", "repeats", "contents that other hosts have, too"),
            (
                (
                    one.host,
                    _number(one.pages),
                    _number(one.contents),
                    percent(one.repeats / one.pages),
                    _number(one.elsewhere),
                )
                for one in seen.by_host
            ),
            seen.hosts,
        ),
        _table(
            "One content at many addresses: error pages, forms, and parameters without effect",
            ("host", "pages", "such as"),
            ((one.host, _number(one.pages), " ".join(one.examples)) for one in seen.repeated),
        ),
        _table(
            "Mirrors",
            ("host", "pages of", "kind", "common paths", "same content"),
            (
                (
                    one.host + one.prefix,
                    one.mirror_of + one.main_prefix,
                    one.kind,
                    _number(one.common),
                    percent(one.share),
                )
                for one in mirrors.found
            ),
            len(mirrors.found),
        ),
        _table(
            "What makes no difference in addresses",
            ("host", "rule", "groups of pages that agree", "different contents", "share"),
            _rules(rules),
            len(rules),
        ),
    ]
    if templates is not None:
        largest = sorted(templates.templates, key=lambda one: (-len(one.lines), one.host))
        tables.append(
            _table(
                "Largest templates",
                ("host", "lines", "different pages", "text", "such as"),
                (
                    (one.host, _number(len(one.lines)), _number(one.kept), one.view, " / ".join(one.examples[:_LINES]))
                    for one in largest
                ),
                len(largest),
            )
        )
    tiles = ((seen.pages, "pages"), (seen.hosts, "hosts"), (seen.contents, "different contents"))
    return render("crawl", tiles=[(name, _number(value)) for value, name in tiles], tables=tables, most=_SHOWN)


def _table(title: str, heads: Row, rows: Any, total: int = 0) -> tuple[str, Row, list[Row], str]:
    """Return what is shown of a table: its title, heads and rows, and how many rows are not shown."""
    shown: list[Row] = [row for row, _ in zip(rows, range(_LISTED), strict=False)]
    more = total - len(shown)
    return title, heads, shown, f"{counted(more, 'more row')}, not shown" if more > 0 else ""


def _rules(rules: "UrlRules") -> Iterator[Row]:
    for host, own in rules.hosts.items():
        named = [
            *((f"parameter {name}", rule) for name, rule in own.parameters.items()),
            *((f"path parameter {name}", rule) for name, rule in own.path_parameters.items()),
            *((f"index page {name}", rule) for name, rule in own.index_pages.items()),
            *(
                (
                    (what, rule)
                    for what, rule in (("final slash", own.final_slash), ("case of the path", own.case))
                    if rule
                )
            ),
        ]
        for what, rule in named:
            yield host, what, _number(rule.support), _number(rule.contents), percent(rule.confidence)


def _number(value: int) -> str:
    return f"{value:,}"
