"""The machine code of kernels, kept in the folder of the source, or where this user can write.

Numba uses a folder only if it can write there. Often another user has filled a folder that all users can read: root,
when a container was built. Its files are then copied once to a folder that this user can write.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final

import numba
from numba import config
from numba.core import caching, event

Kernel = Callable[..., Any]

if config.DISABLE_JIT:  # kernels use instructions that Python does not have
    raise ImportError("neardup needs compiled kernels, and Numba does not compile: unset NUMBA_DISABLE_JIT")

_ROOM: Final = 1 << 25  # bytes: the machine code of all kernels, twice
_PARENTS: Final = ("/dev/shm",)  # noqa: S108 - after the folder for temporary files; see _own_folder


def kernel(function: Kernel) -> Kernel:
    """Compile a function on its first call with the arguments' types; its machine code is kept for later processes.

    If no folder can be written, it is compiled in every process. Helpers that kernels of other files call need
    the plain ``njit``: they become part of these kernels. Arrays that are returned to Python need ``returned``.
    """
    beside = Path(function.__code__.co_filename).parent / "__pycache__"
    named = config.CACHE_DIR
    if not named and _is_relative(beside):
        return _in_own_folder(function, named, beside)
    try:
        compiled = _compiled(function)
    except RuntimeError:  # Numba found no folder to write to
        return _in_own_folder(function, named, beside)
    place = _place(compiled)
    if named and not place.is_relative_to(named):
        return _in_own_folder(function, named, beside)
    if not named and place != beside:
        _fill(place, beside)
    return compiled


def njit(function: Kernel | None = None, **options: bool) -> Any:
    """Compile a part of kernels, which is called by compiled code only; without a function, return the decorator.

    Without the wrappers for calls from Python and C, kernels are compiled in five sixths of the time. They copy entries
    by loops for the same reason: with a slice that is assigned from an array, Numba also compiles the formatting of its
    error message, which takes longer than most kernels.

    Numba compiles a function again for each literal number that is an argument, and for a variable that is first set to
    one, as by ``position = 0``; ``np.int64(0)`` avoids this.
    """
    decorator = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    return decorator if function is None else decorator(function)


def is_kept(function: Kernel) -> bool | None:
    """Return whether a kernel's machine code is on disk; ``None`` if there is no folder for it."""
    place = function.stats.cache_path  # type: ignore[attr-defined]
    if place is None:
        return None
    module = Path(function.__code__.co_filename).stem  # type: ignore[attr-defined]
    return any(Path(place).glob(f"{module}.{function.__name__}-*.nbi"))


def folder_that_failed(error: BaseException, function: Kernel) -> Path | None:
    """Return the folder of a kernel's machine code if Numba could not read or write it; ``None`` for other errors.

    Numba raises the errors of the system, and those of damaged files, as they are.
    """
    place = function.stats.cache_path  # type: ignore[attr-defined]
    of_cache = any(frame.f_globals["__name__"] == caching.__name__ for frame, _ in walk_tb(error.__traceback__))
    return Path(place) if place is not None and of_cache else None


def on_first_compilation(call: Callable[[], None]) -> None:
    """Call a function once, when this process begins to compile; code that is loaded from its folder does not count."""
    event.register("numba:compile", _FirstCompilation(call))


class _FirstCompilation(event.Listener):
    def __init__(self, call: Callable[[], None]) -> None:
        self._calls = [call]

    def on_start(self, _: event.Event) -> None:
        while self._calls:
            self._calls.pop()()

    def on_end(self, _: event.Event) -> None:
        """Do nothing."""


def _compiled(function: Kernel) -> Kernel:
    compiled: Kernel = numba.njit(nogil=True, no_cfunc_wrapper=True, cache=True)(function)
    return compiled


def _place(compiled: Kernel) -> Path:
    return Path(compiled.stats.cache_path)  # type: ignore[attr-defined]


def _in_own_folder(function: Kernel, named: str, beside: Path) -> Kernel:
    """Keep machine code in a folder for temporary files, filled from the folder that is read-only."""
    folder = _own_folder(named or str(beside))
    if folder is None:
        compiled: Kernel = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
        return compiled
    try:
        config.CACHE_DIR = folder
        compiled = _compiled(function)
    finally:
        config.CACHE_DIR = named
    place = _place(compiled)
    _fill(place, Path(named, place.name) if named else beside)
    return compiled


@cache
def _is_relative(beside: Path) -> bool:
    """Return whether Numba would use a folder below the current one, ``~`` for a user without a home.

    Others may be able to write there, and its files are executed.
    """
    users = os.getenv("XDG_CACHE_HOME", os.path.expanduser("~"))  # noqa: PTH111 - as Numba finds it
    source = beside if beside.exists() else beside.parent
    return not Path(users).is_absolute() and not os.access(source, os.W_OK)


@cache
def _own_folder(instead: str) -> str | None:
    """Make a folder that only this user can write to; ``None`` if that is impossible, or there is no room.

    Its files are executed, so a folder that belongs to another user, or that others can write to, is not used.
    """
    user = os.getuid()
    for parent in _parents():
        folder = Path(parent, f"neardup-kernels-{user}")
        try:
            if not folder.exists() and shutil.disk_usage(parent).free < _ROOM:
                continue
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
        except OSError:
            continue
        if found.st_uid == user and found.st_mode & 0o170_777 == 0o040_700:
            return str(folder / blake2b(instead.encode(), digest_size=8).hexdigest())
    return None


def _parents() -> Iterator[str]:
    with suppress(FileNotFoundError):  # there is no folder for temporary files
        yield tempfile.gettempdir()
    yield from _PARENTS


@cache
def _fill(place: Path, source: Path) -> None:
    """Copy the machine code that *place* does not have; each index file is copied after the code that it lists."""
    try:
        known = {path.name for path in place.glob("*.nbi")}
        indexes = [path for path in source.glob("*.nbi") if path.name not in known]
        for index in indexes:
            for path in (*source.glob(f"{index.stem}.*.nbc"), index):
                partial = place / f"{path.name}.{os.getpid()}"
                shutil.copy2(path, partial)
                partial.replace(place / path.name)
    except OSError:
        return  # missing machine code is compiled
