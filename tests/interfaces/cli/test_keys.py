import io
import os
import pty
import sys
import termios

import pytest

from neardup.interfaces.cli.keys import END, key_reader


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


def test_lines_from_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" S \nback\n\n\xff\nlast")))
    with key_reader() as read:
        assert [read() for _ in range(6)] == ["s", "back", "", "\ufffd", "last", END]


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with key_reader() as read:
        assert read() == END
