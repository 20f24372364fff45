"""The memory that a user can set, in bytes: its defaults and least values."""

from typing import Final

OF_RUN: Final = 2 << 30  # in pieces
LEAST_OF_RUN: Final = 64_000_000
OF_INDEX: Final = 1 << 28  # for new documents
LEAST_OF_INDEX: Final = 1 << 20
