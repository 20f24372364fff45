"""Which documents have changed lately, by a count of the changes."""

import numpy as np

from neardup.model.arrays import Positions


class LatestChanges:
    """How often documents have changed, in steps, and the documents of the steps after the first *before* ones."""

    def __init__(self, before: int) -> None:
        self._before = before
        self._steps: list[Positions] = []

    @property
    def number(self) -> int:
        """The number of all steps."""
        return self._before + len(self._steps)

    def add(self, ordinals: Positions) -> None:
        """Record a step that changed documents with these ordinals."""
        self._steps.append(ordinals)

    def since(self, number: int) -> Positions | None:
        """Return the ordinals of the documents that changed after a *number* of steps; ``None`` if they are unknown."""
        if number < self._before:
            return None
        return np.unique(np.concatenate([np.empty(0, np.int64), *self._steps[number - self._before :]]))
