"""Saved tables answer as those in memory do, or say what is wrong with their file."""

import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from near_pairs import tuples

from neardup.index.disk.arrays import ArraysWriter
from neardup.index.disk.files import Disk
from neardup.index.hamming import tables_file
from neardup.index.hamming.tables import HammingTables
from neardup.kernels.blocks import BLOCK
from neardup.model.errors import ParameterError, StorageDamaged, StorageError, StorageFailed, StorageRefused
from neardup.model.tables import TableDesign

CHOICES = [design for distance in (0, 1, 3, 7) for design in TableDesign.choices(distance)]
LARGE_CODE = 4096
COMPRESSED = pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])


def population(number, *, distinct=False):
    """Random fingerprints; the end of them near or equal to their beginning."""
    random = np.random.default_rng(number)
    fingerprints = random.integers(0, 2**64, number, np.uint64)
    some = number // 4
    fingerprints[-some:] = fingerprints[:some] ^ (np.uint64(1) << random.integers(0, 64, some, np.uint64))
    if not distinct:
        fingerprints[-some // 2 :] = fingerprints[: len(fingerprints[-some // 2 :])]
    return fingerprints


def built(number, compressed, design=None, *, distinct=False):
    fingerprints = population(number, distinct=distinct)
    design = design or TableDesign.choose(distance=3, fingerprints=number)
    return fingerprints, HammingTables.build(fingerprints, design.distance, design, compressed=compressed)


@COMPRESSED
@pytest.mark.parametrize("design", CHOICES, ids=str)
def test_what_is_opened_answers_as_what_was_saved(tmp_path, design, compressed):
    fingerprints, tables = built(300, compressed, design)
    tables.save(tmp_path / "tables")
    opened = HammingTables.open(tmp_path / "tables")
    assert (opened.design, opened.compressed, len(opened)) == (design, compressed, 300)
    queries = np.concatenate([fingerprints[::16], ~fingerprints[:9]])
    assert tuples(opened.lookup(queries)) == tuples(tables.lookup(queries))
    assert tuples(opened.lookup(queries, first=1)) == tuples(tables.lookup(queries, first=1))
    assert opened.count(queries).tolist() == tables.count(queries).tolist()
    assert tuples(opened.self_join()) == tuples(tables.self_join())
    assert tuples(opened.join(queries)) == tuples(tables.join(queries))
    assert tuples(HammingTables.build(queries, design.distance, design).join(opened)) == [
        *sorted((there, here, distance) for here, there, distance in tuples(tables.join(queries)))
    ]
    assert opened.nbytes == tables.nbytes
    opened.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "tables").read_bytes()
    redesigned = opened.redesigned(TableDesign(kind="probes", distance=2, pieces=3))
    del opened
    (tmp_path / "tables").unlink()
    assert tuples(redesigned.self_join()) == tuples(HammingTables.build(fingerprints, 2).self_join())


@COMPRESSED
@pytest.mark.parametrize("number", [0, 1])
def test_none_and_one(tmp_path, number, compressed):
    fingerprints = np.arange(number, dtype=np.uint64)
    HammingTables.build(fingerprints, compressed=compressed).save(tmp_path / "tables")
    opened = HammingTables.open(str(tmp_path / "tables"))
    assert tuples(opened.lookup(np.array([1], np.uint64))) == [(0, 0, 1)] * number
    assert tuples(opened.self_join()) == []


@COMPRESSED
def test_large_buckets_are_read_as_they_were_saved(tmp_path, compressed):
    """All in one bucket, so that the leading bits are searched for."""
    values = np.uint64(0x0123456789ABCDEF) ^ np.random.default_rng(1).integers(0, 2**24, 2000, np.uint64)
    for design in TableDesign.choices(3):
        tables = HammingTables.build(values, 3, design, compressed=compressed)
        (tmp_path / "tables").unlink(missing_ok=True)
        tables.save(tmp_path / "tables")
        assert tuples(HammingTables.open(tmp_path / "tables").lookup(values[::40])) == tuples(
            tables.lookup(values[::40])
        )


def answers(path, queries):
    """Ask everything, each of a fresh index, so that no question finds blocks verified by another."""
    yield tuples(HammingTables.open(path).lookup(queries))
    yield HammingTables.open(path).count(queries).tolist()
    yield tuples(HammingTables.open(path).self_join())
    yield tuples(HammingTables.open(path).join(queries))


