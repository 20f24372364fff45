import shutil

import numpy as np
import pytest

from neardup import Index, MinHash, SimHash
from neardup.errors import NeardupError, StorageDamaged, StorageRefused
from neardup.index.disk.arrays import StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.segment import SEGMENT
from neardup.model.folders import TEMPLATES
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.index import rescue as rescuing
from neardup.pipeline.index.page_terms import require_extraction
from neardup.pipeline.index.rescue import rescue
from neardup.text.host_templates import HostTemplates
from neardup.web_pages import Extraction

WORDS = ["the", "storm", "ferry", "harbour", "dawn", "roofs", "nine", "houses", "sea", "lime", "tree", "church", "rye"]
KEY = bytes(range(16))


def text(number):
    """Families of four: the first, two near it, and one of its own."""
    family, member = divmod(number, 4)
    words = [f"{word}{family}" for word in WORDS * 3]
    if member == 3:
        return " ".join(f"{word}x" for word in words)
    return " ".join([*words, *["more", "and", "more"][:member]])


def make(folder, *, texts=True, scheme=None, key=None, number=200):
    """Make an index with segments, updates and a log, each with changes."""
    with Index.create(folder, scheme, key=key, texts=texts, fields={"rank": int, "name": str}) as index:
        for begin in range(0, number, 20):
            ids = [f"d{place}" for place in range(begin, begin + 20)]
            fields = {
                "rank": list(range(begin, begin + 20)),
                "name": [f"n{own}" if own != "d3" else None for own in ids],
            }
            index.admit(ids, [text(place) for place in range(begin, begin + 20)], fields, at=1000 + begin)
            if begin in {40, 100}:
                index.flush()
        index.remove(["d1", "d44", "d199"])
        again = ["d5", "d121"]  # in the first segment, and in none yet
        index.admit(again, [text(5), text(121)], {"rank": [5000, None], "name": [None, "another"]}, at=4000)
        index.see(["d2", "d198"], at=5000)
        index.visit(["d7"], [text(7)], {"rank": [700], "name": ["changed"]}, at=5000)
        index.flush()
        index.see(["d6"], at=6000)
        index.visit(["d8", "d13"], [text(8), text(13)], {"rank": [None, 1300], "name": ["changed", None]}, at=6000)
        index.admit(["d9", "e1"], [text(9), "a heron stands in the reeds of the lake"], at=7000)
        index.admit(["d10"], [text(1000)], at=8000)


def state(folder, key=None):
    with Index.open(folder, key=key) as index:
        assert index.check().problems == []
        return {one.id: one for one in index.get(list(index.ids()))}


def test_templates_are_kept(tmp_path):
    extraction = Extraction(templates=HostTemplates([], rule_of(Extraction())))
    with Index.create(tmp_path / "seen", templates=extraction.templates) as index:
        require_extraction(index, extraction)
        index.copy(tmp_path / "copy")
    assert rescue(tmp_path / "seen", tmp_path / "new").losses == []
    for name in ("copy", "new"):
        with Index.open(tmp_path / name) as index:
            assert index.templates == extraction.templates
    (tmp_path / "seen" / TEMPLATES).write_bytes(b"?")
    [loss] = rescue(tmp_path / "seen", tmp_path / "without").losses
    assert (loss.where, loss.documents) == (str(tmp_path / "seen" / TEMPLATES), None)
    with Index.open(tmp_path / "without", "w") as index:
        with pytest.raises(StorageDamaged, match="are missing"):
            _ = index.templates
        require_extraction(index, extraction)
        assert index.templates == extraction.templates


@pytest.mark.parametrize(
    ("texts", "scheme", "key"),
    [(True, None, None), (False, None, None), (True, MinHash(threshold=0.7), KEY), (False, SimHash(), None)],
)
def test_an_intact_index_is_rescued_whole(tmp_path, texts, scheme, key):
    make(tmp_path / "seen", texts=texts, scheme=scheme, key=key)
    found = rescue(tmp_path / "seen", tmp_path / "new", key=key)
    before, after = state(tmp_path / "seen", key), state(tmp_path / "new", key)
    assert list(after) == list(before)
    assert after == before
    assert (found.documents, found.promoted, found.repeated, found.losses) == (len(before), 0, 0, [])
    with Index.open(tmp_path / "new", "w", key=key) as index:
        assert index.visit(["d0", "d9"], [text(0), text(1)], remember=False)[0].changed is False  # contents are known
        assert index.judge([text(0)])[0].representative == "d0"
        assert index.judge([text(0)])[0].name == "exact duplicate"


