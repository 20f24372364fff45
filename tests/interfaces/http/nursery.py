"""Services that begin at once: one process has loaded everything, and forks when it is asked for another one.

    python nursery.py

Each line of standard input is JSON: what to begin, answered by the number of its process, or such a number, answered by
the exit code of that process once it ends.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

from neardup import Index, collapse
from neardup.interfaces.cli import main
from neardup.interfaces.http import server
from neardup.interfaces.http.limits import Limits


def breed():
    """Load what a service needs, and begin or await one a line."""
    with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/seen", texts=True) as index:
        index.admit(["a", "b"], ["one text of some words", "another text of some words"])
        collapse(["a", "b"], index=index)
    tell("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, int):
            tell(os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]))
            continue
        number = os.fork()
        if number == 0:
            serve(**asked)
        tell(number)


def serve(arguments, limits, out, errors):
    """Be a service, with other limits if they are given."""
    for stream, path in ((1, out), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    made = server.Deployment
    server.Deployment = lambda **given: made(**given, limits=Limits(**limits)) if limits else made(**given)
    sys.exit(main(["serve", *arguments, "--port", "0"]))


def tell(what):
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


class Nursery:
    """Where services come from; use it in ``with``."""

    def __enter__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self._process = subprocess.Popen([sys.executable, __file__], **pipes)
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self._process.kill()
        self._process.stdin.close()
        self._process.wait(120)
        self._process.stdout.close()

    def begin(self, *arguments, out, errors, limits=None):
        """Begin a service that writes to the files *out* and *errors*."""
        given = {"arguments": [*map(str, arguments)], "limits": limits, "out": str(out), "errors": str(errors)}
        return Forked(self, self._answer(given))

    def _answer(self, asked):
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Forked:
    """A service from the nursery."""

    def __init__(self, nursery, number):
        self._nursery, self.pid, self.returncode = nursery, number, None

    def send_signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        """Wait for its end; return the exit code."""
        if self.returncode is None:
            self.returncode = self._nursery._answer(self.pid)
        return self.returncode

    def forget(self):
        """Kill it, if it has not ended."""
        if self.returncode is None:
            self.send_signal(signal.SIGKILL)
            self.wait()


if __name__ == "__main__":
    breed()
