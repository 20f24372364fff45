import io
import json
import signal
import sys
import tempfile
from typing import NamedTuple

import pytest

from neardup.interfaces.cli import main


class Shown(NamedTuple):
    """What a command has printed."""

    out: str
    err: str

    @property
    def all(self):
        return self.out + self.err

    @property
    def plain(self):
        """All of it, with single blanks: the lines of a terminal end anywhere."""
        return " ".join(self.all.split())

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _signals():
    """Restore the handlers that a run in this process replaces."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def neardup(capfd, monkeypatch, tmp_path):
    """Run a command in this process, in a folder of its own; no outcome may show a traceback.

    Standard input has the bytes that are given, or is what it is.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0, stdin=None):
        capfd.readouterr()
        with io.TextIOWrapper(tempfile.TemporaryFile()) as file, monkeypatch.context() as patch:
            if stdin is not None:
                file.buffer.write(stdin)
                file.seek(0)
                patch.setattr(sys, "stdin", file)
            try:
                ended = main([*map(str, arguments)])
            except SystemExit as stop:
                ended = stop.code
        sys.stdout.flush()
        shown = capfd.readouterr()
        assert "Traceback" not in shown.out + shown.err
        assert ended == code, shown.err + shown.out
        return Shown(shown.out, shown.err)

    return run
