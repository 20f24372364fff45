"""Outputs: refused before anything is read, or complete; never partial."""

import fcntl
import io
import os
import re
import secrets
import shutil
import socket
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import blake2b
from itertools import chain, combinations
from pathlib import Path
from tempfile import gettempdir
from typing import Any, BinaryIO, Final

import pyarrow as pa

from neardup.engines.files import why_no_folder
from neardup.model.errors import (
    PERMISSION,
    TEMPORARY,
    OutputError,
    OutputRefused,
    OutputsOverlap,
    ParameterError,
    StorageFailed,
    raising,
    require,
)
from neardup.sources.formats import FOLDER, KNOWN, WARC, AnyPath, Kind, display, is_url, kind, local
from neardup.sources.output_places import InputPaths, require_outside
from neardup.sources.patterns import expand, is_pattern
from neardup.sources.remote import exists, send
from neardup.sources.screens import opened_screen
from neardup.sources.tables import table_writer

OUTPUT: Final = "output"  # a parameter of unknown name
PAGES: Final = (".html", ".htm")
DRAWINGS: Final = (".svg",)
ARRAYS: Final = (".npz",)

_STANDARD_INPUT: Final = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_BUFFER: Final = 1 << 20
_HELD_BACK: Final = 1 << 23  # bytes
_TABLES: Final = ("parquet", "jsonl")
_TOKEN: Final = 16  # digits in the name of a temporary file
_HOST: Final = 8  # of these
_OPEN: Final = re.compile(r"/dev/(?:stdout|stderr|fd/(\d{1,9}))")
_STANDARD: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
_FILES: Final[Counter[Path]] = Counter()  # files that this process has written to each folder


def check_target(
    path: AnyPath, inputs: InputPaths, formats: AbstractSet[str], *, force: bool, name: str = OUTPUT
) -> None:
    """Raise the errors of writing the kept records of inputs of these *formats* before anything is read.

    *name* is the parameter that has the *path*.

    ``ParameterError``: the ending is unknown, or there is none and there are several formats. ``OutputError``: the path
    is one of the *inputs* (even with *force*), or is inside an input folder; exists and *force* is not given, or is a
    folder; or its folder is missing or not writable. A device or a pipe may exist, and accepts any one format but a
    folder's. The inputs need not exist.
    """
    path = local(path)
    if is_special(path):
        require(formats != {FOLDER}, name, path, "must be the name of a folder, as the input is one")
        rule = "must be a folder, or end in a known format, as the inputs have several formats"
        require(len(formats) == 1, name, path, rule)
        inputs.check(path)  # such as standard output that is appended to an input
        return
    found = kind(path)
    folder = formats == {FOLDER} and found is None
    require(not (folder and is_url(path)), name, path, "must be a local folder, or end in a known format")
    if not folder and found is None:
        _refuse_folder(path)
        if Path(path).exists():
            raise OutputRefused(path, "it is a file without the ending of a known format; name another path")
        raise ParameterError(name, path, f"must end in a known format: {KNOWN}", "output ending")
    if found is not None and found.format == WARC:
        require(formats == {WARC}, name, path, "can only be an archive if all inputs are archives")
    inputs.check(path)
    _check_place(path, folder=folder, force=force)


def check_table(
    path: AnyPath, inputs: Sequence[AnyPath] = (), *, force: bool, or_page: bool = False, name: str = OUTPUT
) -> None:
    """Raise the errors of ``write_table``, or ``write_file``, in advance; *inputs* are never overwritten.

    *name* is the parameter that has the *path*.
    """
    found = kind(os.fspath(path))
    fits = (found is not None and found.format in _TABLES) or (or_page and is_page(path))
    page = f", or in {PAGES[0]} for a page" if or_page else ""
    endings = f".parquet, or in .jsonl or .ndjson, which may be followed by .gz, .zst, .bz2 or .xz{page}"
    sources = (*expand(inputs), *filter(is_pattern, map(local, inputs))) if inputs else ()
    _check_file(path, sources, fits=fits, endings=endings, force=force, name=name)


def check_separate(outputs: Mapping[str, AnyPath | None]) -> None:
    """Refuse two outputs at one path, or one inside the other: the second would replace the first."""
    named = [(name, os.fspath(path)) for name, path in outputs.items() if path is not None]
    for name, path in named:
        _require_name(path, name)
    places = [(name, path, Path(os.path.realpath(path))) for name, path in named if path != os.devnull]
    for (name, _, place), (other, path, second) in combinations(places, 2):
        same = place.is_relative_to(second) or second.is_relative_to(place)
        with suppress(OSError):  # there is none, or the user may not look for it
            same = same or place.samefile(second)  # such as by a hard link
        if same:
            raise OutputsOverlap(path, name, other)


def is_page(path: AnyPath) -> bool:
    """Return whether a file's name has an ending of HTML pages. Case does not matter."""
    return Path(path).suffix.lower() in PAGES


def check_file(
    path: AnyPath, endings: Sequence[str], inputs: Sequence[str] = (), *, force: bool, name: str = OUTPUT
) -> None:
    """Raise the errors of ``write_file`` in advance; *inputs* and *name* are as in ``check_table``."""
    fits = Path(path).suffix.lower() in endings
    _check_file(path, inputs, fits=fits, endings=" or ".join(endings), force=force, name=name)