@pytest.mark.parametrize("reported", [[], ["b"]])
def test_kept_documents_that_were_not_reported_yet_are_reported_once(tmp_path, reported):
    with Index.create(tmp_path / "seen", texts=True) as index:
        index.admit(["a", "b", "c"], [text(0), text(0), "another text that is kept by itself"], at=1)
        index.remove(["a"])
        index.see(reported)
    rescue(tmp_path / "seen", tmp_path / "new")
    with Index.open(tmp_path / "new", "w") as index:
        assert index.see(["b", "c"]) == ["b" if reported else None, "c"]
        assert index.see(["b", "c"]) == ["b", "c"]


def test_a_page_is_not_dropped_for_one_that_was_not_passed_on(tmp_path):
    """A representative was not passed on if only another page of its cluster was."""

    def page(begin):
        return " ".join(f"w{number}" for number in range(begin, begin + 40))

    with Index.create(tmp_path / "seen", MinHash(shingle=1, threshold=0.75), texts=True) as index:
        kept = [
            index.visit([name], [page(begin)])[0].representative
            for name, begin in zip("QZPR", (0, 4, 12, 8), strict=True)
        ]
        assert kept == [None, "Q", None, "P"]
        index.visit(["P"], ["another text"])
        assert index.visit(["B"], [page(10)])[0].representative is None  # it covers R
        index.remove(["B"])
        index.flush()
    rescue(tmp_path / "seen", tmp_path / "new")
    for folder in ("seen", "new"):
        with Index.open(tmp_path / folder, "w") as index:
            index.visit(["Q"], ["yet another text"])
            assert [own.representative for own in index.get(["Z", "R"])] == ["Z", "Z"]
            assert index.visit(["C"], [page(3)])[0].representative is None


def flipped(path, place, bit):
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1 << bit
    path.write_bytes(raw)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_bit_is_flipped_the_rest_is_rescued(tmp_path, seed):
    folder = tmp_path / "seen"
    make(folder)
    before, chosen = state(folder), np.random.default_rng(seed)
    files = sorted(path for path in folder.iterdir() if path.name.startswith(("segment-", "log-", "updates-")))
    assert len(files) >= 3
    for turn in range(10):
        path = files[turn % len(files)]
        place, bit = int(chosen.integers(path.stat().st_size)), int(chosen.integers(8))
        flipped(path, place, bit)
        found = rescue(folder, tmp_path / f"new{turn}")
        flipped(path, place, bit)
        after = state(tmp_path / f"new{turn}")
        lost = before.keys() - after.keys()
        back = after.keys() - before.keys()
        if lost:
            assert found.losses
        if back:  # a removal is lost
            assert back <= {"d1", "d44", "d199"}
            assert found.losses
        for own in after.keys() & before.keys():
            assert after[own].text == before[own].text or path.name.startswith("log-")
            assert after[own].representative in after
            if after[own].text == before[own].text:
                if after[own].fields != before[own].fields:  # changes are lost
                    assert own in {"d5", "d7", "d8", "d9", "d13", "d121"}
                    assert found.losses
                assert after[own].first_seen == before[own].first_seen
        if path.name.startswith("segment-"):
            assert len(lost) <= 120


