import os
import threading

import pytest

from neardup.interfaces.cli import interruption
from neardup.interfaces.cli.interruption import PatientTerminal


@pytest.fixture
def terminal():
    """Open a terminal; *ours* is the end of who looks at it."""
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


def test_what_is_no_terminal_is_refused(tmp_path):
    with (tmp_path / "file").open("w") as file, pytest.raises(OSError, match="ioctl"):
        PatientTerminal(file)
