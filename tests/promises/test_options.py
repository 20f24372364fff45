"""Random sets of options of ``dedup``: in memory and in pieces, they are refused in the same words or decide alike."""

import csv
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.interfaces.cli import main

WORDS = [f"word{number}" for number in range(60)]
OPTIONS = {
    "--scheme": ["minhash", "fracminhash", "trials", "sentences", "simhash", "combined", "checksum"],
    "--measure": ["resemblance", "containment", "overlap", "cosine"],
    "--preset": ["rewrites", "copies", "strict", "code", "short"],
    "--threshold": ["0.05", "0.3", "0.6", "0.9", "1"],
    "--short": ["5", "20"],
    "--short-threshold": ["0.9", "1"],
    "--shingle": ["1", "2", "5"],
    "--permutations": ["16", "200"],
    "--recall": ["0.5", "0.99"],
    "--bands": ["1", "8", "20"],
    "--bag": [],
    "--unit": ["letter", "word", "line", "sentence"],
    "--stem": ["english", "german"],
    "--min-length": ["3"],
    "--normalization": ["NFC", "NFKC", "none"],
    "--symbols": ["count", "separate"],
    "--stop-words": ["word1,word3"],
    "--scaled": ["1", "4"],
    "--size": ["8", "64"],
    "--words": ["1", "3"],
    "--hashes": ["4"],
    "--trials": ["3"],
    "--needed": ["1"],
    "--relative-to": ["union", "smaller"],
    "--distance": ["1", "8"],
    "--bits": ["32", "128"],
    "--blocks": ["4", "6"],
    "--fields": ["title", "title,text:100", "score"],
    "--contribution": ["lang"],
    "--seed": ["2"],
    "--key-file": ["key"],
    "--ignore-common": ["0.1", "0.3"],
    "--common": ["list.npz"],
    "--keep": ["first", "last", "longest", "shortest", "max:score", "min:score,last", "canonical", "https,shortest-id"],
    "--verify": ["exact", "estimate", "none"],
    "--gather": ["kept", "components"],
    "--representative": ["best-ranked", "closest"],
    "--id": ["id", "title"],
    "--text": ["text", "title"],
    "--threads": ["1", "2"],
    "--strict": [],
    "--json": [],
}
OUTPUTS = {"--out": "out.jsonl", "--dropped": "dropped.jsonl", "--mark": "marked.jsonl"}


def collection(chance):
    """Return some records: edited copies, many with a common beginning, some without a text."""
    beginning = chance.choices(WORDS, k=12)
    originals = [chance.choices(WORDS, k=chance.randint(1, 40)) for _ in range(6)]
    number = chance.randint(3, 30)
    for place in range(number):
        own = [*chance.choice(originals)]
        for _ in range(chance.randint(0, 3)):
            own[chance.randrange(len(own))] = chance.choice(WORDS)
        text = " ".join([*(beginning if chance.random() < 0.4 else ()), *own])
        if chance.random() < 0.2:
            text = text.replace(" ", ". ", 3)
        yield {
            "id": f"http://h{chance.randrange(3)}.example/p{place}",
            "text": text if chance.random() < 0.95 else "",
            "title": chance.choice(["A title", "Other title here", "x"]),
            "score": chance.choice([1, 2, 3]),
            "canonical": f"http://h0.example/p{chance.randrange(number)}",
            "lang": chance.choice(["en", "de"]),
        }


def written(records, kind):
    """Write records into a file of the current folder, and return its name."""
    name = f"records.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records), name, row_group_size=7)
        return name
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        if kind == "csv":
            rows = csv.DictWriter(file, [*records[0]])
            rows.writeheader()
            rows.writerows(records)
        else:
            file.writelines(json.dumps(record) + "\n" for record in records)
    return name


@pytest.fixture
def outcome(capfd):
    """Run a command in this process; return its exit code, and what it wrote to standard error."""

    def run(*arguments):
        capfd.readouterr()
        try:
            code = main([*arguments])
        except SystemExit as stop:
            code = stop.code
        return code, capfd.readouterr().err

    return run


@pytest.mark.parametrize("sets", [range(40), pytest.param(range(40, 4000), marks=pytest.mark.soak)], ids=len)
def test_random_sets_of_options_are_refused_or_decide_alike(sets, tmp_path, monkeypatch, outcome):
    refused = 0
    for number in sets:
        chance = random.Random(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        (folder / "key").write_text("00112233445566778899aabbccddeeff")
        source = written([*collection(chance)], chance.choice(["jsonl", "csv", "parquet"]))
        names = chance.sample([*OPTIONS], chance.randint(1, 4))
        options = [part for name in names for part in (name, *chance.sample(OPTIONS[name], min(1, len(OPTIONS[name]))))]
        if {"--common", "--ignore-common"} & {*names} == {"--common"}:
            outcome("dedup", source, "--dry-run", "--ignore-common", "0.3", "--common", "list.npz")
        told, decisions, files = [], [], []
        for place, ways in (("memory", ()), ("pieces", ("--work", "work"))):
            folder.joinpath(place).mkdir()
            outputs = [part for name, path in OUTPUTS.items() for part in (name, f"{place}/{path}")]
            outputs += ["--report", f"{place}/why.parquet"]
            told.append(outcome("dedup", source, *outputs, *options, *ways, "--force"))
            if told[-1][0] == 0:
                decisions.append(pq.read_table(f"{place}/why.parquet"))
                files.append([folder.joinpath(place, path).read_text("utf-8") for path in OUTPUTS.values()])
        codes = [code for code, _ in told]
        assert codes in ([0, 0], [2, 2]), (number, options, told)
        if codes[0]:
            assert told[0][1] == told[1][1], (number, options)
            assert "neardup: " in told[0][1], (number, options)
            refused += 1
            continue
        assert decisions[0].equals(decisions[1]), (number, options)
        assert files[0] == files[1], (number, options)
        kept, dropped, marked = (text.splitlines() for text in files[0])
        assert len(kept) + len(dropped) == len(marked) == len(decisions[0]), (number, options)
        shutil.rmtree(folder)
    assert 0 < refused < len(sets)
