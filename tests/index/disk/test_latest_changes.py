import numpy as np
import pytest

from neardup.index.disk import latest_changes
from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.columns import encoded
from neardup.index.disk.files import Disk
from neardup.index.disk.latest_changes import LatestChanges, Removals


def test_removals_are_known_from_a_time_on():
    known = Removals()
    assert not known
    known.add(["a", "b"], 3)
    known.add(["c", "a"], 5)
    assert known
    assert [sorted(known.since(own)) for own in (0, 3, 4, 6)] == [["a", "b", "c"]] * 2 + [["a", "c"], []]
    known.discard(encoded(["a", "x"]))
    assert known.since(0) == ["b", "c"]


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(latest_changes, "MOST", 2)
    known = Removals()
    known.add(["a", "b"], 3)
    assert known.complete_from == 0
    known.add(["c"], 4)
    assert (known.since(0), known.complete_from) == (["b", "c"], 4)


@pytest.mark.parametrize("ids", [[], ["a", "ü", "c" * 500]])
def test_what_is_read_is_what_was_written(tmp_path, ids):
    known = Removals(dict(zip(ids, range(4, 9), strict=False)), 2)
    with ArraysWriter(Disk(), tmp_path / "updates", "removals") as writer:
        known.write(writer)
        writer.finish({})
    found = Removals.of(StoredArrays(Disk(), tmp_path / "updates", "removals"))
    assert (found.since(0), found.complete_from) == (ids, 2)
    assert found.since(5) == ids[1:]


def test_the_documents_that_changed_since_a_step():
    latest = LatestChanges(5)
    assert latest.number == 5
    latest.add(np.array([3, 9]))
    latest.add(np.array([1, 9]))
    assert latest.number == 7
    assert [latest.since(number) if number < 5 else latest.since(number).tolist() for number in (4, 5, 6, 7)] == [
        None,
        [1, 3, 9],
        [1, 9],
        [],
    ]
