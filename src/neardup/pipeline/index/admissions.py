"""Admitting documents to an index, and finding those that it knows already."""

from collections.abc import Callable, Sequence
from itertools import chain
from math import inf
from typing import Any, cast

import numpy as np

from neardup.decisions.admission import NONE
from neardup.index.disk.columns import Batch, encoded
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.model.arrays import Flags, Positions
from neardup.model.verdicts import Known, New, Verdict
from neardup.pipeline.digests import contents
from neardup.pipeline.index.decisions import Judge
from neardup.pipeline.index.fields import changed_fields, taken_rows
from neardup.pipeline.index.inputs import Given
from neardup.pipeline.index.verification import Asked
from neardup.text.columns import whole_batch


class Admissions:
    """Admits documents step by step. Callers must hold ``store.busy``."""

    def __init__(self, store: Store, scheme: Any, judge: Judge) -> None:
        self._store, self._scheme, self._judge = store, scheme, judge

    def _changed(self, places: Places, given: Given, rows: slice | Positions) -> Flags:
        """Return which texts and signed fields, or signatures, differ from those at *places*; none do for -1."""
        changed, there = np.zeros(len(places), np.bool_), np.flatnonzero(places >= 0)
        if not len(there):
            return changed
        own, rows = places[there], _rows_of(rows, there)
        if given.is_signed or self._scheme.columns:
            changed[there] = ~self._judge.unchanged(own, given.at(rows))
        else:
            now = contents(whole_batch(given.documents(rows)), self._store.digest_salt)
            changed[there] = (self._store.take("content", own) != now).any(axis=1)
        return changed

    def _kept(self, places: Places) -> list[str | None]:
        """Return the ids of representatives; ``None`` for -1, and for documents to pass on: see ``Index.visit``."""
        known = self._store.with_ordinals(self._store.take("representative", places))
        known[(places < 0) | self._store.unreported(places)] = NONE
        return self._judge.names(known)

    def see(self, ids: Sequence[str], moment: int) -> list[str | None]:
        """Record that documents were seen, and return the representative of each, as ``Index.see`` does."""
        places = self._store.with_ids(ids)
        kept = self._kept(places)
        self._judge.see(np.unique(places[places >= 0]), moment, {})
        return kept

    def _see_again(self, places: Places, columns: Batch, moment: int) -> None:
        """Record that unchanged documents were seen, with these fields."""
        self._judge.see(places, moment, changed_fields(self._store, places, columns))

    def admit(self, ids: list[str], given: Given, moment: int) -> list[Verdict]:
        """Admit documents, and return for each what it repeats among those admitted before."""

        def admitted(names: list[str], rows: slice | Positions, own: Batch) -> list[Verdict]:
            return self._admit(names, self._store.with_ids(names), given.at(rows), own, moment)

        return _in_steps(ids, given, admitted)

    def visit(self, ids: list[str], given: Given, moment: int, least: float | None) -> list[Verdict]:
        """Admit new and changed documents, and return the verdict on each document, ``Known`` included.

        Content that resembles the earlier content by at least *least* counts as unchanged.
        """

        def visited(names: list[str], rows: slice | Positions, own: Batch) -> list[Verdict]:
            return self._visit(names, given, rows, own, moment, least)

        return _in_steps(ids, given, visited)

    def look_up(self, ids: list[str], given: Given, least: float | None) -> list[Verdict]:
        """Return the verdicts of ``visit``, and change nothing."""
        judged = (self._visit(ids[step], given, step, None, 0, least) for step in given.steps())
        return [*chain.from_iterable(judged)]

    def _visit(  # noqa: PLR0913, PLR0917 - the rows of one step
        self,
        ids: list[str],
        given: Given,
        rows: slice | Positions,
        columns: Batch | None,
        moment: int,
        least: float | None,
    ) -> list[Verdict]:
        """Return the verdicts on some *rows* of the documents, with different ids; admit them with their *columns*."""
        places = self._store.with_ids(ids)
        changed = self._changed(places, given, rows)
        verdicts: list[Verdict] = [New()] * len(ids)
        compared: dict[int, tuple[float | None, float | None]] = {}  # with the versions before, by row
        rest = np.flatnonzero((places < 0) | changed)
        if len(rest):
            asked = given.at(_rows_of(rows, rest))
            if changed.any():
                known = np.flatnonzero(changed)
                pairs = self._judge.verifier.compared(asked.at(np.searchsorted(rest, known)), places[known])
                compared = dict(zip(known.tolist(), pairs, strict=True))
            enough = inf if least is None else least
            alike = [row for row, (one, _) in compared.items() if one is not None and one >= enough]
            if alike:
                changed[alike] = False
                stay = np.flatnonzero((places < 0)[rest] | changed[rest])
                asked, rest = asked.at(stay), rest[stay]
        if len(rest):
            if columns is None:
                judged = self._judge.judge(asked, places[rest], passes_on=True)
            else:
                names = [ids[row] for row in rest.tolist()]
                own = columns if len(rest) == len(ids) else taken_rows(columns, rest)
                judged = self._admit(names, places[rest], asked, own, moment, passes_on=True)
            for row, verdict in zip(rest.tolist(), judged, strict=True):
                kept = None if verdict.representative == ids[row] else verdict.representative
                verdicts[row] = Known(ids[row], True, kept, *compared[row]) if row in compared else verdict
        same = np.flatnonzero((places >= 0) & ~changed)
        if len(same):
            there = self._store.with_ids([ids[row] for row in same.tolist()]) if len(rest) else places[same]
            for row, kept in zip(same.tolist(), self._kept(there), strict=True):
                verdicts[row] = Known(ids[row], False, kept, *compared.get(row, (None, None)))
            if columns is not None:
                self._see_again(there, columns if len(same) == len(ids) else taken_rows(columns, same), moment)
        return verdicts

    def _admit(  # noqa: PLR0913 - a batch, and how its verdicts are meant
        self, ids: list[str], before: Places, asked: Asked, columns: Batch, moment: int, *, passes_on: bool = False
    ) -> list[Verdict]:
        """Admit documents with different ids; *before* are the places of their earlier versions."""
        unchanged = self._judge.unchanged(before, asked)
        same, new = np.flatnonzero(unchanged), np.flatnonzero(~unchanged)
        verdicts: list[Verdict] = [New()] * len(ids)
        if len(new):
            earlier = before[new]
            first, seen = np.full((2, len(new)), moment)
            first[earlier >= 0], last = self._store.take_all(("first", "seen"), earlier[earlier >= 0])
            seen[earlier >= 0] = np.maximum(last, moment)  # a clock may have been set back
            batch: Batch = {
                "first": first,
                "time": np.full(len(new), moment),
                "seen": seen,
                "id": encoded([ids[row] for row in new.tolist()]),
                **(taken_rows(columns, new) if len(same) else columns),
            }
            admitted = self._judge.admit(
                asked.at(new) if len(same) else asked, batch, earlier[earlier >= 0], passes_on=passes_on
            )
            for row, verdict in zip(new.tolist(), admitted, strict=True):
                verdicts[row] = verdict
        if len(same):
            if len(new):
                before = self._store.with_ids([ids[row] for row in same.tolist()])
                asked, columns = asked.at(same), taken_rows(columns, same)
            again = self._judge.judge(asked, before, before=True)
            for row, verdict in zip(same.tolist(), again, strict=True):
                verdicts[row] = verdict
            self._see_again(before, columns, moment)
        return verdicts


