import math

import numpy as np
import pyarrow as pa
import pytest
from batches import lists
from hypothesis import given
from hypothesis import strategies as st
from oracles import EMPTY, sketch

from neardup import Analysis, MinHash
from neardup.errors import ParameterConflict, ParameterError
from neardup.model.arrays import Corpus, Signatures
from neardup.model.recipe import Hashing
from neardup.schemes.laws import least_count
from neardup.schemes.minhash import rounds

KEY = bytes(range(16))
TEXTS = st.lists(st.none() | st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=9).map(" ".join), max_size=4)


def overlapping(random, size, shared):
    """Two texts of *size* distinct words each, *shared* of them common."""
    numbers = random.permutation(10**6)[: 2 * size - shared]
    return [" ".join(f"w{n}" for n in part) for part in (numbers[:size], numbers[size - shared :])]


@given(TEXTS, st.sampled_from([{}, {"seed": 5}, {"key": KEY}, {"bag": True}]))
def test_rows_equal_their_definition(texts, change):
    scheme = MinHash(shingle=2, permutations=16, recall=0.9, **change)
    signatures = scheme.sign(texts)
    features = scheme.features(texts)
    derived = Hashing(seed=scheme.seed, key=scheme.key).derive("minhash", 32 * 16)
    numbers = [int.from_bytes(derived[at : at + 8], "little") for at in range(0, len(derived), 8)]
    multipliers, addends = [number | 1 for number in numbers[:32]], numbers[32:]
    expected = [
        sketch(values, multipliers, addends) if values else [EMPTY] * 16
        for values in lists(features.values, features.offsets)
    ]
    assert signatures.rows.tolist() == expected
    assert signatures.present.tolist() == [row[0] != EMPTY for row in expected]
    assert signatures.rows.dtype == np.uint32
    assert signatures.recipe == scheme.recipe


@pytest.mark.parametrize("change", [{}, {"shingle": 5, "permutations": 64}, {"bag": True}], ids=str)
def test_estimates_are_the_share_of_equal_minima(change):
    scheme = MinHash(**change)
    texts = overlapping(np.random.default_rng(1), 100, 60)
    signatures = scheme.sign(texts)
    equal = (signatures.rows[0] == signatures.rows[1]).mean()
    assert scheme.estimate(signatures[:1], signatures[1:]).tolist() == [equal]
    assert scheme.estimate_pairs(signatures, np.array([0, 1]), np.array([1, 1])).tolist() == [equal, 1.0]


@pytest.mark.parametrize(("size", "shared"), [(5, 3), (20, 16), (40, 20), (400, 300), (5000, 4000)])
def test_estimates_are_unbiased_from_text(size, shared):
    """The mean over many seeds lies within four standard errors of the truth; the spread within its law."""
    true, trials, permutations = shared / (2 * size - shared), 120, 64
    texts = overlapping(np.random.default_rng(size), size, shared)
    found = []
    for seed in range(trials):
        scheme = MinHash(shingle=1, permutations=permutations, recall=0.9, seed=seed)
        signatures = scheme.sign(texts)
        found.append(scheme.estimate(signatures[:1], signatures[1:])[0])
    law = math.sqrt(true * (1 - true) / permutations)
    assert abs(np.mean(found) - true) <= 4 * law / math.sqrt(trials)
    assert np.std(found, ddof=1) <= law * (1 + 4 / math.sqrt(2 * trials))


def test_what_is_not_part_of_the_recipe():
    recipe = MinHash().recipe
    assert MinHash(threshold=0.9).recipe == recipe
    assert MinHash(recall=0.95).recipe == recipe


@pytest.mark.parametrize(
    "change",
    [
        {"shingle": 4},
        {"permutations": 256},
        {"seed": 2},
        {"key": KEY},
        {"bag": True},
        {"analysis": Analysis(unit="letter")},
        {"analysis": Analysis(stem="english")},
    ],
    ids=str,
)
def test_what_is(change):
    assert MinHash(**change).recipe != MinHash().recipe


def test_bands_do_not_go_with_a_recall():
    assert MinHash(bands=20).layout.bands == 20
    with pytest.raises(ParameterConflict, match=r"recall=0\.9 cannot be used with bands=20"):
        MinHash(bands=20, recall=0.9)


