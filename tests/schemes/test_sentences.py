import zlib

import numpy as np
import pytest
from batches import lists
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import EMPTY, mix, sketch_overlap

from neardup import Features, Sentences
from neardup.errors import ParameterError
from neardup.kernels import sentences as kernels
from neardup.model.arrays import Signatures
from neardup.schemes.plausibility import share_a_key

KEY = bytes(range(16))
SENTENCE = st.sampled_from(
    [
        "The cats sat there.",
        "Nobody was home!",
        "It rained all day.",
        "Is it so?",
        "We go on.",
        "Why not now?",
        "你好。",
    ]
)
TEXTS = st.lists(st.none() | st.lists(SENTENCE, max_size=9).map(" ".join), max_size=5)


def sums(scheme, texts):
    """The values of each text, all of them, from its features."""
    features = scheme.features(texts)
    return [
        sorted({min(zlib.crc32(value.to_bytes(8, "little")), EMPTY - 1) for value in values})
        for values in lists(features.values, features.offsets)
    ]


@given(TEXTS, st.sampled_from([{}, {"seed": 5}, {"key": KEY}, {"stem": None}]))
def test_rows_equal_their_definition(texts, change):
    scheme = Sentences(size=4, **change)
    signatures = scheme.sign(texts)
    expected = [values[:4] + [EMPTY] * (4 - len(values)) for values in sums(scheme, texts)]
    assert signatures.rows.dtype == np.uint32
    assert signatures.rows.tolist() == expected
    assert signatures.present.tolist() == [row[0] != EMPTY for row in expected]


@given(TEXTS, st.integers(1, 6), st.sampled_from(["union", "smaller"]), st.sampled_from([0.3, 0.5, 2 / 3, 1.0]))
@example(["The cats sat there. It rained all day.", "It rained all day."], 4, "smaller", 1.0)
def test_estimates_and_matches_equal_their_definition(texts, size, relative_to, threshold):
    scheme = Sentences(size=size, relative_to=relative_to, threshold=threshold)
    signatures, values = scheme.sign(texts), sums(scheme, texts)
    left, right = (found.ravel() for found in np.indices((len(values), len(values))))
    rows, of_smaller = [own[:size] for own in values], relative_to == "smaller"
    expected = [sketch_overlap(rows[i], rows[j], size, of_smaller) for i, j in zip(left, right, strict=True)]
    assert scheme.estimate_pairs(signatures, left, right).tolist() == expected
    assert scheme.match_pairs(signatures, left, right).tolist() == [share >= threshold for share in expected]


@given(TEXTS, st.sampled_from(["union", "smaller"]))
def test_keys_are_complete_for_the_rule(texts, relative_to):
    scheme = Sentences(size=4, relative_to=relative_to, threshold=1e-9)
    signatures = scheme.sign(texts)
    keys = scheme.keys(signatures).tolist()
    for i in np.flatnonzero(signatures.present):
        for j in np.flatnonzero(signatures.present):
            matched = scheme.match_pairs(signatures, np.array([i]), np.array([j]))[0]
            assert bool({*keys[i]} & {*keys[j]}) >= matched
        assert {*keys[i]} == {mix(value) for value in signatures.rows[i].tolist() if value != EMPTY}


def test_case_endings_short_words_and_punctuation_say_nothing():
    one = "The houses were walking along, it was late! An owl in the tree."
    other = "THE HOUSE were walked along: was late? Owls -- the trees."
    scheme = Sentences()
    rows = scheme.sign([one, other]).rows
    assert (rows[0] == rows[1]).all()
    assert (Sentences(stem=None).sign([one, other]).rows[0] != Sentences(stem=None).sign([one, other]).rows[1]).any()
    assert not scheme.sign(["An it is. Or so."]).present[0]
    assert Sentences(min_length=1).sign(["An it is. Or so."]).present[0]


def test_a_part_overlaps_wholly_and_resembles_half():
    sentences = [f"Number {n} stands here." for n in range(100, 120)]
    part, whole = " ".join(sentences[:10]), " ".join(sentences)
    for relative_to, share in (("union", 0.5), ("smaller", 1.0)):
        scheme = Sentences(relative_to=relative_to)
        signatures = scheme.sign([part, whole])
        assert scheme.estimate(signatures[:1], signatures[1:]).tolist() == [share]


def test_what_is_measured_names_the_rule():
    assert (Sentences().measure, Sentences().rule) == ("resemblance", "resemblance")
    smaller = Sentences(relative_to="smaller")
    assert (smaller.measure, smaller.rule) == ("overlap", "overlap")


