"""Choose the rule and the threshold that fit labelled pairs, and write them to a file of settings."""

import argparse
from functools import partial

from neardup.interfaces.cli import options
from neardup.interfaces.cli.terminal import print_json, progress_bars, show_lines, show_rejected
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.estimates import rule_rows, table_lines, tuning_lines
from neardup.model.errors import DataError

_SETTINGS = (".toml",)

USAGE = f"""
labels LABELS: labelled pairs, as neardup label writes them (.jsonl)
inputs [INPUT ...]: the documents, if texts were left out of the labels
{options.THREADS}
[the goal]
--goal GOAL=f1: f1; or precision>=0.99 or recall>=0.99, with any share, and then the other one as high as possible
--draw N=1: random seed of the division of the pairs
[outputs]
--out PATH: the settings of the rule (.toml), for --config (default: print)
--report PATH: a page to look at (.html), or JSON (.json)
--force: replace an output that exists
--json: print the tuning as JSON
{options.READING}
{options.PLAIN}
"""
EXAMPLE = (
    "Example: neardup label pages.jsonl --out labels.jsonl; neardup tune labels.jsonl --out neardup.toml;"
    " neardup dedup pages.jsonl --config neardup.toml --out kept.jsonl"
)


def run(arguments: argparse.Namespace) -> int:
    """Choose and print; return 1 if records were rejected, or if no rule reaches the goal."""
    from neardup.evaluation.tuning import Goal
    from neardup.sources.output import check_file, write_file

    given = vars(arguments)
    Goal.of(arguments.goal)
    if not arguments.inputs:
        rule = "needs the documents: LABELS INPUT ...; without them, the texts of the labels are used"
        options.refuse_reading(arguments, rule)
    seed = options.drawn(arguments)
    for name, endings in (("report", options.REPORTS), ("out", _SETTINGS)):
        if name in given:
            check_file(given[name], endings, [arguments.labels, *arguments.inputs], force=arguments.force, name=name)
    say_if_cold()
    from neardup.pipeline.config import settings_text
    from neardup.pipeline.labels.tuning import tune
    from neardup.sources.labels import read_labels

    labels = read_labels(arguments.labels)
    with progress_bars(as_lines=arguments.json) as bars:
        wanted = {name for one in labels for name in one.pair}
        texts, rejected = options.texts_of(arguments, wanted, bars) if arguments.inputs else (None, [])
        try:
            found = tune(labels, texts, goal=arguments.goal, seed=seed, threads=given.get("threads"), progress=bars)
        except DataError as error:  # it is about the labels, whose file the library does not know
            raise DataError(arguments.labels, error.rule, error.code) from error
    settings = settings_text(found.chosen.settings)
    if "report" in given:
        from neardup.interfaces.pages.estimates import tuning_page

        options.write_findings(arguments, found, partial(tuning_page, settings=settings))
    if "out" in given:
        write_file(given["out"], settings.encode(), _SETTINGS, force=arguments.force)
    if arguments.json:
        print_json(found.as_dict())
    else:
        shown = [] if "out" in given else ["", *settings.splitlines()]
        unread = arguments.inputs and all(None not in {one.text_a, one.text_b} for one in labels)
        note = ["the documents were not needed: all texts are in the labels"] if unread else []
        show_lines([*tuning_lines(found), *note, *table_lines(rule_rows(found)), *shown])
        show_rejected(rejected, arguments)
    return 1 if rejected or not found.reaches else 0
