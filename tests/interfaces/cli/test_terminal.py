import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.cli.terminal import console, printable, progress_bars

JOINERS = "\u200c\u200d"


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


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_that_could_steer_a_terminal_is_left(text):
    shown = printable(text)
    assert all(
        unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for letter in shown.translate(dict.fromkeys(map(ord, JOINERS)))
    )
    assert shown.encode().decode() == shown == printable(shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m\x07\x9b", "a\\x1b[31m\\x07\\x9b"),
        ("\u202eabc\u2066\ufeff", "\\u202eabc\\u2066\\ufeff"),
        ("\ud800 \U000e0041", "\\ud800 \\U000e0041"),
        ("one\r\n\ttwo", "one   two"),
        ("\u2028", "\\u2028"),
        ("नमस्\u200dते 東京 é", "नमस्\u200dते 東京 é"),
    ],
)
def test_what_is_escaped_and_what_is_not(text, shown):
    assert printable(text) == shown


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
    with progress_bars(wanted=False) as progress:
        assert progress is None
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
    console(errors=True).print("[red]x")
    assert "\x1b[31m" in terminal.shown
    terminal.shown = ""
    monkeypatch.setenv("NO_COLOR", "1")
    console(errors=True).print("[red]x")
    assert terminal.shown == "x\n"
    console().print("[red]x")
    assert capsys.readouterr().out == "x\n"
