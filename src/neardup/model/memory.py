"""The memory that a user can set, in bytes: its defaults and least values; and the warning that there is too little."""

from typing import Final

OF_RUN: Final = 2 << 30  # in pieces
LEAST_OF_RUN: Final = 64_000_000
OF_INDEX: Final = 1 << 28  # for new documents
LEAST_OF_INDEX: Final = 1 << 20


class MemoryShort(RuntimeWarning):
    """A warning: a run in memory needs about *needed* bytes besides the documents, and *available* ones are there."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(needed, available)
        self.needed, self.available = needed, available

    @property
    def what(self) -> str:
        """What is wrong, without what to do next."""
        return (
            f"about {self.needed / 1e9:,.1f} GB of memory will be needed in addition to the documents, but only"
            f" {self.available / 1e9:,.1f} GB are available"
        )

    def __str__(self) -> str:
        return (
            f"{self.what}; to use less, run in pieces, pass fewer documents at a time, or choose a scheme with smaller"
            " signatures"
        )
