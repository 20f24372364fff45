"""The inputs of runs as plain values: each template is recorded once."""

import json

import numpy as np
import pytest

from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.spilled.run_inputs import RecordedRuns, RunInputs
from neardup.sources.read import request_of
from neardup.sources.shards import Shards
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates, Template


def template(number, version=1, lines=(1, 2)):
    return Template(
        host=f"host{number}.example", view="main", kept=20, version=version, lines=np.array(lines, np.uint64)
    )


def run(templates, path="pages.jsonl"):
    extraction = Extraction() if templates is None else Extraction(templates=templates)
    return RunInputs(Shards((path,), request_of(extraction=extraction, html="html")), np.array([0]), "first")


@pytest.fixture
def runs():
    """Runs without templates, with ever more of them, with one that was learned again, and with independent ones."""
    first = HostTemplates([template(n) for n in range(40)], rule_of(Extraction()))
    more = first.updated([template(n) for n in range(40, 60)])
    again = more.updated([template(7, version=2, lines=(1, 5))])
    independent = HostTemplates([template(1)], rule_of(Extraction()))
    return [
        run(one)
        for one in (None, HostTemplates([], rule_of(Extraction())), first, None, more, more, again, independent)
    ]


def test_runs_are_read_as_they_were_recorded(runs):
    given = json.loads(json.dumps([*RecordedRuns().recorded(runs)]))
    found = [*RecordedRuns().read(given)]
    assert [one.templates for one in found] == [one.templates for one in runs]
    assert [one.templates and one.templates.earlier for one in found] == [
        one.templates and one.templates.earlier for one in runs
    ]
    for one, other in zip(found, runs, strict=True):
        assert one.shards.inputs == other.shards.inputs
        assert one.keep == other.keep
        assert one.edges.tolist() == other.edges.tolist()


def test_each_template_is_recorded_once(runs):
    given = [*RecordedRuns().recorded(runs)]
    recorded = [RunInputs(Shards.from_dict(one["shards"]), np.array([0]), None).templates for one in given]
    assert [None if one is None else len(one) for one in recorded] == [None, 0, 40, None, 20, 0, 1, 1]


def test_a_run_is_recorded_after_others(runs):
    for number in range(len(runs)):
        before, rest = runs[:number], runs[number:]
        given = [*RecordedRuns().recorded(before), *RecordedRuns(before).recorded(rest)]
        assert given == [*RecordedRuns().recorded(runs)]
