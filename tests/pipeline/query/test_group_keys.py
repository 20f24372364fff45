import numpy as np
import pyarrow as pa
import pytest

from neardup import Checksum, Combined, Field, MinHash, Sentences, SimHash, Trials
from neardup.collapsing import group_keys
from neardup.errors import ParameterError, RecipeMismatch
from neardup.model.hits import group_id

WORDS = [f"w{number}" for number in range(30)]
TEXTS = [" ".join([*WORDS[:cut], "other", *WORDS[cut + 1 :]]) for cut in range(0, 30, 2)] + ["", "...", " ".join(WORDS)]


@pytest.mark.parametrize("scheme", [Trials(), Trials(hashes=3), Trials(hashes=2, trials=5, needed=3), Trials(needed=1)])
def test_trials_match_where_a_key_is_shared(scheme):
    signatures = scheme.sign(TEXTS)
    keys = group_keys(signatures, scheme)
    assert keys.dtype == np.int64
    assert len(keys) == len(TEXTS)
    left, right = (found.ravel() for found in np.indices((len(TEXTS), len(TEXTS))))
    shared = (keys[left] == keys[right]).filled(False).any(axis=1)  # what is masked equals nothing
    assert shared.tolist() == scheme.matches(signatures[left], signatures[right]).tolist()
    assert 0 < shared.sum() < len(shared)


def test_a_checksum_is_its_own_key():
    scheme = Checksum(fields=(Field(name="body"),))
    signatures = scheme.sign(pa.table({"body": ["a", "a", "b", None]}))
    keys = group_keys(signatures, scheme)
    assert keys.shape == (4, 1)
    assert keys.mask.ravel().tolist() == [False, False, False, True]
    assert keys.data[:3].view(np.uint64).tolist() == signatures.rows[:3].tolist()
    assert keys[0, 0] == keys[1, 0] != keys[2, 0]
    assert keys[3].tolist() == [None]


def test_the_signatures_stay_as_they_are():
    scheme = Checksum(fields=(Field(name="body"),))
    signatures = scheme.sign(pa.table({"body": ["a", None]}))
    before = signatures.rows.copy()
    group_keys(signatures, scheme, ids=["x", "y"])[:] = 0
    assert (signatures.rows == before).all()


def test_with_ids_nothing_is_masked_and_what_has_no_signature_is_alone():
    scheme = Trials()
    signatures = scheme.sign(TEXTS)
    ids = [f"d{number}" for number in range(len(TEXTS))]
    plain, keys = group_keys(signatures, scheme), group_keys(signatures, scheme, ids=ids)
    assert not keys.mask.any()
    assert keys[15].tolist() == [group_id("d15")] * 15
    assert keys[16].tolist() == [group_id("d16")] * 15
    assert (keys[~plain.mask] == plain[~plain.mask]).all()


def test_no_documents():
    assert group_keys(Trials().sign([]), Trials()).shape == (0, 15)
    assert group_keys(Trials().sign([]), Trials(), ids=[]).shape == (0, 15)


@pytest.mark.parametrize("scheme", [MinHash(), Sentences(), SimHash(), Combined()])
def test_other_schemes_have_no_group_keys_and_the_error_has_the_reason(scheme):
    with pytest.raises(ParameterError, match=r"must be Trials or Checksum: .*collapse_response"):
        group_keys(scheme.sign(TEXTS), scheme)


def test_what_does_not_fit_is_refused():
    with pytest.raises(RecipeMismatch):
        group_keys(Trials(hashes=3).sign(TEXTS), Trials())
    with pytest.raises(ParameterError, match="ids"):
        group_keys(Trials().sign(TEXTS), Trials(), ids=["a"])
