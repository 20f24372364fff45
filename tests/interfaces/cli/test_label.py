import io
import os
import pty
import sys
import termios

import pytest
from json_lines import write_lines

from neardup.interfaces.cli.label import END, key_reader
from neardup.model.labels import LabelledPair
from neardup.sources.labels import LabelFile, read_labels

WORDS = [f"w{number}" for number in range(40)]
TEXTS = [" ".join([*WORDS[:keep], *(f"{keep}x{rest}" for rest in range(40 - keep))]) for keep in range(0, 41, 4)]


@pytest.fixture
def label(neardup, tmp_path, monkeypatch):
    """Label pairs of a small collection with these lines as standard input."""
    write_lines(tmp_path / "in.jsonl", [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)])
    monkeypatch.setenv("COLUMNS", "120")

    def run(lines, *options, code=0):
        return neardup("label", *options, code=code, stdin=lines.encode())

    return run


def labels(path):
    return [one.label for one in read_labels(path)]


def test_answers_are_lines_of_a_pipe(label):
    shown = label("s\nx\nDifferent\nb\nu\nq\n", "in.jsonl", "--out", "out.jsonl")
    assert labels("out.jsonl") == ["same", "unsure"]
    assert "Pair 1 of 50 ---" in shown.out
    assert "Pair 2 of 50, labelled different ---" in shown.out
    assert shown.out.count("Unknown key") == 1
    assert shown.out.endswith("out.jsonl: 2 pairs labelled: 1 same, 0 different, 1 unsure\n")
    assert "resemblance" not in shown.out  # it would influence the answer


def test_it_continues_until_enough_pairs_have_a_label(label):
    label("s\ns\n", "in.jsonl", "--out", "out.jsonl", "--labels", "3")
    shown = label("b\nd\ns\n" + "s\n" * 9, "in.jsonl", "--out", "out.jsonl", "--labels", "3")
    assert "Pair 3 of 3" in shown.out
    assert "3 pairs as wanted; a larger --labels adds more." in shown.out
    assert labels("out.jsonl") == ["same", "different", "same"]
    assert "Pair" not in label("", "in.jsonl", "--out", "out.jsonl", "--labels", "3").out
    assert "This is the first pair." in label("b\n", "in.jsonl", "--out", "new.jsonl").out


def test_documents_that_are_left_out_are_counted(label, tmp_path):
    rows = [{"id": name, "text": f"one two three {number}"} for number, name in enumerate("aab")]
    write_lines(tmp_path / "repeated.jsonl", rows)
    shown = label("q\n", "repeated.jsonl", "--out", "out.jsonl").out
    assert "1 document left out, with the id of an earlier document\n" in shown
    assert "left out" not in label("q\n", "in.jsonl", "--out", "new.jsonl").out


def test_more_of_the_texts(label, tmp_path):
    long = [" ".join(f"{word}{number}" for number in range(400)) for word in ("a", "a", "b")]
    rows = [{"id": str(one), "text": f"{text}\n\x1b[2J{one}"} for one, text in enumerate(long)]
    write_lines(tmp_path / "long.jsonl", rows)
    shown = label("m\nq\n", "long.jsonl", "--out", "out.jsonl")
    first, _, second = shown.out.partition("q quit")
    assert "characters the same" in first
    assert "a200" not in first
    assert "a200" in second
    assert "\x1b" not in shown.out


def test_the_beginning_of_very_long_texts_is_shown(label, tmp_path):
    rows = [{"id": str(one), "text": "one two three " * 15_000 + str(one)} for one in range(2)]
    write_lines(tmp_path / "long.jsonl", rows)
    assert "Only the first 200,000 characters" in label("q\n", "long.jsonl", "--out", "out.jsonl").out


def test_a_second_person_labels_the_same_pairs(label):
    label("s\nd\ns\nd\nu\n", "in.jsonl", "--out", "out.jsonl", "--labels", "5")
    shown = label("s\nd\nd\nd\n", "--like", "out.jsonl", "--out", "second.jsonl")
    assert "Pair 5 of 5" in shown.out
    assert "labelled s" not in shown.out.replace("labelled: ", "")
    found = label("", "compare", "out.jsonl", "second.jsonl").out.splitlines()
    assert found[0].startswith("agreement 75 % (")
    assert found[1].startswith("Cohen's kappa 0.50 (")
    assert ": same, different (resemblance 0." in found[-1]
    told = label("", "compare", "out.jsonl", "second.jsonl", "--json").json
    assert told["both"] == 4
    assert told["single"] == 1
    assert len(told["disagreements"]) == 1
    rest = label("u\n", "--like", "out.jsonl", "--out", "second.jsonl").out
    assert "No more pairs to label." in rest
    assert "--labels" not in rest


