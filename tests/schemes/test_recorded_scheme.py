"""What is recorded of a scheme, and how others differ from it."""

import pytest

from neardup import Analysis, Checksum, Combined, Field, MinHash, SimHash, TermWeights, Trials
from neardup.errors import StorageRefused
from neardup.schemes.recorded_scheme import RecordedScheme, as_recorded, differing
from neardup.text.common_shingles import CommonShingles

KEY, OTHER = bytes(16), bytes(15) + b"1"
LISTED = MinHash(common=CommonShingles.fitted(["a b c d e"] * 3, MinHash().shingling, 0.5))
WEIGHTED = SimHash(weights=TermWeights.fitted(["some words", "some other words"]))


def changed(before, now):
    return [change.words() for change in RecordedScheme.of(before).changes(RecordedScheme.of(now))]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (MinHash(), MinHash(), []),
        (MinHash(), MinHash(shingle=4, seed=2), ["shingle was 3 and is 4", "seed was 1 and is 2"]),
        (MinHash(), MinHash(analysis=Analysis(stem="english")), ["stem was not set and is english"]),
        (MinHash(), MinHash(analysis=Analysis(symbols=False)), ["symbols was on and is off"]),
        (MinHash(analysis=Analysis(stop_words=("a", "the"))), MinHash(), ["stop_words was a the and is not set"]),
        (MinHash(), SimHash(key=KEY), ["scheme was minhash and is simhash"]),
        (MinHash(), MinHash(key=KEY), ["the secret key was added"]),
        (MinHash(key=KEY), MinHash(key=OTHER), ["the secret key was changed"]),
        (MinHash(), LISTED, [f"common was not set and is {LISTED.common.identity}"]),
        (WEIGHTED, SimHash(), [f"weights was {WEIGHTED.weights.identity} and is tf"]),
        (Combined(), Combined(first=Trials(words=8, seed=2)), ["seed was 1 and is 2"]),
        (Combined(), Combined(first=MinHash()), ["scheme was trials and is minhash"]),
        (Checksum(fields=(Field(name="a"),)), Checksum(fields=(Field(name="b"),)), ["fields was changed"]),
    ],
)
def test_what_differs_is_named(before, now, words):
    assert changed(before, now) == words


def test_all_parameters_that_differ_are_named():
    before, now = MinHash(short=9, short_threshold=0.9), MinHash(shingle=4, threshold=0.7, recall=0.5)
    assert [words.split()[0] for words in changed(before, now)] == [
        "shingle",
        "threshold",
        "short",
        "short_threshold",
        "recall",
    ]


def test_a_recipe_that_differs_alone_is_named():
    recorded = RecordedScheme.of(MinHash())
    assert [one.words() for one in recorded.changes(recorded._replace(recipe="another"))] == [
        "the recipe of the scheme was changed"
    ]


def test_layout_and_policy_are_named_only_if_nothing_else_differs():
    before = RecordedScheme.of(SimHash())
    both, alone = SimHash(bits=128, distance=5, blocks=8, threshold=0.9), SimHash(threshold=0.9)
    assert [one.name for one in before.recipe_changes(RecordedScheme.of(both))] == ["bits"]
    assert [one.name for one in before.recipe_changes(RecordedScheme.of(alone))] == ["threshold"]


def test_other_settings_than_those_of_schemes():
    assert [change.words() for change in differing({"text": "a", "html": None}, {"text": "b", "html": None})] == [
        "text was a and is b"
    ]


@pytest.mark.parametrize(
    ("before", "now", "code"),
    [
        (MinHash(key=KEY), MinHash(), "key needed"),
        (MinHash(key=KEY), MinHash(key=OTHER), "other key"),
        (MinHash(), MinHash(key=KEY), "no key"),
        (Combined(MinHash(key=KEY), SimHash(key=KEY)), Combined(MinHash(), SimHash()), "key needed"),
    ],
)
def test_the_same_key_is_required(before, now, code):
    with pytest.raises(StorageRefused, match=r"^seen was created with") as refused:
        RecordedScheme.of(before).require_key("seen", now)
    assert refused.value.code == code


def test_seeds_are_settings():
    RecordedScheme.of(MinHash()).require_key("seen", MinHash(seed=2))
    RecordedScheme.of(MinHash(key=KEY)).require_key("seen", MinHash(key=KEY, shingle=4))


def test_what_is_not_recorded_cannot_be_left_out():
    plain, listed = (
        as_recorded(RecordedScheme.of(MinHash()).changes(RecordedScheme.of(now))) for now in (MinHash(seed=2), LISTED)
    )
    assert plain == (
        "was created with other settings: seed was 1 and is 2; use the same settings, or leave them out: they are"
        " recorded"
    )
    assert listed.endswith("; use the same settings")
