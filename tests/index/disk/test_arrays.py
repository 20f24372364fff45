import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.arrays import ArraysWriter, StoredArrays, understood
from neardup.index.disk.files import Disk
from neardup.kernels.blocks import BLOCK
from neardup.model.errors import StorageDamaged, StorageError, StorageFailed, StorageRefused

WORDS = ["", "a", "née", "x" * 5000, "z"]


def write(path, number=3000, words=WORDS):
    with ArraysWriter(Disk(), path, "numbers") as writer:
        writer.add("squares", np.arange(number, dtype=np.uint64) ** 2)
        writer.extend("rows", (np.full((part, 3), part, np.uint32) for part in (0, 1, 700)), np.uint32, (3,))
        writer.add("none", np.empty(0, np.int64))
        data = b"".join(word.encode() for word in words)
        writer.add("word.data", np.frombuffer(data, np.uint8))
        writer.add("word.offsets", np.cumsum([0, *(len(word.encode()) for word in words)]))
        return writer.finish({"number": number})


def opened(path, stored=None):
    return StoredArrays(Disk(), path, "numbers", stored)


def test_too_little_memory_is_not_called_damage(tmp_path):
    with pytest.raises(StorageFailed, match="a cannot be read: there is not enough memory"), understood(tmp_path / "a"):
        raise MemoryError


def test_what_is_read_is_what_was_written(tmp_path):
    stored = write(tmp_path / "a")
    assert stored.size == (tmp_path / "a").stat().st_size
    arrays = opened(tmp_path / "a", stored)
    assert arrays.meta == {"number": 3000}
    assert arrays.whole("squares").tolist() == [n * n for n in range(3000)]
    assert arrays.slice("rows", 2, 5).tolist() == [1, 700, 700]
    assert arrays.take("squares", np.array([5, 2999, 0])).tolist() == [25, 2999**2, 0]
    assert len(arrays.whole("none")) == 0
    assert "none" in arrays
    assert "some" not in arrays
    words = arrays.strings("word", np.array([3, 0, 2]))
    assert [words.bytes_at(place).decode() for place in range(3)] == [WORDS[3], "", "née"]
    assert [*arrays.damaged()] == []


@given(sizes=st.lists(st.integers(0, 3 * BLOCK), max_size=6))
def test_parts_of_any_size_make_the_same_file(tmp_path_factory, sizes):
    folder = tmp_path_factory.mktemp("parts")
    whole = np.arange(sum(sizes), dtype=np.uint32).astype(np.uint8)
    parts = np.split(whole, np.cumsum(sizes))[: len(sizes)]
    for name, given_parts in (("one", [whole]), ("many", parts)):
        with ArraysWriter(Disk(), folder / name, "numbers") as writer:
            writer.extend("bytes", given_parts, np.uint8)
            writer.finish({})
    assert (folder / "one").read_bytes() == (folder / "many").read_bytes()
    assert opened(folder / "one").whole("bytes").tolist() == whole.tolist()


def detected(path, stored):
    """Return whether opening is refused, or the check finds a block that reading refuses."""
    try:
        arrays = opened(path, stored)
    except StorageError:
        return True
    block, _ = next(arrays.damaged())
    reached = [name for name in arrays.names if arrays.begin(name) < block + BLOCK and len(arrays[name])]
    for name in reached:
        if arrays.begin(name) + arrays[name].nbytes > block:
            with pytest.raises(StorageDamaged, match="is damaged"):
                arrays.whole(name)
    return True


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_every_changed_byte_is_detected(tmp_path, stride):
    stored = write(tmp_path / "a", 20, WORDS[:3])
    original = (tmp_path / "a").read_bytes()
    for place in range(0, len(original), stride):
        broken = bytearray(original)
        broken[place] ^= 1 << place % 8
        (tmp_path / "b").write_bytes(broken)
        assert detected(tmp_path / "b", stored)


@pytest.mark.parametrize("stored", [True, False])
def test_every_truncation_and_appended_bytes_are_detected(tmp_path, stored):
    known = write(tmp_path / "a", 20)
    original = (tmp_path / "a").read_bytes()
    cut = [original[:size] for size in range(0, len(original), 7)]
    for broken in [*cut, original + b"\0", original + original[-40:], b"", b"x" * 100]:
        (tmp_path / "b").write_bytes(broken)
        with pytest.raises(StorageDamaged):
            opened(tmp_path / "b", known if stored else None)


def test_another_kind_and_another_file_are_refused(tmp_path):
    stored = write(tmp_path / "a", 20)
    with pytest.raises(StorageRefused, match="holds numbers, but letters was wanted"):
        StoredArrays(Disk(), tmp_path / "a", "letters", stored)
    write(tmp_path / "b", 20)
    with pytest.raises(StorageDamaged, match="another file"):
        opened(tmp_path / "b", stored._replace(checksum=1))


def test_a_file_is_written_once(tmp_path):
    write(tmp_path / "a")
    with pytest.raises(StorageFailed, match="exists"):
        write(tmp_path / "a")
