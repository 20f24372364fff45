from math import comb

import numpy as np
import pytest

from neardup import Features, MinHash, Sentences, SimHash, Trials
from neardup.evaluation.designs import DESIGNS, MinHashDesign, SentencesDesign, SimHashDesign, TrialsDesign, spread
from neardup.schemes.plausibility import share_a_key


def test_keys_are_choices():
    assert TrialsDesign(trials=7, needed=3).keys == comb(7, 3)
    assert SimHashDesign(blocks=5).keys == comb(5, 3)
    assert MinHashDesign(bands=20).keys == 20


@pytest.mark.parametrize("scheme", [MinHash(), Sentences(), SimHash(), Trials()], ids=lambda scheme: scheme.name)
def test_defaults_are_those_of_the_scheme(scheme):
    design = DESIGNS[scheme.name]()
    assert design.parameters == {name: getattr(scheme, name) for name in design.parameters}
    assert design.layout == {name: getattr(scheme.layout, name) for name in design.layout}
    signatures = scheme.sign(["A ferry sails at noon."])
    assert (signatures.rows.nbytes, scheme.keys(signatures).shape[1]) == (design.signature_bytes, design.keys)


@pytest.mark.parametrize(("distance", "blocks"), [(0, 3), (3, 6), (7, 10), (8, 9), (63, 64)])
def test_blocks_by_default(distance, blocks):
    assert SimHashDesign(distance=distance).layout == {"blocks": blocks}


def test_values_are_the_decimal_fractions_themselves():
    assert spread(0, 100).tolist() == [step / 100 for step in range(101)]
    assert spread(80, 100).tolist() == [(800 + 2 * step) / 1000 for step in range(101)]


@pytest.mark.parametrize("shared", [5, 10, 20, 40])
@pytest.mark.parametrize("scheme", [Sentences(), Sentences(size=16)], ids=["64", "16"])
def test_sentences_become_candidates_as_often_as_their_law_says(scheme, shared):
    length, number = 1000, 1500
    values = np.random.default_rng(shared).integers(0, 2**64, (number, 2 * length - shared), np.uint64)
    texts = np.concatenate([values[:, :length], values[:, length - shared :]])
    keys = scheme.keys(scheme.sign(Features(texts.ravel(), np.arange(0, texts.size + 1, length))))
    pairs = np.arange(number)
    met = share_a_key(keys, pairs, pairs + number, pooled=scheme.pooled).mean()
    law = float(SentencesDesign(size=scheme.size).curves(np.array(shared / (2 * length - shared)))["candidate"])
    assert abs(met - law) <= 4 * np.sqrt(law * (1 - law) / number)
