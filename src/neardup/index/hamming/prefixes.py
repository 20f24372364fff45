"""A prefix code for a few symbols, by how often they occur (Huffman 1952)."""

from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.kernels.differences import CODE_BITS, NO_CODE
from neardup.model.arrays import Positions

_NOBODY: Final = -1  # a symbol that never occurs


class PrefixCode(NamedTuple):
    """The code of each symbol, the first bit lowest, its *sizes* in bits, and a table of ``CODE_BITS`` bits.

    No code is all zeros. ``read[bits]`` is ``symbol << 8 | size`` of the code that *bits* begin with, or
    ``NO_CODE``.
    """

    codes: Positions
    sizes: Positions
    read: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, frequencies: Positions) -> "PrefixCode":
        """Return the code for fewer than 2**8 symbols with these counts; a symbol with count 0 has none.

        >>> code = PrefixCode.of(np.array([5, 0, 1, 2]))
        >>> code.sizes.tolist(), [f"{bits:03b}" for bits in code.codes]
        ([1, 0, 3, 2], ['001', '000', '100', '010'])
        """
        weights = dict(enumerate(frequencies.tolist()))
        sizes = _sizes(weights)
        while max(sizes.values()) > CODE_BITS:  # flatten codes that are too long
            weights = {symbol: (weight + 1) // 2 for symbol, weight in weights.items()}
            sizes = _sizes(weights)
        codes, widths = np.zeros(len(frequencies), np.int64), np.zeros(len(frequencies), np.int64)
        read = np.full(1 << CODE_BITS, NO_CODE, np.uint16)
        code, last = 0, 0
        for symbol, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
            code >>= max(0, last - size)
            if symbol != _NOBODY:
                turned = int(f"{code:0{size}b}"[::-1], 2)
                codes[symbol], widths[symbol] = turned, size
                read[turned :: 1 << size] = symbol << 8 | size
            code, last = code + 1, size
        return cls(codes, widths, read)


def _sizes(weights: dict[int, int]) -> dict[int, int]:
    """Return the number of bits of each symbol's code; the deepest one, all zeros, has no symbol."""
    parts = [(weight, symbol, [symbol]) for symbol, weight in {**weights, _NOBODY: 0}.items() if weight or symbol < 0]
    sizes = dict.fromkeys((symbol for _, symbol, _ in parts), 0)
    heapify(parts)
    while len(parts) > 1:
        (one, first, some), (other, _, others) = heappop(parts), heappop(parts)
        for symbol in some + others:
            sizes[symbol] += 1
        heappush(parts, (one + other, first, some + others))
    return sizes
