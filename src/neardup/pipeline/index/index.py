"""The index of a crawl: all documents seen so far, on disk, to which each new document is compared."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from os import PathLike
from typing import Any, Literal, Self, get_args

import numpy as np

from neardup.index.disk import check as checking
from neardup.index.disk import copies
from neardup.index.disk.columns import NEVER, Lookup
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import create, open_
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.memory_files import FOLDER, MemoryDisk
from neardup.index.disk.reader import Places, each
from neardup.index.disk.store import Durability, Store, Usage
from neardup.model.arrays import Signatures
from neardup.model.engine import StageProgress, silent
from neardup.model.errors import (
    DataError,
    counted,
    require_choice,
    require_flag,
    require_function,
    require_kind,
    require_name,
    require_share,
    require_whole,
)
from neardup.model.memory import LEAST_OF_INDEX, OF_INDEX
from neardup.model.policy import Representative, require_representative
from neardup.model.seen import Admission, Document, GroupPage, Removal, Stats
from neardup.model.verdicts import Verdict
from neardup.pipeline.index import terms as own_terms
from neardup.pipeline.index.admissions import Admissions
from neardup.pipeline.index.changes import Changes, changes
from neardup.pipeline.index.decisions import Judge
from neardup.pipeline.index.fields import column_of_time, documents_at, field_kinds, field_values, unknown_field
from neardup.pipeline.index.group_pages import GroupPages
from neardup.pipeline.index.inputs import TOGETHER, Given, as_strings, microseconds, microseconds_or_now, require_ids
from neardup.pipeline.index.page_terms import read_with, require_extraction, site_fields, templates_in
from neardup.pipeline.index.transfer import Filled, fill
from neardup.pipeline.progress import Progress
from neardup.pipeline.spilled.state import State
from neardup.schemes import registry
from neardup.schemes.scheme import require_scheme
from neardup.schemes.terms import common_of
from neardup.schemes.thresholds import require_texts
from neardup.sources.addresses import Addresses
from neardup.sources.collection import SITE
from neardup.sources.formats import local_folder
from neardup.sources.output_places import require_outside
from neardup.text.host_templates import HostTemplates


class Index(AbstractContextManager["Index"]):
    """The documents seen so far, in a folder. ``create`` and ``open`` return it; close it, or use it in ``with``.

    Checking and recording are two calls: ``judge`` changes nothing, ``admit`` records documents. One process may write,
    any number may read. A reader answers from the state that it has read until ``refresh``.

    After ``close``, methods raise ``StorageRefused``; so do changes of an index that is open to read. A method that
    reads a damaged block raises ``StorageDamaged``, and a change that the system refuses to write ``StorageFailed``.
    Ids that are not strings are a ``DataError``.
    """

    def __init__(self, store: Store, scheme: Any) -> None:
        self._store, self._scheme = store, scheme
        self._kinds = {name: kind for name, kind in store.columns.fields if name != SITE}
        self._judge, self._settings = Judge(store, scheme), repr(scheme)
        self._admissions = Admissions(store, scheme, self._judge)
        self._groups = GroupPages(store)
        self._templates: tuple[str | None, HostTemplates | None] = None, None  # those read last, after their identity

    # Creating and opening.

    @classmethod
    def create(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        path: str | PathLike[str] | None = None,
        scheme: Any = None,
        *,
        layout: Any = None,
        key: bytes | None = None,
        fields: Mapping[str, Any] | None = None,
        texts: bool = False,
        templates: HostTemplates | None = None,
        representative: Representative = "best-ranked",
        durability: Durability = "commit",
        memory: int = OF_INDEX,
        disk: Disk | None = None,
    ) -> Self:
        """Create an index in a folder that does not exist or is empty, and open it to write; without *path*, in memory.

        An index in memory returns the same answers. It has no folder: it is lost when it is closed, no other process
        can read it, and it cannot be searched by words.

        *scheme* is ``MinHash()`` by default, with *key* if there is one. The key is not stored; opening the index
        requires it. *layout* replaces the scheme's own: a ``Banding``, ``Blocks``, or the ``TableDesign`` for
        fingerprints of 64 bits. *fields* maps names to ``"string"``, ``"integer"``, ``"number"``, ``"time"`` or
        ``"flag"``. With *texts* the documents' texts are stored, and near duplicates are verified on them; otherwise
        the scheme's estimate decides. The index keeps *templates* of hosts, with which web pages are read (see
        ``CrawlFilter``). One that was created without templates never has any. *representative* chooses among the kept
        documents that a document matches: the ``"best-ranked"``, which is the first admitted, or the ``"closest"``.

        *durability* decides what a power failure may lose: with ``"commit"`` nothing that was acknowledged; with
        ``"interval"`` changes of the last second; with ``"bulk"`` all changes since the last ``flush`` or ``sync``. If
        only the process ends, nothing is lost in any of them. *memory* limits the bytes used for new documents, and for
        lists while merging.

        Raises ``ParameterError``, ``StorageRefused`` if the folder is not empty, ``StorageBusy``, ``StorageFailed``.
        """
        chosen = registry.default() if scheme is None else scheme
        require_scheme(chosen)
        chosen = chosen.with_key(key)
        require_flag("texts", texts)
        if not texts:
            require_texts(chosen)
        disk = disk if disk is not None else MemoryDisk() if path is None else Disk()
        folder = FOLDER if path is None else local_folder("path", path)
        if path is not None:
            require_outside(folder)
        extraction = None if templates is None else read_with(templates)
        kinds = dict(field_kinds(fields)) | site_fields(templates, chosen)
        lookup = own_terms.lookup(chosen, layout, chosen=layout is not None)
        require_representative(representative)
        terms = own_terms.terms_of(chosen, layout, kinds, representative, texts=texts)
        common = common_of(chosen)
        listed = None if common is None else common.to_bytes()
        store = create(folder, lookup, terms, _usage(durability, memory, disk), common=listed)
        index = cls(store, chosen)
        if extraction is not None:
            require_extraction(index, extraction)
        return index

    @classmethod
    def open(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        path: str | PathLike[str],
        mode: Literal["r", "w"] = "r",
        *,
        key: bytes | None = None,
        scheme: Any = None,
        durability: Durability = "commit",
        memory: int = OF_INDEX,
        disk: Disk | None = None,
    ) -> Self:
        """Open an index to read (``"r"``) or to write (``"w"``).

        *key* is the key that it was created with. A *scheme* must have the recipe of the index. Its policy, such as the
        threshold, replaces that of the index; the keys of the index do not change, so a policy for which they do not
        suffice is refused. A scheme is only required for an index whose scheme has a table of weights. *durability* and
        *memory* are as in ``create``.

        A writer discards bytes after the last record of the log, which an interrupted writer leaves. It warns
        (``RuntimeWarning``), and ``stats`` reports their number.

        Raises ``StorageRefused`` if there is no index, or for another recipe, a scheme that is not registered, a wrong
        key or another format; ``StorageBusy`` if another process writes to it; ``StorageDamaged``, ``StorageFailed``.
        """
        require_choice("mode", mode, ("r", "w"), "must be 'r' or 'w'")
        folder, disk = local_folder("path", path), Disk() if disk is None else disk
        chosen: list[Any] = []

        def lookup_of(manifest: Manifest) -> Lookup:
            lookup = own_terms.lookup_of(folder, manifest)
            chosen[:] = [own_terms.scheme_of(folder, manifest, scheme, key, disk)]
            return lookup

        store = open_(folder, lookup_of, _usage(durability, memory, disk), writes=mode == "w")
        if store.discarded_bytes:
            text = f"{folder}: {store.discarded_bytes:,} bytes behind its last record {checking.LEFT_OUT}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return cls(store, chosen[0])

    def close(self) -> None:
        """Sync everything acknowledged to the disk and close the index; a second call does nothing.

        Raises ``StorageFailed`` if that fails, and ``StorageMoved`` if the folder was moved or replaced and no earlier
        call has raised it: acknowledged changes are then on the disk, in the folder that was opened.
        """
        self._store.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        self._store.require_open()
        number = len(self._store)
        self._store.require_open()  # another thread may have closed it
        return number

    def __contains__(self, id: object) -> bool:  # noqa: A002 - the word users know
        """Return whether a document with this id was admitted, and not removed."""
        with self._store.busy:
            return isinstance(id, str) and bool(self._store.with_ids([id])[0] >= 0)

    def __repr__(self) -> str:
        what = "closed" if self._store.closed else f"of {counted(len(self._store), 'document')}"
        where = "memory" if self.is_in_memory else repr(str(self._store.folder))
        return f"<Index {what} in {where}, {self._scheme.name}>"

    def __reduce__(self) -> str:
        """Refuse to be copied or sent to another process: two of one index would both write to its files."""
        if self.is_in_memory:
            then = "create an index in a folder with create(path), and open it in each process with open(path)"
        else:
            then = f"open it in each process: Index.open({str(self._store.folder)!r})"
        raise TypeError(f"an Index cannot be pickled or copied; {then}")

    @property
    def is_in_memory(self) -> bool:
        """Whether the index is in memory, without a folder."""
        return isinstance(self._store.disk, MemoryDisk)

    @property
    def scheme(self) -> Any:
        """The scheme that signs, with its key."""
        return self._scheme

    @property
    def fields(self) -> dict[str, str]:
        """The names of the fields, and their kinds."""
        return dict(self._kinds)

    @property
    def extraction(self) -> dict[str, str | None] | None:
        """How web pages became texts of this index: ``Extraction.identity``; ``None`` if there were no pages."""
        return self._store.manifest.terms.extraction

    @property
    def templates(self) -> HostTemplates | None:
        """The templates of hosts that pages of this index are read with now; ``None`` without any."""
        if self._templates[0] != (stated := self._store.manifest.terms.templates):
            self._templates = stated, templates_in(self._store.folder, self._store.manifest, self._store.disk)
        return self._templates[1]

    @property
    def store(self) -> Store:
        """The files of the index and their content, for extensions of the index."""
        return self._store

    @property
    def failure(self) -> str | None:
        """Why the index cannot be written since a failure; ``None`` if it can, or was opened to read.

        Reading continues. Each change, and ``sync``, tries to write again; the first success ends the failure.
        """
        return self._store.failure

    @property
    def keeps_texts(self) -> bool:
        """Whether texts are stored."""
        return self._store.columns.texts

    @property
    def estimates(self) -> bool:
        """Whether near duplicates are decided by estimates: no texts are stored that they could be verified on."""
        return not self.keeps_texts and not self._scheme.columns

    # Reading.

    def judge(self, documents: Any, fields: Any = None, *, ids: Sequence[str] | None = None) -> list[Verdict]:
        """Return for each document a verdict: what it repeats among the admitted documents. Changes nothing.

        *documents* are texts or ``Signatures``; *fields* are for schemes that sign fields. With *ids*, an admitted
        document is not compared with itself, but with all others, also later ones. No documents return an empty list.

        Raises ``DataError`` for invalid ids, documents and fields, ``RecipeMismatch`` for signatures of another recipe.
        """
        with self._store.busy:
            given = self._given(documents, fields)
            names = None if ids is None else require_ids(ids, len(given))
            verdicts: list[Verdict] = []
            for step in given.steps():
                own = None if names is None else self._store.with_ids(names[step])
                verdicts += self._judge.judge(given.at(step), own)
            return verdicts

    def get(self, ids: Iterable[str]) -> list[Document | None]:
        """Return the documents with these ids; ``None`` for an unknown id."""
        with self._store.busy:
            places = self._store.with_ids(as_strings(ids))
            return each(places, partial(documents_at, self._store, self._kinds))

    def signatures(self, ids: Sequence[str]) -> Signatures:
        """Return the signatures of documents, one row per id; an unknown id has no signature."""
        with self._store.busy:
            return self.signatures_at(self._store.with_ids(as_strings(ids)))

    def signatures_at(self, places: Places) -> Signatures:
        """Return the signatures at these places, none for -1. Callers must hold ``store.busy``."""
        rows, present = self._store.take_all(("rows", "present"), places)
        return Signatures(rows, present, self._scheme.recipe)

    def estimates_of(self, id: str, ids: Sequence[str]) -> list[float | None]:  # noqa: A002 - as above
        """Estimate the similarity of a document to each of others by the scheme; ``None`` without both signatures."""
        names = [id, *as_strings(ids)]
        signatures, others = self.signatures(names), np.arange(1, len(names))
        values = self._scheme.estimate_pairs(signatures, np.zeros_like(others), others).tolist()
        both = (signatures.present[1:] & signatures.present[0]).tolist()
        return [value if known else None for value, known in zip(values, both, strict=True)]

    def values(self, name: str, ids: Sequence[str]) -> list[Any]:
        """Return the values of a field for documents; ``None`` for a missing value or an unknown id.

        Raises ``DataError`` for a field that the index does not have.
        """
        require_name("name", name)
        if name not in self._kinds:
            raise unknown_field(name, self._kinds)
        with self._store.busy:
            places = self._store.with_ids(as_strings(ids))
            return each(places, partial(field_values, self._store, name, self._kinds[name]))

    @property
    def state(self) -> tuple[str, str, int, int, int]:
        """What identifies the state of the index: equal states return equal answers.

        It consists of the id of the index, its scheme, its generation, the bytes of its log, and the number of the last
        writer that changed it, in which copies that were changed separately differ.
        """
        self._store.require_open()
        mark, generation, log_bytes, session = self._store.state
        return mark, self._settings, generation, log_bytes, session

    def group(self, id: str) -> list[str]:  # noqa: A002 - as above
        """Return the ids of the cluster of a document, in order of admission.

        They are its representative and all documents with this representative. An unknown id returns an empty list.
        """
        page = self.group_page(id)
        return page.members if page else []

    def group_page(self, id: str, skip: int = 0, most: int | None = None) -> GroupPage | None:  # noqa: A002 - as above
        """Return *most* ids of the cluster of a document, or all, after the first *skip*; ``None`` for an unknown id.

        The first member is the representative; the others follow in order of admission.
        """
        return self._groups.page(id, skip, most)

    def admissions(self, ids: Iterable[str]) -> list[Admission | None]:
        """Return the admission numbers of documents; ``None`` for an unknown id."""

        def numbers(places: Places) -> Iterable[Admission]:
            ordinals, reported = self._store.take_all(("ordinal", "reported"), places)
            return map(Admission, ordinals.tolist(), np.maximum(reported, NEVER).tolist())

        with self._store.busy:
            return each(self._store.with_ids(as_strings(ids)), numbers)

    @property
    def next_admission(self) -> int:
        """The number of the next admission."""
        self._store.require_open()
        return self._store.next_ordinal

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents, in order of admission.

        Ids are read in parts: documents that are admitted or removed at the same time may be included or not.
        """
        last = -1
        while True:
            with self._store.busy:
                places = self._store.admitted_after(last, TOGETHER)
                if not len(places):
                    return
                names = self._store.decoded("id", places)
                last = int(self._store.take("ordinal", places)[-1])
            yield from names

    def changes(self, since: int = 0) -> Changes:
        """Return what has changed since a *generation* that an earlier call returned; since 0, all documents.

        A document that was only seen again has not changed. Changes made while the tables are read may be included;
        the next call returns them again. Raises ``ParameterError`` for a generation that the index did not reach, and
        ``StorageRefused`` if removals since then are unknown: the index remembers the last 131,072.
        """
        return changes(self._store, self._kinds, since)

    # Writing.

    def admit(
        self, ids: Sequence[str], documents: Any, fields: Any = None, *, at: datetime | float | None = None
    ) -> list[Verdict]:
        """Record documents, and return for each what it repeats among those admitted before, including this batch.

        *ids* are strings of 1 to 1,024 bytes; *documents* are texts or ``Signatures``; *fields* is a table, or maps
        names to values: the fields of the index and those that the scheme signs, as values of their kind or as strings.
        *at* is the time of admission, a ``datetime`` (in UTC if it has no zone) or seconds since 1970; by default now.

        If an id is admitted again with the same content, only the time when it was last seen changes, and the fields
        that have values now. With other content, the old document is removed, with its fields, before its batch is
        judged, as by ``remove``. A batch is the documents of a call, cut after 2,048 documents or 32 MB of text and
        before an id that it already contains with other content; a document that repeats one of its batch, with the
        same id and content, is judged after the others. Returned verdicts are acknowledged: see ``durability`` in
        ``create``.

        Raises ``DataError`` for invalid ids, documents and fields, before anything is changed; ``StorageFailed`` if the
        system refuses to write. Then each batch was admitted as a whole or not at all, the index continues to answer,
        and the same call can be repeated.
        """
        with self._store.busy:
            self._store.require_writer()
            names, given = self._admissible(ids, documents, fields)
            return self._admissions.admit(names, given, microseconds_or_now(at))

    def fill(
        self,
        state: State,
        *,
        url: str | None = None,
        addresses: Addresses | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Filled:
        """Fill a new index with the kept documents of a state (see ``State``), without comparing them again.

        Their texts are read again from the inputs of the runs that added them. The index then answers as if these
        documents had been admitted in the order of the inputs, at the times of the runs, and the decisions of the state
        had been made: each of them is kept. Dropped and empty documents are not in it; of documents with the same id,
        the last is. The ids are those of the state. For pages of archives, and with *url* (the name of the URL field),
        they are the normal forms of the URLs, by *addresses*. The fields of the index are read from the records.
        *threads* sign; the default is all cores.

        All documents are acknowledged together: if it fails or is interrupted, the index is as it was.

        Raises ``StorageRefused`` if the index has, or had, documents, or the scheme of the state is another one;
        ``DataError`` for inputs that were changed since they were added.
        """
        require_kind("state", state, State)
        require_function("progress", progress)
        with self._store.busy:
            self._store.require_writer()
            return fill(self, state, url=url, addresses=addresses, threads=threads, progress=progress or silent)

    def visit(  # noqa: PLR0913 - every one a keyword with a default
        self,
        ids: Sequence[str],
        texts: Any,
        fields: Any = None,
        *,
        at: datetime | float | None = None,
        remember: bool = True,
        changed_at_least: float | None = None,
    ) -> list[Verdict]:
        """Return a verdict for each document, including ``Known``; with *remember*, admit new and changed ones.

        It combines ``admit`` of documents whose id or content is new, and ``see`` of the others, which get the new
        fields, batch by batch. Without *remember*, ``judge`` replaces ``admit``, and nothing changes. Content
        whose resemblance to the version that was admitted last is at least *changed_at_least* counts as unchanged: it
        is not admitted, so later versions are compared with the same one, but its fields are new. *texts* may be
        ``Signatures``, unless they are to be admitted to an index that stores texts. Known documents need the fields
        that the scheme signs, too. Raises the errors of these methods.

        A document is *passed on* when a verdict on its present content has ``None`` as the representative. If no
        document of a cluster was passed on, the first new or changed document that joins it is passed on, or the
        representative if it is visited before. The cluster then counts as passed on as long as it has this
        representative. Unchanged repeats are not passed on: they were dropped for a document that was.
        """
        require_flag("remember", remember)
        with self._store.busy:
            least = _least(changed_at_least)
            if remember:
                self._store.require_writer()
                names, given = self._admissible(ids, texts, fields)
                return self._admissions.visit(names, given, microseconds_or_now(at), least)
            given = self._given(texts, fields)
            return self._admissions.look_up(require_ids(ids, len(given)), given, least)

    def _given(self, documents: Any, fields: Any) -> Given:
        given = Given(self._scheme, self._store.columns, self._store.digest_salt, documents, fields)
        if given.table.num_columns:
            _ = given.columns  # values are checked, also by what does not store them
        return given

    def _admissible(self, ids: Sequence[str], documents: Any, fields: Any) -> tuple[list[str], Given]:
        """Return ids, and documents with fields, after checking them; ``DataError`` if they cannot be admitted."""
        if self.keeps_texts and isinstance(documents, Signatures):
            raise DataError("documents", "must be texts, not signatures, because this index stores texts")
        given = self._given(documents, fields)
        return require_ids(ids, len(given)), given

    def see(self, ids: Iterable[str], *, at: datetime | float | None = None) -> list[str | None]:
        """Record that documents were seen again with unchanged content; unknown ids are ignored.

        Returns for each the id of its representative: the document may be dropped for it, or is kept if the id is its
        own. ``None`` means that the document must be kept: its id is unknown, or it is kept since its representative
        was removed or replaced, and no document of its cluster was passed on (see ``visit``). *at* is the time, as in
        ``admit``.
        """
        with self._store.busy:
            self._store.require_writer()
            moment, names = microseconds_or_now(at), as_strings(ids)
            kept: list[str | None] = []
            for begin in range(0, len(names), TOGETHER):
                kept += self._admissions.see(names[begin : begin + TOGETHER], moment)
            return kept

    def remove(self, ids: Iterable[str]) -> Removal:
        """Remove documents; return their number and the documents that are kept instead. Unknown ids are ignored.

        Documents whose representative is removed are judged again, in the same step: see ``Revision``. The work is
        proportional to their number.
        """
        with self._store.busy:
            self._store.require_writer()
            places = self._store.with_ids(as_strings(ids))
            return self._remove(np.unique(places[places >= 0]))

    def expire(self, before: datetime | float, by: str = "last_seen") -> Removal:
        """Remove the documents that were last seen before a moment.

        *before* is a ``datetime``, in UTC if it has no zone, or seconds since 1970. *by* is the time that counts,
        ``last_seen`` or ``first_seen`` (see ``Document``). A document is seen when it is admitted, also again with the
        same content, and by ``see``. Other documents are treated as in ``remove``.

        Raises ``ParameterError`` for a *before* in the future, which would remove everything.
        """
        with self._store.busy:
            self._store.require_writer()
            moment = microseconds(before, "before")
            return self._remove(self._store.earlier(moment, column_of_time(by, moment)))

    def _remove(self, places: Places) -> Removal:
        return Removal(len(places), self._judge.remove(places) if len(places) else [])

    # Maintenance.

    def refresh(self) -> bool:
        """Read the changes that a writer has acknowledged; return whether there were any. A writer reads none."""
        with self._store.busy:
            return self._store.refresh()

    def sync(self) -> None:
        """Wait until everything admitted is on the disk, with any durability."""
        self._store.sync()

    def flush(self) -> None:
        """Write the documents in memory to a segment."""
        self._store.flush()

    def compact(self, progress: StageProgress | None = None) -> None:
        """Merge the segments, and purge removed documents from the files."""
        require_function("progress", progress)
        self._store.compact(progress)

    def copy(self, to: str | PathLike[str], progress: StageProgress | None = None) -> copies.Copied:
        """Copy everything that was acknowledged, and the search table, to a folder.

        It must be empty, or have an earlier copy of this index, whose files are not written again. A writer can
        continue at the same time. The copy is an index of its own: changes made in it are lost when it is brought up to
        date. Every block is verified. Returns the bytes of the copy, and how many were written.

        Raises ``StorageDamaged`` for damaged files, ``StorageRefused`` for a folder of something else, ``StorageBusy``
        if the copy is open to write, and ``StorageFailed``; the earlier copy is then as it was.
        """
        require_function("progress", progress)
        self._store.require_open()
        target = local_folder("to", to)
        require_outside(target, self._store.folder)
        return copies.copy(self._store.folder, target, self._store.disk, Disk(), progress)

    def check(self, progress: StageProgress | None = None) -> checking.Report:
        """Verify every byte of the committed files; see ``Report``."""
        require_function("progress", progress)
        with self._store.busy:
            self._store.require_open()
            return checking.check(self._store.folder, self._store.disk, progress)

    def stats(self) -> Stats:
        """Return the contents and the size of the index."""
        return own_terms.stats_of(self._store)


def _usage(durability: Durability, memory: int, disk: Disk) -> Usage:
    require_kind("disk", disk, Disk)
    require_choice("durability", durability, get_args(Durability), "must be commit, interval or bulk")
    return Usage(durability, require_whole("memory", memory, LEAST_OF_INDEX, unit="bytes"), disk)


def _least(changed_at_least: float | None) -> float | None:
    return None if changed_at_least is None else require_share("changed_at_least", changed_at_least)
