"""Workers: processes on any machines that do tasks of a run that another process coordinates."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from neardup import __version__
from neardup.engines.journal import (
    LEASE,
    LONGEST_WAIT,
    SHORTEST_WAIT,
    Header,
    Stage,
    WorkFolder,
    check_own,
    read_header,
)
from neardup.engines.local import thread_count
from neardup.model.errors import StorageFailed, StorageRefused

End = Literal["finished", "stopped", "absent"]
TaskFunction = Callable[[WorkFolder, int], dict[str, Any]]


class Worked(NamedTuple):
    """The number of tasks that a worker did, and why it ended.

    ``finished``: the run is complete, was restarted, or its folder was moved or removed. ``stopped``: its coordinator
    ended before that, and no other continued it. ``absent``: there was no run.
    """

    tasks: int
    ended: End


def work(
    folder: Path,
    function_of: Callable[[str], TaskFunction | None],
    *,
    idle: float = LEASE,
    threads: int | None = 1,
    waiting: Callable[[End], None] | None = None,
) -> Worked:
    """Do tasks of the run in a folder until the run ends, with the function of each stage.

    *function_of* returns the function for the name of a stage: its arguments are the work folder and the task, and it
    returns what that of ``Journal.run`` returns. Stages without a function are left to other processes. The worker
    waits *idle* seconds for a run, and for a coordinator that continues an interrupted one; *waiting* is called with
    why it waits. ``threads=None`` uses every core available to the process.

    Tasks run in other threads, so that a signal that raises an exception in this one ends the worker immediately, even
    in compiled code, and releases its tasks. An error that a function raises ends the worker and is raised; the task is
    left to other processes. Raises ``StorageRefused`` if another version of neardup started the run, or if the folder
    cannot be a work folder, and ``StorageFailed`` if the system refuses.
    """
    threads = thread_count(threads)
    waiting = waiting or (lambda _: None)
    header = _await_run(folder, idle, waiting)
    if header is None:
        return Worked(0, "absent")
    require_version(folder, header)
    try:
        run = WorkFolder(folder, header)
    except StorageFailed:
        if _is_over(folder, header):
            return Worked(0, "finished")
        raise
    worker = _WorkerThreads(run, header, function_of, idle, waiting)
    try:
        worker.run(threads)
    finally:
        worker.stopping.set()
        run.claims.leave()
    if worker.error is not None:
        raise worker.error
    return Worked(len(worker.tasks), worker.ended)


def require_version(folder: str | Path, header: Header) -> Header:
    """Return the header of a run; ``StorageRefused`` if another version of neardup started the run."""
    if header.version != __version__:
        reason = f"its run was started by neardup {header.version}, and this is {__version__}; use the same version"
        raise StorageRefused(str(folder), reason)
    return header


class _WorkerThreads:
    def __init__(
        self,
        run: WorkFolder,
        header: Header,
        function_of: Callable[[str], TaskFunction | None],
        idle: float,
        waiting: Callable[[End], None],
    ) -> None:
        self._run, self._header, self._function_of, self._idle = run, header, function_of, idle
        self._waiting, self._stopped, self._lock = waiting, False, threading.Lock()
        self.stopping = threading.Event()
        self.tasks: list[int] = []
        self.ended: End = "finished"
        self.error: BaseException | None = None

    def run(self, threads: int) -> None:
        started = [threading.Thread(target=self._serve, daemon=True) for _ in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    def _serve(self) -> None:
        try:
            self.ended = self._until_the_end()
        except BaseException as error:  # noqa: BLE001 - raised in the main thread
            over = False
            with suppress(Exception):
                over = _is_over(self._run.folder, self._header)  # its files were removed
            if not over:
                self.error = error
        self.stopping.set()

    def _until_the_end(self) -> End:
        seen, wait = time.monotonic(), SHORTEST_WAIT
        while not self.stopping.is_set():
            if _is_over(self._run.folder, self._header):
                return "finished"
            stage = self._run.stage()
            if stage is not None:
                seen = time.monotonic()
            elif time.monotonic() - seen >= self._idle:
                return "stopped"
            self._note(stopped=stage is None)
            if stage is not None and self._has_done_one(stage):
                wait = SHORTEST_WAIT
            else:
                self.stopping.wait(wait)
                wait = min(2 * wait, LONGEST_WAIT)
        return self.ended

    def _note(self, *, stopped: bool) -> None:
        """Report once, from the first thread that notices, that no coordinator is there."""
        with self._lock:
            known, self._stopped = self._stopped, stopped
        if stopped and not known:
            self._waiting("stopped")

    def _has_done_one(self, stage: Stage) -> bool:
        function = self._function_of(stage.name)
        if function is None:
            return False
        done = self._run.done(stage.name)
        for task in range(stage.tasks):
            if self.stopping.is_set():
                break
            if task in done:
                continue
            if self._run.attempt(stage.name, task, partial(function, self._run)):
                self.tasks.append(task)
                return True
        return False


def _await_run(folder: Path, idle: float, waiting: Callable[[End], None]) -> Header | None:
    if (header := read_header(folder)) is None:
        check_own(folder)
        waiting("absent")
        end, wait = time.monotonic() + idle, SHORTEST_WAIT
        while (header := read_header(folder)) is None and time.monotonic() < end:
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
    return header


def _is_over(folder: Path, header: Header) -> bool:
    now = read_header(folder)
    return now is None or now.finished or now.token != header.token
