import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from json_lines import read_lines, write_lines

STORM = "the storm broke over the harbour at dawn and the boats were lost"
OF_SIGNATURES = ("--recall", "--permutations", "--bands", "--bits", "--relative-to")


@pytest.fixture
def pages(tmp_path):
    rows = [
        ("a", STORM),
        ("b", f"{STORM} too"),
        ("c", "rye and water and time"),
        ("d", f"{STORM}. {' '.join(f'more{n}' for n in range(40))}"),
    ]
    text = "".join(json.dumps({"id": own, "text": text}) + "\n" for own, text in rows)
    (tmp_path / "pages.jsonl").write_text(text + "{broken\n")
    write_lines(tmp_path / "others.jsonl", [{"id": "x", "text": STORM}])
    return tmp_path


def test_pairs_are_written(neardup, pages):
    shown = neardup("pairs", "pages.jsonl", "--out", "pairs.jsonl", code=1)
    assert "1  pair, resemblance at least 0.6" in shown.out
    (one,) = read_lines(pages / "pairs.jsonl")
    assert (one["left"], one["right"], one["left_position"], one["right_position"]) == ("a", "b", 0, 1)
    assert "exists" in neardup("pairs", "pages.jsonl", "--out", "pairs.jsonl", code=2).err
    told = neardup(
        "pairs", "pages.jsonl", "--clusters", "--threshold", "0.2", "--out", "p.parquet", "--json", code=1
    ).json
    assert (told["documents"], told["pairs"]) == (4, 3)
    assert pq.read_table(pages / "p.parquet")["cluster"].to_pylist() == [0, 0, 0]


def test_a_threshold_that_no_signature_could_find(neardup, pages):
    for more in ((), ("--work", "work")):
        given = ("--threshold", "0.01", "--out", "p.jsonl", "--force", *more)
        assert "3  pairs, resemblance at least 0.01" in neardup("pairs", "pages.jsonl", *given, code=1).out


def test_two_collections_and_containment(neardup, pages):
    ways = ("--measure", "containment", "--threshold", "0.9", "--out", "p.jsonl")
    neardup("pairs", "others.jsonl", "pages.jsonl", *ways, code=1)
    found = read_lines(pages / "p.jsonl")
    assert [(one["left"], one["right"]) for one in found] == [("x", "a"), ("x", "b"), ("x", "d")]


def test_presets_go_with_every_measure(neardup, pages):
    shown = neardup("pairs", "pages.jsonl", "--preset", "rewrites", "--out", "p.jsonl", code=1)
    assert "preset rewrites: --shingle 2 --threshold 0.5" in shown.err
    assert "pair, resemblance at least 0.5" in shown.out
    given = ("--preset", "strict", "--measure", "overlap", "--threshold", "0.4", "--out", "q.jsonl")
    shown = neardup("pairs", "pages.jsonl", *given, code=1)
    assert "preset strict: --shingle 5\n" in shown.err
    assert "overlap at least 0.4" in shown.out


def test_cosines_of_words(neardup, pages):
    given = ("--measure", "cosine", "--scheme", "simhash", "--threshold", "0.9")
    shown = neardup("pairs", "pages.jsonl", *given, "--out", "cosines.jsonl", code=1)
    assert "1  pair, cosine at least 0.9" in shown.out
    (one,) = read_lines(pages / "cosines.jsonl")
    assert (one["left"], one["right"], one["cosine"]) == ("a", "b", pytest.approx(19 / (19 * 20) ** 0.5))


@pytest.mark.parametrize("way", [(), ("--work", "work")])
def test_the_default_threshold_is_that_of_the_scheme_for_every_measure(neardup, pages, way):
    given = ("pairs", "pages.jsonl", "--out", "pairs.jsonl", "--force", *way, "--measure", "containment")
    for scheme, threshold in (("minhash", "0.6"), ("fracminhash", "0.8"), ("sentences", "0.5")):
        assert f"containment at least {threshold}\n" in neardup(*given, "--scheme", scheme, code=1).out


@pytest.mark.parametrize("way", [(), ("--work", "work")])
def test_records_without_a_text_are_reported(neardup, pages, way):
    (pages / "some.jsonl").write_text(
        json.dumps({"id": "a", "text": STORM}) + '\n{"id": "b"}\n{"id": "c", "text": null}\n'
    )
    shown = neardup("pairs", "some.jsonl", "--out", "pairs.jsonl", *way).out
    assert "2  without text: field 'text' missing or null, first in some.jsonl:2" in shown
    found = neardup("pairs", "some.jsonl", "--out", "pairs.jsonl", "--force", "--json", *way).json
    assert found["without_text"]["records"] == 2


def test_in_a_work_folder(neardup, pages):
    given = ("--threshold", "0.2", "--clusters", "--json")
    told = neardup("pairs", "pages.jsonl", *given, "--out", "p.jsonl", code=1).out
    pieces = ("--work", "work", "--memory", "100M")
    assert neardup("pairs", "pages.jsonl", *given, *pieces, "--out", "q.jsonl", code=1).out == told
    assert (pages / "q.jsonl").read_text() == (pages / "p.jsonl").read_text()
    assert not (pages / "work").exists()


def test_a_collection_is_not_compared_with_itself(neardup, pages):
    for pieces in ([], ["--work", "work"]):
        shown = neardup("pairs", "others.jsonl", "./others.jsonl", "--out", "p.jsonl", *pieces, code=2).err
        assert "./others.jsonl is the same as others.jsonl; name each input once" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--memory 256 --work w", "--memory 256: the value must be an integer of at least 64,000,000 (bytes)"),
        ("--memory 1G", "--memory 1G can only be used with a work folder (--work DIR)\n"),
        ("--restart", "--restart can only be used with a work folder (--work DIR)\n"),
        ("pages.jsonl --clusters", "two collections"),
        ("--scheme checksum", "compares fields; pairs compares texts"),
        ("--out p.txt", ".parquet"),
        ("--threshold 0", "--threshold 0: "),
        *((f"{name} 3", f"unknown option {name}") for name in OF_SIGNATURES),
    ],
)
def test_wrong_usage_is_reported(neardup, pages, options, message):
    out = () if "--out" in options else ("--out", "p.jsonl")
    assert message in neardup("pairs", "others.jsonl", *options.split(), *out, code=2).err


def test_options_of_features_are_used(neardup, pages):
    given = [
        "pairs",
        "pages.jsonl",
        "--out",
        "p.jsonl",
        "--force",
        "--scheme",
        "trials",
        "--threshold",
        "0.9",
        "--json",
    ]
    assert [neardup(*given, "--words", number, code=1).json["pairs"] for number in "16"] == [1, 0]


def test_options_of_signatures_are_not_listed(neardup):
    assert not [name for name in OF_SIGNATURES if name in neardup("pairs", "--help").out]


def test_a_file_of_settings_may_have_options_of_signatures(neardup, pages):
    Path("s.toml").write_text("[recipe]\npermutations = 64\n[policy]\nthreshold = 0.7\n")
    assert "resemblance at least 0.7" in neardup("pairs", "others.jsonl", "--out", "p.jsonl", "--config", "s.toml").out
