import numpy as np

from neardup.index.disk.part import ordinal_keys


def test_ordinals_have_keys_of_their_own_whose_high_bits_differ():
    keys = ordinal_keys(np.arange(10_000))
    assert len({*keys.tolist()}) == 10_000
    assert np.bincount((keys >> np.uint64(56)).astype(np.int64), minlength=256).max() <= 50
