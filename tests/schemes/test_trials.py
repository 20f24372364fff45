import pickle
from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from batches import lists
from hypothesis import given
from hypothesis import strategies as st
from oracles import SPREAD, sketch

from neardup import Analysis, Trials
from neardup.errors import ParameterError
from neardup.model.arrays import Features, Signatures
from neardup.model.recipe import Hashing
from neardup.schemes import trials

KEY = bytes(range(16))
TEXTS = st.lists(st.none() | st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=9).map(" ".join), max_size=4)

# The rule "2 of 6 trials agree" has a published table of 78 cells: hashes from 10 to 20, overlap from 100 to 80 %. What
# is tested is its formula, exactly computed, in the same cells: one cell of the table is misprinted.
HASHES = (10, 12, 14, 16, 18, 20)
OVERLAPS = (100, 99, 98, 97, 96, 95, 94, 92, 90, 88, 85, 82, 80)


def formula(overlap, hashes):
    """1 - ((1 - q)**6 + 6 * q * (1 - q)**5), exactly."""
    q = Fraction(overlap, 100) ** hashes
    return 1 - ((1 - q) ** 6 + 6 * q * (1 - q) ** 5)


@pytest.mark.parametrize("hashes", HASHES)
def test_the_law_is_the_published_formula_in_every_cell(hashes):
    scheme = Trials(hashes=hashes)
    curve = scheme.probability([overlap / 100 for overlap in OVERLAPS])
    expected = [formula(overlap, hashes) for overlap in OVERLAPS]
    assert curve == pytest.approx([*map(float, expected)], abs=1e-12)
    for share, exact in zip(curve, expected, strict=True):
        assert f"{100 * share:.1f}" == f"{float(round(1000 * exact)) / 10:.1f}"
    assert len(HASHES) * len(OVERLAPS) == 78


@pytest.mark.parametrize(("number", "needed"), [(1, 1), (6, 1), (6, 2), (6, 6), (9, 4)])
def test_the_law_is_the_binomial_tail_over_trials(number, needed):
    scheme = Trials(hashes=3, trials=number, needed=needed)
    for true in (Fraction(0), Fraction(3, 10), Fraction(4, 5), Fraction(99, 100), Fraction(1)):
        q = true**3
        tail = sum(comb(number, k) * q**k * (1 - q) ** (number - k) for k in range(needed, number + 1))
        assert scheme.probability(float(true)) == pytest.approx(float(tail), abs=1e-12)


@given(TEXTS, st.sampled_from([{}, {"seed": 5}, {"key": KEY}, {"bag": True}]))
def test_rows_equal_their_definition(texts, change):
    scheme = Trials(hashes=3, trials=4, **change)
    signatures, features = scheme.sign(texts), scheme.features(texts)
    derived = Hashing(seed=scheme.seed, key=scheme.key).derive("trials", 32 * 12)
    numbers = [int.from_bytes(derived[at : at + 8], "little") for at in range(0, len(derived), 8)]
    multipliers, addends = [number | 1 for number in numbers[:24]], numbers[24:]
    expected = []
    for values in lists(features.values, features.offsets):
        row = [0] * 4
        if values:
            minima = sketch(values, multipliers, addends)
            for trial in range(4):
                row[trial] = trial + 1
                for minimum in minima[3 * trial : 3 * trial + 3]:
                    row[trial] = (row[trial] ^ minimum) * SPREAD % 2**64
                    row[trial] ^= row[trial] >> 32
        expected.append(row)
    assert signatures.rows.dtype == np.uint64
    assert signatures.rows.tolist() == expected
    assert signatures.present.tolist() == [any(row) for row in expected]


def test_a_trial_that_hashes_to_0_counts_as_1(monkeypatch):
    monkeypatch.setattr(trials.kernels, "band_keys", lambda _minima, _edges, _mask, rows: rows.fill(0))
    signatures = Trials().sign(["one two", ""])
    assert signatures.rows.tolist() == [[1] * 6, [0] * 6]
    assert signatures.present.tolist() == [True, False]


