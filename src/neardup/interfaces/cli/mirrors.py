"""Find hosts with the pages of other hosts: mirrors, mirrored folders and translations."""

import argparse
from collections import Counter

from neardup.interfaces.cli.options import CRAWLED, JSON, crawled_of, without_url
from neardup.interfaces.cli.terminal import resolve_outputs, summarise
from neardup.interfaces.wording.numbers import Row, row, total
from neardup.model.errors import plural, require

EXAMPLE = (
    "Example: neardup dedup crawl.jsonl --dry-run --id url --report why.parquet; neardup mirrors why.parquet"
    " --out m.jsonl"
)
_TRANSLATED = "hosts with at least 5 common contents, and others at the same paths, such as translations"
USAGE = f"""
{CRAWLED}
--out PATH!: one record per mirror, with its main host and the evidence (.jsonl, .parquet), and one per pair of hosts
  with other contents at the same paths, such as translations. Hosts with fewer than 5 common contents are not compared
--report PATH: a page on the crawl (.html): hosts by their repeats, contents at many addresses, mirrors, URL rules
--templates FILE: with --report: also show the largest templates in this file of `neardup templates learn`
--force: replace outputs that exist
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Find the mirrors and write them; return 1 if records were rejected."""
    resolve_outputs(arguments, "out", "report")
    from neardup.sources.output import PAGES, check_file, check_table, write_file, write_table
    from neardup.text.host_templates import HostTemplates

    given = vars(arguments)
    report, listed = given.get("report"), given.get("templates")
    require(report is not None or listed is None, "templates", listed, "needs --report, the page that shows them")
    if report is not None:
        check_file(report, PAGES, arguments.inputs, force=arguments.force, name="report")
    templates = None if listed is None else HostTemplates.load(listed)
    check_table(arguments.out, arguments.inputs, force=arguments.force, name="out")
    pages = crawled_of(arguments)
    from neardup.pipeline.crawl.mirrors import find_mirrors

    found = find_mirrors(pages.urls, pages.contents)
    write_table(arguments.out, found.table(), force=arguments.force)
    if report is not None:
        from neardup.interfaces.pages.crawl import crawl_page
        from neardup.pipeline.crawl.overview import crawl_overview
        from neardup.pipeline.crawl.url_rules import find_url_rules

        seen, rules = crawl_overview(pages.urls, pages.contents), find_url_rules(pages.urls, pages.contents)
        write_file(report, crawl_page(seen, found, rules, templates), PAGES, force=arguments.force)
    kinds = Counter(each.kind for each in found.found)
    rows = [
        total(found.pages, "page", f" of {found.hosts:,} {plural(found.hosts, 'host')}"),
        total(kinds["same"], "mirror", " with the same content at 90 % or more of the common paths"),
        total(kinds["mostly"], "mirror", " with the same content at fewer of them"),
        total(kinds["below a prefix"], "mirror", " in a folder"),
        Row(kinds["same paths"], _TRANSLATED),
        row(found.contents_left_out, "content", " on more than 50 hosts, not used to compare hosts"),
        without_url(pages.ignored),
    ]
    counts = {"hosts": found.hosts, "pages": found.pages, "contents_left_out": found.contents_left_out}
    record = {**counts, "ignored": pages.ignored, "kinds": kinds}
    return summarise(arguments, record, rows, rejected=pages.rejected)
