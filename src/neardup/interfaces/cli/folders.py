"""Arguments for an index, and opening it."""

import argparse
from typing import TYPE_CHECKING, Literal

from neardup.interfaces.cli.options import add_key_option, key_of

if TYPE_CHECKING:
    from neardup.pipeline.index import Index


def add_index_argument(parser: argparse.ArgumentParser, *, with_key: bool = True) -> None:
    """Add the folder of the index and, with *with_key*, its key."""
    parser.add_argument("index", metavar="DIR", help="the folder of the index")
    if with_key:
        add_key_option(parser)


def opened(arguments: argparse.Namespace, mode: Literal["r", "w"]) -> "Index":
    """Open the index of the arguments."""
    from neardup.pipeline.index import Index

    return Index.open(arguments.index, mode, key=key_of(arguments))
