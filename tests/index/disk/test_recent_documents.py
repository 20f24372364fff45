import numpy as np
from documents import COLUMNS, batch

from neardup.index.disk.columns import Lookup, decoded, encoded
from neardup.index.disk.part import first_with
from neardup.index.disk.postings import Query
from neardup.index.disk.recent_documents import Recent

SALT = np.array([3, 5], np.uint64)


def recent():
    found = Recent(COLUMNS, Lookup(lambda rows, _: rows[:, :1].copy(), position_independent=False), SALT)
    first = batch(4)
    first["rows"] = np.array([[1, 0], [2, 0], [1, 0], [1, 0]], np.uint64)
    first["content"] = np.array([[7, 7], [8, 8], [9, 9], [0, 0]], np.uint64)
    first["equal"] = np.array([[7, 7], [8, 8], [7, 7], [0, 0]], np.uint64)
    first["leads"] = np.array([True, True, False, True])
    first["representative"] = np.array([5, 6, 5, 5])
    hits = found.append(first)
    assert [part.tolist() for part in np.split(hits.documents, hits.bounds[1:-1])] == [[], [], [], [0]]
    return found


def first(part, name, digests, besides):
    return first_with(part, name, digests, digests.any(axis=1), besides).tolist()


def test_what_was_appended_is_found():
    part = recent()
    assert (part.documents, part.kept) == (4, 2)
    assert part.ordinals.tolist() == [5, 6, 7, 8]
    assert part.with_ids(["id 2", "none", "id 0"]).tolist() == [2, -1, 0]
    equals = np.array([[7, 7], [7, 7], [9, 9], [0, 0]], np.uint64)
    assert first(part, "equal", equals, np.array([-1, 0, -1, -1])) == [0, 2, -1, -1]
    contents = np.array([[9, 9], [7, 7], [6, 6], [0, 0]], np.uint64)
    assert first(part, "content", contents, np.full(4, -1)) == [2, 0, -1, -1]
    assert first(part, "content", contents, np.array([2, 0, -1, -1])) == [-1, -1, -1, -1]
    assert decoded(part.strings("id", np.array([3]))) == ["id 3"]
    assert part.kept_by(np.array([5])).tolist() == [2, 3]


def test_what_was_removed_is_not_found():
    part = recent()
    part.remove(np.array([0]))
    assert part.alive.tolist() == [False, True, True, True]
    assert part.with_ids(["id 0", "id 1"]).tolist() == [-1, 1]
    assert first(part, "equal", np.array([[7, 7]], np.uint64), np.array([-1])) == [2]

    def proposed():
        query = Query.of(np.array([[1]], np.uint64), np.array([True]), 64)
        return sorted(part.propose(part.take("rows", np.arange(4)), query).documents.tolist())

    assert proposed() == [3]
    for _ in range(2):  # a log may say it again
        part.change("leads", np.array([2]), np.array([True]))
        assert proposed() == [2, 3]


def test_values_change_in_place():
    part = recent()
    part.change("representative", np.array([2]), np.array([7]))
    assert part.take("representative", np.arange(4)).tolist() == [5, 6, 7, 5]
    assert part.kept == 3


def test_strings_change_too():
    part = recent()
    part.change("field.host", np.array([2, 0]), encoded(["two", "none"]))
    part.append(batch(2))
    assert decoded(part.strings("field.host", np.arange(6))) == ["none", "id 1", "two", "id 3", "id 0", "id 1"]
    assert decoded(part.strings("field.host", np.array([2]), 2)) == ["tw"]


def test_the_work_of_copies_is_that_of_the_rows(monkeypatch):
    """Also if all documents have the same features, with different contents."""
    part = Recent(COLUMNS, Lookup(lambda rows, _: rows[:, :1].copy(), position_independent=False), SALT)
    documents = batch(300)
    documents["content"] = np.arange(1, 601, dtype=np.uint64).reshape(-1, 2)
    documents["equal"] = np.full((300, 2), 1 << 40, np.uint64)
    part.append(documents)
    part.remove(np.arange(0, 300, 3))
    read, take = [], Recent.take
    monkeypatch.setattr(Recent, "take", lambda self, name, at: read.append(len(at)) or take(self, name, at))
    found = first(part, "content", documents["content"], np.full(300, -1))
    assert found == [-1 if place % 3 == 0 else place for place in range(300)]
    assert sum(read) <= 300
