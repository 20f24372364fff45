from math import comb

import numpy as np
import pytest

from neardup.evaluation.intervals import share, share_of_kind


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


def test_intervals_reach_0_and_1_and_do_not_depend_on_the_size_of_large_collections():
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


@pytest.mark.parametrize(
    ("of", "drawn", "population"), [(3, 20, 25), (20, 40, 60), (9, 10, 90), (30, 70, 100), (30, 40, 40)]
)
def test_a_share_of_unknown_numbers_has_the_intervals_of_all_likely_numbers(of, drawn, population):
    whole = share(of, drawn, population)
    totals = range(round(whole.low * population), round(whole.high * population) + 1)
    for found in range(of + 1):
        one, known = share_of_kind(found, of, drawn, population), [share(found, of, total) for total in totals]
        assert one.low == pytest.approx(min(each.low for each in known), abs=0.2 / population)
        assert one.high == pytest.approx(max(each.high for each in known), abs=0.2 / population)
        if len(totals) == 1:
            assert one == known[0]
        assert (one.found, one.of, one.value) == (found, of, known[0].value)


def test_the_ends_of_shares_of_unknown_numbers():
    assert share_of_kind(0, 0, 5, 9) == share(0, 0, 9)
    assert share_of_kind(0, 0, 0, 0) == share(0, 0, 0)
    assert share_of_kind(5, 5, 5, 9).high == 1.0
    assert share_of_kind(4, 5, 9, 9) == share(4, 5, 5)
    assert 0.0018 < share_of_kind(150_000, 200_000, 400_000, 10**10).width < 0.002


@pytest.mark.parametrize(
    ("missed", "kind", "drawn", "population"),
    [
        (1, 110, 300, 400),
        (4, 110, 300, 400),
        (2, 50, 380, 400),
        (2, 985, 2_000, 2_500),
        (6, 600, 2_000, 2_500),
        (200, 600, 2_000, 2_500),
        (12, 600, 2_000, 3_000),
        (300, 30_000, 2_000, 100_000),
    ],
)
def test_intervals_of_shares_of_unknown_numbers_hold_the_true_share(missed, kind, drawn, population):
    random = np.random.default_rng(5)
    samples = random.multivariate_hypergeometric([missed, kind - missed, population - kind], drawn, 2_000)
    counts, times = np.unique(samples[:, :2], axis=0, return_counts=True)
    held, widths, known = 0, [], []
    for (lacking, found), number in zip(counts.tolist(), times.tolist(), strict=True):
        one = share_of_kind(found, found + lacking, drawn, population)
        held += number * (one.low <= 1 - missed / kind <= one.high)
        widths += [one.width] * number
        known += [share(found, found + lacking, kind).width if found + lacking <= kind else 0.0] * number
    assert held > 0.935 * 2_000
    assert np.mean(widths) < (1.5 if drawn > 0.9 * population else 1.3) * np.mean(known)


def test_intervals_are_the_same_where_numpy_raises_for_small_numbers():
    usual = share(1000, 2000, 10_000_000), share_of_kind(50_000, 100_000, 200_000, 10_000_000)
    with np.errstate(all="raise"):
        assert (share(1000, 2000, 10_000_000), share_of_kind(50_000, 100_000, 200_000, 10_000_000)) == usual
