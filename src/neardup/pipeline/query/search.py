"""Full-text search of an index by words, whose results are always checked against the index."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, get_args

import numpy as np
from msgspec.structs import asdict

from neardup.index import fulltext
from neardup.index.disk.columns import STRING, encoded
from neardup.index.disk.manifest import SESSIONS, Session
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.index.fulltext import FullText, RankedMatches, TableState, Texts, TimeLimit, Titles
from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked, Repeat, ShownHit, Snippet
from neardup.model.arrays import Positions, TextBatch, Values
from neardup.model.errors import (
    ParameterConflict,
    ParameterError,
    StorageRefused,
    is_number,
    require,
    require_choice,
    require_flag,
    require_function,
    require_kind,
    require_name,
    require_whole,
)
from neardup.model.hits import GROUP_PATTERN, HiddenHit
from neardup.model.policy import Representative
from neardup.model.query import Term, terms_of, written
from neardup.pipeline.index.fields import TITLE, URL, field_values, moment_of
from neardup.pipeline.index.index import Index
from neardup.pipeline.progress import Progress
from neardup.pipeline.query.collapse import Collapsed
from neardup.pipeline.query.collapse import collapse as collapsed_hits
from neardup.pipeline.query.hits import PlacedHits
from neardup.pipeline.query.near_hits import HitVerify
from neardup.pipeline.query.result_cache import JudgedSets
from neardup.pipeline.query.rules import NearDuplicates, Rule, SameValue, at_threshold
from neardup.sources.hosts import host
from neardup.text.marking import REACH, Marker
from neardup.text.search_words import query_words, search_words

Collapsing = Literal["near", "exact", "site", "off"]
Sort = Literal["score", "newest"]

MOST_BODY: Final = 1_000_000  # characters of a text that are found
MOST_TITLE: Final = 10_000
SECONDS: Final = 2.0  # seconds that a search may take
MOST_OMITTED: Final = 6  # terms
TOP: Final = 100  # examined hits
MOST_TOP: Final = 1_000

_TITLE_WORDS, _WORDS = 100, 32  # the most characters shown of a title and of a text
_STEP: Final = 512  # documents that are read and written together
_WEB: Final = ("http://", "https://")
_OF_NEAR: Final = "it is for near duplicates; leave out one of the two"
_SHOWN_RULES: Final = {"same exact": "same text", "same site": "same site"}


def has_table(folder: str | os.PathLike[str]) -> bool:
    """Return whether an index has a search table."""
    return Path(folder, fulltext.NAME).exists()


def table_bytes(index: Index) -> int:
    """Return the size of the search table of an index in bytes."""
    return Path(index.store.folder, fulltext.NAME).stat().st_size


@contextmanager
def keeping_up(index: Index, *, make: bool = False, progress: Progress | None = None) -> Iterator[Callable[[], object]]:
    """Yield what to call after each change of an index that is open to write, so that its search table has it, too.

    The table is opened, and catches up, if the index has one or with *make*; otherwise the function does nothing.
    """
    if make or has_table(index.store.folder):
        with Search.open(index, make=make, progress=progress) as search:
            yield search.catch_up
    else:
        yield lambda: None


class Search(AbstractContextManager["Search"]):
    """Finds documents of an index by words and phrases. ``open`` returns it; close it, or use it in ``with``.

    The table is derived from the index, which always decides: a document that has been removed, or whose content has
    changed, is not shown, even if the table is old. An admitted document is found, and a document by a new title, once
    the writer has caught up: by ``catch_up`` after each change, which every verb and the service call, and by opening
    to write. ``judged`` is the cache of collapsed results.
    """

    def __init__(self, index: Index, table: FullText) -> None:
        _require_texts(index)
        self._index, self._store, self._table = index, index.store, table
        self.judged = JudgedSets()
        self._removals_seen = -1  # of the index, in the table; -1 if they are unknown

    @classmethod
    def open(cls, index: Index, *, make: bool = False, progress: Progress | None = None) -> Self:
        """Open the search table of an index: to write if the index is open to write, otherwise to read.

        A writer catches up with the index first; with *make* it builds the table if there is none. Titles are the
        string field ``title``, if the index has one.

        Raises ``StorageRefused`` if there is no table, if the table is of another index or format, if the index does
        not store texts, and, to a reader, if the table has changes that the index does not have; ``StorageDamaged`` if
        it is damaged. ``rebuild`` repairs all of these, except an index without texts.
        """
        _require_texts(index)
        require_flag("make", make)
        require_function("progress", progress)
        store = index.store
        path = store.folder / fulltext.NAME
        if not has_table(store.folder):
            if not (make and store.writes):
                raise StorageRefused(str(store.folder), "has no search table; build it", "search table")
            cls.rebuild(index, progress)
        search = cls(index, FullText(path, store.manifest.mark, writes=store.writes))
        try:
            if store.writes:
                search.catch_up(progress)
            else:
                search._require_past()
        except BaseException:
            search.close()
            raise
        return search

    @staticmethod
    def rebuild(index: Index, progress: Progress | None = None) -> None:
        """Build the search table of an index again, replacing an existing one when it is complete.

        The index must be open to write, and no other process may change it at the same time. If the process ends
        before, the old table remains.
        """
        _require_texts(index)
        require_function("progress", progress)
        store = index.store
        with store.catching_up, store.busy:
            store.require_writer()
            store.sync()
            following, changes = store.next_ordinal, store.field_changes.number
            batches = _batches(store, -1, len(store), progress)
            session = store.sessions[-1].number if store.sessions else 0
            FullText.build(store.folder / fulltext.NAME, store.manifest.mark, following, batches, changes, session)

    def close(self) -> None:
        """Close the table; the index stays open. A second call does nothing."""
        self._table.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing.

    def catch_up(self, progress: Progress | None = None) -> int:
        """Update the table to the state of the index; return how many documents were added, removed or changed.

        The index must be open to write. It is synced first, so that after a power failure the table has no documents
        that the index lacks.
        """
        require_function("progress", progress)
        store = self._store
        with store.catching_up:
            state = self._table.state()
            with store.busy:
                store.require_writer()
                past, sessions = self._is_past(state), store.sessions
                if past and self._is_level(state):
                    return 0
                store.sync()
            if not past:
                return self._built_again(progress)
            if sessions and sessions[-1].number != state.session:
                state = self._table.begin_session(sessions[-1].number)
            state, changed = self._retitled(state)
            total = max(store.next_ordinal - state.following, 1)
            for texts in _batches(store, state.following - 1, total, progress):
                state = self._table.update(int(texts.ordinals[-1]) + 1, texts)
                changed += len(texts.ordinals)
            return changed + self._leave_out(state)

    def _built_again(self, progress: Progress | None = None) -> int:
        self.rebuild(self._index, progress)
        return len(self._store)

    def _is_past(self, state: TableState) -> bool:
        """Return whether the index was as the table has seen it: otherwise ordinals may belong to other documents.

        That is false if the index was replaced by an old copy. Callers must hold ``store.busy``.
        """
        store, sessions = self._store, [Session(0, 0, 0, 0), *self._store.sessions]
        known = [session.number for session in sessions]
        if state.session not in known:
            return False
        ends = [*sessions[1:], Session(0, store.next_ordinal, store.field_changes.number, store.records)]
        end = ends[known.index(state.session)]
        return state.following <= end.ordinal and state.field_changes <= end.field_changes

    def _require_past(self) -> None:
        """Raise ``StorageRefused`` unless the index, as it is now, was as the table has seen it."""
        state = self._table.state()  # before the index, which is synced first
        with self._store.busy:
            self._index.refresh()
            if not self._is_past(state):
                rule = "has changes that the index does not have, as after an older copy was restored"
                if len(self._store.sessions) == SESSIONS:
                    rule = f"{rule}, or was not updated while the index was opened to write {SESSIONS} times"
                where = str(self._store.folder / fulltext.NAME)
                raise StorageRefused(where, f"{rule}; {fulltext.REBUILD}", "search table")

    def _retitled(self, state: TableState) -> tuple[TableState, int]:
        """Update the titles and sites of documents whose fields have changed; return the state, and their number."""
        store = self._store
        with store.busy:
            seen = store.field_changes.number, store.next_ordinal
            if seen[0] == state.field_changes:
                return state, 0
            ordinals = store.field_changes.since(state.field_changes)
            if ordinals is None:
                parts = [store.take("ordinal", places) for places in store.decided_since(state.clock)]
                ordinals = np.concatenate([np.empty(0, np.int64), *parts])
            ordinals = ordinals[ordinals < state.following]  # the others are not in the table yet
        for begin in range(0, len(ordinals), _STEP):
            with store.busy:
                places = self._alive(ordinals[begin : begin + _STEP])
                places = places[places >= 0]
                titles = _titles(store, places, store.decoded("id", places))
            self._table.update_titles(titles)
        return self._table.end_update(*seen), len(ordinals)

    @property
    def behind(self) -> int:
        """The number of admissions, and of changes of fields, since the last ones that the table has seen."""
        state = self._table.state()
        admissions = self._store.next_ordinal - state.following
        return max(admissions, 0) + max(self._store.field_changes.number - state.field_changes, 0)

    def _is_level(self, state: TableState) -> bool:
        """Return whether the table contains the documents of the index, with their fields."""
        return self._has_all(state) and state.field_changes == self._store.field_changes.number

    def _has_all(self, state: TableState) -> bool:
        """Return whether the table contains the documents of the index: all that were admitted and not removed."""
        return (state.following, state.documents) == (self._store.next_ordinal, len(self._store))

    def _leave_out(self, state: TableState) -> int:
        """Remove documents from the table that are no longer in the index."""
        with self._store.busy:
            following = self._store.next_ordinal
            if self._is_level(state):
                return 0
            if len(self._store.admitted_after(state.following - 1, 1)):  # by another thread, which will catch up
                return 0
            documents = len(self._store)
            latest: Positions | None = np.empty(0, np.int64)
            if state.documents != documents:
                removals = self._store.latest_removals
                latest, self._removals_seen = removals.since(self._removals_seen), removals.number
            removed = self._removed() if latest is None else latest
        done = self._table.update(following, removed=removed.tolist())
        if done.documents < documents or (latest is None and done.documents > documents):
            return self._built_again()  # for example, the index was replaced by an old copy, before a removal
        if done.documents > documents:  # it also has documents that were removed before
            self._removals_seen = -1
            return state.documents - done.documents + self._leave_out(done)
        return state.documents - done.documents

    def _removed(self) -> Positions:
        """Return the ordinals in the table of documents that are no longer in the index."""
        ordinals = self._table.ordinals()
        removed: Positions = ordinals[~self._store.alive(self._store.with_ordinals(ordinals))]
        return removed

    # Reading.

    def shorter(self, query: str, seconds: float = SECONDS, *, site: str | None = None) -> list[tuple[str, str, int]]:
        """Return shorter queries that find something: an omitted term, the others, and the number of documents.

        Each of the first ``MOST_OMITTED`` terms is omitted. If no such query finds something, those that find nothing
        alone are omitted together. The numbers are those of the table: see ``catch_up``. Raises ``QueryTimeout``.
        """
        limit, terms = _limit(query, seconds), terms_of(query)

        def without(omitted: Sequence[Term]) -> tuple[str, str, int]:
            rest = written([term for term in terms if term not in omitted])
            return written(omitted), rest, len(self._table.matching(_terms(rest, site), limit))

        found = [one for term in terms[:MOST_OMITTED] if (one := without([term]))[2]]
        if not found:
            alone = [(term, without([other for other in terms if other != term])) for term in terms[:MOST_OMITTED]]
            unknown = [term for term, one in alone if not one[2]]
            if unknown and (one := without(unknown))[2]:
                found = [one]
        return found

    def answer(  # noqa: PLR0913 - every one a keyword with a default
        self,
        query: str,
        *,
        page: int = 1,
        size: int = 10,
        collapse: Collapsing = "near",
        threshold: float | None = None,
        keep: int = 1,
        include: str | None = None,
        top: int = TOP,
        sort: Sort = "score",
        site: str | None = None,
        seconds: float = SECONDS,
        verify: HitVerify | None = None,
        representative: Representative = "best-ranked",
    ) -> Answer:
        """Find documents, collapse the first *top* hits, and return a page of *size* groups with the parts to show.

        Hits have every word and phrase of the query. They are ranked by BM25 over the whole table or, with *sort*
        ``"newest"``, by their admission, the last one first; ties are broken by the order of admission. With *site*, a
        value of ``site_of``, only documents of this site are found. A reader first reads what the writer has
        acknowledged; ``total`` is exact.

        *collapse* hides ``"near"`` duplicates, by the index's own signatures and *threshold*, by default that of its
        scheme (``at_threshold``); ``"exact"`` duplicates, with the same text; hits of the same ``"site"``; or nothing,
        ``"off"``. Of each group, the *keep* best are shown. *include*, the id of a group, lists its members instead,
        *size* per page. Near duplicates are verified on the texts unless *verify* is ``"estimate"``; each is listed
        below the best-ranked hit that it matches, or with *representative* ``"closest"`` below the closest: see
        ``collapse``.

        Raises ``ParameterError`` and ``QueryTimeout``.
        """
        require_choice("collapse", collapse, get_args(Collapsing), "must be near, exact, site or off")
        near = collapse == "near"
        for name, value in (("threshold", threshold), ("verify", verify)):
            if not near and value is not None:
                raise ParameterConflict(name, value, "collapse", collapse, _OF_NEAR)
        scheme, by_texts = self._index.scheme, verify != "estimate"
        if threshold is not None:
            scheme = at_threshold(scheme, threshold, by_texts=by_texts)
        limit = _limit(query, seconds)
        with self._found(_terms(query, site), top, sort, limit) as ranked:
            if collapse in {"exact", "site"}:
                rule: Rule = SameValue(collapse, keep=keep)
            else:
                rule = NearDuplicates(scheme=None if threshold is None else scheme, keep=keep)
            collapsed = self._collapsed(
                ranked,
                rule,
                verify,
                enabled=collapse != "off" and len(ranked.places) > 0,
                representative=representative,
                page=page,
                size=size,
                include=None if include is None else _group(include),
            )
            shown = [kept.rank for group in collapsed.page for kept in group.kept]
            hidden = [hidden.rank for group in collapsed.page for hidden in group.hidden]
            of = collapsed.outcome.of.tolist()
            ranks = [*{*shown, *hidden, *(of[rank] for rank in hidden)}]  # those may be on another page of members
            hits = dict(zip(ranks, self._hits(ranked.at(ranks)), strict=True))
            # One byte more, to detect longer texts.
            texts = self._store.strings("text", ranked.places[shown], REACH + 1)
        snippets = iter(_snippets(query, [hits[rank].title for rank in shown], texts, limit))
        least = scheme.match_estimate if near else None
        if least is not None and by_texts:
            least = float(scheme.threshold)
        results = [
            AnswerGroup(
                id=str(group.id),
                hides=group.hides,
                shown=tuple(ShownHit(**asdict(hits[kept.rank]), snippet=next(snippets)) for kept in group.kept),
                repeats=tuple(_repeat(hits[one.rank], hits[of[one.rank]], one) for one in group.hidden),
            )
            for group in collapsed.page
        ]
        numbers = {name: number for name, number in collapsed.numbers.items() if name != "hits"}
        return Answer(
            query=query,
            collapse=collapse,
            threshold=least,
            keep=keep,
            include=include,
            total=ranked.total,
            **numbers,
            size=size,
            results=tuple(results),
        )

    @contextmanager
    def _found(self, terms: tuple[Term, ...], top: int, sort: Sort, limit: TimeLimit) -> Iterator["_Ranked"]:
        """Find documents; the index does not change, and the time limit does not run, until the context ends."""
        top, newest = require_whole("top", top, 1, MOST_TOP), sort == "newest"
        require_choice("sort", sort, get_args(Sort), "must be score or newest")
        matches = self._table.find(terms, top, limit, newest=newest)
        with self._store.busy:
            self._index.refresh()
            places = self._alive(matches.ordinals)
            if self._has_all(matches.state):
                with limit.paused():
                    yield _ranked(matches, places, top, matches.total)
                return
        # The index or the table may be ahead: removed documents in the table do not count; others replace them.
        while True:
            everything = self._table.matching(terms, limit)
            with self._store.busy:
                places = self._alive(matches.ordinals)
                total, there = (int((some >= 0).sum()) for some in (self._alive(everything), places))
                if there >= min(top, total):
                    with limit.paused():
                        yield _ranked(matches, places, top, max(total, there))
                    return
            matches = self._table.find(terms, top + len(everything) - total, limit, newest=newest)

    def _alive(self, ordinals: Positions) -> Places:
        """Return the places of documents, -1 for those that do not exist."""
        places = self._store.with_ordinals(ordinals)
        return np.where(self._store.alive(places), places, -1)

    def _hits(self, ranked: "_Ranked") -> Iterator[FoundHit]:
        store, places = self._store, ranked.places
        ids = store.decoded("id", places)
        titles = _strings(store, TITLE, places)
        times = map(moment_of, store.take("time", places).tolist())
        columns = zip(ids, titles, _urls(self._store, ids, places), times, ranked.scores.tolist(), strict=True)
        for own, title, url, at, score in columns:
            yield FoundHit(id=own, title=title, url=url, changed_at=at, score=score)

    def _collapsed(self, ranked: "_Ranked", rule: Rule, verify: HitVerify | None, **ways: Any) -> Collapsed:
        """Collapse the hits of a query by a rule; *ways* are further parameters of ``collapse``."""
        if isinstance(rule, SameValue):
            return collapsed_hits(self._records(ranked, rule.field), rule, **ways)
        given = PlacedHits(self._index, ranked.places, ranked.ordinals)
        return collapsed_hits(given, rule, index=self._index, cache=self.judged, verify=verify, **ways)

    def _records(self, ranked: "_Ranked", collapse: str) -> list[dict[str, Any]]:
        """Return hits as records with the value by which they are collapsed.

        The value is a site, or the same number for the same bytes of a text; a blank text has no number.
        """
        ids = self._store.decoded("id", ranked.places)
        if collapse == "site":
            values: Iterable[int | str | None] = map(site_of, _urls(self._store, ids, ranked.places))
        else:
            contents = self._store.take("content", ranked.places).tolist()
            values = [(high << 64 | low) or None for high, low in contents]
        return [{"id": own, collapse: value} for own, value in zip(ids, values, strict=True)]


class _Ranked(NamedTuple):
    """The existing hits of a query, ranked, of *total*; their places are valid until the index changes."""

    places: Places
    ordinals: Positions
    scores: Values
    total: int

    def at(self, ranks: Sequence[int]) -> "_Ranked":
        some = np.array(ranks, np.int64)
        return _Ranked(self.places[some], self.ordinals[some], self.scores[some], self.total)


def _ranked(matches: RankedMatches, places: Places, top: int, total: int) -> _Ranked:
    """Leave out hits that do not exist, and those after the *top*."""
    there = np.flatnonzero(places >= 0)[:top]
    return _Ranked(places[there], matches.ordinals[there], matches.scores[there], total)


def _snippets(query: str, titles: Sequence[str | None], texts: TextBatch, limit: TimeLimit) -> list[Snippet]:
    with limit.paused():  # titles are short
        marker = Marker(terms_of(query))
        heads = marker.mark(encoded([title or "" for title in titles]), _TITLE_WORDS)
    bodies = list[Marked]()
    steps = np.flatnonzero(np.diff(texts.offsets // REACH))  # usually all at once; long ones separately
    for begin, end in pairwise([0, *steps.tolist(), len(texts)]):
        limit.require()
        bodies += marker.mark(TextBatch(texts.data, texts.offsets[begin : end + 1]), _WORDS)
    return [*map(Snippet, heads, bodies)]


def site_of(url: str | None) -> str | None:
    """Return the site of an address: its host, without a leading ``www.``; ``None`` if it has no host.

    >>> site_of("https://WWW.News.example:443/a?b"), site_of("no address"), site_of(None)
    ('news.example', None, None)
    """
    own = host(url)
    return own.removeprefix("www.") or None if own else None


def _repeat(hit: FoundHit, of: FoundHit, hidden: HiddenHit) -> Repeat:
    """Return why a hit is hidden; digests are not reported."""
    return Repeat(
        **asdict(hit),
        of=of.id,
        rule=_SHOWN_RULES.get(hidden.rule, hidden.rule),
        measure=hidden.measure,
        value=None if hidden.rule == "same exact" else hidden.value,
        threshold=hidden.threshold,
        verified=hidden.verified,
    )


def _group(include: str) -> int:
    known = isinstance(include, str) and re.fullmatch(GROUP_PATTERN, include) is not None
    require(known, "include", include, "must be the id of a group, which is a string of digits")
    return int(include)


def _limit(query: str, seconds: float) -> TimeLimit:
    require_name("query", query)
    require(is_number(seconds) and seconds > 0, "seconds", seconds, "must be more than 0")
    query_words(query)  # the first call compiles, which does not count
    return TimeLimit(seconds)


def _require_texts(index: Index) -> None:
    require_kind("index", index, Index)
    if index.is_in_memory:
        raise StorageRefused(str(index.store.folder), "cannot be searched by words; create the index in a folder")
    if not index.keeps_texts:
        raise StorageRefused(str(index.store.folder), "keeps no texts and cannot be searched", "no texts")


def _batches(store: Store, last: int, total: int, progress: Progress | None) -> Iterator[Texts]:
    """Yield all documents that were admitted after an ordinal, in batches."""
    done = 0
    while True:
        with store.busy:
            places = store.admitted_after(last, _STEP)
            if not len(places):
                return
            ids, bodies = store.decoded("id", places), search_words(store.strings("text", places), MOST_BODY)
            ordinals, titles, sites = _titles(store, places, ids)
        yield Texts(ordinals, ids, titles, bodies, sites)
        last = int(ordinals[-1])
        done += len(places)
        if progress:
            progress("search", min(done, total), total)


def _terms(query: str, site: str | None) -> tuple[Term, ...]:
    """Return the terms of a query in the words of the table; a query without terms finds nothing on any site."""
    terms = query_words(query)
    if site is None:
        return terms
    own = site_of(f"http://{site}/") if isinstance(site, str) and set(site).isdisjoint("/?#@ ") else None
    if own is None:
        raise ParameterError("site", site, "must be a host, such as a.example")
    return (*terms, Term(fulltext.site_word(own))) if terms else terms


def _strings(store: Store, name: str, places: Places) -> list[str | None]:
    """Return a field of documents, if the index has it as strings."""
    known = dict(store.columns.fields).get(name) == STRING
    return field_values(store, name, STRING, places) if known else [None] * len(places)


def _urls(store: Store, ids: Sequence[str], places: Places) -> list[str | None]:
    """Return the URLs of documents: the field, or ids that are web addresses."""
    urls = zip(ids, _strings(store, URL, places), strict=True)
    return [url or (own if own.startswith(_WEB) else None) for own, url in urls]


def _titles(store: Store, places: Places, ids: Sequence[str]) -> Titles:
    heads = search_words(encoded([title or "" for title in _strings(store, TITLE, places)]), MOST_TITLE)
    sites = [fulltext.site_word(site or "") for site in map(site_of, _urls(store, ids, places))]  # of one word each
    return Titles(store.take("ordinal", places).tolist(), heads, sites)
