"""A state: what runs keep of their documents, so that later runs compare new documents with them.

A folder with ``state.json`` and a folder for each segment. A segment has the leaders that one run added, in Arrow files
(see ``neardup.pipeline.spilled.earlier_documents``), and ``texts.json``, which names the inputs that have their texts.
The folder also has ``templates.arrow``, the latest templates of hosts, if pages were read with any.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, fields
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from weakref import finalize

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import __version__
from neardup.engines.files import checksum_of, has_file, locked, naming, replacing, sealed, unsealed, why_no_folder
from neardup.engines.journal import is_work
from neardup.index.disk.arrays import expect, understood
from neardup.model.arrays import Flags
from neardup.model.errors import StorageDamaged, StorageRefused, require
from neardup.model.folders import INDEX, STATE, TEMPLATES, WORK
from neardup.model.moments import moment_in, moment_of_text, require_past, with_zone
from neardup.model.policy import Policy
from neardup.pipeline.spilled.earlier_documents import (
    DROPPED,
    IDS,
    KEPT,
    LEADERS,
    Earlier,
    RecordedRuns,
    Rows,
    RunInputs,
    StoredSegment,
    check_segments,
)
from neardup.schemes import terms
from neardup.schemes.recorded_scheme import RecordedScheme, differing, other_settings
from neardup.schemes.scheme import Scheme
from neardup.sources.formats import local_folder
from neardup.sources.output_places import require_outside
from neardup.text.extraction import Extraction, other_extraction
from neardup.text.host_templates import kept_templates

_EMPTY: Final = "it has no documents yet: no run with it was completed"
_NOT_STATE: Final = "not a state"  # the code of errors about folders of something else
_DAMAGED: Final = "it is damaged: restore the state from a copy, or make a new one"
_MISSING: Final = "it is missing: restore the state from a copy, or make a new one"
_FORMAT: Final = 6
_HEADER, _LOCK = STATE
_FIRST: Final = "state.new"  # while the first run adds its segment, which no header lists yet
_TEXTS: Final = "texts.json"
_SEGMENT: Final = "segment-"
_SEGMENT_NAME: Final = re.compile("[0-9a-f]{16}")
_NAMES: Final = (LEADERS, KEPT, DROPPED, IDS)  # in the order of ``Rows``
_FILES: Final = (*_NAMES, _TEXTS)


class SegmentInfo(msgspec.Struct, frozen=True):
    """A segment: its name, when it was added (UTC), the documents of its run, those kept, and its leaders."""

    name: str
    added: str
    documents: int
    leaders: int
    kept: int
    inputs: tuple[str, ...]
    checksums: tuple[int, ...] = ()  # of its files, in the order of ``_FILES``


class StateHeader(msgspec.Struct, frozen=True):
    """The content of ``state.json``."""

    format: int
    version: str
    recipe: str
    key: str | None
    scheme: dict[str, Any]
    policy: dict[str, str]
    salt: str
    extraction: dict[str, str | None] | None  # of the texts of web pages, if there were any
    for_index: bool  # whether kept documents have all that an index needs, except texts and fields
    segments: tuple[SegmentInfo, ...] = ()

    @property
    def recorded(self) -> RecordedScheme:
        """The scheme of its runs."""
        return RecordedScheme(self.scheme, self.recipe, self.key or "")


class Forgotten(NamedTuple):
    """The number of leaders that were removed, and the ids that no leader has."""

    removed: int
    unknown: list[str]


class State(AbstractContextManager["State"]):
    """A state that this process has locked: to add to it, or only to read it. Use it as a context manager.

    At its end, methods that read or change its files raise ``StorageRefused``; so do changes of a state that is open to
    read.
    """

    def __init__(self, folder: Path, header: StateHeader | None, lock: int | None, *, writes: bool) -> None:
        self._named, self._place = folder, folder.absolute()
        self._header, self._writes, self._closed = header, writes, False
        self._release = None if lock is None else finalize(self, os.close, lock)  # also if it is no longer used

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, write: bool = False, make: bool = True) -> Self:
        """Open a state; with *write* and *make*, make one if there is none.

        Raises ``StorageRefused`` for a folder of something else and, unless it may make one, for a state without
        documents, ``StorageDamaged`` if ``state.json`` was changed or removed, ``StorageBusy`` if another process is
        using it, and ``StorageFailed`` if the system refuses.
        """
        folder = local_folder("path", path)
        with naming(folder):
            if _read(folder) is None:
                _require_new(folder, write=write and make)
            lock = None
            if write:
                folder.mkdir(exist_ok=True)
                lock = locked(folder / _LOCK)
            else:
                with suppress(PermissionError, FileNotFoundError):  # nothing can be locked: a copy, or of another user
                    lock = locked(folder / _LOCK, shared=True)
            found = cls(folder, _read(folder), lock, writes=write)
            if write:
                found._remove_leftovers()
            return found

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        if self._release is not None and self._release.alive:
            if self._header is None and not any(path.name != _LOCK for path in self.folder.iterdir()):
                with suppress(OSError):  # the run failed before it wrote anything
                    (self.folder / _LOCK).unlink()
                    self.folder.rmdir()
            self._release()

    def _require_open(self) -> None:
        if self._closed:
            raise StorageRefused(str(self.folder), "is closed; open it again")

    def _require_writer(self) -> None:
        self._require_open()
        if not self._writes:
            raise StorageRefused(str(self.folder), "was opened to read; open it with write=True to change it")

    @property
    def folder(self) -> Path:
        """Its folder as it was named; as an absolute path if the working directory has changed since then."""
        return self._named if self._named.absolute() == self._place else self._place

    @property
    def segments(self) -> tuple[SegmentInfo, ...]:
        """The segments, oldest first; none if no run was completed."""
        return () if self._header is None else self._header.segments

    @property
    def header(self) -> StateHeader:
        """What the state is made of; raises ``StorageRefused`` if no run was completed."""
        if self._header is None:
            raise StorageRefused(str(self.folder), _EMPTY)
        return self._header

    @property
    def salt(self) -> str | None:
        """The key of its digests, as hexadecimal digits; ``None`` if it has no documents yet."""
        return None if self._header is None else self._header.salt

    def require(self, scheme: Scheme, policy: Policy | None = None, *, for_index: bool = False) -> None:
        """Raise ``StorageRefused`` unless this is the scheme of the state, and with *policy* the rest of its rules.

        With *for_index*, raise ``ParameterError`` for a state whose documents lack what an index needs.
        """
        header = self._header
        if header is None:
            return
        changes = header.recorded.changes(RecordedScheme.of(scheme))
        if policy is not None:
            changes += differing(header.policy, _rules(policy))
        if changes:
            rule = f"{other_settings(changes)}; use the settings of its first run, or another state"
            raise StorageRefused(str(self.folder), rule, "other terms")
        rule = "cannot be used with this state, whose first run was without it; leave it out, or make another state"
        require(header.for_index or not for_index, "for_index", for_index, rule)

    @property
    def extraction(self) -> Extraction | None:
        """How web pages became texts, with the latest templates; ``None`` if there were no pages.

        Raises ``StorageRefused`` if this library extracts texts otherwise than the runs did, and ``StorageDamaged`` if
        the file of templates is missing, damaged, or has others.
        """
        known = None if self._header is None else self._header.extraction
        if known is None:
            return None
        identity = known.get("templates")
        found = Extraction.of(known, lambda: None if identity is None else kept_templates(self.folder, identity))
        if found.extractor != known["extractor"]:
            raise StorageRefused(str(self.folder), *other_extraction(known, found.identity))
        return found

    def require_extraction(self, own: Extraction | None) -> None:
        """Raise ``StorageRefused`` if texts of pages in the state cannot be compared with those of a run."""
        known = None if self._header is None else self._header.extraction
        if known is not None and own is not None and not own.follows(known):
            raise StorageRefused(str(self.folder), *other_extraction(known, own.identity))

    def check(self) -> None:
        """Raise ``StorageDamaged`` unless all files have the content that was written, and it can be used.

        Raises ``StorageRefused`` if this library extracts texts otherwise than the runs did.
        """
        self._require_open()
        for part in self.segments:
            if (found := self._checksums(part.name)) != part.checksums:
                names = [name for name, *both in zip(_FILES, found, part.checksums, strict=True) if both[0] != both[1]]
                raise StorageDamaged(str(self._folder(part.name) / names[0]), _DAMAGED)
        _ = self.extraction  # files of another one cannot be read
        check_segments(_segments(self.folder, [part.name for part in self.segments]))

    def earlier(self) -> Earlier:
        """Map all segments; raises what ``check`` does."""
        self.check()
        return earlier_of(self.folder, [part.name for part in self.segments])

    def add(self, part: SegmentInfo, rows: Iterable[Rows], texts: RunInputs, header: StateHeader) -> None:
        """Add the leaders of a run as a segment; *header* is that of a state with only this run."""
        self._require_writer()
        known = earlier_of(self.folder, [one.name for one in self.segments])
        recorded, templates = RecordedRuns(known.texts), texts.templates
        part = self._write(part, rows, [texts], recorded)
        if texts.shards.extraction is not None and templates is not None:
            path, content = self.folder / TEMPLATES, templates.to_bytes()
            with naming(self.folder):
                if not path.exists() or path.read_bytes() != content:
                    with replacing(path, self.folder / f"{TEMPLATES}.partial") as file:
                        file.write(content)
        before = self._header or header
        extraction = header.extraction or before.extraction
        self._replace(msgspec.structs.replace(before, segments=(*before.segments, part), extraction=extraction))
        self._remove_leftovers()

    def compact(self) -> None:
        """Merge the segments into one; raises ``StorageRefused`` while an unfinished run needs those that it knows."""
        self._require_writer()
        self._require_no_run("merge the segments")
        earlier = self.earlier()
        self._rewrite(earlier, np.ones(len(earlier), np.bool_), [False] * len(self.segments), together=True)

    def forget_last(self) -> SegmentInfo:
        """Remove what the last run added, except templates of hosts; return what that was.

        A run whose documents were all forgotten before does not count. Raises ``StorageRefused`` for a state with one
        segment, which may be that of merged runs, and while there is an unfinished run, which may have added the last
        one; and the errors of ``check``.
        """
        self._require_writer()
        self._require_no_run("forget the last run")
        if len(self.segments) < 2:  # noqa: PLR2004 - an earlier one and the last one
            rule = "has no earlier run, or only runs that were merged; to forget all of them, remove its folder"
            raise StorageRefused(str(self.folder), rule)
        self.check()
        *before, last = self.segments
        self._replace(msgspec.structs.replace(self.header, segments=tuple(before)))
        self._remove_leftovers()
        return last

    def _require_no_run(self, words: str) -> None:
        """Raise ``StorageRefused`` while an unfinished run needs the segments that it knows."""
        if self.segments and is_work(self.folder / WORK):
            rule = f"has an unfinished run; start it again, so that it ends, or remove {self.folder / WORK}"
            raise StorageRefused(str(self.folder), f"{rule}, before you {words}")

    def forget(self, ids: Sequence[str] = (), *, before: datetime | str | None = None) -> Forgotten:
        """Remove the documents with these ids, and those that were added before a time.

        *ids* are a sequence or an Arrow array of strings. *before* is a ``datetime``, in UTC if it has no zone, or a
        text, such as ``2026-11-23`` or ``90d``. Documents that were dropped for a removed one are removed as well.
        Later runs keep documents like these again. Documents that equal an earlier one have no ids in a state.

        Raises ``ParameterError`` for a *before* in the future, which would remove everything.
        """
        self._require_writer()
        given = ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else ids
        listed = isinstance(given, Iterable) and not isinstance(given, str | bytes) and not hasattr(given, "columns")
        names = [*given] if listed else []
        require(listed and all(isinstance(one, str) for one in names), "ids", ids, "must be a list of strings")
        limit = None if before is None else _limit(before)
        earlier = self.earlier()
        stays = np.ones(len(earlier), np.bool_)
        old = [limit is not None and moment_of_text(part.added) < limit for part in self.header.segments]
        for number, forgotten in enumerate(old):
            stays[slice(*earlier.edges[number : number + 2])] = not forgotten
        named = pa.chunked_array(earlier.ids(), pa.large_string())
        wanted = pa.array(dict.fromkeys(names), pa.large_string())
        stays &= ~pc.is_in(named, wanted).to_numpy()
        own = np.arange(len(earlier))
        stays &= stays[np.where(earlier.representatives < 0, own, earlier.representatives)]
        if any(old) or not stays.all():
            self._rewrite(earlier, stays, old, together=False)
        unknown = wanted.filter(pc.invert(pc.is_in(wanted, named))).to_pylist()
        return Forgotten(int((~stays).sum()), unknown)

    def bytes(self) -> int:
        """Return the bytes of its files, without those of a run that is under way."""
        self._require_open()
        files = [self._folder(part.name) / name for part in self.segments for name in _FILES]
        with _reading(self.folder):
            return sum(path.stat().st_size for path in [*files, *self.folder.glob(TEMPLATES)])

    def _rewrite(self, earlier: Earlier, stays: Flags, old: Sequence[bool], *, together: bool) -> None:
        """Write the leaders that stay as new segments, one *together* or one for each.

        A segment that is *old*, or whose last document was removed, is removed. One without leaders stays: all of its
        documents equal earlier ones or are empty, and are counted.
        """
        segments = _segments(self.folder, [part.name for part in self.segments])
        numbers = np.append(np.cumsum(stays) - 1, -1)  # -1 stays -1
        groups = [[number] for number in range(len(segments))]
        if together and segments:
            groups = [[*range(len(segments))]]
        parts: list[SegmentInfo] = []
        recorded = RecordedRuns()
        for group in groups:
            own = [self.segments[number] for number in group]
            some = slice(*earlier.edges[[group[0], group[-1] + 1]])
            removed = ~stays[some]
            sites = any(segments[number].has_sites for number in group)
            shifted, texts = _shifted([segments[number] for number in group])
            rows = chain.from_iterable(
                _chosen(segments[number].rows(sites=sites), shift, stays, numbers, int(earlier.edges[number]))
                for number, shift in zip(group, shifted, strict=True)
            )
            part = SegmentInfo(
                name=secrets.token_hex(8),
                added=max(one.added for one in own),
                documents=sum(one.documents for one in own) - int(removed.sum()),
                leaders=int((~removed).sum()),
                kept=sum(one.kept for one in own) - int((removed & (earlier.representatives[some] < 0)).sum()),
                inputs=tuple(dict.fromkeys(path for one in own for path in one.inputs)),
            )
            if part.leaders or together or not (old[group[0]] or (removed.any() and not part.documents)):
                parts.append(self._write(part, rows, texts, recorded))
        self._replace(msgspec.structs.replace(self.header, segments=tuple(parts)))
        self._remove_leftovers()

    def _folder(self, name: str) -> Path:
        return self.folder / f"{_SEGMENT}{name}"

    def _checksums(self, name: str) -> tuple[int, ...]:
        found = list[int]()
        for path in (self._folder(name) / one for one in _FILES):
            with _reading(path):
                found.append(checksum_of(path))
        return tuple(found)

    def _write(
        self, part: SegmentInfo, rows: Iterable[Rows], texts: Sequence[RunInputs], recorded: RecordedRuns
    ) -> SegmentInfo:
        """Write the files of a segment, which follows those *recorded* before; return it with their checksums.

        If that fails, such as on a full disk, all new segments are removed.
        """
        folder = self._folder(part.name)
        with ExitStack() as undo, naming(folder):
            undo.callback(self._remove_leftovers)
            if self._header is None:
                (self.folder / _FIRST).touch()
            shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed here
            folder.mkdir()
            with ExitStack() as stack:
                files = [stack.enter_context(replacing(folder / one, folder / f"{one}.partial")) for one in _NAMES]
                writers: list[pa.ipc.RecordBatchFileWriter] = []
                for found in rows:
                    if not writers:
                        new = zip(files, found, strict=True)
                        writers = [stack.enter_context(pa.ipc.new_file(file, one.schema)) for file, one in new]
                    for writer, one in zip(writers, found, strict=True):
                        writer.write_table(one)
            with replacing(folder / _TEXTS, folder / f"{_TEXTS}.partial") as file:
                file.write(sealed(msgspec.to_builtins([*recorded.recorded(texts)])))
            part = msgspec.structs.replace(part, checksums=self._checksums(part.name))
            undo.pop_all()
        return part

    def _replace(self, header: StateHeader) -> None:
        with naming(self.folder), replacing(self.folder / _HEADER, self.folder / f"{_HEADER}.partial") as file:
            file.write(sealed(msgspec.to_builtins(header)))
        self._header = header
        self._end_first()

    def _remove_leftovers(self) -> None:
        """Remove segments that are not part of the state, and templates if its pages were read without any."""
        if self._header is not None and "templates" not in (self._header.extraction or {}):
            with naming(self.folder):
                (self.folder / TEMPLATES).unlink(missing_ok=True)
        known = {f"{_SEGMENT}{part.name}" for part in self.segments}
        for path in self.folder.glob(f"{_SEGMENT}*"):
            if path.name not in known:
                shutil.rmtree(path, ignore_errors=True)
        self._end_first()

    def _end_first(self) -> None:
        """Remove the mark of a first run: its segment is listed, or was removed."""
        with naming(self.folder):
            (self.folder / _FIRST).unlink(missing_ok=True)


def header_of(
    scheme: Scheme, policy: Policy, salt: str, extraction: dict[str, str | None] | None, *, for_index: bool
) -> StateHeader:
    """Return the header of a new state."""
    own = (__version__, scheme.recipe, scheme.key_identity, terms.written(scheme))
    return StateHeader(_FORMAT, *own, _rules(policy), salt, extraction, for_index)


def _rules(policy: Policy) -> dict[str, str]:
    """Return what a state records of a policy; each run has its own copies that stay."""
    return {name: value for name, value in asdict(policy).items() if name != "keep"}


def is_state(folder: Path) -> bool:
    """Return whether a folder is a state, even without documents."""
    return has_file(folder, _HEADER, _LOCK)


def earlier_of(folder: Path, names: Iterable[str]) -> Earlier:
    """Map the segments of these names of the state in a folder."""
    return Earlier(_segments(folder, names))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise errors of the system as ``naming`` does, and ``StorageDamaged`` for a missing file."""
    with naming(path, doing="read"):
        try:
            yield
        except FileNotFoundError as error:
            raise StorageDamaged(error.filename or str(path), _MISSING) from error


