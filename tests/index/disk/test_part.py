import numpy as np

from neardup.index.disk.columns import encoded
from neardup.index.disk.part import id_keys, ordinal_keys

SALT = np.array([3, 5], np.uint64)


def test_equal_ids_have_equal_keys_under_one_salt():
    keys = id_keys(encoded(["a", "b", "a", ""]), SALT)
    assert keys.dtype == np.uint64
    assert keys[0] == keys[2]
    assert len({*keys.tolist()}) == 3
    assert (id_keys(encoded(["a"]), SALT + np.uint64(1)) != keys[:1]).all()
    assert len(id_keys(encoded([]), SALT)) == 0


def test_ordinals_have_keys_of_their_own_whose_high_bits_differ():
    keys = ordinal_keys(np.arange(10_000))
    assert len({*keys.tolist()}) == 10_000
    assert np.bincount((keys >> np.uint64(56)).astype(np.int64), minlength=256).max() <= 50