def test_texts_that_were_left_out(label):
    with LabelFile("out.jsonl") as file:
        file.append(LabelledPair(a="d1", b="d2", label="same", resemblance=0.5, text_a=TEXTS[1]))
    failed = label("s\n", "--like", "out.jsonl", "--out", "second.jsonl", code=1)
    assert "no text of 'd2'; the documents are needed, too" in failed.err
    shown = label("s\n", "in.jsonl", "--like", "out.jsonl", "--out", "second.jsonl")
    assert "2x8" in shown.out or "8x0" in shown.out
    assert labels("second.jsonl") == ["same"]


def test_rejected_records_are_reported(label, tmp_path):
    with (tmp_path / "in.jsonl").open("a") as file:
        file.write("{broken\n")
    shown = label("s\n", "in.jsonl", "--out", "out.jsonl", code=1)
    assert "rejected: in.jsonl:12" in shown.out
    assert labels("out.jsonl") == ["same"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("in.jsonl", 2, "--out is needed"),
        ("--out out.jsonl", 2, "must name the documents"),
        ("in.jsonl --out out.txt", 2, "must end in .jsonl or .ndjson"),
        ("in.jsonl --out in.jsonl", 2, "it is one of the inputs"),
        ("in.jsonl --out gone/out.jsonl", 2, "its folder does not exist"),
        ("gone.jsonl --out out.jsonl", 2, "gone.jsonl"),
        ("in.jsonl --out out.jsonl --labels 0", 2, "--labels"),
        ("in.jsonl --out out.jsonl --sample 0", 2, "--sample"),
        ("in.jsonl --out out.jsonl --json", 2, "label compare"),
        ("in.jsonl --out out.jsonl --port 1", 2, "only used with --serve"),
        ("in.jsonl --out out.jsonl --serve --port 65536", 2, "--port"),
        ("in.jsonl --out out.jsonl --scheme checksum", 2, "compares fields; labels compare texts"),
        ("- --out out.jsonl", 2, "standard input is needed for the answers"),
        ("--like empty.jsonl --out out.jsonl --draw 2", 2, "--draw 2 cannot be used with --like"),
        ("in.jsonl --out notes.jsonl", 1, "notes.jsonl:1: it is not a labelled pair"),
        ("--like empty.jsonl --out out.jsonl", 2, "it has no labels yet"),
        ("--like notes.jsonl --out notes.jsonl", 2, "it is one of the inputs"),
        ("one.jsonl --out out.jsonl", 1, "no pairs to label; at least two documents with words are needed"),
        ("compare in.jsonl", 2, "needs two files"),
        ("compare gone.jsonl empty.jsonl", 2, "there is no such file"),
        ("compare empty.jsonl empty.jsonl", 1, "no pair is in both"),
        ("compare notes.jsonl empty.jsonl", 1, "notes.jsonl:1"),
        ("compare empty.jsonl empty.jsonl --out x.jsonl", 2, "--out cannot be used with"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage_is_reported(label, tmp_path, options, code, said):
    (tmp_path / "notes.jsonl").write_text("my notes\n")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "one.jsonl").write_text('{"text": "one two three"}\n')
    shown = label("s\n", *options.split(), code=code)
    assert said in shown.err
    assert (tmp_path / "notes.jsonl").read_text() == "my notes\n"


def test_single_keys_of_a_terminal(label, neardup, terminal, tmp_path):
    os.write(terminal, b"sd\x1b[Aq")
    neardup("label", "in.jsonl", "--out", "out.jsonl")
    assert labels(tmp_path / "out.jsonl") == ["same", "different"]


def test_an_interrupt_leaves_a_complete_file(label, neardup, monkeypatch, tmp_path):
    class Interrupting(io.BytesIO):
        def readline(self, *_):
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupting(b"s\nd\n")))
    shown = neardup("label", "in.jsonl", "--out", "out.jsonl", code=130)
    assert "the same command continues: the labels are in out.jsonl" in shown.err
    assert labels(tmp_path / "out.jsonl") == ["same", "different"]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal as standard input; gives the end that types."""
    types, reads = pty.openpty()
    with os.fdopen(reads, "r", closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield types
    os.close(reads)
    os.close(types)


def test_keys_need_no_return(terminal):
    with key_reader() as read:
        os.write(terminal, b"sD\x1b[A\x1b[15~")
        assert [read() for _ in range(4)] == ["s", "d", "", ""]
        os.write(terminal, "ü\n\x04".encode())
        assert [read(), read(), read(), read()] == ["\ufffd", "\ufffd", "\n", END]


def test_the_terminal_is_as_before(terminal):
    def waits_for_lines():
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)

    def interrupted():
        with key_reader():
            assert not waits_for_lines()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert waits_for_lines()


def test_lines_from_a_pipe(piped):
    piped(b" S \nback\n\n\xff\nlast")
    with key_reader() as read:
        assert [read() for _ in range(6)] == ["s", "back", "", "\ufffd", "last", END]


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with key_reader() as read:
        assert read() == END
