import json
import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Checksum, Combined, hamming
from neardup.evaluation.plans import plan
from neardup.evaluation.tables import plan_tables
from neardup.interfaces.cli import main
from neardup.interfaces.cli.plan import LEAST_WIDTH, draw, legend

VALUES = [step / 20 for step in range(21)]
RISING = [step / 20 for step in range(21)]
FLAT = [0.5] * 21


def test_without_options_it_is_the_classic_table(neardup):
    shown = neardup("plan")
    assert shown.out == f"{plan()}\n"
    assert shown.err == ""


@pytest.mark.parametrize(
    ("options", "numbers"), [("", {}), ("--hashes 10 --trials 8 --needed 3", {"hashes": 10, "trials": 8, "needed": 3})]
)
def test_a_scheme_is_a_table_and_a_curve(neardup, monkeypatch, options, numbers):
    monkeypatch.setenv("COLUMNS", "60")
    shown = neardup("plan", "--scheme", "trials", *options.split()).out
    table = str(plan("trials", **numbers))
    assert shown.startswith(table)
    drawing = shown.removeprefix(table).splitlines()
    assert max(map(len, drawing)) <= 60
    assert "100 % |" in shown
    assert drawing[-1].endswith("match")
    assert "\x1b" not in shown


@pytest.mark.parametrize("scheme", ["minhash", "simhash", "sentences"])
def test_each_scheme_is_drawn(neardup, scheme):
    assert neardup("plan", "--scheme", scheme).out.startswith(str(plan(scheme)))


@pytest.mark.parametrize("scheme", [Combined(), Checksum()], ids=lambda scheme: scheme.name)
def test_some_are_drawn_with_their_defaults(neardup, scheme):
    assert neardup("plan", "--scheme", scheme.name).out.startswith(str(plan(scheme)))
    told = f"--scheme {scheme.name}: the value must be one of minhash, trials, simhash"
    assert told in neardup("plan", "--scheme", scheme.name, "--threshold", "0.8", "--recall", "0.9", code=2).err
    told = f"--hashes 3 cannot be used with --scheme {scheme.name}: a plan of {scheme.name} uses its defaults"
    assert told in neardup("plan", "--scheme", scheme.name, "--hashes", "3", code=2).err


def test_curves_are_drawn(neardup):
    assert "* match   + candidate   o both" in neardup("plan", "--scheme", "minhash").out


@pytest.mark.parametrize("options", ["", "--scheme minhash --bands 20", "--threshold 0.8 --recall 0.9"])
def test_json_is_everything(neardup, options):
    shown = neardup("plan", *options.split(), "--json").json
    assert {"scheme", "parameters", "layout", "curves", "recommendations", "requirements"} <= set(shown)
    assert shown["curves"][0]["values"]


def options_of(found):
    pairs = ((f"--{name}", str(value)) for name, value in found.parameters.items())
    return ["--scheme", found.scheme, *(word for pair in pairs for word in pair)]


def test_recommendations_come_with_what_uses_them(neardup):
    wanted = ["--threshold", "0.8", "--recall", "0.99", "--false-rate", "0.2", "--documents", "30000000"]
    shown = neardup("plan", *wanted, "--apart", "0.3", "--background", "0.01").out
    made = plan(threshold=0.8, recall=0.99, false_rate=0.2, documents=30_000_000, apart=0.3, background=0.01)
    assert shown.startswith(f"{made}\n")
    assert f"neardup dedup FILE --out KEPT {' '.join(options_of(made.recommendations[0]))}\n" in shown


def test_large_collections_are_warned_of(neardup):
    shown = neardup("plan", "--documents", "40e6").out
    made = plan(documents=40_000_000)
    assert shown.startswith(f"{made}\n")
    first = (
        "With these parameters, pairs are missed among 40,000,000 documents: each bucket has 2,818 unrelated documents"
    )
    assert shown.startswith(f"{first}, and room for 64.\nBetter: {made.smaller.words}\n")
    assert f"Use these parameters:  neardup dedup FILE --out KEPT {' '.join(options_of(made.smaller))}\n" in shown
    assert f"and {made.smaller.bytes:,} bytes per document.\n" in shown
    assert "This assumes that the resemblance of any two unrelated documents is 0.05.\n" in shown
    assert shown.endswith("--background\n")


