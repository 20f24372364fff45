import json
import re

import pytest
from audits import TEXTS
from json_lines import write_lines


@pytest.fixture
def pages(tmp_path):
    return write_lines(tmp_path / "pages.jsonl", [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)])


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
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "why.parquet").read_bytes()[:-9])
    shown = neardup("audit", pages, "--of", "cut.parquet", code=1).err
    assert shown.endswith("; or repeat the run and then the audit\n")


def test_a_list_that_a_report_does_not_record_is_named_with_common(neardup, pages):
    wanted = ("dedup", pages, "--dry-run", "--report", "why.parquet", "--ignore-common", "0.5")
    neardup(*wanted)
    shown = neardup("audit", pages, "--of", "why.parquet", code=2).err
    assert "repeat the run with --ignore-common S --common FILE, which writes it" in shown
    neardup(*wanted, "--common", "list.npz", "--force")
    assert "recall" in neardup("audit", pages, "--of", "why.parquet", "--common", "list.npz").out


def test_settings_that_an_audit_without_a_report_does_not_use_are_named(neardup, pages, tmp_path):
    (tmp_path / "s.toml").write_text(
        "[policy]\nverify = 'none'\ngather = 'components'\nrepresentative = 'best-ranked'\n"
    )
    shown = neardup("audit", pages, "--config", "s.toml").err
    assert "settings of s.toml that are not used: verify none, gather components; without --of, an audit makes" in shown
    neardup("dedup", pages, "--config", "s.toml", "--dry-run", "--report", "why.jsonl")
    assert neardup("audit", pages, "--config", "s.toml", "--of", "why.jsonl").err == ""
    assert "neardup: why.jsonl does not record the options of its run, so the defaults were used; if the run had" in (
        neardup("audit", pages, "--of", "why.jsonl").err
    )
    (tmp_path / "s.toml").write_text("[policy]\nverify = 'exact'\n")
    assert "not used" not in neardup("audit", pages, "--config", "s.toml").err


def test_the_name_of_standard_input(neardup):
    assert neardup("audit", "-", code=1, stdin=b"").err.startswith("neardup: <stdin>: there are no documents to audit")
    assert neardup("audit", "-", code=1, stdin=b"x\n").err.startswith("neardup: <stdin>: its only record, <stdin>:1, ")


def test_documents_dropped_for_earlier_ones_are_counted(neardup, pages):
    (pages.parent / "first.jsonl").write_text("".join(pages.read_text().splitlines(keepends=True)[::2]))
    neardup("dedup", pages, "--dry-run", "--report", "why.jsonl", "--against", "first.jsonl")
    shown = neardup("audit", pages, "--of", "why.jsonl").out
    assert re.search(r"\d+ documents dropped for documents of earlier runs, which are not in the inputs; they", shown)


def test_without_a_report_the_inputs_are_deduplicated_first(neardup, pages):
    found = neardup("audit", pages, "--sample", "100", "--draw", "2", "--json").json
    assert (found["sample"], found["recall"]["value"], found["needed"]) == (100, 1.0, None)


@pytest.mark.parametrize("way", [(), ("--work", "work", "--keep-work")])
def test_documents_without_a_text_are_reported(neardup, tmp_path, way):
    (tmp_path / "some.jsonl").write_text('{"text": "one two three four"}\n{"body": "a"}\n{"text": null}\n')
    neardup("dedup", "some.jsonl", "--out", "kept.jsonl", *way)
    of = ("--of", way[1]) if way else ()
    assert "2 documents without text, which match nothing" in neardup("audit", "some.jsonl", *of).out
    assert neardup("audit", "some.jsonl", *of, "--json").json["without_text"] == 2


def test_rejected_records_are_reported(neardup, pages, tmp_path):
    with pages.open("a") as file:
        file.write("{\n[]\n")
    neardup("dedup", pages, "--out", "kept.jsonl", "--report", "why.jsonl", code=1)
    neardup("dedup", pages, "--dry-run", "--work", "work", "--keep-work", code=1)
    for of in ([], ["--of", "why.jsonl"], ["--of", "work"]):
        shown = neardup("audit", pages, *of, "--sample", "50", code=1).out
        assert "2 records rejected, in no figure; neardup dedup lists them" in shown
        assert neardup("audit", pages, *of, "--sample", "50", "--json", code=1).json["rejected"] == 2
    (tmp_path / "broken.jsonl").write_text("7\n")
    assert "its only record, " in neardup("audit", "broken.jsonl", code=1).err


def test_a_work_folder_has_recorded_the_options(neardup, pages, tmp_path):
    wanted = ("--recall", "0.5", "--keep", "last")
    neardup("dedup", pages, "--dry-run", "--report", "why.parquet", "--work", "work", "--keep-work", *wanted)
    options = ["--sample", "100", "--json"]
    expected = neardup("audit", pages, "--of", "why.parquet", *wanted, *options).out
    assert neardup("audit", pages, "--of", "work", *options).out == expected
    assert neardup("audit", pages, "--of", "work", "--recall", "0.5", *options).out == expected
    assert "leave them out: they are recorded" in neardup("audit", pages, "--of", "work", "--recall", "0.7", code=2).err
    shown = neardup("dedup", pages, "--out", "kept.jsonl", "--work", "work", "--shingle", "2", *wanted, code=2).err
    assert "--shingle was 3 and is 2; the same command with --restart begins again" in shown
    neardup("dedup", pages, "--out", "kept.jsonl", "--work", "work", *wanted)
    assert not (tmp_path / "work").exists()
    assert "work" in neardup("audit", pages, "--of", "work", code=2).err


