"""The entry point of the program ``neardup``, and of ``python -m neardup``."""

import signal
import sys


def main() -> int:
    """Run one command in a process of its own; return its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # until there is something to clean up, Ctrl-C simply ends the process
    from neardup.engines.startup import shorten_start

    shorten_start()
    from neardup.interfaces.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
