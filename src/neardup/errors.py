"""The errors that the package raises; all derive from ``NeardupError``."""

from neardup.model.errors import (
    DataError,
    EngineFailed,
    NeardupError,
    OutputError,
    ParameterConflict,
    ParameterError,
    QueryTimeout,
    RecipeMismatch,
    RunChanged,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFailed,
    StorageMoved,
    StorageRefused,
)

__all__ = [
    "DataError",
    "EngineFailed",
    "NeardupError",
    "OutputError",
    "ParameterConflict",
    "ParameterError",
    "QueryTimeout",
    "RecipeMismatch",
    "RunChanged",
    "StorageBusy",
    "StorageDamaged",
    "StorageError",
    "StorageFailed",
    "StorageMoved",
    "StorageRefused",
]
