"""The decisions of an index: what a document repeats, with or without admitting it."""

from functools import partial
from typing import Any, cast

import numpy as np

from neardup.decisions.admission import NONE, Decisions, Matches
from neardup.decisions.exact import leaders_by_content
from neardup.index.disk.columns import NEVER, Batch, as_bytes
from neardup.index.disk.field_changes import FieldChanges
from neardup.index.disk.reader import PlacedCandidates, Places, each
from neardup.index.disk.store import Store
from neardup.model.arrays import Flags, Positions, Words
from neardup.model.verdicts import Empty, ExactDuplicate, NearDuplicate, New, Verdict
from neardup.pipeline.index.revision import Revision
from neardup.pipeline.index.verification import Asked, Verifier, decide_by_places


class Judge:
    """Returns verdicts: the index proposes candidates, and signatures or texts decide."""

    def __init__(self, store: Store, scheme: Any) -> None:
        self._store, self._scheme = store, scheme
        self.verifier = Verifier(store, scheme)
        self._revision = Revision(store, scheme, self.verifier)

    def judge(
        self, asked: Asked, own: Places | None, *, before: bool = False, passes_on: bool = False
    ) -> list[Verdict]:
        """Judge documents, not by the documents at *own*; with *before*, only by those admitted before them.

        With *passes_on*, no verdict names a representative if no document of its cluster was passed on.
        """
        store, nowhere = self._store, np.full(len(asked), NONE)
        own = nowhere if own is None else own
        equal = store.leaders(asked.equals, own)
        if before:
            equal[equal > own] = NONE
        found = store.propose(asked.signatures.rows, asked.signatures.present & (equal == NONE))
        matches = self.verifier.matches(asked, self._of_others(found, own, before=before))
        if _nothing_repeated(equal, matches):
            return _new(asked)
        copies = self._copies(asked, equal, own, before=before)
        decisions = decide_by_places(store, nowhere, equal, matches)
        kept = np.array(decisions.representatives, np.int64)
        if passes_on:
            kept[store.unreported(kept)] = NONE
        return self._verdicts(asked, kept, equal, copies, matches, decisions.closest)

    def _of_others(self, found: PlacedCandidates, own: Places, *, before: bool) -> PlacedCandidates:
        """Remove documents from their own candidates, and with *before* all later documents.

        A leader is replaced by the next of its equals, which has the same keys.
        """
        asking = own[found.rows]
        if before:
            return found.where(found.places < asking)
        itself = np.flatnonzero(found.places == asking)
        if not len(itself):
            return found
        places = found.places.copy()
        places[itself] = self._store.leaders(self._store.take("equal", asking[itself]), asking[itself])
        return found._replace(places=places).where(places >= 0)

    def _copies(self, asked: Asked, equal: Places, own: Places, *, before: bool) -> Places:
        """Return the first document with the content of each, or ``NONE``; *equal* are the leaders of its equals."""
        store, copies = self._store, np.full(len(equal), NONE)
        rows = np.flatnonzero(equal >= 0)
        same = (store.take("content", equal[rows]) == asked.contents[rows]).all(axis=1)
        copies[rows[same]] = equal[rows[same]]
        rows = rows[~same]
        if len(rows):
            found = store.copies(asked.contents[rows], own[rows])
            copies[rows] = np.where(before & (found > own[rows]), NONE, found)
        return copies

    def _verdicts(  # noqa: PLR0913, PLR0917 - everything that is known of the documents
        self, asked: Asked, kept: Places, equal: Places, copies: Places, matches: Matches, closest: list[int]
    ) -> list[Verdict]:
        near = np.array(closest, np.int64)
        of = np.where(copies >= 0, copies, equal)
        of[(equal < 0) & (near >= 0)] = matches.documents[near[(equal < 0) & (near >= 0)]]
        both = np.concatenate([of, kept])
        names = dict(zip(both.tolist(), self.names(both), strict=True))
        measure, verified = self.verifier.measure(asked), self.verifier.verified(asked)
        verdicts: list[Verdict] = []
        rows = zip(of.tolist(), kept.tolist(), copies.tolist(), near.tolist(), strict=True)
        for (repeated, representative, copied, match), signed in zip(
            rows, asked.signatures.present.tolist(), strict=True
        ):
            if repeated == NONE:
                verdicts.append(New() if signed else Empty())
            elif copied != NONE:
                verdicts.append(ExactDuplicate(str(names[repeated]), names[representative]))
            else:
                value = 1.0 if match == NONE else float(matches.values[match])  # equals have no matches
                verdicts.append(NearDuplicate(str(names[repeated]), measure, value, verified, names[representative]))
        return verdicts

    def names(self, places: Places) -> list[str | None]:
        """Return the ids of documents; ``None`` for those that do not exist."""
        existing = np.where(self._store.alive(places), places, NONE)
        return each(existing, partial(self._store.decoded, "id"))

    def admit(
        self, asked: Asked, batch: Batch, before: Places, *, passes_on: bool = False, reported: Flags | None = None
    ) -> list[Verdict]:
        """Admit documents with different ids and the columns of *batch*; they replace the documents *before*.

        Callers learn from the verdicts which documents to keep; if they do not read them, *reported* are those that
        were passed on before. With *passes_on*, no verdict names a representative if no document of its cluster was
        passed on.
        """
        store = self._store
        with store.change():
            old = store.take("ordinal", before)
            leaders, moved = self._revision.remove(before) if len(before) else (before, before)
            older, first = store.leaders(asked.equals), _first_rows(asked.equals)
            leads = (older == NONE) & (first == np.arange(len(asked)))
            ordinals = store.next_ordinal + np.arange(len(asked))
            batch |= {
                "ordinal": ordinals,
                "representative": ordinals,
                "decided": ordinals,
                "reported": ordinals if reported is None else np.where(reported, ordinals, NEVER),
                **asked.columns(leads),
            }
            if store.columns.texts and asked.texts is not None:
                batch["text"] = asked.texts
            found = store.append(batch)
            places = store.with_ordinals(ordinals)
            equal = np.where(leads | (older >= 0), older, places[first])
            matches = self.verifier.matches(asked, found)
            if _nothing_repeated(equal, matches):
                verdicts = _new(asked)
            else:
                decisions = decide_by_places(store, places, equal, matches)
                kept = self._set_representatives(
                    batch, places, decisions, passes_on=passes_on, verdicts_are_read=reported is None
                )
                copies = self._copies(asked, equal, places, before=True)
                verdicts = self._verdicts(asked, kept, equal, copies, matches, decisions.closest)
            store.log_change(old, leaders, moved, batch)
            store.commit()
        return verdicts

    def _set_representatives(
        self, batch: Batch, places: Places, decisions: Decisions, *, passes_on: bool, verdicts_are_read: bool
    ) -> Places:
        """Record the representatives of documents in the index and in *batch*; return those that verdicts name."""
        store, kept = self._store, np.array(decisions.representatives, np.int64)
        decided: Batch = {"representative": store.take("ordinal", kept)}
        kept[kept == places] = NONE
        if passes_on:
            representatives, rows = np.unique(kept, return_index=True)
            kept[rows[store.unreported(representatives)]] = NONE  # the first one of each cluster
        if verdicts_are_read:
            decided["reported"] = np.where(kept == NONE, cast("Positions", batch["ordinal"]), NEVER)
        for name, column in decided.items():
            store.set(name, places, column)
        batch |= decided
        store.cover(places)
        return kept

    def remove(self, places: Places) -> list[str]:
        """Remove documents; return the ids of those that are kept from now on as a result."""
        store = self._store
        with store.change():
            ordinals = store.take("ordinal", places)
            leaders, moved = self._revision.remove(places)
            now, representatives = store.take_all(("ordinal", "representative"), moved)
            names = store.decoded("id", moved[now == representatives])
            store.log_change(ordinals, leaders, moved)
            store.commit()
        return names

    def see(self, places: Places, moment: int, changes: FieldChanges) -> None:
        """Record that different documents were seen at a moment, and which of their fields have changed."""
        with self._store.change():
            self._store.see(places, moment, changes)
            self._store.commit()

    def unchanged(self, before: Places, asked: Asked) -> Flags:
        """Return which documents have the content and the signature of those at *before*.

        Documents that were given as signatures need only the signature.
        """
        there = np.flatnonzero(before >= 0)
        flags = np.zeros(len(before), np.bool_)
        if len(there):
            contents, rows, present = self._store.take_all(("content", "rows", "present"), before[there])
            same = (rows == asked.signatures.rows[there]).all(axis=1) | ~present  # an absent signature has any row
            same &= present == asked.signatures.present[there]
            flags[there] = same if asked.texts is None else same & (contents == asked.contents[there]).all(axis=1)
        return flags


def _nothing_repeated(equal: Places, matches: Matches) -> bool:
    """Return whether no document repeats another one, which holds for most pages of a crawl."""
    return not len(matches.rows) and not (equal >= 0).any()


def _first_rows(equals: Words) -> Positions:
    """Return the first row with the features of each row."""
    rows = np.arange(len(equals))
    known = np.flatnonzero(equals.any(axis=1))
    if len(np.unique(equals[known, 0])) < len(known):  # almost only if there are equals
        leaders_by_content(as_bytes(equals), rows.tolist(), rows)
    return rows


def _new(asked: Asked) -> list[Verdict]:
    return [New() if signed else Empty() for signed in asked.signatures.present.tolist()]
