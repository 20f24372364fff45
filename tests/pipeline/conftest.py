import json
import random

import numpy as np
import pytest
from json_lines import write_lines

from neardup import MinHash, dedup_files
from neardup.engines.journal import Journal
from neardup.model.policy import Policy
from neardup.pipeline.spilled import files
from neardup.pipeline.spilled.job import Job
from neardup.sources.inputs import inputs_of
from neardup.sources.request import Request
from neardup.sources.shards import Shards


@pytest.fixture
def records():
    """Documents with copies, edited copies, templates, blank and missing texts, repeated and missing ids."""
    chance = random.Random(7)  # noqa: S311 - nothing secret
    words = [f"w{number}" for number in range(300)]

    def passage(length):
        return [chance.choice(words) for _ in range(length)]

    originals = [passage(chance.randint(4, 60)) for _ in range(25)]
    template = passage(30)
    found = []
    for number in range(260):
        kind = chance.random()
        if kind < 0.5:
            text = [*chance.choice(originals)]
            for _ in range(chance.randint(0, 4)):
                text[chance.randrange(len(text))] = chance.choice(words)
            text = " ".join(text)
        elif kind < 0.6:
            text = " ".join([*template, *passage(chance.randint(2, 8))])
        elif kind < 0.7:
            text = chance.choice(["", "  ", None, "!!", "?!", "!!", "W1 w2 w3", "w1 w2 w3"])
        else:
            text = " ".join(passage(chance.randint(1, 40)))
        record = {"text": text, "score": chance.choice([None, 1, 2, 3.5]), "title": chance.choice("abc")}
        if number % 5:
            record["id"] = chance.choice(["same", f"d{number}"])
        found.append(record)
    return found


@pytest.fixture
def sources(tmp_path, records):
    """The records in three files of JSON lines, with lines that are rejected."""
    paths = []
    for part in range(3):
        lines = [json.dumps(record) for record in records[part::3]]
        lines[7:7] = ["{broken", "", '{"text": 3}']
        paths.append(tmp_path / f"part{part}.jsonl")
        paths[-1].write_text("\n".join(lines) + "\n" * (part % 2))
    return paths


@pytest.fixture
def batches(tmp_path, records):
    """The records in three batches of two files each, and all of them in one file."""
    paths = []
    for batch in range(3):
        part = records[batch * len(records) // 3 : (batch + 1) * len(records) // 3]
        for half in range(2):
            own = part[: len(part) // 2] if half == 0 else part[len(part) // 2 :]
            for number, record in enumerate(own):
                record["id"] = f"b{batch}{half}-{number}"
            paths.append(tmp_path / f"batch{batch}{half}.jsonl")
            write_lines(paths[-1], own)
    return [paths[:2], paths[2:4], paths[4:]]


@pytest.fixture
def small_parts(monkeypatch):
    """Make the shards and blocks of runs as small as this."""

    def of(size):
        monkeypatch.setattr(files, "_share", lambda _memory, _threads: size)

    return of


@pytest.fixture
def no_held_texts(monkeypatch):
    """Return a function after which no texts are held, as in large runs: they are read again."""
    return lambda: monkeypatch.setattr(files, "_HELD", 0)


@pytest.fixture
def job_of(tmp_path):
    """Begin a run in pieces."""
    opened = []

    def begin(paths, scheme=None, *, block=1 << 20, size=1 << 20, columns=(), **policy):
        request = Request(columns=columns)
        journal = Journal.open(tmp_path / f"work{len(opened)}", {})
        opened.append(journal)
        salt = np.array([1, 2], np.uint64)
        shards = Shards.opened(inputs_of(paths, request), request).cut(size)
        return Job(journal, shards, scheme or MinHash(), Policy(**policy), salt, block)

    yield begin
    for journal in opened:
        journal.close()


@pytest.fixture
def nearly_finished(tmp_path, sources, interrupted_at):
    """Begin a run that is interrupted when all is written."""

    def begin(out, **options):
        with interrupted_at(Journal, "finish"):
            dedup_files(sources, out, work=tmp_path / "w", **options)

    return begin
