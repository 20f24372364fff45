import importlib.util
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from neardup.engines.spark import SparkExecutors
from neardup.model.errors import DataError, EngineFailed, ExtraMissing, ParameterError, StorageRefused

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def writing(folder):
    @contextmanager
    def opened():
        Path(folder, f"process-{os.getpid()}").touch()
        yield lambda task: Path(folder, str(task)).touch()

    return opened


@contextmanager
def failing(error, at):
    def function(task):
        if task == at:
            raise error

    yield function


@contextmanager
def sleeping():
    yield lambda _: time.sleep(1000)


@contextmanager
def killed():
    yield lambda _: os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def executors(spark):
    return SparkExecutors(spark)


@pytest.mark.parametrize("library", ["pyspark", "pandas"])
def test_a_missing_library_is_named(monkeypatch, library):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == library else True)
    with pytest.raises(ExtraMissing, match=rf"this needs {library}, .*neardup\[spark\]"):
        SparkExecutors()


def test_the_executors_do_every_task_once(executors, tmp_path):
    tasks = [3, 4, 7, 1000, 12, 13]
    assert set(executors.each(writing(str(tmp_path)), tasks)) <= {None}
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.isdecimal()) == sorted(map(str, tasks))
    assert not (tmp_path / f"process-{os.getpid()}").exists()
    assert set(executors.each(writing(str(tmp_path)), [])) <= {None}


def test_errors_of_the_package_are_failures_of_tasks(executors):
    found = [one for one in executors.each(partial(failing, DataError("a.jsonl", "is broken"), 7), [5, 7, 9]) if one]
    assert [(one.task, one.message) for one in found] == [(7, "a.jsonl is broken")]
    assert found[0].host


def test_other_errors_are_told_in_one_line(executors):
    with pytest.raises(EngineFailed) as caught:
        list(executors.each(partial(failing, ZeroDivisionError("of course"), 7), [5, 7, 9]))
    assert str(caught.value) == "Spark: ZeroDivisionError: of course"


def test_a_killed_process_is_named(executors):
    with pytest.raises(
        EngineFailed, match=r"^Spark: org\.apache\.spark\.SparkException: Job aborted .* exited unexpectedly"
    ):
        list(executors.each(killed, [1]))


def test_leaving_ends_the_tasks(executors, spark):
    waiting = executors.each(sleeping, [1])
    assert next(waiting) is None
    with pytest.raises(KeyboardInterrupt):
        waiting.throw(KeyboardInterrupt)
    assert spark.sparkContext.statusTracker().getActiveJobsIds() == []


def test_a_folder_that_executors_do_not_see_is_refused(executors, tmp_path, monkeypatch):
    executors.require_shared(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Path, "touch", lambda _: None)
    with pytest.raises(StorageRefused, match="does not see it; use a folder that all machines share"):
        executors.require_shared(tmp_path)


def test_the_active_session_is_the_default_and_others_are_refused(spark):
    assert SparkExecutors().session is spark
    with pytest.raises(ParameterError, match="must be a classic SparkSession"):
        SparkExecutors(object())


def test_a_stopped_session_is_named(spark, monkeypatch):
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)  # as after ``stop``
    with pytest.raises(EngineFailed, match="the session was stopped; start a new one"):
        SparkExecutors(spark)


def test_without_java_a_session_cannot_start(spark, tmp_path):
    script = """if True:
        from neardup.engines.spark import SparkExecutors
        from neardup.model.errors import EngineFailed
        try:
            SparkExecutors()
        except EngineFailed as error:
            print(error)
    """
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    assert done.stdout == "Spark: it cannot start Java; install Java 17 or newer, or set JAVA_HOME\n"
