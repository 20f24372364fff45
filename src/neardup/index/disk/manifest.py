"""The file that lists the files of an index, and states its terms; other files are not part of it.

It has a line of JSON and a line with its checksum. It is replaced as a whole, by a rename: readers, and a killed
writer, find the old one or the new one. A second file has the same content. Only a rescue reads it, if the first one
is damaged or missing.
"""

import errno
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Self, TypeVar

import msgspec
from msgspec import Struct

from neardup.index.disk.arrays import Natural, Stored, checksum, expect, natural, understood
from neardup.index.disk.columns import Columns
from neardup.index.disk.files import Disk
from neardup.index.disk.log import HEADER_BYTES, is_log
from neardup.model.errors import StorageDamaged, StorageFailed, StorageRefused
from neardup.model.folders import INDEX
from neardup.model.policy import Representative

Made = TypeVar("Made")

MANIFEST, SECOND = INDEX
UNFINISHED: Final = "manifest.new"
FORMAT: Final = 8  # of the whole index: raised by every change after which older files cannot be read
MOST_SESSION: Final = (1 << 63) - 1  # of the number of a session
SESSIONS: Final = 256  # the latest ones that are remembered; a search table that is older is built again
FLAGS: Final[frozenset[str]] = frozenset()  # features that a reader of an index must know; none so far

TRIES: Final = 20  # attempts of a reader whose files a writer removes
FIRST_LOG: Final = "log-00000001"
RESTORE: Final = "restore one of them from an older copy of the index, or make the index again from its documents"

_MARK: Final = re.compile(r"[0-9a-f]{32}")
_InSession = Annotated[int, msgspec.Meta(ge=0, le=MOST_SESSION)]
NAMES: Final = re.compile(r"(log|segment|updates)-[0-9]{8,}")


