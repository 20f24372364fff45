import json
from fractions import Fraction
from itertools import pairwise, product
from math import comb, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import MinHash, Sentences, SimHash, Trials
from neardup.errors import ParameterError
from neardup.model.layout import Banding, Blocks
from neardup.schemes.laws import bands_and_sample_law, bit_agreement, hamming_law, sample_law, smallest_law, trials_law

SHARES = st.fractions(0, 1, max_denominator=100)
GRID = np.linspace(0, 1, 41)


def tail(number, needed, chance):
    return sum(comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(max(needed, 0), number + 1))


@given(SHARES, st.integers(1, 12), st.integers(1, 8), st.data())
def test_trials(share, hashes, trials, data):
    needed = data.draw(st.integers(1, trials))
    exact = tail(trials, needed, share**hashes)
    assert trials_law(float(share), hashes, trials, needed) == pytest.approx(float(exact), rel=1e-9, abs=1e-15)


@given(SHARES, st.integers(1, 30), st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_samples(share, size, threshold):
    least = next(count for count in range(size + 1) if count / size >= float(threshold))
    exact = tail(size, least, share)
    assert sample_law(float(share), size, float(threshold)) == pytest.approx(float(exact), rel=1e-9, abs=1e-15)


@given(SHARES, st.integers(1, 9))
def test_smallest_values_by_walking_from_the_smallest_on(share, size):
    """How likely no value is in both while each document has had so many of its own."""
    none = {(0, 0): Fraction(1)}
    for ones, others in product(range(size), repeat=2):
        for after in ((ones + 1, others), (ones, others + 1)):
            none[after] = none.get(after, 0) + none[ones, others] * (1 - share) / 2
    exact = 1 - sum(chance for counts, chance in none.items() if size in counts)
    assert smallest_law(float(share), size) == pytest.approx(float(exact), abs=1e-12)


@given(SHARES, st.integers(1, 9), st.integers(1, 10), st.data())
def test_bands_and_samples_by_looking_at_every_outcome(share, permutations, tenths, data):
    bands = data.draw(st.integers(1, permutations))
    edges = Banding(permutations=permutations, bands=bands).edges.tolist()
    exact = Fraction(0)
    for outcome in product((0, 1), repeat=permutations):
        agreeing = sum(outcome)
        if agreeing / permutations >= tenths / 10 and any(all(outcome[begin:end]) for begin, end in pairwise(edges)):
            exact += share**agreeing * (1 - share) ** (permutations - agreeing)
    found = bands_and_sample_law(float(share), permutations, bands, tenths / 10)
    assert found == pytest.approx(float(exact), abs=2e-12)


@pytest.mark.parametrize(("cosine", "chance"), [(1, 1), (0.5, 2 / 3), (0, 1 / 2), (-0.5, 1 / 3), (-1, 0)])
def test_bits_agree_as_the_angle_says(cosine, chance):
    assert bit_agreement(cosine) == pytest.approx(chance)


@given(SHARES, st.integers(1, 20), st.data())
def test_hamming(share, bits, data):
    distance = data.draw(st.integers(0, bits - 1))
    cosine = float(np.cos(float(1 - share) * pi))
    exact = tail(bits, bits - distance, share)
    assert hamming_law(cosine, bits, distance) == pytest.approx(float(exact), abs=1e-6)


LAWS = {
    "trials": lambda share: trials_law(share, 14, 6, 2),
    "sample": lambda share: sample_law(share, 128, 0.6),
    "smallest": lambda share: smallest_law(share, 64),
    "both": lambda share: bands_and_sample_law(share, 128, 22, 0.6),
    "hamming": lambda share: hamming_law(share, 64, 3),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_laws_are_of_numbers_and_of_arrays_and_grow_up_to_certainty(law):
    chances = law(GRID)
    assert chances.tolist() == [law(share) for share in GRID.tolist()]
    assert law(GRID.reshape(1, -1)).shape == (1, 41)
    assert law(np.empty(0)).shape == (0,)
    assert law(1.0) == 1
    assert np.ndim(law(0.5)) == 0
    assert (np.diff(chances) >= -1e-12).all()
    assert (chances >= 0).all()
    assert (chances <= 1).all()


def test_what_is_both_is_each():
    both = LAWS["both"](GRID)
    assert (both <= LAWS["sample"](GRID) + 1e-12).all()
    assert (both <= Banding(permutations=128, bands=22).meeting_probability(GRID) + 1e-12).all()
    met = Blocks(bits=64, distance=3, blocks=6).meeting_probability(bit_agreement(GRID))
    assert (LAWS["hamming"](GRID) <= met + 1e-12).all()


def test_many_terms_are_taken_in_parts():
    chances = sample_law(GRID, 1 << 16, 0.5)
    assert chances[[10, 30]].tolist() == [pytest.approx(0, abs=1e-12), pytest.approx(1)]
    assert chances[20] == pytest.approx(0.5, abs=0.01)


def test_chances_too_small_for_a_float_are_zero_where_numpy_raises():
    laws = (
        lambda share: sample_law(share, 512, 0.8),
        lambda share: smallest_law(share, 512),
        lambda share: trials_law(share, 200, 6, 2),
        lambda share: bands_and_sample_law(share, 512, 16, 0.8),
        lambda share: hamming_law(share, 512, 3),
        Banding(permutations=1024, bands=1).meeting_probability,
        Blocks(bits=512, distance=3, blocks=4).meeting_probability,
    )
    usual = [law(GRID).tolist() for law in laws]
    with np.errstate(all="raise"):
        assert [law(GRID).tolist() for law in laws] == usual
        assert MinHash(permutations=1024, threshold=0.951).floor > 0.9


@pytest.mark.parametrize("value", [np.float32(0.6), np.float64(0.6), np.float16(0.6), 0.6])
def test_shares_become_plain_numbers(value):
    for scheme in (
        MinHash(threshold=value),
        Sentences(threshold=value),
        SimHash(threshold=value),
        Trials(threshold=value),
    ):
        assert json.dumps(scheme.threshold) == "0.6"
    assert json.dumps(MinHash(recall=value).recall) == "0.6"
    assert MinHash(threshold=value) == MinHash(threshold=0.6)


@pytest.mark.parametrize("value", [0, 1.5, np.float32("nan"), "0.6", None, True])
def test_an_invalid_share_is_refused(value):
    with pytest.raises(ParameterError, match="must be a number above 0 and at most 1"):
        MinHash(threshold=value)
