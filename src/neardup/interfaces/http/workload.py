"""The work of requests: where it runs, and how much of it may be in progress."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from neardup.interfaces.http.limits import SMALL, Limits
from neardup.interfaces.http.problems import OVERLOADED, PREFIXES, TOO_LARGE, ProblemKind, Refusal
from neardup.model.engine import Result
from neardup.model.query import terms_of

_THREADS: Final = 2


class Workload:
    """Does the work of requests within *limits*, and rejects further requests (429); *count* is called for each.

    Short work runs on the event loop. Long work runs in its own threads, and short work in other threads,
    because an index serves one thread at a time, and the event loop must not wait for it.
    """

    def __init__(self, limits: Limits, count: Callable[[], None]) -> None:
        self._limits, self._count = limits, count
        self.body_memory = 0  # bytes of large bodies
        self.in_progress = {False: 0, True: 0}  # short and long requests
        self._forwarded = 0  # requests that the process that writes answers
        self._prefix_queries, self._prefix_turn = 0, asyncio.Lock()
        self._most = {False: limits.short_requests, True: limits.long_requests}
        threads = {"long": _THREADS, "short": _THREADS, "forward": limits.long_requests}
        self._threads = {name: ThreadPoolExecutor(most, f"neardup-{name}") for name, most in threads.items()}
        self._long_running = 0

    async def answer(self, work: Callable[[], Result], *, long: bool) -> Result:
        """Do the work of a request, or reject it (429) where too many of its kind are in progress."""
        if self.in_progress[long] >= self._most[long]:
            await asyncio.sleep(self._limits.pause_seconds)
            raise self.rejected()
        self.in_progress[long] += 1
        try:
            await asyncio.sleep(0)  # requests that have arrived are counted before the event loop works on one of them
            return await self.run(work, long=long)
        finally:
            self.in_progress[long] -= 1

    async def answer_query(self, query: str, work: Callable[[], Result]) -> Result:
        """Do the work of a search; queries with prefixes wait for one another, and for no longer than a query may take.

        Too many of them are rejected (429), so that they never delay other queries.
        """
        if not any(term.begins for term in terms_of(query)):
            return await self.answer(work, long=True)
        if self._prefix_queries >= self._limits.prefix_queries:
            raise self.rejected(PREFIXES)
        self._prefix_queries += 1
        try:
            try:
                async with asyncio.timeout(self._limits.query_seconds):
                    await self._prefix_turn.acquire()
            except TimeoutError:
                raise self.rejected(PREFIXES) from None
            try:
                return await self.answer(work, long=True)
            finally:
                self._prefix_turn.release()
        finally:
            self._prefix_queries -= 1

    async def forward(self, work: Callable[[], Result]) -> Result:
        """Return the answer of the process that writes, or reject the request (429) if too many wait for one.

        Forwarded requests do not count as long ones, so changes neither delay reads nor cause their rejection.
        """
        if self._forwarded >= self._limits.long_requests:
            await asyncio.sleep(self._limits.pause_seconds)
            raise self.rejected()
        self._forwarded += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads["forward"], work)
        finally:
            self._forwarded -= 1

    def hold(self, size: int) -> None:
        """Count a body of *size* bytes if it is large; reject it (413, 429) if it, or all of them, need too much."""
        if size > SMALL:
            self.body_memory += size
        if size > self._limits.body:
            raise Refusal(TOO_LARGE)
        if self.body_memory > self._limits.body_memory and size > SMALL:
            raise self.rejected()

    def release(self, size: int) -> None:
        """Stop counting a body of *size* bytes."""
        if size > SMALL:
            self.body_memory -= size

    @property
    def is_full(self) -> bool:
        """Whether as many short requests are in progress as allowed: then all requests are rejected early."""
        return self.in_progress[False] >= self._most[False]

    def rejected(self, kind: ProblemKind = OVERLOADED) -> Refusal:
        """Count a rejected request, and return its refusal."""
        self._count()
        return Refusal(kind, headers={"retry-after": "1"})

    async def run(self, work: Callable[[], Result], *, long: bool) -> Result:
        """Do work that takes long, or that would wait for such work, in a thread; other work at once."""
        if not (long or self._long_running):
            return work()
        self._long_running += long
        try:
            threads = self._threads["long" if long else "short"]
            return await asyncio.get_running_loop().run_in_executor(threads, work)
        finally:
            self._long_running -= long

    async def stop(self) -> None:
        """Wait for the work in progress."""
        for threads in self._threads.values():
            await asyncio.to_thread(threads.shutdown)
