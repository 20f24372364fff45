import os
import signal
import sys
import threading
from importlib import import_module
from unittest.mock import Mock

import pytest

from neardup.interfaces.cli import check, interruption
from neardup.interfaces.cli.interruption import Interrupted, PatientTerminal, without_waiting


@pytest.fixture
def terminal():
    """Open a terminal; *ours* is the end that shows what was written."""
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as ours, os.fdopen(theirs, "w") as theirs:
        yield ours, PatientTerminal(theirs)
    interruption._ending.clear()


def test_a_stopped_terminal_is_waited_for_and_nothing_is_lost(terminal):
    ours, patient = terminal
    text = "".join(f"{number} " for number in range(20_000))
    writer = threading.Thread(target=patient.write, args=(text,))
    writer.start()
    shown = ours.read(1)
    assert writer.is_alive()  # a terminal holds less than the text
    while len(shown) < len(text):
        shown += ours.read(1 << 16)
    writer.join()
    assert shown.decode() == text
    patient.close()


def test_after_a_signal_it_is_not(terminal):
    ours, patient = terminal
    writer = threading.Thread(target=patient.write, args=("full" * 100_000,))
    writer.start()
    assert ours.read(8) == b"fullfull"
    interruption._ending.set()
    writer.join(120)
    assert not writer.is_alive()
    patient.close()


def test_a_service_waits_for_no_terminal(monkeypatch):
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as ours, os.fdopen(theirs, "w") as theirs:
        monkeypatch.setattr(sys, "stdout", theirs)
        monkeypatch.setattr(sys, "stderr", theirs)
        with without_waiting():
            assert sys.stdout.isatty()
            for _ in range(10_000):
                sys.stdout.write("a line that nobody reads\n")
                sys.stderr.write("another one\n")
        assert sys.stdout is sys.stderr is theirs
        assert ours.read(24) == b"a line that nobody reads"


def test_a_file_in_place_of_a_terminal_is_refused(tmp_path):
    with (tmp_path / "file").open("w") as file, pytest.raises(OSError, match="ioctl"):
        PatientTerminal(file)


AGAIN = "run the same command again"
RUN = "the same command continues the run"
SKIP = "continue with --skip N, where N is the line of the last answer"


@pytest.mark.parametrize(
    ("command", "way"),
    [
        ("work run7", f"other processes do the tasks of this worker; {AGAIN} to join again"),
        ("warm", AGAIN),
        ("config check a.toml", AGAIN),
        ("export seen --to a.jsonl", AGAIN),
        ("dedup a.jsonl --out b.jsonl", AGAIN),
        ("dedup a.jsonl --out b.jsonl --report c.parquet", f"{AGAIN}; outputs that were complete need --force"),
        ("dedup a.jsonl --out b.jsonl --report c.parquet --force", AGAIN),
        ("dedup a.jsonl --out /dev/stdout --report c.parquet", AGAIN),
        ("dedup a.jsonl --out b.jsonl --work w", f"{RUN} in w"),
        ("dedup a.jsonl --out b.jsonl --state s", f"{RUN} in b.jsonl.neardup-work; to give up, remove this folder"),
        ("dedup a.jsonl --dry-run --memory 1G", AGAIN),
        ("dedup - --out b.jsonl --work w", AGAIN),
        ("dedup a.jsonl --out - --memory 1G", AGAIN),
        ("dedup a.jsonl --out /dev/stdout --memory 1G", AGAIN),
        ("dedup a.jsonl --out b.jsonl --work w --restart", "the same command without --restart continues the run in w"),
        ("pairs a.jsonl --out b.jsonl", AGAIN),
        ("pairs a.jsonl --out b.jsonl --work w", f"{RUN} in w"),
        ("index a.jsonl --to seen", f"{AGAIN}; documents that were added are skipped"),
        ("index --from s --to seen", AGAIN),
        ("seen seen", SKIP),
        ("seen seen --admit", f"{SKIP} (a page that was admitted without an answer is then `known`)"),
        ("seen seen a.jsonl --admit", AGAIN),
        ("label a.jsonl --out b.jsonl", "the same command continues: the labels are in b.jsonl"),
    ],
)
def test_the_last_message_of_a_verb(neardup, tmp_path, monkeypatch, command, way):
    def run(_):
        raise Interrupted(130)

    monkeypatch.setattr(import_module(f"neardup.interfaces.cli.{command.split()[0]}"), "run", run)
    (tmp_path / "b.jsonl.neardup-work").mkdir()
    left = "" if command.startswith("seen") else "; no partial output is left"
    assert neardup(*command.split(), code=130).err == f"neardup: interrupted{left}; {way}\n"


def test_a_full_pipe_is_not_waited_for(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with without_waiting():
            for _ in range(2000):
                sys.stderr.write("x" * 100 + "\n")
            assert not sys.stderr.isatty()
            assert len(os.read(reading, 1 << 20)) > 4096


@pytest.mark.parametrize(
    "becomes", [SystemError("a function returned a result with an exception set"), OSError(5, "no")]
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_the_work_takes_for_a_failure(neardup, monkeypatch, number, code, becomes):
    """Python makes an error of its own of what is raised in compiled code, and a library may do so, too."""

    def run(_):
        try:
            signal.raise_signal(number)
        except (KeyboardInterrupt, SystemExit):
            raise becomes from None

    monkeypatch.setattr(check, "run", run)
    told = neardup("check", "seen", code=code).err
    assert told == (
        "neardup: interrupted; no partial output is left; run the same command again\n" if code == 130 else ""
    )


def test_other_errors_of_the_system_are_shown(neardup, monkeypatch):
    monkeypatch.setattr(check, "run", Mock(side_effect=SystemError("of another kind")))
    with pytest.raises(SystemError, match="of another kind"):
        neardup("check", "seen")
