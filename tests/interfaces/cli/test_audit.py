import json

import pytest
from audits import TEXTS


@pytest.fixture
def pages(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    return path


def test_what_a_run_missed_is_printed_and_drawn(neardup, pages, tmp_path):
    neardup("dedup", pages, "--dry-run", "--report", "why.parquet", "--recall", "0.5")
    shown = neardup("audit", pages, "--of", "why.parquet", "--recall", "0.5", "--report", "audit.html").out
    assert shown.splitlines()[0] == f"{len(TEXTS)} of {len(TEXTS)} documents drawn and compared with all kept documents"
    assert "by the law of minhash" in shown
    assert "missed documents, the closest ones first:" in shown
    assert "Look at these first" in (tmp_path / "audit.html").read_text()
    assert "exists" in neardup("audit", pages, "--of", "why.parquet", "--report", "audit.html", code=2).err
    neardup("audit", pages, "--of", "why.parquet", "--recall", "0.5", "--report", "a.json", "--until", "50%")
    assert json.loads((tmp_path / "a.json").read_text())["missed"][0]["text"] in TEXTS


def test_without_a_report_the_inputs_are_deduplicated_first(neardup, pages):
    found = json.loads(neardup("audit", pages, "--sample", "100", "--draw", "2", "--json").out)
    assert (found["sample"], found["recall"]["value"], found["needed"]) == (100, 1.0, None)


def test_a_state_has_recorded_the_options(neardup, pages):
    neardup(
        "dedup",
        pages,
        "--state",
        "crawls",
        "--out",
        "kept.jsonl",
        "--report",
        "why.parquet",
        "--recall",
        "0.5",
        "--keep",
        "last",
    )
    options = ["--sample", "100", "--json"]
    expected = neardup("audit", pages, "--of", "why.parquet", "--recall", "0.5", "--keep", "last", *options).out
    assert neardup("audit", pages, "--of", "crawls", *options).out == expected
    assert neardup("audit", pages, "--of", "crawls", "--recall", "0.5", *options).out == expected
    shown = neardup("audit", pages, "--of", "crawls", "--recall", "0.7", code=2).err
    assert "added with other settings" in shown


def test_wrong_uses_are_explained(neardup, pages):
    assert "must end in .html or .htm or .json" in neardup("audit", pages, "--report", "x.txt", code=2).err
    assert "--sample 0" in neardup("audit", pages, "--sample", "0", code=2).err
