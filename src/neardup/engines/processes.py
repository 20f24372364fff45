"""Runs functions over tables in worker processes, for functions that hold the interpreter lock or may crash.

A worker is a new interpreter that is given the name of a function, never code: the script of a user is not imported
again, and nothing is pickled. It reads tables from a pipe and writes the results to another one, all as Arrow streams.
It ends when its input ends, so also if the process that started it is killed; a Ctrl-C in a terminal does not reach it.
On Linux, the workers are forks of a single new interpreter, which has loaded the first function.
"""

import gc
import json
import os
import resource
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from importlib import import_module
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import Event, Lock
from time import perf_counter
from typing import IO, Any, Final, NamedTuple, cast

import pyarrow as pa

from neardup.engines.local import awaited
from neardup.engines.startup import shorten_start
from neardup.model.errors import EngineFailed

Function = Callable[[pa.Table], pa.Table]

_START: Final = 0.5  # seconds of a processor that the start of a process takes
_FIRST: Final = 0.03  # seconds that a first table is expected to take
_UNDER_WAY: Final = 3  # tables for each process: some take several times as long as others
_ATTEMPTS: Final = 3  # to start a process in place of one that has ended
_SECONDS: Final = 600  # that a table may take
_MEMORY: Final = 8 << 30  # bytes of address space of a worker
_FORKS: Final = sys.platform == "linux"  # elsewhere, libraries of the system may not work in a fork
_END: Final = 5  # seconds that idle workers have to end
_NAME: Final = b"neardup.function"  # in the metadata of a table with the settings of the next function


class TableFunction(NamedTuple):
    """A function of tables: what ``MODULE:NAME`` returns for some *settings* (values of JSON).

    It must return a table whose rows depend only on the rows of the given table, so that no result depends on the
    number of processes. *instead* is applied to a row that ends its process.
    """

    name: str
    settings: Mapping[str, Any]
    instead: Function


