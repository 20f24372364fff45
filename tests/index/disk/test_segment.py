"""Reading some documents of a file costs no more than these documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Index, MinHash, Sentences, SimHash
from neardup.errors import StorageDamaged
from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.segment import TABLES, Segment, find_near
from neardup.index.hamming.tables import HammingTables
from neardup.model.candidates import ROOM
from neardup.model.tables import TableDesign
from neardup.verdicts import ExactDuplicate, NearDuplicate, New

TEXT = "page not found on this server, sorry about that"
FINGERPRINTS = st.integers(0, 2**12 - 1)  # many are near
DESIGN = TableDesign(kind="blocks", distance=2, pieces=4)


@pytest.fixture
def looked_at(monkeypatch):
    """Count, call by call, of how many documents the digest is read."""
    numbers = []
    take = Segment.take

    def counted(segment, name, positions):
        numbers.extend([len(positions)] if name in {"content", "equal"} else [])
        return take(segment, name, positions)

    monkeypatch.setattr(Segment, "take", counted)
    return numbers


def test_a_content_that_many_have_costs_no_more_next_to_a_new_one(tmp_path, looked_at):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        index.admit([f"d{number}" for number in range(5000)], [TEXT] * 5000)
        index.flush()
        looked_at.clear()
        assert index.judge([TEXT, "quite another text, seen by nobody so far"]) == [ExactDuplicate("d0", "d0"), New()]
        assert max(looked_at) <= ROOM


def test_the_few_documents_that_are_left_of_many_are_found(tmp_path):
    ids = [f"d{number}" for number in range(300)]
    texts = [f"text {number} of {number * 7919} has some more words" for number in range(300)]
    with Index.create(tmp_path / "index", texts=True) as index:
        index.admit(ids, texts)
        index.flush()
        index.remove(ids[3:])
        index.compact()
        assert [one.id for one in index.get(ids[:3])] == ids[:3]
        assert index.judge(texts[:4]) == [*(ExactDuplicate(own, own) for own in ids[:3]), New()]
        assert isinstance(index.judge([f"{texts[2]} at last"])[0], NearDuplicate)


def test_a_copy_among_many_equals_costs_no_more(tmp_path, looked_at):
    texts = [TEXT, *(f"{TEXT}{'!' * number}" for number in range(1, 3000))]
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        index.admit([f"d{number}" for number in range(3000)], texts)
        index.flush()
        looked_at.clear()
        new = NearDuplicate("d0", "cosine", 1.0, representative="d0")
        assert index.judge([texts[2000], f"{TEXT}?"]) == [ExactDuplicate("d2000", "d0"), new]
        assert max(looked_at) <= 2 * ROOM  # of the two


@pytest.mark.parametrize("scheme", [MinHash(shingle=1, threshold=0.5), SimHash(distance=12), Sentences()])
@pytest.mark.parametrize("later", [False, True])
def test_the_next_of_equals_is_found_by_its_keys_when_the_leader_goes(tmp_path, scheme, later):
    """Also of documents in a file; and their other equals are not, which would take room."""
    text = ". ".join(f"Sentence {number} of a text that has many of them" for number in range(9))
    near = f"{text}. Another one"
    equals = [text, text.upper(), text.title()]
    with Index.create(tmp_path / "index", scheme, durability="bulk") as index:
        index.admit(["a"], equals[:1])
        if later:
            index.flush()
        index.admit(["b", "c"], equals[1:])
        index.flush()
        assert proposed(index, near) == ["a"]
        assert index.remove(["a"]).promoted == ["b"]
        assert proposed(index, near) == ["b"]
        with Index.open(tmp_path / "index") as reader:
            assert proposed(reader, near) == ["b"]
            index.admit(["another"], ["..."])
            index.flush()  # writes what happened to files
            assert reader.refresh()
            assert proposed(reader, near) == ["b"]
    with Index.open(tmp_path / "index", "w", durability="bulk") as index:
        assert proposed(index, near) == ["b"]
        index.compact()
        assert proposed(index, near) == ["b"]
        assert index.check().problems == []
        assert index.remove(["b"]).promoted == ["c"]
        assert proposed(index, near) == ["c"]


def proposed(index, text):
    signed = index.scheme.sign([text])
    return index.store.decoded("id", index.store.propose(signed.rows, signed.present).places)


def test_representatives_can_change_again_and_again(tmp_path):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        index.admit([f"d{number}" for number in range(100)], [f"text of number {number}" for number in range(100)])
        index.flush()
        (segment,) = index._store.segments
        expected = dict(zip(range(100), segment.take("representative", np.arange(100)).tolist(), strict=True))
        rng, changed = np.random.default_rng(1), set()
        for _ in range(5):
            positions, representatives = rng.integers(0, 100, 10), rng.integers(0, 100, 10)
            positions, first = np.unique(positions, return_index=True)
            segment.change("representative", positions, representatives[first])
            changed |= {*positions.tolist()}
            expected |= dict(zip(positions.tolist(), representatives[first].tolist(), strict=True))
        assert segment.take("representative", np.arange(100)).tolist() == list(expected.values())
        ordinals, values = segment.changes("representative")
        assert ordinals.tolist() == sorted(changed)
        assert values.tolist() == [expected[number] for number in ordinals.tolist()]
        assert not len(segment.changes("seen")[0])
        for representative in range(100):
            found = [place for place, own in expected.items() if own == representative != place]
            assert segment.kept_by(np.array([representative])).tolist() == found


def test_a_segment_with_more_lists_than_a_document_has_keys_is_damaged(tmp_path):
    with Index.create(tmp_path / "index") as index:
        index.admit(["a", "b"], [TEXT, f"{TEXT}!"])
        index.flush()
        index.remove(["a"])  # so that b leads from now on
        (segment,) = index._store.segments
        keyed = segment._lookup.keyed
        segment._lookup = segment._lookup._replace(keyed=lambda *rows: keyed(*rows)[:, :4])
        with pytest.raises(StorageDamaged, match="makes no sense"):
            index.compact()


def test_some_documents_behind_another_cost_no_more_than_there_are_wanted(tmp_path, monkeypatch):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        for begin in (0, 600):
            ids = [f"d{number}" for number in range(begin, begin + 600)]
            index.admit(ids, [f"text of number {number}" for number in range(begin, begin + 600)])
            index.flush()
        index.remove([f"d{number}" for number in range(10, 500)])
        there = np.concatenate([np.arange(10), np.arange(500, 1200)])
        store, made = index._store, []
        arange = np.arange
        monkeypatch.setattr(np, "arange", lambda *given, **more: made.append(given) or arange(*given, **more))
        for after, number in [(-1, 5), (4, 7), (4, 120), (590, 20), (599, 3), (1190, 20), (1199, 1)]:
            places = store.admitted_after(after, number)
            assert store.take("ordinal", places).tolist() == there[there > after][:number].tolist()
        assert all(len(range(*given)) <= 120 for given in made)


def stored(path, fingerprints):
    with ArraysWriter(Disk(), path, "documents") as writer:
        tables = HammingTables.build(np.array(fingerprints, np.uint64), DESIGN.distance, DESIGN)
        writer.finish({"tables": tables.write(writer, TABLES)})
    arrays = StoredArrays(Disk(), path, "documents")
    return HammingTables.read(arrays, TABLES, arrays.meta["tables"])


def near(one, other):
    return (one ^ other).bit_count() <= DESIGN.distance


@given(
    documents=st.lists(st.tuples(FINGERPRINTS, st.booleans()), min_size=1, max_size=20),
    queries=st.lists(st.tuples(FINGERPRINTS, st.booleans()), max_size=5),
    some=st.booleans(),
    room=st.integers(1, 4),
)
def test_finds_the_first_documents_that_are_near(tmp_path_factory, documents, queries, some, room):
    fingerprints, there = zip(*documents, strict=True)
    tables = stored(tmp_path_factory.mktemp("near") / "a", fingerprints)
    asked = np.array([query for query, _ in queries], np.uint64)
    asking = np.array([asks for _, asks in queries], np.bool_)
    hits = find_near(tables, asked, asking, np.array(there, np.bool_) if some else None, room)
    for row, (query, asks) in enumerate(queries):
        found = [
            number
            for number, own in enumerate(fingerprints)
            if asks and near(own, query) and (there[number] or not some)
        ]
        assert hits.documents[hits.bounds[row] : hits.bounds[row + 1]].tolist() == found[:room]


@pytest.mark.parametrize("members", [3, 4, 500])
def test_documents_that_share_a_key_are_counted(tmp_path, members):
    tables = stored(tmp_path / "a", [7] * members)
    hits = find_near(tables, np.array([7], np.uint64), np.ones(1, np.bool_), None, 3)
    assert hits.documents.tolist() == [0, 1, 2]
    assert hits.oversized == (members > 3)
