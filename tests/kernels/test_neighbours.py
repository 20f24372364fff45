"""The table of verdicts agrees with the rule for symbols, whatever is around them."""

from itertools import cycle, product

import pytest
from oracles import words
from test_folding import folded, split

from neardup.kernels.compile import ASCII_SYMBOLS

BEHIND_A_BLOCK = " " + "x" * 63  # the kernel looks at whole blocks, so text must follow


@pytest.mark.parametrize("symbol", [*map(chr, sorted(ASCII_SYMBOLS))])
def test_neighbours_of_every_class(symbol):
    around = (*" \t\n\x0baZ0=", symbol, *"+|/([:?.$_é")
    texts = [  # every triple with what is before, and every one with what is behind
        "".join(f"ab\n{first}{before}{symbol}{behind}{last} " for first, last in zip(around, cycle(" 1=")))
        for before, behind in product(around, repeat=2)
    ]
    expected = [words(text + BEHIND_A_BLOCK) for text in texts]
    assert split(*folded([text + BEHIND_A_BLOCK for text in texts])) == expected


@pytest.mark.parametrize(
    "text", ["a<b>c", "a = b", "a == b", "=", "é=b", "a=é", "中=中", "-----", "a*", "x://y=z", "x:////y"]
)
def test_wherever_a_block_ends(text):
    for before in range(70):
        whole = "x" * before + text + BEHIND_A_BLOCK
        assert split(*folded([whole])) == [words(whole)]
