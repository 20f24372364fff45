"""The memory available to this process."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_UNLIMITED = 1 << 60  # bytes: version 1 of control groups reports about 8 EiB for no limit


def available_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes available to this process: of the machine, and of every control group around it.

    Memory that the system can free, such as cached files, counts as available; swap space does not. ``None`` if the
    system does not report it, as on all systems but Linux.
    """
    machine = (line.split()[1] for line in _lines(root / "proc/meminfo") if line.startswith("MemAvailable:"))
    return min([*(int(kilobytes) * 1024 for kilobytes in machine), *_available_in_groups(root)], default=None)


def _available_in_groups(root: Path) -> Iterator[int]:
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
        for folder in (root / base / part for part in (group, *group.parents)):
            most, used = _number(folder / limit), _number(folder / usage)
            if most is not None and used is not None and most < _UNLIMITED:
                known = (words for words in map(str.split, _lines(folder / "memory.stat")) if words[:1] == [cached])
                yield max(0, most - used + sum(int(words[1]) for words in known))


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)[:1]).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []
