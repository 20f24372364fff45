"""Whether the kernels are compiled already, and whether their files can be used."""

from pathlib import Path

from neardup.kernels import machine_code
from neardup.kernels.machine_code import is_kept
from neardup.kernels.machine_code import on_first_compilation as on_first_compilation  # noqa: PLC0414 - for interfaces
from neardup.kernels.minhash import sketch


def is_warm() -> bool | None:
    """Return whether the machine code of the main job is on disk; ``None`` if there is no folder to keep it."""
    return is_kept(sketch)


def folder_that_failed(error: BaseException) -> Path | None:
    """Return the folder of the machine code if it could not be read or written; ``None`` for other errors."""
    return machine_code.folder_that_failed(error, sketch)