@pytest.mark.parametrize(
    ("compressed", "distinct"),
    [
        (False, False),
        (True, True),
        *(pytest.param(*both, marks=pytest.mark.soak) for both in ((False, True), (True, False))),
    ],
)
def test_every_changed_byte_is_found_or_changes_nothing(tmp_path, compressed, distinct):
    """A byte that no lookup of these queries needs may go unnoticed by it, a wrong answer may not be given.

    Each byte (some of a compressed file) is changed for what reads everything, every fifth for a lookup, and the next
    one for a count.
    """
    fingerprints, tables = built(40, compressed, distinct=distinct)
    tables.save(tmp_path / "a")
    expected = list(answers(tmp_path / "a", fingerprints))
    assert expected[0]
    original = (tmp_path / "a").read_bytes()
    (tmp_path / "b").write_bytes(original)
    for place in range(len(original)):
        if compressed and place % (191 if LARGE_CODE <= place < len(original) - LARGE_CODE else 3):
            continue  # most of the file is four tables of codes, which are verified on opening
        with changed(tmp_path / "b", place):
            with pytest.raises(StorageError, match=str(tmp_path / "b")):
                HammingTables.open(tmp_path / "b").self_join()  # reads everything
            for number, ask in enumerate((HammingTables.lookup, HammingTables.count)):
                if place % 5 != number:
                    continue
                try:
                    found = ask(HammingTables.open(tmp_path / "b"), fingerprints)
                except StorageDamaged:
                    continue
                assert (tuples(found) if number == 0 else found.tolist()) == expected[number]
    assert (tmp_path / "b").read_bytes() == original


@contextmanager
def changed(path, place):
    """Change a byte of a file, and change it back."""
    with path.open("r+b", buffering=0) as file:

        def flip():
            (byte,) = os.pread(file.fileno(), 1, place)
            os.pwrite(file.fileno(), bytes([byte ^ 1 << place % 8]), place)

        flip()
        yield
        flip()


@COMPRESSED
def test_a_damaged_block_is_found_by_the_lookup_that_needs_it(tmp_path, compressed):
    """Of each block of a larger file, a change is found by some lookup, and no lookup is wrong."""
    fingerprints, tables = built(20_000, compressed)
    tables.save(tmp_path / "a")
    queries = fingerprints[::200]
    expected = tuples(tables.lookup(queries))
    original = (tmp_path / "a").read_bytes()
    size = sum(array.nbytes for array in tables._entries[1:]) // BLOCK * BLOCK
    right = 0
    random = np.random.default_rng(1)
    for place in random.integers(0, size, 20).tolist():
        broken = bytearray(original)
        broken[place] ^= 16
        (tmp_path / "b").write_bytes(broken)
        with pytest.raises(StorageDamaged, match=f"the block at byte {place // BLOCK * BLOCK:,} is damaged"):
            HammingTables.open(tmp_path / "b").lookup(fingerprints)
        try:
            opened = HammingTables.open(tmp_path / "b")
        except StorageDamaged:  # what is small is verified on opening
            continue
        damaged = 0
        for query in range(len(queries)):
            try:
                found = tuples(opened.lookup(queries[query : query + 1]))
            except StorageDamaged:
                damaged += 1
                continue
            assert found == [(0, *match) for number, *match in expected if number == query]
            right += 1
        assert damaged
    assert right > 500


@COMPRESSED
def test_truncated_and_appended_files_are_refused(tmp_path, compressed):
    _, tables = built(40, compressed)
    tables.save(tmp_path / "a")
    original = (tmp_path / "a").read_bytes()
    cut = [original[:size] for size in range(0, len(original), 41)]
    for broken in [*cut, original[:-1], original + b"\0", original + original, b"x" * 500]:
        (tmp_path / "b").write_bytes(broken)
        with pytest.raises(StorageDamaged, match=str(tmp_path / "b")):
            HammingTables.open(tmp_path / "b")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StorageRefused, match=r"is a folder; to open a folder of shards, use ShardedTables\.open"):
        HammingTables.open(tmp_path)


