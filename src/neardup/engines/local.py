"""Runs a function over batches on the local cores."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from typing import Any, Final

from neardup.engines.resources import available_cores
from neardup.model.engine import Item, Result
from neardup.model.errors import EngineFailed, require_whole

NO_THREADS: Final = (
    "cannot be started: the limit of processes or memory is reached; use fewer threads, or raise the limit"
)

_SIGNALS: Final = 1  # seconds after which a signal is seen at the latest


class LocalEngine(AbstractContextManager["LocalEngine"]):
    """Threads that share the kernels' machine code; results are in the order of the items.

    Kernels release the interpreter lock, so threads run in parallel. Use it as a context manager. ``threads=None`` uses
    every core available to the process.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = thread_count(threads)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._closed = False

    def __exit__(self, *_: object) -> None:
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], *, most: int | None = None
    ) -> Iterator[Result]:
        """Yield the results in order; at any time up to *most* items, by default 4 per thread, are being processed."""
        if self._pool is None:
            yield from map(function, items)
            return
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(_submitted(self._pool, function, item))
            if len(waiting) > (4 * self.threads if most is None else most):
                yield awaited(waiting.popleft())
        while waiting:
            yield awaited(waiting.popleft())

    def in_turn(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of calls by this thread, such as one that ``begin`` has started; stop at the engine's end.

        Raises ``CancelledError`` then, so that the end does not wait for the other items.
        """
        for item in items:
            if self._closed:
                raise CancelledError
            yield function(item)

    def begin(self, function: Callable[[], Result]) -> Callable[[], Result]:
        """Start a function in parallel; call the returned function to wait for its result."""
        if self._pool is None:
            done = function()
            return lambda: done
        return partial(awaited, _submitted(self._pool, function))

    def parts(self, number: int) -> list[slice]:
        """Cut *number* items into slices, two per thread, because they do not take equally long; none is empty."""
        slices = min(number, 2 * self.threads if self._pool is not None else 1)
        edges = [number * part // slices for part in range(slices + 1)] if slices else []
        return [slice(begin, end) for begin, end in pairwise(edges)]


def ahead(items: Iterable[Item], most: int) -> Iterator[Item]:
    """Yield the items; a thread of its own makes the next ones, at most this many, while the caller uses one."""
    iterator, end, pool = iter(items), object(), ThreadPoolExecutor(1)
    try:
        following: deque[Future[Any]] = deque(_submitted(pool, next, iterator, end) for _ in range(most))
        while (item := awaited(following.popleft())) is not end:
            following.append(pool.submit(next, iterator, end))
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ThreadPoolExecutor, function: Callable[..., Any], *arguments: object) -> Future[Any]:
    """Submit a call to a pool; ``EngineFailed`` if the system starts no thread for it."""
    try:
        return pool.submit(function, *arguments)
    except RuntimeError as error:  # from ``Thread.start``
        raise EngineFailed("threads", NO_THREADS) from error


def thread_count(threads: int | None) -> int:
    """Return the number of threads; ``None`` means every core available to the process.

    Raises ``ParameterError`` unless it is an integer of at least 1.
    """
    return available_cores() if threads is None else require_whole("threads", threads, 1)


def awaited(future: Future[Result]) -> Result:
    """Return the result of a future; a signal such as that of Ctrl-C may interrupt this.

    The system may deliver a signal to another thread, which does not wake the main one, whose task it is to react.
    """
    while not future.done():
        wait([future], _SIGNALS)
    return future.result()
