from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from neardup import (
    Checksum,
    Combined,
    DataError,
    FracMinHash,
    MinHash,
    ParameterError,
    Sentences,
    SimHash,
    TermWeights,
    Trials,
)
from neardup.errors import RecipeMismatch
from neardup.model.arrays import Corpus
from neardup.schemes.signing import ranked_kernel

TEXTS = ["one two three four five", "", "six seven eight nine", None]


@pytest.mark.parametrize(
    "scheme",
    [
        MinHash(),
        FracMinHash(),
        Trials(),
        Sentences(),
        SimHash(bits=256, shingle=2),
        SimHash(weights=TermWeights.given({"two": 3.0})),
    ],
    ids=lambda scheme: f"{scheme.name}, {getattr(scheme, 'weights', '')}",
)
def test_texts_and_features_are_signed_alike(scheme):
    features, by_text = scheme.features(TEXTS), scheme.sign(TEXTS)
    by_features = scheme.sign(features)
    assert (by_text.rows == by_features.rows).all()
    assert by_text.present.tolist() == by_features.present.tolist() == [True, False, True, False]
    some = scheme.sign_at(Corpus(features, None, None), np.array([2, 1]))
    assert (some.rows == by_text.rows[[2, 1]]).all()
    assert some.present.tolist() == [True, False]


def test_bytes_of_a_signature():
    assert MinHash(permutations=64).stored_bytes == 256
    assert SimHash(bits=128).stored_bytes == 16


@pytest.mark.parametrize("scheme", [MinHash(), SimHash()], ids=lambda scheme: scheme.name)
def test_sets_of_other_lengths_or_recipes_are_refused(scheme):
    signed = scheme.sign(TEXTS)
    for question in (scheme.estimate, scheme.matches, *([scheme.distances] if hasattr(scheme, "distances") else [])):
        with pytest.raises(DataError, match="4 rows"):
            question(signed, signed[:2])
    with pytest.raises(RecipeMismatch):
        scheme.match_pairs(replace(scheme, seed=2).sign(TEXTS), np.array([0]), np.array([1]))


@pytest.mark.parametrize(
    "scheme", [MinHash(), SimHash(), Combined(), Checksum.for_texts()], ids=lambda scheme: scheme.name
)
@pytest.mark.parametrize("question", ["match_pairs", "estimate_pairs"])
def test_positions_of_no_document_are_refused(scheme, question):
    asked, signed = partial(getattr(scheme, question), scheme.sign(TEXTS)), np.array([0, 1])
    for wrong in ([0, 1], np.array([0, 4]), np.array([-1, 0]), np.array([0.0, 1.0]), np.array([[0, 1]]), None):
        with pytest.raises(ParameterError, match=r"left.* must be an array of positions of 4 documents"):
            asked(wrong, signed)
        with pytest.raises(ParameterError, match=r"right.* must be an array of positions of 4 documents"):
            asked(signed, wrong)
    with pytest.raises(ParameterError, match="must have 2 positions, as many as left"):
        asked(signed, np.array([0]))
    assert asked(signed[:0], signed[:0]).tolist() == []


def test_kernels_of_ranked_rules_are_loaded_once():
    assert ranked_kernel("by_minima") is ranked_kernel("by_minima")
