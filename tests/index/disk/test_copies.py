import shutil
import threading

import numpy as np
import pytest

from neardup import Index, MinHash
from neardup.errors import StorageBusy, StorageDamaged, StorageRefused
from neardup.index.disk import copies, manifest
from neardup.index.disk.files import Disk
from neardup.text.common_shingles import CommonShingles

WORDS = ["the", "storm", "ferry", "harbour", "dawn", "roofs", "nine", "houses", "sea", "lime", "tree", "church", "rye"]


def text(number):
    return " ".join(WORDS[number * step % len(WORDS)] + str(number // step) for step in (1, 3, 5, 7, 9, 11))


def admit(index, begin, end):
    index.admit([f"d{number}" for number in range(begin, end)], [text(number) for number in range(begin, end)])


def state(folder):
    with Index.open(folder) as index:
        assert index.check().problems == []
        ids = list(index.ids())
        return [(one.id, one.text, one.representative, one.last_seen) for one in index.get(ids)]


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "seen", texts=True, durability="bulk") as index:
        admit(index, 0, 300)
        index.flush()
        admit(index, 300, 320)
        yield index


def test_a_copy_has_what_was_acknowledged_and_is_brought_up_to_date(index, tmp_path):
    to = tmp_path / "copy"
    done = index.copy(to)
    assert done.bytes == done.written > 0
    assert state(to) == state(tmp_path / "seen")
    index.remove(["d7", "d310"])
    index.see(["d8"], at=10**9 * 5)
    admit(index, 320, 330)
    again = index.copy(to)
    assert again.written == index.stats().bytes_in_log  # the segment is there already
    assert again.bytes > done.bytes
    assert state(to) == state(tmp_path / "seen")
    index.compact()
    last = index.copy(to)
    assert last.written == last.bytes
    assert state(to) == state(tmp_path / "seen")
    names = {path.name for path in (tmp_path / "seen").iterdir()}
    assert {path.name for path in to.iterdir()} == names


def test_a_copy_is_brought_up_to_date_after_the_index_was_opened_again(index, tmp_path):
    index.copy(tmp_path / "copy")
    index.close()
    with Index.open(tmp_path / "seen", "w") as again:
        admit(again, 320, 330)
        again.flush()
        again.copy(tmp_path / "copy")
    assert state(tmp_path / "copy") == state(tmp_path / "seen")


def test_a_reader_of_a_copy_sees_what_it_is_brought_up_to_date_with(index, tmp_path):
    index.copy(tmp_path / "copy")
    with Index.open(tmp_path / "copy") as reader:
        assert not reader.refresh()
        for name in ("later", "last"):
            index.admit([name], [f"a page that came {name} and is not in the first copy"])
            index.copy(tmp_path / "copy")
            assert reader.refresh()
            assert name in reader
            index.copy(tmp_path / "copy")
            assert not reader.refresh()


def test_an_index_in_memory_is_saved_by_a_copy(tmp_path):
    with Index.create(texts=True) as index:
        admit(index, 0, 10)
        index.copy(tmp_path / "saved")
        found = [one.text for one in index.get(list(index.ids()))]
    assert [own for _, own, *_ in state(tmp_path / "saved")] == found


def test_a_copy_is_an_index_of_its_own(index, tmp_path):
    to = tmp_path / "copy"
    index.copy(to)
    with Index.open(to, "w") as own:
        with pytest.raises(StorageBusy):
            index.copy(to)
        admit(own, 900, 905)
        assert len(own) == 325
    before = {path.name: path.read_bytes() for path in to.iterdir()}
    with pytest.raises(StorageRefused, match=r"has changes that .*seen does not have, and would lose them"):
        index.copy(to)
    assert before == {path.name: path.read_bytes() for path in to.iterdir()}
    shutil.rmtree(to)
    index.copy(to)
    assert state(to) == state(tmp_path / "seen")


def test_an_index_is_not_set_back_by_its_own_copy(index, tmp_path):
    index.copy(tmp_path / "copy")
    for begin, end in ((900, 901), (901, 3000)):  # in the log, and in a new segment
        admit(index, begin, end)
        with (
            Index.open(tmp_path / "copy") as copy,
            pytest.raises((StorageRefused, StorageBusy), match=r"has changes|is writing"),
        ):
            copy.copy(tmp_path / "seen")
    index.close()
    with Index.open(tmp_path / "copy") as copy, pytest.raises(StorageRefused, match="has changes that"):
        copy.copy(tmp_path / "seen")
    with Index.open(tmp_path / "seen") as original:
        assert len(original) == 320 + 2100
        original.copy(tmp_path / "copy")
    assert state(tmp_path / "copy") == state(tmp_path / "seen")


def test_a_copy_that_was_changed_itself_loses_nothing_when_the_index_has_changed_more(index, tmp_path):
    to = tmp_path / "copy"
    index.copy(to)
    with Index.open(to, "w") as own:
        admit(own, 900, 901)
    admit(index, 1000, 3000)
    with pytest.raises(StorageRefused, match="has changes that"):
        index.copy(to)
    with Index.open(to) as own:
        assert len(own) == 321


def test_an_index_that_went_on_in_its_last_session_is_not_set_back_by_a_changed_copy(index, tmp_path):
    index.copy(tmp_path / "copy")
    admit(index, 900, 901)
    index.close()
    with Index.open(tmp_path / "copy", "w") as copy:
        admit(copy, 1000, 1003)
        with pytest.raises(StorageRefused, match="has changes that"):
            copy.copy(tmp_path / "seen")
    with Index.open(tmp_path / "seen") as original:
        assert len(original) == 321


def test_a_copy_that_was_opened_and_merged_but_not_changed_is_brought_up_to_date(index, tmp_path):
    index.copy(tmp_path / "copy")
    with Index.open(tmp_path / "copy", "w") as copy:
        copy.flush()
        copy.compact()
    index.copy(tmp_path / "copy")
    admit(index, 900, 901)
    index.copy(tmp_path / "copy")
    assert state(tmp_path / "copy") == state(tmp_path / "seen")


@pytest.mark.parametrize("writers", [3, 9])
def test_a_copy_may_be_older_than_all_remembered_writers(index, tmp_path, monkeypatch, writers):
    monkeypatch.setattr(manifest, "SESSIONS", 4)
    monkeypatch.setattr(copies, "SESSIONS", 4)
    index.copy(tmp_path / "copy")
    index.close()
    for number in range(900, 900 + writers):
        with Index.open(tmp_path / "seen", "w") as writer:
            admit(writer, number, number + 1)
    with Index.open(tmp_path / "seen") as reader:
        reader.copy(tmp_path / "copy")
    assert state(tmp_path / "copy") == state(tmp_path / "seen")


def test_a_changed_copy_that_is_older_than_all_remembered_writers_loses_nothing(index, tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "SESSIONS", 4)
    monkeypatch.setattr(copies, "SESSIONS", 4)
    index.copy(tmp_path / "copy")
    index.close()
    with Index.open(tmp_path / "copy", "w") as copy:
        admit(copy, 990, 992)
    for number in range(900, 909):
        with Index.open(tmp_path / "seen", "w") as writer:
            admit(writer, number, number + 1)
    with Index.open(tmp_path / "seen") as reader, pytest.raises(StorageRefused, match="has changes that"):
        reader.copy(tmp_path / "copy")


def test_the_list_of_common_shingles_is_copied(tmp_path):
    scheme = MinHash()
    shingles = np.sort(scheme.shingling.features([text(1)]).values)
    common = CommonShingles(shingling=scheme.shingling.plain.recipe, terms=shingles, share=0.1, documents=40)
    with Index.create(tmp_path / "seen", scheme.with_common(common), texts=True) as index:
        admit(index, 0, 3)
        index.copy(tmp_path / "copy")
        index.copy(tmp_path / "copy")
    assert state(tmp_path / "copy") == state(tmp_path / "seen")


def test_other_folders_are_refused_and_left_as_they_are(index, tmp_path):
    other, full = tmp_path / "other", tmp_path / "full"
    with Index.create(other) as own:
        admit(own, 0, 3)
    full.mkdir()
    (full / "letter.txt").write_text("Dear")
    for to, reason in ((other, "is another index"), (full, "is not empty"), (tmp_path / "seen", "is")):
        before = {path.name: path.read_bytes() for path in to.iterdir()}
        with pytest.raises((StorageRefused, StorageBusy), match=reason):
            index.copy(to)
        assert {path.name: path.read_bytes() for path in to.iterdir()} == before
    with pytest.raises(StorageRefused, match="the index itself"):
        copies.copy(other, other, Disk(), Disk())


def test_damage_is_not_copied_and_the_earlier_copy_stays(index, tmp_path):
    to = tmp_path / "copy"
    index.copy(to)
    before = state(to)
    admit(index, 400, 420)
    index.compact()
    (segment,) = (tmp_path / "seen").glob("segment-*")
    raw = bytearray(segment.read_bytes())
    raw[1000] ^= 1
    segment.write_bytes(raw)
    with pytest.raises(StorageDamaged, match="is damaged"):
        copies.copy(tmp_path / "seen", to, Disk(), Disk())
    assert state(to) == before


def test_an_interrupted_copy_is_finished_by_the_next(index, tmp_path):
    class StoppedError(Exception):
        pass

    class Stopping(Disk):
        left = 0

        def sync(self, file, path):
            self.left -= 1
            if self.left < 0:
                raise StoppedError
            super().sync(file, path)

    to, disk = tmp_path / "copy", Stopping()
    for allowed in range(4):
        disk.left = allowed
        try:
            copies.copy(tmp_path / "seen", to, Disk(), disk)
        except StoppedError:
            continue
        break
    else:
        raise AssertionError("it was stopped each time")
    assert allowed == 3  # the segment stays from one attempt to the next; then come the log and two manifests
    assert state(to) == state(tmp_path / "seen")


def test_copies_made_while_a_writer_works_have_a_state_that_was(index, tmp_path):
    to, failed, ended = tmp_path / "copy", [], threading.Event()

    def write():
        try:
            for step in range(40):
                admit(index, 1000 + 10 * step, 1010 + 10 * step)
                if step % 5 == 4:
                    index.flush()
                if step % 11 == 10:
                    index.compact()
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failed.append(error)
        finally:
            ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    copied = 0
    while not ended.is_set() or not copied:
        copies.copy(tmp_path / "seen", to, Disk(), Disk())
        with Index.open(to) as own:
            assert own.check().problems == []
            assert len(own) >= 320
            assert len(own) % 10 == 0  # no batch in part
            assert list(own.ids())[320:] == [f"d{number}" for number in range(1000, 680 + len(own))]
        copied += 1
    writer.join()
    assert failed == []