class Processes(AbstractContextManager["Processes"]):
    """Up to *number* processes that apply functions to tables, one after the other; with 1, this process does.

    This process does the work until the first other one is ready, and if none can be started. The others are started
    as soon as they would save more time than their start takes. The estimate is made of the time that this process has
    needed so far; before the first table, of the time that a first table is expected to take.

    A process that ends, or that takes more than 10 minutes or 8 GiB of address space, is replaced, and its table is
    repeated row by row. A row that ends its process again is given to the function's *instead*.

    Use it as a context manager, whose end ends the processes. Several threads may use it.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._function: TableFunction  # of ``turn_to``
        self._own: Function | None = None
        self._spent = 0.0  # seconds of this process
        self._lock, self._ready, self._closed = Lock(), Event(), False
        self._pool: ThreadPoolExecutor | None = None  # a thread for each worker, which waits for it
        self._idle: SimpleQueue[_WorkerProcess] = SimpleQueue()
        self._programs: list[_Program] = []

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            if self._idle.qsize() < sum(len(program.workers) for program in self._programs):
                for program in self._programs:
                    program.kill()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        for program in self._programs:
            program.close()

    def turn_to(self, function: TableFunction) -> None:
        """Apply this function to the tables that come from now on; no ``map`` may be under way."""
        with self._lock:
            self._function, self._own = function, None

    def map(self, tables: Iterable[pa.Table], read: Callable[[], float] = lambda: 1.0) -> Iterator[pa.Table]:
        """Yield the results in order; at any time, up to three tables for each process are under way.

        *read* returns the share of all tables, from 0 to 1, that have come: the time for the others is estimated by it.
        """
        waiting: deque[Future[pa.Table]] = deque()
        before, done = self._spent, 0.0
        for table in tables:
            spent, share = (self._spent - before, done) if done else (_FIRST, read())
            left = spent * (1 / share - 1) if share else 0.0
            pool = self._started(left)
            if pool is None:
                found = self._here(table)
                done = read()
                yield found
                continue
            waiting.append(pool.submit(self._there, self._function, table))
            if len(waiting) >= _UNDER_WAY * self._number:
                yield awaited(waiting.popleft())
        while waiting:
            yield awaited(waiting.popleft())

    def _started(self, left: float) -> ThreadPoolExecutor | None:
        """Return the threads of the workers if one of these is ready; start them if many seconds of work are *left*.

        As much work as was done until now is expected after the tables that are known.
        """
        with self._lock:
            saved = (self._spent + left) * (1 - 1 / self._number)
            if self._pool is None and self._number > 1 and saved >= _START:
                self._pool = ThreadPoolExecutor(self._number, "neardup-process")
                for _ in range(1 if _FORKS else self._number):
                    self._pool.submit(self._begin, self._number if _FORKS else 1)
        return self._pool if self._ready.is_set() else None

    def _begin(self, number: int) -> None:
        for worker in self._new(number):
            self._idle.put(worker)
            self._ready.set()

    def _new(self, number: int) -> "Sequence[_WorkerProcess]":
        """Return a *number* of new workers that are ready; none if there cannot be any."""
        with self._lock:
            if self._closed:
                return ()
            try:
                program = _Program(self._function, number)
            except OSError:
                return ()
            self._programs.append(program)
        return program.load()

    def _here(self, table: pa.Table) -> pa.Table:
        if self._own is None:
            self._own = _loaded(self._function.name, self._function.settings)
        begin = perf_counter()
        found = self._own(table)
        with self._lock:
            self._spent += perf_counter() - begin
        return found

    def _there(self, function: TableFunction, table: pa.Table) -> pa.Table:
        worker = self._idle.get()
        try:
            worker = self._alive(worker, function)
            if (found := worker.apply(function, table)) is not None:
                return found
            parts = []
            for row in range(len(table)):
                worker = self._alive(worker, function)
                one = table.slice(row, 1)
                found = worker.apply(function, one)
                if found is None:
                    self._require_open()
                    found = function.instead(one)
                parts.append(found)
            return pa.concat_tables(parts) if parts else function.instead(table)
        finally:
            self._idle.put(worker)

    def _alive(self, worker: "_WorkerProcess", function: TableFunction) -> "_WorkerProcess":
        """Return a worker or, if it has ended, another one; an error of loading the function if that is why."""
        if not worker.ended:
            return worker
        for _ in range(_ATTEMPTS):  # another one may end, too, before it is ready
            self._require_open()
            self._forget_ended()
            if new := self._new(1):
                return new[0]
        _loaded(function.name, function.settings)
        raise EngineFailed("worker processes", "one of them ended, and no other one can be started")

    def _forget_ended(self) -> None:
        with self._lock:
            ended = [program for program in self._programs if all(worker.ended for worker in program.workers)]
            self._programs = [program for program in self._programs if program not in ended]
        for program in ended:
            program.close()

    def _require_open(self) -> None:
        if self._closed:
            raise EngineFailed("worker processes", "they were ended")


class _Program:
    """A new interpreter that loads a function and then becomes workers: itself, or several forks that it waits for."""

    def __init__(self, function: TableFunction, number: int) -> None:
        self._settings = function.settings
        ends: list[int] = []  # of each worker: to read tables from and to write them to, and the same for answers
        try:
            for _ in range(2 * number):
                ends += map(_above_standard_streams, os.pipe())
        except OSError:
            for end in ends:
                os.close(end)
            raise
        own = zip(ends[1::4], ends[2::4], strict=True)
        self.workers = [_WorkerProcess(function, os.fdopen(there, "wb"), os.fdopen(back, "rb")) for there, back in own]
        theirs = [end for pair in zip(ends[::4], ends[3::4], strict=True) for end in pair]
        try:
            self._process = Popen(  # noqa: S603 - names of this package
                [sys.executable, "-P", "-m", __name__, function.name, *map(str, theirs)],
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
                process_group=0,  # a terminal sends its signals to the other group
                pass_fds=theirs,
            )
        except OSError:
            for worker in self.workers:
                worker.close()
            raise
        finally:
            for end in theirs:
                os.close(end)

    def load(self) -> "list[_WorkerProcess]":
        """Return the workers, ready; none if the program has ended."""
        try:
            with cast("IO[bytes]", self._process.stdin) as stream:
                stream.write(json.dumps(self._settings).encode())
        except OSError:
            return []
        return [worker for worker in self.workers if worker.answer() is not None]

    def kill(self) -> None:
        with suppress(OSError):  # they have all ended
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the processes, and wait for that."""
        for worker in self.workers:
            worker.close()
        try:
            self._process.wait(_END)
        except TimeoutExpired:
            self.kill()
        with suppress(OSError):
            self._process.__exit__(None, None, None)