def _segments(folder: Path, names: Iterable[str]) -> list[StoredSegment]:
    found, recorded = [], RecordedRuns()
    for name in names:
        own = folder / f"{_SEGMENT}{name}"
        with _reading(own):
            content = (own / _TEXTS).read_bytes()
        with understood(own / _TEXTS, rule=_DAMAGED):
            found.append(StoredSegment(own, [*recorded.read(unsealed(content))]))
    return found


def _shifted(segments: Sequence[StoredSegment]) -> tuple[list[int], list[RunInputs]]:
    """Return how far the positions of each segment move if all have the same texts, and these."""
    shifts, texts = [0], list[RunInputs]()
    for segment in segments:
        texts += [one._replace(edges=one.edges + shifts[-1]) for one in segment.texts]
        shifts.append(int(texts[-1].edges[-1]))
    return shifts[:-1], texts


def _chosen(segment: Iterable[Rows], shift: int, stays: Flags, numbers: Any, begin: int) -> Iterator[Rows]:
    """Yield the leaders of a segment that stay, with their new numbers, and positions *shift* later.

    *begin* is the number of its first leader.
    """
    for rows in segment:
        representatives = rows.leaders.column("representative").to_numpy()
        own, kept = stays[begin : begin + len(representatives)], representatives < 0
        column = pa.array(numbers[representatives].astype(np.int32))
        place = rows.leaders.column_names.index("representative")
        positions = pa.array(rows.kept.column("position").to_numpy() + np.uint32(shift))
        last = rows.kept.column_names.index("position")
        yield Rows(
            rows.leaders.set_column(place, "representative", column).filter(pa.array(own)),
            rows.kept.set_column(last, "position", positions).filter(pa.array(own[kept])),
            rows.dropped.filter(pa.array(own[~kept])),
            rows.ids.filter(pa.array(own)),
        )
        begin += len(representatives)


