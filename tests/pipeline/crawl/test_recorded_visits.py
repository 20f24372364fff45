import pytest

from neardup import Index
from neardup.errors import StorageFailed, StorageRefused
from neardup.pipeline.crawl import recorded_visits
from neardup.pipeline.crawl.recorded_visits import FILE, RecordedVisits, Visit
from neardup.verdicts import Known, New


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "seen") as index:
        yield index


def visit(number):
    return Visit(f"key {number}", "content", number)


def test_batches_and_their_verdicts_are_those_of_the_file(index):
    written = RecordedVisits(index.store)
    for number in range(3):
        written.record(visit(number))
    verdicts = [New(), Known("a", changed=True)]
    written.keep("key 0", verdicts)
    written.forget(visit(1))
    for visits in (written, RecordedVisits(index.store)):
        assert [visits.get(f"key {number}") is None for number in range(4)] == [False, True, False, True]
        assert (visits.verdicts("key 0"), visits.verdicts("key 2")) == (verdicts, None)
        assert visits.get("key 2") == visit(2)
        assert visits.first_after(visit(0)) == 2
        assert visits.first_after(visit(2)) is None


def test_only_the_last_batches_are_remembered_with_their_verdicts(index, monkeypatch):
    monkeypatch.setattr(recorded_visits, "MOST_VISITS", 5)
    written = RecordedVisits(index.store)
    for number in range(40):
        written.record(visit(number))
        written.keep(f"key {number}", [New()])
    for visits in (written, RecordedVisits(index.store)):
        assert [number for number in range(40) if visits.get(f"key {number}")] == [35, 36, 37, 38, 39]
        assert [number for number in range(40) if visits.verdicts(f"key {number}")] == [35, 36, 37, 38, 39]
        assert visits.first_after(visit(36)) == 37


def test_the_file_has_a_limit(index, monkeypatch):
    monkeypatch.setattr(recorded_visits, "MOST_BYTES", 1 << 17)
    written = RecordedVisits(index.store)
    for number in range(40):
        written.record(visit(number))
        written.keep(f"key {number}", [Known("x" * 1000)] * 20)
    remembered = [number for number in range(40) if written.verdicts(f"key {number}")]
    assert remembered == [*range(remembered[0], 40)]
    assert 4 <= len(remembered) <= 8
    assert (index.store.folder / FILE).stat().st_size < 2 << 17
    written.keep("key 39", [Known("x" * 1000)] * 200)
    assert len(written.verdicts("key 39")) == 200
    written.record(visit(40))
    assert [number for number in range(41) if written.get(f"key {number}")] == [40]


def test_a_batch_that_is_recorded_again_is_the_last_one_and_has_no_verdicts(index):
    visits = RecordedVisits(index.store)
    for number in (0, 1):
        visits.record(visit(number))
        visits.keep(f"key {number}", [New()])
    visits.record(visit(0)._replace(first=9))
    assert (visits.first_after(visit(1)), visits.verdicts("key 0"), visits.verdicts("key 1")) == (9, None, [New()])


def test_a_reader_of_the_index_records_nothing(index):
    index.flush()
    with Index.open(index.store.folder) as reader, pytest.raises(StorageRefused):
        RecordedVisits(reader.store).record(visit(1))
    assert not (index.store.folder / FILE).exists()


def test_a_batch_that_a_full_disk_refuses_is_not_remembered(index):
    visits = RecordedVisits(index.store)
    visits.record(visit(0))
    visits._file.execute("PRAGMA max_page_count = 1")
    large = visit(4)._replace(content="x" * (1 << 16))
    with pytest.raises(StorageFailed, match="cannot be written: database or disk is full"):
        visits.record(large)
    visits.keep("key 0", [Known("x" * 1000)] * 99)  # they are computed again
    assert (visits.get("key 0"), visits.verdicts("key 0")) == (visit(0), None)
    assert visits.get(visit(4).key) is None