class _WorkerProcess:
    """A process that answers a table with a table, by a pipe there and one back."""

    def __init__(self, function: TableFunction, there: IO[bytes], back: IO[bytes]) -> None:
        self._function, self._there, self._back = function, there, back
        self.ended = False

    def apply(self, function: TableFunction, table: pa.Table) -> pa.Table | None:
        """Return the function's answer to a table; ``None`` if the process has ended."""
        if function is not self._function:
            settings = pa.table({"settings": [json.dumps(function.settings)]})
            if self._ask(settings.replace_schema_metadata({_NAME: function.name})) is None:
                return None
            self._function = function
        return self._ask(table)

    def _ask(self, table: pa.Table) -> pa.Table | None:
        try:
            _write(self._there, table)
        except (OSError, ValueError):  # also of a pipe that is closed
            self.close()
            return None
        return self.answer()

    def answer(self) -> pa.Table | None:
        try:
            return pa.ipc.open_stream(self._back).read_all()
        except (OSError, ValueError, pa.ArrowException):
            self.close()
            return None

    def close(self) -> None:
        """Close the pipes, which ends the process."""
        self.ended = True
        for stream in (self._there, self._back):
            with suppress(OSError):
                stream.close()


def open_processes(processes: Processes | None, number: int) -> AbstractContextManager[Processes]:
    """Return *processes*, which stay open at the end of the context, or up to a *number* of new ones."""
    return Processes(number) if processes is None else nullcontext(processes)


def _above_standard_streams(end: int) -> int:
    """Return a copy of a descriptor above 2, and close it: a program with closed standard streams gets lower ones."""
    try:
        return fcntl(end, F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(end)


def _write(stream: IO[bytes], table: pa.Table) -> None:
    with pa.ipc.new_stream(stream, table.schema) as written:
        written.write_table(table)
    stream.flush()


def _loaded(name: str, settings: Mapping[str, Any]) -> Function:
    module, _, own = name.partition(":")
    function: Function = getattr(import_module(module), own)(settings)
    return function


def serve(name: str, ends: Sequence[int]) -> None:
    """Answer the tables of pipes until they end; *ends* are those of each pair of pipes, to read from and to write to.

    Standard input has the settings of the function *name*; a table may have those of another one, for what follows. For
    several pairs there is a fork each.
    """
    shorten_start()
    _limit_memory()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS)  # which ends the process wherever it is
    function = _loaded(name, json.load(sys.stdin))
    signal.alarm(0)
    pairs = [*zip(ends[::2], ends[1::2], strict=True)]
    own: tuple[int, int] | None = pairs[0]
    if len(pairs) > 1:
        gc.freeze()  # collections would copy all that was loaded
        own = next((pair for pair in pairs if not os.fork()), None)  # none in the process that forks
    for end in {*ends}.difference(own or ()):
        os.close(end)  # a pipe ends with its last open copy
    if own is None:
        with suppress(ChildProcessError):
            while True:
                os.wait()
        return
    tables, answers = os.fdopen(own[0], "rb"), os.fdopen(own[1], "wb")
    _write(answers, pa.table({}))  # it is ready
    while tables.peek(1):
        signal.alarm(_SECONDS)
        table = pa.ipc.open_stream(tables).read_all()
        if (next_name := (table.schema.metadata or {}).get(_NAME)) is None:
            answer = function(table)
        else:
            function, answer = _loaded(next_name.decode(), json.loads(table["settings"][0].as_py())), pa.table({})
        signal.alarm(0)
        _write(answers, answer)


def _limit_memory() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = min(one for one in (soft, hard, _MEMORY) if one != resource.RLIM_INFINITY)
    with suppress(OSError, ValueError):  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    serve(sys.argv[1], [*map(int, sys.argv[2:])])
