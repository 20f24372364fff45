import gc
import tracemalloc
import weakref

import numpy as np
import pyarrow as pa
import pytest

from neardup import Checksum, Combined, MinHash, Sentences, SimHash, Trials, dedup, resemblance
from neardup.errors import ParameterError
from neardup.model.arrays import Corpus

LINE = "harbour light evening quiet boat water stone bridge market bread winter letter garden window music road"
WORDS = LINE.split()


def text(*changes):
    words = WORDS * 4
    for place in changes:
        words[place] = f"change{place}"
    return " ".join(words)


TEXTS = [text(), text(3), text(*range(0, 64, 8)), "", text(*range(0, 60, 2)), None, " ".join(sorted(WORDS * 4)), "..."]
LOOSE = Combined(MinHash(shingle=2, threshold=0.3), SimHash(distance=4))


def positions(signatures):
    return (found.ravel() for found in np.indices((len(signatures), len(signatures))))


def test_the_default_is_the_published_filter():
    scheme = Combined()
    assert (scheme.first, scheme.second) == (
        Trials(words=8, hashes=14, trials=6, needed=2),
        SimHash(bits=384, distance=29),
    )
    assert 384 - scheme.second.distance == 355
    signatures = scheme.sign([text()])
    assert signatures.rows.nbytes == 48 + 48  # both take the same room


def test_both_schemes_have_the_same_key_or_none():
    key, other = bytes(16), bytes(range(16))
    keyed = Combined(MinHash(key=key), SimHash(key=key))
    assert keyed.with_key(other) == Combined(MinHash(key=other), SimHash(key=other))
    for first, second in ((key, None), (None, key), (key, other)):
        with pytest.raises(ParameterError, match="second must have the key of the first scheme, or none"):
            Combined(MinHash(key=first), SimHash(key=second))


def test_rows_hold_both_signatures_side_by_side():
    scheme = Combined(Sentences(size=3), SimHash(bits=128))
    rows = scheme.sign(TEXTS).rows
    one, other = scheme.first.sign(TEXTS).rows, scheme.second.sign(TEXTS).rows
    assert rows.dtype == np.uint64
    assert rows.shape == (len(TEXTS), 2 + 2)  # 12 bytes take two words
    for row, first, second in zip(rows, one, other, strict=True):
        assert row.tobytes() == first.tobytes() + bytes(4) + second.tobytes()


@pytest.mark.parametrize(
    "scheme",
    [LOOSE, Combined(MinHash(shingle=1), SimHash()), Combined(SimHash(distance=9), Sentences())],
    ids=["other features", "the same features", "a filter of sentences"],
)
@pytest.mark.parametrize("chunks", [1, 3])
def test_a_corpus_is_signed_as_its_texts_are(scheme, chunks, monkeypatch):
    monkeypatch.setattr("neardup.schemes.combined._TOGETHER", 2)
    column = pa.chunked_array(list(np.array_split(np.array(TEXTS, object), chunks)), pa.string())
    whole = scheme.sign(column)
    picked = scheme.sign_at(Corpus(scheme.first.features(column), None, column), np.array([3, 0, 5, 1, 2]))
    assert picked.rows.tolist() == whole.rows[[3, 0, 5, 1, 2]].tolist()
    assert picked.present.tolist() == whole.present[[3, 0, 5, 1, 2]].tolist()
    nothing = scheme.sign_at(Corpus(scheme.first.features(column), None, column), np.empty(0, np.int64))
    assert nothing.rows.shape == (0, whole.rows.shape[1])


def test_an_iterator_is_read_once():
    assert LOOSE.sign(iter(TEXTS)).rows.tolist() == LOOSE.sign(TEXTS).rows.tolist()


def test_both_must_match():
    signatures = LOOSE.sign(TEXTS)
    left, right = positions(signatures)
    first, second = (part.sign(TEXTS) for part in (LOOSE.first, LOOSE.second))
    by_first, by_second = LOOSE.first.match_pairs(first, left, right), LOOSE.second.match_pairs(second, left, right)
    assert LOOSE.match_pairs(signatures, left, right).tolist() == (by_first & by_second).tolist()
    assert LOOSE.passes(signatures, left, right).tolist() == by_second.tolist()
    assert 0 < (by_first & by_second).sum() < by_first.sum()


def test_signatures_are_taken_apart_once_and_not_kept():
    signatures = LOOSE.sign(TEXTS)
    one, other = LOOSE.parts(signatures)
    assert LOOSE.with_threshold(0.5).parts(signatures) == (one, other)
    assert (one.rows == LOOSE.first.sign(TEXTS).rows)[one.present].all()
    seen = weakref.ref(one)
    del one, other, signatures
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("question", ["passes", "match_pairs", "estimate_pairs"])
def test_questions_about_many_pairs_copy_no_rows(question):
    scheme, number = Combined(MinHash(permutations=1024), SimHash()), 100_000
    signatures = scheme.sign([f"{text()} {n}" for n in range(100)])
    left, right = np.random.default_rng(1).integers(0, 100, (2, number))
    ask = getattr(scheme, question)
    expected = ask(signatures, left, right)
    tracemalloc.start()
    try:
        assert (ask(signatures, left, right) == expected).all()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * number  # a row has 4,104 bytes


