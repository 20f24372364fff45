"""Files of an index that were made to do harm: whatever they say, only a ``StorageError`` comes of it.

They are damaged at random or, which a check of sums cannot see, changed and given the right checksums. Then answers may
be wrong; but no signal ends the process, nothing else is raised, and no memory is asked for that the files do not fill.
Each batch of them runs in a process of its own, which tells of each how it ended.
"""

import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import traceback
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from disks import FOLDER, MemoryDisk
from lives import AT, MEMORY, SCHEMES, Step, quiet, script

from neardup import Index
from neardup.index.disk import arrays as arrays_of
from neardup.index.disk import log as log_of
from neardup.index.disk import manifest as manifest_of
from neardup.index.disk import postings, reader, store
from neardup.index.disk.arrays import checksum
from neardup.model.errors import StorageError

ROOM = 1 << 30  # bytes of memory that opening and asking may take, more than there were before
BATCH = 250
PATIENCE = 120  # seconds that one may take

HOSTILE = [
    *(None, True, False, -1, 0, 1, 2, 7, 63, 255, 1 << 31, (1 << 32) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, 1 << 64),
    *(-(1 << 63), 1 << 200, 0.5, 1e308, float("nan"), float("inf"), "", "x", "../x", "log-00000001", "\x00", "é" * 300),
    *(
        [],
        [[]],
        {},
        [1],
        [-1],
        ["x"],
        {"x": 1},
        [[1, 2], [3]],
        [1 << 40],
        [1 << 20, 1 << 20, 1 << 30],
        "|O",
        "<i8",
        "<f8",
    ),
    *(
        "|V8",
        "<U99999999",
        "|S0",
        "<M8[ns]",
        "|b1",
        "<u4",
        ">i8",
        "<i8,<i8",
        "minhash",
        "simhash",
        "checksum",
        "combined",
    ),
    *(
        "|V0",
        "<U0",
        "<c16",
        "string",
        "time",
        "flag",
        "0" * 32,
        "f" * 32,
        [0, 0],
        [3, 0],
        ["a", 1, 1],
        ["segment-00000001"],
    ),
]


def made(scheme, seed, *, texts, closed):
    """Make an index that has files of every kind and columns of every kind, and give its files."""
    disk = MemoryDisk()
    fields = {"version": int, "name": str, "when": "time", "share": float, "flag": bool}
    index = Index.create(FOLDER, SCHEMES[scheme], fields=fields, texts=texts, disk=disk)
    for step in script(seed, 14, 5):
        if step.does == "admit":
            count = len(step.ids)
            values = {"version": range(count), "when": np.arange(count).astype("M8[us]"), "share": [0.5] * count}
            index.admit(step.ids, step.documents, values | {"name": ["n"] * count, "flag": [True] * count}, at=AT)
        elif step.does != "reopen":
            step.act(index)
    early, late = (["early"], ["who comes early"]), (["late"], ["it is never too late to come"])
    index.admit(*early)
    index.flush()
    index.remove(list(index.ids())[:1])
    index.admit(*early, {"version": [1], "name": ["again"], "flag": [False]})
    index.flush()
    index.admit(*late)
    index.admit(*late, {"version": [2], "name": ["again"], "share": [1.0]})
    index.admit(*early, {"version": [3], "name": ["another"]})
    index.remove(list(index.ids())[:1])
    if closed:
        index.close()
    return disk.files


def nested(tree, rng):
    """Return the places in a JSON tree: of each a container and a key."""
    places = []
    todo = [tree]
    while todo:
        own = todo.pop()
        for key in own if isinstance(own, dict) else range(len(own)):
            places.append((own, key))
            if isinstance(own[key], dict | list) and own[key]:
                todo.append(own[key])
    return rng.choice(places) if places else None


def forged_tree(tree, rng):
    """Change something in a JSON tree."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        place = nested(tree, rng)
        if place is None:
            break
        container, key = place
        what = rng.random()
        if what < 0.1:
            del container[key]
        elif what < 0.25 and isinstance(container[key], int):
            container[key] += rng.choice([-1, 1, 8, -8, 64, 1 << 16])
        elif what < 0.35 and isinstance(container, list):
            container.insert(key, deepcopy(rng.choice(HOSTILE)))
        elif what < 0.4:
            other = nested(tree, rng)
            container[key] = json.loads(json.dumps(other[0][other[1]]))
        else:
            container[key] = deepcopy(rng.choice(HOSTILE))
    return tree


def forged_text(tree, rng):
    """Write a JSON tree in which something was changed, now and then so that it is no JSON."""
    raw = json.dumps(forged_tree(tree, rng)).encode()
    what = rng.random()
    if what < 0.03:
        return rng.choice([b"[" * 100_000, b"1" * 5000, b"{}", b"[]", b"null", b"\xff", b"", b'"x"', b"{" + raw])
    return garbled(raw, rng) if what < 0.1 else raw


def garbled(data, rng):
    """Change bytes anywhere."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 10])):
        if not data:
            break
        place = rng.randrange(len(data))
        what = rng.randrange(6)
        if what == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[place : place + 8] = rng.choice([bytes(8), b"\xff" * 8, struct.pack("<q", rng.randrange(-9, 999))])
        elif what == 2:
            del data[place : place + rng.randrange(1, 100)]
        elif what == 3:
            data[place:place] = rng.randbytes(rng.randrange(1, 100))
        elif what == 4:
            size = rng.randrange(1, 64)
            other = rng.randrange(len(data))
            data[place : place + size] = data[other : other + size]
        else:
            page = place // 4096 * 4096
            data[page : page + 4096] = bytes(len(data[page : page + 4096]))
    return bytes(data)


