"""Judging documents again when documents that decided about them are removed."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from neardup.decisions.admission import NO_MATCHES, NONE, Matches
from neardup.index.disk.columns import as_bytes
from neardup.index.disk.reader import PlacedCandidates, Places
from neardup.index.disk.store import Store
from neardup.model.arrays import Flags, Positions, Signatures, Words
from neardup.pipeline.index.fields import sites_at
from neardup.pipeline.index.inputs import BYTES_TOGETHER, TOGETHER
from neardup.pipeline.index.verification import Asked, Verifier, decide_by_places

FIRST: Final = 16  # documents of the first step; later steps are larger
BETWEEN: Final = 4096  # documents between a removed one and its successor, at most
NEAR: Final = 16  # times as many documents of a key are examined to find those that a newly kept document affects

_Pairs = tuple[Positions, Places]


class Revision:
    """Keeps the representatives of an index equal to those of a new index of the same documents.

    **The state of an index.** After every change, regardless of earlier ones:

    - every document has exactly one representative, which is in the index and is its own representative: it is kept;
    - documents with equal features have the same representative, and only the first of them is found by its keys;
    - every other document matches its representative, or did so when it was judged under another policy.

    Moreover, the representatives, and the verdicts of ``judge``, are those of a new index to which the present
    documents are admitted in the order in which their present contents were admitted, by the rule of ``decide``. That
    holds while there are no oversized buckets (``Stats.oversized_buckets``) and the policy stays the same; for
    verdicts, also only if no document has more than ``CLOSEST`` candidates that are not kept.
    """

    def __init__(self, store: Store, scheme: Any, verifier: Verifier) -> None:
        self._store, self._scheme, self._verifier = store, scheme, verifier

    def remove(self, places: Places) -> tuple[Places, Places]:
        """Remove documents in memory, and judge again every document that this affects.

        Returns the places of the new leaders of equals, and of the documents whose representative has changed,
        ascending. The work grows with the clusters of the removed documents, and with the number of documents near
        newly kept documents.
        """
        store = self._store
        ordinals, representatives, equals, leads = store.take_all(
            ("ordinal", "representative", "equal", "leads"), places
        )
        store.remove(places)
        leaders = np.unique(store.leaders(equals[leads]))
        leaders = leaders[leaders >= 0]  # their representatives were those of the leaders before
        store.lead(leaders)
        members = store.kept_by(ordinals[representatives == ordinals])
        return leaders, self._judged_again(np.union1d(members, leaders), ordinals)

    def _judged_again(self, pending: Places, removed: Positions) -> Places:
        """Judge documents in the order of their admission, step by step, and the later documents that this affects.

        A step ends before the first document outside of it that it affects. *removed* are the ordinals of the removed
        documents.
        """
        store, moved, size = self._store, [np.empty(0, np.int64)], FIRST
        successor: _Successor | None = None
        while len(pending):
            step = self._decided(pending[:size], successor)
            rows, concerned = self._concerned(step, pending)
            done = step.done(rows, concerned)
            if not moved[1:]:
                successor = self._successor(removed, step)
            changed = np.flatnonzero(step.changed[:done])
            store.set("representative", step.places[changed], step.new[changed])
            moved.append(step.places[changed])
            pending = np.union1d(pending[done:], concerned[rows < done])
            size = min(max(FIRST, 4 * done), TOGETHER)
            if step.asked.texts is not None:
                size = max(1, min(size, BYTES_TOGETHER * len(step.places) // max(len(step.asked.texts.data), 1)))
        again = np.unique(np.concatenate(moved))
        store.cover(again)
        return again

    def _successor(self, removed: Positions, step: "_Step") -> "_Successor | None":
        """Return the first document of the first step, if it is kept instead of a *removed* one.

        ``None`` if there may be other kept documents between the two, or others are preferred to the best-ranked.
        """
        store, place, old = self._store, int(step.places[0]), int(step.old[0])
        if store.manifest.terms.representative == "closest" or step.new[0] != step.own[0] or old not in removed:
            return None
        between = store.admitted_after(old, BETWEEN)
        ordinals, representatives = store.take_all(("ordinal", "representative"), between[between < place])
        if (ordinals == representatives).any() or (len(between) == BETWEEN and between[-1] < place):
            return None
        return _Successor(place, old, *store.finding_keys(place))

    def _decided(self, places: Places, successor: "_Successor | None") -> "_Step":
        """Judge the documents of a step by earlier ones; documents before the step have their final representatives."""
        store, asked = self._store, self._stored(places)
        own, old = store.take_all(("ordinal", "representative"), places)
        equal = store.leaders(asked.equals)
        equal[equal == places] = NONE
        asking = asked.signatures.present & (equal == NONE)
        matches = (
            self._of_successor(asked, asking & (old == successor.instead_of), successor) if successor else NO_MATCHES
        )
        asking[matches.rows] = False
        found = store.propose(asked.signatures.rows, asking)
        found = found.where(found.places < places[found.rows])
        ordinals, representatives = store.take_all(("ordinal", "representative"), found.places)
        found = found.where((ordinals == representatives) | np.isin(found.places, places))
        others = self._verifier.matches(asked, found)
        matches = Matches(*(np.concatenate(pair) for pair in zip(matches, others, strict=True)))
        decisions = decide_by_places(store, places, equal, matches)
        return _Step(
            places, asked, equal, own, old, store.take("ordinal", np.array(decisions.representatives, np.int64))
        )

    def _of_successor(self, asked: Asked, asking: Flags, successor: "_Successor") -> Matches:
        """Return which documents match the successor of their representative, which is then theirs.

        It is the best-ranked kept document that they match: those before the removed one would have been their
        representatives before, and there are none between the two.
        """
        keys = self._store.keys(asked.signatures.rows, asking)
        rows = np.flatnonzero(asking & ((keys == successor.keys) & successor.finding).any(axis=1))
        return self._verifier.matches(asked, PlacedCandidates(rows, np.full(len(rows), successor.place)))

    def _concerned(self, step: "_Step", pending: Places) -> _Pairs:
        """Return the documents that a step affects and that are not *pending*, as rows of the step and places."""
        changed, was, now = step.changed, step.old == step.own, step.new == step.own
        pairs = [
            self._near(step, np.flatnonzero(changed & now), pending),
            self._members(step, np.flatnonzero(changed & was)),
            self._equals(step, np.flatnonzero(changed & ~was & (step.equal == NONE))),
        ]
        rows, places = (np.concatenate(side) for side in zip(*pairs, strict=True))
        others = ~np.isin(places, pending)
        return rows[others], places[others]

    def _near(self, step: "_Step", rows: Positions, pending: Places) -> _Pairs:
        """Return the later documents that repeat newly kept documents."""
        if not len(rows):
            return rows, rows
        asked, own = step.asked.at(rows), step.places[rows]
        found = self._store.propose(asked.signatures.rows, asked.signatures.present, NEAR)
        found = found.where(found.places > own[found.rows])
        found = found.where(~np.isin(found.places, pending))
        matches = self._verifier.matches(asked, found, later=True)
        return rows[matches.rows], matches.documents

    def _members(self, step: "_Step", rows: Positions) -> _Pairs:
        """Return the documents whose representative is no longer kept."""
        if not len(rows):
            return rows, rows
        members = self._store.kept_by(step.own[rows])
        order = np.argsort(step.own[rows])
        at = np.searchsorted(step.own[rows], self._store.take("representative", members), sorter=order)
        return rows[order[at]], members

    def _equals(self, step: "_Step", rows: Positions) -> _Pairs:
        """Return the equals of leaders that have another representative now, as they get the same one."""
        store = self._store
        rows = rows[store.alive(store.with_ordinals(step.old[rows]))]  # otherwise the equals are pending, too
        rows = rows[store.leaders(step.asked.equals[rows], step.places[rows]) >= 0]
        if not len(rows):
            return rows, rows
        members = store.kept_by(step.old[rows])
        moving = dict(zip(as_bytes(step.asked.equals[rows]), rows.tolist(), strict=True))
        of = np.array([moving.get(group, NONE) for group in as_bytes(store.take("equal", members))], np.int64)
        equals = (of >= 0) & (members > step.places[of])
        return of[equals], members[equals]

    def _stored(self, places: Places) -> Asked:
        store = self._store
        rows, present, contents, equals = store.take_all(("rows", "present", "content", "equal"), places)
        texts = store.strings("text", places) if store.columns.texts else None
        return Asked(Signatures(rows, present, self._scheme.recipe), contents, equals, texts, sites_at(store, places))


class _Successor(NamedTuple):
    """The document at *place* is kept instead of the one with the ordinal *instead_of*, which was removed.

    The *finding* ones of its *keys* are those by which every later document finds it.
    """

    place: int
    instead_of: int
    keys: Words
    finding: Flags


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Documents that were judged again, ascending.

    *own*, *old* and *new* are the ordinals of the documents and of their old and new representatives; *equal* are the
    leaders of their equals, ``NONE`` for leaders.
    """

    places: Places
    asked: Asked
    equal: Places
    own: Positions
    old: Positions
    new: Positions

    @property
    def changed(self) -> Flags:
        """Which documents have another representative than before."""
        return np.asarray(self.old != self.new)

    def done(self, rows: Positions, concerned: Places) -> int:
        """Return how many rows have final decisions: those before any document that an earlier row affects."""
        least = np.full(len(self.places), np.iinfo(np.int64).max)
        np.minimum.at(least, rows, concerned)
        before = np.minimum.accumulate(least)
        late = self.places[1:] > before[:-1]
        return 1 + int(late.argmax()) if late.any() else len(self.places)
