from time import process_time

import numpy as np
import pytest

from neardup import FracMinHash, Index, NearDuplicates, collapse, compare, dedup
from neardup.errors import ParameterError
from neardup.model.arrays import Features
from neardup.schemes.fracminhash import _least_counts
from neardup.schemes.laws import binomial_tail

RANDOM = np.random.default_rng(11)
LONG = " ".join(f"w{number}" for number in range(3_000))
PART = " ".join(f"w{number}" for number in range(700, 800))


def words(number):
    return RANDOM.integers(0, 10**9, number).astype(str).tolist()


def test_a_part_is_dropped_for_the_document_that_contains_it():
    result = dedup([LONG, PART, "an unrelated text of some words"], measure="containment")
    assert result.representatives.tolist() == [-1, 0, -1]
    row = result.decisions.to_pylist()[1]
    assert (row["rule"], row["contained_in_kept"]) == ("containment", 1.0)
    assert row["resemblance"] < 0.1


def test_containment_depends_on_the_order_and_overlap_does_not():
    assert dedup([PART, LONG], measure="containment").representatives.tolist() == [-1, -1]
    assert dedup([PART, LONG], measure="containment", keep="longest").representatives.tolist() == [1, -1]
    assert dedup([PART, LONG], measure="overlap").representatives.tolist() == [-1, 0]


def test_the_threshold_is_met_exactly():
    """The part has 98 shingles; a new word at its end adds one."""
    for added, dropped in ((24, True), (25, False)):
        text = PART + "".join(f" x{number}" for number in range(added))
        assert (98 / (98 + added) >= 0.8) == dropped
        assert (dedup([LONG, text], measure="containment").representatives[1] == 0) == dropped


def test_an_index_and_ranked_hits_answer_alike():
    with Index.create(scheme=FracMinHash()) as index:
        verdicts = index.admit(["long", "part"], [LONG, PART])
    assert (verdicts[1].measure, verdicts[1].of) == ("containment", "long")
    hits = [{"id": "long", "text": LONG}, {"id": "part", "text": PART}]
    rule = NearDuplicates(scheme=FracMinHash())
    assert collapse(hits, rule).kept == ["long"]
    assert collapse(hits[::-1], rule).kept == ["part", "long"]


def test_two_texts_are_compared_as_dedup_compares_them():
    there, back = (compare(*pair, schemes=[FracMinHash()]).schemes[0] for pair in ((LONG, PART), (PART, LONG)))
    assert (there.matches, there.value, there.measure) == (True, 1.0, "containment")
    assert (back.matches, back.measure) == (False, "containment")
    assert back.value < 0.1


@pytest.mark.parametrize("containment", [0.5, 0.8, 1.0])
def test_candidates_follow_their_law(containment):
    """50 features in a document of 2,000: within four standard deviations of the predicted share of 600 pairs."""
    scheme, number = FracMinHash(shingle=1), 600
    wholes, parts = [], []
    for _ in range(number):
        whole = words(2_000)
        wholes.append(" ".join(whole))
        common = round(50 * containment)
        parts.append(" ".join(whole[:common] + words(50 - common)))
    keys = [{*row} for row in scheme.keys(scheme.sign(wholes + parts)).tolist()]
    met = sum(bool(keys[place] & keys[number + place]) for place in range(number)) / number
    law = float(scheme.candidate_probability(containment, 50))
    assert abs(met - law) <= 4 * np.sqrt(max(law * (1 - law), 1 / number) / number)


def test_containment_is_estimated_from_signatures_alone():
    """The estimate is unbiased: the mean of 300 is within four standard deviations of the true 0.6."""
    scheme, number = FracMinHash(shingle=1), 300
    wholes = [words(3_000) for _ in range(number)]
    parts = [whole[:300] + words(200) for whole in wholes]
    signed = scheme.sign([" ".join(one) for one in wholes + parts])
    estimates = scheme.estimate(signed[number:], signed[:number])
    assert abs(estimates.mean() - 0.6) <= 4 * estimates.std() / np.sqrt(number)
    assert estimates.std() < 0.1


