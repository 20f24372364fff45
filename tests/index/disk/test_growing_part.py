import numpy as np
import pytest
from documents import COLUMNS, batch

from neardup.index.disk.columns import Lookup, decoded
from neardup.index.disk.files import Disk
from neardup.index.disk.growing_part import GrowingPart
from neardup.index.disk.postings import Query
from neardup.index.disk.segment import Segment, write_segment

LOOKUP = Lookup(lambda rows, _: rows[:, :1].copy(), position_independent=False)
HIGH = np.uint64(40)  # low bits of keys are replaced in lists
SALT = np.array([3, 5], np.uint64)


def gathered():
    part = GrowingPart(COLUMNS, LOOKUP, SALT)
    first, second = batch(4), batch(3)
    first["rows"] = np.array([[1, 0], [2, 0], [1, 0], [3, 0]], np.uint64) << HIGH
    second["rows"] = second["rows"] << HIGH
    for name in ("ordinal", "representative"):
        second[name] = second[name] + 4
    part.extend(first)
    part.extend(second)
    return part


def test_documents_are_gathered_in_order():
    part = gathered()
    assert (part.documents, part.alive.all(), part.ordinals.tolist()) == (7, True, [*range(5, 12)])
    assert part.take("rows", np.array([3, 1]))[:, 0].tolist() == [3 << 40, 2 << 40]
    assert decoded(part.strings("text", np.array([6, 1]))) == ["id 2", "id 1"]
    before = part.nbytes
    part.extend(batch(100))
    assert part.nbytes > before


def test_reserved_memory_is_not_replaced_as_documents_are_added():
    part = gathered()
    part.reserve(17)
    before, place = part.nbytes, part.ordinals.ctypes.data
    part.extend(batch(10))
    assert (part.documents, part.nbytes, part.ordinals.ctypes.data) == (17, before, place)
    assert decoded(part.strings("id", np.array([0, 16]))) == ["id 0", "id 9"]


@pytest.mark.parametrize("position_independent", [False, True])
def test_lists_are_by_document_unless_keys_count_in_any_column(position_independent):
    part = GrowingPart(COLUMNS, LOOKUP._replace(position_independent=position_independent), SALT)
    some = batch(3)
    some["rows"] = np.array([[3, 0], [1, 0], [2, 0]], np.uint64) << HIGH
    part.extend(some)
    entries = part.packed("key", 0, 2, np.array([0, -1, 1]))
    numbers = (entries & np.uint64(3)).tolist()
    assert (part.by_document("key"), numbers) == ((False, [1, 0]) if position_independent else (True, [0, 1]))
    assert part.by_document("id")
    assert (part.packed("id", 0, 2, np.arange(3)) & np.uint64(3)).tolist() == [0, 1, 2]


def test_they_are_found_in_a_segment(tmp_path):
    path = tmp_path / "segment-00000001"
    disk = Disk()
    stored = write_segment(disk, path, COLUMNS, [gathered()], LOOKUP)
    segment = Segment(disk, path, COLUMNS, stored, LOOKUP)
    assert (segment.documents, segment.kept, segment.first, segment.last) == (7, 7, 5, 11)
    query = Query.of(np.array([[1], [3]], np.uint64) << HIGH, np.array([True, True]), 64)
    hits = segment.propose(np.zeros((2, 2), np.uint64), query)
    assert hits.documents.tolist() == [0, 2, 4, 5, 6, 3]
    assert hits.bounds.tolist() == [0, 5, 6]
