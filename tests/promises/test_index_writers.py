"""One process writes an index; every other one that wants to is refused at once, and none for ever."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from lives import SCHEMES

from neardup import Index
from neardup.model.errors import StorageBusy, StorageRefused
from neardup.pipeline.query.search import Search

HOLDS = """
import sys
from neardup import Index
index = Index.open(sys.argv[1], "w")
index.admit(["held"], ["held by another process"])
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path):
    with Index.create(tmp_path / "index", SCHEMES["simhash"]) as index:
        index.admit(["a", "b"], ["some text or other", "and some more of it"])
    return tmp_path / "index"


def require_busy(folder, process="this process"):
    with pytest.raises(StorageBusy, match=f"{process} is writing to it; only one process can write"):
        Index.open(folder, "w")  # does not wait for the other writer, which never ends


def in_child(action):
    """Run something in a fork of this process; return what it returned, as a short string."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            told = str(action())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent wants to know
            told = repr(error)
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return told


def test_a_second_writer_in_the_same_process(folder):
    with Index.open(folder, "w") as index:
        require_busy(folder)
        with pytest.raises(StorageRefused, match="is an index already"):
            Index.create(folder, SCHEMES["simhash"])
        index.admit(["c"], ["a third one"])
    with Index.open(folder, "w") as index:
        assert len(index) == 3


def test_a_second_writer_in_another_process_and_its_death(folder):
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"open\n"
        require_busy(folder, f"process {holder.pid} on {os.uname().nodename}")
        with Index.open(folder) as reader:
            assert len(reader) == 3
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    with Index.open(folder, "w") as index:
        assert list(index.ids()) == ["a", "b", "held"]


def test_the_child_of_a_fork_does_not_write(folder):
    with Index.open(folder, "w", durability="interval") as index:
        index.admit(["c"], ["a third one"])
        calls = {
            "admit": lambda: index.admit(["d"], ["a fourth one"]),
            "remove": lambda: index.remove(["a"]),
            "flush": index.flush,
            "compact": index.compact,
            "see": lambda: index.see(["a"]),
            "refresh": index.refresh,
            "sync": index.sync,
        }
        for name, call in calls.items():
            told = in_child(call)
            assert "StorageRefused" in told, name
            assert "forked" in told, name
        assert in_child(lambda: [len(index), index.judge(["a third one"])[0].of, index.close()]) == "[3, 'c', None]"
        assert "StorageBusy" in in_child(lambda: Index.open(folder, "w"))
        index.admit(["e"], ["a fifth one"])
        assert in_child(lambda: sorted(Index.open(folder).ids())) == "['a', 'b', 'c', 'e']"
    with Index.open(folder, "w") as index:
        assert list(index.ids()) == ["a", "b", "c", "e"]
        assert index.check().problems == []


def test_the_child_of_a_fork_does_not_wait_for_threads_of_its_parent(tmp_path):
    with Index.create(tmp_path / "own", SCHEMES["minhash"], texts=True) as index:
        index.admit(["a"], ["a text with words"])
        Search.rebuild(index)
        with Search.open(index) as search, ThreadPoolExecutor(1) as other:
            other.submit(index.store.catching_up.acquire).result()
            told = in_child(lambda: [signal.alarm(5), search.catch_up()])
            other.submit(index.store.catching_up.release).result()
    assert "forked" in told


def test_a_child_that_lives_on_does_not_hold_the_lock(folder):
    index = Index.open(folder, "w")
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    os.close(read)
    index.close()
    with Index.open(folder, "w") as again:
        assert len(again) == 2
    os.close(write)
    os.waitpid(child, 0)


def test_opening_that_fails_leaves_the_lock(folder):
    (folder / "log-00000001").write_bytes(b"nothing of the kind")
    for _ in range(2):
        with pytest.raises(OSError, match="log"):
            Index.open(folder, "w")


def test_a_closed_index_is_closed(folder):
    index = Index.open(folder, "w")
    index.close()
    index.close()
    for call in (lambda: index.admit(["x"], ["y"]), index.flush, index.sync, lambda: index.judge(["y"])):
        with pytest.raises(StorageRefused, match="is closed"):
            call()