def same_size(data, rng):
    """Change bytes, and leave their number as it is."""
    return (garbled(data, rng) + bytes(len(data)))[: len(data)]


def spread(array, rng):
    """Overwrite entries of an array with what is likely to lead astray."""
    flat = array.reshape(-1)
    for _ in range(rng.choice([1, 3, 20])):
        if flat.size:
            place = rng.randrange(flat.size)
            value = rng.choice([-1, 0, 1, 1 << 31, (1 << 63) - 1, -(1 << 63), rng.getrandbits(63), rng.randrange(100)])
            flat[place : place + rng.choice([1, 1, 50])] = np.array([value], np.int64).astype(flat.dtype)
    return array


def forged_arrays(data, rng):
    """Change the arrays or the directory of a file of arrays, and compute its checksums."""
    magic, version, length, size, _ = arrays_of._TAIL.unpack(data[-arrays_of._TAIL.size :])
    directory = json.loads(data[-arrays_of._TAIL.size - length : -arrays_of._TAIL.size])
    content = bytearray(data[:size])
    if rng.random() < 0.6:
        name = rng.choice(sorted(directory["arrays"]))
        kind, shape, begin = directory["arrays"][name]
        array = np.frombuffer(content, kind, int(np.prod(shape)), begin)
        spread(array, rng)
    else:
        directory = forged_tree(directory, rng)
    if rng.random() < 0.1:
        content = bytearray(garbled(content, rng))
    sums = arrays_of._sums(np.frombuffer(bytes(content), np.uint8))
    if isinstance(directory, dict):
        directory["sums"] = checksum(sums.view(np.uint8))
    raw = json.dumps(directory).encode() if rng.random() < 0.9 else forged_text(directory, rng)
    size = len(content) if rng.random() < 0.95 else rng.choice([0, 1, 1 << 63, (1 << 64) - 1, len(content) - 1])
    length = len(raw) if rng.random() < 0.95 else rng.choice([0, (1 << 32) - 1, len(raw) + 8, len(raw) - 1])
    head = arrays_of._TAIL.pack(magic, version if rng.random() < 0.98 else rng.getrandbits(32), length, size, 0)
    # The sum covers what a reader takes for the directory.
    total = checksum((sums.tobytes() + raw)[-length:] + head if length else head)
    return bytes(content) + sums.tobytes() + raw + head[:-8] + struct.pack("<Q", total)


def forged_log(data, rng):
    """Change records of a log, and compute their checksums."""
    mark, first = data[16:32], struct.unpack("<Q", data[32:40])[0]
    head = log_of._HEADER.pack(log_of._MAGIC, 1, mark, first, 0)[:-8]
    seed = checksum(head)
    out, place = [head, struct.pack("<Q", seed)], log_of._HEADER.size
    number = first
    chosen = rng.randrange(12)
    while place + log_of._FRAME.size <= len(data):
        _, size, synced, _ = log_of._FRAME.unpack_from(data, place)
        record = data[place + log_of._FRAME.size :][:size]
        place += log_of._FRAME.size + size
        if rng.random() < 0.3 or number - first == chosen:
            record = forged_record(record, rng)
        frame = log_of._FRAME.pack(number, len(record), synced, log_of._frame_sum(seed, number, synced, record))
        out += [frame, record]
        number += 1
    return b"".join(out)


def forged_record(record, rng):
    size = log_of._SIZE.unpack(record[:4])[0]
    directory, body = json.loads(record[4 : 4 + size]), bytearray(record[4 + size :])
    what = rng.random()
    if what < 0.6:
        place = 0
        chosen = rng.randrange(len(directory[1]))
        for number, (_, kind, shape) in enumerate(directory[1]):
            count = int(np.prod(shape))
            if number == chosen and count:
                spread(np.frombuffer(body, kind, count, place), rng)
            place += count * np.dtype(kind).itemsize
        raw = json.dumps(directory).encode()
    else:
        raw = forged_text(directory, rng)
    if what > 0.9:
        body = garbled(body, rng)
    told = len(raw) if rng.random() < 0.95 else rng.choice([0, (1 << 32) - 1, len(raw) + 1])
    return log_of._SIZE.pack(told) + raw + bytes(body) if rng.random() < 0.97 else rng.randbytes(rng.randrange(9))


