"""Escaping of texts for terminals and pages."""

import unicodedata
from collections.abc import Sequence

Part = tuple[str, bool]  # a printable text, and whether it was looked for


def printable(text: str) -> str:
    r"""Return a text with control and direction characters escaped: documents and file names may be malicious.

    >>> printable("a\x1b[31mb\u202ec\nd")
    'a\\x1b[31mb\\u202ec d'

    Bytes of a file name that are not valid UTF-8 are shown as numbers:

    >>> print(printable("n\udcff.csv"))
    n\xff.csv
    """
    return text if text.isprintable() else "".join(_shown(letter) for letter in text)


def printable_lines(text: str) -> str:
    r"""Return a text as ``printable`` does, but keep its line ends and tabs.

    >>> printable_lines("a\r\n\tb\u202e")
    'a\n\tb\\u202e'
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in unified.split("\n"))


def shortened(text: str, most: int) -> str:
    """Return a text as ``printable`` does, with at most *most* of its characters.

    >>> shortened("a long title", 7)
    'a long…'
    """
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")


def middle_shortened(text: str, most: int) -> str:
    """Return the two ends of a text, with at most *most* characters.

    >>> middle_shortened("https://a.example/a-long-one", 15)
    'https:/…ong-one'
    """
    half = most // 2
    return printable(text if len(text) <= most else f"{text[:half]}…{text[-half:]}")


def parts(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Part, ...]:
    """Cut a text at the ends of *spans*, which begin in ascending order and may overlap.

    >>> parts("the ferry", [(4, 9)])
    (('the ', False), ('ferry', True))
    """
    found: list[Part] = []
    done = 0
    for begin, end in (*spans, (len(text), len(text))):
        pieces = (text[done:begin], False), (text[max(begin, done) : end], True)
        found += [(printable(piece), wanted) for piece, wanted in pieces if piece]
        done = max(done, end)
    return tuple(found)


def _shown(letter: str) -> str:
    if letter in "\n\t\r":
        return " "
    if "\udc80" <= letter <= "\udcff":  # how Python represents such a byte
        return f"\\x{ord(letter) - 0xDC00:02x}"
    if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} and letter not in "\u200d\u200c":
        return letter.encode("unicode_escape").decode()
    return letter
