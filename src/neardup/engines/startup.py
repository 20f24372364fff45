"""The start of a process that runs nothing but this program."""

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")

_YOUNG = 1_000_000  # objects between garbage collections; a first use, which compiles, keeps fewer


class _WithoutUnused:
    """A finder of modules that refuses those which other libraries load, if they are installed, and do not need here.

    pyarrow loads pandas to convert the first list, and Numba cffi, with a parser of C, to call functions of C. yaml is
    only refused while Numba is loaded, which would read its settings from a file in the current folder.
    """

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        numba_is_loading = "numba" in sys.modules and not hasattr(sys.modules["numba"], "njit")  # its last attribute
        if name in {"pandas", "cffi"} or (name == "yaml" and numba_is_loading):
            raise ModuleNotFoundError(name, name=name)


def shorten_start() -> None:
    """Leave out what this program does not use: garbage collections while loading, threads, pandas, cffi and yaml.

    The threads are those of NumPy for linear algebra; so call it before NumPy is loaded. ``NUMBA_DISABLE_JIT``, which
    is meant for other programs, does not count, as kernels must be compiled. Only for programs: in their
    process, pandas and cffi can neither be imported nor looked for (``importlib.util.find_spec`` raises an error).
    """
    gc.set_threshold(_YOUNG)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.pop("NUMBA_DISABLE_JIT", None)
    sys.meta_path.insert(0, _WithoutUnused)


def with_short_start(function: Callable[..., Result], *arguments: Any) -> Callable[[], Result]:
    """Return a call of a function for a new process of this program: unpickling it first shortens the process's start.

    The module of the function is loaded after that.
    """
    return partial(_call, _Shortening(), function, *arguments)


class _Shortening:
    """What shortens the start of the process in which it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return shorten_start, ()


def _call(_: object, function: Callable[..., Result], *arguments: Any) -> Result:
    return function(*arguments)