def test_a_damaged_checksum_of_a_block_costs_the_documents_of_that_block(tmp_path):
    with Index.create(tmp_path / "seen", texts=True, durability="bulk") as index:
        names = [f"d{number}" for number in range(3000)]
        index.admit(names, [f"{name} tells its own story about town {name} and {name} boats" for name in names])
        index.flush()
    [segment] = [path for path in (tmp_path / "seen").iterdir() if path.name.startswith("segment-")]
    arrays = StoredArrays(Disk(), segment, SEGMENT)
    blocks = len(arrays.guard.sums)
    assert blocks > 4
    sums = segment.read_bytes().index(arrays.guard.sums.tobytes())
    for block in (0, blocks - 1):
        flipped(segment, sums + 8 * block, 3)
        found = rescue(tmp_path / "seen", tmp_path / f"new{block}")
        flipped(segment, sums + 8 * block, 3)
        assert found.losses or found.documents == 3000
        assert found.documents > 1000


def test_a_damaged_record_of_the_log_costs_that_record(tmp_path):
    folder = tmp_path / "seen"
    with Index.create(folder, texts=True) as index:
        for number in range(0, 40, 2):
            index.admit([f"d{number}", f"d{number + 1}"], [text(number), text(number + 1)])
    (log,) = folder.glob("log-*")
    flipped(log, log.stat().st_size // 2, 3)
    with pytest.raises(StorageDamaged):
        Index.open(folder)
    found = rescue(folder, tmp_path / "new")
    after = state(tmp_path / "new")
    assert found.documents == len(after) == 38
    (loss,) = found.losses
    assert loss.where == str(log)
    assert loss.what.endswith("are damaged; lost: 1 change, of any number of documents")


def test_documents_of_a_lost_representative_are_judged_again(tmp_path):
    folder = tmp_path / "seen"
    with Index.create(folder, texts=True) as index:
        index.admit(["a"], [text(0)])
        index.admit(["b", "c"], [text(1), text(2)])
        assert [one.representative for one in index.get(["a", "b", "c"])] == ["a"] * 3
    (log,) = folder.glob("log-*")
    flipped(log, 400, 0)  # in the first record
    found = rescue(folder, tmp_path / "new")
    assert (found.documents, found.promoted, len(found.losses)) == (2, 1, 1)
    assert {own: one.representative for own, one in state(tmp_path / "new").items()} == {"b": "b", "c": "b"}


def test_missing_files_are_losses(tmp_path):
    folder = tmp_path / "seen"
    make(folder)
    before = state(folder)
    segment, updates = min(folder.glob("segment-*")), next(folder.glob("updates-*"))
    with Index.open(folder) as index:
        gone = index.store.segments[0].documents
    segment.unlink()
    updates.unlink()
    found = rescue(folder, tmp_path / "new")
    assert [loss.where for loss in found.losses] == [str(updates), str(segment)]
    assert all("is missing" in loss.what for loss in found.losses)
    assert len(before) - gone <= len(state(tmp_path / "new")) <= len(before) - gone + 6


def test_instead_of_a_damaged_manifest_the_second_one_is_used(tmp_path):
    folder = tmp_path / "seen"
    make(folder, number=40)
    before, manifest, second = state(folder), folder / "manifest.json", folder / "manifest.copy"
    raw = manifest.read_bytes()
    assert second.read_bytes() == raw
    for number, damaged in enumerate((b"", raw[: len(raw) // 2], raw.replace(b"{", b"[", 1), None)):
        manifest.unlink() if damaged is None else manifest.write_bytes(damaged)
        found = rescue(folder, tmp_path / f"new-{number}")
        assert [loss.where for loss in found.losses] == [str(manifest)]
        assert found.losses[0].what.endswith("; manifest.copy is used instead")
        assert state(tmp_path / f"new-{number}") == before


def test_without_an_intact_manifest_nothing_is_rescued(tmp_path):
    folder = tmp_path / "seen"
    make(folder, number=40)
    manifest, second = folder / "manifest.json", folder / "manifest.copy"
    manifest.write_bytes(manifest.read_bytes().replace(b'"generation": ', b'"generation": 1'))
    for damaged in (b"junk", None):
        second.unlink() if damaged is None else second.write_bytes(damaged)
        with pytest.raises(StorageDamaged, match=r"manifest\.json and manifest\.copy are both damaged"):
            rescue(folder, tmp_path / "other")
        assert not (tmp_path / "other").exists()


class Stopping(Disk):
    """Raises at its *left*-th change of names or sync, and at all later ones if it is *dead*."""

    def __init__(self, left, *, dead):
        super().__init__()
        self.left, self.dead = left, dead

    def met(self):
        self.left -= 1
        if self.left == 0 or (self.dead and self.left < 0):
            raise KeyboardInterrupt

    def rename(self, old, new):
        self.met()
        super().rename(old, new)

    def remove(self, path):
        self.met()
        super().remove(path)

    def sync_folder(self, path):
        self.met()
        super().sync_folder(path)


@pytest.mark.parametrize("dead", [False, True])
def test_an_interrupted_rescue_leaves_no_index_and_is_repeated(tmp_path, monkeypatch, dead):
    make(tmp_path / "seen", number=60)
    expected, to = state(tmp_path / "seen"), tmp_path / "new"
    for left in range(1, 100):
        disk = Stopping(left, dead=dead)
        with monkeypatch.context() as patch:
            patch.setattr(rescuing, "Disk", lambda disk=disk: disk)
            try:
                rescue(tmp_path / "seen", to)
            except KeyboardInterrupt:
                for held in [*disk._held]:
                    Disk.unlock(disk, held)
            else:
                break
        if not (to / "manifest.json").exists():
            with pytest.raises(StorageRefused, match="not an index"):
                Index.open(to)
            assert not [*to.iterdir()]
            rescue(tmp_path / "seen", to)
        assert state(to) == expected
        shutil.rmtree(to)
    assert 10 < left < 99
    assert {path.name for path in to.iterdir()} - {"manifest.copy"} == {
        "writer.lock",
        "manifest.json",
        *Manifest.read(Disk(), to).files,
    }
    assert {path.name for path in tmp_path.iterdir()} == {"seen", "new"}


def test_a_killed_rescue_is_removed_by_the_next_one(tmp_path):
    make(tmp_path / "seen", number=20)
    left = tmp_path / f".neardup-{'0' * 16}.partial"
    (left / "new").mkdir(parents=True)
    rescue(tmp_path / "seen", tmp_path / "new")
    assert not left.exists()


def test_only_a_folder_that_can_be_replaced_is_rescued_to(tmp_path, monkeypatch):
    make(tmp_path / "seen", number=20)
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    with pytest.raises(StorageRefused, match="is a mount point or the current folder"):
        rescue(tmp_path / "seen", ".")


def test_what_cannot_be_rescued_is_refused(tmp_path):
    make(tmp_path / "seen", key=KEY, number=20)
    (tmp_path / "empty").mkdir()
    for folder, options, error in (
        (tmp_path / "empty", {}, StorageRefused),
        (tmp_path / "nothing", {}, StorageRefused),
        (tmp_path / "seen", {}, StorageRefused),  # without its key
    ):
        with pytest.raises(error):
            rescue(folder, tmp_path / "new", **options)
        assert not (tmp_path / "new").exists()
    with pytest.raises(NeardupError, match="is not empty"):
        rescue(tmp_path / "seen", tmp_path / "seen", key=KEY)
    with pytest.raises(NeardupError, match="is inside the index"):
        rescue(tmp_path / "seen", tmp_path / "seen/new", key=KEY)
    assert not (tmp_path / "seen/new").exists()


@pytest.mark.parametrize("number", [0, 1, 9])
def test_changes_since_a_generation_of_the_damaged_index_are_refused(tmp_path, number):
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit([f"d{place}" for place in range(9)], [text(place) for place in range(9)])
        before = index.changes().generation
        index.remove([f"d{place}" for place in range(number, 9)])
    rescue(tmp_path / "index", tmp_path / "new")
    with Index.open(tmp_path / "new", "w") as index:
        for more in ([], [f"n{place}" for place in range(20)]):
            index.admit(more, [text(100 + place) for place in range(len(more))])
            with pytest.raises(StorageRefused, match="does not know all changes since 9 any more; take all documents"):
                index.changes(before)
        assert sum(map(len, index.changes().documents)) == number + 20
        after = index.changes().generation
        index.admit(["last"], ["something else entirely"])
        assert [row["id"] for table in index.changes(after).documents for row in table.to_pylist()] == ["last"]
