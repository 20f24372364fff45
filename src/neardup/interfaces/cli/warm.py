"""Compile the kernels now, so that the first real use is quick."""

import argparse
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_FOLDER = "no folder can keep them. NUMBA_CACHE_DIR names one that can be written."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options: it has none."""
    parser.set_defaults()


def run(_: argparse.Namespace) -> int:
    """Compile everything that is not compiled yet."""
    from neardup.pipeline.warming import is_warm, warm

    warmed = is_warm()
    if warmed:
        print("The kernels are compiled already; checking them.", flush=True)
    elif warmed is None:
        print(f"Compiling the kernels in vain: {_NO_FOLDER}", flush=True)
    else:
        print("Compiling the kernels for this machine (once, a minute or two).", flush=True)
    started = time.monotonic()
    warm()
    print(f"Ready after {time.monotonic() - started:.1f} s.")
    return 0


def say_if_cold(compiled: "Callable[[], bool | None] | None" = None) -> None:
    """Tell on standard error that the first run compiles, if it will: *compiled* tells (``None``: the main job's)."""
    if compiled is None:
        from neardup.pipeline.warming import is_warm

        compiled = is_warm
    warmed = compiled()
    if sys.stderr is None or warmed:
        return
    message = "First use on this machine: compiling the kernels, some ten seconds, once."
    if warmed is None:
        message = f"Compiling the kernels, some ten seconds every time: {_NO_FOLDER}"
    print(message, file=sys.stderr, flush=True)
