import pytest

from neardup import Index

TEXTS = [f"The storm number {number} broke over harbour {number * 7} at dawn and tore boats" for number in range(40)]


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen") as index:
        for begin in (0, 20):
            index.admit([str(number) for number in range(begin, begin + 20)], TEXTS[begin : begin + 20])
            index.flush()
        index.remove(["3", "4", "30"])
    return tmp_path / "seen"


def test_removed_documents_leave_the_files(neardup, seen):
    shown = neardup("compact", "seen").out
    assert "37  documents" in shown
    assert "1  segment (before: 2)" in shown
    assert "3  removed documents purged from the files" in shown
    assert neardup("check", "seen").out.endswith("0  problems\n")


def test_json_tells_before_and_after(neardup, seen):
    told = neardup("compact", "seen", "--json").json
    assert (told["before"]["segments"], told["after"]["segments"]) == (2, 1)
    assert (told["before"]["removed_in_files"], told["after"]["removed_in_files"]) == (3, 0)
    assert told["after"]["bytes"] < told["before"]["bytes"]


def test_a_key_is_required(neardup, tmp_path):
    Index.create(tmp_path / "keyed", key=bytes(range(16))).close()
    (tmp_path / "key").write_bytes(bytes(range(16)))
    assert "name the file of its key with --key-file" in neardup("compact", "keyed", code=2).err
    neardup("compact", "keyed", "--key-file", "key")


def test_another_writer_is_reported(neardup, seen):
    with Index.open(seen, "w"):
        assert "is writing to it" in neardup("compact", "seen", code=1).err
