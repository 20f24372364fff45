import json
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb, inf, nan, prod

import numpy as np
import pytest

from neardup import Checksum, Combined, MinHash, Sentences, SimHash, Trials
from neardup.errors import ParameterError
from neardup.evaluation.expected_candidates import candidates_by_law
from neardup.evaluation.plans import SHOWN, plan, recommend, searched_schemes, smaller_buckets
from neardup.model.candidates import ROOM
from neardup.model.requirements import Requirements
from neardup.schemes.laws import bit_agreement

SCHEME_OF = {"combined": Combined, "checksum": Checksum}
SCHEMES = ["trials", "minhash", "simhash", "sentences"]


def test_the_classic_table_in_exact_arithmetic():
    made = plan()
    assert made.header == ("resemblance", *map(str, range(10, 21)))
    assert [row[0] for row in made.table] == [percent / 100 for percent in range(100, 79, -1)]
    for percent, row in zip(range(100, 79, -1), made.table, strict=True):
        for hashes, chance in zip(range(10, 21), row[1:], strict=True):
            q = Fraction(percent, 100) ** hashes
            assert chance == pytest.approx(float(1 - ((1 - q) ** 6 + 6 * q * (1 - q) ** 5)), rel=1e-10)


def test_the_classic_table_reads_well():
    lines = str(plan()).splitlines()
    assert lines[2].split() == ["resemblance", *map(str, range(10, 21))]
    assert lines[3].split() == ["100", "%", *["100.0"] * 11]
    assert lines[-3].split()[:7] == ["80", "%", "12.9", "8.8", "5.9", "3.9", "2.6"]
    assert len({len(line) for line in lines[2:-2]}) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_curves_grow_up_to_certainty(scheme):
    made = plan(scheme)
    assert made.scheme == scheme
    assert made.curves[0].name == "match"
    for curve in made.curves:
        assert curve.measure == made.measure
        assert curve.values == made.curves[0].values
        assert len(curve.probabilities) == len(curve.values) == 101
        assert list(curve.values) == sorted(curve.values)
        assert curve.values[-1] == curve.probabilities[-1] == 1
        assert (np.diff(curve.probabilities) >= -1e-12).all()
    assert [row[0] for row in made.table] == list(made.curves[0].values)[::-5]


@pytest.mark.parametrize("scheme", [None, *SCHEMES])
def test_plans_are_values(scheme):
    made = plan(scheme)
    assert pickle.loads(pickle.dumps(made)) == made == plan(scheme)  # noqa: S301 - our own
    assert json.loads(json.dumps(made.as_dict(), allow_nan=False))["scheme"] == made.scheme


@pytest.mark.parametrize("distance", [0, 3, 7, 8, 20])
def test_the_curve_of_simhash_is_drawn_where_it_falls(distance):
    made = plan("simhash", distance=distance)
    assert made.curves[0].probabilities[0] < 0.05
    assert made.curves[0].values[0] == (0.8 if distance < 8 else 0)


def test_stored_bytes():
    stored = {scheme: (plan(scheme).signature_bytes, plan(scheme).keys) for scheme in SCHEMES}
    assert stored == {"trials": (48, 15), "minhash": (512, 37), "simhash": (8, 20), "sentences": (256, 64)}


def test_a_scheme_already_made_has_the_plan_of_its_numbers():
    scheme = MinHash(permutations=64, threshold=0.8, recall=0.9, key=b"0123456789abcdef")
    made = plan(scheme)
    assert made.parameters == {"permutations": 64, "threshold": 0.8}
    assert made.layout == {"bands": scheme.layout.bands}
    assert made.curves == plan("minhash", permutations=64, threshold=0.8, bands=scheme.layout.bands).curves
    assert b"0123456789abcdef".hex() not in str(made.as_dict())
    for value, *chances in made.table:
        assert chances[0] == pytest.approx(scheme.probability(value))
        assert chances[1] == pytest.approx(scheme.layout.meeting_probability(value))


def test_default_numbers_are_those_of_the_scheme():
    assert plan("minhash") == plan(MinHash())


def test_a_law_is_drawn_only_over_what_it_is_about():
    made = plan(Sentences(relative_to="smaller"))
    assert (made.measure, [curve.name for curve in made.curves]) == ("overlap", ["match"])
    assert plan(Sentences()) == plan("sentences")


