"""Which blocks of documents are compared."""

import numpy as np

from neardup.pipeline.partners.pairs import PairRule
from neardup.pipeline.spilled.joins import BlockPairs


def test_blocks_of_too_different_sizes_are_not_compared():
    sizes = np.array([10, 12, 1_000, 0, 1_100])
    rule = PairRule("resemblance", 0.6, clusters=False, between=False)
    blocks = BlockPairs(sizes, 0, 900, rule)
    assert [block.tolist() for block in blocks.documents] == [[0, 1], [2], [4]]
    assert blocks.pairs == [(0, 0), (1, 1), (1, 2), (2, 2)]
    rule = PairRule("overlap", 0.6, clusters=False, between=False)
    assert len(BlockPairs(sizes, 0, 900, rule).pairs) == 6
    rule = PairRule("resemblance", 0.6, clusters=False, between=True)
    assert BlockPairs(sizes, 2, 900, rule).pairs == []
