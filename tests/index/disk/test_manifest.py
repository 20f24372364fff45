import json
from dataclasses import replace

import pytest
from msgspec import structs, to_builtins

from neardup import Index
from neardup.index.disk.arrays import Stored, checksum
from neardup.index.disk.files import Disk
from neardup.index.disk.log import LogWriter
from neardup.index.disk.manifest import (
    FIRST_LOG,
    MANIFEST,
    MOST_SESSION,
    SECOND,
    SESSIONS,
    Manifest,
    Session,
    Terms,
    with_session,
)
from neardup.model.errors import StorageDamaged, StorageFailed, StorageRefused
from neardup.web_pages import Extraction

STATE = Manifest(
    mark="0" * 32,
    log="log-00000002",
    sealed=40,
    next_file=4,
    terms=Terms(
        scheme={"scheme": "simhash"},
        name="simhash",
        recipe="0" * 16,
        key="",
        common=None,
        layout=None,
        chosen=False,
        row=("<u8", 1),
        fields=(("host", "string"),),
        texts=True,
        representative="best-ranked",
        extraction=None,
    ),
    segments=(Stored("segment-00000001", 100, 7),),
    updates=Stored("updates-00000003", 50, 8),
    sessions=(Session(MOST_SESSION, 0, 0, 0), Session(3, 7, 1, 4)),
)


def commit(folder, manifest=STATE):
    return manifest.commit(Disk(), folder)


def forge(folder, **changed):
    content = json.loads((folder / MANIFEST).read_text().splitlines()[0]) | changed
    line = json.dumps(content).encode()
    (folder / MANIFEST).write_bytes(line + f"\n{checksum(line):016x}\n".encode())


def test_what_is_read_is_what_was_committed(tmp_path):
    first = commit(tmp_path)
    assert first == replace(STATE, generation=1)
    assert Manifest.read(Disk(), tmp_path) == first
    second = commit(tmp_path, replace(first, segments=(), updates=None))
    assert Manifest.read(Disk(), tmp_path) == second
    assert (second.generation, second.files) == (2, ["log-00000002"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [SECOND, MANIFEST]
    assert Manifest.read(Disk(), tmp_path, name=SECOND) == second


@pytest.mark.parametrize("later", [{}, {"url_rules": "1" * 16, "digests": "2" * 32}])
def test_terms_are_recorded_once_they_are_known(tmp_path, later):
    commit(tmp_path, replace(STATE, terms=structs.replace(STATE.terms, **later)))
    recorded = json.loads((tmp_path / MANIFEST).read_text().splitlines()[0])["terms"]
    assert recorded == {
        "scheme": {"scheme": "simhash"},
        "name": "simhash",
        "recipe": "0" * 16,
        "key": "",
        "common": None,
        "layout": None,
        "chosen": False,
        "row": ["<u8", 1],
        "fields": [["host", "string"]],
        "texts": True,
        "representative": "best-ranked",
        "extraction": None,
        **later,
    }


def test_a_second_file_that_cannot_be_written_does_not_matter(tmp_path, monkeypatch):
    def refused(_, old, new):
        if new.name == SECOND:
            raise StorageFailed(str(new), "cannot be written")
        old.rename(new)

    with monkeypatch.context() as patched:
        patched.setattr(Disk, "rename", refused)
        first = commit(tmp_path)
    assert Manifest.read(Disk(), tmp_path) == first


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(StorageRefused, match="is not an index: it has no manifest"):
        Manifest.read(Disk(), tmp_path)


def test_a_log_with_documents_lacks_its_manifest(tmp_path):
    log = LogWriter.create(Disk(), tmp_path / FIRST_LOG, bytes(16), 1)
    with pytest.raises(StorageRefused, match="is not an index: it has no manifest"):
        Manifest.read(Disk(), tmp_path)
    log.append("see", {})
    log.close()
    with pytest.raises(StorageDamaged, match=f"is missing, and so is {SECOND}"):
        Manifest.read(Disk(), tmp_path)


def test_the_last_sessions_are_remembered_each_once():
    sessions = []
    for number in (*range(1, 300), 299, 250):
        sessions = with_session(sessions, Session(number, 0, 0, 0))
    assert [one.number for one in sessions] == [*range(300 - SESSIONS, 300)]


def test_what_is_there_instead_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    for path, reason in (("none", "there is nothing"), ("file", "is a file, not the folder"), ("", "has no manifest")):
        with pytest.raises(StorageRefused, match=reason):
            Manifest.read(Disk(), tmp_path / path)


def test_every_changed_byte_is_found(tmp_path):
    commit(tmp_path)
    whole = (tmp_path / MANIFEST).read_bytes()
    for place in range(len(whole)):
        (tmp_path / MANIFEST).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StorageDamaged, match="is damaged"):
            Manifest.read(Disk(), tmp_path)


@pytest.mark.parametrize(
    ("changed", "error", "rule"),
    [
        ({"format": 9}, StorageRefused, "is of format 9, newer than the 8"),
        ({"format": 1, "terms": []}, StorageRefused, "is of format 1, older than the 8"),
        ({"flags": ["colours"]}, StorageRefused, "needs colours"),
        ({"mark": "0"}, StorageDamaged, "invalid index id"),
        ({"log": "../log-00000002"}, StorageDamaged, "unexpected file name"),
        ({"log": "segment-00000001"}, StorageDamaged, "names a file twice"),
        ({"sealed": -1}, StorageDamaged, "makes no sense"),
        ({"field_changes": -1}, StorageDamaged, "makes no sense"),
        ({"segments": [["segment-00000001", "many", 7]]}, StorageDamaged, "makes no sense"),
        ({"terms": []}, StorageDamaged, "makes no sense"),
        ({"terms": {}}, StorageDamaged, "makes no sense: Object missing required field `scheme`"),
        *(
            ({"terms": to_builtins(STATE.terms) | changed}, StorageDamaged, f"makes no sense: {rule}")
            for changed, rule in (
                ({"texts": 1}, "Expected `bool`"),
                ({"representative": "any"}, "Invalid enum value 'any'"),
                ({"fields": [["host"]]}, "Expected `array` of length 2"),
                ({"extraction": []}, "Expected `object | null`"),
                ({"url_rules": 1}, "Expected `str | null`"),
                ({"digests": "0"}, "invalid index id or digest salt"),
                ({"more": 1}, "Object contains unknown field `more`"),
            )
        ),
        ({"sessions": [[1, 2]]}, StorageDamaged, "makes no sense"),
        ({"sessions": [[1 << 63, 2, 3, 4]]}, StorageDamaged, "makes no sense"),
        ({"segments": [["segment-00000001", -1, 7]]}, StorageDamaged, "makes no sense"),
        ({"more": 1}, StorageDamaged, "makes no sense"),
    ],
)
def test_what_a_forger_writes_is_refused(tmp_path, changed, error, rule):
    commit(tmp_path)
    forge(tmp_path, **changed)
    with pytest.raises(error, match=rule):
        Manifest.read(Disk(), tmp_path)


def test_columns_and_templates_are_those_of_the_terms():
    with Index.create(fields={"host": "string"}, texts=True) as index:
        terms = index.store.manifest.terms
        assert terms.columns == index.store.columns
    assert terms.templates is None
    pages = Extraction().identity
    assert structs.replace(terms, extraction=pages).templates is None
    assert structs.replace(terms, extraction=pages | {"templates": "1"}).templates == "1"