def test_a_scheme_of_unknown_numbers_is_drawn_by_its_own_law():
    made = plan(Checksum())
    assert (made.scheme, made.signature_bytes, made.keys) == ("checksum", None, None)
    assert [row for row in made.table if row[1]] == [(1.0, 1.0)]
    assert str(made).startswith("checksum\n")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"scheme": "shingles"}, "scheme"),
        ({"scheme": 5}, "scheme"),
        ({"scheme": object()}, "scheme"),
        ({"hashes": 14}, "hashes"),
        ({"threshold": 0.8}, "threshold"),
        ({"apart": 0.3, "documents": 10}, "apart"),
        ({"scheme": "trials", "false_rate": 0.1}, "false_rate"),
        ({"scheme": "trials", "threshold": 0.8}, "threshold"),
        ({"scheme": "trials", "permutations": 8}, "permutations"),
        ({"scheme": "trials", "hashes": 0}, "hashes"),
        ({"scheme": "trials", "hashes": 2.5}, "hashes"),
        ({"scheme": "trials", "hashes": True}, "hashes"),
        ({"scheme": "trials", "hashes": 10**30}, "hashes"),
        ({"scheme": "trials", "hashes": nan}, "hashes"),
        ({"scheme": "trials", "hashes": 1 << 15}, "hashes"),
        ({"scheme": "trials", "trials": 1, "needed": 2}, "needed"),
        ({"scheme": "trials", "hashes": 1, "trials": 1 << 16, "needed": 1 << 15}, "needed"),
        ({"scheme": "minhash", "permutations": 12}, "permutations"),
        ({"scheme": "minhash", "permutations": 1 << 40}, "permutations"),
        ({"scheme": "minhash", "threshold": nan}, "threshold"),
        ({"scheme": "minhash", "threshold": 0}, "threshold"),
        ({"scheme": "minhash", "threshold": 0.01, "permutations": 8}, "permutations"),
        ({"scheme": "minhash", "bands": 129}, "bands"),
        ({"scheme": "simhash", "bits": 65}, "bits"),
        ({"scheme": "simhash", "distance": 64}, "distance"),
        ({"scheme": "simhash", "distance": -1}, "distance"),
        ({"scheme": "simhash", "blocks": 3}, "blocks"),
        ({"scheme": "simhash", "distance": 20, "blocks": 60}, "blocks"),
        ({"scheme": "sentences", "size": 1 << 20}, "size"),
        ({"scheme": MinHash(), "permutations": 8}, "permutations"),
        ({"scheme": MinHash(), "threshold": 0.8, "recall": 0.9}, "scheme"),
        ({"scheme": "sentences", "threshold": 0.8, "recall": 0.9}, "scheme"),
        ({"recall": 0.9}, "recall"),
        ({"recall": 0.9, "threshold": 0.8, "hashes": 3}, "hashes"),
        *(({"recall": wrong, "threshold": 0.8}, "recall") for wrong in (0, 1, -1, nan, inf, "x")),
        *(({"recall": 0.9, "threshold": wrong}, "threshold") for wrong in (0, 1.1, nan, -inf)),
        *(({"recall": 0.9, "threshold": 0.8, "false_rate": wrong}, "false_rate") for wrong in (0, 1, nan)),
        *(({"recall": 0.9, "threshold": 0.8, "documents": wrong}, "documents") for wrong in (0, 1.5, 10**16)),
        *(({"recall": 0.9, "threshold": 0.8, "apart": wrong}, "apart") for wrong in (0, 0.8, nan)),
        *(({"recall": 0.9, "threshold": 0.8, "background": wrong}, "background") for wrong in (-0.1, 0.8, nan)),
    ],
)
def test_what_has_no_plan(arguments, name):
    with pytest.raises(ParameterError) as caught:
        plan(**arguments)
    assert caught.value.name == name
    assert caught.value.rule in str(caught.value)


def test_requirements_show_the_curves_of_the_cheapest():
    made = plan(threshold=0.8, recall=0.99)
    best = made.recommendations[0]
    assert (made.scheme, made.layout, made.threshold) == (best.scheme, best.layout, 0.8)
    assert made.curves == plan(best.scheme, **made.parameters, **made.layout).curves
    assert len(made.table) == len(made.recommendations)
    assert made.header[0] == "scheme"
    assert [row[0] for row in made.table] == [one.scheme for one in made.recommendations]
    shown = str(made)
    assert "Not listed: simhash, whose recall is 0.2126 at best" in shown
    lines = [line for line in shown.splitlines() if line.startswith(("minhash ", "trials "))]
    assert len(lines) == len(made.recommendations)
    assert (
        json.loads(json.dumps(made.as_dict(), allow_nan=False))["recommendations"][0]["parameters"] == best.parameters
    )


def test_numpy_numbers_are_numbers():
    made = plan(threshold=np.float32(0.5), recall=np.float64(0.9), documents=np.int64(1000))
    assert json.dumps(made.as_dict())
    assert plan("trials", hashes=np.int32(3)) == plan("trials", hashes=3)
    numbers = {"threshold": 0.9, "recall": 0.95, "false_rate": 0.1, "apart": 0.3, "background": 0.15}
    short = {name: np.float32(value) for name, value in numbers.items()}
    assert plan(**short).as_dict() == plan(**numbers).as_dict()
    assert plan("minhash", threshold=np.float32(0.9)) == plan("minhash", threshold=0.9)


def test_the_plan_of_a_combination_names_the_scheme_that_it_leaves_out():
    assert plan(Combined()).notes == [
        "These are upper bounds: the law of trials alone; a pair must also match by simhash.",
        "96 bytes per document, and 15 keys of 8",
    ]
    assert plan(MinHash()).limit == ""


