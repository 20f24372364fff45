import os

import pytest

from neardup.engines.resources import available_cores, available_memory

GIB = 1 << 30
MEMINFO = "MemTotal:       32000000 kB\nMemFree:         1000000 kB\nMemAvailable:   20971520 kB\n"
NO_LIMIT = str(2**63 - 4096)


def machine(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def version_2(limit, *, used=GIB, cached=0, place="job"):
    folder = f"sys/fs/cgroup/{place}".rstrip("/")
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": f"anon 5\ninactive_file {cached}\n",
    }


def version_1(limit):
    return {
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{limit}\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{GIB}\n",
        "sys/fs/cgroup/memory/job/memory.stat": f"total_inactive_file {GIB // 2}\n",
    }


ONE = {"proc/self/cgroup": "5:cpu,memory:/job\n3:pids:/job\n"}
TWO = {"proc/self/cgroup": "0::/job\n"}
INNER = {"proc/self/cgroup": "0::/job/step\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 20 * GIB),
        (TWO | version_2(4 * GIB), 3 * GIB),
        (TWO | version_2(4 * GIB, cached=GIB // 4), 3 * GIB + GIB // 4),
        (TWO | version_2(GIB, used=2 * GIB), 0),
        (TWO | version_2("max"), 20 * GIB),
        (TWO | version_2(64 * GIB), 20 * GIB),
        (TWO, 20 * GIB),
        (INNER | version_2("max", place="job/step") | version_2(8 * GIB), 7 * GIB),
        ({"proc/self/cgroup": "0::/\n"} | version_2(2 * GIB, place=""), GIB),
        (ONE | version_1(4 * GIB), 3 * GIB + GIB // 2),
        (ONE | version_1(NO_LIMIT), 20 * GIB),
    ],
)
def test_the_least_of_machine_and_control_groups_is_available(files, expected, tmp_path):
    assert available_memory(machine(tmp_path, {"proc/meminfo": MEMINFO} | files)) == expected


def test_a_system_that_does_not_tell(tmp_path):
    assert available_memory(tmp_path) is None
    assert available_memory(machine(tmp_path, TWO | version_2(4 * GIB))) == 3 * GIB


def test_this_machine_tells_something_sensible():
    found = available_memory()
    assert found is None or 0 <= found < 1 << 50


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8),
        (TWO | {"sys/fs/cgroup/job/cpu.max": "200000 100000\n"}, 2),
        (TWO | {"sys/fs/cgroup/job/cpu.max": "150000 100000\n"}, 2),
        (TWO | {"sys/fs/cgroup/job/cpu.max": "1000 100000\n"}, 1),
        (TWO | {"sys/fs/cgroup/job/cpu.max": "max 100000\n"}, 8),
        (TWO | {"sys/fs/cgroup/job/cpu.max": "6400000 100000\n"}, 8),
        (TWO | {"sys/fs/cgroup/job/cpu.max": ""}, 8),
        (INNER | {"sys/fs/cgroup/job/step/cpu.max": "max 1\n", "sys/fs/cgroup/job/cpu.max": "3 1\n"}, 3),
        (ONE | {f"sys/fs/cgroup/cpu/job/cpu.cfs_{name}_us": "50000\n" for name in ("quota", "period")}, 1),
        (ONE | {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 8),
    ],
)
def test_cores_are_those_of_the_machine_and_of_control_groups(files, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert available_cores(machine(tmp_path, files)) == expected
