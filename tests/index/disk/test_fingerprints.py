"""Tables in a file of documents against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.fingerprints import NearbyTables, write_tables
from neardup.model.tables import TableDesign

FINGERPRINTS = st.integers(0, 2**12 - 1)  # many are near
DESIGN = TableDesign(kind="blocks", distance=2, pieces=4)


def stored(path, fingerprints):
    with ArraysWriter(Disk(), path, "documents") as writer:
        meta = write_tables(writer, np.array(fingerprints, np.uint64), lambda _: DESIGN)
        writer.finish({"tables": meta})
    arrays = StoredArrays(Disk(), path, "documents")
    return NearbyTables(arrays, arrays.meta["tables"])


def near(one, other):
    return (one ^ other).bit_count() <= DESIGN.distance


@given(
    documents=st.lists(st.tuples(FINGERPRINTS, st.booleans()), min_size=1, max_size=20),
    queries=st.lists(st.tuples(FINGERPRINTS, st.booleans()), max_size=5),
    some=st.booleans(),
    room=st.integers(1, 4),
)
def test_finds_the_first_documents_that_are_near(tmp_path_factory, documents, queries, some, room):
    fingerprints, there = zip(*documents, strict=True)
    tables = stored(tmp_path_factory.mktemp("near") / "a", fingerprints)
    asked = np.array([query for query, _ in queries], np.uint64)
    asking = np.array([asks for _, asks in queries], np.bool_)
    hits = tables.find(asked, asking, np.array(there, np.bool_) if some else None, room)
    for row, (query, asks) in enumerate(queries):
        found = [
            number
            for number, own in enumerate(fingerprints)
            if asks and near(own, query) and (there[number] or not some)
        ]
        assert hits.documents[hits.bounds[row] : hits.bounds[row + 1]].tolist() == found[:room]


@pytest.mark.parametrize("members", [3, 4, 500])
def test_a_crowd_is_counted(tmp_path, members):
    tables = stored(tmp_path / "a", [7] * members)
    hits = tables.find(np.array([7], np.uint64), np.ones(1, np.bool_), None, 3)
    assert hits.documents.tolist() == [0, 1, 2]
    assert hits.oversized == (members > 3)
