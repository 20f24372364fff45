"""Whether the kernels are compiled already."""

from neardup.kernels.machine_code import is_kept
from neardup.kernels.machine_code import on_first_compilation as on_first_compilation  # noqa: PLC0414 - for interfaces
from neardup.kernels.minhash import sketch


def is_warm() -> bool | None:
    """Return whether the machine code of the main job is on disk; ``None`` if there is no folder to keep it."""
    return is_kept(sketch)
