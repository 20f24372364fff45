"""The store of an index, opened to write."""

import gc
import weakref

import pytest

from neardup import Index, SimHash
from neardup.errors import StorageError, StorageRefused
from neardup.index.disk import store
from neardup.index.disk.files import Disk
from neardup.index.disk.reader import Reader


def test_a_closed_store_is_refused(tmp_path):
    index = Index.create(tmp_path / "index")
    index.close()
    for question in (lambda: index.judge(["a"]), lambda: len(index), index.flush):
        with pytest.raises((StorageError, ValueError)):
            question()


def titled(index, ids, texts, title):
    return index.visit(ids, texts, {"title": [f"{title} {own}" for own in ids]})


@pytest.mark.parametrize("then", ["replay", "flush", "compact"])
def test_changed_fields_stay(tmp_path, then):
    """Whatever becomes of the files: the log is read again, updates are written, segments are merged."""
    ids, texts = ["a", "b", "c"], ["one text", "quite another one", "and the third of them"]
    with (
        Index.create(tmp_path / "index", SimHash(), fields={"title": str}) as index,
        Index.open(tmp_path / "index") as reader,
    ):
        titled(index, ids[:2], texts[:2], "old")
        index.flush()
        titled(index, ids[2:], texts[2:], "old")
        titled(index, ids[1:], texts[1:], "new")
        if then != "replay":
            getattr(index, then)()
        expected = ["old a", "new b", "new c"]
        assert reader.refresh()
        for one in (index, reader):
            assert one.values("title", ids) == expected
            assert one.store.field_changes.number == 1
        titled(index, ids[1:2], texts[1:2], "newer")
        assert reader.refresh()
        assert reader.values("title", ids) == ["old a", "newer b", "new c"]
        index.copy(tmp_path / "copy")
    for name in ("index", "copy"):
        with Index.open(tmp_path / name, "w") as index:
            assert index.values("title", ids) == ["old a", "newer b", "new c"]
            assert index.store.field_changes.number == 2
            assert index.check().problems == []


def test_a_writer_syncs_the_names_that_the_last_one_may_have_left(tmp_path, monkeypatch):
    Index.create(tmp_path / "index").close()
    synced = []
    monkeypatch.setattr(Disk, "sync_folder", lambda _, path: synced.append(path))
    with Index.open(tmp_path / "index", "w"):
        assert synced == [tmp_path / "index"]


def test_opening_a_closed_index_repeats_a_limited_number_of_records(tmp_path, monkeypatch):
    """Records of single documents take as long as those of many."""
    monkeypatch.setattr(store, "REPLAYED_RECORDS", 3)
    with Index.create(tmp_path / "index", SimHash()) as index:
        for number in range(4):
            index.admit([str(number)], [f"text number {number}"])
    repeated = []
    monkeypatch.setattr(Reader, "_repeat", lambda _, record: repeated.append(record))
    with Index.open(tmp_path / "index") as index:
        assert len(index) == 4
    assert repeated == []


@pytest.mark.parametrize("path", [None, "index"], ids=["in memory", "on disk"])
def test_a_closed_index_holds_neither_memory_nor_files(tmp_path, path):
    index = Index.create(path and tmp_path / path, SimHash(), texts=True)
    index.admit(["a"], ["some text"])
    index.flush()
    index.admit(["b"], ["other text"])
    parts = [weakref.ref(part) for part in index.store.parts]
    index.close()
    gc.collect()
    assert [part() for part in parts] == [None, None]
    assert path or not index.store.disk.names(index.store.folder)


def test_an_index_that_another_thread_closes_has_no_length(monkeypatch):
    index = Index.create(None, SimHash())
    monkeypatch.setattr(Reader, "parts", property(lambda _: index.close() or []))
    with pytest.raises(StorageRefused, match="is closed"):
        len(index)


@pytest.mark.parametrize("again", [False, True], ids=["admitted", "seen again"])
def test_the_log_of_a_writer_has_a_limited_number_of_records(tmp_path, monkeypatch, again):
    """An index that is being written, or whose writer was killed, opens after few records, too."""
    monkeypatch.setattr(store, "MOST_RECORDS", 3)
    repeated = []
    monkeypatch.setattr(Reader, "_repeat", lambda _, record: repeated.append(record))
    with Index.create(tmp_path / "index", SimHash()) as index:
        for number in range(10):
            index.visit([str(number % 2 if again else number)], ["some text" if again else f"text number {number}"])
            repeated.clear()
            Index.open(tmp_path / "index").close()
            assert len(repeated) <= 3
        assert len(index) == (2 if again else 10)


@pytest.mark.parametrize("flushed", [False, True])
def test_a_session_keeps_its_beginning_when_later_ones_are_closed(tmp_path, flushed):
    Index.create(tmp_path / "index", SimHash()).close()
    for text in ("one text", "quite another one", "and the third of them"):
        with Index.open(tmp_path / "index", "w") as index:
            index.admit([text], [text])
            if flushed:
                index.flush()
    with Index.open(tmp_path / "index") as index:
        assert [session.ordinal for session in index.store.sessions] == [0, 1, 2]
        assert index.store.next_ordinal == 3


def test_changed_strings_of_segments_take_no_more_memory_than_is_allowed(tmp_path):
    number, memory = 2000, 1 << 20
    ids, texts = [f"d{row}" for row in range(number)], [f"word{row} number{row}" for row in range(number)]
    path = tmp_path / "index"
    with Index.create(path, SimHash(), fields={"title": str}, durability="bulk", memory=memory) as index:
        for turn in range(8):
            titled(index, ids, texts, f"{turn}" * 300)
            index.store.commit()
            assert sum(segment.changed_bytes for segment in index.store.segments) <= memory
        assert index.store.field_changes.number == 7
        assert index.values("title", ids[::500]) == [f"{'7' * 300} d{row}" for row in range(0, number, 500)]
        assert len(index) == index.store.next_ordinal == number
        index.flush()
        index.store.commit()
        assert sum(segment.changed_bytes for segment in index.store.segments) <= memory // 4
