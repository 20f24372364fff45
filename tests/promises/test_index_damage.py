"""A file of an index that is not as it was written: no answer comes from what was changed.

The bytes of a small index are changed one at a time, and every file is cut off at them.
"""

import random
from collections import Counter

import pytest
from disks import FOLDER, ROOT, File, MemoryDisk
from lives import Step, create, fields_of, reopen, script

from neardup import Index
from neardup.index.disk import postings, reader, recent_documents
from neardup.index.disk.check import check
from neardup.index.disk.log import LogReader
from neardup.model.errors import StorageDamaged, StorageError

KINDS = ("manifest", "log", "segment", "updates")
# Every fourth byte meets every number and every checksum: they have four bytes or more.
EVERY = pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.soak)])
MANY = pytest.mark.parametrize("stride", [12, pytest.param(1, marks=pytest.mark.soak)])


def grown(scheme, seed, length, most):
    """Make an index that has files of every kind; return the files when it is closed, and when its writer dies."""
    disk = MemoryDisk()
    index = create(FOLDER, scheme, disk, memory=1 << 20)
    for step in script(seed, length, most):
        if step.does not in {"reopen", "compact"}:
            step.act(index)
    index.flush()
    index.remove([next(index.ids())])
    again = [next(index.ids())]
    index.admit(again, index.signatures(again), fields_of(again, 400))
    index.flush()
    for number in range(2):
        Step("admit", [f"late {number}"], 500 + number).act(index)
    index.admit(again, index.signatures(again), fields_of(again, 600))
    index.remove(["late 1"])
    killed = disk.files.copy()
    index.close()
    return disk.files, killed


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        for module in (postings, reader, recent_documents):
            patch.setattr(module, "ROOM", 1)  # keys that several documents share are oversized
        files, killed = grown("minhash", 10, 6, 4)
        with Index.open(FOLDER, disk=MemoryDisk(files.copy())) as index:
            assert len(index._store.segments[0].arrays["key.finer"])
        yield files, killed


def file_of(files, kind):
    """Return the path of a file of a kind: the largest."""
    mine = [(len(file.data), path) for path, file in files.names.items() if path.name.startswith(kind)]
    return max(mine)[1]


class Questions:
    """What is asked of an index that may be damaged; each is answered as before or refused."""

    def __init__(self, files):
        index = reopen(FOLDER, MemoryDisk(files.copy()), "r")
        self.ids = list(index.ids())
        self.expected = [ask(index) for ask in self.asks()]

    def asks(self):
        texts = Step("admit", ["x"] * 3, 500).documents
        return [
            lambda index: list(index.ids()),
            lambda index: index.get(self.ids),
            lambda index: index.judge([*texts, "nothing like it"]),
            lambda index: [index.group(name) for name in self.ids[:2]],
            len,
            lambda index: (index.stats().documents, index.stats().kept, index.stats().removed_in_files),
        ]

    def put(self, files, turn=None):
        """Return whether opening and every question, or the one of this turn, is answered as before or refused."""
        try:
            index = reopen(FOLDER, MemoryDisk(files), "r")
        except StorageError:
            return "refused"
        outcome = "answered"
        asks = list(zip(self.asks(), self.expected, strict=True))
        for ask, expected in asks if turn is None else [asks[turn % len(asks)]]:
            try:
                told = ask(index)
            except StorageDamaged:
                outcome = "found when asked"
            else:
                assert told == expected
        return outcome


def problems(files):
    """Check without opening: what is found wrong with which file."""
    return check(FOLDER, MemoryDisk(files)).problems


def changed(files, path, data):
    other = files.copy()
    other.names[path].data[:] = data
    return other


def require_found(questions, files, path, data, turn=None):
    """What was changed is refused or does not matter, and a check names the file."""
    broken = changed(files, path, data)
    outcome = questions.put(broken, turn)
    found = problems(broken)
    assert any(path.name in problem for problem in found), (path.name, outcome)
    return outcome


@EVERY
@pytest.mark.parametrize("kind", KINDS)
def test_every_changed_byte_is_found(small, kind, stride):
    files, _ = small
    questions = Questions(files)
    path = file_of(files, kind)
    whole = bytes(files.names[path].data)
    outcomes = set()
    for place in range(0, len(whole), stride):
        broken = bytearray(whole)
        broken[place] ^= 1 << place % 8 if place % 2 else 0xFF
        outcomes.add(require_found(questions, files, path, broken, place))
    assert outcomes <= ({"refused", "found when asked", "answered"} if kind == "segment" else {"refused"})


@MANY
@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_and_every_appended_byte_is_found(small, kind, stride):
    files, _ = small
    questions = Questions(files)
    path = file_of(files, kind)
    whole = bytes(files.names[path].data)
    for size in range(0, len(whole), stride):
        assert require_found(questions, files, path, whole[:size]) == "refused"
    for more in (b"\0", b"x", b"\0" * 4096, whole, whole[-100:]):
        outcome = require_found(questions, files, path, whole + more)
        assert outcome == ("answered" if kind == "log" else "refused")


def test_what_is_appended_to_a_log_is_reported(small):
    files, _ = small
    path = file_of(files, "log")
    broken = changed(files, path, bytes(files.names[path].data) + b"something")
    with Index.open(FOLDER, disk=MemoryDisk(broken.copy())) as reader:
        assert reader.stats().discarded_bytes == 9
    with pytest.warns(RuntimeWarning, match="9 bytes"):
        writer = Index.open(FOLDER, "w", disk=MemoryDisk(broken))
    assert writer.stats().discarded_bytes == 9
    writer.close()
    assert Questions(files).put(broken) == "answered"
    assert problems(broken) == []