def forged(files, rng):
    """Return files one of which was damaged, or forged so that all checksums are right."""
    files = files.copy()
    paths = [path for path, file in files.names.items() if file is not None and path.name != "writer.lock"]
    path = rng.choice(paths)
    file, manifest = files.names[path], files.names[FOLDER / "manifest.json"]
    data = bytes(file.data)
    if rng.random() < 0.15:
        other = bytes(files.names[rng.choice(paths)].data)
        file.data[:] = rng.choice([garbled(data, rng), same_size(data, rng), other, data[: rng.randrange(len(data))]])
        return files
    stated = json.loads(bytes(manifest.data).partition(b"\n")[0])
    if path.name.startswith("manifest"):
        content = forged_text(stated, rng)
    elif path.name.startswith("log"):
        file.data[:] = forged_log(data, rng)
        stated["sealed"] = rng.choice([0, len(file.data), stated["sealed"], stated["sealed"] + 1])
        content = json.dumps(stated).encode()
    else:
        file.data[:] = new = forged_arrays(data, rng)
        sealed = [path.name, len(new), struct.unpack("<Q", new[-8:])[0]]
        stated["segments"] = [sealed if own[0] == path.name else own for own in stated["segments"]]
        if stated["updates"] and stated["updates"][0] == path.name:
            stated["updates"] = sealed
        content = json.dumps(stated).encode()
    manifest.data[:] = content + b"\n" + manifest_of._seal(content)
    return files


def ask_everything(files, rng):
    """Open what was forged, ask, check, and work on it; return which steps were refused."""
    refused = []

    def attempt(name, action):
        try:
            return action()
        except StorageError:
            refused.append(name)
            return None

    mode = rng.choice("rw")
    with quiet():
        index = attempt("open", lambda: Index.open(FOLDER, mode, disk=MemoryDisk(files)))
    if index is None:
        reader = MemoryDisk(files)
        index = attempt("check", lambda: checked(reader))
        return refused
    index._store._memory = MEMORY
    asked = Step("admit", ["x"] * 4, rng.randrange(20)).documents
    names = attempt("ids", lambda: list(index.ids())) or []
    attempt("get", lambda: index.get([*names, *NAMES]))
    attempt("judge", lambda: index.judge(asked))
    attempt("judge ids", lambda: index.judge(asked, ids=NAMES[:4]))
    attempt("group", lambda: [index.group(name) for name in (names + NAMES)[:5]])
    attempt("len", lambda: len(index))
    attempt("stats", index.stats)
    attempt("check", index.check)
    if mode == "w":
        attempt("admit", lambda: index.admit(["new", NAMES[0]], asked[:2]))
        attempt("remove", lambda: index.remove(names[:2]))
        attempt("see", lambda: index.see(names[:2]))
        attempt("expire", lambda: index.expire(AT + 1))
        attempt("compact", index.compact)
    else:
        attempt("refresh", index.refresh)
    attempt("close", index.close)
    return refused


NAMES = [f"document {number}" for number in range(10)]


def checked(disk):
    from neardup.index.disk.check import check

    return check(FOLDER, disk)


ORIGINALS = [("minhash", 5, True, True), ("simhash", 6, False, True), ("minhash", 7, False, False)]


def limit_memory():
    if sys.platform != "linux":
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))


def forgeries(number, seed):
    """Open so many forgeries in forks of this process; return how many were refused when, and what went wrong."""
    for module in (postings, reader, store):
        module.ROOM = 1  # keys that several documents share are oversized
    originals = [made(scheme, own, texts=texts, closed=closed) for scheme, own, texts, closed in ORIGINALS]
    for files in originals:
        ask_everything(files.copy(), random.Random(0))  # everything is loaded before the first fork
        ask_everything(files.copy(), random.Random(1))
    counts, wrong = {"refused": 0, "later": 0, "answered": 0}, []
    for begin in range(seed * 10_000_000, seed * 10_000_000 + number, BATCH):
        first = begin
        while first < begin + BATCH:
            told, status = batch(originals, range(first, begin + BATCH))
            for line in told:
                what, _, _ = line.partition(" ")
                counts[what] = counts.get(what, 0) + 1
                if what not in {"refused", "later", "answered"}:
                    wrong.append(line)
            first += len(told)
            if status:
                wrong.append(f"{first}: ended by {status}")
                first += 1
    return {"counts": counts, "wrong": wrong}


def batch(originals, numbers):
    """Let a fork open forgeries; return a line for each that it came through, and how it ended."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        limit_memory()
        for number in numbers:
            signal.alarm(PATIENCE)
            os.write(write, one(originals, number).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read().decode().splitlines()
    return told, os.waitpid(child, 0)[1]


def one(originals, number):
    rng = random.Random(number)
    try:
        refused = ask_everything(forged(rng.choice(originals), rng), rng)
    except BaseException:  # noqa: BLE001 - whatever it is, it should not have come
        return f"{number}: {traceback.format_exc()!r}\n"
    return "refused\n" if "open" in refused else "later\n" if refused else "answered\n"


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_index_forged import forgeries
print(json.dumps(forgeries(int(sys.argv[2]), int(sys.argv[3]))))
"""


def run(number, seed):
    words = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(number), str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(told["counts"])
    assert told["wrong"] == []


def test_forgeries():
    run(150, 1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_forgeries(seed):
    run(20_000, seed)
