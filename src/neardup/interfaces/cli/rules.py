"""Find which differences between the URLs of a host do not change the content."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.interfaces.cli.options import CRAWLED, JSON, crawled_of, without_url
from neardup.interfaces.cli.terminal import resolve_outputs, summarise
from neardup.interfaces.wording.numbers import Row, row, total
from neardup.model.errors import PERMISSION, OutputError, OutputRefused, plural, require_path

if TYPE_CHECKING:
    from neardup.pipeline.crawl.crawled_pages import Crawled
    from neardup.sources.url_rules import UrlRules

_JSON = (".json",)
_NUTCH = ("regex-normalize.xml", "host-urlnormalizer.txt")
_ENDINGS = (".xml", ".txt")
_LEFT_OUT = (
    "left out for Nutch: more than 10 % of the pages have contents that the main host lacks, or the main host is such a"
    " mirror itself"
)

USAGE = f"""
{CRAWLED}
--out PATH!: the rules with their evidence, a .json file
--nutch DIR: also write for Apache Nutch, into this folder: {_NUTCH[0]}, and {_NUTCH[1]} with the mirrors
--force: replace outputs that exist
{JSON}
"""
EXAMPLE = (
    "Example: neardup dedup crawl.jsonl --dry-run --id url --report why.parquet; neardup rules why.parquet"
    " --out rules.json"
)


def run(arguments: argparse.Namespace) -> int:
    """Find the rules and write them; return 1 if records were rejected."""
    resolve_outputs(arguments, "out")
    from neardup.sources.output import write_file

    nutch = _checked_outputs(arguments)
    pages = crawled_of(arguments)
    from neardup.pipeline.crawl.url_rules import find_url_rules

    found = find_url_rules(pages.urls, pages.contents)
    write_file(arguments.out, found.to_bytes(), _JSON, force=arguments.force)
    more: dict[str, int] = {}
    replaced = left_out = 0
    if nutch:
        replaced, left_out = _write_nutch(nutch, found, pages, force=arguments.force)
        more = {"mirrors_replaced": replaced, "mirrors_left_out": left_out}
    counts = found.counts()
    number, hosts = len(pages.urls), len(found.hosts)
    rows = [
        total(number, "page"),
        total(len(found), "rule", f" for {hosts:,} {plural(hosts, 'host')}"),
        *(Row(each, f"of these: {kind.replace('_', ' ')}") for kind, each in counts.items()),
        row(replaced, "mirror", " replaced by the main host for Nutch"),
        row(left_out, "mirror", f" {_LEFT_OUT}"),
        without_url(pages.ignored),
    ]
    record = {"pages": number, "hosts": hosts, **counts, "ignored": pages.ignored, "id": found.id, **more}
    lines = [f"id of the rules: {found.id}"]
    if not len(found):
        lines.append("a rule needs at least 10 groups of pages whose URLs differ only in the part that it ignores")
    return summarise(arguments, record, rows, lines=lines, rejected=pages.rejected)


def _checked_outputs(arguments: argparse.Namespace) -> list[str]:
    """Check the outputs before anything is read; return the paths of the files for Nutch, if requested."""
    from neardup.sources.output import check_file, check_separate, require_names

    force, folder = arguments.force, vars(arguments).get("nutch")
    nutch = [] if folder is None else [str(Path(require_path("nutch", folder), name)) for name in _NUTCH]
    check_separate({"out": arguments.out, **dict(zip(_NUTCH, nutch, strict=False))})
    check_file(arguments.out, _JSON, arguments.inputs, force=force)
    if folder is None:
        return []
    above = next(one for one in (Path(folder), *Path(folder).absolute().parents) if os.path.lexists(one))
    if not above.is_dir():
        kind = "file" if above.exists() else "link to nothing"
        raise OutputRefused(str(above), f"it is a {kind}; name a folder for the files for Nutch")
    if not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(str(above), "nothing can be written into it", PERMISSION)
    require_names(folder, above)
    for path in nutch if above == Path(folder) else []:
        check_file(path, _ENDINGS, arguments.inputs, force=force)
    return nutch


def _write_nutch(paths: Sequence[str], rules: "UrlRules", pages: "Crawled", *, force: bool) -> tuple[int, int]:
    """Write the files for Nutch; return the numbers of mirrors that they replace and leave out."""
    from neardup.pipeline.crawl.mirrors import WHOLE, find_mirrors
    from neardup.sources.output import write_file

    mirrors = find_mirrors(pages.urls, pages.contents)
    Path(paths[0]).parent.mkdir(parents=True, exist_ok=True)
    for path, content in zip(paths, (rules.nutch(), mirrors.nutch()), strict=True):
        write_file(path, content, _ENDINGS, force=force)
    replaced = len(mirrors.replaceable())
    return replaced, sum(each.kind in WHOLE for each in mirrors.found) - replaced
