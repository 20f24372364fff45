import math

import numpy as np
import pytest
from batches import lists
from hypothesis import given
from hypothesis import strategies as st
from oracles import fingerprint

from neardup import Analysis, SimHash, TermWeights, dedup
from neardup.errors import ParameterError
from neardup.model.arrays import Features, Signatures

KEY = bytes(range(16))
WORDS = ["a", "b", "c", "d", "e"]
TEXTS = st.lists(st.none() | st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join), max_size=4)
TABLE = TermWeights.given({"a": 3.0, "b": 0.5, "c": 1.25}, otherwise=0.75)


@given(TEXTS, st.sampled_from([{}, {"seed": 5}, {"key": KEY}, {"shingle": 2, "bits": 128}, {"bits": 192}]))
def test_rows_equal_their_definition(texts, change):
    scheme = SimHash(**change)
    signatures = scheme.sign(texts)
    features = scheme.features(texts)
    documents = lists(features.values, features.offsets)
    assert signatures.rows.tolist() == [fingerprint(one, [1] * len(one), scheme.bits // 64) for one in documents]
    assert signatures.present.tolist() == [bool(one) for one in documents]
    assert signatures.rows.dtype == np.uint64
    assert signatures.recipe == scheme.recipe


@given(TEXTS)
def test_weighted_rows_equal_their_definition(texts):
    scheme = SimHash(weights=TABLE, bits=128)
    words = [(text or "").split() for text in texts]
    features = scheme.features(texts)
    units = {"a": 48, "b": 8, "c": 20, "d": 12, "e": 12}
    expected = [
        fingerprint(values, [units[word] for word in document], 2)
        for document, values in zip(words, lists(features.values, features.offsets), strict=True)
    ]
    assert scheme.sign(texts).rows.tolist() == expected


def test_zeros_may_be_a_fingerprint():
    """What crafted features sum to is a signature all the same."""
    scheme = SimHash()
    values = np.array([1, 2, 4, 8], np.uint64)
    signatures = scheme.sign(Features(values, np.array([0, 4, 4])))
    assert signatures.rows.tolist() == [[0], [0]]
    assert signatures.present.tolist() == [True, False]
    assert scheme.distances(signatures[[0, 0, 1]], signatures[[0, 1, 1]]).tolist() == [0, 64, 64]
    assert scheme.matches(signatures[[0, 0, 1]], signatures[[0, 1, 1]]).tolist() == [True, False, False]


def differing(random, rows, number):
    """The same rows with *number* random bits of each turned."""
    bits = np.unpackbits(rows.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    for row in bits:
        row[random.choice(len(row), number, replace=False)] ^= 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


LAYOUTS = [
    *({"distance": distance} for distance in range(8)),
    {"distance": 3, "blocks": 4},
    {"distance": 3, "blocks": 5},
    {"distance": 2, "blocks": 17},
    {"distance": 0, "blocks": 1},
    {"distance": 9, "bits": 128},
    {"distance": 5, "bits": 192},
    {"distance": 30, "bits": 512},
]


@pytest.mark.parametrize("change", LAYOUTS, ids=str)
def test_keys_miss_no_pair_within_the_distance(change):
    scheme = SimHash(**change)
    random = np.random.default_rng(scheme.distance)
    rows = random.integers(0, 2**64, (300, scheme.bits // 64), np.uint64)
    present = np.ones(len(rows), np.bool_)
    one = Signatures(rows, present, scheme.recipe)
    for number in range(scheme.distance + 2):
        other = Signatures(differing(random, rows, number), present, scheme.recipe)
        assert (scheme.distances(one, other) == number).all()
        assert (scheme.matches(one, other) == (number <= scheme.distance)).all()
        met = (scheme.keys(one) == scheme.keys(other)).any(axis=1)
        assert met.all() or number > scheme.distance
    assert scheme.keys(one).shape == (300, len(scheme.layout.tables))


def test_worst_pairs_are_not_missed():
    """Every way to put one differing bit into each of three blocks."""
    scheme = SimHash()
    edges = scheme.layout.edges.tolist()
    masks = [sum(1 << edges[block] for block in range(6) if choice >> block & 1) for choice in range(64)]
    rows = np.array(masks, np.uint64)[:, None]
    signatures = Signatures(rows, np.ones(64, np.bool_), scheme.recipe)
    same = signatures[np.zeros(64, np.int64)]
    met = (scheme.keys(signatures) == scheme.keys(same)).any(axis=1)
    assert met.tolist() == [choice.bit_count() <= 3 for choice in range(64)]


@pytest.mark.parametrize("agreement", [0.5, 0.8, 0.9, 0.95])
def test_keys_meet_as_often_as_their_law_says(agreement):
    scheme = SimHash()
    random = np.random.default_rng(5)
    number = 20_000
    rows = random.integers(0, 2**64, (number, 1), np.uint64)
    turned = (random.random((number, 64)) >= agreement).astype(np.uint8)
    others = rows ^ np.packbits(turned, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    present = np.ones(number, np.bool_)
    one, other = (Signatures(part, present, scheme.recipe) for part in (rows, others))
    met = (scheme.keys(one) == scheme.keys(other)).any(axis=1).sum()
    law = number * scheme.layout.meeting_probability(agreement)
    assert abs(met - law) <= 4 * np.sqrt(law) + 2


# Charikar's law.


def texts_of(random, shared, only_left, only_right):
    """Two texts of distinct words: their cosine is ``shared / sqrt(n * m)``."""
    numbers = random.choice(10**7, shared + only_left + only_right, replace=False)
    words = [f"w{number}" for number in numbers]
    return " ".join(words[: shared + only_left]), " ".join(words[:shared] + words[shared + only_left :])


@pytest.mark.parametrize(
    ("shared", "only_left", "only_right"),
    [(0, 1001, 1001), (201, 800, 800), (501, 500, 500), (801, 200, 200), (951, 50, 50), (901, 0, 200), (601, 40, 1200)],
)
@pytest.mark.parametrize("change", [{}, {"key": KEY}], ids=["public", "keyed"])
def test_a_bit_is_equal_with_the_probability_of_the_angle(shared, only_left, only_right, change):
    scheme = SimHash(bits=256, **change)
    random = np.random.default_rng(shared)
    trials = 150
    left, right = zip(*(texts_of(random, shared, only_left, only_right) for _ in range(trials)), strict=True)
    distances = scheme.distances(scheme.sign(left), scheme.sign(right))
    cosine = shared / math.sqrt((shared + only_left) * (shared + only_right))
    agreement = 1 - math.acos(cosine) / math.pi
    error = math.sqrt(agreement * (1 - agreement) / (256 * trials))
    assert abs(1 - distances.mean() / 256 - agreement) <= 4 * error
    estimates = scheme.estimate(scheme.sign(left), scheme.sign(right))
    slope = math.pi * math.sin(math.acos(cosine))  # how an error of the share of equal bits enlarges in the cosine
    slack = 0.06 if cosine == 0 else 0.005  # cosines below 0 are estimated as 0, and the cosine is bent
    assert abs(estimates.mean() - cosine) <= 4 * error * slope + slack


def test_occurrences_and_weights_are_in_the_cosine():
    """A word five times, or once with five times the weight, turns the document alike."""
    words = [f"w{number}" for number in range(999)]
    often = " ".join(words + words[:20] * 4)
    heavy = SimHash(bits=512, weights=TermWeights.given(dict.fromkeys(words[:20], 5.0)))
    one, other = SimHash(bits=512).sign([often]), heavy.sign([" ".join(words)])
    assert one.rows.tolist() == other.rows.tolist()
    plain = SimHash(bits=512).sign([" ".join(words)])
    cosine = (999 + 20 * 4) / math.sqrt(999 * (979 + 20 * 25))
    assert SimHash(bits=512).estimate(one, plain)[0] == pytest.approx(cosine, abs=0.09)


@pytest.mark.parametrize(("size", "shared"), [(1001, 995), (1001, 985), (1001, 960)])
def test_match_rates_of_long_texts_follow_the_law(size, shared):
    scheme = SimHash()
    random = np.random.default_rng(shared)
    number = 300
    left, right = zip(*(texts_of(random, shared, size - shared, size - shared) for _ in range(number)), strict=True)
    rate = scheme.matches(scheme.sign(left), scheme.sign(right)).mean()
    law = scheme.probability(shared / size)
    assert abs(rate - law) <= 4 * math.sqrt(max(law * (1 - law), 1 / number) / number)


@pytest.mark.parametrize(("bits", "distance"), [(64, 0), (64, 3), (64, 10), (128, 6)])
def test_probability_is_the_binomial_law_of_the_angle(bits, distance):
    scheme = SimHash(bits=bits, distance=distance)
    for cosine in (0.0, 0.3, 0.8, 0.99, 1.0):
        turned = math.acos(cosine) / math.pi
        law = sum(math.comb(bits, k) * turned**k * (1 - turned) ** (bits - k) for k in range(distance + 1))
        assert scheme.probability(cosine) == pytest.approx(law, rel=1e-9, abs=1e-30)


def test_estimates_are_the_cosine_that_a_distance_implies():
    scheme = SimHash()
    rows = np.array([[0], [7], [2**32 - 1], [2**40 - 1]], np.uint64)
    signatures = Signatures(rows, np.array([True] * 4), scheme.recipe)
    first = signatures[[0] * 4]
    assert scheme.distances(first, signatures).tolist() == [0, 3, 32, 40]
    assert scheme.distances(signatures[:2], signatures[1:3]).tolist() == [3, 29]
    expected = [1.0, math.cos(math.pi * 3 / 64), 0.0, 0.0]
    assert scheme.estimate(first, signatures) == pytest.approx(expected, abs=1e-15)


# Recipe, layout, policy.


def test_layout_and_policy_do_not_change_the_recipe():
    recipe = SimHash().recipe
    assert SimHash(distance=5).recipe == recipe
    assert SimHash(threshold=0.5).recipe == recipe
    assert SimHash(blocks=4).recipe == recipe
    assert SimHash().with_threshold(0.6) == SimHash(threshold=0.6)


@pytest.mark.parametrize(
    "change",
    [
        {"shingle": 2},
        {"bits": 128},
        {"seed": 2},
        {"key": KEY},
        {"weights": TABLE},
        {"weights": TermWeights.given({})},
        {"analysis": Analysis(unit="letter")},
    ],
    ids=str,
)
def test_every_parameter_of_the_recipe_changes_it(change):
    assert SimHash(**change).recipe != SimHash().recipe


def test_recipes_of_two_tables_differ():
    tables = [
        TABLE,
        TermWeights.given({"a": 3.0, "b": 0.5, "c": 1.5}, otherwise=0.75),
        TermWeights.given({"a": 3.0, "b": 0.5, "c": 1.25}, otherwise=1.0),
        TermWeights.given({"a": 3.0, "b": 0.5, "d": 1.25}, otherwise=0.75),
    ]
    assert len({SimHash(weights=table).recipe for table in tables}) == len(tables)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bits", 0),
        ("bits", 63),
        ("bits", 576),
        ("bits", 64.0),
        ("distance", -1),
        ("distance", 64),
        ("distance", 3.0),
        ("blocks", 3),
        ("blocks", 65),
        ("blocks", 20),
        ("threshold", 0),
        ("threshold", 1.01),
        ("threshold", float("nan")),
        ("threshold", "0.8"),
        ("weights", "idf"),
        ("weights", None),
        ("weights", {"a": 2.0}),
        ("seed", -1),
        ("shingle", 0),
        ("analysis", "word"),
    ],
)
def test_every_parameter_has_a_rule(name, value):
    with pytest.raises(ParameterError) as caught:
        SimHash(**{name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


@pytest.mark.parametrize(
    "change", [{"shingle": 2}, {"seed": 2}, {"key": KEY}, {"analysis": Analysis(fold_case=False)}], ids=str
)
def test_a_table_of_another_shingling_is_refused(change):
    with pytest.raises(ParameterError, match="same analysis") as caught:
        SimHash(weights=TABLE, **change)
    assert caught.value.name == "weights"
    assert SimHash(weights=TermWeights.given({"a b" if "shingle" in change else "a": 3.0}, **change), **change)


def test_a_key_is_not_shown():
    key = b"secret key 16 by"
    scheme = SimHash(key=key, weights=TermWeights.given({"a": 2.0}, key=key))
    for shown in (repr(scheme), str(scheme), scheme.recipe, repr(scheme.weights)):
        assert "secret" not in shown
        assert key.hex() not in shown


# The whole way.


def collection():
    """Ten texts of 300 words; of each a copy, a copy with one word changed, and one with two of three changed."""
    random = np.random.default_rng(8)
    texts = []
    for _ in range(10):
        words = [f"w{number}" for number in random.integers(0, 10**6, 300)]
        few = [*words[:299], "changed"]
        many = [f"x{word}" if place % 3 else word for place, word in enumerate(words)]
        texts += [" ".join(version) for version in (words, words, few, many)]
    return [*texts, "", "?!", "\ud800", "lone"]


@pytest.mark.parametrize("weights", ["tf", TermWeights.fitted(collection())], ids=["tf", "tf-idf"])
@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
@pytest.mark.parametrize("gather", ["kept", "components"])
def test_edited_copies_are_removed_and_related_documents_kept(weights, verify, gather):
    scheme = SimHash(weights=weights, bits=128, distance=7)
    result = dedup(collection(), scheme=scheme, verify=verify, gather=gather, threads=2)
    kept = set(result.kept.tolist())
    assert {*range(0, 40, 4), *range(3, 40, 4), 40, 41, 42, 43} <= kept  # originals, and what is only related
    assert kept.isdisjoint(range(1, 40, 4))
    assert len(kept & set(range(2, 40, 4))) <= 2  # near copies, but for a few that SimHash may miss
    assert result.summary.scheme == "simhash"
    assert result.summary.exact == 10
    assert result.summary.near >= 8
    rules = set(result.decisions.column("rule").to_pylist())
    assert rules <= {"same text", None, {"exact": "resemblance", "estimate": "estimate", "none": "shared key"}[verify]}


def edited(number, changes):
    """A text of 300 words, and versions with *changes* of them exchanged: most of them too far from it to match."""
    random = np.random.default_rng(1)
    words = [f"w{n}" for n in range(300)]
    texts = [words]
    for version in range(number):
        texts.append(words.copy())
        for place in random.choice(300, changes, replace=False):
            texts[-1][place] = f"u{version}x{place}"
    return [" ".join(text) for text in texts]


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
def test_blocks_do_not_decide_who_matches(verify):
    texts = edited(200, 28)
    kept = [
        dedup(texts, scheme=SimHash(blocks=blocks), verify=verify, threads=1).kept.tolist() for blocks in range(4, 9)
    ]
    assert kept[1:] == kept[:-1]
    assert 100 < len(kept[0]) < 190  # a few are near, most are not


@pytest.mark.parametrize("verify", ["exact", "estimate", "none"])
@pytest.mark.parametrize("gather", ["kept", "components"])
def test_whoever_is_dropped_is_within_the_distance_or_called_connected(verify, gather):
    """A distance of 12 makes keys of five bits, which unrelated documents share."""
    texts = edited(60, 60)
    scheme = SimHash(distance=12, threshold=0.3)
    result = dedup(texts, scheme=scheme, verify=verify, gather=gather, threads=1)
    dropped = np.flatnonzero(result.representatives >= 0)
    assert len(dropped) > 5
    within = scheme.match_pairs(scheme.sign(texts), dropped, result.representatives[dropped])
    rules = result.decisions["rule"].to_numpy(zero_copy_only=False)[dropped]
    assert ((rules != "component") == within).all()
    assert within.all() or gather == "components"


def test_exact_verification_looks_at_sets_of_features():
    """Weights turn these two into one direction; as sets they share little."""
    texts = ["heavy " + " ".join(f"{side}{n}" for n in range(9)) for side in "ab"]
    scheme = SimHash(weights=TermWeights.given({"heavy": 1000.0}))
    assert dedup(texts, scheme=scheme, verify="estimate").kept.tolist() == [0]
    assert dedup(texts, scheme=scheme).kept.tolist() == [0, 1]
    assert dedup(texts, scheme=scheme, threshold=0.05).kept.tolist() == [0]


def test_the_threshold_of_dedup_is_that_of_exact_verification():
    texts = collection()
    assert dedup(texts, scheme=SimHash(bits=128, distance=7), threshold=1.0).summary.near == 0
    assert dedup(texts, scheme=SimHash(bits=128, distance=7), threshold=0.9).summary.near >= 8