def output_kind(path: str, wanted: str) -> Kind:
    """Return the format for *path*: by its name, or the *wanted* format without compression for a device or a pipe."""
    return Kind(wanted) if is_special(path) else kind(path) or Kind(wanted)


def is_folder(path: str) -> bool:
    """Return whether an output is a folder: it exists as one, ends in a slash, or its name has no ending."""
    if kind(path) is not None or Path(path).is_dir():
        return kind(path) is None
    return not Path(path).exists() and (path.endswith(os.sep) or not Path(path).suffix)


def is_special(path: str) -> bool:
    """Return whether the path is a device, a pipe or a socket, which is written to instead of being replaced.

    Open files of this process, such as ``/dev/stdout``, count even if they are regular files; other files in ``/dev``,
    such as those in ``/dev/shm``, do not.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    if stat.S_ISBLK(mode):
        raise OutputRefused(path, "it is a disk device")
    stream = stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return stream or (_OPEN.fullmatch(path) is not None and stat.S_ISREG(mode))


@contextmanager
def atomic(path: AnyPath) -> Iterator[BinaryIO]:
    """Yield a file to write to; it replaces *path* when the block ends without an exception, or else is removed.

    The file has no name until it is complete and on disk, so that even a killed process leaves nothing. If the file
    system does not support that, it has a temporary name next to *path*, and is removed on any exception. Links are
    followed. The new file has the permissions of the replaced one. Devices and pipes are written to directly; a
    terminal shows control characters as escapes. Raises ``OutputError`` if the system refuses (a full disk, a closed
    pipe).
    """
    path = local(path)
    if is_url(path):
        with temporary_folder() as folder:
            with atomic(Path(folder, "output")) as file:
                yield file
            send(str(Path(folder, "output")), path)
        return
    with raising(OutputError.by, path):
        if is_special(path):
            with opened_screen(_opened(path), _BUFFER) as file:
                yield file
        else:
            yield from _replacing(Path(os.path.realpath(path)))


def temporary_files(folder: AnyPath) -> AbstractContextManager[None]:
    """Return a context that raises errors of the system in writing to a temporary *folder* as ``StorageFailed``."""

    def failed(error: OSError) -> StorageFailed:
        found = StorageFailed.by(error, Path(folder).parent, "written")
        return StorageFailed(found.where, found.rule, TEMPORARY)

    return raising(failed)


def write_table(path: AnyPath, table: pa.Table | Iterable[pa.Table], *, force: bool = False) -> None:
    """Write a table as Parquet or as JSON lines (also ``.gz``, ``.zst``), by the ending of *path*; see ``atomic``.

    Several tables of one schema are written one after the other.

    Raises the errors of ``check_table``, and ``OutputError`` if the system refuses. Devices and pipes receive JSON
    lines.
    """
    path = os.fspath(path)
    check_table(path, force=force)
    tables = iter([table] if isinstance(table, pa.Table) else table)
    first = next(tables)
    with atomic(path) as file, table_writer(file, output_kind(path, "jsonl"), first.schema) as (write, _):
        for part in chain([first], tables):
            write(part)


def write_file(path: AnyPath, content: bytes, endings: Sequence[str], *, force: bool = False) -> None:
    """Write a file that ends in one of *endings*, such as ``PAGES``, or to a device or pipe; see ``atomic``.

    Raises ``ParameterError`` for another ending, and ``OutputError`` for a path that exists unless *force* is given, a
    folder that is missing or not writable, and if the system refuses.
    """
    check_file(path, endings, force=force)
    with atomic(path) as file:
        file.write(content)


def temporary(path: Path, host: str = "") -> Path:
    """Return an unused name in the folder of *path*."""
    return path.with_name(f".neardup-{host}{secrets.token_hex((_TOKEN - len(host)) // 2)}.partial")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a temporary file, so that other runs do not remove it as a leftover."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(target: Path, mode: int = 0o777, host: str = "") -> Iterator[Path]:
    """Yield a new folder next to *target*, to be moved there when it is complete; otherwise it is removed.

    It has the permissions *mode* but those of the umask. The new folder of a killed run is removed by the next run that
    makes a file or folder there. With a *host*, up to 16 hexadecimal digits, that is by a run with the same host.
    """
    partial = temporary(target, host)
    try:
        with ExitStack() as held:
            remove_leftovers(target.parent, host)
            while not partial.is_dir():  # another run may have removed it before it was locked
                held.close()
                partial.mkdir(mode)
                with suppress(FileNotFoundError):
                    held.enter_context(locked(partial))
            yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def temporary_folder() -> AbstractContextManager[Path]:
    """Return a context of a new folder among the temporary files of the system, which others cannot read.

    That of a killed process is removed by the next process on this machine: others may share the place, but no locks.
    """
    host = blake2b(socket.gethostname().encode(), digest_size=_HOST // 2).hexdigest()
    return new_folder(Path(gettempdir(), "folder"), 0o700, host)


def remove_leftovers(folder: Path, host: str = "") -> None:
    """Remove the temporary files that killed runs of this user, on a *host*, have left in a folder."""
    for path in folder.glob(f".neardup-{host}{'[0-9a-f]' * (_TOKEN - len(host))}.partial"):
        with suppress(OSError):  # a run has locked it, it no longer exists, or it cannot be read
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(descriptor).st_uid != os.geteuid():
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # a file system without locks, where no file counts as a leftover
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # others have the lock only while they remove leftovers


def _opened(path: str) -> int:
    """Open a device or pipe. A file that the process has open keeps its position, for output before and after."""
    if found := _OPEN.fullmatch(path):
        return os.dup(int(found[1]) if found[1] else _STANDARD[path])
    return os.open(path, os.O_WRONLY | os.O_APPEND)


class _SteadyFile(io.FileIO):
    """A new file that reaches the disk while it is written, so that the sync at its end waits for few bytes."""

    _begun = _written = 0

    def write(self, content: Any) -> int:
        """Write bytes; once the system holds back many, let it begin to write these."""
        number = super().write(content)
        self._written += number
        if self._written - self._begun >= _HELD_BACK and hasattr(os, "posix_fadvise"):
            with suppress(OSError):  # only advice
                os.posix_fadvise(self.fileno(), self._begun, self._written - self._begun, os.POSIX_FADV_DONTNEED)
            self._begun = self._written
        return number


def _replacing(target: Path) -> Iterator[BinaryIO]:
    partial = temporary(target)
    _FILES[target.parent] += 1
    if _FILES[target.parent].bit_count() == 1:  # the first, second, fourth, ... file: listing a large folder takes long
        remove_leftovers(target.parent)
    descriptor = _nameless(target.parent)
    nameless = descriptor is not None
    if descriptor is None:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with io.BufferedWriter(_SteadyFile(descriptor, "wb"), _BUFFER) as file:
            _lock(descriptor)
            yield file
            file.flush()
            with suppress(FileNotFoundError):  # nothing is replaced
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            os.fsync(descriptor)
            if nameless:
                _give_name(descriptor, partial)
            partial.replace(target)  # while it is locked: it is not a leftover
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _nameless(folder: Path) -> int | None:
    """Open a file without a name; ``None`` if the system does not support it."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:  # a file system without nameless files; other errors occur again immediately
        return None


