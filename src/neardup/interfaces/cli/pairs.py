"""Find all pairs of near-duplicates of a collection, or between two: exactly, none is missed."""

import argparse
import json
from dataclasses import asdict
from typing import Any

from neardup.interfaces.cli.amounts import whole
from neardup.interfaces.cli.common_shingles import add_list_option
from neardup.interfaces.cli.options import add_reading_options, add_scheme_options, reading_of, scheme_of
from neardup.interfaces.cli.terminal import progress_bars, show_counts, show_rejected
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import plural

_HIDDEN = argparse.SUPPRESS

EXAMPLE = "Example: neardup pairs news.jsonl --threshold 0.5 --out pairs.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    parser.add_argument(
        "left", metavar="A", help="a collection: a file, a pattern or a folder, as for dedup, or a list of them (@FILE)"
    )
    parser.add_argument(
        "right", metavar="B", nargs="?", help="another collection: the pairs are of a document of A and one of B"
    )
    parser.add_argument(
        "--measure",
        choices=("resemblance", "containment", "overlap"),
        default="resemblance",
        help="what must reach the threshold: the resemblance; the share of the document of A that is in that of B or,"
        " in one collection, of either in the other; or the share of the smaller one",
    )
    outputs = parser.add_argument_group("outputs")
    outputs.add_argument(
        "--out", metavar="PATH", required=True, default=_HIDDEN, help="one record per pair (.parquet, .jsonl)"
    )
    outputs.add_argument("--clusters", action="store_true", help="add the cluster of each pair: connected documents")
    outputs.add_argument("--force", action="store_true", help="replace an output that exists")
    outputs.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_reading_options(parser)
    add_scheme_options(parser, with_measure=False)
    add_list_option(parser)
    parser.add_argument("--threads", type=whole, metavar="N", default=_HIDDEN, help="cores to use (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Find the pairs and write them; return 1 if records were rejected."""
    from neardup.sources.output import check_table, write_table

    names = [one for one in (arguments.left, arguments.right) if one is not None]
    check_table(arguments.out, names, force=arguments.force)
    scheme = scheme_of(arguments)
    reading = reading_of(arguments)
    say_if_cold()
    import pyarrow as pa

    from neardup.pipeline.pairs import pairs
    from neardup.sources.read import read

    with progress_bars() as bars:
        collections = [read([name], **reading, progress=bars) for name in names]
        found = pairs(
            *(pa.table({"id": one.ids, "text": one.texts}) for one in collections),
            measure=arguments.measure,
            threshold=scheme.threshold,
            clusters=arguments.clusters,
            scheme=scheme,
            threads=vars(arguments).get("threads"),
            progress=bars,
        )
    write_table(arguments.out, found, force=arguments.force)
    rejected = [one for collection in collections for one in collection.rejected]
    documents = sum(map(len, collections))
    if arguments.json:
        told: dict[str, Any] = {"documents": documents, "pairs": len(found), "measure": arguments.measure}
        print(json.dumps({**told, "threshold": scheme.threshold, "rejected": [asdict(one) for one in rejected]}))
    else:
        rule = f"{plural(len(found), 'pair')}, {arguments.measure} at least {scheme.threshold:g}"
        show_counts(
            [
                (documents, plural(documents, "document"), True),
                (len(found), rule, True),
                (len(rejected), f"{plural(len(rejected), 'record')} rejected", False),
            ]
        )
        show_rejected(rejected)
    return 1 if rejected else 0