def _in_steps(
    ids: list[str], given: Given, judged: Callable[[list[str], slice | Positions, Batch], list[Verdict]]
) -> list[Verdict]:
    """Return what *judged* returns for the rows of each step, which have different ids, and their columns.

    Repeats in a step are judged after it, once for each id, with the fields that are known last.
    """
    verdicts: list[Verdict] = []
    for step in given.steps(ids):
        names, own = ids[step], taken_rows(given.columns, step)
        if len({*names}) == len(names):
            verdicts += judged(names, step, own)
            continue
        first, _ = _groups(names)
        repeats = np.delete(np.arange(len(names)), first)
        again, groups = _groups([names[row] for row in repeats])
        found = judged([names[row] for row in first], first + step.start, taken_rows(own, first))
        last = repeats[again]
        known = judged([names[row] for row in last], last + step.start, _last_known(own, repeats, groups))
        every = dict(zip(first.tolist(), found, strict=True))
        every |= {row: known[group] for row, group in zip(repeats.tolist(), groups.tolist(), strict=True)}
        verdicts += [every[row] for row in range(len(names))]
    return verdicts


def _rows_of(rows: slice | Positions, chosen: Sequence[int] | Positions) -> slice | Positions:
    """Return some of these rows, by their numbers, which are ascending; a slice if they are all rows of a slice."""
    if not isinstance(rows, slice):
        return rows[chosen]
    return np.array(chosen) + rows.start if len(chosen) < rows.stop - rows.start else rows


def _groups(names: Sequence[str]) -> tuple[Positions, Positions]:
    """Return the first row of each name, in order, and the number of its name for each row.

    >>> first, groups = _groups(["b", "a", "b"])
    >>> first.tolist(), groups.tolist()
    ([0, 1], [0, 1, 0])
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    groups = np.array([numbers[name] for name in names], np.int64)
    return np.unique(groups, return_index=True)[1], groups


def _last_known(columns: Batch, rows: Positions, groups: Positions) -> Batch:
    """Return the fields of groups of *rows*: each from the last row of the group in which it is known."""
    last: Batch = {}
    for name in [name.removeprefix("known.") for name in columns if name.startswith("known.")]:
        order = np.full(groups.max() + 1, -1)
        np.maximum.at(order, groups, rows + cast("Flags", columns[f"known.{name}"])[rows] * (rows[-1] + 1))
        chosen = order % (rows[-1] + 1)
        last |= taken_rows({key: columns[key] for key in (f"known.{name}", f"field.{name}")}, chosen)
    return last