def pairs_of(random, scheme, number, size, shared):
    """Signatures of pairs of documents of *size* sentences, *shared* of them common, from made-up features."""
    values = random.integers(0, 2**64, (number, 2 * size - shared), np.uint64)
    documents = np.concatenate([values[:, :size], values[:, size - shared :]])
    rows = np.empty((2 * number, scheme.size), np.uint32)
    starts = np.arange(2 * number) * size
    kernels.smallest(documents.ravel(), starts, starts + size, rows)
    signatures = Signatures(rows, np.ones(2 * number, np.bool_), scheme.recipe)
    return signatures[:number], signatures[number:]


@pytest.mark.parametrize("shared", [1000, 1250, 1333, 1400, 1600])
def test_match_rates_of_long_texts_follow_the_law(shared):
    scheme, number = Sentences(), 400
    left, right = pairs_of(np.random.default_rng(shared), scheme, number, 2000, shared)
    true = shared / (4000 - shared)
    law = scheme.probability(true)
    error = np.sqrt(max(law * (1 - law), 0.25 / number) / number)
    assert abs(scheme.matches(left, right).mean() - law) <= 4 * error
    estimates = scheme.estimate(left, right)
    assert abs(estimates.mean() - true) <= 4 * np.sqrt(true * (1 - true) / 64 / number)


@pytest.mark.parametrize("shared", [600, 900, 1000, 1100, 1400])
def test_relative_to_the_smaller_the_overlap_of_long_texts_is_found_a_little_low(shared):
    """What is near the end of one signature may be beyond the end of the other: up to 0.04 is lost."""
    scheme, number, true = Sentences(relative_to="smaller"), 400, shared / 2000
    left, right = pairs_of(np.random.default_rng(shared), scheme, number, 2000, shared)
    error = np.sqrt(true * (1 - true) / 64 / number)
    assert true - 0.04 <= scheme.estimate(left, right).mean() <= true + 4 * error
    rate = scheme.matches(left, right).mean()
    assert scheme.probability(true - 0.04) - 0.1 <= rate <= scheme.probability(true) + 0.1


def test_relative_to_the_smaller_a_part_of_a_far_longer_text_is_not_recognised():
    """As the documentation warns: signatures of 64 values, 500 sentences of 5,000."""
    scheme = Sentences(relative_to="smaller")
    values = np.random.default_rng(1).integers(0, 2**64, 5000, np.uint64)
    rows = np.empty((2, 64), np.uint32)
    kernels.smallest(values, np.array([0, 0]), np.array([500, 5000]), rows)
    signatures = Signatures(rows, np.ones(2, np.bool_), scheme.recipe)
    assert scheme.estimate(signatures[:1], signatures[1:])[0] < 0.2


@pytest.mark.parametrize(("size", "shared"), [(32, 22), (32, 21), (20, 13), (20, 14)])
def test_short_texts_are_decided_exactly(size, shared):
    scheme = Sentences()
    left, right = pairs_of(np.random.default_rng(size), scheme, 50, size, shared)
    true = shared / (2 * size - shared)
    assert (scheme.estimate(left, right) == true).all()
    assert (scheme.matches(left, right) == (true >= 0.5)).all()


def test_layout_and_policy_do_not_change_the_recipe():
    assert Sentences(threshold=0.9).recipe == Sentences(relative_to="smaller").recipe == Sentences().recipe


@pytest.mark.parametrize(
    "change", [{"size": 32}, {"stem": None}, {"stem": "german"}, {"min_length": 4}, {"seed": 2}, {"key": KEY}], ids=str
)
def test_every_parameter_of_the_recipe_changes_it(change):
    assert Sentences(**change).recipe != Sentences().recipe


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", 0),
        ("size", 4097),
        ("size", 64.0),
        ("size", True),
        ("threshold", 0),
        ("threshold", 1.01),
        ("threshold", None),
        ("stem", "klingon"),
        ("min_length", 0),
        ("relative_to", "larger"),
        ("relative_to", None),
        ("seed", -1),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        Sentences(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


def test_bags_are_not_offered():
    with pytest.raises(TypeError, match="bag"):
        Sentences(bag=True)


@pytest.mark.parametrize("shared", [5, 10, 20, 40])
@pytest.mark.parametrize("scheme", [Sentences(), Sentences(size=16)], ids=["64", "16"])
def test_documents_become_candidates_as_often_as_the_law_says(scheme, shared):
    length, number = 1000, 1500
    values = np.random.default_rng(shared).integers(0, 2**64, (number, 2 * length - shared), np.uint64)
    texts = np.concatenate([values[:, :length], values[:, length - shared :]])
    signatures = scheme.sign(Features(texts.ravel(), np.arange(0, texts.size + 1, length)))
    pairs = np.arange(number)
    met = share_a_key(scheme, signatures, pairs, pairs + number).mean()
    law = float(scheme.curves(np.array(shared / (2 * length - shared)))["candidate"])
    assert abs(met - law) <= 4 * np.sqrt(law * (1 - law) / number)
