"""The index that a process serves, with what its requests share: the workload, caches and metrics."""

import asyncio
import time
from collections.abc import Callable
from threading import Lock
from typing import Final, Literal, get_args

from neardup.evaluation.comparison import compare, explain
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.metrics import Metrics
from neardup.interfaces.http.problems import READ_ONLY
from neardup.interfaces.http.workload import Workload
from neardup.interfaces.http.writer import Writes, writes_of
from neardup.model.errors import NeardupError, StorageBusy, StorageError, StorageFailed, StorageMoved, StorageRefused
from neardup.pipeline.crawl.keyed_visits import KeyedVisits
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import addresses_for, extraction_for, require_extraction
from neardup.pipeline.query.collapse import collapse
from neardup.pipeline.query.result_cache import JudgedSets
from neardup.pipeline.query.search import Collapsing, Search, has_table
from neardup.sources.addresses import Addresses
from neardup.text.extraction import Extraction

REFRESH_SECONDS: Final = 0.2  # between two looks at the folder of the index
STATS_SECONDS: Final = 5.0  # between two looks at the size of the index, and at least
STATS_SHARE: Final = 100  # times the time of one
RETRY_SECONDS: Final = 2.0  # between two attempts to write an index that cannot be written
_OTHER_WRITER: Final = "Another process writes the index; this one only reads it until that process ends."
_SAMPLE: Final = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"

Opening = Callable[[Literal["r", "w"]], Index]


