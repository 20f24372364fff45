"""The promises every scheme keeps, whatever it is made of. A new scheme is one more line in ``CASES``."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from neardup import Analysis, Checksum, Combined, Field, FracMinHash, MinHash, Sentences, SimHash, TermWeights, Trials
from neardup.errors import DataError, ParameterError, RecipeMismatch
from neardup.model.arrays import Corpus, Features
from neardup.model.layout import Banding, Blocks
from neardup.testing import check_scheme
from neardup.text import columns

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = (Field(name="body"),)
WHOLE = (Field(name="body", required=False),)
SAMPLE = [
    "the quick brown fox jumps over the lazy dog",
    "The quick brown fox, jumps over the lazy dog!",
    "the quick brown fox jumps over the lazy cat",
    "something else entirely that is long enough",
    "",
    None,
    "two words",
    "two words",
    "你好世界你好世界",
    "the quick brown fox jumps over the lazy dog",
]


@dataclass(frozen=True)
class Case:
    scheme: Any
    other_recipe: Any
    unsigned: str  # a text without tokens


CASES = {
    "minhash": Case(MinHash(), MinHash(seed=2), "..."),
    "minhash, keyed": Case(MinHash(key=bytes(16)), MinHash(), "..."),
    "minhash, letters": Case(
        MinHash(analysis=Analysis(unit="letter"), shingle=5, permutations=64, threshold=0.8),
        MinHash(analysis=Analysis(unit="letter"), shingle=4, permutations=64),
        "...",
    ),
    "minhash, bags": Case(MinHash(bag=True, permutations=256, threshold=0.7), MinHash(permutations=256), "..."),
    "fracminhash": Case(FracMinHash(), FracMinHash(scaled=4), "..."),
    "fracminhash, of the smaller": Case(
        FracMinHash(measure="overlap", size=16, scaled=1, threshold=0.7), FracMinHash(size=16), "..."
    ),
    "trials": Case(Trials(), Trials(hashes=10), "..."),
    "trials, keyed": Case(Trials(key=bytes(16)), Trials(), "..."),
    "trials, bags": Case(Trials(bag=True, words=3, trials=9, needed=3), Trials(trials=9), "..."),
    "sentences": Case(Sentences(), Sentences(size=32), "if so"),
    "sentences, keyed": Case(Sentences(key=bytes(16)), Sentences(), "if so"),
    "sentences, relative to the smaller": Case(
        Sentences(size=16, relative_to="smaller", threshold=0.8, min_length=2), Sentences(size=16), "a b"
    ),
    "simhash": Case(SimHash(), SimHash(seed=2), "!"),
    "simhash, keyed": Case(SimHash(key=bytes(16)), SimHash(), "..."),
    "simhash, wide": Case(SimHash(shingle=2, bits=128, distance=5), SimHash(shingle=2, bits=192), "..."),
    "simhash, by cosines": Case(SimHash(rule="cosine", seed=3), SimHash(seed=2), "..."),
    "simhash, fitted": Case(SimHash(weights=TermWeights.fitted(SAMPLE)), SimHash(), "-"),
    "combined": Case(Combined(), Combined(first=Trials(words=7)), "..."),
    "combined, keyed": Case(
        Combined(MinHash(shingle=2, key=bytes(16)), SimHash(distance=20, key=bytes(16))),
        Combined(MinHash(shingle=2), SimHash(distance=20)),
        "...",
    ),
    "combined, of sentences": Case(
        Combined(Sentences(size=33), MinHash(permutations=8, recall=0.5)), Combined(), "if so"
    ),
    "checksum": Case(Checksum(fields=BODY), Checksum(fields=WHOLE), ""),
    "checksum, keyed": Case(Checksum(fields=BODY, key=bytes(16)), Checksum(fields=BODY), ""),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request):
    return request.param


@pytest.fixture
def scheme(case):
    return case.scheme


def all_pairs(signatures):
    left, right = (found.ravel() for found in np.indices((len(signatures), len(signatures))))
    return signatures[left], signatures[right]


# The four questions.


def test_what_every_scheme_promises(case):
    check_scheme(case.scheme)


@pytest.mark.parametrize(
    "scheme",
    [
        Sentences(threshold=0.9),
        Sentences(size=512),
        Combined(MinHash(), Trials()),
        Combined(Trials(), SimHash()),
        MinHash(shingle=1, permutations=8, recall=0.9, analysis=Analysis(unit="letter")),
    ],
    ids=["few missing sentences", "long signatures", "a bound by minhash", "a bound by trials", "single letters"],
)
def test_laws_hold_where_they_are_defined(scheme):
    check_scheme(scheme)


def test_documents_without_tokens_have_no_signature_and_match_nothing_not_even_themselves(case):
    signatures = case.scheme.sign([case.unsigned, "", None, SAMPLE[0], case.unsigned])
    assert signatures.present.tolist() == [False, False, False, True, False]
    left, right = all_pairs(signatures)
    expected = np.zeros((5, 5), np.bool_)
    expected[3, 3] = True
    assert (case.scheme.matches(left, right) == expected.ravel()).all()
    assert (case.scheme.estimate(left, right) == expected.ravel()).all()


def test_keys_can_be_changed(scheme):
    """For others, the first question of an index would compile its kernels again."""
    assert scheme.keys(scheme.sign(SAMPLE)).flags.writeable


def test_no_documents(scheme):
    nothing = scheme.sign([])
    assert len(nothing) == 0
    assert nothing.rows.shape[1] == scheme.sign(SAMPLE).rows.shape[1]
    assert scheme.keys(nothing).shape == (0, scheme.keys(scheme.sign(SAMPLE)).shape[1])
    assert scheme.matches(nothing, nothing).tolist() == []
    assert scheme.estimate(nothing, nothing).tolist() == []
    assert scheme.probability([]).tolist() == []


# Recipes.


def test_signatures_of_two_recipes_never_meet(case):
    mine, foreign = case.scheme.sign(SAMPLE), case.other_recipe.sign(SAMPLE)
    assert mine.recipe == case.scheme.recipe != foreign.recipe
    questions: list[Callable[[], object]] = [
        lambda: case.scheme.matches(mine, foreign),
        lambda: case.scheme.matches(foreign, mine),
        lambda: case.scheme.estimate(mine, foreign),
        lambda: case.scheme.estimate(foreign, foreign),
        lambda: case.scheme.keys(foreign),
    ]
    for question in questions:
        with pytest.raises(RecipeMismatch) as caught:
            question()
        assert foreign.recipe in str(caught.value)


MADE_BY = [MinHash(), Trials(), Sentences(), SimHash(), SimHash(weights=TermWeights.fitted(SAMPLE))]


@pytest.mark.parametrize("scheme", MADE_BY, ids=lambda scheme: scheme.name)
def test_features_of_another_shingling_are_refused(scheme):
    own = scheme.features(SAMPLE)
    assert own.recipe == scheme.shingling.recipe
    assert (scheme.sign(own).rows == scheme.sign(SAMPLE).rows).all()
    unknown = Features(own.values, own.offsets)
    assert (scheme.sign(unknown).rows == scheme.sign(SAMPLE).rows).all()
    for foreign in (replace(scheme, seed=2, **_plain(scheme)), replace(scheme, key=bytes(16), **_plain(scheme))):
        features = foreign.features(SAMPLE)
        for sign in (scheme.sign, lambda given: scheme.sign_at(Corpus(given, None, None), np.array([0]))):
            with pytest.raises(
                DataError, match=f"made by the recipe {features.recipe}; this scheme requires {own.recipe}"
            ):
                sign(features)


def _plain(scheme):
    return {"weights": "tf"} if scheme.name == "simhash" else {}


def test_features_of_one_of_two_shinglings_are_refused():
    with pytest.raises(DataError, match="made by the recipe"):
        Combined().sign(Trials(words=8).features(SAMPLE))
    same = Combined(MinHash(shingle=1), SimHash())
    assert (same.sign(SimHash().features(SAMPLE)).rows == same.sign(SAMPLE).rows).all()
    with pytest.raises(DataError, match="made by the recipe"):
        TermWeights.fitted(SAMPLE).weights(MinHash().features(SAMPLE))


def test_a_recipe_is_stable_and_tells_schemes_apart(case):
    assert case.scheme.recipe == replace(case.scheme).recipe
    recipes = [one.scheme.recipe for one in CASES.values()]
    assert len({*recipes}) == len(recipes)


NUMBERS = [
    (MinHash, {"permutations": 64, "shingle": 2, "seed": 5, "threshold": 1}),
    (Trials, {"words": 3, "hashes": 5, "trials": 4, "needed": 3, "seed": 5}),
    (Sentences, {"size": 9, "min_length": 2, "seed": 5}),
    (SimHash, {"shingle": 2, "bits": 128, "distance": 5, "blocks": 7, "seed": 5}),
    (Checksum, {"seed": 5}),
    (Field, {"name": "body", "limit": 5}),
    (Banding, {"permutations": 64, "bands": 8}),
    (Blocks, {"bits": 64, "distance": 3, "blocks": 5}),
]


@pytest.mark.parametrize(("kind", "numbers"), NUMBERS, ids=lambda value: getattr(value, "__name__", ""))
def test_integers_of_numpy_are_integers(kind, numbers):
    given = {name: np.int64(value) if isinstance(value, int) else value for name, value in numbers.items()}
    plain, other = kind(**numbers), kind(**given)
    assert other == plain
    assert getattr(other, "recipe", None) == getattr(plain, "recipe", None)
    if hasattr(plain, "sign"):
        assert (other.sign(SAMPLE).rows == plain.sign(SAMPLE).rows).all()


# The same bits whatever the way.


def rows_of(scheme, texts):
    signatures = scheme.sign(texts)
    return signatures.rows.tolist(), signatures.present.tolist()


LONGER = [f"{text or ''} {' '.join(f'w{(n * m) % 97}' for m in range(n % 30))}" for n, text in enumerate(SAMPLE * 20)]


def test_the_size_of_a_batch_changes_nothing(scheme, monkeypatch):
    whole = rows_of(scheme, LONGER)
    for size in (1, 300, 5000):
        cut = partial(columns.batches, size=size)
        monkeypatch.setattr("neardup.schemes.signing.batches", cut)
        assert rows_of(scheme, LONGER) == whole


# The law of errors.


def test_probability_of_one_number_is_a_number(scheme):
    assert np.ndim(scheme.probability(0.5)) == 0
    assert [float(scheme.probability(share)) for share in (0.3, 0.9)] == scheme.probability([0.3, 0.9]).tolist()


@pytest.mark.parametrize("beyond", [-0.01, 1.01, float("nan"), "much", [0.5, 1.5], [[float("nan"), 0.5]]], ids=str)
def test_a_resemblance_beyond_0_and_1_is_refused(beyond):
    with pytest.raises(ParameterError, match="must be from 0 to 1"):
        MinHash().probability(beyond)


def pairs_of(random, number, size, shared):
    """Pairs of texts of *size* distinct words each of which *shared* are common: resemblance known for single words."""
    left, right = [], []
    for _ in range(number):
        numbers = random.choice(10**6, 2 * size - shared, replace=False)
        left.append(" ".join(f"w{n}" for n in numbers[:size]))
        right.append(" ".join(f"w{n}" for n in numbers[size - shared :]))
    return left, right


SHINGLED = {"shingle": 1, "permutations": 64, "threshold": 0.6}


@pytest.mark.parametrize(("size", "shared"), [(8, 4), (12, 8), (20, 17), (30, 20), (30, 26), (60, 50)])
def test_match_rates_of_short_texts_are_at_least_as_good_as_the_law(size, shared):
    """The curve of short texts is steeper: nearer to 0 below the threshold, nearer to 1 above it."""
    scheme = MinHash(**SHINGLED)
    number, true = 400, shared / (2 * size - shared)
    left, right = pairs_of(np.random.default_rng(size), number, size, shared)
    rate = scheme.matches(scheme.sign(left), scheme.sign(right)).mean()
    law = scheme.probability(true)
    error = 4 * np.sqrt(max(law * (1 - law), 0.25 / number) / number)
    assert rate >= law - error if true >= scheme.threshold else rate <= law + error


@pytest.mark.parametrize("recall", [0.5, 0.999])
def test_keys_let_pairs_at_the_threshold_meet_with_the_stated_recall(recall):
    size, shared = 100, 75
    scheme = MinHash(shingle=1, permutations=64, threshold=0.6, recall=recall)
    assert shared / (2 * size - shared) == scheme.threshold
    number = 400
    left, right = pairs_of(np.random.default_rng(size), number, size, shared)
    met = (scheme.keys(scheme.sign(left)) == scheme.keys(scheme.sign(right))).any(axis=1).mean()
    assert scheme.layout.meeting_probability(0.6) >= recall
    assert met >= recall - 4 * np.sqrt(recall * (1 - recall) / number)
