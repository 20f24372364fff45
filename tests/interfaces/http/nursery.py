"""Services that begin at once: one process has loaded everything, and forks when it is asked for another one.

    python nursery.py

Each line of standard input has the folder of an index and a file for what is said; each is answered by the number of
the process, and by its exit code once it ends.
"""

import os
import subprocess
import sys
import tempfile

from neardup import Index, collapse
from neardup.interfaces.cli import main
from neardup.interfaces.http import server  # noqa: F401 - so that the children need not load it


def breed():
    """Load what a service needs, and begin one a line."""
    with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/seen", texts=True) as index:
        index.admit(["a", "b"], ["one text of some words", "another text of some words"])
        collapse(["a", "b"], index=index)
    tell("ready")
    for line in sys.stdin:
        folder, said = line.rstrip("\n").split("\t")
        number = os.fork()
        if number == 0:
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(1, 2)
            sys.exit(main(["serve", folder, "--port", "0"]))
        tell(number)
        tell(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))


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

    def begin(self, folder, said):
        """Begin a service that tells *said* where it is; give the number of its process."""
        self._process.stdin.write(f"{folder}\t{said}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def ended(self):
        """Wait for the end of the service; give its exit code."""
        return int(self._process.stdout.readline())


if __name__ == "__main__":
    breed()
