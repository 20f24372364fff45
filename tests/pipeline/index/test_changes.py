import numpy as np
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines

from neardup import Index
from neardup.errors import ParameterError, StorageRefused
from neardup.index.disk import latest_changes
from neardup.pipeline.index.changes import export

STORM = "the storm broke over the harbour at dawn and tore nine roofs from houses by the sea"


def text(family, member):
    return " ".join(f"{word}{family}" for word in STORM.split() * 3) + " x" * (member % 3)


class Mirror:
    """What another engine knows, kept up to date by changes only."""

    def __init__(self):
        self.generation, self.documents = 0, {}

    def update(self, index):
        found = index.changes(self.generation)
        for table in found.documents:
            for row in table.to_pylist():
                self.documents[row["id"]] = (row["representative"], row["changed_at"], row["host"])
        for own in found.removed:
            self.documents.pop(own, None)
        self.generation = found.generation


def truth(index):
    return {one.id: (one.representative, one.changed_at, one.fields["host"]) for one in index.get(list(index.ids()))}


@pytest.mark.parametrize("seed", range(4))
def test_an_engine_is_kept_up_to_date_by_changes(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("neardup.pipeline.index.changes.TOGETHER", 3)
    chosen, often, seldom = np.random.default_rng(seed), Mirror(), Mirror()
    index = Index.create(tmp_path / "seen", texts=True, fields={"host": "string"})
    for step in range(60):
        what = chosen.integers(10)
        ids = [f"d{own}" for own in chosen.choice(40, 4, replace=False)]
        if what < 6:
            texts = [text(int(chosen.integers(6)), int(chosen.integers(3))) for _ in ids]
            index.admit(ids, texts, {"host": [f"h{step}"] * 4}, at=step)
        elif what < 8:
            index.remove(ids)
        elif what == 8:
            index.flush() if step % 2 else index.compact()
        else:
            index.close()
            index = Index.open(tmp_path / "seen", "w")
        often.update(index)
        assert often.documents == truth(index)
        if step % 13 == 12:
            with Index.open(tmp_path / "seen") as reader:
                seldom.update(reader)
            assert seldom.documents == truth(index)
    assert often.generation == index.next_admission
    index.close()


def test_only_what_has_changed_is_returned(tmp_path):
    with Index.create(tmp_path / "seen", texts=True) as index:
        index.admit(["a", "b", "c", "d"], [text(0, 0), text(0, 1), text(1, 0), "something else altogether"])
        first = index.changes()
        assert [table["id"].to_pylist() for table in first.documents] == [["a", "b", "c", "d"]]
        assert (first.generation, first.removed) == (4, [])
        index.see(["c"], at=10**10)
        assert not [len(table) for table in index.changes(4).documents if len(table)]
        index.remove(["a", "c"])
        index.admit(["e"], [text(2, 0)])
        found = index.changes(4)
        rows = [row for table in found.documents for row in table.to_pylist()]
        assert {row["id"]: row["representative"] for row in rows} == {"b": "b", "e": "e"}
        assert (found.generation, sorted(found.removed)) == (5, ["a", "c"])
        index.admit(["a"], ["a heron stands in the reeds of the lake"])
        assert index.changes(4).removed == ["c"]
        for wrong in (-1, 7, "4", True, 2.0):
            with pytest.raises(ParameterError, match="since"):
                index.changes(wrong)


def test_removals_that_are_forgotten_are_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(latest_changes, "MOST", 3)
    with Index.create(tmp_path / "seen") as index:
        index.admit(
            [f"d{number}" for number in range(6)], [f"text {number} of its own {number * 7}" for number in range(6)]
        )
        index.remove(["d0"])
        index.admit(["e"], ["another text"])
        index.remove(["d1", "d2", "d3"])
        index.admit(["f"], ["one more text that is new"])
        index.flush()
        with pytest.raises(
            StorageRefused, match="does not know all changes since 6 any more; take all documents again"
        ):
            index.changes(6)
        assert sorted(index.changes(7).removed) == ["d1", "d2", "d3"]
    with Index.open(tmp_path / "seen") as index:
        with pytest.raises(StorageRefused):
            index.changes(6)
        assert sorted(index.changes(7).removed) == ["d1", "d2", "d3"]
        assert index.changes().removed == []


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_an_export_has_all_columns(tmp_path, ending):
    path = tmp_path / f"documents.{ending}"
    with Index.create(tmp_path / "seen", texts=True, fields={"id": "integer", "host": "string"}) as index:
        for _ in range(2):
            done = export(index, path, 0, force=True)
            assert done == (index.next_admission, len(index), 0)
            index.admit(["a", "b"], [text(0, 0), text(0, 1)], {"id": [1, None], "host": ["h", "i"]}, at=5)
        index.remove(["b"])
        assert export(index, tmp_path / f"later.{ending}", 2, force=False) == (2, 0, 1)

    def rows(path):
        if ending == "parquet":
            return pq.read_table(path).to_pylist()
        return read_lines(path)

    a, b = rows(path)
    assert list(a) == ["id", "representative", "first_seen", "changed_at", "last_seen", "field.id", "host"]
    assert (a["id"], b["id"], a["representative"], b["representative"]) == ("a", "b", "a", "a")
    assert (a["field.id"], b["field.id"], b["host"]) == (1, None, "i")
    (gone,) = rows(tmp_path / f"later.{ending}")
    assert gone == {**dict.fromkeys(gone), "id": "b"}
