"""Find hosts with the pages of other hosts: mirrors, mirrored folders and translations."""

import argparse
import json
from collections import Counter
from dataclasses import asdict

from neardup.interfaces.cli.crawled import add_crawled, crawled_of
from neardup.interfaces.cli.terminal import show_counts, show_rejected
from neardup.model.errors import plural

EXAMPLE = "Example: neardup dedup crawl.jsonl --dry-run --report why.parquet; neardup mirrors why.parquet --out m.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_crawled(parser)
    parser.add_argument(
        "--out",
        metavar="PATH",
        required=True,
        default=argparse.SUPPRESS,
        help="one record per mirror, with its main host and the evidence (.jsonl, .parquet)",
    )
    parser.add_argument("--force", action="store_true", help="replace outputs that exist")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find the mirrors and write them; return 1 if records were rejected."""
    from neardup.sources.output import check_table, write_table

    check_table(arguments.out, arguments.inputs, force=arguments.force)
    pages = crawled_of(arguments)
    from neardup.pipeline.mirrors import find_mirrors

    found = find_mirrors(pages.urls, pages.contents)
    write_table(arguments.out, found.table(), force=arguments.force)
    kinds = Counter(each.kind for each in found.found)
    if arguments.json:
        counts = {"hosts": found.hosts, "pages": found.pages, "contents_left_out": found.contents_left_out}
        print(json.dumps({**counts, "kinds": kinds, "rejected": [asdict(one) for one in pages.rejected]}))
    else:
        show_counts(
            [
                (found.pages, f"{plural(found.pages, 'page')} of {found.hosts:,} {plural(found.hosts, 'host')}", True),
                (kinds["same"], "mirrors, 90 % or more of the common paths with the same content", True),
                (kinds["mostly"], "mirrors, less than 90 %", True),
                (kinds["below a prefix"], "mirrors in a folder", True),
                (kinds["same paths"], "hosts with other contents at the same paths, such as translations", False),
                (found.contents_left_out, "contents on more than 50 hosts, ignored", False),
                (len(pages.rejected), f"{plural(len(pages.rejected), 'record')} rejected", False),
            ]
        )
        show_rejected(pages.rejected)
    return 1 if pages.rejected else 0
