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
