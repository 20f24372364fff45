from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb, prod

import numpy as np
import pytest

from neardup import MinHash, SimHash, Trials
from neardup.errors import ParameterError
from neardup.evaluation.expected_candidates import candidates_by_law
from neardup.evaluation.recommendations import SHOWN, recommend, searched_schemes
from neardup.model.candidates import ROOM
from neardup.model.requirements import Requirements
from neardup.schemes.laws import bit_agreement

SCHEMES = {"minhash": MinHash, "trials": Trials, "simhash": SimHash}
REQUIREMENTS = [
    Requirements(threshold=0.8, recall=0.99),
    Requirements(threshold=0.8, recall=0.9, false_rate=0.01, documents=30_000_000),
    Requirements(threshold=0.98, recall=0.9),
    Requirements(threshold=0.5, recall=0.9, documents=10**9, apart=0.1, background=0.0),
    Requirements(threshold=1.0, recall=0.999999),
]
everything = pytest.mark.parametrize("wanted", REQUIREMENTS, ids=lambda wanted: f"{wanted.threshold}-{wanted.recall}")


def tail(number, needed, chance):
    return float(sum(comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(needed, number + 1)))


def chances(one, value):
    """Recompute how likely a proposal matches and meets."""
    numbers = {**one.parameters, **one.layout}
    if one.scheme == "trials":
        matched = tail(numbers["trials"], numbers["needed"], Fraction(value) ** numbers["hashes"])
        return matched, matched
    if one.scheme == "minhash":
        layout = MinHash(**one.parameters).layout
        assert layout.bands == numbers["bands"]
        met = float(1 - prod(1 - Fraction(value) ** width for width in np.diff(layout.edges).tolist()))
        return met, met
    agreement = Fraction(float(bit_agreement(value)))
    matched = tail(64, 64 - numbers["distance"], agreement)
    return matched, met_in_blocks(agreement, numbers["distance"], numbers["blocks"])


def met_in_blocks(agreement, distance, blocks):
    """Count blocks of either width that differ: both counts are binomial."""
    width, wider = divmod(64, blocks)
    kinds = ((blocks - wider, 1 - agreement**width), (wider, 1 - agreement ** (width + 1)))
    (narrow, wide) = ([comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)] for n, q in kinds)
    return float(sum(one * sum(wide[: distance + 1 - k]) for k, one in enumerate(narrow[: distance + 1])))


@everything
def test_every_claim_holds(wanted):
    recommendations, _ = recommend(wanted, searched_schemes())
    assert recommendations
    for one in recommendations:
        found, _ = chances(one, wanted.threshold)
        assert one.recall == pytest.approx(found, rel=1e-9)
        assert one.recall >= wanted.recall
        assert one.misses == 1 - one.recall
        assert one.false_rate == pytest.approx(chances(one, wanted.apart)[1], rel=1e-9)
        assert wanted.false_rate is None or one.false_rate <= wanted.false_rate
        assert 0 <= one.matched_apart <= one.false_rate + 1e-12
        strangers = (wanted.documents - 1) * chances(one, wanted.background)[1]
        assert one.candidates == pytest.approx(strangers, rel=1e-6, abs=1e-6)
        assert one.bytes == one.signature_bytes + 8 * one.keys
        assert one.cost == one.bytes + one.candidates * one.signature_bytes


@everything
def test_the_cheapest_come_first_and_none_beats_another(wanted):
    recommendations, unreached = recommend(wanted, searched_schemes())
    assert all(one.cost <= other.cost for one, other in pairwise(recommendations))
    assert {one.scheme for one in recommendations} | {one.scheme for one in unreached} == set(searched_schemes())
    for scheme in searched_schemes():
        own = sorted((one for one in recommendations if one.scheme == scheme), key=lambda one: one.bytes)
        assert len(own) <= SHOWN
        assert all(one.bytes < other.bytes and one.candidates > other.candidates for one, other in pairwise(own))


def test_searched_by_hand_nothing_is_cheaper():
    wanted = Requirements(threshold=0.8, recall=0.99)
    best = min(
        8 * (trials + comb(trials, needed)) + 999_999 * tail(trials, needed, Fraction(1, 20) ** hashes) * 8 * trials
        for hashes in range(2, 9)
        for trials in range(2, 13)
        for needed in range(1, min(trials, 4) + 1)
        if tail(trials, needed, Fraction(4, 5) ** hashes) >= 0.99
    )
    assert recommend(wanted, ["trials"])[0][0].cost == pytest.approx(best)