def test_a_seed_does_not_go_with_a_key():
    with pytest.raises(ParameterError, match="seed=2 cannot be used with a key"):
        MinHash(key=KEY, seed=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("permutations", 0),
        ("permutations", 12),
        ("permutations", -8),
        ("permutations", 64.0),
        ("permutations", 65544),
        ("threshold", 0),
        ("threshold", 1.01),
        ("threshold", -0.5),
        ("threshold", float("nan")),
        ("threshold", "0.8"),
        ("threshold", None),
        ("recall", 0),
        ("recall", 1),
        ("recall", 1.0),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", 1.5),
        ("shingle", 0),
        ("shingle", 1001),
        ("analysis", "word"),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        MinHash(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


@pytest.mark.parametrize("key", [b"", b"short", "sixteen letters!", bytearray(16), b"x" * 17], ids=repr)
def test_a_key_is_16_bytes(key):
    with pytest.raises(ParameterError, match="16 bytes"):
        MinHash(key=key)


def test_a_recall_out_of_reach_says_so():
    with pytest.raises(ParameterError, match="permutations=8") as caught:
        MinHash(permutations=8, threshold=0.1, recall=0.999)
    assert "0.999" in str(caught.value)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.55, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("permutations", [64, 128, 200])
def test_matches_begin_at_theleast_count(threshold, permutations):
    needed = least_count(permutations, threshold)
    assert needed / permutations >= threshold
    assert (needed - 1) / permutations < threshold
    scheme = MinHash(permutations=permutations, threshold=threshold, recall=0.5)
    rows = np.zeros((3, permutations), np.uint32)
    rows[1, needed:] = 1  # as many equal columns as it takes, and one fewer
    rows[2, needed - 1 :] = 1
    signatures = Signatures(rows, np.ones(3, np.bool_), scheme.recipe)
    assert scheme.matches(signatures[[0, 0]], signatures[[1, 2]]).tolist() == [True, False]


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8])
def test_probability_is_the_binomial_tail(threshold):
    scheme = MinHash(permutations=64, threshold=threshold, recall=0.9)
    needed = math.ceil(threshold * 64)
    for true in (0.0, 0.1, threshold, 0.75, 0.99, 1.0):
        tail = sum(math.comb(64, k) * true**k * (1 - true) ** (64 - k) for k in range(needed, 65))
        assert scheme.probability(true) == pytest.approx(tail, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("recall", [0.9, 0.999])
def test_the_floor_misses_as_few_as_it_says(threshold, recall):
    scheme = MinHash(permutations=128, threshold=threshold, recall=recall)
    lowest = round(scheme.floor * 128)
    below = 1 - MinHash(permutations=128, threshold=max(scheme.floor, 1e-9), recall=0.5).probability(threshold)
    assert below <= (1 - recall) / 10
    above = sum(math.comb(128, k) * threshold**k * (1 - threshold) ** (128 - k) for k in range(lowest + 1))
    assert above > (1 - recall) / 10 or threshold == 1.0  # one count more would miss too many
    assert scheme.floor <= threshold


def test_keys_are_bands_and_differ_by_column():
    scheme = MinHash()
    signatures = scheme.sign(["one two three four"])
    keys = scheme.keys(signatures)
    assert keys.shape == (1, scheme.layout.bands)
    assert keys.dtype == np.uint64
    assert len({*keys[0].tolist()}) == scheme.layout.bands


def test_signatures_are_chosen_by_position_slice_and_flag():
    signatures = MinHash().sign(["one two three", "", "four five six"])
    for chosen in (slice(1, 3), np.array([1, 2]), np.array([False, True, True])):
        part = signatures[chosen]
        assert (part.rows == signatures.rows[1:]).all()
        assert part.present.tolist() == [False, True]
        assert part.recipe == signatures.recipe
        assert len(part) == 2


def test_arrow_and_lists_are_signed_alike():
    texts = ["one two three four", None, "é 你 three four"]
    scheme = MinHash()
    rows = scheme.sign(texts).rows
    for column in (pa.array(texts), pa.array(texts).dictionary_encode(), pa.chunked_array([texts[:1], texts[1:]])):
        assert (scheme.sign(column).rows == rows).all()


def test_short_rows_have_the_keys_of_whole_rows_and_no_lower_estimates():
    """Where a band has one minimum, rows stay as they are."""
    texts = [f"word{n} word{n + 1} word{n + 2} word{n + 3} word{n % 5}" for n in range(40)] + ["", "one"]
    scheme = MinHash(shingle=2, permutations=64)
    corpus = Corpus(scheme.features(texts), None, None)
    positions = np.arange(len(texts))
    full, short = scheme.sign_at(corpus, positions), scheme.sign_short_at(corpus, positions)
    assert (short.rows.dtype, short.recipe, short.present.tolist()) == (np.uint16, full.recipe, full.present.tolist())
    left, right = np.triu_indices(len(texts), 1)
    assert (scheme.estimate_pairs(short, left, right) >= scheme.estimate_pairs(full, left, right)).all()
    keys = scheme.keys(short)
    assert keys.shape[1] == scheme.key_count
    for column in range(scheme.key_count):
        assert scheme.key_column(short, column, positions[::-1]).tolist() == keys[::-1, column].tolist()
    assert (keys == scheme.keys(full))[full.present].all()
    assert (scheme.shortened(full).rows == short.rows).all()
    assert scheme.shortened(short) is short
    loose = MinHash(shingle=2, threshold=0.06)
    assert loose.sign_short_at(corpus, positions).rows.dtype == np.uint32
    assert loose.shortened(full) is full


@pytest.mark.parametrize("bins", [1, 64, 84])
def test_multipliers_are_odd_and_all_numbers_differ(bins):
    multipliers, addends = rounds(Hashing(), "minhash", bins)
    assert len(multipliers) == len(addends) == 2 * bins
    assert (multipliers & np.uint64(1)).all()
    assert len({*multipliers.tolist(), *addends.tolist()}) == 4 * bins


def test_every_purpose_and_key_has_its_own():
    chosen = [rounds(hashing, purpose, 2) for hashing in (Hashing(), Hashing(key=bytes(16))) for purpose in "ab"]
    assert len({number for pair in chosen for part in pair for number in part.tolist()}) == 4 * 8


def test_they_are_the_derived_bytes():
    derived = Hashing(seed=3).derive("trials", 64)
    numbers = [int.from_bytes(derived[at : at + 8], "little") for at in range(0, 64, 8)]
    multipliers, addends = rounds(Hashing(seed=3), "trials", 2)
    assert multipliers.tolist() == [number | 1 for number in numbers[:4]]
    assert addends.tolist() == numbers[4:]