def test_how_many_documents_are_signed_together_changes_nothing(monkeypatch):
    texts = [f"one two {n % 3} four" if n % 5 else "" for n in range(20)]
    scheme = Trials()
    whole = scheme.sign(texts).rows
    monkeypatch.setattr(trials, "_TOGETHER", 3)
    assert (scheme.sign(texts).rows == whole).all()


def test_the_default_takes_48_bytes_and_15_keys():
    signatures = Trials().sign(["one two three"])
    assert signatures.rows.nbytes == 48
    assert Trials().keys(signatures).shape == (1, 15)


def rows_that_agree(scheme, agreeing):
    rows = np.random.default_rng(1).integers(1, 2**64, (2, scheme.trials), np.uint64)
    rows[1, :agreeing] = rows[0, :agreeing]
    signatures = Signatures(rows, np.ones(2, np.bool_), scheme.recipe)
    return signatures[:1], signatures[1:]


@pytest.mark.parametrize("agreeing", range(7))
@pytest.mark.parametrize("needed", [1, 2, 5, 6])
def test_matches_and_estimates_count_trials(agreeing, needed):
    scheme = Trials(needed=needed)
    left, right = rows_that_agree(scheme, agreeing)
    assert scheme.matches(left, right).tolist() == [agreeing >= needed]
    assert (scheme.keys(left) == scheme.keys(right)).any() == (agreeing >= needed)
    assert scheme.estimate(left, right)[0] == pytest.approx((agreeing / 6) ** (1 / 14) if agreeing else 0)


def words_of(random, number, size, shared):
    """Pairs of texts of *size* + 1 words whose 2-word sequences are all different, *shared* of them common."""
    left, right = [], []
    for _ in range(number):
        numbers = random.choice(10**6, 2 * (size + 1) - shared - 1, replace=False)
        left.append(" ".join(f"w{n}" for n in numbers[: size + 1]))
        right.append(" ".join(f"w{n}" for n in numbers[size - shared :]))
    return left, right


def observed(scheme, size, shared, number):
    """The share of pairs that match, what the law says of their resemblance, and its standard error."""
    left, right = words_of(np.random.default_rng(size + shared), number, size, shared)
    sets = [[{*scheme.features([text]).values.tolist()} for text in texts[:1]] for texts in (left, right)]
    (one,), (other,) = sets
    true = len(one & other) / len(one | other)
    assert true == shared / (2 * size - shared)
    law = float(scheme.probability(true))
    rate = float(scheme.matches(scheme.sign(left), scheme.sign(right)).mean())
    return rate, law, np.sqrt(max(law * (1 - law), 0.25 / number) / number)


def matched(scheme, size, shared, number):
    """How many pairs of documents match that have *size* features each, *shared* of them common."""
    values = np.random.default_rng(shared).integers(0, 2**64, (number, 2 * size - shared), np.uint64)
    starts = np.arange(number + 1) * size
    left, right = (
        scheme.sign(Features(np.ascontiguousarray(part).ravel(), starts))
        for part in (values[:, :size], values[:, size - shared :])
    )
    return int(scheme.matches(left, right).sum())


@pytest.mark.parametrize("change", [{}, {"key": KEY}, {"hashes": 10, "trials": 8, "needed": 3}], ids=str)
def test_match_rates_of_long_texts_follow_the_law(change):
    """Resemblances of 0.85 to 0.97, texts of 2,000 sequences; so many that a law nearly the same is refused."""
    scheme, number = Trials(**change), 3000
    counts = {shared / (4000 - shared): matched(scheme, 2000, shared, number) for shared in (1837, 1895, 1921, 1970)}

    def follow(law):
        chances = {true: float(law.probability(true)) for true in counts}
        errors = {true: np.sqrt(number * chance * (1 - chance)) for true, chance in chances.items()}
        return all(abs(counts[true] - number * chances[true]) <= 4 * errors[true] + 1 for true in counts)

    assert follow(scheme)
    assert not follow(replace(scheme, hashes=scheme.hashes - 1))
    assert not follow(replace(scheme, hashes=scheme.hashes + 1))
    assert not follow(replace(scheme, trials=scheme.trials - 1))
    assert not follow(replace(scheme, trials=scheme.trials + 1))


