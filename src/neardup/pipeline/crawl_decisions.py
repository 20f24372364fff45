"""What documents repeat of those that an index has: asked, and remembered."""

from typing import Any

import numpy as np

from neardup.decisions.admission import NONE, Matches, Standing, stand
from neardup.index.disk.columns import NEVER, Batch
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.model.arrays import Flags
from neardup.model.verdicts import Empty, ExactDuplicate, NearDuplicate, New, Verdict
from neardup.pipeline.revision import Revision
from neardup.pipeline.verification import Asked, Verifier


class Judge:
    """Gives verdicts: an index proposes, the signatures or the texts decide."""

    def __init__(self, store: Store, scheme: Any) -> None:
        self._store, self._scheme = store, scheme
        self._verifier = Verifier(store, scheme)
        self._representative = store.manifest.terms["representative"]
        self._revision = Revision(store, scheme, self._verifier)

    def judged(self, given: Asked, own: Places | None, *, before: bool = False) -> list[Verdict]:
        """Judge documents that are not those at *own*; with *before*, only by what was admitted before them."""
        store = self._store
        found = store.propose(given.signatures.rows, given.signatures.present)
        exact = store.with_contents(given.exact, own)
        if own is not None:
            asking = own[found.rows]
            stay = (found.places < asking) | (asking < 0) if before else found.places != asking
            found = found.where(stay)
            exact = np.where(before & (exact > own) & (own >= 0), NONE, exact)
        matches = self._verifier.matches(given, found)
        if _nothing_repeated(exact, matches):
            return _new(given)
        nowhere = np.full(len(given), NONE)
        return self._verdicts(given, nowhere, exact, matches, self._stand(nowhere, exact, matches))

    def _stand(self, own: Places, exact: Places, matches: Matches) -> Standing:
        """Decide what each document repeats, and its representative; documents are numbered by their places."""
        store = self._store
        places = np.unique(np.concatenate([matches.documents, exact[exact >= 0]]))
        keepers = store.take("keeper", places)
        others = np.flatnonzero(keepers != store.take("ordinal", places))
        standing = places.copy()
        if len(others):
            standing[others] = store.with_ordinals(keepers[others])
        known = dict(zip(places.tolist(), standing.tolist(), strict=True))
        return stand(own.tolist(), exact.tolist(), matches, known, self._representative)

    def _verdicts(
        self, given: Asked, own: Places, exact: Places, matches: Matches, standing: Standing
    ) -> list[Verdict]:
        near = np.array(standing.closest, np.int64)
        kept = np.array(standing.keepers, np.int64)
        kept[kept == own] = NONE
        of = np.where(exact >= 0, exact, NONE)
        of[(exact < 0) & (near >= 0)] = matches.documents[near[(exact < 0) & (near >= 0)]]
        both = np.concatenate([of, kept])
        names = dict(zip(both.tolist(), self.names(both), strict=True))
        measure, verified = self._verifier.measure(given), self._verifier.verified(given)
        verdicts: list[Verdict] = []
        rows = zip(of.tolist(), kept.tolist(), exact.tolist(), near.tolist(), strict=True)
        for (repeated, keeper, same, closest), signed in zip(rows, given.signatures.present.tolist(), strict=True):
            if repeated == NONE:
                verdicts.append(New() if signed else Empty())
            elif same != NONE:
                verdicts.append(ExactDuplicate(str(names[repeated]), names[keeper]))
            else:
                value = float(matches.values[closest])
                verdicts.append(NearDuplicate(str(names[repeated]), measure, value, verified, names[keeper]))
        return verdicts

    def names(self, places: Places) -> list[str | None]:
        """Give the ids of documents that are there; ``None`` for the others."""
        there = self._store.alive(places)
        names: list[str | None] = [None] * len(places)
        known = self._store.decoded("id", places[there])
        for row, name in zip(np.flatnonzero(there).tolist(), known, strict=True):
            names[row] = name
        return names

    def remembered(self, given: Asked, batch: Batch, before: Places) -> list[Verdict]:
        """Admit documents of different ids, with the columns of *batch*, in place of the documents *before*."""
        store = self._store
        with store.change():
            old = store.take("ordinal", before)
            moved = self._revision.remove(before) if len(before) else before
            ordinals = store.next_ordinal + np.arange(len(given))
            batch |= {
                "ordinal": ordinals,
                "keeper": ordinals,
                "seen": batch["time"],
                "told": ordinals,
                "content": given.contents,
                "present": given.signatures.present,
                "rows": given.signatures.rows,
            }
            if self._store.columns.texts and given.texts is not None:
                batch["text"] = given.texts
            found = store.append(batch)
            places = store.with_ordinals(ordinals)
            exact = store.with_contents(given.exact)
            exact = np.where(exact == places, NONE, exact)
            matches = self._verifier.matches(given, found)
            if _nothing_repeated(exact, matches):
                verdicts = _new(given)
            else:
                standing = self._stand(places, exact, matches)
                keepers = np.array(standing.keepers, np.int64)
                told = np.where(keepers == places, ordinals, NEVER)
                decided = {"keeper": store.take("ordinal", keepers), "told": told}
                for name, column in decided.items():
                    store.set(name, places, column)
                batch |= decided
                verdicts = self._verdicts(given, places, exact, matches, standing)
            store.log_change(old, moved, batch)
            store.commit()
        return verdicts

    def removed(self, places: Places) -> list[str]:
        """Remove documents; give the ids of those that are kept from now on in their stead."""
        store = self._store
        with store.change():
            ordinals = store.take("ordinal", places)
            moved = self._revision.remove(places)
            now, keepers = store.take_all(("ordinal", "keeper"), moved)
            names = store.decoded("id", moved[now == keepers])
            store.log_change(ordinals, moved)
            store.commit()
        return names

    def seen(self, places: Places, moment: int) -> None:
        """Record that different documents were seen at a moment."""
        with self._store.change():
            self._store.see(places, moment)
            self._store.commit()

    def unchanged(self, before: Places, given: Asked) -> Flags:
        """Say which documents are there as they come: with the same content and signature."""
        there = np.flatnonzero(before >= 0)
        flags = np.zeros(len(before), np.bool_)
        if len(there):
            contents, rows, present = self._store.take_all(("content", "rows", "present"), before[there])
            same = (contents == given.contents[there]).all(axis=1)
            same &= (rows == given.signatures.rows[there]).all(axis=1)
            flags[there] = same & (present == given.signatures.present[there])
        return flags


def _nothing_repeated(exact: Places, matches: Matches) -> bool:
    """Tell whether no document repeats another one, as is so of most pages of a crawl."""
    return not len(matches.rows) and not (exact >= 0).any()


def _new(given: Asked) -> list[Verdict]:
    return [New() if signed else Empty() for signed in given.signatures.present.tolist()]
