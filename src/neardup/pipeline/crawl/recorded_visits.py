"""The batches of pages that are remembered, in a file: by their keys, with their verdicts."""

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from neardup.engines.files import naming
from neardup.index.disk.store import Store
from neardup.model.errors import OutputError, StorageFailed
from neardup.model.verdicts import Verdict, as_record, from_record
from neardup.sources.output import atomic

FILE: Final = "visits.jsonl"  # in the folder of the index
MOST_VISITS: Final = 1 << 14  # keys that are remembered
MOST_VERDICTS: Final = 1 << 16  # verdicts that are remembered


class Visit(msgspec.Struct, array_like=True):
    """A batch before its pages were admitted: the digests of its key and of its content, and the state of the index.

    *first* is the number of the next admission; *known* has a bit for each page whose address was known, *reported* one
    for each kept page that was reported as kept since the last admission. If the batch is *answered*, its pages were
    recorded. In the file, one without *content* releases its key, because the batch was refused.
    """

    key: str
    content: str
    first: int
    known: bytes
    reported: bytes
    answered: bool = False


class VisitVerdicts(msgspec.Struct, array_like=True):
    """The verdicts of a batch after its pages were admitted: the digest of its key, and records."""

    key: str
    verdicts: list[dict[str, Any]]


class RecordedVisits:
    """The last ``MOST_VISITS`` batches, in the order in which they were recorded, and ``MOST_VERDICTS`` verdicts.

    They are in a file in the folder of an index, which is read when it is needed. Callers must hold a lock.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._path = store, Path(store.folder, FILE)
        self._visits: OrderedDict[str, Visit] | None = None
        self._lines, self._stored = 0, 0  # visits and verdicts in the file, older ones too
        self._cut = False  # whether the last line of the file has no end
        self._verdicts: OrderedDict[str, list[Verdict]] = OrderedDict()
        self._remembered = 0

    def get(self, key: str) -> Visit | None:
        """Return the batch with a key, if it is remembered."""
        return self._read().get(key)

    def verdicts(self, key: str) -> list[Verdict] | None:
        """Return the verdicts of a batch, if they are remembered."""
        self._read()
        return self._verdicts.get(key)

    def after(self, visit: Visit) -> Visit | None:
        """Return the batch that was recorded next."""
        later = dropwhile(lambda one: one is not visit, self._read().values())
        return next((one for one in later if one is not visit), None)

    def record(self, visit: Visit) -> None:
        """Write a visit to the disk before its pages are admitted."""
        self._store.require_writer()  # or the file could be that of another folder at this path
        visits = self._read()
        self._put(visits, visit)
        try:
            if self._lines >= 2 * MOST_VISITS or self._stored >= 2 * MOST_VERDICTS:
                self._rewrite(visits)
            else:
                self._write(visit, sync=True)
                self._lines += 1
        except StorageFailed:
            visits.pop(visit.key)
            raise

    def forget(self, visit: Visit) -> None:
        """Release the key of a refused batch."""
        del self._read()[visit.key]
        with suppress(StorageFailed):  # then the key remains in use after a restart
            self._write(Visit(visit.key, "", visit.first, b"", b""), sync=False)
            self._lines += 1

    def keep(self, name: str, verdicts: list[Verdict]) -> None:
        """Remember the verdicts of a batch; if they cannot be written, they are computed again after a restart."""
        self._remember(name, verdicts)
        with suppress(StorageFailed):
            self._write(_recorded(name, verdicts), sync=False)
            self._stored += len(verdicts)

    def _remember(self, name: str, verdicts: list[Verdict]) -> None:
        self._read()[name].answered = True
        self._remembered += len(verdicts) - len(self._verdicts.pop(name, ()))
        self._verdicts[name] = verdicts
        while self._remembered > MOST_VERDICTS:
            _, oldest = self._verdicts.popitem(last=False)
            self._remembered -= len(oldest)

    def _read(self) -> OrderedDict[str, Visit]:
        if self._visits is None:
            with naming(self._path, doing="read"):
                content = self._path.read_bytes() if self._path.exists() else b""
            *lines, rest = content.split(b"\n")
            self._visits, self._cut = OrderedDict(), bool(rest)
            for entry in _decoded(lines):
                if isinstance(entry, Visit):
                    self._lines += 1
                    if entry.content:
                        self._put(self._visits, entry)
                    else:
                        self._visits.pop(entry.key, None)
                elif entry.key in self._visits:
                    with suppress(KeyError, TypeError):  # unknown verdicts are computed again
                        self._remember(entry.key, [*map(from_record, entry.verdicts)])
                    self._stored += len(entry.verdicts)
        return self._visits

    def _put(self, visits: OrderedDict[str, Visit], visit: Visit) -> None:
        """Append a visit; that of the same key is removed, and the oldest ones, with their verdicts."""
        visits.pop(visit.key, None)
        visits[visit.key] = visit
        while len(visits) > MOST_VISITS:
            oldest, _ = visits.popitem(last=False)
            self._remembered -= len(self._verdicts.pop(oldest, ()))

    def _write(self, entry: Visit | VisitVerdicts, *, sync: bool) -> None:
        line = b"\n" * self._cut + msgspec.json.encode(entry) + b"\n"
        self._cut = True  # unless it is written as a whole
        with naming(self._path), open(self._path, "ab", opener=_without_links) as file:
            file.write(line)
            file.flush()
            if sync:
                os.fdatasync(file.fileno())
        self._cut = False

    def _rewrite(self, visits: Mapping[str, Visit]) -> None:
        """Replace the file by one with what is remembered."""
        try:
            with atomic(self._path) as file:
                for name, visit in visits.items():
                    file.write(msgspec.json.encode(visit) + b"\n")
                    if name in self._verdicts:
                        file.write(msgspec.json.encode(_recorded(name, self._verdicts[name])) + b"\n")
        except OutputError as error:  # its cause is the error of the system
            raise StorageFailed.by(cast("OSError", error.__cause__), self._path, "written") from error
        self._lines, self._stored, self._cut = len(visits), self._remembered, False


def _without_links(path: str, flags: int) -> int:
    """Open a file unless it is a link, whose target others have chosen."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _recorded(name: str, verdicts: Iterable[Verdict]) -> VisitVerdicts:
    records = [as_record(verdict) for verdict in verdicts]
    return VisitVerdicts(name, [{part: value for part, value in one.items() if value is not None} for one in records])


def _decoded(lines: Iterable[bytes]) -> Iterator[Visit | VisitVerdicts]:
    decoders = msgspec.json.Decoder(Visit), msgspec.json.Decoder(VisitVerdicts)
    for line in lines:
        for decoder in decoders:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # it is of the other kind, or was cut by a kill
                yield decoder.decode(line)
                break