def _read(folder: Path) -> StateHeader | None:
    with naming(folder, doing="read"):
        try:
            content = unsealed((folder / _HEADER).read_bytes())
        except FileNotFoundError:
            if _has_lost_header(folder):
                raise StorageDamaged(str(folder / _HEADER), _MISSING) from None
            return None
        except NotADirectoryError:
            return None
        except ValueError:
            if _segments_in(folder):
                raise StorageDamaged(str(folder / _HEADER), _DAMAGED) from None
            rule = f"it is not a state of neardup: its {_HEADER} is of another kind"
            raise StorageRefused(str(folder), rule) from None
    with understood(folder / _HEADER, rule=_DAMAGED):
        if content["format"] != _FORMAT:
            rule = f"neardup {content['version']} wrote it in another format; make a new state with this version"
            raise StorageRefused(str(folder), rule)
        header = msgspec.convert(content, StateHeader)
        expect(_is_usable(header), "its header has an invalid name of a segment, or lacks a part")
    return header


def _has_lost_header(folder: Path) -> bool:
    """Return whether a folder has segments, but no header, and not because its first run was interrupted."""
    return folder.exists() and bool(_segments_in(folder)) and not has_file(folder, _HEADER, _FIRST)


def _segments_in(folder: Path) -> list[Path]:
    """Return the folders of segments, also of those that are not part of the state."""
    return [own for own in folder.glob(f"{_SEGMENT}*") if _SEGMENT_NAME.fullmatch(own.name.removeprefix(_SEGMENT))]


