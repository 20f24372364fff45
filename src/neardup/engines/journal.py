"""The work folder of a run: its terms, the tasks that are done, and the files that they made."""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Self

import msgspec

from neardup import __version__
from neardup.engines.claims import DIGITS, FOLDERS, Claims
from neardup.engines.files import (
    checksum_of,
    has_file,
    locked,
    naming,
    replacing,
    sealed,
    sync_folder,
    unsealed,
    why_no_folder,
)
from neardup.model.engine import Progress
from neardup.model.errors import RunComplete, StorageDamaged, StorageRefused
from neardup.model.folders import RUN

LEASE: Final = 60.0  # seconds after which other processes do the task of a silent one
CHANGEABLE: Final = "changeable"
BLOCK: Final = "block"
SHORTEST_WAIT: Final = 0.005  # seconds until the next look at what other processes have done
LONGEST_WAIT: Final = 0.25

_TERMS, _LOCK = RUN
_COMPLETE: Final = "complete.json"  # the terms of a complete run whose folder is being removed
_STAGE: Final = "stage.json"
_OWN: Final = re.compile(
    rf"{re.escape(_LOCK)}|{re.escape(_COMPLETE)}|{re.escape(_TERMS)}(\.partial)?|(run|removed)-[0-9a-f]{{16}}"
)
_NO_RECORD: Final = "it is not a record of this run; remove the work folder, and run again"
_TRIES: Final = 4
_LOOK: Final = 1.0  # seconds between reports of what other processes have done

Task = Callable[[int], dict[str, Any]]
Files = dict[str, tuple[int, int | None]]
"""The sizes of files and their CRC-32, by name; files without it are only compared by size."""


class Header(msgspec.Struct, frozen=True):
    """The content of ``terms.json``: a run, named by a random token."""

    version: str
    token: Annotated[str, msgspec.Meta(pattern=rf"\A{DIGITS}\Z")]
    lease: float
    finished: bool
    terms: dict[str, Any]
    rejected: int = 0  # records, of a complete run


class Stage(msgspec.Struct, frozen=True):
    """The stage that a coordinator, named by its token, is working on; unnamed before the first."""

    name: str
    tasks: int
    coordinator: str


class _Record(msgspec.Struct, frozen=True):
    """The content of the file of a finished task, named by its stage and number."""

    task: str
    record: dict[str, Any]


class OtherTerms(StorageRefused):
    """A folder with a run of other terms, or of another version: *earlier* is that run, *wanted* the new terms."""

    code = "other terms"

    def __init__(self, where: str, earlier: Header, wanted: dict[str, Any]) -> None:
        super().__init__(where, "its run was begun with other terms, or by another version of neardup", self.code)
        self.args = (where, earlier, wanted)
        self.earlier, self.wanted = earlier, wanted


