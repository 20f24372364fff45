from functools import lru_cache

import numpy as np
import pytest

from neardup.index.disk import arrays, log
from neardup.index.disk.files import Disk
from neardup.index.disk.log import HEADER_BYTES, LogReader, LogRecord, LogWriter
from neardup.model.errors import StorageDamaged

MARK = bytes(range(16))
RECORDS = [("admit", {"rows": np.arange(6, dtype=np.uint64).reshape(3, 2)}), ("remove", {"ordinal": np.array([4])})]


def write(path, records=RECORDS, *, sync=True):
    writer = LogWriter.create(Disk(), path, MARK, 7)
    for kind, content in records:
        writer.append(kind, content)
        if sync:
            writer.sync()
    writer.close()
    return writer


def read(path, *, sealed=0, mark=MARK):
    reader = LogReader(Disk(), path, mark, sealed)
    return [*reader.read()], reader


def test_what_is_read_is_what_was_appended(tmp_path):
    writer = write(tmp_path / "log")
    records, reader = read(tmp_path / "log", sealed=writer.tail.end)
    assert [(record.number, record.kind) for record in records] == [(7, "admit"), (8, "remove")]
    assert (records[0].arrays["rows"] == RECORDS[0][1]["rows"]).all()
    assert records[0].arrays["rows"].dtype == np.uint64
    assert (reader.tail.end, reader.tail.torn, reader.tail.following) == (writer.tail.end, 0, 9)
    assert writer.tail.end == (tmp_path / "log").stat().st_size


def test_arrays_of_the_same_shapes_are_described_once(tmp_path, monkeypatch):
    described = []
    monkeypatch.setattr(
        log, "_described", lru_cache(lambda *asked: described.append(asked) or arrays.described(*asked))
    )
    write(tmp_path / "log", RECORDS * 100, sync=False)
    assert len(read(tmp_path / "log")[0]) == 200
    assert len(described) == 2


def test_only_what_is_new_is_read_again(tmp_path):
    write(tmp_path / "log")
    _, reader = read(tmp_path / "log")
    writer = LogWriter.reopen(Disk(), tmp_path / "log", reader.seed, reader.tail)
    writer.append("see", {})
    writer.close()
    assert [(record.number, record.kind, record.arrays) for record in reader.read()] == [(9, "see", {})]
    assert [*reader.read()] == []


def test_a_log_is_on_the_disk_before_records_are_added(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(Disk, "sync", lambda _disk, _file, path: synced.append(path.stat().st_size))
    end = write(tmp_path / "log", sync=False).tail.end
    _, reader = read(tmp_path / "log")
    LogWriter.reopen(Disk(), tmp_path / "log", reader.seed, reader.tail).close()
    assert synced == [HEADER_BYTES, end]


def test_every_cut_leaves_the_records_before_it(tmp_path):
    size = write(tmp_path / "log", sync=False).tail.end
    whole = (tmp_path / "log").read_bytes()
    for end in range(48, size):  # behind the header
        (tmp_path / "cut").write_bytes(whole[:end])
        records, reader = read(tmp_path / "cut")
        assert len(records) <= 1
        assert reader.tail.end + reader.tail.torn == end
        with pytest.raises(StorageDamaged, match=r"the record at byte [\d,]+ is damaged"):
            read(tmp_path / "cut", sealed=size)


def test_a_damaged_record_before_one_that_was_written_later_is_damage(tmp_path):
    write(tmp_path / "log")
    data = bytearray((tmp_path / "log").read_bytes())
    data[80] ^= 1
    (tmp_path / "log").write_bytes(data)
    with pytest.raises(StorageDamaged, match=r"the record at byte \d+ is damaged"):
        read(tmp_path / "log")


def test_a_log_of_another_index_is_refused(tmp_path):
    write(tmp_path / "log")
    with pytest.raises(StorageDamaged, match="belongs to another index"):
        read(tmp_path / "log", mark=bytes(16))
    (tmp_path / "short").write_bytes(b"neardupL")
    with pytest.raises(StorageDamaged, match="is too short to be a log"):
        read(tmp_path / "short")


def test_whole_records_are_read_around_damaged_ones(tmp_path):
    path = tmp_path / "log"
    write(path, [("one", {"a": np.arange(number)}) for number in range(5)])
    whole = path.read_bytes()
    records, _ = read(path)
    found = {record.number for record in LogReader(Disk(), path, MARK, 0).intact()}
    assert found == {record.number for record in records}
    for place in range(HEADER_BYTES, len(whole)):
        raw = bytearray(whole)
        raw[place] ^= 4
        path.write_bytes(raw)
        parts = [*LogReader(Disk(), path, MARK, 0).intact()]
        gaps = [part for part in parts if not isinstance(part, LogRecord)]
        left = [part.number for part in parts if isinstance(part, LogRecord)]
        assert len(left) == 4
        ((begin, end, missing),) = gaps
        assert begin <= place < end
        assert missing == (0 if end == len(raw) else 1)
        assert left == [record.number for record in records if record.number in left]
