import sqlite3
from datetime import UTC, datetime

import pytest

from neardup.errors import StorageDamaged
from neardup.index import fetches
from neardup.index.fetches import Fetches
from neardup.model.seen import Fetch


def at(seconds):
    return datetime.fromtimestamp(seconds, UTC)


@pytest.fixture(params=["folder", "memory"])
def folder(request, tmp_path):
    return tmp_path if request.param == "folder" else None


def test_the_last_answer_of_each_page_is_remembered(folder):
    known = Fetches(folder, writes=True)
    one, other = Fetch(200, at(5), '"x"', "Mon, 23 Nov 2026 10:00:00 GMT"), Fetch(301, at(6.5), location="http://b/")
    known.record("a", one)
    known.record("b", Fetch(404, at(1)))
    known.record("b", other)
    assert [known.get(own) for own in ("a", "b", "c", "")] == [one, other, None, None]
    assert known.expire(at(5), None) == 0
    assert known.expire(at(9), [404, 301]) == 1
    assert known.expire(at(9), []) == 0
    assert [known.get(own) for own in ("a", "b")] == [one, None]
    if folder:
        known.close()
        assert Fetches(folder, writes=False).get("a") == one
    assert known.expire(at(9), None) == 1


def test_a_reader_without_a_file_knows_nothing_and_makes_none(tmp_path):
    known = Fetches(tmp_path, writes=False)
    assert known.get("a") is None
    known.close()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_an_error(tmp_path):
    (tmp_path / fetches.NAME).write_bytes(b"no database" * 100)
    with pytest.raises(StorageDamaged, match=r"fetches\.sqlite: is not as it was written"):
        Fetches(tmp_path, writes=True).get("a")


def test_a_copy_is_of_one_moment_and_replaces_another(tmp_path):
    folder, to = tmp_path / "a", tmp_path / "b"
    folder.mkdir()
    to.mkdir()
    known = Fetches(folder, writes=True)
    known.record("a", Fetch(200, at(5)))
    fetches.copy(fetches.NAME, folder, to)  # while it is open
    known.record("b", Fetch(404, at(5)))
    assert [Fetches(to, writes=False).get(own) is None for own in "ab"] == [False, True]
    fetches.copy(fetches.NAME, folder, to)
    assert sqlite3.connect(to / fetches.NAME).execute("SELECT count(*) FROM fetches").fetchone() == (2,)
    assert [path.name for path in to.iterdir()] == [fetches.NAME]
    fetches.copy("other.sqlite", folder, to)
    known.close()
    (folder / fetches.NAME).unlink()
    fetches.copy(fetches.NAME, folder, to)
    assert list(to.iterdir()) == []
