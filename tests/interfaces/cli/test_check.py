import pytest

from neardup import Index

KEY = bytes(range(16))
TEXTS = [f"The storm number {number} broke over the harbour at dawn and tore three boats" for number in range(50)]


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen", key=KEY, texts=True) as index:
        index.admit([str(number) for number in range(50)], TEXTS)
        index.flush()
        index.admit(["last"], ["something else that nobody has said before at all"])
    return tmp_path / "seen"


def key_file(folder):
    path = folder.with_name("key")
    path.write_bytes(KEY)
    return path


def test_a_whole_index_needs_no_key(neardup, seen):
    shown = neardup("check", "seen")
    assert "50  documents in intact segments; documents in the log are not counted" in shown.out
    assert shown.out.endswith("0  problems\n")
    report = neardup("check", "seen", "--json").json
    assert (report["problems"], report["files"], report["documents"]) == ([], 4, 50)


def test_an_index_without_segments_does_not_look_empty(neardup, tmp_path):
    with Index.create(tmp_path / "seen") as index:
        index.admit(["a"], TEXTS[:1])
    assert "0  documents" not in neardup("check", "seen").out


def test_a_search_table_is_verified_and_can_be_built_again(neardup, seen):
    neardup("reindex", "seen", "--key-file", key_file(seen))
    assert "0  problems" in neardup("check", "seen").out
    (seen / "search.sqlite").write_bytes(b"junk")
    shown = neardup("check", "seen", code=1).out
    assert "search.sqlite is damaged (file is not a database); rebuild it" in shown
    assert "Nothing else is damaged. Build the search table again: neardup reindex seen" in shown


def test_what_is_damaged_is_named(neardup, seen):
    segment = next(seen.glob("segment-*"))
    data = bytearray(segment.read_bytes())
    data[100] ^= 1
    segment.write_bytes(data)
    shown = neardup("check", "seen", code=1)
    assert "1  problem\n" in shown.out
    assert f"seen/{segment.name}: the block at byte 0 is damaged" in shown.out
    assert "Restore the index from a copy" in shown.out
    assert len(neardup("check", "seen", "--json", code=1).json["problems"]) == 1
    segment.unlink()
    assert f"{segment.name} is missing" in neardup("check", "seen", code=1).out


def test_the_end_that_a_killed_writer_leaves_is_no_loss(neardup, seen):
    with next(seen.glob("log-*")).open("ab") as log:
        log.write(b"torn")
    shown = neardup("check", "seen")
    assert "0  problems" in shown.out
    assert "4 bytes behind its last record" in shown.out
    assert "the next writer discards them" in shown.out
    assert "Restore" not in shown.out


def test_without_a_manifest_no_rescue_is_recommended(neardup, seen):
    for remove in (True, False):
        for name in ("manifest.json", "manifest.copy"):
            (seen / name).unlink(missing_ok=True)
            if not remove:
                (seen / name).write_text("{")
        shown = neardup("check", "seen", code=1).out
        assert "seen/manifest.json is" in shown
        assert "seen cannot be rescued: manifest.json and manifest.copy are both damaged or missing" in shown
        assert "neardup rescue" not in shown
        assert "restore one of them from" in neardup("rescue", "seen", "new", code=1).err
    (seen / "manifest.json").unlink()
    (seen / "manifest.copy").unlink()
    assert neardup("stats", "seen", code=1).err.endswith("or make the index again from its documents\n")


def test_a_missing_manifest_is_named(neardup, seen):
    (seen / "manifest.json").unlink()
    shown = neardup("check", "seen", code=1).out
    assert "seen/manifest.json is missing\n" in shown
    assert shown.endswith("save what is intact: neardup rescue seen TO\n")
    way_out = "restore the index from a copy; or run neardup check seen, which reports"
    assert way_out in neardup("stats", "seen", code=1).err
    seen.with_name("key").write_bytes(bytes(range(16)))
    neardup("rescue", "seen", "rescued", "--key-file", "key", code=1)
    assert "0  problems" in neardup("check", "rescued").out


def test_a_damaged_second_manifest_is_found_and_replaced(neardup, seen):
    (seen / "manifest.copy").write_text("nothing")
    shown = neardup("check", "seen", code=1).out
    assert "manifest.copy is damaged (wrong checksum); the next change of the manifest replaces it" in shown
    with Index.open(seen, "w", key=bytes(range(16))) as index:
        index.remove(list(index.ids())[:1])
    assert "0  problems" in neardup("check", "seen").out


def test_folders_without_an_index_are_refused(neardup):
    assert "there is nothing at this path" in neardup("check", "none", code=2).err
