import pytest

from neardup import Index
from neardup.errors import StorageRefused
from neardup.index.disk.manifest import MANIFEST, SECOND
from neardup.model.errors import StorageBusy, StorageDamaged
from neardup.pipeline.index.rescue import rescue


def test_a_folder_of_others_is_left_as_it_was(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageRefused, match="is not empty: an index needs a folder of its own"):
        Index.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_a_death_in_the_making_left_is_no_hindrance(tmp_path):
    for name in ("log-00000001", "manifest.new", "writer.lock"):
        (tmp_path / name).write_text("half")
    with Index.create(tmp_path) as index:
        index.admit(["a"], ["one two three"])
    with Index.open(tmp_path) as index:
        assert len(index) == 1


def test_an_index_that_lost_its_manifest_is_not_overwritten(tmp_path):
    with Index.create(tmp_path) as index:
        index.admit(["a"], ["one two three"])
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(StorageRefused, match="is not empty"):
        Index.create(tmp_path)
    with pytest.raises(StorageDamaged, match=r"manifest\.json is missing"):
        Index.open(tmp_path)
    (tmp_path / SECOND).unlink()
    before = (tmp_path / "log-00000001").read_bytes()
    with pytest.raises(StorageRefused, match=r"has log-00000001 with documents, but no manifest\.json; restore that"):
        Index.create(tmp_path)
    assert (tmp_path / "log-00000001").read_bytes() == before


def test_one_writer_and_many_readers(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit(["a"], ["one two three"])
        with pytest.raises(StorageBusy):
            Index.open(tmp_path / "index", "w")
        with Index.open(tmp_path / "index") as one, Index.open(tmp_path / "index") as other:
            assert len(one) == len(other) == 1
    Index.open(tmp_path / "index", "w").close()


def test_a_file_that_the_manifest_names_must_be_there(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit(["a"], ["one two three"])
        index.flush()
    for path in (tmp_path / "index").glob("segment-*"):
        path.unlink()
    with pytest.raises(StorageDamaged, match="is missing, although the manifest lists it"):
        Index.open(tmp_path / "index")
    (tmp_path / "index" / MANIFEST).unlink()
    (tmp_path / "index" / SECOND).unlink()
    with pytest.raises(StorageDamaged, match=r"is missing, and so is manifest\.copy; restore one of them from"):
        Index.open(tmp_path / "index")


def test_files_of_others_next_to_an_unfinished_index_stay(tmp_path):
    with Index.create(tmp_path / "damaged") as index:
        index.admit(["a"], ["one two three four"])
    for name in (".unfinished/draft.txt", "log-2024.txt"):
        path = tmp_path / "new" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    with pytest.raises(StorageRefused, match="is not empty"):
        rescue(tmp_path / "damaged", tmp_path / "new")
    assert path.read_text() == "mine"


def test_dated_logs_of_others_are_not_called_a_damaged_index(tmp_path):
    (tmp_path / "log-20240115").write_text("mine")
    with pytest.raises(StorageRefused, match="is not an index"):
        Index.open(tmp_path)
