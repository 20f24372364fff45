"""Do tasks of a running `dedup --work DIR`, from another process or machine."""

import argparse

from neardup.interfaces.cli.options import key_of
from neardup.interfaces.cli.terminal import complain, print_json
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import counted, require

EXAMPLE = "Example: neardup work /shared/run7"
USAGE = """
folder DIR: the work folder of the run (dedup --work DIR)
--idle SECONDS=60: how long to wait for a run that has not begun, or was interrupted
--threads N=1: cores to use
--key-file PATH: the same file as for dedup, if that has one
--json: print the number of tasks, and why the worker ended (finished, stopped or absent), as JSON
"""

_ENDED = {
    "finished": "the run has ended; the exit code of dedup shows whether the answer is complete",
    "stopped": "the process that started the run has ended; repeat its command to continue the run",
    "absent": "there is no run in {folder}: it has not begun, its folder was removed at its end, or this path is wrong",
}


def run(arguments: argparse.Namespace) -> int:
    """Do tasks until the run ends; return 1 if it ended before it was complete."""
    require(arguments.idle >= 0, "idle", arguments.idle, "must be at least 0")
    say_if_cold()
    from neardup.pipeline.spilled.workers import work_on

    def waiting(why: str) -> None:
        until = f"waiting {arguments.idle:g} s for dedup --work (--idle)"
        complain(f"{_ENDED[why].format(folder=arguments.folder)}; {until}")

    done = work_on(
        arguments.folder, key=key_of(arguments), idle=arguments.idle, threads=arguments.threads, waiting=waiting
    )
    if arguments.json:
        print_json(done._asdict())
    else:
        print(f"{counted(done.tasks, 'task')} done; {_ENDED[done.ended].format(folder=arguments.folder)}.")
    return 1 if done.ended == "stopped" else 0
