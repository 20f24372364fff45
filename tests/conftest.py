"""What tests share: how hard Hypothesis tries, ends of processes, standard input, permissions, interruptions, a crawl.

``HYPOTHESIS_PROFILE`` names one of the profiles below.
"""

import ctypes
import gc
import importlib.util
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, settings

MEMORY = "/dev/shm"  # noqa: S108 - the tests make a folder of their own there

FILES_OPEN = 4096

# A test never fails because the machine is slow.
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), max_examples=10, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# The tests talk to services on this machine, and read what a terminal shows: not through the proxy of a company, nor in
# the colours and the width of somebody's terminal.
for name in (
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_color",
    "force_color",
    "colorterm",
    "term",
    "columns",
    "lines",
):
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)

# `nohup` and background jobs ignore these signals, and processes inherit that: tests could not interrupt them.
# A handler that does nothing protects the tests in the same way, but it is not inherited.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# Some tests have hundreds of connections; on some systems a process may have 256 open files, unless it asks for more.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, FILES_OPEN)), hard))

# With their files in memory, the tests need a seventh less processor time and do not wait for the disk.
FILES = None
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4_000_000_000:
    FILES = os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="neardup-tests-", dir=MEMORY)

# Waiting for the disk took a third of the time of many tests. No test can see the difference: what a power failure
# leaves is tested on a disk in memory, and tests of refused or interrupted syncs replace this function.
os.fsync = os.fstat


class Process(subprocess.Popen):
    """A process that ends at the latest with the test that started it.

    After an error, leaving ``with`` kills it: the standard ``Popen`` waits for its end, which may never come.
    """

    started: list["Process"] = []  # noqa: RUF012 - by the test that is running

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.started.append(self)

    def __exit__(self, kind, *error):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *error)


subprocess.Popen = Process


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Forget the processes that fixtures started: these fixtures end them, perhaps after other tests."""
    Process.started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown():
    """Kill the processes that the test started and did not end."""
    result = yield
    for process in Process.started:
        if process.poll() is None:
            process.kill()
            process.wait()
    Process.started.clear()
    return result


WATCH = """
import os, select, signal, sys
from pathlib import Path

select.select([os.pidfd_open(int(sys.argv[1]))], [], [])
mark = ("NEARDUP_TESTS=" + sys.argv[1]).encode()
for process in Path("/proc").glob("[0-9]*"):
    try:
        if mark in (process / "environ").read_bytes().split(bytes(1)):
            os.kill(int(process.name), signal.SIGKILL)
    except OSError:  # it has ended, or belongs to another user
        pass
"""


def pytest_sessionstart():
    """Start a process that waits for the end of this one, even by SIGKILL, and kills all that the tests started."""
    if "NEARDUP_TESTS" not in os.environ and hasattr(os, "pidfd_open") and Path("/proc/self/environ").exists():
        watch = [sys.executable, "-I", "-S", "-c", WATCH, str(os.getpid())]
        closed = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        os.posix_spawn(sys.executable, watch, {}, file_actions=closed, setsid=True)
        os.environ["NEARDUP_TESTS"] = str(os.getpid())


def pytest_sessionfinish(exitstatus):
    """Remove the files of the tests from memory, except those of tests that failed."""
    if FILES is not None and exitstatus != pytest.ExitCode.TESTS_FAILED:
        shutil.rmtree(FILES, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave garbage collections out while tests are collected, and what was loaded then out of later collections.

    Collections took a third of the time of collecting tests, and an eighth of that of compiling kernels.
    """
    gc.disable()
    result = yield
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000)
    return result


@pytest.fixture
def interrupted_at(monkeypatch):
    """Make a context that an interruption must end: the first call of the function raises it."""

    @contextmanager
    def interrupted_at(owner, name):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                yield

    return interrupted_at


@pytest.fixture
def piped(monkeypatch):
    """Make standard input of these bytes."""

    def piped(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return piped


@pytest.fixture
def permissions():
    """Let the permissions of files hold in this thread, and in those that it starts, for root, too."""
    if os.geteuid():
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root may read and write everything here")
    system = ctypes.CDLL(None)
    header, before = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()  # the version of the calls
    overriding = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, among the effective ones
    if system.capget(header, before) or system.prctl(28, 1 << 2):  # access() counts only those, too
        pytest.skip("this root may not give up what it may")
    assert system.capset(header, (ctypes.c_uint32 * 6)(before[0] & ~overriding, *before[1:])) == 0
    yield
    assert system.capset(header, before) == 0
    assert system.prctl(28, 0) == 0


@pytest.fixture(scope="session")
def crawl(tmp_path_factory):
    """A folder with the pages of two hosts in files of each kind, and their templates; tests do not write in it."""
    from invented_crawl import write_crawl

    return write_crawl(tmp_path_factory.mktemp("crawl"))


@pytest.fixture(scope="session")
def spark():
    """A Spark session on two cores, in the environment of `make spark`."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed: `make spark` runs this")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # starts sooner
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PySpark about newer versions of pandas
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
