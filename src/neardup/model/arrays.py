"""Batches as arrays: what travels between the stages."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.model.errors import DataError, RecipeMismatch, require
from neardup.model.recipe import RecipeId

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]
AnyPositions = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Texts as they lie in an Arrow buffer: document *d* is ``data[offsets[d]:offsets[d + 1]]``, UTF-8.

    *data* is read-only, wherever it comes from: kernels are compiled once for all.
    """

    data: Bytes
    offsets: Positions

    def __post_init__(self) -> None:
        if self.data.flags.writeable:
            data = self.data.view()
            data.flags.writeable = False
            object.__setattr__(self, "data", data)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, document: int) -> bytes:
        """One document's text."""
        return self.data[self.offsets[document] : self.offsets[document + 1]].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The shingle hashes of a batch, ragged: document *d* has ``values[offsets[d]:offsets[d + 1]]``.

    They stand in text order and may repeat; as a set, repeats count once. *recipe* tells what made
    them, if anything did that has a recipe.
    """

    values: Words
    offsets: Positions
    recipe: RecipeId | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """What there is to sign of a collection.

    Its features, a table of the columns that a scheme may ask for, and its texts as one Arrow column.
    """

    features: Features
    fields: Any
    texts: Any


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Signatures:
    """One row of *rows* a document; *present* is false where a document has no signature."""

    rows: npt.NDArray[np.generic]
    present: Flags
    recipe: RecipeId

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | AnyPositions | Flags) -> "Signatures":
        return Signatures(self.rows[chosen], self.present[chosen], self.recipe)


def require_same_recipe(left: RecipeId, right: RecipeId) -> None:
    """Raise ``RecipeMismatch`` unless both are the same."""
    if left != right:
        raise RecipeMismatch(left, right)


def require_comparable(recipe: RecipeId, left: Signatures, right: Signatures) -> None:
    """Raise ``RecipeMismatch`` unless both were made by *recipe*, ``DataError`` unless they are equally many."""
    require_same_recipe(recipe, left.recipe)
    require_same_recipe(recipe, right.recipe)
    if len(left) != len(right):
        raise DataError("signatures", f"{len(left)} rows cannot be compared row by row with {len(right)}")


def shares(given: Any, name: str = "resemblance") -> npt.NDArray[np.float64]:
    """Give what a law is asked about as an array; ``ParameterError`` unless every number is from 0 to 1."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    require(bool(((numbers >= 0) & (numbers <= 1)).all()), name, given, "must be from 0 to 1")
    return numbers