def test_a_plan_names_the_documents_that_its_curves_are_about():
    assert plan("fracminhash").notes[0].endswith("candidate: of a document of 50 shingles")
    assert plan("sentences", size=100).notes[0].endswith("texts of up to 50 sentences each are decided exactly.")
    assert len(plan("minhash").notes) == len(plan("trials").notes) == len(plan("simhash").notes) == 1


def test_the_buckets_of_a_combination_are_those_of_its_first_scheme():
    first = MinHash(threshold=0.4)
    assert plan(Combined(first, SimHash()), documents=10**9).expected == plan(first, documents=10**9).expected
    assert plan(Combined(), documents=10**9).answer[0].startswith("The buckets have room for 1,000,000,000 doc")


@pytest.mark.parametrize("name", ["combined", "checksum"])
def test_the_name_of_a_scheme_without_numbers_is_that_of_its_defaults(name):
    assert plan(name) == plan(SCHEME_OF[name]())
    with pytest.raises(ParameterError, match="uses its defaults") as caught:
        plan(name, hashes=5)
    assert caught.value.name == "hashes"


def test_smaller_buckets_are_proposed_for_large_collections():
    made = plan(documents=40_000_000)
    better = plan(MinHash(**made.smaller.parameters), documents=40_000_000)
    assert not better.expected.overflows
    assert better.expected.candidates == made.smaller.candidates
    assert str(better).startswith("The buckets have room for 40,000,000 documents: ")
    hopeless = plan(MinHash(threshold=0.3, shingle=1), documents=10**12, background=0.29)
    assert hopeless.answer[1] == "Longer shingles help: with them, unrelated documents share less."
    assert plan("sentences", documents=10**6).answer[1].startswith("Ignoring common sentences helps: ")
    of_cosines = str(plan("simhash", documents=100))
    assert "This assumes that the cosine of any two unrelated documents is 0.05.\n" in of_cosines


def test_small_collections_need_no_smaller_buckets():
    made = plan(documents=5000, background=0.04)
    assert (made.expected.documents, made.expected.overflows, made.smaller) == (5000, False, None)
    assert plan("trials", documents=5000).expected.candidates > 0


def test_recommendations_whose_buckets_overflow_are_marked():
    shown = str(plan(threshold=0.3, recall=0.95)).splitlines()
    assert shown[0].startswith("All of these parameters miss more pairs than listed among 1,000,000 documents")
    assert shown[1].startswith("For smaller buckets, use a higher threshold,")
    assert shown[3].endswith("; smallest buckets first")
    assert next(line for line in shown if line.startswith("minhash")).split("  ")[3].strip() == "> 5 %"
    assert any(line.startswith(">: more than this,") for line in shown)
    mixed = str(plan(threshold=0.6, recall=0.9, documents=10**10))
    assert "> " in mixed
    assert "; cheapest first" in mixed
    assert ">" not in str(plan(threshold=0.8, recall=0.99))


def test_one_document_is_singular():
    assert plan(documents=1).answer[0].startswith("The buckets have room for 1 document: ")
    assert "among 1 document; " in plan(threshold=0.8, recall=0.9, documents=1).heading


def test_unrelated_documents_are_only_below_a_threshold_of_the_same_measure():
    assert plan(SimHash(), documents=1000, background=0.9).background == 0.9  # a cosine; the threshold is not one
    with pytest.raises(ParameterError, match=r"below the threshold, 0\.6"):
        plan(MinHash(), documents=1000, background=0.7)


def test_a_mark_of_full_buckets_is_explained_wherever_it_is():
    made = plan(threshold=0.8, recall=0.99, documents=10**9, background=0.2)
    assert {one.scheme: one.overflows for one in made.recommendations} == {"minhash": False, "trials": True}
    assert [note for note in made.notes if note.startswith(">: more than this")]


def test_smaller_buckets_have_room_at_the_highest_recall_that_allows_it():
    found = smaller_buckets(MinHash(), 10**9, 0.05)
    assert (found.parameters["recall"], found.overflows) == (0.95, False)
    assert smaller_buckets(MinHash(), 10**9, 0.2) is None


def test_a_number_that_is_always_the_same_is_not_shown():
    shown = str(plan(threshold=0.98, recall=0.9))
    assert re.search(r"^simhash +distance \d+ +blocks \d+ ", shown, re.MULTILINE)


SEARCHED = {"minhash": MinHash, "trials": Trials, "simhash": SimHash}
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
        unrelated = (wanted.documents - 1) * chances(one, wanted.background)[1]
        assert one.candidates == pytest.approx(unrelated, rel=1e-6, abs=1e-6)
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
        scheme = SEARCHED[one.scheme](**one.parameters)
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
        law = candidates_by_law(SEARCHED[one.scheme](**one.parameters), documents, wanted.background)
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
