"""Compile the kernels now, so that the first real use is quick."""

import argparse
import sys
import time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options: it has none."""
    parser.set_defaults()


def run(_: argparse.Namespace) -> int:
    """Compile everything that is not compiled yet."""
    from neardup.pipeline.warming import is_warm, warm

    if is_warm():
        print("The kernels are compiled already; checking them.", flush=True)
    else:
        print("Compiling the kernels for this machine (once, half a minute or less).", flush=True)
    started = time.monotonic()
    warm()
    print(f"Ready after {time.monotonic() - started:.1f} s.")
    return 0


def say_if_cold() -> None:
    """Tell on standard error that the first run compiles, if it will."""
    from neardup.pipeline.warming import is_warm

    if sys.stderr is not None and not is_warm():
        message = "First use on this machine: compiling the kernels, some ten seconds, once."
        print(message, file=sys.stderr, flush=True)
