import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import Mock
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup import MinHash, dedup_files
from neardup.engines.files import naming
from neardup.model.errors import StorageDamaged, StorageFailed, is_full
from neardup.pipeline.spilled.job import HeldTexts, digest


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5),
        np.empty(0, np.int32),
        np.ones((2, 3)),
        np.zeros((0, 4), np.uint64),
        np.zeros((5, 0), np.uint64),
        np.arange(6, dtype=np.int8).reshape(2, 3).T,
        np.arange(12).reshape(3, 4)[:, ::2],
        np.ones(3, np.bool_),
    ],
)
def test_arrays_are_stored(job_of, sources, array):
    job = job_of(sources)
    stored = {job.name("a.raw"): (array.nbytes, crc32(array.tobytes()))}
    assert job.save("a.raw", array) == job.files("a.raw") == stored
    shape = (-1, *array.shape[1:]) if all(array.shape[1:]) else (len(array), -1)
    found = job.array("a.raw", array.dtype, len(array), shape=shape)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tolist() == array.tolist()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_named_when_an_array_is_saved(job_of, sources, monkeypatch):
    job = job_of(sources)

    @contextmanager
    def full(name):
        with naming(job.journal.folder), Path("/dev/full").open("wb") as file:
            yield file

    monkeypatch.setattr(job.journal, "output", full)
    with pytest.raises(StorageFailed) as raised:
        job.save("a.raw", np.arange(100_000))
    assert is_full(raised.value.__cause__)


def test_mapped_arrays_keep_no_file_open(job_of, sources):
    job = job_of(sources)
    job.save("a.raw", np.arange(500))
    before = len([*Path("/dev/fd").iterdir()])
    found = [job.array("a.raw", np.int64) for _ in range(9)]
    assert len([*Path("/dev/fd").iterdir()]) == before
    assert all(array.sum() == 124750 for array in found)


@pytest.mark.parametrize("shape", [(3, 2), (0, 2)])
def test_an_array_is_written_part_by_part(job_of, sources, shape):
    job = job_of(sources)
    with job.new_array("a.raw", np.uint16, shape) as array:
        array[:2] = 7
    assert job.array("a.raw", np.uint16, shape=(-1, 2)).tolist() == [
        [7 if row < 2 else 0] * shape[1] for row in range(shape[0])
    ]


def test_a_mapped_file_has_its_place_on_the_disk(job_of, sources):
    with job_of(sources).new_array("a.raw", np.uint64, (1 << 18,)) as array:
        assert 512 * os.stat(array.filename).st_blocks >= array.nbytes  # noqa: PTH116


def test_tables_are_stored(job_of, sources):
    job = job_of(sources)
    table = pa.table({"a": ["x", None], "b": [1, 2]})
    job.save_table("t.arrow", table)
    assert job.table("t.arrow").equals(table)


def test_arrays_of_other_sizes_are_damaged(job_of, sources):
    job = job_of(sources)
    job.save("a.raw", np.array([0, 3]))
    job.path("cut.raw").write_bytes(bytes(9))
    assert job.array("a.raw", np.int64, 2).tolist() == [0, 3]
    for wrong in (
        partial(job.array, "a.raw", np.int64, 3),
        partial(job.array, "a.raw", np.int64, shape=(3, -1)),
        partial(job.array, "cut.raw", np.int64),
    ):
        with pytest.raises(StorageDamaged, match="it is damaged, or of another run"):
            wrong()


def test_names_change_with_what_they_depend_on(job_of, sources):
    one = job_of(sources)
    others = [
        job_of(sources, keep="last"),
        job_of(sources, MinHash(threshold=0.8)),
        job_of(sources, verify="estimate"),
        job_of(sources, keep="max:score", columns=["score"]),
        job_of(sources, keep="https"),
    ]
    assert [other.signing == one.signing for other in others] == [True, True, False, False, False]
    assert [other.deciding == one.deciding for other in others] == [False] * 5
    assert one.name("signed-1").startswith(f"signed-{one.signing}/")
    assert one.name("leader_positions.raw").startswith(f"decided-{one.deciding}/")
    assert digest([1, {"a": 2}]) == digest([1, {"a": 2}]) != digest([1, {"a": 3}])


class Piece:
    def __init__(self, size):
        self.texts = pa.chunked_array([np.zeros(size, np.uint8)])


@example([[5, 9], [6]], 10)
@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.integers(0, 40))
def test_shards_are_held_while_all_of_their_texts_fit(shards, room):
    held = HeldTexts(room)
    for shard, sizes in enumerate(shards):
        for _ in range(2):  # reading a shard again changes nothing
            pieces = [Piece(size) for size in sizes]
            assert list(held.holding(shard, iter(pieces))) == pieces
        fits = sum(sizes) <= room
        assert (held.of(shard) is not None) == fits
        if fits:
            assert [len(texts) for texts in held.of(shard)] == sizes
            room -= sum(sizes)


def test_the_answer_is_the_same_without_held_texts(tmp_path, sources, small_parts, no_held_texts):
    small_parts(2000)
    held = dedup_files(sources, work=tmp_path / "w").result
    no_held_texts()
    again = dedup_files(sources, work=tmp_path / "w").result
    assert again.decisions.equals(held.decisions)
    assert again.summary == held.summary


def test_a_file_that_the_system_keeps_is_left_to_the_end_of_the_run(job_of, sources, monkeypatch):
    job = job_of(sources)
    job.save("a.raw", np.arange(5))
    job.save("b.raw", np.arange(5))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", Mock(side_effect=PermissionError(13, "Permission denied")))
        job.remove("a.raw", "b.raw")
    assert job.array("a.raw", np.int64).tolist() == [*range(5)]
    job.remove("a.raw", "b.raw", "c.raw")
    assert not job.path("a.raw").exists()