def _is_usable(header: StateHeader) -> bool:
    """Return whether a header with the right digest is usable: no segment's name is a path, no input has a NUL."""
    policy = {name.name for name in fields(Policy)} - {"keep"}
    extracted = header.extraction is None or "extractor" in header.extraction
    named = all(_SEGMENT_NAME.fullmatch(part.name) and "\0" not in "".join(part.inputs) for part in header.segments)
    summed = all(len(part.checksums) == len(_FILES) for part in header.segments)
    scheme = isinstance(header.scheme.get("scheme"), str)
    return scheme and policy <= header.policy.keys() and extracted and named and summed


def _limit(before: datetime | str) -> datetime:
    """Return a time in the past, with its zone; it is UTC if it has none."""
    if isinstance(before, str):
        return moment_in(before)
    rule = "must be a datetime, or a string with a time or an age"
    require(isinstance(before, datetime) and before == before, "before", before, rule)  # noqa: PLR0124 - as NaT is not
    limit = with_zone(before)
    require_past(limit)
    return limit


def _require_new(folder: Path, *, write: bool) -> None:
    """Refuse a folder without a state, unless one can be made there."""
    if folder.exists() and not folder.is_dir():
        raise StorageRefused(str(folder), "it is a file; a state is a folder", _NOT_STATE)
    if not write and not folder.exists():
        raise StorageRefused(str(folder), "there is no such folder", _NOT_STATE)
    if not folder.parent.is_dir():
        raise StorageRefused(str(folder), why_no_folder(folder.parent))
    require_outside(folder)
    others = [path.name for path in folder.iterdir()] if folder.exists() else []
    own = {_LOCK, WORK, _FIRST, f"{_HEADER}.partial"}
    if _LOCK in others:  # otherwise it is a file of templates that a user keeps there
        own |= {TEMPLATES, f"{TEMPLATES}.partial"}
    if not write and _LOCK in others:
        raise StorageRefused(str(folder), _EMPTY)
    if not {*INDEX}.isdisjoint(others):
        raise StorageRefused(str(folder), "it is an index, not a state of neardup", _NOT_STATE)
    if not write or any(name not in own and not name.startswith(_SEGMENT) for name in others):
        raise StorageRefused(str(folder), "it is not a state of neardup", _NOT_STATE)