MUTATE = """
    import sys
    import numpy as np
    from neardup.index.hamming.tables import HammingTables
    from neardup.model.errors import StorageError

    path, seed = sys.argv[1], int(sys.argv[2])
    original = bytearray(open(path, "rb").read())
    fingerprints = np.load(path + ".npy")
    random = np.random.default_rng(seed)
    expected = HammingTables.open(path).lookup(fingerprints)
    found = 0
    for _ in range(60):
        broken = bytearray(original)
        for _ in range(random.integers(1, 9)):
            begin = random.integers(0, len(broken))
            what = random.integers(0, 4)
            if what == 0:
                broken[begin] = random.integers(0, 256)
            elif what == 1:
                broken[begin : begin + 8] = random.bytes(8)
            elif what == 2:
                del broken[begin : begin + random.integers(1, 100)]
            else:
                broken[begin:begin] = broken[: random.integers(1, 100)]
        with open(path + ".broken", "wb") as file:
            file.write(broken)
        try:
            answer = HammingTables.open(path + ".broken").lookup(fingerprints)
            assert all((one == other).all() for one, other in zip(answer, expected))
            HammingTables.open(path + ".broken").self_join()
        except StorageError:
            found += 1
    print(found)
"""


@COMPRESSED
def test_no_mutated_file_ends_the_process(tmp_path, compressed):
    fingerprints, tables = built(100, compressed)
    tables.save(tmp_path / "a")
    np.save(tmp_path / "a.npy", fingerprints)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MUTATE), str(tmp_path / "a"), "7"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) >= 59  # a change may write what was there


def rewritten(path, change):
    """Write a file again with other arrays or another description, and valid checksums."""
    stored = tables_file.StoredArrays(Disk(), path, tables_file.KIND)
    arrays = {name: stored.whole(name) for name in stored.names}
    meta = json.loads(json.dumps(stored.meta))
    change(SimpleNamespace(arrays=arrays, meta=meta))
    path.unlink()
    with ArraysWriter(Disk(), path, tables_file.KIND) as writer:
        for name, array in arrays.items():
            writer.add(name, array)
        writer.finish(meta)


CHANGES = {
    "another number": lambda file: file.meta.update(values=file.meta["values"] + 1),
    "a number that is none": lambda file: file.meta.update(values="all"),
    "more buckets": lambda file: file.meta.update(bucket_bits=file.meta["bucket_bits"] + 1),
    "far too many buckets": lambda file: file.meta.update(bucket_bits=2**40),
    "negative buckets": lambda file: file.meta.update(bucket_bits=-1),
    "no design": lambda file: file.meta.pop("design"),
    "another design": lambda file: file.meta["design"].update(pieces=6),
    "a design of the future": lambda file: file.meta["design"].update(kind="rings"),
    "a design with more to it": lambda file: file.meta["design"].update(rings=2),
    "the other way of writing": lambda file: file.meta.update(compressed=not file.meta["compressed"]),
    "an array too many": lambda file: file.arrays.update(more=file.arrays["positions"]),
    "an array too few": lambda file: file.arrays.pop("bounds"),
    "other types": lambda file: file.arrays.update(starts=file.arrays["starts"].astype(np.int32)),
    "another shape": lambda file: file.arrays.update(starts=file.arrays["starts"][..., np.newaxis]),
    "fewer positions": lambda file: file.arrays.update(
        bounds=file.arrays["bounds"][:0], positions=file.arrays["positions"][:3]
    ),
    "fewer bounds": lambda file: file.arrays.update(bounds=file.arrays["bounds"][:-1]),
}


@COMPRESSED
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_arrays_that_do_not_fit_their_design_are_refused(tmp_path, change, compressed):
    _, tables = built(40, compressed)
    tables.save(tmp_path / "a")
    rewritten(tmp_path / "a", lambda _: None)
    HammingTables.open(tmp_path / "a").self_join()
    rewritten(tmp_path / "a", change)
    with pytest.raises(StorageDamaged, match=str(tmp_path / "a")):
        HammingTables.open(tmp_path / "a")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(StorageRefused, match="nowhere is not there"):
        HammingTables.open(tmp_path / "nowhere")
    with pytest.raises(StorageError):
        HammingTables.open(tmp_path)
    with ArraysWriter(Disk(), tmp_path / "letters", "letters") as writer:
        writer.finish({})
    with pytest.raises(StorageRefused, match="holds letters, but fingerprint tables was wanted"):
        HammingTables.open(tmp_path / "letters")


def test_a_newer_format_is_refused(tmp_path, monkeypatch):
    _, tables = built(40, False)
    monkeypatch.setattr("neardup.index.disk.arrays.FORMAT", 2)
    tables.save(tmp_path / "a")
    monkeypatch.undo()
    with pytest.raises(StorageRefused, match="is of format 2, newer than the 1"):
        HammingTables.open(tmp_path / "a")


