"""The crawl moment: everything already seen, on disk, asked about every document that comes."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, get_args

import numpy as np
import pyarrow as pa

from neardup.decisions.admission import NONE, Matches, Standing, stand
from neardup.index import check as checking
from neardup.index.columns import Batch, decoded, encoded
from neardup.index.disk import Disk
from neardup.index.opening import Ways, create, open_
from neardup.index.store import LEAST_MEMORY, Durability, Found, Places, Store
from neardup.model.arrays import Flags, Positions, Signatures, Words
from neardup.model.errors import DataError, require, require_whole
from neardup.model.protocols import require_scheme
from neardup.model.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New, Verdict
from neardup.pipeline import terms as own_terms
from neardup.pipeline.asking import Asked, Verifier, asked, identities, joined_identity
from neardup.pipeline.fields import (
    EPOCH,
    FIRST_MOMENT,
    LAST_MOMENT,
    chosen_rows,
    field_columns,
    field_kinds,
    field_table,
    field_values,
    moment_of,
    taken_rows,
)
from neardup.schemes.minhash import MinHash
from neardup.schemes.terms import keyed
from neardup.text.columns import text_column

MOST_ID_BYTES: Final = 1024
TOGETHER: Final = 2048  # documents of one step: each step is written to the log as a whole

_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an index knows it. *kept* is the one that stands for it: itself, or ``None`` if that is gone."""

    id: str
    admitted: datetime
    kept: str | None
    fields: dict[str, Any]
    text: str | None


