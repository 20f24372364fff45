"""Texts that can play no tricks where they are shown, on the terminal and on pages."""

import unicodedata


def printable(text: str) -> str:
    r"""Show control and direction characters as escapes: documents and file names are hostile until shown otherwise.

    >>> printable("a\x1b[31mb\u202ec\nd")
    'a\\x1b[31mb\\u202ec d'
    """
    return text if text.isprintable() else "".join(_shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter in "\n\t\r":
        return " "
    if unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} and letter not in "\u200d\u200c":
        return letter.encode("unicode_escape").decode()
    return letter
