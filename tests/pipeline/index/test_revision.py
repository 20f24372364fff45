"""Documents that are judged again: which, how often, and what they are then; see also ``test_index.py``."""

import random

import pytest

from neardup import FracMinHash, Index, MinHash, SimHash
from neardup.pipeline.index import revision
from neardup.pipeline.index.revision import Revision
from neardup.verdicts import ExactDuplicate, New

WORDS = [f"word{number}" for number in range(40)]
NOT_FOUND = "Not found"
STORM = "the storm broke over the harbour at dawn and nobody was hurt says the port of which three boats are missing"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


@pytest.fixture
def judged(monkeypatch):
    """List the documents that are judged again, step by step."""
    steps, decided = [], Revision._decided

    def listed(self, places, successor):
        steps.append(places.tolist())
        return decided(self, places, successor)

    monkeypatch.setattr(Revision, "_decided", listed)
    return steps


def without(*numbers, more=()):
    return " ".join([*(word for number, word in enumerate(WORDS) if number not in numbers), *more])


def test_copies_of_a_document_follow_it_to_a_closer_one(folder):
    """The second one is closer to the copies, but was not there when the first copy came."""
    first, second = without(*range(6), more=["a", "b"]), without(38, 39, more=["c", "d"])
    with Index.create(folder, MinHash(shingle=1, threshold=0.75), texts=True, representative="closest") as index:
        ids = ["first", "copy1", "second", "copy2", "copy3", "copy4"]
        index.admit(ids, [first, without(), second, *[without()] * 3])
        assert [document.representative for document in index.get(ids)] == ["first", "first", "second", *["first"] * 3]
        assert index.remove(["copy1"]).promoted == []
        assert [document.representative for document in index.get(ids[2:])] == ["second"] * 4


@pytest.mark.parametrize("text", [NOT_FOUND, STORM])
@pytest.mark.parametrize("copies", [3, 200])
def test_byte_identical_documents_have_one_representative(folder, text, copies):
    with Index.create(folder, texts=True) as index:
        index.admit([f"d{number}" for number in range(copies)], [text] * copies)
        assert index.remove(["d0"]).promoted == ["d1"]
        again = index.admit([f"e{number}" for number in range(100)], [text] * 100)
        assert again == [ExactDuplicate("d1")] * 100
        assert {verdict.representative for verdict in again} == {"d1"}
        assert index.stats().kept == 1


@pytest.mark.parametrize("flushed", [False, True])
def test_near_copies_have_one_representative_however_many_there_are(folder, flushed):
    with Index.create(folder) as index:
        index.admit([f"d{number}" for number in range(300)], [f"{STORM} copy {number}" for number in range(300)])
        if flushed:
            index.flush()
        assert index.remove(["d0"]).promoted == ["d1"]
        assert index.stats().kept == 1
        assert index.judge([f"{STORM} copy x"])[0].representative == "d1"


@pytest.mark.parametrize("removed", [1, 100])
def test_near_copies_are_compared_with_the_document_that_is_kept_now(folder, monkeypatch, removed):
    with Index.create(folder) as index:
        ids, asked, propose = [f"d{number}" for number in range(300)], [], index.store.propose
        index.admit(ids, [f"{STORM} copy {number}" for number in range(300)])

        def counted(rows, asking, *wider):
            asked.append(int(asking.sum()))
            return propose(rows, asking, *wider)

        monkeypatch.setattr(index.store, "propose", counted)
        assert index.remove(ids[:removed]).promoted == ids[removed : removed + 1]
        assert sum(asked) <= 2 * revision.FIRST


@pytest.mark.parametrize("scheme", [MinHash(permutations=16, recall=0.8), SimHash()], ids=["minhash", "simhash"])
def test_near_copies_have_one_representative_however_many_were_removed(folder, scheme):
    with Index.create(folder, scheme, durability="bulk") as index:
        ids = [f"d{number}" for number in range(1500)]
        index.admit(ids, [f"{STORM} copy {number}" for number in range(1500)])
        index.flush()
        kept = index.stats().kept
        index.remove(ids[:1300])
        assert index.stats().kept <= kept
        assert index.admit(["new"], [f"{STORM} copy 1400"])[0].representative
        assert index.stats().kept <= kept


def test_what_was_removed_in_the_same_step_is_not_promoted(folder):
    with Index.create(folder) as index:
        index.admit(["a", "b", "c"], [STORM] * 3, at=5)
        index.see(["c"], at=9)
        assert index.expire(7) == (2, ["c"])
        assert index.admit(["c", "d"], ["Another text by now", STORM]) == [New(), New()]


@pytest.mark.parametrize("size", [1, 3, revision.FIRST])
def test_no_document_is_judged_often(folder, judged, monkeypatch, size):
    """A step that ends early takes some again: those behind the document that it concerns."""
    monkeypatch.setattr(revision, "FIRST", size)
    rng = random.Random(size)  # noqa: S311 - no secrets
    texts = [" ".join(rng.sample(WORDS, 30)) for _ in range(150)]
    with Index.create(folder, MinHash(shingle=1, threshold=0.6), texts=True) as index:
        ids = [f"d{number}" for number in range(150)]
        index.admit(ids, texts)
        for name in [own.id for own in index.get(ids) if own.representative == own.id]:
            judged.clear()
            index.remove([name])
            decided = [place for step in judged for place in step]
            assert len(decided) <= 3 * len({*decided})