class Terms(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The terms of an index. The last two are missing in the manifest while they have their defaults."""

    scheme: dict[str, Any]  # serialised, without its key, tables of weights and list of common shingles
    name: str  # of the scheme
    recipe: str  # of the scheme
    key: str  # what distinguishes the key of the scheme, without revealing it
    common: str | None  # the identity of the list of common shingles, which is in a file of its own
    layout: dict[str, Any] | None  # the parameters of the layout of keys, if the scheme has layouts
    chosen: bool  # whether the layout was chosen, instead of the scheme's own
    row: tuple[str, int]  # the type and the number of values in a row of signatures
    fields: tuple[tuple[str, str], ...]  # names and kinds
    texts: bool  # whether they are stored
    representative: Representative
    extraction: dict[str, str | None] | None  # ``Extraction.identity``, if there were pages
    url_rules: str | None = None  # the identity of the rules that the ids of pages follow, in a file of its own
    digests: str | None = None  # the salt of the digests of contents and equals, if it is not the mark of the index

    @property
    def columns(self) -> Columns:
        """The columns of the index."""
        return Columns(*self.row, self.fields, self.texts)

    @property
    def templates(self) -> str | None:
        """The identity of the templates that pages were read with; ``None`` without any."""
        return None if self.extraction is None else self.extraction.get("templates")


class Session(NamedTuple):
    """A writer that changed the index: a random *number*.

    The others are the next ordinal, the changes of fields and the records of the logs when it began.
    """

    number: _InSession
    ordinal: _InSession
    field_changes: _InSession
    records: _InSession


def with_session(sessions: Sequence[Session], latest: Session) -> list[Session]:
    """Return the sessions that are remembered when the *latest* one begins; a known one does not begin again."""
    if any(latest.number == one.number for one in sessions):
        return [*sessions]
    return [*sessions, latest][-SESSIONS:]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A committed state: files by name, size and checksum, and the terms of the index.

    ``log`` is the name of the log and ``sealed`` how many of its bytes were records when it was last closed.
    ``field_changes`` is how often fields had changed before the log, ``records`` how many records all earlier logs had,
    and ``sessions`` the last ones that began before it. An index that was made by a copy had ``copied`` records then.
    """

    mark: str
    generation: Natural = 0
    flags: tuple[str, ...] = ()
    terms: Terms
    next_file: Natural = 1
    next_ordinal: Natural = 0
    field_changes: Natural = 0
    records: Natural = 0
    copied: Natural = 0
    log: str = ""
    sealed: Natural = 0
    segments: tuple[Stored, ...] = ()
    updates: Stored | None = None
    sessions: tuple[Session, ...] = ()

    @property
    def stored(self) -> list[Stored]:
        """The files of arrays: the segments, and the updates of their documents."""
        return [*self.segments, *([self.updates] if self.updates else [])]

    @property
    def files(self) -> list[str]:
        """The names of all files of the index except the manifest."""
        return [self.log, *(file.name for file in self.stored)]

    @property
    def line(self) -> bytes:
        """The content of the file, without its checksum."""
        content = msgspec.to_builtins(self, enc_hook=str.__str__)  # strings of another class as plain ones
        return json.dumps({"format": FORMAT, **content}, sort_keys=True).encode()

    def commit(self, disk: Disk, folder: Path) -> Self:
        """Make this the state of the index, as the next generation; it is on the disk on return."""
        following = replace(self, generation=self.generation + 1)
        content = following.line + b"\n" + _seal(following.line)
        disk.write(folder / UNFINISHED, content)
        disk.sync_folder(folder)  # the files that it names must be on the disk before it is
        disk.rename(folder / UNFINISHED, folder / MANIFEST)
        disk.sync_folder(folder)
        with suppress(StorageFailed):  # the change is committed; the next one replaces the second file, too
            disk.replace(folder / SECOND, content)
        return following

    @classmethod
    def read(cls, disk: Disk, folder: Path, *, name: str = MANIFEST) -> Self:
        """Read the state of the index.

        Raises ``StorageRefused`` if there is no index, or it has another format or unknown flags, and
        ``StorageDamaged`` if the manifest was damaged, or only other files of an index are there.
        """
        path = folder / name
        try:
            data = disk.read(path)
        except FileNotFoundError:
            with suppress(FileNotFoundError):
                disk.size(folder / SECOND)
                raise StorageDamaged(str(path), "is missing") from None
            if _has_documents(disk, folder):
                raise StorageDamaged(str(path), f"is missing, and so is {SECOND}; {RESTORE}", "no manifest") from None
            raise StorageRefused(str(folder), _what_is_missing(disk, folder), "not an index") from None
        content = data.partition(b"\n")[0]
        if data != content + b"\n" + _seal(content):
            raise StorageDamaged(str(path), "is damaged (wrong checksum)")
        with understood(path):
            given = json.loads(content)
            version = natural(given.pop("format"))
            if version != FORMAT:
                age = "newer" if version > FORMAT else "older"
                rule = f"is of format {version}, {age} than the {FORMAT} that this neardup reads"
                raise StorageRefused(str(path), rule, f"{age} format")
            unknown = sorted(set(given["flags"]) - FLAGS)
            if unknown:
                raise StorageRefused(str(path), f"needs {', '.join(unknown)}, which this neardup does not know")
            expect(given.keys() <= {*cls.__dataclass_fields__}, "unknown fields")
            manifest = msgspec.convert(given, cls)
            for mark in (manifest.mark, manifest.terms.digests or manifest.mark):
                expect(_MARK.fullmatch(mark) is not None, "invalid index id or digest salt")
            expect(all(NAMES.fullmatch(own) for own in manifest.files), "unexpected file name")
            expect(len({*manifest.files}) == len(manifest.files), "it names a file twice")
            for file in manifest.stored:
                natural(file.checksum, (1 << 64) - 1)  # msgspec knows no limit above 63 bits
        return manifest

    @classmethod
    def use(cls, disk: Disk, folder: Path, function: Callable[[Self], Made], *, again: bool = True) -> Made:
        """Return what a function makes of the state of an index; *again* if a writer has removed files of the state.

        Raises the errors of ``read``, and ``StorageDamaged`` if a file of the present state is missing.
        """
        for left in range(TRIES if again else 0, -1, -1):
            manifest = cls.read(disk, folder)
            try:
                return function(manifest)
            except FileNotFoundError as error:  # a newer manifest does not name it, or it is missing
                if not left or cls.read(disk, folder) == manifest:
                    raise StorageDamaged(str(error.filename), "is missing, although the manifest lists it") from error
        raise AssertionError


def _has_documents(disk: Disk, folder: Path) -> bool:
    """Return whether a folder has files of an index, and not because making it was interrupted."""
    with suppress(FileNotFoundError):
        names = [name for name in disk.names(folder) if NAMES.fullmatch(name)]
        logs = [folder / name for name in names if name.startswith("log-") and is_log(disk, folder / name)]
        others = {*names} - {FIRST_LOG}
        return bool(logs) and (bool(others) or disk.size(folder / FIRST_LOG) > HEADER_BYTES)
    return False


def _seal(content: bytes) -> bytes:
    return f"{checksum(content):016x}\n".encode()


def _what_is_missing(disk: Disk, folder: Path) -> str:
    try:
        disk.names(folder)
    except FileNotFoundError as error:
        return (
            "is a file, not the folder of an index" if error.errno == errno.ENOTDIR else "there is nothing at this path"
        )
    return "is not an index: it has no manifest"
