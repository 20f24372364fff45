"""The entry point of the program ``neardup``, and of ``python -m neardup``."""

import gc
import os
import signal
import sys

_YOUNG = 500_000  # objects between garbage collections: loading creates about 250,000, and few of them are garbage


def main() -> int:
    """Run one command in a process of its own; return its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # until there is something to clean up, Ctrl-C simply ends the process
    gc.set_threshold(_YOUNG)
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # NumPy would start threads for linear algebra, which is not used
    from neardup.interfaces.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