@pytest.mark.parametrize(("size", "shared"), [(10, 9), (20, 19), (40, 38), (40, 39), (60, 56), (100, 95), (100, 97)])
def test_match_rates_of_short_texts_are_near_the_law(size, shared):
    """Fewer sequences than minima: drawn nearly without replacement, so the curve is a little steeper."""
    rate, law, error = observed(Trials(), size, shared, 1000)
    assert abs(rate - law) <= 0.05 + 4 * error
    assert rate <= law + 4 * error if law < 0.5 else rate >= law - 4 * error


def test_a_threshold_that_is_not_given_is_where_the_law_says_one_half():
    scheme = Trials()
    assert scheme.threshold == 0.9094
    assert scheme == Trials(threshold=None)
    for change in ({"hashes": 10}, {"needed": 4}, {"trials": 12, "needed": 1}, {"hashes": 1}):
        other = replace(scheme, **change)
        assert other == Trials(**change)
        assert other.probability(other.threshold) == pytest.approx(0.5, abs=2e-3)
    assert Trials(hashes=1, trials=1024, needed=1).threshold == 0.0007
    assert 0 < Trials(hashes=65536, trials=1, needed=1).threshold <= 1


def test_a_threshold_that_is_given_stays():
    scheme = Trials(threshold=0.8)
    assert replace(scheme, needed=3).threshold == 0.8
    assert scheme.with_threshold(0.7).threshold == Trials().with_threshold(0.7).threshold == 0.7
    left, right = rows_that_agree(scheme, 2)
    assert scheme.with_threshold(1.0).matches(left, right).all()


def test_layout_and_policy_do_not_change_the_recipe():
    recipe = Trials().recipe
    assert Trials(threshold=0.5).recipe == recipe
    assert Trials(needed=4).recipe == recipe


@pytest.mark.parametrize(
    "change",
    [
        {"words": 3},
        {"hashes": 7, "trials": 12},
        {"hashes": 13},
        {"trials": 7},
        {"seed": 2},
        {"key": KEY},
        {"bag": True},
        {"analysis": Analysis(stem="english")},
    ],
    ids=str,
)
def test_every_parameter_of_the_recipe_changes_it(change):
    assert Trials(**change).recipe != Trials().recipe


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("words", 0),
        ("words", 1001),
        ("words", True),
        ("hashes", 0),
        ("hashes", 1.0),
        ("hashes", 20000),  # six times as many in all
        ("trials", 0),
        ("trials", 65537),
        ("needed", 0),
        ("needed", 7),
        ("needed", 2.0),
        ("threshold", 0),
        ("threshold", 1.5),
        ("threshold", "0.8"),
        ("seed", -1),
        ("bag", 1),
        ("analysis", "word"),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        Trials(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


def test_a_choice_from_too_many_is_refused():
    assert comb(46, 2) > 1024 >= comb(45, 2)
    Trials(trials=45)
    with pytest.raises(ParameterError, match="at most 1024 combinations out of 46 trials") as caught:
        Trials(trials=46)
    assert caught.value.name == "needed"


def test_a_threshold_of_a_pickled_scheme_is_computed_again_unless_it_was_given():
    for scheme in (Trials(key=KEY), Trials(threshold=0.7)):
        again = pickle.loads(pickle.dumps(scheme))  # noqa: S301 - what was pickled a moment ago
        assert replace(again, hashes=10).threshold == replace(scheme, hashes=10).threshold