def _give_name(descriptor: int, path: Path) -> None:
    anchor = os.open(path.parent, os.O_PATH)  # it may be a folder that this user cannot list
    try:  # with a folder descriptor, Python uses linkat(), the only call that follows the link to the nameless file
        os.link(f"/proc/self/fd/{descriptor}", path.name, src_dir_fd=anchor, dst_dir_fd=anchor)
    finally:
        os.close(anchor)


def _check_file(  # noqa: PLR0913 - as the functions that call it
    path: AnyPath, sources: Sequence[str], *, fits: bool, endings: str, force: bool, name: str
) -> None:
    """Refuse a path with an unsuitable ending, that is one of the sources, or that cannot be created."""
    path = local(path)
    _require_name(path, name)
    if path in _STANDARD_INPUT:
        raise OutputRefused(path, "it is the standard input")
    special = is_special(path)
    if not (special or fits):
        _refuse_folder(path)
        raise ParameterError(name, path, f"must end in {endings}")
    InputPaths(sources).check(path)
    if not special:
        _check_place(path, folder=False, force=force)


def _require_name(path: str, name: str) -> None:
    if not path:
        raise OutputRefused(name, "the path is empty")


def _check_place(path: str, *, folder: bool, force: bool) -> None:
    if not is_url(path):
        _check_local(path, folder=folder, force=force)
    elif not force and exists(path):
        raise OutputRefused(display(path), "it exists already", "exists")


def _check_local(path: str, *, folder: bool, force: bool) -> None:
    parent = Path(os.path.realpath(path)).parent
    if not _exists_as_folder(parent, path):
        raise OutputRefused(path, why_no_folder(parent))
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(path, "its folder is not writable", PERMISSION)
    require_names(path, parent)
    require_outside(path)
    if not Path(path).exists():
        return
    if folder:
        rule = "it exists already, and a folder of documents is never written over an existing path"
        raise OutputRefused(path, f"{rule}; remove it, or name another path")
    _refuse_folder(path)
    if not force:
        raise OutputRefused(path, "it exists already", "exists")


def require_names(path: AnyPath, folder: AnyPath) -> None:
    """Refuse a path with a longer name than the file system of a *folder* can have."""
    most = os.pathconf(folder, "PC_NAME_MAX")
    for name in Path(path).parts:
        if len(os.fsencode(name)) > most:
            raise OutputRefused(os.fspath(path), f"it has a name of more than {most} bytes; choose a shorter one")


def _exists_as_folder(path: AnyPath, output: str) -> bool:
    with raising(OutputError.by, output, "used"):
        return Path(path).is_dir()


def _refuse_folder(path: str) -> None:
    if _exists_as_folder(path, path):
        raise OutputRefused(path, "it is a folder, and the output is a file", "folder")
