"""Scripted lives of an index: what is done to it, and what it must answer after each step."""

import json
import os
import random
import subprocess
import sys
import warnings
from collections import defaultdict
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from disks import FOLDER, MemoryDisk

from neardup import Index, MinHash, SimHash, Trials

SCHEMES = {"minhash": MinHash(permutations=8, shingle=2, recall=0.9), "simhash": SimHash(), "trials": Trials()}
MEMORY = 30_000  # bytes, less than a user may choose: so there are flushes and merges all the time
AT = 1_700_000_000
FIELDS = {"version": int, "name": str}
FAST = Path("/dev/shm")  # noqa: S108 - a death of a process leaves there what it leaves on a disk
APART = """
import importlib, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
kills = importlib.import_module(sys.argv[2]).kills
print(json.dumps(kills(pathlib.Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))))
"""


def text(family, variant):
    """Texts of a family are near duplicates of each other, those of one variant equal."""
    words = [f"family{family}word{number}" for number in range(12)]
    return " ".join([*words, f"variant{variant}"])


def fields_of(ids, version):
    """Return the fields of documents, of one version: a number, and a string of it."""
    return {"version": [version] * len(ids), "name": [f"{name}!{version}" for name in ids]}


class Step:
    """One thing done to an index. *does* tells what, with whatever it needs."""

    def __init__(self, does, ids=(), seed=0):
        self.does, self.ids, self.seed = does, list(ids), seed

    def __repr__(self):
        return f"{self.does}({', '.join(self.ids)})"

    @property
    def documents(self):
        """Texts, every other one always the same of its id: so documents come again with other fields only."""
        rng = random.Random(self.seed)
        return [
            text(crc32(name.encode()) % 30, 0) if rng.random() < 0.5 else text(rng.randrange(30), rng.randrange(3))
            for name in self.ids
        ]

    def act(self, index):
        """Do it to an open index; closing and opening is not done here."""
        if self.does == "admit":
            index.admit(self.ids, self.documents, fields_of(self.ids, self.seed), at=AT + self.seed)
        elif self.does == "remove":
            index.remove(self.ids)
        elif self.does == "see":
            index.see(self.ids, at=AT + self.seed)
        else:
            getattr(index, self.does)()


def script(seed, length, most=6):
    """Make up a life: what happens most is that documents are admitted, the old ones again among them."""
    rng = random.Random(seed)
    names = [f"document {number}" for number in range(8 * most)]
    for number in range(1, length + 1):
        does = rng.choices(["admit", "remove", "see", "flush", "compact", "sync", "reopen"], [50, 15, 8, 10, 5, 4, 8])[
            0
        ]
        few = rng.sample(names, rng.randint(1, most)) if does in {"admit", "remove", "see"} else []
        if does == "admit" and rng.random() < 0.2:
            few += few[:2]  # the same id again in one batch makes two steps of it
        yield Step(does, few, number)