def test_what_nothing_reaches_says_what_can_be_reached():
    with pytest.raises(ParameterError) as caught:
        recommend(Requirements(threshold=0.8, recall=0.99, false_rate=1e-4), searched_schemes())
    assert caught.value.name == "recall"
    rule = caught.value.rule
    assert rule.startswith("cannot be reached; the highest recall at threshold 0.8 with a false rate of at most")
    best = {word: float(number) for word, number in (part.split() for part in rule.partition(" is ")[2].split(", "))}
    assert set(best) == set(searched_schemes())
    for scheme, recall in best.items():
        recommend(Requirements(threshold=0.8, recall=recall - 1e-4, false_rate=1e-4), [scheme])
        with pytest.raises(ParameterError):
            recommend(Requirements(threshold=0.8, recall=recall + 1e-4, false_rate=1e-4), [scheme])


def test_more_documents_want_longer_keys():
    wanted = [Requirements(threshold=0.8, recall=0.99, documents=n) for n in (10, 10**12)]
    few, many = (recommend(one, ["minhash"])[0][0] for one in wanted)
    assert few.bytes < many.bytes
    assert few.candidates * 1e6 < many.candidates * 1e9


@pytest.mark.parametrize("wanted", [Requirements(threshold=0.98, recall=0.9), Requirements(threshold=0.99, recall=0.6)])
def test_words_name_every_parameter_and_parameters_make_the_layout(wanted):
    recommendations, _ = recommend(wanted, searched_schemes())
    assert {one.scheme for one in recommendations} == set(searched_schemes())
    assert len({one.words for one in recommendations}) == len(recommendations)
    for one in recommendations:
        scheme, _, numbers = one.words.partition(" with ")
        assert scheme == one.scheme
        given = {name: float(value) for name, value in map(str.split, numbers.split(", "))}
        assert given == one.parameters
        scheme = SCHEMES[one.scheme](**one.parameters)
        assert one.layout == {name: getattr(scheme.layout, name) for name in one.layout}
        blank = scheme.sign(["one two three"])
        assert (blank.rows.nbytes, scheme.keys(blank).shape[1]) == (one.signature_bytes, one.keys)


def test_the_resemblance_of_pairs_apart_is_half_the_threshold():
    assert np.array_equal(Requirements(threshold=0.8, recall=0.9).values, [0.8, 0.4, 0.05])


@pytest.mark.parametrize(("threshold", "recall", "documents"), [(0.3, 0.95, 10**6), (0.5, 0.99, 10**9)])
def test_if_all_buckets_overflow_the_smallest_are_first(threshold, recall, documents):
    wanted = Requirements(threshold=threshold, recall=recall, documents=documents)
    recommendations, _ = recommend(wanted, searched_schemes())
    buckets = [one.bucket for one in recommendations]
    assert buckets == sorted(buckets)
    for one in recommendations:
        law = candidates_by_law(SCHEMES[one.scheme](**one.parameters), documents, wanted.background)
        assert one.bucket == pytest.approx(law.bucket)
        assert one.bucket > ROOM
        assert one.overflows
        shown = one.as_dict()
        assert (shown["bucket"], shown["overflows"]) == (one.bucket, True)


def test_parameters_whose_buckets_overflow_are_not_listed_if_there_are_others():
    wanted = Requirements(threshold=0.8, recall=0.99, documents=10**10)
    recommendations, _ = recommend(wanted, ["minhash"])
    assert not any(one.overflows for one in recommendations)
    short = MinHash(permutations=64, threshold=0.8, recall=0.99)
    assert candidates_by_law(short, wanted.documents, wanted.background).overflows
    for one in recommendations:
        law = candidates_by_law(MinHash(**one.parameters), wanted.documents, wanted.background)
        assert one.bucket == pytest.approx(law.bucket)


def test_a_scheme_whose_buckets_all_overflow_is_last():
    wanted = Requirements(threshold=0.6, recall=0.9, documents=10**10)
    found = recommend(wanted, ["minhash", "trials"])[0]
    assert [one.overflows for one in found] == sorted(one.overflows for one in found)
    assert {one.scheme for one in found if one.overflows} == {"trials"}


def test_the_rate_of_a_recommendation_is_low_enough_for_it():
    wanted = REQUIREMENTS[0]
    best = recommend(wanted, ["minhash"])[0][0]
    assert recommend(replace(wanted, false_rate=best.false_rate), ["minhash"])[0][0] == best