def test_what_exists_is_not_replaced(tmp_path):
    _, tables = built(40, False)
    (tmp_path / "a").write_text("mine")
    with pytest.raises(StorageRefused, match="exists already"):
        tables.save(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "mine"
    with pytest.raises(StorageRefused, match="is not a folder"):
        tables.save(tmp_path / "nowhere" / "a")
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_what_was_not_finished_has_no_name(tmp_path, monkeypatch):
    _, tables = built(40, False)

    monkeypatch.setattr(Disk, "_write", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(StorageFailed, match="No space left"):
        tables.save(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "a.unfinished").write_text("from a run that was ended")
    tables.save(tmp_path / "a")
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_threads_may_share_an_opened_index(tmp_path):
    fingerprints, tables = built(20_000, False)
    tables.save(tmp_path / "a")
    opened = HammingTables.open(tmp_path / "a")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(opened.count, np.split(fingerprints, 40)))
    assert np.concatenate(found).tolist() == tables.count(fingerprints).tolist()


@pytest.mark.parametrize("content", [b"", b"x", b"another kind of file" * 100])
def test_a_file_of_another_program_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(StorageDamaged, match="file"):
        HammingTables.open(tmp_path / "x")
    with pytest.raises(ParameterError, match="path=5 must be a path"):
        HammingTables.open(5)


def forgeries(array):
    """Return the name of a change, and the changed array."""
    most = np.iinfo(array.dtype).max
    flat = array.reshape(-1)
    yield "least", np.zeros_like(array)
    yield "one", np.full_like(array, 1)
    yield "most", np.full_like(array, most)
    yield "sign", np.full_like(array, most // 2 + 1)
    yield "code of no bits", np.full_like(array, min(1 << 8, most))
    yield "reversed", flat[::-1].reshape(array.shape)
    yield (
        "back and forth",
        np.where(np.arange(flat.size) % 2, flat.max(initial=0), 0).astype(array.dtype).reshape(array.shape),
    )
    if flat.size:
        for place in (0, flat.size // 2, flat.size - 1):
            for value in (0, len(flat), most):
                changed = flat.copy()
                changed[place] = min(value, most)
                yield f"{value} at {place}", changed.reshape(array.shape)


def forged_files(path, compressed):
    """Write files with one forged array each, and right checksums."""
    _, tables = built(300, compressed)
    entries, lists = tables._entries, tables._lists
    for name, array in (entries._asdict() | lists._asdict()).items():
        for how, forged in forgeries(array) if name != "bucket_bits" else ():
            path.unlink(missing_ok=True)
            own = {name: forged}
            if name in lists._fields:
                HammingTables(tables.design, entries, lists._replace(**own)).save(path)
            elif compressed and name == "starts" and forged[-1] != entries.number:
                continue  # the file would have another number
            else:
                HammingTables(tables.design, entries._replace(**own), lists).save(path)
            yield f"{name}: {how}"


@COMPRESSED
def test_forged_arrays_are_refused_or_answered(tmp_path, compressed):
    """Checksums cannot find what was forged: answers may be wrong, but positions and queries are among the given."""
    path = tmp_path / "tables"
    fingerprints, _ = built(300, compressed)
    queries = np.concatenate([fingerprints, fingerprints ^ np.uint64(1 << 40 | 1)])
    there = np.arange(len(fingerprints)) % 2 == 0
    refused = set()

    def ask(action):
        try:
            return action(HammingTables.open(path))
        except StorageDamaged as error:
            assert str(path) in str(error)  # noqa: PT017 - it may answer instead
            refused.add(forgery.partition(":")[0])
            return None

    for forgery in forged_files(path, compressed):
        for arguments in ((), (1,), (3, there)):
            found = ask(lambda tables, arguments=arguments: tables.lookup(queries, *arguments))
            assert found is None or found[0].max(initial=0) < len(queries), forgery
            assert found is None or found[1].max(initial=0) < len(fingerprints), forgery
        ask(lambda tables: tables.count(queries))
        joined = ask(HammingTables.self_join)
        assert joined is None or max(map(np.max, joined[:2]), default=0) < len(fingerprints), forgery
        ask(lambda tables: tables.redesigned(TableDesign(kind="probes", distance=2, pieces=3)))
    expected = {"stream", "bases", "offsets", "lengths", "starts"} if compressed else {"starts", "lows", "highs"}
    assert refused == {*expected, "positions", "bounds"}