def test_parameters_with_full_buckets_are_not_recommended_to_use(neardup):
    shown = neardup("plan", "--threshold", "0.3", "--recall", "0.95", "--documents", "1e6").out
    assert shown.startswith(
        "All of these parameters miss more pairs than listed among 1,000,000 documents: each bucket has"
    )
    assert shown.endswith("\nAnother resemblance of unrelated documents: --background\n")
    assert "These recalls hold" not in shown
    assert "Use the first" not in shown


def test_below_recommendations_it_says_what_they_hold_for(neardup):
    said = "These recalls hold for --verify exact, the default; with --verify estimate fewer pairs are found.\n"
    assert f"{said}Use the first:" in neardup("plan", "--threshold", "0.8", "--recall", "0.9").out


def test_a_proposal_of_minhash_can_be_used(neardup, tmp_path):
    options = options_of(plan("minhash", threshold=0.8, recall=0.99).recommendations[0])
    file = tmp_path / "a.txt.jsonl"
    file.write_text('{"text": "one two three four"}\n{"text": "One two three four!"}\n')
    assert neardup("dedup", file, "--dry-run", "--json", *options).json["kept"] == 1


def test_a_drawing_is_written_once(neardup, tmp_path):
    path = tmp_path / "curve.svg"
    neardup("plan", "--scheme", "minhash", "--svg", path)
    first = path.read_bytes()
    assert ET.fromstring(first).tag.endswith("svg")  # noqa: S314 - our own
    assert "--force" in neardup("plan", "--svg", path, code=2).err
    assert path.read_bytes() == first
    neardup("plan", "--svg", path, "--force")
    assert path.read_bytes() != first
    assert [one.name for one in tmp_path.iterdir()] == ["curve.svg"]


def test_a_drawing_of_recommendations_is_of_the_cheapest(neardup, tmp_path):
    path = tmp_path / "curve.svg"
    neardup("plan", "--threshold", "0.8", "--recall", "0.9", "--scheme", "minhash", "--svg", path)
    title = ET.fromstring(path.read_bytes()).find("{http://www.w3.org/2000/svg}title").text  # noqa: S314 - our own
    assert title.startswith("minhash: permutations ")
    assert "threshold 80 %" in path.read_text("utf-8")


@pytest.mark.parametrize("name", ["curve.png", "missing/curve.svg", "."])
def test_a_drawing_needs_a_place(neardup, tmp_path, name):
    assert neardup("plan", "--svg", tmp_path / name, code=2).out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_on_standard_output_leaves_the_table_to_standard_error(neardup):
    shown = neardup("plan", "--svg", "-")
    assert ET.fromstring(shown.out).tag.endswith("svg")  # noqa: S314 - our own
    assert shown.err.splitlines()[-1] == "14 hashes are the default."


def test_a_closed_standard_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["plan", "--svg", "-"]) == 2
    assert main(["plan", "--scheme", "trials"]) == 0
    capsys.readouterr()
    assert main(["plan", "--json"]) == 2
    assert "neardup: standard output: it is closed" in capsys.readouterr().err


def test_designs_of_fingerprint_tables(neardup):
    shown = neardup("plan", "--fingerprints", "2^34")
    assert shown.out == f"{plan_tables(2**34, 3)}\n"
    assert shown.err == ""
    shown = neardup("plan", "--fingerprints", "20M", "--distance", "4", "--memory", "1GB").out
    assert shown == f"{plan_tables(20_000_000, 4, memory=10**9)}\n"
    found = json.loads(json.dumps(plan_tables(10**9).as_dict()))
    assert neardup("plan", "--fingerprints", "1B", "--json").json == found


