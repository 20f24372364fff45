"""Outputs on a terminal: documents may have characters that control it, or that turn the direction of text."""

import io
import json
import os
from codecs import getincrementaldecoder
from typing import Any, BinaryIO, Final

_KEPT: Final = "\n\r\t\u200c\u200d"  # line ends, and what joins emoji and letters


def escaped(text: str) -> str:
    r"""Return a text with control and direction characters as JSON writes them, but for line ends, tabs and joiners.

    >>> escaped('{"a": "\x9b31m\u202eb"}\n')
    '{"a": "\\u009b31m\\u202eb"}\n'
    """
    return "".join(one if one.isprintable() or one in _KEPT else json.dumps(one)[1:-1] for one in text)


def opened_screen(descriptor: int, size: int) -> BinaryIO:
    """Return a file that writes to a descriptor, with a buffer of this *size*; on a terminal, texts are ``escaped``."""
    return io.BufferedWriter((_Screen if os.isatty(descriptor) else io.FileIO)(descriptor, "wb"), size)


class _Screen(io.FileIO):
    """A terminal; bytes that are not valid UTF-8 are shown as replacement characters."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self._decode = getincrementaldecoder("utf-8")("replace").decode

    def write(self, data: Any, /) -> int:
        left = memoryview(escaped(self._decode(bytes(data))).encode())
        while left:
            left = left[super().write(left) or 0 :]
        return len(data)
