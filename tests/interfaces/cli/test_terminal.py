import json
import sys
import time
from contextlib import redirect_stdout

import pytest
from json_lines import write_lines

from neardup.interfaces.cli.terminal import console, marked, progress_bars, progress_lines
from neardup.interfaces.wording.excerpts import Excerpt, TextPiece


class Terminal:
    """As much of a terminal as a console asks for."""

    encoding = "utf-8"

    def __init__(self):
        self.shown = ""

    def isatty(self):
        return True

    def write(self, text):
        self.shown += text
        return len(text)

    def flush(self):
        pass


@pytest.fixture
def terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    terminal.attach = lambda: monkeypatch.setattr(sys, "stderr", terminal)  # capturing sets it back before each test
    return terminal


def test_progress_is_shown_on_a_terminal_and_taken_away_at_the_end(terminal):
    terminal.attach()
    with progress_bars() as progress:
        progress("read", 0, 0)
        for done in (0, 4_000_000, 8_000_000):
            progress("read", done, 8_000_000)
            progress("shingle", done // 1_000, 8_000)
        progress("a stage of the future", 1, 2)
    for word in ("Reading", "Shingling", "a stage of the future", "100%"):
        assert word in terminal.shown
    assert terminal.shown.endswith("\x1b[2K")


def test_progress_is_not_shown_elsewhere(capsys, terminal, monkeypatch):
    terminal.attach()
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with progress_bars() as progress:
        assert progress is None
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bars() as progress:
        assert progress is None
    assert terminal.shown == ""
    assert capsys.readouterr() == ("", "")


def test_progress_ends_when_the_work_fails(terminal):
    terminal.attach()

    def interrupted():
        with progress_bars() as progress:
            progress("read", 1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "\x1b[?25h" in terminal.shown


def test_colours_are_for_terminals_whose_owner_wants_them(terminal, monkeypatch, capsys):
    terminal.attach()
    with redirect_stdout(sys.stderr):
        console().print("[red]x")
        assert "\x1b[31m" in terminal.shown
        terminal.shown = ""
        monkeypatch.setenv("NO_COLOR", "1")
        console().print("[red]x")
    assert terminal.shown == "x\n"
    console().print("[red]x")
    assert capsys.readouterr().out == "x\n"


def test_a_terminal_without_a_width_gets_the_usual_one(monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert console().width == 80


def test_a_text_in_pieces_is_marked_and_says_what_is_left_out():
    pieces = (
        TextPiece(kind="shared", text="one\x1b ", rest=" two", omitted=1),
        TextPiece(kind="alone", text="three"),
        TextPiece(kind="between", text="."),
    )
    shown = marked(Excerpt(pieces, 2000), plain=True, more="--all")
    assert shown.plain == "one\\x1b  … 1 character the same …  two*three*. … and 2,000 characters more (--all)"
    assert marked(Excerpt(pieces, 1), plain=False).plain.endswith(" twothree. … and 1 character more")
    assert not marked(Excerpt((), 0), plain=True).plain


def test_progress_is_printed_for_programs(capsys, monkeypatch):
    now = [10.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    report = progress_lines()
    report("other", 1, 1)
    for done, later in ((1, 1), (2, 0.5), (3, 1), (4, 0), (4, 2)):
        now[0] += later
        report("read", done, 4)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        {"stage": "read", "done": 1, "total": 4, "rate": None, "seconds_left": None},
        {"stage": "read", "done": 3, "total": 4, "rate": 1.3, "seconds_left": 1},
        {"stage": "read", "done": 4, "total": 4, "rate": 2.0, "seconds_left": 0},
    ]


def test_a_stage_that_does_not_proceed_has_no_rate(capsys, monkeypatch):
    now = [10.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress_bars(as_lines=True) as report:
        for stage, done in (("read", 5), ("read", 5), ("sign", 1), ("read", 15), ("sign", 1)):
            now[0] += 2
            report(stage, done, 20)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["stage"], one["rate"], one["seconds_left"]) for one in lines] == [
        *(("read", None, None), ("sign", None, None)),
        *(("read", 1.7, 3), ("sign", None, None)),
    ]


@pytest.mark.parametrize(
    ("command", "stages"),
    [
        ("dedup pages.jsonl --dry-run", {"read"}),
        ("dedup pages.jsonl --dry-run --work w", {"read", "forecast"}),
        ("pairs pages.jsonl --out pairs.jsonl", {"read"}),
        ("pairs pages.jsonl --out pairs.jsonl --work w", {"read"}),
        ("index pages.jsonl --to new", {"read", "admit"}),
        ("contamination pages.jsonl --against other.jsonl", {"read"}),
        ("audit pages.jsonl", {"audit"}),
        ("compact seen", {"compact"}),
    ],
)
def test_every_command_with_json_prints_its_progress_as_lines(neardup, tmp_path, monkeypatch, command, stages):
    monkeypatch.setattr("neardup.interfaces.cli.terminal._SHORT", 0)
    for name in ("pages.jsonl", "other.jsonl"):
        write_lines(tmp_path / name, [{"id": name, "text": "The storm broke over the harbour at dawn"}])
    neardup("index", "pages.jsonl", "--to", "seen")
    shown = neardup(*command.split(), "--json")
    lines = [json.loads(line) for line in shown.err.splitlines()]
    assert stages <= {line["stage"] for line in lines}
    assert all({"done", "total", "rate", "seconds_left"} <= {*line} for line in lines if line["stage"] != "forecast")
    assert isinstance(json.loads(shown.out), dict)


@pytest.mark.parametrize(
    "command",
    [
        "export seen --to -",
        "export seen --to /dev/stdout",
        "pairs pages.jsonl --out -",
        "contamination pages.jsonl --against pages.jsonl --items -",
        "mirrors why.jsonl --out -",
        "rules why.jsonl --out -",
    ],
)
def test_the_summary_is_not_in_an_output_on_standard_output(neardup, tmp_path, command):
    page = {"url": "http://a.example/", "text": "The storm broke over the harbour at dawn"}
    pages = [{"id": f"{page['url']}{name}", **page} for name in "ab"]
    write_lines(tmp_path / "pages.jsonl", pages)
    neardup("index", "pages.jsonl", "--to", "seen")
    neardup("dedup", "pages.jsonl", "--dry-run", "--report", "why.jsonl")
    shown = neardup(*command.split(), "--json")
    assert isinstance(json.loads(shown.err), dict)
    lines = [shown.out] if command.startswith("rules") else shown.out.splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)


@pytest.mark.parametrize("option", ["out", "report"])
def test_an_output_that_would_end_with_the_command_is_refused(neardup, tmp_path, option):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n')
    ways = {"out": "kept.jsonl"} | {option: "memory://x.jsonl"}
    shown = neardup(
        "dedup", "in.jsonl", *(part for name, value in ways.items() for part in (f"--{name}", value)), code=2
    )
    assert shown.err == "neardup: memory://x.jsonl: it would end with this command; name a file\n"
