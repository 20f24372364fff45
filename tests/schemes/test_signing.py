from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from neardup import (
    Checksum,
    Combined,
    Features,
    FracMinHash,
    MinHash,
    Sentences,
    Signatures,
    SimHash,
    TermWeights,
    Trials,
)
from neardup.errors import DataError, ParameterError, RecipeMismatch
from neardup.model.arrays import Corpus
from neardup.schemes.signing import ranked_kernel, signed_features
from neardup.text.columns import text_column

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


KINDS = [MinHash(), FracMinHash(), Trials(), Sentences(), SimHash(), Combined(), Checksum.for_texts()]


@pytest.mark.parametrize("scheme", KINDS, ids=lambda scheme: scheme.name)
def test_rows_that_the_scheme_does_not_make_are_refused(scheme):
    signed = scheme.sign(TEXTS)
    rows = signed.rows
    assert (rows.shape[1], rows.dtype) == scheme.row_format[:2]
    signed_type = np.dtype(f"i{rows.itemsize}")
    two, rule = (np.array([0]), np.array([2])), f"must have rows of {rows.shape[1]} {rows.dtype}, as this scheme makes"
    for other in (np.hstack([rows, rows]), rows[:, :0], rows.view(signed_type), rows.astype(rows.dtype.newbyteorder())):
        wrong = Signatures(other, signed.present, signed.recipe)
        for question, given in (
            (scheme.estimate, (wrong, signed)),
            (scheme.matches, (signed, wrong)),
            (scheme.match_pairs, (wrong, *two)),
            (scheme.estimate_pairs, (wrong, *two)),
            (scheme.keys, (wrong,)),
            (scheme.ranked_rule, (wrong,)),
        ):
            with pytest.raises(ParameterError, match=rule):
                question(*given)


def test_short_and_whole_rows_are_not_compared():
    scheme = MinHash()
    signed = scheme.sign(TEXTS)
    short = scheme.shortened(signed)
    assert (scheme.keys(short)[signed.present] == scheme.keys(signed)[signed.present]).all()
    with pytest.raises(DataError, match="rows of uint32 cannot be compared with rows of uint16"):
        scheme.estimate(signed, short)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("values", np.zeros(3, np.int64)),
        ("values", np.zeros((3, 1), np.uint64)),
        ("offsets", np.array([0, 3], np.int32)),
        ("offsets", np.array([], np.int64)),
        ("offsets", np.array([0, 5, 1_000_000])),
        ("offsets", np.array([-1, 3])),
        ("offsets", np.array([0, 2, 1])),
        ("offsets", [0, 3]),
    ],
)
def test_features_that_do_not_fit_are_refused(name, array):
    features = Features(np.zeros(3, np.uint64), np.array([0, 3]))
    assert len(MinHash().sign(features)) == 1
    with pytest.raises(ParameterError, match=name):
        MinHash().sign(replace(features, **{name: array}))


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


@pytest.mark.parametrize("scheme", [MinHash(shingle=1), Combined()])
def test_features_and_signatures_of_one_batch(scheme):
    texts = text_column(
        ["one two three four five six seven eight nine", "", "one two three four five six seven eight ten"]
    )
    features, signatures = signed_features(scheme, texts)
    assert (features.values == scheme.shingling.features(texts).values).all()
    assert (signatures.rows == scheme.sign(texts).rows).all()
    thin, _ = signed_features(scheme, texts, np.array([0, 0, 7], np.uint64))
    changed = thin.values != features.values
    assert not changed[: features.offsets[2]].any()
    assert changed[features.offsets[2] :].all()
