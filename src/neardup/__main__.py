"""Where the program ``neardup`` begins; ``python -m neardup`` is the same."""

import gc
import os
import signal
import sys

_YOUNG = 50_000  # objects between two looks for garbage: loading makes many, and hardly any of them is garbage


def main() -> int:
    """Run one command as a process of its own; returns its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up, Ctrl-C just ends it
    gc.set_threshold(_YOUNG)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads for algebra that nothing here does
    from neardup.interfaces.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
