from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from neardup import MinHash
from neardup.decisions import partners
from neardup.evaluation.labelling import MOST
from neardup.model.errors import DataError, ParameterError
from neardup.pipeline.labels import pool
from neardup.pipeline.labels.labelling import Labelling
from neardup.pipeline.labels.pool import draw_pairs
from neardup.pipeline.partners.pairs import pairs
from neardup.schemes.checksum import Checksum


def collection(families=40, seed=3):
    """Families of documents, each with some edits of its first one, and documents without words."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(3_000)])
    texts = []
    for _ in range(families):
        first = words[random.integers(0, len(words), random.integers(10, 60))]
        for _ in range(random.integers(1, 6)):
            changed = first.copy()
            places = random.random(len(first)) < random.random() / 3
            changed[places] = words[random.integers(0, len(words), places.sum())]
            texts.append(" ".join(changed[: random.integers(len(first) // 4, len(first) + 1)]))
    return ["", *texts, "", texts[0], texts[0].upper()]


@pytest.fixture(scope="module")
def texts():
    return collection()


def answers_of(pool, number, border=0.5):
    told = []
    while len(told) < number and (pair := pool.draw(told)):
        told.append(pair.labelled("same" if pair.resemblance >= border else "different"))
    return told


def test_pairs_have_their_texts_and_their_resemblance(texts):
    found = pairs(texts, threshold=0.001)
    exact = {(row["left"], row["right"]): row["resemblance"] for row in found.to_pylist()}
    told = answers_of(draw_pairs(texts), 40)
    assert len({one.pair for one in told}) == len(told) == 40
    for one in told:
        assert (one.text_a, one.text_b) == (texts[int(one.a)], texts[int(one.b)])
        assert int(one.a) < int(one.b)
        assert exact.get((one.a, one.b), 0.0) == pytest.approx(one.resemblance, abs=1e-6)
    places = np.array([one.resemblance for one in told])
    assert (np.histogram(places, np.linspace(0.2, 1, 9))[0] > 0).sum() >= 6


def test_the_same_pairs_for_the_same_seed(texts):
    one, other = (answers_of(draw_pairs(texts, threads=threads), 30) for threads in (1, 3))
    assert one == other
    assert answers_of(draw_pairs(texts, seed=2), 30) != one
    assert answers_of(draw_pairs(texts, seed=2**63), 3)


def test_practically_known_pairs_get_few_labels():
    told = answers_of(draw_pairs([*["the same words again and again"] * 30, *collection(3)]), 1_000)
    assert 1 <= sum(one.resemblance == 1 for one in told) <= MOST
    assert 1 <= sum(one.resemblance < 0.05 for one in told) <= MOST


def test_weights_are_the_pairs_of_the_collection(texts):
    exact = pairs(texts, threshold=0.2)["resemblance"].to_numpy()
    pool = draw_pairs(texts)
    for number in (12, 40, 1_000):
        told = pool.weighed(answers_of(pool, number))
        for low in (0.3, 0.5, 0.7):
            inside = [one.weight for one in told if low <= one.resemblance < low + 0.1]
            if inside:
                assert sum(inside) == pytest.approx(((exact >= low) & (exact < low + 0.1)).sum())


def test_a_sample_estimates_the_pairs_of_the_whole_collection():
    texts = collection(150)
    exact = (pairs(texts, threshold=0.5)["resemblance"].to_numpy() < 1).sum()
    estimates = []
    for seed in range(12):
        pool = draw_pairs(texts, sample=len(texts) // 3, seed=seed)
        assert pool.sample == len(texts) // 3
        told = pool.weighed(answers_of(pool, 200))
        estimates.append(sum(one.weight for one in told if 0.5 <= one.resemblance < 1))
    assert np.mean(estimates) == pytest.approx(exact, rel=0.2)


def test_weighed_estimates_of_shares_are_unbiased():
    # A large cluster and pairs: of all pairs, most are in the cluster, but most documents are not.
    base = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"]
    random = np.random.default_rng(1)
    texts = [" ".join([*base, f"x{one}", f"y{one}", f"z{one}"]) for one in range(30)]
    for one in range(60):
        own = [f"{one}v{number}" for number in random.permutation(20)]
        texts += [" ".join([*own, f"{side}{one}", f"s{side}{one}", f"t{side}{one}"]) for side in "lr"]
    shares = []
    for seed in range(20):
        pool = draw_pairs(texts, seed=seed)
        told = pool.weighed(answers_of(pool, 40))
        inside = [one for one in told if 0.6 <= one.resemblance < 1]
        cluster = sum(one.weight for one in inside if one.text_a.startswith("a b"))
        shares.append(cluster / sum(one.weight for one in inside))
    assert np.mean(shares) == pytest.approx(435 / 495, abs=0.08)


def test_answers_about_other_pairs_keep_their_weights(texts):
    pool = draw_pairs(texts)
    told, last = answers_of(pool, 10), answers_of(pool, 1_000)[-1]  # pairs before the last one have no answer
    others = [replace(last, weight=7.0), replace(last, a="x", weight=7.0)]
    assert pool.weighed([*told, *others]) == [*pool.weighed(told), *others]


def test_documents_with_the_id_of_an_earlier_one_are_left_out():
    rows = {"id": ["a", "b", "a", "c"], "text": ["one two three four", "one two three five", "other", "one two three"]}
    pool = draw_pairs(pa.table(rows))
    assert pool.documents == 3
    assert pool.text("a") == "one two three four"
    assert pool.text("d") is None
    assert all("other" not in (one.text_a, one.text_b) for one in answers_of(pool, 100))


@pytest.mark.parametrize("texts", [[], ["one two three"], ["", " "], ["", "one two three", None]])
def test_fewer_than_two_documents_with_words(texts):
    with pytest.raises(DataError, match="no pairs to label; at least two documents with words are needed"):
        draw_pairs(texts)


def test_two_documents_have_one_pair():
    pool = draw_pairs(["one two three four five", "one two three four six"])
    assert (len(pool), repr(pool)) == (1, "PairPool(pairs=1, documents=2, sample=2)")
    pool = draw_pairs(["one two three four five", "six seven eight nine ten"])
    assert len(answers_of(pool, 10)) == 1
    assert pool.draw(answers_of(pool, 10)) is None


@pytest.mark.parametrize("number", [2, 5])
def test_random_pairs_of_few_documents_count_once(number):
    pool = draw_pairs([" ".join(f"w{document}x{word}" for word in range(9)) for document in range(number)])
    every = number * (number - 1) // 2
    assert sum(one.weight for one in pool.weighed(answers_of(pool, MOST))) == pytest.approx(every)


def test_templates_and_equal_documents_are_sampled_less():
    template = " ".join(f"t{number}" for number in range(50))
    pool = draw_pairs([f"{template} {number}" for number in range(300)])
    assert len(answers_of(pool, 50)) == 50
    assert len(answers_of(draw_pairs(["x"] * 600), 50)) == MOST


def test_a_few_pairs_are_in_memory_at_a_time(monkeypatch):
    """However many there are: here, each document is a partner of each other one."""
    same = [f"the same words in each of these documents {number}" for number in range(60)]
    whole, seen, note = answers_of(draw_pairs(same), 30), [], pool._PairSearch._note
    monkeypatch.setattr(partners, "_ROOM", 100)
    monkeypatch.setattr(
        pool._PairSearch, "_note", lambda self, left, *found: seen.append(len(left)) or note(self, left, *found)
    )
    assert answers_of(draw_pairs(same), 30) == whole
    assert sum(seen) == 60 * 60
    assert max(seen) <= 100 + 60


def test_wrong_parameters_are_named():
    with pytest.raises(ParameterError, match="compares fields"):
        draw_pairs(["one", "two"], scheme=Checksum())
    for name, value in (("sample", 0), ("seed", -1), ("sample", 2.5)):
        with pytest.raises(ParameterError) as caught:
            draw_pairs(["one", "two"], **{name: value})
        assert caught.value.name == name


@pytest.mark.parametrize("kind", [None, pa.binary(), pa.large_binary(), pa.binary_view()])
@pytest.mark.parametrize("repeated", [False, True])
def test_texts_that_are_not_utf8_can_be_labelled(tmp_path, texts, kind, repeated):
    ids = ["0", *map(str, range(len(texts) - 1))] if repeated else [*map(str, range(len(texts)))]
    broken = [f"{text} \ud800" for text in texts]
    raw = [text.encode("utf-8", "surrogatepass") for text in broken]
    column = broken if kind is None else pa.array(raw).cast(kind)
    documents = [{"text": text, "id": own} for text, own in zip(broken, ids, strict=True)]
    pool = draw_pairs(documents if kind is None else pa.table({"text": column, "id": ids}))
    with Labelling(pool, str(tmp_path / "labels.jsonl"), wanted=2) as labelling:
        assert labelling.current.text_a.endswith(" \ufffd\ufffd\ufffd")
        assert pool.text(labelling.current.a) == labelling.current.text_a
        labelling.answer("same")
    assert labelling.answers[0].text_b.endswith(" \ufffd\ufffd\ufffd")


@pytest.mark.parametrize("threshold", [0.25, 0.6])
def test_the_first_pair_is_near_the_threshold_of_the_scheme(texts, threshold):
    pool = draw_pairs(texts, scheme=MinHash(threshold=threshold))
    assert pool.draw([]).resemblance == pytest.approx(threshold, abs=0.15)
