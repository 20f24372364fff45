"""The inputs of verbs that read the report of a crawl."""

import argparse
from typing import Any


def add_crawled(parser: argparse.ArgumentParser) -> None:
    """Add the inputs of verbs that read the report of a crawl."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="reports of dedup --report on the pages of a crawl, .parquet or .jsonl, which have each page's URL as id"
        " (or url), and the page that it was dropped for; for documents, run dedup first",
    )
    parser.add_argument(
        "--url",
        metavar="FIELD",
        default=argparse.SUPPRESS,
        help="the column of the URL (default: url if it exists, otherwise id)",
    )
    parser.add_argument(
        "--content",
        metavar="FIELD",
        default="representative",
        help="the column that names the content of a page, such as a digest; null: the page's own id",
    )


def crawled_of(arguments: argparse.Namespace) -> Any:
    """Read the pages that the options name."""
    from neardup.pipeline.crawled import read_crawled

    return read_crawled(arguments.inputs, url=vars(arguments).get("url"), content=arguments.content)
