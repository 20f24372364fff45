"""No process outlives the tests that started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PATIENCE = 120  # seconds

FAILS = """
import subprocess

def test_fails_while_its_process_waits():
    with subprocess.Popen(["sleep", "1000"]):
        raise AssertionError

def test_leaves_a_process_behind():
    print("left", subprocess.Popen(["sleep", "1000"]).pid)
"""

HANGS = """
import subprocess, sys, time
from pathlib import Path

def test_hangs():
    begin = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", begin], stdin=-1, stdout=-1) as process:
        Path("started").write_bytes(process.stdout.readline())
        time.sleep(1000)
"""


def pytest_on(folder, script, *options):
    (folder / "test_one.py").write_text(script)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NEARDUP_"))}
    environment |= {"PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        *options,
        "-sq",
        "test_one.py",
    ]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def is_alive(process):
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_tests_that_fail_end_their_processes(tmp_path):
    shown, _ = pytest_on(tmp_path, FAILS).communicate(timeout=PATIENCE)
    assert "1 failed, 1 passed" in shown
    left = next(line.split()[-1] for line in shown.splitlines() if "left" in line and "print" not in line)
    assert not is_alive(left)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_after_a_kill_no_process_is_left(tmp_path):
    running = pytest_on(tmp_path, HANGS, "-p", "xdist", "-n", "1")
    started = tmp_path / "started"
    deadline = time.monotonic() + PATIENCE
    while not (started.exists() and started.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    while is_alive(started.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
