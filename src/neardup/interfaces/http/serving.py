"""What a running service has: the index, its threads, and what it counts."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal, TypeVar, get_args

from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.metrics import Metrics
from neardup.model.errors import NeardupError, StorageBusy, StorageError, StorageFailed, StorageMoved, StorageRefused
from neardup.pipeline.collapsing import collapse
from neardup.pipeline.judged import JudgedSets
from neardup.pipeline.living import Index
from neardup.pipeline.searching import Collapsing, Search, has_table

REFRESH_SECONDS: Final = 0.2  # between two looks at the folder of the index
RETRY_SECONDS: Final = 2.0  # between two tries to write an index that cannot be written
_THREADS: Final = 2
_SAMPLE: Final = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"

Writes = Literal["yes", "no", "failed"]
Opening = Callable[[Literal["r", "w"]], Index]
Given = TypeVar("Given")
Answer = TypeVar("Answer")


class Serving:
    """An index that is served, and what the requests share.

    Small work is done at once, on the loop. Long work is done by threads of its own; while some is, small work is
    done by others, because an index serves one at a time, and the loop must not wait for it.
    """

    def __init__(
        self,
        opening: Opening,
        *,
        read_only: bool = False,
        limits: Limits | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._opening, self._read_only = opening, read_only
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self.judged = JudgedSets()
        self.report = report or _unsaid
        self._lags = False
        self._unreadable: str | None = None  # what was reported, as is the next
        self._unwritable: str | None = None
        self._tried = time.monotonic()
        self.index = self._opened()
        self.search = self._searching()
        self.connections: Callable[[], int] = int  # how many there are, told by the server
        self.ready = False
        self._long = ThreadPoolExecutor(_THREADS, "neardup-long")
        self._short = ThreadPoolExecutor(_THREADS, "neardup-short")
        self._long_at_work = 0
        self._watching: asyncio.Task[None] | None = None

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
        """Serve the index in a folder: to write, unless it is *read_only* or cannot be written now.

        *memory* bounds, in bytes, what it holds of new documents.
        """

        def opening(mode: Literal["r", "w"]) -> Index:
            return Index.open(folder, mode, key=key, memory=memory)

        return cls(opening, read_only=read_only, limits=limits, report=report)

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
        """Get ready, and begin to watch the index. Warm up before, so that the first request need not wait."""
        self._watching = asyncio.create_task(self._watch())
        self.ready = True

    async def stop(self) -> None:
        """End: wait for what is at work, and close the index."""
        self.ready = False
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        for threads in (self._short, self._long):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)
        self.close()

    def close(self) -> None:
        """Close the search table and the index."""
        self._close(self.index, self.search)

    def _close(self, index: Index, search: Search | None) -> None:
        try:
            if search is not None:
                search.close()
            index.close()
        except StorageError as error:
            self.report(f"the index was closed with an error: {error}")

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
        """Whether the index answers, and is the one that is at its path."""
        if not self.ready or self._unreadable is not None:
            return False
        try:
            len(self.index)
        except NeardupError:
            return False
        return True

    @property
    def writes(self) -> Writes:
        """Whether the index can be written: ``"failed"`` if it cannot now, but writing is tried again and again."""
        if self.index.failure is not None or self._unwritable is not None:
            return "failed"
        return "yes" if self.index.store.writes else "no"

    @property
    def recovers(self) -> bool:
        """Whether it still watches the index: only then does it recover from a failure by itself."""
        return self._watching is None or not self._watching.done()

    def gauges(self) -> list[tuple[str, str, str, float]]:
        """Give what is counted next to the requests: name, kind, sentence and value. It never fails."""
        sets = [self.judged, *([self.search.judged] if self.search is not None else [])]
        return [
            ("neardup_connections", "gauge", "Connections that are open.", self.connections()),
            *([("neardup_documents", "gauge", "Documents in the index.", len(self.index))] if self.usable else []),
            ("neardup_collapse_hits_total", "counter", "Sets of hits found in the cache.", sum(s.hits for s in sets)),
            ("neardup_collapse_misses_total", "counter", "Sets of hits judged anew.", sum(s.misses for s in sets)),
            ("neardup_ready", "gauge", "Whether the index answers.", int(self.usable)),
            ("neardup_writes", "gauge", "Whether this process can write the index now.", int(self.writes == "yes")),
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

    # Recovering.

    def _opened(self) -> Index:
        """Open the index: to write, if that is wanted and can be."""
        reason = None
        try:
            return self._opening("r" if self._read_only else "w")
        except StorageBusy:
            return self._opening("r")
        except StorageFailed as error:
            reason = str(error)
            return self._opening("r")
        finally:
            self._note_writing(reason)

    def _look(self) -> None:
        """Read what was written since, and try to recover from what has failed."""
        try:
            self.index.refresh()
        except (StorageMoved, StorageRefused) as error:
            self._note_reading(str(error))
            if not self.index.store.closed:
                self._exchange(self._opened())
        self._note_reading(None)
        if not self._read_only and self.writes != "yes" and time.monotonic() >= self._tried + RETRY_SECONDS:
            self._try_to_write()
        if self.search is None and has_table(self.index.store.folder):
            self.search = self._searching()

    def _try_to_write(self) -> None:
        """Begin to write if that is possible by now."""
        try:
            if self.index.store.writes:
                self._note_writing(self.index.failure)
                self.index.sync()
            else:
                self._exchange(self._opening("w"))
            self._note_writing(None)
            self.keep_up()
        except StorageBusy:
            self._note_writing(None)
        except StorageFailed as error:
            self._note_writing(str(error))
        finally:
            self._tried = time.monotonic()

    def _exchange(self, index: Index) -> None:
        """Serve another index, or the same one opened in another way, from now on."""
        old, old_search = self.index, self.search
        self.index = index
        self.search = self._searching()
        self._close(old, old_search)

    def _note_reading(self, reason: str | None) -> None:
        if reason is not None and self._unreadable is None:
            self.report(f"the index is not ready: {reason}")
        if reason is None and self._unreadable is not None:
            self.report("the index is ready again")
        self._unreadable = reason

    def _note_writing(self, reason: str | None) -> None:
        if reason is not None and self._unwritable is None:
            self.report(f"the index cannot be written, and is tried again every {RETRY_SECONDS:g} seconds: {reason}")
        if reason is None and self._unwritable is not None:
            self.report("the index can be written again")
        self._unwritable = reason

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.run(lambda _: self._look(), None, long=True)
            except NeardupError as error:
                self._note_reading(str(error))
            except Exception as error:
                self.report(f"the index is not watched any more: {type(error).__name__}: {error}")
                raise


def _unsaid(_: str) -> None:
    """Say nothing."""
