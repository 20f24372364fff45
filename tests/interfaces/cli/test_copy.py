from neardup import Index


def test_the_bytes_of_a_copy_are_counted(neardup, tmp_path):
    with Index.create(tmp_path / "seen") as index:
        index.admit(["a"], ["a heron stands in the reeds of the lake"])
    (shown,) = neardup("copy", "seen", "backup").out.splitlines()
    assert shown.endswith("bytes in the copy without its search table, all of them verified")
    assert set(neardup("copy", "seen", "backup", "--json").json) == {"bytes", "written"}


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