class Service:
    """An index that is served: for writing, unless it is *read_only* or another process writes it.

    *writer* is the socket of another process of this service, which makes all changes. *extraction* is how HTML becomes
    text, as that of the pages of the index did, if it has some; ``None`` is how these were read.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        opening: Opening,
        *,
        read_only: bool = False,
        writer: str | None = None,
        addresses: Addresses | None = None,
        extraction: Extraction | None = None,
        limits: Limits | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._opening, self._read_only = opening, read_only
        self._addresses, self.writer = addresses, writer
        self.extraction = extraction
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self.work = Workload(self.limits, self.metrics.rejected.inc)
        self.cache = JudgedSets()
        self.report = report or (lambda _: None)
        self._search_lags = False
        self._failures: dict[str, str | None] = {"read": None, "written": None}  # as they were reported
        self._tried, self._measures = time.monotonic(), 0.0  # the time of the next measurement
        self.index = self._opened()
        self.search = self._opened_search()
        self.ready = False
        self._tasks: list[asyncio.Task[None]] = []  # that watch the index, and ask the process that writes
        self._writer_writes: Writes = "failed"  # as the writer reported last
        self._visiting = Lock()
        self._visits: KeyedVisits | None = None  # of this index
        self._counting, self._counted = Lock(), (0, 0)  # hits and misses in the metrics

    def visits(self) -> KeyedVisits:
        """Return what records the pages of crawls."""
        with self._visiting:
            known = self._visits
            if known is None or known.index is not self.index:
                self._visits = known = KeyedVisits(self.index, self._addresses)
            return known

    # Start and end.

    async def start(self) -> None:
        """Start to watch the index. Call ``warm_up`` before, so that the first request does not wait."""
        self.ready = True
        self.update_metrics()  # now that the index is idle: the first request may find it busy
        self._tasks.append(asyncio.create_task(self._watch()))
        if self.writer is not None:
            self._tasks.append(asyncio.create_task(self._ask()))

    async def stop(self) -> None:
        """Wait for the work in progress, and close the index."""
        self.ready = False
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.work.stop()
        self.close()

    def close(self) -> None:
        """Close the search table and the index."""
        self._close(self.search, self.index)

    def warm_up(self) -> None:
        """Load or compile what the first request needs."""
        if not self.index.scheme.columns:
            self.index.judge([_SAMPLE, ""])
        collapse(["a", "b"], index=self.index)
        if self.search is not None:
            for rule in get_args(Collapsing):
                self.search.answer(_SAMPLE, collapse=rule)
        compare(_SAMPLE, _SAMPLE)
        explain(_SAMPLE, _SAMPLE, self.index.scheme)

    # State.

    @property
    def readable(self) -> bool:
        """Whether the index can be read, and is the one that is at its path."""
        if not self.ready or self._failures["read"] is not None:
            return False
        try:
            len(self.index)
        except NeardupError:
            return False
        return True

    @property
    def writes(self) -> Writes:
        """Whether the index can be written: ``"failed"`` means not now, and that writing is retried.

        If another process of this service writes it, return what that process last reported.
        """
        if self.writer is not None:
            return self._writer_writes
        if self.index.failure is not None or self._failures["written"] is not None:
            return "failed"
        return "yes" if self.index.store.writes else "no"

    @property
    def reason_not_to_write(self) -> str:
        """Why the service does not write where ``writes`` is ``"no"``."""
        return READ_ONLY.when if self._read_only else _OTHER_WRITER

    @property
    def recovers(self) -> bool:
        """Whether all of its tasks are running, which it needs to recover from a failure without a restart."""
        return not any(task.done() for task in self._tasks)

    def update_metrics(self) -> None:
        """Set the metrics that describe the index."""
        metrics, readable = self.metrics, self.readable
        metrics.ready.set(readable)
        metrics.writes.set(self.writes == "yes" and self.writer is None)
        busy = self.index.store.busy
        if readable and busy.acquire(blocking=False):  # while files are read again, documents are missing
            try:
                metrics.documents.set(len(self.index))
            finally:
                busy.release()
        for long, name in ((False, "short"), (True, "long")):
            metrics.in_progress.labels(name).set(self.work.in_progress[long])
        caches = [self.cache, *([self.search.judged] if self.search is not None else [])]
        hits, misses = sum(cache.hits for cache in caches), sum(cache.misses for cache in caches)
        with self._counting:
            metrics.hits.inc(max(0, hits - self._counted[0]))  # a search table opened again starts at zero
            metrics.misses.inc(max(0, misses - self._counted[1]))
            self._counted = hits, misses

    def measure(self) -> None:
        """Set the metrics of the size of the index, which take longer."""
        begun = time.monotonic()
        stats, metrics = self.index.stats(), self.metrics
        metrics.kept.set(stats.kept)
        metrics.segments.set(stats.segments)
        metrics.bytes.set(stats.bytes)
        if self.search is not None:
            metrics.search_lag.set(self.search.behind)
        now = time.monotonic()
        self._measures = now + max(STATS_SECONDS, STATS_SHARE * (now - begun))

    def catch_up(self) -> None:
        """Update the search table after a change of the index; a failure is reported, and the change stays."""
        if self.search is None:
            return
        try:
            self.search.catch_up()
            self._search_lags = False
        except StorageError as error:
            if not self._search_lags:
                self.report(f"the search table is behind the index: {error.words()}")
            self._search_lags = True

    # Opening and recovery.

    def _opened(self) -> Index:
        """Open the index, for writing if that is wanted and possible."""
        reason = None
        try:
            found = self._checked(self._opening("r" if self._read_only else "w"))
        except StorageBusy as error:
            found = self._checked(self._opening("r"))
            self.report(f"the service only reads for now: {error}")
        except StorageFailed as error:
            found, reason = self._checked(self._opening("r")), str(error)
        self._note("written", reason)
        return found

    def _checked(self, index: Index) -> Index:
        """Return an index whose pages are read and named as those of the service; it is closed if they are not."""
        own = self.extraction
        try:
            addresses_for(index, self._addresses)
            _ = index.templates  # without them, no page can be read
            if own is not None and (own.templates is not None or index.extraction is not None):
                require_extraction(index, extraction_for(index, own))
        except BaseException:
            index.close()
            raise
        return index

    def _opened_search(self) -> Search | None:
        try:
            return Search.open(self.index) if has_table(self.index.store.folder) else None
        except StorageError as error:
            self.report(f"search is not available: {error.words()}")
            return None

    def _close(self, *parts: Index | Search | None) -> None:
        for part in parts:
            try:
                if part is not None:
                    part.close()
            except StorageError as error:
                self.report(f"the index was closed with an error: {error}")

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.work.run(self._look, long=True)
            except NeardupError as error:
                self._note("read", error.words())
            except Exception as error:
                self.report(f"the index is no longer watched: {type(error).__name__}: {error}")
                raise

    def ask_writer(self, seconds: float) -> None:
        """Ask the process that writes whether it can, and wait some *seconds* for the answer."""
        if self.writer is not None:
            self._writer_writes = writes_of(self.writer, seconds)

    async def _ask(self) -> None:
        while True:
            await asyncio.to_thread(self.ask_writer, RETRY_SECONDS)
            await asyncio.sleep(REFRESH_SECONDS if self.writes == "failed" else RETRY_SECONDS)

    def _look(self) -> None:
        """Read what another process has written, and try to recover from a failure."""
        try:
            self.index.refresh()
        except (StorageMoved, StorageRefused) as error:
            self._note("read", str(error))
            if not self.index.store.closed:
                self._replace(self._opened())
        self._note("read", None)
        if not self._read_only and self.writes != "yes" and time.monotonic() >= self._tried + RETRY_SECONDS:
            self._try_to_write()
        if (self.search is not None) != has_table(self.index.store.folder):
            old, self.search = self.search, self._opened_search()
            self._close(old)
        self.update_metrics()
        if time.monotonic() >= self._measures:
            self.measure()

    def _try_to_write(self) -> None:
        try:
            if self.index.store.writes:
                self._note("written", self.index.failure)
                self.index.sync()
            else:
                self._replace(self._checked(self._opening("w")))
            self._note("written", None)
            self.catch_up()
        except StorageBusy:
            self._note("written", None)
        except StorageFailed as error:
            self._note("written", str(error))
        finally:
            self._tried = time.monotonic()

    def _replace(self, index: Index) -> None:
        """Serve another index, or the same one opened in another mode."""
        old, old_search = self.index, self.search
        self.index = index
        self.search = self._opened_search()
        self._close(old_search, old)

    def _note(self, verb: Literal["read", "written"], reason: str | None) -> None:
        """Report that the index cannot be read or written any more, and that it can be again, each once."""
        known, self._failures[verb] = self._failures[verb], reason
        if reason is None and known is not None:
            self.report(f"the index can be {verb} again")
        if reason is not None and known is None:
            retried = f", and is retried every {RETRY_SECONDS:g} seconds" if verb == "written" else ""
            self.report(f"the index cannot be {verb}{retried}: {reason}")
