"""Random inputs of several kinds, in batches: an index has the representatives of runs with a state."""

import csv
import random

import pytest
from archives_made import http, record
from json_lines import write_lines

from neardup import Checksum, Field, Index, MinHash, Sentences, dedup_files
from neardup.pipeline.files.ingestion import add_files
from neardup.web_pages import Extraction, learn_templates

WORDS = [f"word{number}" for number in range(30)]
FIELDS = [Field(name="title"), Field(name="note", required=False), Field(name="body", limit=30)]
SCHEMES = (MinHash(shingle=1, threshold=0.5), Sentences(), Checksum(fields=FIELDS))
KINDS = ("jsonl", "bare.jsonl", "empty.jsonl", "csv", "texts", "pages", "warc", "empty.warc")


def records(chance, name):
    known = [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in range(3)]
    for number in range(chance.randint(1, 6)):
        words = chance.choice(known).split()
        words[chance.randrange(len(words))] = chance.choice(WORDS)
        yield {"id": f"{name}-{number}", "title": chance.choice(["A", "B"]), "text": " ".join(words)}


def written(chance, folder, name, kinds):
    """Write an input of one of the *kinds*; return its path."""
    kind, rows = chance.choice(kinds), [*records(chance, name)]
    path = folder / f"{name}.{kind}"
    if chance.random() < 0.5:
        rows = [{**row, "note": chance.choice(["x", "y"])} for row in rows]
    if kind == "csv":
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, [*rows[0]])
            table.writeheader()
            table.writerows(rows)
    elif kind.endswith("jsonl"):
        rows = [{"text": row["text"]} for row in rows] if kind == "bare.jsonl" else rows
        write_lines(path, [] if kind == "empty.jsonl" else rows)
    elif kind.endswith("warc"):
        pages = [http(f"<title>{row['title']}</title><p>{row['text']}".encode()) for row in rows]
        about = {"headers": ["Content-Type: application/http"]}
        found = [
            record(uri=f"http://{name}.example/{number}", number=number, block=page, **about)
            for number, page in enumerate(pages)
        ]
        path.write_bytes(record("warcinfo", uri=None) + b"".join([] if kind == "empty.warc" else found))
    else:
        path.mkdir()
        for number, row in enumerate(rows):
            page = f"<title>{row['title']}</title><p>{row['text']}"
            (path / f"{number}.{'txt' if kind == 'texts' else 'html'}").write_text(
                row["text"] if kind == "texts" else page
            )
    return path


def reading(chance):
    """Return options for reading, and the kinds of the first input of a batch, for which they are allowed."""
    templates = {"extraction": Extraction(templates=learn_templates([]))}
    return chance.choice(
        [({}, ("warc", "empty.warc")), ({"learn_templates": False}, KINDS), (templates, KINDS[KINDS.index("texts") :])]
    )


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 1000), marks=pytest.mark.soak)], ids=len)
def test_an_index_of_mixed_inputs_decides_as_runs_with_a_state(tmp_path, seeds):
    compared = 0
    for seed in seeds:
        chance, folder = random.Random(seed), tmp_path / str(seed)
        folder.mkdir()
        scheme, (options, kinds), decisions = chance.choice(SCHEMES), reading(chance), []
        for batch in "ab":
            whole = folder / f"{batch}.jsonl"  # the fields of the scheme must be in some file
            write_lines(whole, [{"id": batch, "title": "A", "note": "x", "text": f"one two {batch}"}])
            inputs = [written(chance, folder, f"{batch}0", kinds), written(chance, folder, f"{batch}1", KINDS), whole]
            done = dedup_files(inputs, scheme=scheme, state=folder / "state", **options)
            decisions += done.result.decisions.to_pylist()
            add_files(inputs, folder / "index", scheme=scheme, texts=True, **options)
        expected = {row["id"]: row["representative"] or row["id"] for row in decisions}
        with Index.open(folder / "index") as index:
            assert len(index) == len(expected), seed
            found = {document.id: document.representative for document in index.get([*expected])}
        assert found == expected, (seed, scheme, options)
        compared += len(found)
    assert compared > 100