@contextmanager
def quiet():
    """Ignore the warning that bytes after the last record were discarded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def create(path, scheme, disk, durability="commit", memory=MEMORY):
    index = Index.create(path, SCHEMES[scheme], fields=FIELDS, durability=durability, disk=disk)
    index._store._memory = memory
    return index


def reopen(path, disk, mode="w", durability="commit", memory=MEMORY):
    with quiet():
        index = Index.open(path, mode, disk=disk, durability=durability)
    index._store._memory = memory
    return index


ASKED = [text(family, 0) for family in range(0, 30, 6)] + [text(99, 0), ""]


def answers(index):
    """Ask an index all there is to ask; what it answers must not depend on how its files lie."""
    ids = list(index.ids())
    documents = index.get([*ids, "nobody"])
    assert len(index) == len(ids)
    assert documents[-1] is None
    assert [document.id for document in documents[:-1]] == ids
    groups = [tuple(index.group(name)) for name in ids[:1]]
    told = [
        (own.id, own.fields["version"], own.representative, own.first_seen, own.changed_at, own.last_seen, told)
        for own, told in zip(documents[:-1], index.admissions(ids), strict=True)
    ]
    require_representatives(index, documents[:-1])
    assert [own.fields["name"] for own in documents[:-1]] == [
        f"{own.id}!{own.fields['version']}" for own in documents[:-1]
    ]
    return (tuple(told), tuple(index.judge(ASKED)), tuple(groups))


def require_representatives(index, documents):
    """Each document has a representative that is kept, as in a fresh index that admits the same in the same order."""
    kept = {own.id: own.representative for own in documents}
    assert {kept[name] for name in kept.values()} == {name for name in kept if kept[name] == name}
    assert index.stats().kept == sum(name == own for name, own in kept.items())
    fresh = fresh_representatives(index.scheme, list(kept), index.signatures(list(kept)))
    assert fresh in (kept, None)


def fresh_representatives(scheme, ids, signatures, known={}):  # noqa: B006 - most lives ask for the same many times
    """Return the representative of each document of a fresh index, or ``None`` if it has oversized buckets."""
    given = scheme, tuple(ids), signatures.rows.tobytes(), signatures.present.tobytes()
    if given not in known:
        with Index.create(FOLDER, scheme, durability="bulk", disk=MemoryDisk()) as fresh:
            fresh.admit(ids, signatures)
            oversized = fresh.stats().oversized_buckets
            known[given] = None if oversized else {own.id: own.representative for own in fresh.get(ids)}
    return known[given]


def read_of(files):
    """Return what opening reads of these files at once, and the names of all."""
    read = [bytes(file.data) for path, file in sorted(files.names.items()) if path.name.startswith(("manifest", "log"))]
    return tuple(sorted(files.names)), tuple(read)


class Moment:
    """What the files were before some operation, and between which of the ``Record``'s answers an index may be then.

    ``least`` is what was acknowledged, ``lasting`` what was acknowledged to outlive a power failure, ``most`` what had
    been begun: positions in ``Record.answers``.
    """

    def __init__(self, files, operation, least, lasting, most):
        self.files, self.operation, self.least, self.lasting, self.most = files, operation, least, lasting, most


class Record:
    """One life with all its moments: each operation on the files, and half of each write.

    ``answers[0]`` is ``None``, which stands for no index.
    """

    def __init__(self, scheme, steps, durability):
        self.scheme, self.durability = scheme, durability
        self.answers = [None]
        self.moments = []
        self._acknowledged = self._lasting = 0
        self._disk = MemoryDisk(meet=self._meet)
        index = self._acted(lambda: create(FOLDER, scheme, self._disk, durability))
        self._end(index, lasting=True)
        for step in steps:
            if step.does == "reopen":
                self._acted(index.close)
                index = self._acted(lambda: reopen(FOLDER, self._disk, durability=durability))
            else:
                self._acted(partial(step.act, index))
            self._end(index, lasting=durability == "commit" or step.does in {"flush", "compact", "sync", "reopen"})
        self._acted(index.close)
        self._note("end")
        self.files = self._disk.files

    def _acted(self, action):
        self._begin = len(self.moments)
        return action()

    def _end(self, index, *, lasting):
        """Note what is answered after a step, and what may be answered in the middle of it."""
        before = None
        for moment in self.moments[self._begin :]:
            now = read_of(moment.files)
            if now != before and FOLDER / "manifest.json" in moment.files.names:
                self._learn(moment.files)
            before = now
        self._learn(self._disk.files)
        assert self.answers[-1] == answers(index)
        self._acknowledged = len(self.answers) - 1
        self._lasting = self._acknowledged if lasting else self._lasting
        for moment in self.moments[self._begin :]:
            moment.most = self._acknowledged

    def _learn(self, files):
        index = reopen(FOLDER, MemoryDisk(files), "r")
        told = answers(index)
        if told != self.answers[-1]:
            self.answers.append(told)

    def _meet(self, operation, _):
        self._note(operation)

    def _note(self, operation):
        now = len(self.answers) - 1
        self.moments.append(Moment(self._disk.files.copy(), operation, self._acknowledged, self._lasting, now))


def some_of_each(operations, most):
    """Return the places of a limited number of operations of each kind, from the first to the last of it."""
    places = defaultdict(list)
    for place, operation in enumerate(operations):
        places[operation].append(place)
    return sorted(place for own in places.values() for place in own[:: -(-len(own) // most)])


def kills_apart(module, number, seed):
    """Let ``kills`` of a module fork and kill its lives in a process of its own; return what it has counted."""
    with TemporaryDirectory(dir=FAST if os.access(FAST, os.W_OK) else None) as folder:
        given = [str(Path(__file__).parent), module, f"{folder}/index", str(number), str(seed)]
        done = subprocess.run([sys.executable, "-c", APART, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return json.loads(done.stdout)
