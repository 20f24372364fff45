"""The query moment on an index: its full text, found by words, and never without the index's own word on each hit."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Final, Self

import numpy as np

from neardup.index import fulltext
from neardup.index.columns import STRING, decoded
from neardup.index.fulltext import FullText, Marked, Matches, State, Texts
from neardup.index.store import Places, Store
from neardup.model.arrays import Positions
from neardup.model.errors import StorageRefused, require, require_whole
from neardup.pipeline.fields import field_values, moment_of
from neardup.pipeline.living import Index

Progress = Callable[[str, int, int], None]

TITLE, URL = "title", "url"  # the fields of strings that are searched and shown, where an index has them
SECONDS: Final = 2.0  # that a search may take
TOP: Final = 100  # hits that are examined
MOST_TOP: Final = 10_000

_STEP: Final = 512  # documents that are read and written at once
_WEB: Final = ("http://", "https://")
_NOTHING: Final = Marked("", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A document that a query finds. *url* is its field ``url``, or its id if that is an address of the web."""

    id: str
    ordinal: int
    score: float
    title: str | None
    url: str | None
    admitted: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best hits of a query, ranked, of the *total* of documents that match."""

    query: str
    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """What to show of a hit: its title and a passage, both with what was looked for as pairs of begin and end."""

    title: Marked
    body: Marked


def has_table(folder: str | os.PathLike[str]) -> bool:
    """Tell whether an index has a search table."""
    return Path(folder, fulltext.NAME).exists()


def keeping_up(index: Index, *, make: bool = False, progress: Progress | None = None) -> "Search | None":
    """Open the search table of an index that is open to write, if it has one or *make* says so, and catch up.

    Whoever changes such an index calls ``catch_up`` of what it is given after each change.
    """
    return Search.open(index, make=make, progress=progress) if make or has_table(index.store.folder) else None


class Search:
    """Finds documents of an index by words and phrases. Made by ``open``; close it, or use it in ``with``.

    The table is derived from the index, and never has the last word: a document that was removed, or came with another
    content since, is not shown, however old the table is. One that was admitted is found once the writer has caught up:
    ``catch_up`` after each change, as every verb and the service do, and opening to write do so.
    """

    def __init__(self, index: Index, table: FullText) -> None:
        self._index, self._store, self._table = index, index.store, table
        self._has_title, self._has_url = (index.fields.get(name) == STRING for name in (TITLE, URL))
        self._catching = RLock()
        self._held: Positions | None = None  # what is in the table, as far as its only writer needs to know

    @classmethod
    def open(cls, index: Index, *, make: bool = False, progress: Progress | None = None) -> Self:
        """Open the search table of an index: to write, as far as the index was opened so, and to read.

        A writer catches up with the index first; with *make* it builds the table where there is none. Titles are the
        field of strings ``title``, if the index has one.

        Raises ``StorageRefused`` where there is no table, or one of another index or format, or where the index keeps
        no texts; ``StorageDamaged`` for one that is damaged. ``rebuild`` helps against all but the last but one.
        """
        _require_texts(index)
        store = index.store
        path = store.folder / fulltext.NAME
        if not has_table(store.folder):
            if not (make and store.writes):
                raise StorageRefused(str(store.folder), f"has no search table: {fulltext.REBUILD}")
            cls.rebuild(index, progress)
        search = cls(index, FullText(path, store.manifest.mark, writes=store.writes))
        if store.writes:
            try:
                search.catch_up(progress)
            except BaseException:
                search.close()
                raise
        return search

    @staticmethod
    def rebuild(index: Index, progress: Progress | None = None) -> None:
        """Build the search table of an index anew, whatever is there; readers have the old one until it is done.

        The index must be open to write, and nobody else may change it meanwhile. A death leaves what was there before.
        """
        _require_texts(index)
        store = index.store
        with store.busy:
            store.require_writer()
            store.sync()
            following, total = store.next_ordinal, len(store)
            batches = _batches(store, -1, total, progress)
            FullText.build(store.folder / fulltext.NAME, store.manifest.mark, following, batches)

    def close(self) -> None:
        """Let go of the table; the index stays open. A second call does nothing."""
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Keeping up.

    def catch_up(self, progress: Progress | None = None) -> int:
        """Bring the table to where the index is; give how many documents came and went. The index must be writable.

        What is in the table is on the disk in the index: the index is synced first, so that no power failure leaves
        documents to be found that are not there.
        """
        store = self._store
        with self._catching:
            state = self._table.state()
            with store.busy:
                store.require_writer()
                if self._is_level(state):
                    return 0
                store.sync()
                beyond = state.following > store.next_ordinal
            if beyond:  # the index was set back, by a copy of old: what has which ordinal is not what it was
                self.rebuild(self._index, progress)
                self._held = None
                return len(store)
            changed = 0
            total = max(store.next_ordinal - state.following, 1)
            while batch := self._next(state.following):
                following, texts = batch
                state = self._table.update(following, texts)
                changed += len(texts.ordinals)
                self._hold(np.asarray(texts.ordinals, np.int64))
                if progress:
                    progress("search", min(changed, total), total)
            return changed + self._leave_out(state)

    def _is_level(self, state: State) -> bool:
        """Tell whether the table has the documents of the index: all that were admitted, and no more than there are."""
        return state == (self._store.next_ordinal, len(self._store))

    def _next(self, following: int) -> tuple[int, Texts] | None:
        """Read the next documents, and tell up to where they go."""
        with self._store.busy:
            places = self._store.behind(following - 1, _STEP)
            if not len(places):
                return None
            texts = _texts(self._store, places)
            return int(texts.ordinals[-1]) + 1, texts

    def _hold(self, ordinals: Positions) -> None:
        if self._held is not None:
            self._held = np.concatenate([self._held, ordinals])

    def _leave_out(self, state: State) -> int:
        """Take those out of the table that are no longer in the index, which is all that can be too many."""
        with self._store.busy:
            following = self._store.next_ordinal
            if self._is_level(state):
                return 0
            if self._store.behind(state.following - 1, 1).size:  # somebody else admitted, and will catch up
                return 0
            gone = np.empty(0, np.int64)
            if state.documents != len(self._store):
                if self._held is None:
                    self._held = self._table.ordinals()
                alive = self._store.alive(self._store.with_ordinals(self._held))
                gone, held = self._held[~alive], self._held[alive]
        self._table.update(following, gone=gone.tolist())
        if len(gone):
            self._held = held
        return len(gone)

    # Asking.

    def find(self, query: str, top: int = TOP, seconds: float = SECONDS) -> Found:
        """Find the documents with every word and phrase of a query, the best *top* of them in order.

        A reader goes on to what the writer has acknowledged by now. Ranks are by BM25 over the whole table, and equal
        ones go to who was admitted first; ``total`` is exact. Raises ``QueryTimeout``.
        """
        require_whole("top", top, 1, MOST_TOP)
        require(seconds > 0, "seconds", seconds, "must be more than 0")
        matches = self._table.find(query, top, seconds)
        with self._store.busy:
            self._index.refresh()
            places = self._alive(matches.ordinals)
            if self._is_level(matches.state):
                return self._found(query, matches, places, matches.total)
        # One of both is ahead: what is dead in the table does not count, and makes room.
        everything = self._table.matching(query, seconds)
        matches = self._table.find(query, top + self._dead(everything), seconds)
        with self._store.busy:
            places = self._alive(matches.ordinals)
            total = int((self._alive(everything) >= 0).sum())
            return self._found(query, matches, places, max(total, int((places >= 0).sum())), top)

    def _alive(self, ordinals: Positions) -> Places:
        """Give where documents are, -1 for those that are not there."""
        places = self._store.with_ordinals(ordinals)
        return np.where(self._store.alive(places), places, -1)

    def _dead(self, ordinals: Positions) -> int:
        with self._store.busy:
            return int((self._alive(ordinals) < 0).sum())

    def _found(self, query: str, matches: Matches, places: Places, total: int, top: int | None = None) -> Found:
        there = np.flatnonzero(places >= 0)[:top]
        hits = self._hits(places[there], matches.ordinals[there].tolist(), matches.scores[there].tolist())
        return Found(query=query, hits=tuple(hits), total=total)

    def _hits(self, places: Places, ordinals: list[int], scores: list[float]) -> Iterator[Hit]:
        store = self._store
        ids = decoded(store.strings("id", places))
        times = map(moment_of, store.take("time", places).tolist())
        nothing = [None] * len(ids)
        titles = field_values(store, TITLE, STRING, places) if self._has_title else nothing
        urls = field_values(store, URL, STRING, places) if self._has_url else nothing
        for own, ordinal, score, title, url, at in zip(ids, ordinals, scores, titles, urls, times, strict=True):
            address = url or (own if own.startswith(_WEB) else None)
            yield Hit(id=own, ordinal=ordinal, score=score, title=title, url=address, admitted=at)

    def snippets(self, query: str, ids: Sequence[str], seconds: float = SECONDS) -> list[Snippet | None]:
        """Give what to show of hits, ``None`` for a document that is not there or does not match."""
        with self._store.busy:
            places = self._store.with_ids(ids)
            there = np.flatnonzero(places >= 0)
            ordinals = self._store.take("ordinal", places[there]).tolist()
        snippets: list[Snippet | None] = [None] * len(ids)
        for row, shown in zip(there.tolist(), self._table.show(query, ordinals, seconds), strict=True):
            if shown is not None:
                snippets[row] = Snippet(title=shown.title, body=shown.body)
        return snippets


def _require_texts(index: Index) -> None:
    if not index.keeps_texts:
        raise StorageRefused(str(index.store.folder), "keeps no texts, and there is no full text without")


def _batches(store: Store, last: int, total: int, progress: Progress | None) -> Iterator[Texts]:
    """Read all documents that were admitted after one, some at a time."""
    done = 0
    while len(places := store.behind(last, _STEP)):
        texts = _texts(store, places)
        yield texts
        last = int(texts.ordinals[-1])
        done += len(places)
        if progress:
            progress("search", done, total)


def _texts(store: Store, places: Places) -> Texts:
    kinds = dict(store.columns.fields)
    titles: Sequence[str | None] = [None] * len(places)
    if kinds.get(TITLE) == STRING:
        titles = field_values(store, TITLE, STRING, places)
    raw = store.strings("text", places)
    bodies = [raw.bytes_at(row).decode(errors="replace") for row in range(len(places))]
    return Texts(store.take("ordinal", places).tolist(), decoded(store.strings("id", places)), titles, bodies)
