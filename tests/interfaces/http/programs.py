"""Services in processes of their own."""

import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx

PATIENCE = 120
JUDGE = b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n"
get, post = (
    partial(call, timeout=PATIENCE, verify=False) for call in (httpx.get, httpx.post)
)  # it would load certificates


class Service:
    """A service, and the address that it has printed."""

    def __init__(self, said):
        self.said = said
        found = re.search(r"http://[^/]+:(\d+)/", said)
        assert found, said + self.complaints()
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)


class Process(Service):
    """A program that runs ``neardup serve``."""

    def __init__(self, folder, *options, prefix=()):
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would stop it once it is full
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            encoding="utf-8",
        )
        super().__init__(self.process.stdout.readline())

    def end(self, number=signal.SIGTERM):
        """Send a signal; return the exit code, the output and the messages."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, self.complaints()

    def complaints(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def forget(self):
        """Let go of it, however it is."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.process.stdout.close()
        self.errors.close()


def by_then(holds):
    """Wait until something holds."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def workers_of(process):
    """Return the numbers of the processes of the workers."""
    pid = process.process.pid
    workers = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                workers.append(int(child))
    return workers


def refuses(process):
    """Return whether a service no longer accepts connections."""
    try:
        process.connection().close()
    except ConnectionRefusedError:
        return True
    return False
