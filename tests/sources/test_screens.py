import os
import tty

import pytest

from neardup.sources.output import atomic
from neardup.sources.screens import escaped, opened_screen


@pytest.fixture
def terminal():
    """The two ends of a terminal that changes no bytes."""
    ends = os.openpty()
    tty.setraw(ends[1])
    yield ends
    for end in ends:
        os.close(end)


def test_a_terminal_shows_control_characters_as_escapes(terminal):
    reader, writer = terminal
    with atomic(os.ttyname(writer)) as file:
        for part in ('{"a": "ж'.encode() + b"\xc2", b'\x9b31m", "b": "', '\u202e\U000e0001"}\n'.encode()):
            file.write(part)
            file.flush()
    shown = b""
    while not shown.endswith(b"\n"):
        shown += os.read(reader, 1000)
    assert shown.decode() == '{"a": "ж\\u009b31m", "b": "\\u202e\\udb40\\udc01"}\n'


def test_other_devices_receive_the_bytes():
    reader, writer = os.pipe()
    with opened_screen(writer, 10) as file:
        file.write(b"\xc2\x9b\xff" * 9)
    with os.fdopen(reader, "rb") as file:
        assert file.read() == b"\xc2\x9b\xff" * 9


def test_the_layout_of_lines_stays():
    assert escaped("a\tb\r\n\x7f") == "a\tb\r\n\\u007f"