def test_a_document_that_one_scheme_cannot_sign_has_no_signature():
    signatures = Combined(MinHash(), Sentences()).sign(["if so", text()])  # no word of three letters
    assert signatures.present.tolist() == [False, True]


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_what_the_filter_refuses_is_kept(verify):
    texts = [text(), text(3), text(*range(0, 64, 8))]
    alone = dedup(texts, scheme=LOOSE.first, verify=verify, threads=1)
    assert alone.kept.tolist() == [0]
    strict = Combined(LOOSE.first, SimHash(distance=0))
    filtered = dedup(texts, scheme=strict, verify=verify, threads=1)
    assert filtered.kept.tolist() == [0, 1, 2]
    assert dedup(texts, scheme=LOOSE, verify=verify, threads=2).kept.tolist() == [0, 2]


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_a_first_that_is_a_filter_itself_stays_one(verify):
    """Keys of a few bits propose unrelated documents to a second that refuses nothing."""
    texts = [text(*range(changes)) for changes in range(40)]
    first, everything = SimHash(distance=12, threshold=0.01), SimHash(seed=2, distance=63)
    alone = dedup(texts, scheme=first, verify=verify, threads=1).kept.tolist()
    combined = Combined(first, everything)
    assert dedup(texts, scheme=combined, verify=verify, threads=1).kept.tolist() == alone
    assert 1 < len(alone) < 40


def test_a_threshold_is_the_firsts():
    assert LOOSE.with_threshold(0.7) == Combined(MinHash(shingle=2, threshold=0.7), LOOSE.second)
    assert LOOSE.with_threshold(0.7).recipe == LOOSE.recipe


@pytest.mark.parametrize("part", [Checksum(), Combined(), "minhash", None, MinHash], ids=str)
def test_only_schemes_of_texts_can_be_combined(part):
    with pytest.raises(ParameterError, match="must be a scheme that signs texts"):
        Combined(MinHash(), part)
    with pytest.raises(ParameterError, match="must be a scheme that signs texts"):
        Combined(part, MinHash())


# The law.


def versions(random, number, changes, words=1507):
    """Pairs of texts of distinct words, of which the second has some changed, far enough apart; and its 8-word law.

    Each change breaks 8 of the 1,500 sequences of eight words, and one word of 1,507.
    """
    left, right = [], []
    for _ in range(number):
        one = [f"w{n}" for n in random.choice(10**6, words, replace=False)]
        other = one.copy()
        for place in 8 + 8 * random.choice(words // 8 - 2, changes, replace=False):
            other[place] = f"x{one[place]}"
        left.append(" ".join(one))
        right.append(" ".join(other))
    whole, broken = words - 7, 8 * changes
    return left, right, (whole - broken) / (whole + broken)


@pytest.mark.parametrize("changes", [3, 6, 9, 12, 15])
def test_the_default_matches_nearly_as_often_as_its_bound_says(changes):
    scheme, number = Combined(), 400
    left, right, true = versions(np.random.default_rng(changes), number, changes)
    assert resemblance(left[0], right[0], shingle=8) == true
    bound = float(scheme.probability(true))
    error = np.sqrt(max(bound * (1 - bound), 0.25 / number) / number)
    rate = scheme.matches(scheme.sign(left), scheme.sign(right)).mean()
    assert bound - 4 * error - 0.02 <= rate <= bound + 4 * error  # the second takes hardly any of these away


def test_a_second_that_looks_at_something_else_only_takes_away():
    """A first part kept and the rest exchanged: few sequences differ for so many words."""
    scheme, number = Combined(Trials(words=8), SimHash(bits=384, distance=15)), 300
    random = np.random.default_rng(2)
    texts = [[f"w{n}" for n in random.choice(10**6, 1500 + 50, replace=False)] for _ in range(number)]
    left, right = ([" ".join(words[begin : begin + 1500]) for words in texts] for begin in (0, 50))
    true = resemblance(left[0], right[0], shingle=8)
    rate = scheme.matches(scheme.sign(left), scheme.sign(right)).mean()
    assert rate < scheme.probability(true) - 0.2


@pytest.mark.parametrize("changes", [50, 70, 90])
def test_two_that_look_at_the_same_match_at_most_as_often_as_the_first(changes):
    first, second = MinHash(shingle=1, threshold=0.9), Trials(words=1)
    scheme, number = Combined(first, second), 400
    left, right, _ = versions(np.random.default_rng(changes), number, changes)
    true = resemblance(left[0], right[0], shingle=1)
    law = float(scheme.probability(true))
    assert law == first.probability(true)
    error = np.sqrt(law * (1 - law) / number)
    assert scheme.matches(scheme.sign(left), scheme.sign(right)).mean() <= law + 4 * error