class Removal(NamedTuple):
    """How many documents were removed, and the ids of those that lost the one that stood for them."""

    removed: int
    orphans: list[str]


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index is made of.

    ``removed_in_files`` documents are gone, but ``compact`` has not left them out of the files yet. ``crowded`` counts,
    since it was opened, the keys that had more documents than were looked at; ``set_aside`` the bytes behind the last
    record that opening found: never acknowledged, and left out.
    """

    documents: int
    kept: int
    segments: int
    bytes: int
    bytes_in_log: int
    removed_in_files: int
    crowded: int
    set_aside: int
    scheme: str
    recipe: str
    generation: int


class Index:
    """Documents already seen, in a folder. Made by ``create``, opened by ``open``; close it, or use it in ``with``.

    Asking and remembering are two things: ``judge`` changes nothing, ``admit`` remembers. One process may write, any
    number may read; a reader stays at what it has read until ``refresh``.
    """

    def __init__(self, store: Store, scheme: Any, disk: Disk) -> None:
        self._store, self._scheme, self._disk = store, scheme, disk
        self._kinds = dict(store.columns.fields)
        self._verifier = Verifier(store, scheme)

    # Making and opening.

    @classmethod
    def create(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        path: str | PathLike[str],
        scheme: Any = None,
        *,
        layout: Any = None,
        key: bytes | None = None,
        fields: Mapping[str, Any] | None = None,
        texts: bool = False,
        durability: Durability = "commit",
        memory: int = 1 << 28,
        disk: Disk | None = None,
    ) -> Self:
        """Make an index in a folder that does not exist or is empty, and open it to write.

        *scheme* is ``MinHash()`` by default, with *key* if one is given; the key is stored nowhere, and opening asks
        for it. *layout* replaces the scheme's own (a ``Banding`` or ``Blocks``). *fields* maps names to ``"string"``,
        ``"integer"``, ``"number"``, ``"time"`` or ``"flag"``. With *texts* the documents' texts are kept, and near
        duplicates verified on them; without, the scheme's estimate decides.

        *durability* says what a power failure may take: ``"commit"`` nothing that was acknowledged; ``"interval"``
        what came in the last second; ``"bulk"`` all since the last ``flush`` or ``sync``. The death of the process
        takes nothing in any of them. *memory* bounds, in bytes, what is held of new documents, and of lists while
        merging.

        Raises ``ParameterError``, ``StorageRefused`` where there is something already, ``StorageBusy``,
        ``StorageFailed``.
        """
        chosen = MinHash() if scheme is None else scheme
        require_scheme(chosen)
        chosen = keyed(chosen, key)
        disk = disk or Disk()
        columns = own_terms.columns(chosen, field_kinds(fields or {}), texts=texts)
        terms = own_terms.terms(chosen, layout, columns)
        stated = own_terms.stated(chosen, layout, columns)
        return cls(create(Path(path), terms, stated, _ways(durability, memory, disk)), chosen, disk)

    @classmethod
    def open(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        path: str | PathLike[str],
        mode: Literal["r", "w"] = "r",
        *,
        key: bytes | None = None,
        scheme: Any = None,
        durability: Durability = "commit",
        memory: int = 1 << 28,
        disk: Disk | None = None,
    ) -> Self:
        """Open an index to read (``"r"``) or to write (``"w"``).

        *key* is the one it was created with. A *scheme* must have the index's recipe; its policy counts then, instead
        of that of the one it was created with, but keys stay those of the index: a policy for which they do not
        suffice is refused. Only an index whose scheme has a table of weights needs it.

        A writer that finds bytes behind the last record, as a death in the middle of writing leaves them, sets them
        aside, warns (``RuntimeWarning``), and tells how many in ``stats``.

        Raises ``StorageRefused`` for no index, another recipe, a wrong key or a newer format, ``StorageBusy`` where
        another writer has it, ``StorageDamaged``, ``StorageFailed``.
        """
        require(mode in {"r", "w"}, "mode", mode, "must be 'r' or 'w'")
        folder, disk = Path(path), disk or Disk()
        chosen: list[Any] = []

        def terms_of(manifest: Any) -> Any:
            chosen[:] = [own_terms.scheme_of(folder, manifest, scheme, key)]
            made = own_terms.scheme_of_keys(manifest)
            return own_terms.terms(made, own_terms.layout_of(made, manifest), own_terms.columns_of(manifest))

        store = open_(folder, terms_of, _ways(durability, memory, disk), writes=mode == "w")
        if store.set_aside:
            text = f"{folder}: {store.set_aside:,} bytes behind its last record were never acknowledged and left out"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return cls(store, chosen[0], disk)

    def close(self) -> None:
        """Make everything last and end; a second call does nothing."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        self._store.require_open()
        return len(self._store)

    def __repr__(self) -> str:
        what = "closed" if self._store.closed else f"of {len(self._store):,} documents"
        return f"<Index {what} in {str(self._store.folder)!r}, {self._scheme.name}>"

    @property
    def scheme(self) -> Any:
        """The scheme that signs, with its key."""
        return self._scheme

    @property
    def fields(self) -> dict[str, str]:
        """The fields by name, and what they hold."""
        return dict(self._kinds)

    @property
    def keeps_texts(self) -> bool:
        """Whether texts are kept."""
        return self._store.columns.texts

    # Asking.

    def judge(self, documents: Any, fields: Any = None, *, ids: Sequence[str] | None = None) -> list[Verdict]:
        """Say of each document what it repeats of those admitted. Changes nothing.

        *documents* are texts or ``Signatures``; *fields* are for schemes that sign them. A document that was admitted
        does not repeat itself: *ids* tell which each one is.
        """
        with self._store.busy:
            given, _ = self._asked(documents, fields)
            names = None if ids is None else _require_ids(ids, len(given))
            verdicts: list[Verdict] = []
            for begin in range(0, len(given), TOGETHER):
                part = given.at(slice(begin, min(begin + TOGETHER, len(given))))
                own = None if names is None else self._store.with_ids(names[begin : begin + TOGETHER])
                verdicts += self._judged(part, own)
            return verdicts

    def known(self, ids: Sequence[str], texts: Any, fields: Any = None) -> list[Known | None]:
        """Say of each document whether its id was admitted, and with this content; ``None`` if it was not.

        Nothing changes, and nothing is signed unless the scheme signs *fields*. *kept* is who stands for it, ``None``
        where its content is another one.
        """
        with self._store.busy:
            store = self._store
            column = text_column(texts)
            table = self._table(fields, len(column))
            names = _require_ids(ids, len(column))
            places = store.with_ids(names)
            there = np.flatnonzero(places >= 0)
            found: list[Known | None] = [None] * len(names)
            for some in (there[begin : begin + TOGETHER] for begin in range(0, len(there), TOGETHER)):
                own = places[some]
                listed = ("content", "rows", "present") if self._scheme.columns else ("content",)
                stored = joined_identity(*(store.take(name, own) for name in listed))
                given = identities(self._scheme, column.take(pa.array(some)), chosen_rows(table, some))
                changed = (stored != given).any(axis=1).tolist()
                kept = self._names(store.with_ordinals(store.take("keeper", own)))
                for row, is_changed, keeper in zip(some.tolist(), changed, kept, strict=True):
                    found[row] = Known(names[row], is_changed, None if is_changed else keeper)
            return found

    def _asked(self, documents: Any, fields: Any) -> tuple[Asked, pa.Table]:
        """Sign documents, and give their fields as a table."""
        given = self._signatures(documents) if isinstance(documents, Signatures) else text_column(documents)
        table = self._table(fields, len(given))
        return asked(self._scheme, given, table), table

    def _table(self, fields: Any, number: int) -> pa.Table:
        """Take fields that are some of this index, or of those that its scheme signs."""
        table = field_table(fields, number)
        known = {*self._kinds, *self._scheme.columns}
        for name in table.column_names:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise DataError(f"field {name!r}", f"is none of this index, whose fields are {listed}")
        return table

    def _signatures(self, given: Signatures) -> Signatures:
        """Take signatures whose rows are as the index keeps them."""
        rows, present, own = np.asarray(given.rows), np.asarray(given.present), self._store.columns
        if rows.dtype != own.row_kind or rows.shape != (len(rows), own.row_width):
            raise DataError(
                "signatures", f"must have rows of {own.row_width} {np.dtype(own.row_kind)}, as its scheme has"
            )
        if present.dtype != np.bool_ or present.shape != (len(rows),):
            raise DataError("signatures", "must have a flag a row that tells whether there is one")
        return Signatures(np.ascontiguousarray(rows), present, given.recipe)

    def _judged(self, given: Asked, own: Places | None, *, before: bool = False) -> list[Verdict]:
        """Judge documents that are not those at *own*; with *before*, only by what was admitted before them."""
        store = self._store
        found = store.propose(self._keys(given.signatures), given.signatures.present)
        exact = store.with_contents(given.exact, own)
        if own is not None:
            asking = own[found.rows]
            stay = (found.places < asking) | (asking < 0) if before else found.places != asking
            found = Found(found.rows[stay], found.places[stay], found.crowded)
            exact = np.where(before & (exact > own) & (own >= 0), NONE, exact)
        matches = self._verifier.matches(given, found)
        if not len(matches.rows) and exact.max(initial=NONE) == NONE:  # as of most documents of a crawl
            return [New() if signed else Empty() for signed in given.signatures.present.tolist()]
        nowhere = np.full(len(given), NONE)
        return self._verdicts(given, nowhere, exact, matches, self._stand(nowhere, exact, matches))

    def _keys(self, signatures: Signatures) -> Words:
        return self._store.keyed(signatures.rows, signatures.present)

    def _stand(self, own: Places, exact: Places, matches: Matches) -> Standing:
        """Say what each document repeats, and who stands for it; documents are numbered by their places."""
        store = self._store
        places = np.unique(np.concatenate([matches.documents, exact[exact >= 0]]))
        keepers = store.take("keeper", places)
        others = np.flatnonzero(keepers != store.take("ordinal", places))
        standing = places.copy()
        if len(others):
            found = store.with_ordinals(keepers[others])
            standing[others] = np.where(store.alive(found), found, NONE)
        known = dict(zip(places.tolist(), standing.tolist(), strict=True))
        return stand(own.tolist(), exact.tolist(), matches, known)

    def _verdicts(
        self, given: Asked, own: Places, exact: Places, matches: Matches, standing: Standing
    ) -> list[Verdict]:
        near = np.array(standing.closest, np.int64)
        kept = np.array(standing.keepers, np.int64)
        kept[kept == own] = NONE
        of = np.where(exact >= 0, exact, NONE)
        of[(exact < 0) & (near >= 0)] = matches.documents[near[(exact < 0) & (near >= 0)]]
        both = np.concatenate([of, kept])
        names = dict(zip(both.tolist(), self._names(both), strict=True))
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

    def _names(self, places: Places) -> list[str | None]:
        """Give the ids of documents that are there; ``None`` for the others."""
        there = self._store.alive(places)
        names: list[str | None] = [None] * len(places)
        known = decoded(self._store.strings("id", places[there]))
        for row, name in zip(np.flatnonzero(there).tolist(), known, strict=True):
            names[row] = name
        return names

    def get(self, ids: Iterable[str]) -> list[Document | None]:
        """Give what is known of documents, ``None`` where an id is not there."""
        with self._store.busy:
            names = _as_strings(ids)
            places = self._store.with_ids(names)
            there = np.flatnonzero(places >= 0)
            documents: list[Document | None] = [None] * len(names)
            for row, document in zip(there.tolist(), self._documents(places[there]), strict=True):
                documents[row] = document
            return documents

    def _documents(self, places: Places) -> list[Document]:
        store = self._store
        ids = decoded(store.strings("id", places))
        times = store.take("time", places).tolist()
        kept = self._names(store.with_ordinals(store.take("keeper", places)))
        texts: Sequence[str | None] = [None] * len(places)
        if self.keeps_texts:
            raw = store.strings("text", places)
            texts = [raw.bytes_at(row).decode(errors="replace") for row in range(len(places))]
        values = {name: field_values(store, name, kind, places) for name, kind in self._kinds.items()}
        return [
            Document(name, moment_of(at), keeper, {field: own[row] for field, own in values.items()}, text)
            for row, (name, at, keeper, text) in enumerate(zip(ids, times, kept, texts, strict=True))
        ]

    def group(self, id: str) -> list[str]:  # noqa: A002 - the word users know
        """Give the id of the document that stands for this one, and of all that it stands for, as admitted.

        An id that is not there gives an empty list.
        """
        with self._store.busy:
            place = self._store.with_ids(_as_strings([id]))
            if place[0] < 0:
                return []
            keeper = self._store.take("keeper", place)
            own = self._store.with_ordinals(keeper)
            places = np.concatenate([own[self._store.alive(own)], self._store.kept_by(keeper)])
            return decoded(self._store.strings("id", places))

    def ids(self) -> Iterator[str]:
        """Give the ids of all documents, as admitted.

        Some are read at a time: documents that come or go meanwhile are among them or not.
        """
        last = -1
        while True:
            with self._store.busy:
                places = self._store.behind(last, TOGETHER)
                if not len(places):
                    return
                names = decoded(self._store.strings("id", places))
                last = int(self._store.take("ordinal", places)[-1])
            yield from names

    # Remembering.

    def admit(
        self, ids: Sequence[str], documents: Any, fields: Any = None, *, at: datetime | float | None = None
    ) -> list[Verdict]:
        """Remember documents, and say of each what it repeats of those admitted before, in this batch too.

        *ids* are strings of 1 to 1,024 bytes; *documents* are texts or ``Signatures``; *fields* is a table, or maps
        names to values. *at* is the time of admission: now, unless it is given. The same id with the same content
        again changes nothing; with another content it takes the old one's place, which is removed before its batch is
        judged. What is returned is acknowledged: see ``create`` for what that means.

        Raises ``DataError`` for ids, documents and fields that are none, before anything is changed.
        """
        with self._store.busy:
            self._store.require_writer()
            if self.keeps_texts and isinstance(documents, Signatures):
                raise DataError("documents", "are signatures, but this index keeps texts")
            given, table = self._asked(documents, fields)
            names = _require_ids(ids, len(given))
            columns = field_columns(self._kinds, table, len(given))
            moment = _microseconds(at)
            verdicts: list[Verdict] = []
            for begin, end in _steps(names):
                part = given.at(slice(begin, end))
                verdicts += self._admitted(names[begin:end], part, taken_rows(columns, slice(begin, end)), moment)
            return verdicts

    def _admitted(self, ids: list[str], given: Asked, columns: Batch, moment: int) -> list[Verdict]:
        """Remember documents of different ids."""
        before = self._store.with_ids(ids)
        unchanged = self._unchanged(before, given)
        same, new = np.flatnonzero(unchanged), np.flatnonzero(~unchanged)
        verdicts: list[Verdict] = [New()] * len(ids)
        if len(new):
            batch: Batch = {
                "time": np.full(len(new), moment),
                "id": encoded([ids[row] for row in new.tolist()]),
                **(taken_rows(columns, new) if len(same) else columns),
            }
            gone = before[new]
            remembered = self._remembered(given.at(new) if len(same) else given, batch, gone[gone >= 0])
            for row, verdict in zip(new.tolist(), remembered, strict=True):
                verdicts[row] = verdict
        if len(same):
            places = self._store.with_ids([ids[row] for row in same.tolist()])
            again = self._judged(given.at(same), places, before=True)
            for row, verdict in zip(same.tolist(), again, strict=True):
                verdicts[row] = verdict
        return verdicts

    def _remembered(self, given: Asked, batch: Batch, gone: Places) -> list[Verdict]:
        store = self._store
        keys = self._keys(given.signatures)
        with store.change():
            ordinals = store.next_ordinal + np.arange(len(given))
            batch |= {
                "ordinal": ordinals,
                "keeper": ordinals,
                "content": given.contents,
                "present": given.signatures.present,
                "rows": given.signatures.rows,
            }
            if self.keeps_texts and given.texts is not None:
                batch["text"] = given.texts
            found = store.append(batch, keys, gone)
            places = store.with_ordinals(ordinals)
            exact = store.with_contents(given.exact)
            exact = np.where(exact == places, NONE, exact)
            matches = self._verifier.matches(given, found)
            standing = self._stand(places, exact, matches)
            batch["keeper"] = keepers = store.take("ordinal", np.array(standing.keepers, np.int64))
            store.set_keepers(places, keepers)
            store.log_admission(batch)
            verdicts = self._verdicts(given, places, exact, matches, standing)
            store.commit()
        return verdicts

    def _unchanged(self, before: Places, given: Asked) -> Flags:
        """Say which documents are there as they come: with the same content and signature."""
        there = before >= 0
        flags = there.copy()
        own = before[there]
        same = (self._store.take("content", own) == given.contents[there]).all(axis=1)
        rows = (self._store.take("rows", own) == given.signatures.rows[there]).all(axis=1)
        rows &= self._store.take("present", own) == given.signatures.present[there]
        flags[there] = same & rows
        return flags

    def remove(self, ids: Iterable[str]) -> Removal:
        """Remove documents; ids that are not there count for nothing."""
        with self._store.busy:
            self._store.require_writer()
            places = self._store.with_ids(_as_strings(ids))
            return self._removed(np.unique(places[places >= 0]))

    def expire(self, before: datetime | float, field: str | None = None) -> Removal:
        """Remove the documents that were admitted before a moment, or whose *field* of times lies before it."""
        with self._store.busy:
            self._store.require_writer()
            moment = _microseconds(before, "before")
            require(field is None or self._kinds.get(field) == "time", "field", field, "must be a field of times")
            old = []
            for places in self._store.all_places():
                times = self._store.take("time" if field is None else f"field.{field}", places)
                known = np.ones(len(places), np.bool_) if field is None else self._store.take(f"known.{field}", places)
                old.append(places[known & (times < moment)])
            return self._removed(np.concatenate(old))

    def _removed(self, places: Places) -> Removal:
        store = self._store
        if not len(places):
            return Removal(0, [])
        ordinals = store.take("ordinal", places)
        kept = ordinals[store.take("keeper", places) == ordinals]
        lost = np.setdiff1d(store.kept_by(kept), places)
        names = decoded(store.strings("id", lost))
        with store.change():
            store.remove(places)
            store.commit()
        return Removal(len(places), names)

    def promote(self) -> list[str]:
        """Judge the documents afresh whose keeper was removed, as admitted; give the ids of those kept now."""
        with self._store.busy:
            self._store.require_writer()
            promoted: list[str] = []
            orphans = self._orphans()
            for begin in range(0, len(orphans), TOGETHER):  # places hold until the next change only
                promoted += self._promoted(self._store.with_ordinals(orphans[begin : begin + TOGETHER]))
            return promoted

    def _orphans(self) -> Positions:
        """Give the ordinals of the documents whose keeper is gone, ascending."""
        store, found = self._store, [np.empty(0, np.int64)]
        for places in store.all_places():
            gone = ~store.alive(store.with_ordinals(store.take("keeper", places)))
            found.append(store.take("ordinal", places[gone]))
        return np.concatenate(found)

    def _promoted(self, places: Places) -> list[str]:
        store = self._store
        signatures = Signatures(store.take("rows", places), store.take("present", places), self._scheme.recipe)
        texts = store.strings("text", places) if self.keeps_texts else None
        given = Asked(signatures, store.take("content", places), texts, signed_only=bool(self._scheme.columns))
        found = store.propose(self._keys(signatures), signatures.present)
        stay = found.places != places[found.rows]
        found = Found(found.rows[stay], found.places[stay], found.crowded)
        exact = store.with_contents(given.exact, places)
        standing = self._stand(places, exact, self._verifier.matches(given, found))
        keepers = np.array(standing.keepers, np.int64)
        with store.change():
            store.log_keepers(places, store.take("ordinal", keepers))
            names = decoded(store.strings("id", places[keepers == places]))
            store.commit()
        return names

    # Looking after the files.

    def refresh(self) -> bool:
        """Read what a writer has acknowledged since; say whether there was anything. A writer has nothing to read."""
        with self._store.busy:
            return self._store.refresh()

    def sync(self) -> None:
        """Wait until everything admitted is on the disk, whatever the durability."""
        self._store.sync()

    def flush(self) -> None:
        """Write what is in memory to files of its own."""
        self._store.flush()

    def compact(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Merge the files, and leave out of them what was removed."""
        self._store.compact(progress)

    def check(self, progress: Callable[[int, int], None] | None = None) -> checking.Report:
        """Verify every byte of the committed files; see ``Report``."""
        with self._store.busy:
            self._store.require_open()
            return checking.check(self._store.folder, self._disk, progress)

    def stats(self) -> Stats:
        """Say what the index is made of."""
        store = self._store
        with store.busy:
            store.require_open()
            return Stats(
                documents=len(store),
                kept=sum(part.kept for part in store.parts),
                segments=len(store.segments),
                bytes=sum(segment.stored.size for segment in store.segments) + store.log_bytes,
                bytes_in_log=store.log_bytes,
                removed_in_files=sum(int((~segment.alive).sum()) for segment in store.segments),
                crowded=store.crowded,
                set_aside=store.set_aside or store.torn,
                scheme=self._scheme.name,
                recipe=self._scheme.recipe,
                generation=store.manifest.generation,
            )


def _ways(durability: Durability, memory: int, disk: Disk) -> Ways:
    require(durability in get_args(Durability), "durability", durability, "must be commit, interval or bulk")
    return Ways(durability, require_whole("memory", memory, LEAST_MEMORY), disk)


def _require_ids(ids: Any, number: int) -> list[str]:
    """Check ids: as many as documents, each a string of 1 to ``MOST_ID_BYTES`` bytes of UTF-8."""
    names = _as_strings(ids)
    if len(names) != number:
        raise DataError("ids", f"are {len(names):,}, but the documents are {number:,}")
    for position, name in enumerate(names):
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            raise DataError(f"id {position}", "has a lone surrogate, which UTF-8 cannot write") from None
        if not 1 <= size <= MOST_ID_BYTES:
            raise DataError(f"id {position}", f"has {size:,} bytes, but must have 1 to {MOST_ID_BYTES:,}")
    return names


def _as_strings(ids: Any) -> list[str]:
    """Take strings of any kind as a list; whether they can be ids is another question."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise DataError("ids", f"are a {type(ids).__name__}, but must be a sequence of strings")
    names = ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else list(ids)
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(f"id {position}", f"is a {type(name).__name__}, but must be a string")
    return names


def _steps(names: list[str]) -> Iterator[tuple[int, int]]:
    """Cut a batch into runs of different ids, at most ``TOGETHER`` each."""
    begin = 0
    met: set[str] = set()
    for place, name in enumerate(names):
        if name in met or place - begin == TOGETHER:
            yield begin, place
            begin, met = place, set()
        met.add(name)
    if begin < len(names):
        yield begin, len(names)


def _at(array: Any, places: Positions) -> Any:
    """Take entries; of a place less than 0 anything."""
    return array[places] if len(array) else np.zeros(len(places), array.dtype)


def _microseconds(at: Any, name: str = "at") -> int:
    """Give a moment in microseconds since 1970. A ``datetime`` without a zone is in UTC."""
    if at is None:
        at = datetime.now(UTC)
    moment, number = np.nan, at
    if isinstance(at, datetime):
        moment = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND
    elif isinstance(at, int | float | np.integer | np.floating) and not isinstance(at, bool):
        moment = number * 1e6 if abs(number) < LAST_MOMENT else np.nan  # some integers are too large for a float
    holds = FIRST_MOMENT <= moment <= LAST_MOMENT
    require(holds, name, at, "must be a datetime, or seconds since 1970, in the years from 1 to 9999")
    return round(moment)
