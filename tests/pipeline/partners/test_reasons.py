"""Why matching documents were not compared: by their keys, their signatures, and the sizes of buckets."""

import numpy as np
import pyarrow as pa
import pytest

from neardup import FracMinHash, MinHash, Sentences
from neardup.pipeline.partners.reasons import MissedPair, Ranked, reasons
from neardup.text.sites import site

BASE = " ".join(f"word{n}" for n in range(60)) + "."


def pair_of(one, other, rank, of_site=0):
    return MissedPair((one.encode(), other.encode()), (of_site, of_site), rank)


@pytest.mark.parametrize("scheme", [MinHash(), Sentences()])
@pytest.mark.parametrize("of_site", [0, site("a.example", thin=True)])
def test_a_bucket_is_oversized_only_past_its_first_documents(scheme, of_site):
    texts, sites = [BASE] * 70, np.full(70, of_site, np.uint64)  # the same keys, as if other words differed
    ranked = [Ranked(pa.chunked_array([texts]), sites, np.arange(70))]
    pairs = [pair_of(texts[69], texts[rank], rank, of_site) for rank in (0, 63, 64, 68)]
    assert reasons(pairs, scheme, ranked) == ["unexplained"] * 2 + ["oversized bucket"] * 2
    parts = [
        Ranked(pa.chunked_array([texts[at : at + 9]]), sites[at : at + 9], np.arange(70)[at : at + 9])
        for at in range(0, 70, 9)
    ]
    assert reasons(pairs, scheme, parts) == reasons(pairs, scheme, ranked)
    equals = [Ranked(pa.chunked_array([texts]), sites, np.where(np.arange(70) < 9, -1, np.arange(70)))]
    assert reasons(pairs, scheme, equals) == ["unexplained"] * 4


def test_other_documents_share_no_key_and_estimates_may_be_too_low():
    scheme = MinHash(recall=0.5)
    other = " ".join(f"other{n}" for n in range(60))
    assert reasons([pair_of(BASE, other, 0)], scheme, []) == ["no shared key"]
    near = " ".join(f"word{n}" for n in range(60) if n % 11)
    strict = MinHash(bands=64).with_threshold(0.95)
    decided = [reasons([pair_of(BASE, near, 0)], strict, [], estimated=estimated)[0] for estimated in (False, True)]
    assert decided[1] == "signature"
    far = " ".join(f"word{n}" for n in range(60) if n % 9)  # plausible, but below the threshold
    decided = [reasons([pair_of(BASE, far, 0)], MinHash(), [], estimated=estimated)[0] for estimated in (False, True)]
    assert decided == ["unexplained", "signature"]
    assert reasons([], scheme, []) == []


@pytest.mark.parametrize("estimated", [False, True])
def test_containment_is_that_of_a_document_in_the_better_one(estimated):
    whole = " ".join(f"word{n}" for n in range(400))
    part = whole[: len(whole) // 4]
    decided = [
        reasons([pair_of(*pair, 0)], FracMinHash(), [], estimated=estimated)[0]
        for pair in ((part, whole), (whole, part))
    ]
    assert decided == ["unexplained", "signature"]


def test_one_bucket_with_room_is_enough():
    scheme, variants = MinHash(), [BASE.replace(f"word{n} ", "") for n in range(60)]
    own, *others = scheme.keys(scheme.sign([BASE, *variants]))
    near = next(variants[n] for n, keys in enumerate(others) if keys[-1] == own[-1] and (keys != own).any())
    ranked = [Ranked(pa.chunked_array([[near] * 68 + [BASE] * 2]), np.zeros(70, np.uint64), np.arange(70))]
    assert reasons([pair_of(BASE, BASE, 68)], scheme, ranked) == ["unexplained"]
