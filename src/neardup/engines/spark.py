"""The executors of a Spark session: only the numbers of tasks pass through Spark."""

import importlib.util
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from neardup.engines.executors import Failure, Opened
from neardup.model.errors import EngineFailed, ExtraMissing, NeardupError, StorageRefused, require

_PARTS: Final = 256  # parts of the tasks at least: Spark may add executors later
_PER_CORE: Final = 4
_ROWS: Final = 1 << 16  # rows that pass to Spark together
_LOOK: Final = 1.0  # seconds
_RAISED: Final = re.compile(r"^[\w.]*(?:Error|Exception|Refused|Interrupt)\b.*$", re.MULTILINE)
_CALL: Final = "An error occurred while calling "  # the first line of an error of Java does not name it
_NO_JAVA: Final = "JAVA_GATEWAY_EXITED"


class SparkExecutors:
    """The executors of a classic Spark session. Spark runs in its own threads and processes."""

    def __init__(self, session: Any = None) -> None:
        """Use a session; ``None`` means the active one, or a new one.

        Raises ``ExtraMissing`` without PySpark or pandas, ``EngineFailed`` if Spark cannot be started, or was stopped,
        and ``ParameterError`` for a session of Spark Connect.
        """
        for library in ("pyspark", "pandas"):  # Spark requires pandas to pass Arrow batches
            if importlib.util.find_spec(library) is None:
                raise ExtraMissing(library, "spark")
        from pyspark.sql import SparkSession

        with naming_errors():
            self.session = session or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        rule = "must be a classic SparkSession; Spark Connect is not supported"
        require(isinstance(self.session, SparkSession), "spark", self.session, rule)
        try:
            _ = self.session.sparkContext.defaultParallelism
        except AttributeError:  # PySpark has no other word for it
            why = "the session was stopped; start a new one, and make its DataFrames again"
            raise EngineFailed("Spark", why) from None

    def each(self, opened: Opened, tasks: Sequence[int]) -> Iterator[Failure | None]:
        """Do the tasks on the executors; see ``Executors``."""
        context = self.session.sparkContext
        parts = min(len(tasks), max(_PARTS, _PER_CORE * context.defaultParallelism))
        numbers = self.session.range(0, len(tasks), 1, max(1, parts))
        done = numbers.mapInArrow(partial(_do, opened, tuple(tasks)), "task long, host string, message string")
        tag = f"neardup-{secrets.token_hex(8)}"

        def collect() -> list[Any]:
            context.addJobTag(tag)
            return list(done.collect())

        with naming_errors(), ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(collect)
            try:
                while not wait([waiting], _LOOK).done:
                    yield None
            finally:
                if not waiting.done():
                    context.cancelJobsWithTag(tag)
            failures = waiting.result()
        yield from (Failure(*row) for row in failures)

    def rows(self, function: Callable[[int], pa.Table], tasks: int, columns: str) -> Any:
        """Return a DataFrame of the rows of all tasks below a number; *columns* are their names and types."""
        numbers = self.session.range(0, tasks, 1, max(1, tasks))
        return numbers.mapInArrow(partial(_rows, function), columns)

    def require_shared(self, folder: Path) -> None:
        """Raise ``StorageRefused`` unless executors see a folder of this process."""
        probe = folder / f".neardup-probe-{secrets.token_hex(8)}"
        probe.touch()
        try:
            for failure in self.each(partial(_seeing, str(probe)), range(self.session.sparkContext.defaultParallelism)):
                if failure is not None:
                    reason = f"the executor on {failure.host} does not see it; use a folder that all machines share"
                    raise StorageRefused(str(folder), reason)
        finally:
            probe.unlink(missing_ok=True)


def _do(opened: Opened, tasks: tuple[int, ...], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Do the tasks at the places in *batches*, in a process of an executor; yield the failures."""
    failures: list[Failure] = []
    for batch in batches:
        own = [tasks[place] for place in batch.column(0).to_pylist()]
        task = own[0]
        try:
            with opened() as function:
                for task in own:
                    function(task)
        except NeardupError as error:
            failures.append(Failure(task, socket.gethostname(), str(error)))
    yield pa.RecordBatch.from_pylist(
        [failure._asdict() for failure in failures],
        pa.schema([("task", pa.int64()), ("host", pa.string()), ("message", pa.string())]),
    )


def _rows(function: Callable[[int], pa.Table], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the tasks in *batches*, in a process of an executor."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            yield from function(task).to_batches(_ROWS)


@contextmanager
def _seeing(path: str) -> Iterator[Any]:
    def look(_: int) -> None:
        if not os.path.exists(path):  # noqa: PTH110 - a string passes between processes
            raise StorageRefused(path, "it is not here")

    yield look


@contextmanager
def naming_errors() -> Iterator[None]:
    """Raise errors of Spark as ``EngineFailed``, with the line of the message that names the error."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        message = str(error)
        raised = _RAISED.findall(message)
        lines = [line for each in message.splitlines() if (line := each.strip(" :")) and not line.startswith(_CALL)]
        reason = raised[-1] if raised else lines[0] if lines else type(error).__name__
        if _NO_JAVA in message:
            reason = "it cannot start Java; install Java 17 or newer, or set JAVA_HOME"
        raise EngineFailed("Spark", reason) from error
