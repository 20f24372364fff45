from neardup import Index

STORM = "The storm broke over the harbour at dawn"


def test_it_builds_what_is_missing_or_broken(neardup, tmp_path):
    with Index.create(tmp_path / "seen", texts=True) as index:
        index.admit(["a", "b"], [STORM, "something else"])
    shown = neardup("reindex", "seen")
    assert shown.out.split()[:6] == ["2", "documents", "in", "the", "search", "table,"]
    (tmp_path / "seen/search.sqlite").write_bytes(b"no database")
    assert "rebuild it: neardup reindex seen\n" in neardup("search", "seen", "storm", code=1).err
    done = neardup("reindex", "seen", "--json").json
    assert done["documents"] == 2
    assert done["bytes"] == (tmp_path / "seen/search.sqlite").stat().st_size
    assert "1 result" in neardup("search", "seen", "storm").out


def test_while_another_one_writes(neardup, tmp_path):
    with Index.create(tmp_path / "seen", texts=True):
        assert "is writing to it" in neardup("reindex", "seen", code=1).err
