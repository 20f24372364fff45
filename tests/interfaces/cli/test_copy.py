import json

import pytest

from neardup import Index

TEXTS = [f"text number {number} of {number * 7} with some {number * 13} words" for number in range(50)]


def test_an_index_and_its_search_table_are_copied(neardup, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "text": own}) + "\n" for n, own in enumerate(TEXTS))
    )
    neardup("index", "a.jsonl", "--to", "seen", "--search")
    shown = neardup("copy", "seen", "backup").out.splitlines()
    assert len(shown) == 1
    assert shown[0].endswith("bytes in the copy without its search table, all of them verified")
    assert neardup("search", "backup", "343", "--json").json["total"] == 1
    with Index.open("seen", "w") as index:
        index.admit(["new"], ["a heron stands in the reeds of the lake"])
    told = neardup("copy", "seen", "backup", "--json").json
    assert set(told) == {"bytes", "written"}
    neardup("reindex", "seen")
    neardup("copy", "seen", "backup")
    assert neardup("search", "backup", "heron", "--json").json["total"] == 1
    assert neardup("check", "backup").out


def test_what_cannot_be_copied(neardup, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear")
    assert "there is nothing at this path" in neardup("copy", "nowhere", "backup", code=2).err
    assert not (tmp_path / "backup").exists()
    Index.create(tmp_path / "seen").close()
    assert "is not empty: a copy needs a folder of its own" in neardup("copy", "seen", "full", code=2).err
    assert "is the index itself; copy it to another folder" in neardup("copy", "seen", "seen", code=2).err
    (tmp_path / "link").symlink_to("seen")
    for inside in ("seen/backup", "link/backup"):
        assert f"{inside}: it is inside the index {tmp_path / 'seen'}" in neardup("copy", "seen", inside, code=2).err
    assert not (tmp_path / "seen/backup").exists()


@pytest.mark.usefixtures("permissions")
def test_a_copy_only_needs_to_read(neardup, tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    neardup("index", "a.jsonl", "--to", "seen", "--search")
    for path in (tmp_path / "seen").iterdir():
        path.chmod(0o444)
    (tmp_path / "seen").chmod(0o555)
    before = sorted((path, path.read_bytes()) for path in (tmp_path / "seen").iterdir())
    neardup("copy", "seen", "backup")
    assert neardup("search", "backup", "343", "--json").json["total"] == 1
    assert sorted((path, path.read_bytes()) for path in (tmp_path / "seen").iterdir()) == before
    (tmp_path / "seen").chmod(0o755)
