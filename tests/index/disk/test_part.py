import numpy as np
from documents import COLUMNS, batch

from neardup.index.disk.columns import Lookup
from neardup.index.disk.part import first_with, ordinal_keys, with_numbers
from neardup.index.disk.recent_documents import Recent
from neardup.model.candidates import ROOM


def test_ordinals_have_keys_of_their_own_whose_high_bits_differ():
    keys = ordinal_keys(np.arange(10_000))
    assert len({*keys.tolist()}) == 10_000
    assert np.bincount((keys >> np.uint64(56)).astype(np.int64), minlength=256).max() <= 50


def test_keys_without_a_number_are_omitted():
    keys = np.array([0xABCD, 0xEF01, 0x1234], np.uint64)
    assert with_numbers(keys, np.array([7, -1, 0]), 8).tolist() == [0xAB07, 0x1200]


def test_a_digest_is_found_behind_more_documents_than_a_bucket_has():
    """Two digests with one first half have one key; and documents are excluded one by one."""
    number = ROOM * 17
    part = Recent(COLUMNS, Lookup(lambda rows, _: rows, position_independent=False), np.array([3, 5], np.uint64))
    documents = batch(number)
    documents["equal"] = np.array([[7, place // (number - 2)] for place in range(number)], np.uint64)
    part.append(documents)
    digests = np.array([[7, 1], [7, 1], [7, 0], [7, 2], [8, 1]], np.uint64)
    asking, besides = np.ones(5, np.bool_), np.array([-1, number - 2, 0, -1, -1])
    assert first_with(part, "equal", digests, asking, besides).tolist() == [number - 2, number - 1, 1, -1, -1]
    assert asking.tolist() == [False, False, False, True, True]
    part.remove(np.array([number - 2]))
    assert first_with(part, "equal", digests[:1], np.array([True]), np.array([-1])).tolist() == [number - 1]
