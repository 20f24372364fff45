"""Find all pairs of near duplicates of one collection, or between two collections; no pair is missed."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli import options, scheme_options
from neardup.interfaces.cli.terminal import note_quoted_lines, progress_bars, resolve_outputs, summarise
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.numbers import quoted_rows, total, without_text

if TYPE_CHECKING:
    from neardup.pipeline.files.pairs import PairedFiles

MEASURE = """
--measure resemblance|containment|overlap|cosine=resemblance: what must reach the threshold: the resemblance; the share
  of the document of A that is in that of B or, in one collection, of either in the other; the share of the smaller
  one; or the cosine of how often shingles occur. No signatures are used
"""
USAGE = f"""
left A: a collection: a file, a pattern or a folder, as for dedup
right [B]: another collection, of other files: the pairs are of a document of A and one of B
[outputs]
--out PATH!: one record per pair (.parquet, .jsonl)
--clusters: add the cluster of each pair: connected documents
--force: replace an output that exists
{options.JSON}
{options.READING}
{options.PLAIN}
{scheme_options.SCHEME}
[how it runs]
{options.WORK % {"large": "collections larger than memory: keep the features", "unless": "", "runs": "in --work"}}
{options.THREADS}
"""
EXAMPLE = "Example: neardup pairs news.jsonl --threshold 0.5 --out pairs.parquet"


def run(arguments: argparse.Namespace) -> int:
    """Find the pairs and write them; return 1 if records were rejected."""
    resolve_outputs(arguments, "out")
    given = vars(arguments)
    if "work" not in given:
        options.refuse(given, ("memory", "restart"), options.NEEDS_WORK)
    scheme_options.apply_preset(arguments)
    threshold = given.pop("threshold", None)  # pairs are exact: no signature has to find it
    from neardup.pipeline.corpus.run import scheme_of_texts
    from neardup.pipeline.partners.pairs import PAIRS_OF_TEXTS

    scheme = scheme_of_texts(scheme_options.scheme_of(arguments), PAIRS_OF_TEXTS)  # before anything is read
    threshold = scheme.threshold if threshold is None else threshold
    say_if_cold()
    ways = options.chosen(arguments, "measure clusters threads") | {"threshold": threshold, "scheme": scheme}
    names = [one for one in (arguments.left, arguments.right) if one is not None]
    found = (_in_pieces if "work" in given else _in_memory)(arguments, names, ways)
    note_quoted_lines(found.quoted_lines)
    rows = [
        total(found.documents, "document"),
        total(found.pairs, "pair", f", {arguments.measure} at least {threshold:g}"),
        *without_text(found.without_text),
        *quoted_rows(found.quoted_lines),
    ]
    record = {**asdict(found), "measure": arguments.measure, "threshold": threshold}
    return summarise(arguments, record, rows, rejected=found.rejected)


def _in_pieces(arguments: argparse.Namespace, names: list[str], ways: dict[str, Any]) -> "PairedFiles":
    from neardup.pipeline.files.pairs import pair_files

    with progress_bars(as_lines=arguments.json) as bars:
        return pair_files(
            names[:1],
            names[1:] or None,
            **options.chosen(arguments, "out work restart force memory"),
            progress=bars,
            **ways,
            **options.reading_as_dedup(arguments, names, bars),
        )


def _in_memory(arguments: argparse.Namespace, names: list[str], ways: dict[str, Any]) -> "PairedFiles":
    import pyarrow as pa

    from neardup.pipeline.files.pairs import PairedFiles
    from neardup.pipeline.partners.pairs import pairs
    from neardup.sources.output import check_table, write_table
    from neardup.sources.read import read
    from neardup.sources.record_faults import RecordFaults

    check_table(arguments.out, names, force=arguments.force)
    with progress_bars(as_lines=arguments.json) as bars:
        reading = options.reading_as_dedup(arguments, names, bars)
        collections = [
            read([name], others=[one for one in names if one != name], **reading, progress=bars) for name in names
        ]
        found = pairs(*(pa.table({"id": one.ids, "text": one.texts}) for one in collections), progress=bars, **ways)
    write_table(arguments.out, found, force=arguments.force)
    return PairedFiles.of(RecordFaults.of(collections), len(found))
