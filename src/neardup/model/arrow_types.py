"""Types of Arrow with strings or bytes as values, each in its encodings."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa

Test = Callable[[pa.DataType], Any]

STRINGS: Final[tuple[Test, ...]] = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BINARY: Final[tuple[Test, ...]] = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
BYTES: Final[tuple[Test, ...]] = (*BINARY, pa.types.is_fixed_size_binary)


def is_one_of(kind: pa.DataType, tests: Iterable[Test]) -> bool:
    """Return whether any of these tests holds for a type."""
    return any(test(kind) for test in tests)
