"""The memory and the cores that this process may use."""

import math
import os
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


def available_cores(root: Path = Path("/")) -> int:
    """Return the number of cores that this process may use: the least of the machine and its control groups.

    A quota of 1.5 cores counts as 2.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for is_unified, folder in _groups(root, "cpu"):
        files = ("cpu.max",) if is_unified else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        time, period, *_ = [*" ".join(line for name in files for line in _lines(folder / name)).split(), "", ""]
        if time.isdecimal() and period.isdecimal():  # without a limit, the time is "max" or -1
            cores = min(cores, math.ceil(int(time) / int(period)))
    return cores


def _available_in_groups(root: Path) -> Iterator[int]:
    for is_unified, folder in _groups(root, "memory"):
        limit, usage, cached = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
        if is_unified:
            limit, usage, cached = "memory.max", "memory.current", "inactive_file"
        most, used = _number(folder / limit), _number(folder / usage)
        if most is not None and used is not None and most < _UNLIMITED:
            known = (words for words in map(str.split, _lines(folder / "memory.stat")) if words[:1] == [cached])
            yield max(0, most - used + sum(int(words[1]) for words in known))


def _groups(root: Path, controller: str) -> Iterator[tuple[bool, Path]]:
    """Yield the folders of the control groups around this process, and whether they are of version 2."""
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, place = (*line.split(":", 2), "", "")[:3]
        if number == "0" or controller in controllers.split(","):
            base = root / "sys/fs/cgroup" / ("" if number == "0" else controller)
            group = PurePosixPath(place.lstrip("/"))
            yield from ((number == "0", base / part) for part in (group, *group.parents))


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)[:1]).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []
