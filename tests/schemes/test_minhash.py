import math

import numpy as np
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


def test_layout_and_policy_do_not_change_the_recipe():
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
def test_every_parameter_of_the_recipe_changes_it(change):
    assert MinHash(**change).recipe != MinHash().recipe


def test_bands_do_not_go_with_a_recall():
    assert MinHash(bands=20).layout.bands == 20
    with pytest.raises(ParameterConflict, match=r"recall=0\.9 cannot be used with bands=20"):
        MinHash(bands=20, recall=0.9)


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
