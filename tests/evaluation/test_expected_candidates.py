from functools import partial

import numpy as np
import pytest

import neardup
from neardup.evaluation import expected_candidates as module
from neardup.evaluation.expected_candidates import (
    ExpectedCandidates,
    background_of,
    candidates_by_law,
    expected_candidates,
)


def measured(keys, *, position_independent=False):
    """The definition: candidates of a document, and others in a bucket of it, on average."""
    rows = keys.tolist()
    met, shared = 0, 0
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            if i != j:
                common = len({*one} & {*other}) if position_independent else sum(map(int.__eq__, one, other))
                met += common > 0
                shared += common / (len({*one}) if position_independent else len(one))
    return met / len(rows), shared / len(rows)


@pytest.mark.parametrize("position_independent", [False, True])
def test_of_all_documents_it_is_the_definition(position_independent):
    keys = np.random.default_rng(1).integers(0, 60, (90, 4), np.uint64)
    found = expected_candidates(keys, 90, position_independent=position_independent)
    assert (found.candidates, found.bucket) == pytest.approx(measured(keys, position_independent=position_independent))


def test_related_documents_do_not_count():
    keys = np.array([[1, 2, 3], [1, 2, 3], [1, 9, 8], [7, 6, 5]], np.uint64)
    found = expected_candidates(keys, 4, most=2)
    assert (found.candidates, found.bucket) == (4 / 4, 4 / 4 / 3)


@pytest.mark.parametrize(
    ("scheme", "background"), [(neardup.FracMinHash(shingle=1), 0.1), (neardup.Sentences(), 0.1 / 1.9)]
)
def test_unrelated_documents_share_several_keys_that_count_in_any_column(scheme, background):
    """Each document has 200 of 2,000 words or sentences: of 10 % of its keys, each other one has the same."""
    random = np.random.default_rng(3)
    texts = [" ".join(f"Word{one}." for one in random.permutation(2000)[:200]) for _ in range(200)]
    related = [f"{text} New{number}." for number, text in enumerate(texts[:20])]
    keys = scheme.keys(scheme.sign(texts + related))
    found = expected_candidates(keys, 10**6, position_independent=True, most=2)
    assert found.bucket == pytest.approx(candidates_by_law(scheme, 10**6, background).bucket, rel=0.1)


@pytest.mark.parametrize("background", [0.03, 0.2])
def test_the_background_is_that_of_the_law(background):
    found = candidates_by_law(neardup.MinHash(), 10**6, background)
    assert background_of(neardup.MinHash(), found) == pytest.approx(background, rel=1e-3)


def texts(number, seed):
    """Unrelated documents with words of a small vocabulary, by Zipf's law; they share some shingles."""
    random = np.random.default_rng(seed)
    chances = 1 / np.arange(1, 301)
    drawn = random.choice(300, (number, 60), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in words) for words in drawn.tolist()]


@pytest.mark.parametrize(
    "scheme",
    [
        neardup.MinHash(shingle=1, permutations=64, bands=16, threshold=0.6),
        neardup.SimHash(bits=64, distance=7, blocks=8),
        neardup.Trials(words=1, hashes=2),
    ],
    ids=lambda scheme: scheme.name,
)
def test_a_sample_predicts_larger_collections(scheme):
    """At 4 and 16 times the sample; averaged over samples, a biased estimate would be outside."""
    keys = scheme.keys(scheme.sign(texts(4000, 3)))
    for documents in (1000, 4000):
        expected = partial(expected_candidates, documents=documents, position_independent=scheme.position_independent)
        exact = expected(keys[:documents])
        assert exact.candidates > 1
        samples = [expected(keys[begin : begin + 250]) for begin in range(0, documents, 250)]
        assert np.mean([one.candidates for one in samples]) == pytest.approx(exact.candidates, rel=0.15)
        assert np.mean([one.bucket for one in samples]) == pytest.approx(exact.bucket, rel=0.15)
        assert samples[0].candidates == pytest.approx(exact.candidates, rel=0.5)


@pytest.mark.parametrize(
    "scheme",
    [
        neardup.MinHash(shingle=1),
        neardup.MinHash(shingle=1, permutations=64, bands=17),
        neardup.SimHash(blocks=4),
        neardup.Trials(words=1, hashes=2, trials=5),
        neardup.Combined(neardup.Trials(words=1, hashes=2, trials=5), neardup.SimHash()),
        neardup.FracMinHash(shingle=1),
        neardup.Sentences(),
    ],
    ids=lambda scheme: scheme.name,
)
def test_a_bucket_has_the_documents_that_share_its_key(scheme):
    """Not the candidates divided by the keys: a pair may share several, and a document may have few."""
    common, value = (380, 0.95) if scheme.measure != "resemblance" else (240, 240 / 560)
    pairs = [
        [" ".join(f"W{pair}x{word}." for word in range(begin, begin + 400)) for begin in (0, 400 - common)]
        for pair in range(600)
    ]
    keys = scheme.keys(scheme.sign([text for pair in pairs for text in pair])).reshape(len(pairs), 2, -1)
    if scheme.position_independent:
        shared = [len({*one} & {*other}) / len({*one}) for one, other in keys.tolist()]
    else:
        shared = (keys[:, 0] == keys[:, 1]).mean(axis=1)
    law = candidates_by_law(scheme, 1001, value)
    assert law.bucket == pytest.approx(1000 * np.mean(shared), rel=0.12)
    assert law.candidates >= law.bucket


def test_oversized_buckets_overflow_in_large_collections():
    keys = np.arange(400, dtype=np.uint64).reshape(200, 2)
    assert not expected_candidates(keys, 10**9).overflows
    keys[:100, 0] = 7  # a quarter of the pairs of the column: on average an eighth of the others in a bucket
    assert not expected_candidates(keys, 500).overflows
    assert expected_candidates(keys, 600).overflows


def test_large_samples_are_thinned(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 50)
    keys = np.random.default_rng(1).integers(0, 60, (99, 4), np.uint64)
    assert expected_candidates(keys, 10**6) == expected_candidates(keys[::2], 10**6)


def test_the_law_of_the_default_scheme():
    """37 bands of 3 or 4 minima: a pair at 0.05 meets with a probability of 2.6 in a thousand."""
    found = candidates_by_law(neardup.MinHash(), 40_000_001, 0.05)
    assert found.candidates == pytest.approx(40_000_000 * 2.6e-3, rel=0.02)
    assert found.bucket == pytest.approx(40_000_000 * (20 * 0.05**3 + 17 * 0.05**4) / 37)
    assert found.overflows
    assert candidates_by_law(neardup.MinHash(), 40_000_000, 0).candidates == 0


def test_a_bucket_of_just_its_room_does_not_overflow():
    full, more = (ExpectedCandidates(documents=99, candidates=64.0, bucket=bucket) for bucket in (64.0, 64.1))
    assert (full.overflows, more.overflows) == (False, True)
