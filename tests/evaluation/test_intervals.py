from math import comb

import numpy as np
import pytest

from neardup.evaluation.intervals import share


def by_definition(found, of, population):
    """The numbers of counted documents in the population that agree with a sample, by exact fractions."""
    agreeing = []
    for counted in range(found, population - (of - found) + 1):
        ways = [comb(counted, k) * comb(population - counted, of - k) for k in range(of + 1)]
        total, half = comb(population, of), ways[found] / 2
        if (sum(ways[:found]) + half) / total > 0.025 and (sum(ways[found + 1 :]) + half) / total > 0.025:
            agreeing.append(counted)
    return agreeing


@pytest.mark.parametrize("of", [1, 7, 30])
@pytest.mark.parametrize("population", [30, 31, 90])
def test_intervals_have_the_numbers_that_agree_with_the_sample(of, population):
    for found in range(of + 1):
        one, expected = share(found, of, population), by_definition(found, of, population)
        assert one.low == pytest.approx(expected[0] / population)
        assert one.high == pytest.approx(expected[-1] / population)
        assert one.low <= one.value <= one.high


def test_the_ends():
    assert (share(0, 0, 5).value, share(0, 0, 5).low, share(0, 0, 5).high) == (None, 0.0, 1.0)
    assert (share(5, 5, 5).low, share(5, 5, 5).width) == (1.0, 0.0)
    assert share(50, 50, 10**12).high == 1.0
    assert share(50, 50, 10**12).low == pytest.approx(share(50, 50, 10**7).low)
    large = share(150_000, 200_000, 10**9)
    assert 0.0018 < large.width < 0.002


@pytest.mark.parametrize(("true", "of"), [(0.5, 100), (0.9, 300), (0.99, 500)])
def test_intervals_hold_the_true_share_as_often_as_they_should(true, of):
    random = np.random.default_rng(5)
    population = 100_000
    drawn, times = np.unique(
        random.hypergeometric(true * population, (1 - true) * population, of, 5_000), return_counts=True
    )
    holds = [one.low <= true <= one.high for one in (share(int(found), of, population) for found in drawn)]
    assert 0.92 < times[holds].sum() / 5_000 < 0.98
