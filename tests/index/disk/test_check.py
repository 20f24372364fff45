from dataclasses import replace

import pytest

from neardup import Index
from neardup.index.disk.arrays import ArraysWriter
from neardup.index.disk.check import check
from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest

TEXTS = ["one two three four", "five six seven eight", "nine ten eleven twelve"]


@pytest.fixture
def folder(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit(["a", "b", "c"], TEXTS)
        index.flush()
        index.remove(["b"])
        index.admit(["d"], ["thirteen fourteen fifteen"])
    return tmp_path / "index"


def test_a_whole_index_has_no_problems(folder):
    said = []
    report = check(folder, Disk(), lambda done, total: said.append((done, total)))
    assert (report.problems, report.documents, report.interrupted) == ([], 3, False)
    assert said[-1][0] == said[-1][1] > 0


def test_what_a_death_left_is_no_damage(folder):
    log = max(folder.glob("log-*"))
    with log.open("ab") as file:
        file.write(b"half a record")
    report = check(folder, Disk())
    assert report.interrupted
    assert "13 bytes behind its last record" in report.problems[0]


@pytest.mark.parametrize("pattern", ["segment-*", "log-*"])
def test_a_missing_file_is_named(folder, pattern):
    lost = max(folder.glob(pattern))
    lost.unlink()
    assert check(folder, Disk()).problems == [f"{lost} is missing"]


def test_segments_in_another_order_are_a_problem(folder):
    with Index.open(folder, "w") as index:
        index.flush()
    manifest = Manifest.read(Disk(), folder)
    replace(manifest, segments=manifest.segments[::-1]).commit(Disk(), folder)
    (problem,) = check(folder, Disk()).problems
    assert "its documents are not in the order of their admission" in problem


def test_a_folder_without_an_index(tmp_path):
    assert "is not an index" in check(tmp_path, Disk()).problems[0]


def test_a_list_that_is_not_sorted_is_found(folder, monkeypatch):
    extend = ArraysWriter.extend

    def unsorted(self, name, parts, kind, shape=()):
        if name == "id.entries":
            parts = [part[:, ::-1] for part in parts]
        extend(self, name, parts, kind, shape)

    monkeypatch.setattr(ArraysWriter, "extend", unsorted)
    with Index.create(folder.with_name("unsorted")) as index:
        index.admit(["a", "b", "c"], TEXTS)
        index.flush()
    assert "the list 'id.entries' is not sorted" in check(folder.with_name("unsorted"), Disk()).problems[0]
