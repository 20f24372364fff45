"""What a running service has: the index, its threads, and what it counts."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar, get_args

from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.metrics import Metrics
from neardup.model.errors import NeardupError, StorageBusy, StorageError
from neardup.pipeline.collapsing import collapse
from neardup.pipeline.judged import JudgedSets
from neardup.pipeline.living import Index
from neardup.pipeline.searching import Collapsing, Search, has_table

REFRESH_SECONDS: Final = 0.2  # between two looks of a reader at what the writer has done
_THREADS: Final = 2
_SAMPLE: Final = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"

Given = TypeVar("Given")
Answer = TypeVar("Answer")


class Serving:
    """An index that is served, and what the requests share.

    Small work is done at once, on the loop. Long work is done by threads of its own; while some is, small work is
    done by others, because an index serves one at a time, and the loop must not wait for it.
    """

    def __init__(
        self,
        index: Index,
        *,
        writes: bool = False,
        limits: Limits | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.index, self.writes = index, writes
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self.judged = JudgedSets()
        self.report = report or _unsaid
        self.search = self._searching()
        self.connections: Callable[[], int] = int  # how many there are: whoever listens says it
        self.ready = False
        self._failed = self._lags = False
        self._long = ThreadPoolExecutor(_THREADS, "neardup-long")
        self._short = ThreadPoolExecutor(_THREADS, "neardup-short")
        self._long_at_work = 0
        self._refreshing: asyncio.Task[None] | None = None

    @classmethod
    def opened(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        folder: str,
        *,
        key: bytes | None = None,
        read_only: bool = False,
        memory: int = 1 << 28,
        limits: Limits | None = None,
        report: Callable[[str], None] | None = None,
    ) -> "Serving":
        """Open an index to write, unless it is to be *read_only* or another process writes it already.

        *memory* bounds, in bytes, what it holds of new documents.
        """
        writes = not read_only
        if writes:
            try:
                index = Index.open(folder, "w", key=key, memory=memory)
            except StorageBusy:
                writes = False
        if not writes:
            index = Index.open(folder, key=key, memory=memory)
        return cls(index, writes=writes, limits=limits, report=report)

    async def run(self, call: Callable[[Given], Answer], given: Given, *, long: bool) -> Answer:
        """Do what takes long, or what would have to wait for such, in a thread; the rest at once."""
        if not (long or self._long_at_work):
            return call(given)
        self._long_at_work += long
        try:
            threads = self._long if long else self._short
            return await asyncio.get_running_loop().run_in_executor(threads, call, given)
        finally:
            self._long_at_work -= long

    async def start(self) -> None:
        """Get ready, and begin to look for what others write. Who wants no first request to wait warms up before."""
        if not self.writes:
            self._refreshing = asyncio.create_task(self._refresh_now_and_then())
        self.ready = True

    async def stop(self) -> None:
        """End: wait for what is at work, and close the index."""
        self.ready = False
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait([self._refreshing])
        for threads in (self._short, self._long):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
        self.close()

    def close(self) -> None:
        """Let go of the search table and the index."""
        if self.search is not None:
            self.search.close()
        self.index.close()

    def keep_up(self) -> None:
        """Bring the search table to where the index is. If that fails, what was done is done: it is only told."""
        if self.search is None:
            return
        try:
            self.search.catch_up()
            self._lags = False
        except StorageError as error:
            if not self._lags:
                self.report(f"the search table lags behind: {error}")
            self._lags = True

    def _searching(self) -> Search | None:
        """Open the search table, if there is one that can be read."""
        try:
            return Search.open(self.index) if has_table(self.index.store.folder) else None
        except StorageError as error:
            self.report(f"there is no search: {error}")
            return None

    @property
    def usable(self) -> bool:
        """Say whether the index answers."""
        if not self.ready or self._failed:
            return False
        try:
            len(self.index)
        except NeardupError:
            return False
        return True

    def gauges(self) -> list[tuple[str, str, str, float]]:
        """Give what is counted beside the requests: name, kind, sentence and value."""
        sets = [self.judged, *([self.search.judged] if self.search is not None else [])]
        return [
            ("neardup_connections", "gauge", "Connections that are open.", self.connections()),
            ("neardup_documents", "gauge", "Documents in the index.", len(self.index)),
            ("neardup_collapse_hits_total", "counter", "Sets of hits found in the cache.", sum(s.hits for s in sets)),
            ("neardup_collapse_misses_total", "counter", "Sets of hits judged anew.", sum(s.misses for s in sets)),
            ("neardup_writes", "gauge", "Whether this process writes the index.", int(self.writes)),
        ]

    def warm_up(self) -> None:
        """Load or compile what the first request would wait for."""
        from neardup.evaluation.comparison import compare, explain

        if not self.index.scheme.columns:
            self.index.judge([_SAMPLE, ""])
        collapse(["a", "b"], index=self.index)
        if self.search is not None:
            for rule in get_args(Collapsing):
                self.search.answer(_SAMPLE, collapse=rule)
        compare(_SAMPLE, _SAMPLE)
        explain(_SAMPLE, _SAMPLE, self.index.scheme)

    def _refresh(self) -> None:
        """Read what was written since; a search table may have been made, too."""
        self.index.refresh()
        if self.search is None and has_table(self.index.store.folder):
            self.search = self._searching()

    async def _refresh_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.run(lambda _: self._refresh(), None, long=True)
                self._failed = False
            except NeardupError as error:
                if not self._failed:
                    self.report(f"the index cannot be read: {error}")
                self._failed = True


def _unsaid(_: str) -> None:
    """Say nothing."""
