import numpy as np

from neardup.index.disk.part import ordinal_keys, with_numbers


def test_ordinals_have_keys_of_their_own_whose_high_bits_differ():
    keys = ordinal_keys(np.arange(10_000))
    assert len({*keys.tolist()}) == 10_000
    assert np.bincount((keys >> np.uint64(56)).astype(np.int64), minlength=256).max() <= 50


def test_keys_without_a_number_are_omitted():
    keys = np.array([0xABCD, 0xEF01, 0x1234], np.uint64)
    assert with_numbers(keys, np.array([7, -1, 0]), 8).tolist() == [0xAB07, 0x1200]