class WorkFolder:
    """The files of a run, for all processes that share its tasks.

    All are in a subfolder named by the run's token, so that nothing that processes of an earlier run still write can
    be mistaken for this one's. Terms and records have a digest; a file that was changed later does not count.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        self.folder, self.terms, self.token, self._header = folder, header.terms, header.token, header
        self._home = folder / f"run-{header.token}"
        self._done = self._home / "done"
        with naming(self._home):
            self.claims = Claims(self._home, header.lease)

    def path(self, *parts: str) -> Path:
        """Return a path inside the folder."""
        return self._home.joinpath(*parts)

    @contextmanager
    def output(self, name: str, *, sync: bool = False) -> Iterator[BinaryIO]:
        """Yield a new file that is named ``path(name)`` when it is complete; folders are made.

        It replaces an earlier file of the name. After an exception it is removed. Without *sync*, it may not be on the
        disk yet: after a power failure, the checksum in the record of its task shows whether it is whole.
        """
        target, partial = self.path(name), self.claims.partial()
        with naming(target, self._home):
            for parent in [*Path(name).parents][-2::-1]:
                self.path(str(parent)).mkdir(exist_ok=True)
            with replacing(target, partial, sync=sync) as file:
                yield file

    def files(self, *names: str) -> Files:
        """Return files as a record has them under ``"files"``."""
        with naming(self._home, doing="read"):
            return {name: (self.path(name).stat().st_size, checksum_of(self.path(name))) for name in names}

    def has_files(self, record: dict[str, Any]) -> bool:
        """Return whether the files of a record are there, with their sizes and checksums."""
        files: Files = record.get("files", {})
        with naming(self._home, doing="read"):
            try:
                return all(_is_intact(self.path(name), size, checksum) for name, (size, checksum) in files.items())
            except (FileNotFoundError, NotADirectoryError):
                return False

    def records(self, stage: str, tasks: Iterable[int] | None = None) -> list[dict[str, Any]]:
        """Return the records of these tasks of a stage, or of all that are done, in the order of the tasks.

        Raises ``StorageDamaged`` for one that was changed.
        """
        numbers = self.done(stage) if tasks is None else tasks
        with naming(self._done, doing="read"):
            return [self._read(stage, task) for task in sorted(numbers)]

    def done(self, stage: str) -> set[int]:
        """Return the tasks of a stage that have records."""
        with naming(self._done, doing="read"):
            names = (name.removesuffix(".json").rpartition("-") for name in os.listdir(self._done))  # noqa: PTH208
            return {int(number) for own, _, number in names if own == stage and number.isdecimal()}

    def is_done(self, stage: str, task: int) -> bool:
        """Return whether a task of a stage has a record."""
        path = self._record(stage, task)
        with naming(path, self._home, doing="read"):
            return path.exists()

    def attempt(self, stage: str, task: int, function: Task) -> bool:
        """Do a task and record it, unless it is recorded or claimed by another process; return whether it was done."""
        path = self._record(stage, task)
        with naming(path, self._home):
            if path.exists() or not self.claims.claim(path.stem):
                return False
        try:
            if path.exists():
                return False
            record = sealed({"task": path.stem, "record": function(task)})
            with naming(path, self._home), replacing(path, self.claims.partial()) as file:
                file.write(record)
        except Exception:
            if self.claims.holds(path.stem):
                raise
            return False  # another process has taken over the task, and removed the unfinished files
        finally:
            self.claims.release(path.stem)
        return True

    def _record(self, stage: str, task: int) -> Path:
        return self._done / f"{stage}-{task}.json"

    def _read(self, stage: str, task: int) -> dict[str, Any]:
        """Return the record of a task; ``StorageDamaged`` if it was changed."""
        path = self._record(stage, task)
        try:
            stored = msgspec.convert(unsealed(path.read_bytes()), _Record)
        except (ValueError, msgspec.ValidationError) as error:
            raise StorageDamaged(str(path), _NO_RECORD) from error
        if stored.task != path.stem:
            raise StorageDamaged(str(path), _NO_RECORD)
        return stored.record

    def stage(self) -> Stage | None:
        """Return the stage that a coordinator is working on; ``None`` if no coordinator is."""
        with naming(self._home, doing="read"):
            try:
                stage = msgspec.json.decode((self._home / _STAGE).read_bytes(), type=Stage)
            except FileNotFoundError:
                return None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise StorageDamaged(str(self._home / _STAGE), _NO_RECORD) from error
            return None if self.claims.is_ended(stage.coordinator) else stage


class Journal(WorkFolder, AbstractContextManager["Journal"]):
    """The work folder of one run, as its only coordinator uses it: it continues where an earlier one ended.

    Use it as a context manager. Leaving it without ``finish`` keeps what is recorded.
    """

    @classmethod
    def open(
        cls,
        folder: Path,
        terms: dict[str, Any],
        *,
        restart: bool = False,
        lease: float = LEASE,
    ) -> Self:
        """Make a work folder, or continue the run of these *terms* (plain values) in it.

        ``terms["changeable"]`` may differ from those of the run. With *restart*, an earlier run is removed. Processes
        that show no sign of life for *lease* seconds lose their tasks.

        Raises ``StorageBusy`` if another process coordinates the run, ``StorageRefused`` if the folder has files that
        no run makes, and ``OtherTerms`` if it has a run of other terms or of another version. ``RunComplete`` is raised
        if the same run was complete and was interrupted while its folder was removed, which is done now;
        ``StorageDamaged`` if the terms of its run are damaged, unless it is removed; and ``StorageFailed`` if the
        system refuses.
        """
        wanted: dict[str, Any] = json.loads(json.dumps(terms))
        with naming(folder):
            with suppress(FileExistsError, FileNotFoundError, NotADirectoryError):
                folder.mkdir()
            check_own(folder)
            lock = locked(folder / _LOCK)
            try:
                try:
                    earlier = read_header(folder)
                except StorageDamaged:
                    if not restart:
                        raise
                    earlier = None
                if not restart:
                    _require_same(folder, earlier, wanted)
                kept = earlier if earlier is not None and earlier.finished and not restart else None
                token = secrets.token_hex(8) if earlier is None or restart else earlier.token
                header = Header(__version__, token, lease, False, wanted)
                for name in ("", *FOLDERS, "done"):
                    (folder / f"run-{token}" / name).mkdir(exist_ok=True)
                _write(folder, header)  # from here on, workers find the run
                _remove_runs(folder, except_for=f"run-{token}")
                (folder / _COMPLETE).unlink(missing_ok=True)
                return cls(folder, header, lock, kept)
            except BaseException:
                os.close(lock)
                raise

    def __init__(self, folder: Path, header: Header, lock: int, kept: Header | None) -> None:
        """Coordinate a run; *kept* is the complete run that kept the folder for it.

        The run is ``continued`` if another process has coordinated it before.
        """
        super().__init__(folder, header)
        self._lock: int | None = lock
        self.kept = kept
        try:
            with naming(self._home):
                self.claims.remove_ended()
                self.continued = (self._home / _STAGE).is_file()
            self._publish("", 0)
        except BaseException:
            self.claims.leave()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(  # noqa: PLR0913 - a stage, and how to do it
        self,
        stage: str,
        tasks: int,
        function: Task,
        *,
        map: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]],  # noqa: A002 - what engines call it
        sizes: Sequence[int] | None = None,
        only: Iterable[int] | None = None,
        progress: Progress | None = None,
    ) -> list[dict[str, Any]]:
        """Do all tasks of a stage that are not recorded, or *only* some; return the records of these, in order.

        A task is a number below *tasks*, which means the same in every run of these terms. ``function(task)`` returns
        its record: plain values. If a record has ``files`` under ``"files"``, it counts while these are unchanged.
        *map* applies a function to numbers, in any order. *progress* is called with the stage, the *sizes* of the tasks
        that are done (1 each by default), and their total. Other processes may do tasks, too; this one waits for them,
        and does the tasks of those that end.

        An error that *function* raises is raised when *map* raises it; finished tasks stay recorded.
        """
        weights = [1] * tasks if sizes is None else sizes
        numbers = set(range(tasks) if only is None else only)
        done = self.intact(stage)
        self._publish(stage, tasks)

        def report() -> float:
            if progress is not None:
                progress(stage, sum(weights[task] for task in done & numbers), sum(weights))
            return time.monotonic() + _LOOK

        next_look, wait = report(), SHORTEST_WAIT
        while missing := sorted(numbers - done):
            for task, own in map(lambda task: (task, self.attempt(stage, task, function)), missing):
                if own:
                    done.add(task)
                if time.monotonic() > next_look:
                    done |= self.done(stage)
                    next_look = report()
            done |= self.done(stage)
            if len(missing) == len(numbers - done):  # other processes are doing all that is left
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            else:
                wait = SHORTEST_WAIT
        report()
        return self.records(stage, numbers)

    def _publish(self, stage: str, tasks: int) -> None:
        with naming(self._home), replacing(self._home / _STAGE, self.claims.partial(), sync=False) as file:
            file.write(msgspec.json.encode(Stage(stage, tasks, self.claims.token)))

    def intact(self, stage: str) -> set[int]:
        """Return the tasks whose records and files are intact; remove other records."""
        valid = self.done(stage)
        for task in tuple(valid):
            path = self._record(stage, task)
            with naming(path, self._home, doing="read"):
                try:
                    intact = self.has_files(self._read(stage, task))
                except (FileNotFoundError, NotADirectoryError, StorageDamaged):
                    intact = False
            if not intact:
                valid.remove(task)
                with naming(path, self._home, doing="removed"):
                    path.unlink(missing_ok=True)
        return valid

    def has_begun(self, stage: str) -> bool:
        """Return whether any task of a stage is recorded, by the first part of its name."""
        with naming(self._home, doing="read"):
            return any(self._done.glob(f"{stage}-*.json"))

    def forget(self, stage: str) -> None:
        """Remove the records of a stage, by the first part of its name: the next run does its tasks again."""
        with naming(self._home):
            for path in self._done.glob(f"{stage}-*.json"):
                path.unlink()

    def finish(self, *, keep: bool = False, rejected: int = 0) -> None:
        """End a complete run, with some *rejected* records, and remove its folder, or *keep* it for the next such run.

        The folder stays if files of others are in it. What the system does not remove yet, such as open files on NFS,
        is removed by the next run in the folder.
        """
        with naming(self.folder):
            if keep:
                self.claims.remove_ended()
                _write(self.folder, msgspec.structs.replace(self._header, finished=True))
            else:
                with suppress(FileNotFoundError):  # others have removed the folder
                    _write(self.folder, msgspec.structs.replace(self._header, rejected=rejected))
                    (self.folder / _TERMS).replace(self.folder / _COMPLETE)
                self._remove()
        self.close()

    def abandon(self) -> None:
        """End a run that cannot be continued; remove its folder as ``finish`` does, unless an earlier run kept it."""
        with naming(self.folder):
            if self.kept is None:
                self._remove()
            else:
                _write(self.folder, self.kept)
        self.close()

    def _remove(self) -> None:
        self.claims.leave()
        _remove(self.folder)

    def close(self) -> None:
        """Release the folder; its workers end."""
        if self._lock is not None:
            self.claims.leave()
            os.close(self._lock)
            self._lock = None


def is_work(folder: Path) -> bool:
    """Return whether a folder is the work folder of a run."""
    return has_file(folder, _TERMS)


def is_interrupted(folder: Path) -> bool:
    """Return whether a folder has a run that did not end, or was not removed; raises the errors of ``read_header``."""
    header = read_header(folder)
    return has_file(folder, _COMPLETE) if header is None else not header.finished


@contextmanager
def reserved(folder: Path, header: Header) -> Iterator[WorkFolder]:
    """Yield the work folder of a run, and keep processes from continuing it; raises ``StorageBusy`` if one does."""
    with ExitStack() as stack:
        with naming(folder):
            stack.callback(os.close, locked(folder / _LOCK))
        run = WorkFolder(folder, header)
        stack.callback(run.claims.leave)
        yield run


def read_header(folder: Path, name: str = _TERMS) -> Header | None:
    """Return the run in a folder, or ``None``.

    If the file of this *name* is something else, raises ``StorageDamaged`` if the folder has the files of a run, and
    otherwise ``StorageRefused``.
    """
    with naming(folder, doing="read"):
        try:
            return msgspec.convert(unsealed((folder / name).read_bytes()), Header)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, msgspec.ValidationError):
            if any(folder.glob("run-*")):
                rule = "it is damaged, and its run cannot be continued; remove the work folder, and run again"
                raise StorageDamaged(str(folder / name), rule) from None
            reason = f"it is not a work folder of neardup: its {name} is of another kind; use another folder"
            raise StorageRefused(str(folder), reason) from None


def _is_intact(path: Path, size: int, checksum: int | None) -> bool:
    return path.stat().st_size == size and (checksum is None or checksum_of(path) == checksum)


def _write(folder: Path, header: Header) -> None:
    with replacing(folder / _TERMS, folder / f"{_TERMS}.partial") as file:
        file.write(sealed(msgspec.to_builtins(header)))
    sync_folder(folder)


def check_own(folder: Path) -> None:
    """Raise ``StorageRefused`` if there can be no work folder at this path: one with files of others, for example."""
    if not folder.parent.is_dir():
        raise StorageRefused(str(folder), why_no_folder(folder.parent))
    with naming(folder, doing="read"):
        try:
            foreign = sorted(path.name for path in folder.iterdir() if not _OWN.fullmatch(path.name))
        except FileNotFoundError:  # it may be made later
            if folder.is_symlink():
                target = str(folder.readlink())
                raise StorageRefused(str(folder), f"it is a link to {target!r}, which does not exist") from None
            return
        except NotADirectoryError:
            raise StorageRefused(str(folder), "it is a file; name a new folder") from None
    if foreign:
        reason = f"it is not a work folder: it contains {foreign[0]!r}"
        raise StorageRefused(str(folder), reason, "not a work folder")


def _remove(folder: Path) -> None:
    """Remove a work folder, unless files of others are in it."""
    (folder / _TERMS).unlink(missing_ok=True)
    _remove_runs(folder)
    (folder / _LOCK).unlink(missing_ok=True)
    (folder / _COMPLETE).unlink(missing_ok=True)
    with suppress(OSError):  # other files are in it
        folder.rmdir()


def _remove_runs(folder: Path, except_for: str = "") -> None:
    for path in folder.iterdir():
        if path.name.startswith(("run-", "removed-")) and path.name != except_for:
            if path.is_symlink():  # to a folder elsewhere, whose files are not removed
                path.unlink()
                continue
            removed = path.with_name(f"removed-{secrets.token_hex(8)}")
            path.rename(removed)  # no process can add a file to it
            for _ in range(_TRIES):  # NFS keeps files that a process has open: workers end soon
                shutil.rmtree(removed, ignore_errors=True)
                if not removed.exists():
                    break
                time.sleep(LONGEST_WAIT)


def _require_same(folder: Path, earlier: Header | None, wanted: dict[str, Any]) -> None:
    """Raise ``OtherTerms`` unless the *earlier* run has the terms; ``RunComplete`` if a removed one had them."""
    if earlier is None:
        complete = read_header(folder, _COMPLETE)
        if complete is not None and _answer(complete.terms) == _answer(wanted):
            _remove(folder)
            raise RunComplete(str(folder), complete.rejected)
        return
    before, now = ({**terms, CHANGEABLE: None} for terms in (earlier.terms, wanted))
    if (earlier.version, before) != (__version__, now):
        raise OtherTerms(str(folder), earlier, wanted)


def _answer(terms: dict[str, Any]) -> dict[str, Any]:
    """Return what decides the answer of a run: its terms without the size of blocks, which depends on the memory."""
    changeable = {name: value for name, value in terms.get(CHANGEABLE, {}).items() if name != BLOCK}
    return {**terms, CHANGEABLE: changeable}
