"""Compile all kernels in advance, on all cores (about a minute)."""

import argparse
import time
from collections.abc import Callable
from functools import partial

from neardup.interfaces.cli.terminal import print_error

USAGE = ""
_NO_FOLDER = "no writable folder has 32 MiB free for the machine code; set NUMBA_CACHE_DIR to one."


def run(_: argparse.Namespace) -> int:
    """Compile every kernel that is not compiled yet."""
    from neardup.pipeline.kernel_cache import is_warm
    from neardup.pipeline.warm_up import warm

    if is_warm() is None:
        print(f"The kernels are compiled, but not for later commands: {_NO_FOLDER}", flush=True)
    else:
        print("Compiling the kernels that are missing (once for this machine, a minute or two).", flush=True)
    started = time.monotonic()
    warm()
    print(f"Ready after {time.monotonic() - started:.1f} s.")
    return 0


def say_if_cold(compiled: Callable[[], bool | None] | None = None) -> None:
    """Announce on standard error that this run compiles kernels, unless *compiled* (default: for ``dedup``) is true.

    It is announced when compiling begins: a command with an invalid argument compiles nothing.
    """
    from neardup.pipeline import kernel_cache as kernels

    warmed = (compiled or kernels.is_warm)()
    if warmed:
        return
    message = "First use on this machine: compiling the kernels once, which takes about ten seconds."
    if warmed is None:
        message = f"Every command compiles the kernels, which takes about ten seconds: {_NO_FOLDER}"
    kernels.on_first_compilation(partial(print_error, message))