@MANY
def test_the_end_of_a_log_whose_writer_died_is_never_lost_silently(small, stride):
    _, files = small
    path = file_of(files, "log")
    whole = bytes(files.names[path].data)
    before = len(reopen(FOLDER, MemoryDisk(files.copy()), "r"))
    last = ends_of_records(whole)[-2]
    for place in [*range(0, last, stride), *range(last, len(whole), -(-stride // 4))]:
        broken = bytearray(whole)
        broken[place] ^= 1 << place % 8
        found = changed(files, path, broken)
        assert path.name in problems(found.copy())[0]
        if place < last:
            with pytest.raises(StorageDamaged, match=path.name):
                Index.open(FOLDER, "w", disk=MemoryDisk(found))
            continue
        with Index.open(FOLDER, disk=MemoryDisk(found)) as reader:
            assert reader.stats().discarded_bytes == len(whole) - last
            assert len(reader) == before + 1  # the last record removes a document
        with pytest.warns(RuntimeWarning, match="behind its last record"):
            Index.open(FOLDER, "w", disk=MemoryDisk(found)).close()


def ends_of_records(log):
    """Return where the records of a log end."""
    disk = MemoryDisk()
    disk.files.names[ROOT / "log"] = File(log)
    reader = LogReader(disk, ROOT / "log", log[16:32], 0)
    return [reader.tail.end for _ in reader.read()]


# Files that are whole, but not of this moment.


def test_older_files_in_the_place_of_newer_ones():
    """Every file of every earlier moment: it is refused, or the answers stay as they are."""
    disk = MemoryDisk()
    index = create(FOLDER, "minhash", disk)
    moments = []
    for step in script(8, 24, 5):
        if step.does == "reopen":
            index.close()
            index = reopen(FOLDER, disk)
        else:
            step.act(index)
        moments.append(disk.files.copy())
    index._store._memory = 1 << 20  # the log continues
    for number in range(3):
        Step("admit", [f"late {number}"], 900 + number).act(index)
        moments.append(disk.files.copy())
    index.close()
    questions = Questions(disk.files)
    outcomes, met = set(), {(path, bytes(file.data)) for path, file in disk.files.names.items() if file}
    for moment in moments:
        for path, file in moment.names.items():
            if file is None or path.name == "writer.lock" or (path, bytes(file.data)) in met:
                continue
            met.add((path, bytes(file.data)))
            older = disk.files.copy()
            if path not in older.names:
                older.change("create", path, file=file)
            else:
                older.names[path].data[:] = file.data
            outcomes.add((path.name.split("-")[0], questions.put(older)))
    assert ("manifest.json", "refused") in outcomes  # most: the files that they name were removed
    assert ("log", "refused") in outcomes


def test_a_file_that_was_removed_and_one_of_another_index(small):
    files, _ = small
    others, _ = grown("minhash", 11, 6, 3)
    questions = Questions(files)
    for kind in KINDS:
        path = file_of(files, kind)
        gone = files.copy()
        gone.change("remove", path)
        assert questions.put(gone) == "refused"
        assert kind in problems(gone)[0] or "there is nothing at this path" in problems(gone)[0]
        if kind != "manifest":
            foreign = changed(files, path, others.names[file_of(others, kind)].data)
            assert questions.put(foreign) == "refused"


def test_what_a_lock_holds_does_not_matter(small):
    files, _ = small
    assert Questions(files).put(changed(files, FOLDER / "writer.lock", b"anything")) == "answered"


def sampled(files, rng, number):
    """Change any place of any file so many times: a bit, a byte, a page, a cut, something more. Count the outcomes."""
    questions = Questions(files)
    paths = [path for path, file in files.names.items() if file is not None and path.name != "writer.lock"]
    outcomes = Counter()
    for _ in range(number):
        path = rng.choice(paths)
        data = bytearray(files.names[path].data)
        place = rng.randrange(len(data))
        what = rng.choice(["bit", "bit", "byte", "page", "cut", "more"])
        if what == "bit":
            data[place] ^= 1 << rng.randrange(8)
        elif what == "byte":
            data[place] = (data[place] + rng.randrange(1, 256)) % 256
        elif what == "page":
            data[place : place + 4096] = rng.randbytes(len(data[place : place + 4096]))
        elif what == "cut":
            del data[place:]
        else:
            data += rng.randbytes(rng.randrange(1, 100))
        outcomes[require_found(questions, files, path, data)] += 1
    return outcomes


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_changes_of_a_large_index(seed):
    files, _ = grown(("minhash", "simhash")[seed % 2], seed, 60, 60)
    print(sampled(files, random.Random(seed), 12_500))


def test_a_check_while_somebody_writes_finds_nothing():
    disk = MemoryDisk()
    index = create(FOLDER, "minhash", disk)
    steps = iter([step for step in script(3, 200) if step.does != "reopen"])
    looked = 0

    def meet(operation, path):
        nonlocal looked
        looked += 1
        if operation == "map" and looked % 7 == 0:
            next(steps).act(index)

    for _ in range(20):
        next(steps).act(index)
        assert check(FOLDER, MemoryDisk(disk.files, meet)).problems == []
    assert looked > 100