def test_designs_by_what_lookups_cost_here(neardup, monkeypatch):
    costs = hamming.Costs(probe=1, spread=2, compare=3)
    monkeypatch.setattr(hamming, "measured_costs", lambda: costs)
    assert neardup("plan", "--fingerprints", "20M", "--measure").out == f"{plan_tables(20_000_000, costs=costs)}\n"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--fingerprints 20M --scheme minhash", "--scheme minhash cannot be used with --fingerprints"),
        ("--fingerprints 20M --recall 0.9", "--recall 0.9 cannot be used with --fingerprints"),
        ("--fingerprints 20M --bits 64", "--bits 64 cannot be used with --fingerprints"),
        ("--fingerprints 20M --documents 5", "--documents 5 cannot be used with --fingerprints"),
        ("--fingerprints 20M --svg a.svg", "--svg a.svg cannot be used with --fingerprints"),
        ("--fingerprints 20M --force", "--force cannot be used with --fingerprints"),
        ("--fingerprints 20M --distance 8", "--distance 8: the value must be an integer from 0 to 7"),
        ("--fingerprints 0", "--fingerprints 0: the value must be an integer from 1"),
        ("--fingerprints 20M --memory 1MB", "--memory 1M: the value must be at least"),
        ("--fingerprints 20M --memory 0", "--memory 0: the value must be more than 0 bytes"),
        ("--memory 1GB", "--memory requires --fingerprints"),
        ("--measure", "--measure requires --fingerprints"),
        ("--hashes 14", "--hashes 14 requires a scheme: trials"),
        ("--threshold 0.8", "--threshold 0.8 requires a recall, a number of documents, or a scheme: minhash"),
        ("--recall 0.8", "--recall 0.8 requires a threshold, such as 0.8"),
        (
            "--scheme trials --permutations 8",
            "--permutations 8 cannot be used with --scheme trials: its parameters are hashes, trials, needed",
        ),
        ("--threshold 0.8 --recall 0.9 --hashes 3", "--hashes 3 cannot be used with --recall 0.9: a plan"),
        ("--threshold 0.8 --recall 0.99 --scheme simhash", "--recall 0.99 cannot be reached"),
        (
            "--scheme simhash --threshold 0.8",
            "--scheme simhash: its parameters are distance, bits, blocks; a threshold",
        ),
        ("--apart 0.5 --documents 5", "--apart 0.5 requires a threshold and a recall"),
        ("--background 0.1", "--background 0.1 requires a recall or a number of documents"),
        ("--documents 0", "--documents 0: the value must be an integer from 1"),
        (
            "--documents 5 --background 0.6",
            "--background 0.6: the value must be a number of at least 0 and below the threshold, 0.6",
        ),
        ("--scheme simhash --documents 5 --background 1", "below 1\n"),
        ("--force", "--force requires --svg"),
    ],
)
def test_wrong_options_are_reported(neardup, options, complaint):
    shown = neardup("plan", *options.split(), code=2)
    assert shown.out == ""
    assert complaint in shown.err
    assert len(shown.err) < 500


@pytest.mark.parametrize(
    "options", ["--scheme checksums", "--hashes many", "--documents many", "--fingerprints x", "more"]
)
def test_invalid_values_and_arguments_are_refused(neardup, options):
    assert "neardup: " in neardup("plan", *options.split(), code=2).err.replace("neardup plan", "neardup")


def test_only_close_names_of_options_are_proposed(neardup):
    assert (
        "unknown option --short; it is an option of dedup, compare, audit and others; see"
        in neardup("plan", "--short", code=2).err
    )
    assert "did you mean --fingerprints?" in neardup("plan", "--fingerprint", "3", code=2).err


def test_the_help_names_every_scheme_of_a_parameter(neardup):
    shown = neardup("plan", "--help").plain
    assert "fracminhash: maximum number of shingles in a signature (default: 512); sentences: sentence hashes" in shown


def test_a_number_is_shown_with_all_its_digits(neardup):
    assert "recall 0.9999999," in neardup("plan", "--threshold", "0.8", "--recall", "0.9999999").out
    assert "--recall 1.0000001: " in neardup("plan", "--threshold", "0.8", "--recall", "1.0000001", code=2).err


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=21, max_size=21), min_size=1, max_size=4),
    st.integers(-5, 120),
    st.integers(0, 30),
)
def test_it_stays_in_its_frame(curves, width, height):
    lines = draw(VALUES, curves, width=width, height=height)
    assert len(lines) == max(height, 2) + 2
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)
    assert all(line.isascii() for line in lines)


def test_a_rising_line_is_drawn_on_the_diagonal():
    lines = draw(VALUES, [RISING], width=28, height=21)
    rows = [line[7:] for line in lines[:21]]
    assert all(set(row) <= {" ", "*"} for row in rows)
    assert [row.rindex("*") for row in rows] == list(range(20, -1, -1))


def test_curves_are_distinct_without_colours():
    lines = draw(VALUES, [RISING, FLAT], width=40, height=9)
    assert {"*", "+"} <= set("".join(lines))
    assert legend(["match", "candidate"]) == "* match   + candidate"


@pytest.mark.parametrize(("low", "shown"), [(0.0, "0 %"), (0.8, "80 %")])
def test_axes_say_what_they_span(low, shown):
    lines = draw([low, 1.0], [[0.0, 1.0]], width=30, height=5)
    assert lines[-1].strip().startswith(shown)
    assert lines[-1].endswith("100 %")
    assert [line[:5].strip() for line in lines[:5]] == ["100 %", "", "50 %", "", "0 %"]
