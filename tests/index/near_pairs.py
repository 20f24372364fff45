"""Pairs of near fingerprints: by definition, and as tables find them."""

import numpy as np


def near_pairs(left, right, distance):
    """Return the definition, in plain integers: the places of each pair, and how many bits differ."""
    return [
        (i, j, (one ^ other).bit_count())
        for i, one in enumerate(map(int, left))
        for j, other in enumerate(map(int, right))
        if (one ^ other).bit_count() <= distance
    ]


def tuples(found):
    assert [column.dtype for column in found] == [np.int64] * 3
    return list(zip(*(column.tolist() for column in found), strict=True))
