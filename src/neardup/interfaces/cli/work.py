"""Share the tasks of a run that dedup --work started, here or on another machine."""

import argparse

from neardup.interfaces.cli.amounts import number, whole
from neardup.interfaces.cli.options import add_key_option, key_of
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import counted

EXAMPLE = "Example: neardup work /shared/run7"

_ENDED = {
    "finished": "the run is complete",
    "stopped": "the process that started the run has ended; start that command again",
    "absent": "there is no run in this folder",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    parser.add_argument("folder", metavar="DIR", help="the folder that dedup --work DIR names")
    parser.add_argument(
        "--idle", type=number, default=60.0, metavar="SECONDS", help="how long to wait for a run (default: 60)"
    )
    parser.add_argument("--threads", type=whole, metavar="N", default=1, help="tasks to do at a time (default: 1)")
    add_key_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do tasks until the run ends; return 1 if it is not complete."""
    say_if_cold()
    from neardup.pipeline.spilled.workers import work_on

    done = work_on(arguments.folder, key=key_of(arguments), idle=arguments.idle, threads=arguments.threads)
    print(f"{counted(done.tasks, 'task')} done; {_ENDED[done.ended]}.")
    return 0 if done.ended == "finished" else 1
