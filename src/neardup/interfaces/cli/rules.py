"""Find which differences between the URLs of a host do not change the content."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from neardup.interfaces.cli.crawled import add_crawled, crawled_of
from neardup.interfaces.cli.terminal import show_counts, show_lines, show_rejected
from neardup.model.errors import OutputRefused, plural, require_path

_HIDDEN = argparse.SUPPRESS
_JSON = (".json",)
_NUTCH = ("regex-normalize.xml", "host-urlnormalizer.txt")
_ENDINGS = (".xml", ".txt")

EXAMPLE = (
    "Example: neardup dedup crawl.jsonl --dry-run --report why.parquet; neardup rules why.parquet --out rules.json"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_crawled(parser)
    parser.add_argument(
        "--out", metavar="PATH", required=True, default=_HIDDEN, help="the rules with their evidence, a .json file"
    )
    parser.add_argument(
        "--nutch",
        metavar="DIR",
        default=_HIDDEN,
        help=f"also write for Apache Nutch, into this folder: {_NUTCH[0]}, and {_NUTCH[1]} with the mirrors",
    )
    parser.add_argument("--force", action="store_true", help="replace outputs that exist")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find the rules and write them; return 1 if records were rejected."""
    from neardup.sources.output import check_file, check_separate, write_file

    force, folder = arguments.force, vars(arguments).get("nutch")
    if folder is not None:
        require_path("nutch", folder)
    nutch = [] if folder is None else [str(Path(folder, name)) for name in _NUTCH]
    check_separate({"out": arguments.out, **dict(zip(_NUTCH, nutch, strict=False))})
    check_file(arguments.out, _JSON, arguments.inputs, force=force)
    if folder is not None:
        _make_folder(folder)
    for path in nutch:
        check_file(path, _ENDINGS, arguments.inputs, force=force)
    pages = crawled_of(arguments)
    from neardup.pipeline.url_rules import find_url_rules

    found = find_url_rules(pages.urls, pages.contents)
    write_file(arguments.out, found.to_bytes(), _JSON, force=force)
    if nutch:
        from neardup.pipeline.mirrors import find_mirrors

        mirrors = find_mirrors(pages.urls, pages.contents)
        for path, content in zip(nutch, (found.nutch(), mirrors.nutch()), strict=True):
            write_file(path, content, _ENDINGS, force=force)
    counts = found.counts()
    if arguments.json:
        rejected = [asdict(one) for one in pages.rejected]
        print(
            json.dumps(
                {"pages": len(pages.urls), "hosts": len(found.hosts), **counts, "id": found.id, "rejected": rejected}
            )
        )
    else:
        show_counts(
            [
                (len(pages.urls), plural(len(pages.urls), "page"), True),
                (
                    len(found),
                    f"{plural(len(found), 'rule')} for {len(found.hosts):,} {plural(len(found.hosts), 'host')}",
                    True,
                ),
                *((number, f"of these: {kind.replace('_', ' ')}", False) for kind, number in counts.items()),
                (len(pages.rejected), f"{plural(len(pages.rejected), 'record')} rejected", False),
            ]
        )
        show_lines([f"id of the rules: {found.id}"])
        show_rejected(pages.rejected)
    return 1 if pages.rejected else 0


def _make_folder(path: str) -> None:
    """Make the folder of the files for Nutch, if it does not exist."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OutputRefused(path, "it is a file; name a folder for the files for Nutch") from None
