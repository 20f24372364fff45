"""Runs a function over tables in worker processes, for functions that hold the interpreter lock or may crash.

A worker is a new interpreter that is given the name of the function, never code: the script of a user is not imported
again, and nothing is pickled. It reads tables from its standard input and writes the results, all as Arrow streams. It
ends when its input ends, so also if the process that started it is killed; a Ctrl-C in a terminal does not reach it.
"""

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Event, Lock
from time import perf_counter
from typing import IO, Any, Final, Self

import pyarrow as pa

from neardup.engines.startup import shorten_start
from neardup.model.errors import EngineFailed

Function = Callable[[pa.Table], pa.Table]

_START: Final = 0.5  # seconds of a processor that the start of a process takes
_SECONDS: Final = 600  # that a table may take
_MEMORY: Final = 8 << 30  # bytes of address space of a worker


class Processes:
    """Up to *number* processes that apply a function to tables; with 1, this process does.

    *function* is the name of a function, ``MODULE:NAME``, which returns the function of the tables for some
    *settings* (values of JSON). It must return a table with a row for each row, which depends on nothing else, so that
    no result depends on the number of processes.

    This process does the work until the first other one is ready, and if none can be started. The others are started
    as soon as they would save more time than their start takes, by the time that this process has needed so far. A
    process that ends, or that takes more than 10 minutes or 8 GiB of address space, is replaced, and its table is
    repeated row by row. A row that ends its process again is given to *instead*.

    Use it as a context manager, whose end ends the processes. Several threads may use it.
    """

    def __init__(
        self,
        function: str,
        settings: Mapping[str, Any],
        number: int,
        instead: Function,
    ) -> None:
        self._name, self._settings, self._number = function, settings, number
        self._instead = instead
        self._own: Function | None = None
        self._spent = 0.0  # seconds of this process
        self._lock, self._ready, self._closed = Lock(), Event(), False
        self._pool: ThreadPoolExecutor | None = None  # a thread for each worker, which waits for it
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: set[_Worker] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def map(self, tables: Iterable[pa.Table], read: Callable[[], float] = lambda: 1.0) -> Iterator[pa.Table]:
        """Yield the results in order; at any time, up to two tables more than there are processes are under way.

        *read* returns the share of all tables, from 0 to 1, that have come: the time for the others is estimated by it.
        """
        waiting: deque[Future[pa.Table]] = deque()
        before, done = self._spent, 0.0
        for table in tables:
            left = (self._spent - before) * (1 / done - 1) if done else 0.0
            pool = self._started(left)
            if pool is None:
                found = self._here(table)
                done = read()
                yield found
                continue
            waiting.append(pool.submit(self._there, table))
            if len(waiting) > self._number + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _started(self, left: float) -> ThreadPoolExecutor | None:
        """Return the threads of the workers if one of these is ready; start them if many seconds of work are *left*.

        As many seconds as were needed until now are expected after the tables that are known.
        """
        with self._lock:
            saved = (self._spent + left) * (1 - 1 / self._number)
            if self._pool is None and self._number > 1 and saved >= _START:
                self._pool = ThreadPoolExecutor(self._number, "neardup-process")
                for _ in range(self._number):
                    self._pool.submit(self._begin)
        return self._pool if self._ready.is_set() else None

    def _begin(self) -> None:
        if worker := self._new():
            self._idle.put(worker)
            self._ready.set()

    def _new(self) -> "_Worker | None":
        """Return a new worker that is ready; ``None`` if there cannot be one."""
        with self._lock:
            if self._closed:
                return None
            try:
                worker = _Worker(self._name)
            except OSError:
                return None
            self._workers.add(worker)
        return worker if worker.ask(pa.table({"settings": [json.dumps(self._settings)]})) is not None else None

    def _here(self, table: pa.Table) -> pa.Table:
        if self._own is None:
            self._own = _function(self._name, self._settings)
        begin = perf_counter()
        found = self._own(table)
        with self._lock:
            self._spent += perf_counter() - begin
        return found

    def _there(self, table: pa.Table) -> pa.Table:
        worker = self._idle.get()
        try:
            worker = self._alive(worker)
            if (found := worker.ask(table)) is not None:
                return found
            parts = []
            for row in range(len(table)):
                worker = self._alive(worker)
                one = table.slice(row, 1)
                found = worker.ask(one)
                if found is None:
                    self._require_open()
                    found = self._instead(one)
                parts.append(found)
            return pa.concat_tables(parts) if parts else self._instead(table)
        finally:
            self._idle.put(worker)

    def _alive(self, worker: "_Worker") -> "_Worker":
        """Return a worker or, if it has ended, another one."""
        if not worker.ended:
            return worker
        self._require_open()
        with self._lock:
            self._workers.discard(worker)
        worker.close()
        if (new := self._new()) is None:
            raise EngineFailed("worker processes", "one of them ended, and no other one can be started")
        return new

    def _require_open(self) -> None:
        if self._closed:
            raise EngineFailed("worker processes", "they were ended")


class _Worker:
    """A process that answers a table with a table."""

    def __init__(self, function: str) -> None:
        paths = os.pathsep.join(sys.path)
        self._process = Popen(  # noqa: S603 - names of this package
            [sys.executable, "-P", "-m", __name__, function],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": paths},
            process_group=0,  # a terminal sends its signals to the other group
        )
        self.ended = False

    def ask(self, table: pa.Table) -> pa.Table | None:
        """Return the answer; ``None`` if the process has ended."""
        there, back = self._process.stdin, self._process.stdout
        if there is None or back is None:
            return None
        try:
            _write(there, table)
            return pa.ipc.open_stream(back).read_all()
        except (OSError, ValueError, pa.ArrowException):  # also of a pipe that is closed
            self.ended = True
            self.kill()
            return None

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """End the process, and wait for that."""
        self.kill()
        with suppress(OSError):
            self._process.__exit__(None, None, None)


def _write(stream: IO[bytes], table: pa.Table) -> None:
    with pa.ipc.new_stream(stream, table.schema) as written:
        written.write_table(table)
    stream.flush()


def _function(name: str, settings: Mapping[str, Any]) -> Function:
    module, _, own = name.partition(":")
    function: Function = getattr(import_module(module), own)(settings)
    return function


def serve(name: str) -> None:
    """Answer the tables on standard input until it ends; the first table has the settings."""
    tables, answers = open(0, "rb"), os.fdopen(os.dup(1), "wb")  # noqa: SIM115 - until the process ends
    os.dup2(2, 1)  # other output is not an answer
    shorten_start()
    _limit_memory()
    function: Function | None = None
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    while tables.peek(1):
        signal.alarm(_SECONDS)  # which ends the process wherever it is
        table = pa.ipc.open_stream(tables).read_all()
        if function is None:
            function = _function(name, json.loads(table["settings"][0].as_py()))
            answer = table
        else:
            answer = function(table)
        signal.alarm(0)
        _write(answers, answer)


def _limit_memory() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = min(one for one in (soft, hard, _MEMORY) if one != resource.RLIM_INFINITY)
    with suppress(OSError, ValueError):  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    serve(sys.argv[1])
