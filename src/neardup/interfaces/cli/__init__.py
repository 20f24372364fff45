"""The command line: parse, one call, render.

Exit codes: 0 done; 1 done or stopped with trouble in the data or in writing, which was reported;
2 wrong usage. A program that only asks for help loads nothing heavy.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from neardup import __version__
from neardup.interfaces.cli import dedup, demo, warm
from neardup.model.errors import InputRefused, NeardupError, OutputRefused, ParameterError

_VERBS = {"dedup": dedup, "demo": demo, "warm": warm}
_INTERRUPTED, _TERMINATED = 130, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    parsed = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = _VERBS[parsed.verb].run(parsed)
        sys.stdout.flush()
    except NeardupError as error:
        usage = isinstance(error, ParameterError | InputRefused | OutputRefused)
        return _complain(_advice(error), 2 if usage else 1)
    except BrokenPipeError:  # the reader of our output has left; it needs no message
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _complain("interrupted; unfinished output was removed", _INTERRUPTED)
    except MemoryError:
        return _complain("not enough memory for this input; split it, or use a machine with more", 1)
    return int(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="neardup",
        description="Find, explain and eliminate near-duplicate documents.",
        epilog="`neardup VERB --help` explains a verb. Exit codes: 0 done, 1 trouble in the data, 2 wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"neardup {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in _VERBS.items():
        summary = (verb.__doc__ or "").partition("\n")[0]
        verb.add_arguments(
            verbs.add_parser(
                name,
                help=summary.rstrip("."),
                description=summary,
                formatter_class=argparse.ArgumentDefaultsHelpFormatter,
            )
        )
    return parser


def _stop(*_: object) -> None:
    """End as Ctrl-C does, so that unfinished output is removed."""
    sys.exit(_TERMINATED)


def _advice(error: NeardupError) -> str:
    """Say what to do next, in the command line's words."""
    return str(error).replace("force replaces it", "--force replaces it")


def _complain(message: str, code: int) -> int:
    from neardup.interfaces.cli.terminal import printable

    print(f"neardup: {printable(message)}", file=sys.stderr)
    return code
