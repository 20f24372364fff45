import pytest

from neardup import Index

TEXTS = [f"text number {number} of {number * 7} with some {number * 13} words" for number in range(60)]


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen", texts=True) as index:
        for begin in range(0, 60, 20):
            ids = [f"d{number}" for number in range(begin, begin + 20)]
            index.admit(ids, TEXTS[begin : begin + 20])
    return tmp_path / "seen"


def test_everything_intact_is_in_the_new_index(neardup, seen):
    (log,) = seen.glob("log-*")
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 2] ^= 1
    log.write_bytes(raw)
    assert "neardup rescue seen TO" in neardup("check", "seen", code=1).out
    shown = neardup("rescue", "seen", "new", code=1).out.splitlines()
    assert shown[0] == "40  documents in the new index"
    assert shown[1].startswith(f"{'seen'}/log-00000001: the bytes ")
    assert shown[1].endswith("are damaged; lost: 1 change, of any number of documents")
    neardup("check", "new")
    told = neardup("rescue", "seen", "other", "--json", code=1).json
    assert (told["documents"], told["promoted"], told["repeated"], len(told["losses"])) == (40, 0, 0, 1)
    assert "is not empty" in neardup("rescue", "seen", "new", code=2).err


def test_an_intact_index_loses_nothing(neardup, seen):
    shown = neardup("rescue", "seen", "new").out.splitlines()
    assert shown == ["60  documents in the new index", "Nothing was damaged."]
    with Index.open("new") as index:
        assert [one.text for one in index.get(list(index.ids()))] == TEXTS


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("pattern", ["manifest.json", "manifest.copy", "log-*", "segment-*"])
def test_a_file_that_the_user_may_not_read_is_not_damaged(neardup, seen, pattern):
    neardup("compact", "seen")
    (path,) = seen.glob(pattern)
    path.chmod(0)
    for command in (("check", "seen"), ("rescue", "seen", "new")):
        shown = neardup(*command, code=1)
        assert shown.err.startswith(
            f"neardup: seen/{path.name} cannot be read: Permission denied; change its permissio"
        )
        assert shown.out == ""
    assert not (seen.parent / "new").exists()
