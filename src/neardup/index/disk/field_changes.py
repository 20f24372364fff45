"""New values of fields, for documents that were admitted again with the same content."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from neardup.index.disk.arrays import Array
from neardup.index.disk.columns import Columns, flattened, ordinals_of
from neardup.model.arrays import Positions, TextBatch

NOTHING: Final = np.empty(0, np.int64)


class FieldChange(NamedTuple):
    """The new *values* of one field for the documents with these ordinals; none is null."""

    ordinals: Positions
    values: Array | TextBatch


FieldChanges = Mapping[str, FieldChange]  # by the names of the fields


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
        return np.unique(np.concatenate([NOTHING, *self._steps[number - self._before :]]))


def changed_ordinals(changes: FieldChanges) -> Positions:
    """Return the ordinals of all documents with a changed field, ascending."""
    return np.unique(np.concatenate([NOTHING, *(change.ordinals for change in changes.values())]))


def as_arrays(changes: FieldChanges) -> dict[str, Array]:
    """Return changes as the arrays of a record."""
    arrays: dict[str, Array] = {}
    for name, change in changes.items():
        arrays |= {f"ordinals.{name}": change.ordinals, **flattened({f"field.{name}": change.values})}
    return arrays


def of_arrays(columns: Columns, arrays: Mapping[str, Array]) -> dict[str, FieldChange]:
    """Return the changes in a record; for use in ``understood``."""
    changes: dict[str, FieldChange] = {}
    for name, _ in columns.fields:
        if (own := arrays.get(f"ordinals.{name}")) is not None:
            ordinals = ordinals_of(own)
            changes[name] = FieldChange(ordinals, columns.read(f"field.{name}", arrays.__getitem__, len(ordinals)))
    return changes
