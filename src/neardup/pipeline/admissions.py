"""Admitting documents to an index, and finding those that it knows already."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neardup.decisions.admission import NONE
from neardup.index.disk.columns import NEVER, Batch, encoded
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.model.arrays import Flags
from neardup.model.verdicts import Known, New, Verdict
from neardup.pipeline.crawl_decisions import Judge
from neardup.pipeline.fields import taken_rows
from neardup.pipeline.inputs import Given
from neardup.pipeline.verification import Asked, contents
from neardup.text.columns import whole_batch


class Admissions:
    """Admits documents step by step. Callers must hold ``store.busy``."""

    def __init__(self, store: Store, scheme: Any, judge: Judge) -> None:
        self._store, self._scheme, self._judge = store, scheme, judge

    def known(self, ids: list[str], given: Given) -> list[Known | None]:
        """Return for each document whether its id was admitted with this content; ``None`` for an unknown id."""
        found: list[Known | None] = []
        for step in given.steps():
            places = self._store.with_ids(ids[step])
            found += self._known(ids[step], given, step, places)
        return found

    def _known(self, ids: list[str], given: Given, step: slice, places: Places) -> list[Known | None]:
        found: list[Known | None] = [None] * len(ids)
        there = np.flatnonzero(places >= 0)
        if len(there):
            own = places[there]
            changed = self._changed(own, given, there + step.start).tolist()
            for row, is_changed, kept in zip(there.tolist(), changed, self._kept(own), strict=True):
                found[row] = Known(ids[row], is_changed, None if is_changed else kept)
        return found

    def _changed(self, own: Places, given: Given, rows: Places) -> Flags:
        """Return which texts, and signed fields if there are any, differ from those of the documents at *own*."""
        if not set(self._scheme.columns).isdisjoint(given.table.column_names):
            return ~self._judge.unchanged(own, given.at(rows))
        signed = self._store.take("rows", own).tobytes() if self._scheme.columns else b""  # a part of contents
        now = contents(whole_batch(given.documents(rows)), signed)
        changed: Flags = (self._store.take("content", own) != now).any(axis=1)
        return changed

    def _kept(self, places: Places) -> list[str | None]:
        """Return the ids of representatives; ``None`` for -1, and for a kept document not yet reported as kept."""
        ordinals, keepers, told = self._store.take_all(("ordinal", "keeper", "told"), places)
        representatives = self._store.with_ordinals(keepers)
        representatives[(places < 0) | ((ordinals == keepers) & (told == NEVER))] = NONE
        return self._judge.names(representatives)

    def seen(self, ids: Sequence[str], moment: int) -> list[str | None]:
        """Record that documents were seen, and return the representative of each, as ``Index.see`` does."""
        places = self._store.with_ids(ids)
        kept = self._kept(places)
        self._judge.seen(np.unique(places[places >= 0]), moment)
        return kept

    def admitted(self, ids: list[str], given: Given, columns: Batch, moment: int) -> list[Verdict]:
        """Admit documents, and return for each what it repeats among those admitted before."""
        verdicts: list[Verdict] = []
        for step in given.steps(ids):
            places = self._store.with_ids(ids[step])
            verdicts += self._admitted(ids[step], places, given.at(step), taken_rows(columns, step), moment)
        return verdicts

    def visited(self, ids: list[str], given: Given, columns: Batch | None, moment: int) -> list[Verdict]:
        """Return the verdict on each document, ``Known`` included; with *columns*, admit new and changed ones."""
        verdicts: list[Verdict] = []
        for step in given.steps(None if columns is None else ids):
            own = ids[step]
            places = self._store.with_ids(own)
            known = self._known(own, given, step, places)
            said: dict[int, Verdict] = {row: found for row, found in enumerate(known) if found and not found.changed}
            same, rest = list(said), [row for row in range(len(own)) if row not in said]
            if rest:
                rows = np.array(rest) + step.start if same else step
                before, asked = places[rest], given.at(rows)
                if columns is None:
                    judged = self._judge.judged(asked, before)
                else:
                    names = [own[row] for row in rest]
                    judged = self._admitted(names, before, asked, taken_rows(columns, rows), moment)
                for row, verdict in zip(rest, judged, strict=True):
                    kept = None if verdict.representative == own[row] else verdict.representative
                    said[row] = verdict if known[row] is None else Known(own[row], True, kept)
            if same and columns is not None:
                for row, kept in zip(same, self.seen([own[row] for row in same], moment), strict=True):
                    said[row] = Known(own[row], False, kept)
            verdicts += [said[row] for row in range(len(own))]
        return verdicts

    def _admitted(self, ids: list[str], before: Places, given: Asked, columns: Batch, moment: int) -> list[Verdict]:
        """Admit documents with different ids; *before* are the places of their earlier versions."""
        unchanged = self._judge.unchanged(before, given)
        same, new = np.flatnonzero(unchanged), np.flatnonzero(~unchanged)
        verdicts: list[Verdict] = [New()] * len(ids)
        if len(new):
            batch: Batch = {
                "time": np.full(len(new), moment),
                "id": encoded([ids[row] for row in new.tolist()]),
                **(taken_rows(columns, new) if len(same) else columns),
            }
            gone = before[new]
            remembered = self._judge.remembered(given.at(new) if len(same) else given, batch, gone[gone >= 0])
            for row, verdict in zip(new.tolist(), remembered, strict=True):
                verdicts[row] = verdict
        if len(same):
            places = self._store.with_ids([ids[row] for row in same.tolist()])
            again = self._judge.judged(given.at(same), places, before=True)
            for row, verdict in zip(same.tolist(), again, strict=True):
                verdicts[row] = verdict
            self._judge.seen(places, moment)
        return verdicts