def test_a_kept_work_folder_is_named_and_its_inputs_must_be_unchanged(neardup, pages):
    shown = neardup("dedup", pages, "--dry-run", "--work", "a work", "--keep-work").out
    assert "the work folder 'a work' is kept" in shown
    with pages.open("a") as file:
        file.write("\n")
    shown = neardup("audit", pages, "--of", "a work", code=1).err
    assert "restore it, with its modification time, as an audit reads what the run has read; or repeat" in shown


@pytest.mark.parametrize("options", [["--text", "body"], ["--strict"], ["--max-bytes", "1G"], ["--quoting", "none"]])
def test_options_for_reading_that_a_work_folder_has_recorded(neardup, pages, options):
    neardup("dedup", "pages.jsonl", "--dry-run", "--work", "work", "--keep-work")
    shown = neardup("audit", "pages.jsonl", "--of", "work", *options, code=2).err
    assert f"{options[0]}" in shown
    assert "cannot be used with --of work, which has recorded how the inputs were read" in shown


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("audit pages.jsonl --of why.html", "name the report of a run: neardup dedup"),
        ("audit why.html", "to read text or HTML files, name their folder"),
        ("audit pages.jsonl --report x.txt", "must end in .html or .htm or .json"),
        ("audit pages.jsonl --sample 0", "--sample 0"),
        ("audit pages.jsonl --draw -1", "--draw -1: the value must be"),
        ("tune labels.jsonl --draw -1", "--draw -1: the value must be"),
        ("label pages.jsonl --out labels.jsonl --draw -1", "--draw -1: the value must be"),
        ("dedup pages.jsonl --out k.jsonl --keep-work --work w --state s", "--keep-work cannot be used with --state"),
    ],
)
def test_wrong_uses_are_explained(neardup, pages, tmp_path, command, message):
    (tmp_path / "why.html").write_text("<p>")
    assert message in neardup(*command.split(), code=2).err


def test_verbs_that_compare_texts_refuse_a_scheme_of_fields_before_they_read(neardup, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "1", "name": "a"}\n')
    neardup("dedup", "in.jsonl", "--dry-run", "--scheme", "checksum", "--fields", "name", "--report", "why.parquet")
    rule = "--scheme checksum compares fields"
    assert rule in neardup("audit", "in.jsonl", "--of", "why.parquet", code=2).err
    assert rule in neardup("audit", "in.jsonl", "--scheme", "checksum", "--fields", "name", code=2).err
    ways = ("--scheme", "checksum", "--fields", "name", "--work", "work", "--keep-work")
    shown = neardup("dedup", "in.jsonl", "--out", "kept.jsonl", *ways).out
    assert "the work folder work is kept" in shown
    for verb in ("pairs", "label"):
        assert rule in neardup(verb, "in.jsonl", "--scheme", "checksum", "--out", "out.jsonl", code=2).err


def test_a_report_of_other_options_is_refused(neardup, pages):
    short = "--short", "500", "--short-threshold", "0.8"
    neardup("dedup", pages, "--dry-run", "--report", "sh.jsonl")
    shown = neardup("audit", pages, "--of", "sh.jsonl", "--threshold", "0.999", code=1).err
    assert "sh.jsonl: the run used another threshold: 'd" in shown
    neardup("dedup", pages, "--dry-run", "--report", "w.jsonl")
    shown = neardup("audit", pages, "--of", "w.jsonl", "--measure", "containment", code=2).err
    assert "--measure containment is not that of the run, which compared by resemblance" in shown
    neardup("dedup", pages, "--dry-run", "--report", "c.jsonl", "--scheme", "checksum", "--fields", "text:40")
    shown = neardup("audit", pages, "--of", "c.jsonl", code=2).err
    assert "--scheme minhash is not that of the run, whose scheme compares fields: equal fields are" in shown
    neardup("dedup", pages, "--dry-run", "--report", "sh.parquet", *short)
    expected = neardup("audit", pages, "--of", "sh.parquet", *short).out
    assert neardup("audit", pages, "--of", "sh.parquet").out == expected
    assert "at least 0.6, or 0.8 if one of the two has fewer than 500 shingles" in expected
    shown = neardup("audit", pages, "--of", "sh.parquet", *short[:3], "0.9", code=2).err
    assert "sh.parquet was created with other settings: short_threshold was 0.8 and is 0.9" in shown


def test_a_run_without_duplicates_has_a_precision(neardup, tmp_path):
    words = [[f"w{row}x{n}" for n in range(10)] for row in range(60)]
    texts = [" ".join(["v", *own[:3], part, *own[4:]]) for own in words for part in ("one", "other")]
    write_lines(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    few = ("--verify", "none", "--threshold", "0.6", "--permutations", "64", "--bands", "64")
    neardup("dedup", "a.jsonl", "--dry-run", "--report", "why.parquet", *few)
    shown = neardup("audit", "a.jsonl", "--of", "why.parquet").out
    assert "recall unknown: no document of the sample is a duplicate\nprecision 0 %: 0 of" in shown