def test_short_documents_are_compared_whole():
    scheme = FracMinHash(shingle=1)
    signed = scheme.sign(["one two three four", "four three two six", "seven"])
    assert scheme.estimate_pairs(signed, np.array([0, 0, 2]), np.array([1, 2, 0])).tolist() == [0.75, 0.0, 0.0]


@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
def test_the_samples_of_a_pair_at_the_threshold_rarely_differ_too_much(threshold):
    least = _least_counts(64, threshold)
    for among in range(1, 65):
        below = 1 - binomial_tail(among, int(least[among]), np.array([threshold]))[0]
        beyond = 1 - binomial_tail(among, int(least[among]) + 1, np.array([threshold]))[0]
        assert below <= 0.001 + 1e-9
        assert beyond > 0.001 - 1e-9 or least[among] == among


def test_the_samples_of_the_largest_signatures_are_tested_without_a_square_of_their_size():
    began = process_time()
    least = _least_counts.__wrapped__(1 << 16, 0.8)
    assert process_time() - began < 12  # it takes one second; with all numbers, half a minute
    for among in (1000, 30_000, 1 << 16):
        below, beyond = (1 - binomial_tail(among, int(least[among]) + more, np.array([0.8]))[0] for more in (0, 1))
        assert below <= 0.001 + 1e-9
        assert beyond > 0.001 - 1e-9


def drawn(scheme, pairs, left, right, shared):
    """Return the signatures of pairs of random documents with these numbers of features."""
    values = np.random.default_rng(5).integers(0, 2**64, (pairs, left + right - shared), np.uint64)
    sides = np.sort(values[:, :left]), np.sort(values[:, left - shared :])
    parts = [Features(side.ravel(), np.arange(0, side.size + 1, side.shape[1])) for side in sides]
    return [scheme.sign(part) for part in parts]


@pytest.mark.parametrize(
    ("measure", "sizes", "mean"),
    [
        ("containment", (10, 10, 8), 0.8),
        ("containment", (10, 2000, 8), 0.58),
        ("containment", (50, 1000, 40), 0.8),
        ("overlap", (50, 50, 40), 0.85),
        ("overlap", (300, 300, 240), 0.83),
        ("overlap", (2000, 2000, 1600), 0.81),
        ("overlap", (300, 600, 240), 0.8),
    ],
)
def test_the_mean_of_the_estimates_is_that_of_the_docstring(measure, sizes, mean):
    scheme = FracMinHash(measure=measure)
    estimates = scheme.estimate(*drawn(scheme, 1000, *sizes))
    assert abs(estimates.mean() - mean) < 0.005 + 4 * estimates.std() / 1000**0.5
    if sizes == (300, 300, 240):
        assert abs((estimates >= scheme.threshold).mean() - 0.73) < 0.06


def test_parameters_are_checked():
    for wrong in ({"scaled": 0}, {"size": 15}, {"threshold": 0}, {"measure": "resemblance"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            FracMinHash(**wrong)


def test_a_measure_chooses_the_scheme():
    assert FracMinHash().with_measure("overlap") == FracMinHash(measure="overlap")
    with pytest.raises(
        ParameterError, match="cannot be used with scheme='fracminhash': it has only containment or overlap"
    ):
        dedup(["a"], scheme=FracMinHash(), measure="resemblance")
    with pytest.raises(ParameterError, match="scheme='fracminhash': the scheme was created for overlap"):
        dedup(["a"], scheme=FracMinHash(measure="overlap"), measure="containment")
    for own in ({"measure": "overlap"}, {}):  # containment is the default, and may be replaced
        dedup(["a"], scheme=FracMinHash(**own), measure="overlap")
    with pytest.raises(ParameterError, match="must be one of resemblance, containment, overlap"):
        dedup(["a"], measure="likeness")
    with pytest.raises(ParameterError, match="cannot be used with preset"):
        dedup(["a"], measure="overlap", preset="code")