def test_the_work_is_that_of_the_cluster(folder, judged):
    with Index.create(folder, durability="bulk") as index:
        ids = [f"d{number}" for number in range(3000)]
        index.admit(
            ids, [f"{number // 100} " * 9 + f"is the number of this {number // 100} in all" for number in range(3000)]
        )
        index.flush()
        assert index.stats().kept == 30
        assert index.remove(["d500"]).promoted == ["d501"]
        assert sum(map(len, judged)) == 99


@pytest.mark.parametrize("scheme", [MinHash(), MinHash(permutations=16, recall=0.8), SimHash()])
@pytest.mark.parametrize(("texts", "seed"), [(True, 0), (False, 1)])
def test_the_successor_of_a_document_has_its_repeats_as_if_all_candidates_were_compared(
    monkeypatch, scheme, texts, seed
):
    """In clusters with oversized buckets, in files and in memory, with other kept documents between and among them."""
    rng = random.Random(seed)  # noqa: S311 - no secrets
    families = [[f"{family}{number}" for number in range(60)] for family in "abc"]

    def text():
        words = list(rng.choice(families))
        for _ in range(rng.choice((0, 1, 2, 3, 12))):
            words[rng.randrange(len(words))] = f"x{rng.randrange(500)}"
        return " ".join(words)

    given, ids, taken = [text() for _ in range(400)], [f"d{number}" for number in range(400)], []
    successor = Revision._successor

    def counted(self, removed, step):
        found = successor(self, removed, step)
        taken.append(found is not None and bool(found.finding.any()))
        return found

    monkeypatch.setattr(Revision, "_successor", counted)
    with Index.create(scheme=scheme, texts=texts) as index, Index.create(scheme=scheme, texts=texts) as plain:
        for begin in (0, 150, 300):
            part = slice(begin, {0: 150, 150: 300}.get(begin))
            for one in (index, plain):
                one.admit(ids[part], given[part])
                if begin < 300:
                    one.flush()
        for step in range(15):
            kept = [own.id for own in index.get(ids) if own and own.representative == own.id]
            changed = [*{rng.choice(kept[:3] if step % 3 else ids) for _ in range(rng.choice((1, 1, 9)))}]
            new = [text() for _ in changed]
            index.admit(changed, new)
            with monkeypatch.context() as patch:
                patch.setattr(Revision, "_successor", lambda *_: None)
                plain.admit(changed, new)
            assert [own.representative for own in index.get(ids)] == [own.representative for own in plain.get(ids)]
    assert any(taken) == (scheme.name == "minhash")


def test_a_removal_is_one_record(folder, monkeypatch):
    with Index.create(folder) as index:
        index.admit(["a", "b", "c"], [STORM] * 3)
        records, write = [], index.store._write
        monkeypatch.setattr(index.store, "_write", lambda kind, arrays: records.append(kind) or write(kind, arrays))
        index.remove(["a"])
        index.admit(["b"], ["Another text by now"])
        assert records == ["change", "change"]
        assert index.get(["c"])[0].representative == "c"


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("change", ["remove", "replace", "expire"])
def test_later_parts_of_a_promoted_document_become_its_repeats(change, texts):
    """Containment has a direction: the part is in the promoted document, not the other way round."""
    words = [f"Sentence {number} of a long article is about ferries." for number in range(100)]
    given = {"most": " ".join(words[:90]), "whole": " ".join(words), "part": " ".join(words[90:])}
    with Index.create(scheme=FracMinHash(), texts=texts) as index:
        index.admit(["most"], [given["most"]], at=1)
        index.admit(["whole", "part"], [given["whole"], given["part"]], at=9)
        assert [one.representative for one in index.get(["whole", "part"])] == ["most", "part"]
        match change:
            case "remove":
                index.remove(["most"])
            case "replace":
                index.admit(["most"], ["something else"], at=9)
            case "expire":
                index.expire(5)
        assert [one.representative for one in index.get(["whole", "part"])] == ["whole", "whole"]


@pytest.mark.parametrize("before", [3, 2])
def test_a_covered_representative_stays_covered_when_the_index_is_opened_again(tmp_path, before):
    """The third repeats the second, but not the first: it is passed on, and the second need not be."""
    words = [f"w{number}" for number in range(26)]
    ids, texts = ["a", "b", "c"], [" ".join(words[begin : begin + 20]) for begin in (0, 3, 6)]
    with Index.create(tmp_path / "index", texts=True) as index:
        said = index.visit(ids[:before], texts[:before])
        index.remove(["a"])
        said += index.visit(ids[before:], texts[before:])
        assert [verdict.representative for verdict in said] == [None, "a", None]
        assert index.visit(["b"], texts[1:2], remember=False)[0].representative == "b"
    with Index.open(tmp_path / "index") as index:
        assert index.visit(["b"], texts[1:2], remember=False)[0].representative == "b"
