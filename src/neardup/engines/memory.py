"""The memory available to this process."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_UNLIMITED = 1 << 60  # bytes: version 1 of control groups reports about 8 EiB for no limit


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes available to this process: of the machine, and of every control group around it.

    Memory that the system can free, such as cached files, counts as available; swap space does not. ``None`` if the
    system does not report it, as on all systems but Linux.
    """
    found = [_available_in_machine(root), *_available_in_groups(root)]
    return min((most for most in found if most is not None), default=None)


def _available_in_machine(root: Path) -> int | None:
    for line in _lines(root / "proc/meminfo"):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def _available_in_groups(root: Path) -> Iterator[int | None]:
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, place = (*line.split(":", 2), "", "")[:3]
        if number == "0":
            files = ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            files = ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        base, limit, usage, cached = files
        group = PurePosixPath(place.lstrip("/"))
        for folder in (group, *group.parents):
            yield _available_in_group(root / base / folder, limit, usage, cached)


def _available_in_group(folder: Path, limit: str, usage: str, cached: str) -> int | None:
    most, used = _number(folder / limit), _number(folder / usage)
    if most is None or used is None or most >= _UNLIMITED:
        return None
    freed = sum(int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.split()[:1] == [cached])
    return max(0, most - used + freed)


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)[:1]).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []
