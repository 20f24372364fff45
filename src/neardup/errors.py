"""The errors that the package raises; all derive from ``NeardupError``."""

from neardup.model.errors import (
    DataError,
    NeardupError,
    OutputError,
    ParameterConflict,
    ParameterError,
    QueryTimeout,
    RecipeMismatch,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFailed,
    StorageMoved,
    StorageRefused,
)

__all__ = [
    "DataError",
    "NeardupError",
    "OutputError",
    "ParameterConflict",
    "ParameterError",
    "QueryTimeout",
    "RecipeMismatch",
    "StorageBusy",
    "StorageDamaged",
    "StorageError",
    "StorageFailed",
    "StorageMoved",
    "StorageRefused",
]
