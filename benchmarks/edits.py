"""Edited copies: what mirrors, templates, revisions and plagiarists do to a text.

Each edit takes a text, a wanted resemblance and a random generator. The strength
follows from the wanted resemblance by the arithmetic of word 5-grams, and holds on
average only: the truth about a copy is measured, never taken from here.
"""

import re
from collections.abc import Callable
from typing import Final

from numpy.random import Generator

SHINGLE: Final = 5
WORD: Final = re.compile(r"\w+")

Edit = Callable[[str, float, Generator], str]


def substituted(text: str, resemblance: float, random: Generator) -> str:
    """Replace single words, each with the same probability, by other words of the text.

    A share s of the words leaves (1 - s)**5 of the shingles on both sides, so
    r = c / (2 - c) with c = (1 - s)**5.
    """
    words = WORD.findall(text)
    share = 1.0 - (2.0 * resemblance / (1.0 + resemblance)) ** (1.0 / SHINGLE)

    def replacement(match: re.Match[str]) -> str:
        return words[random.integers(len(words))] if random.random() < share else match[0]

    return WORD.sub(replacement, text)


def shortened(text: str, resemblance: float, random: Generator) -> str:
    """Leave out one run of 1 - r of the text: what remains is contained in the original."""
    length = round(len(text) * (1.0 - resemblance))
    start = int(random.integers(len(text) - length + 1))
    return text[:start] + text[start + length :]


def moved(text: str, resemblance: float, random: Generator) -> str:
    """Move lines elsewhere. Each move breaks three joints, of 2 * 4 shingles in the union each."""
    lines = text.splitlines(keepends=True)
    broken = len(WORD.findall(text)) * (1.0 - resemblance)
    for _ in range(max(1, round(broken / (3 * 2 * (SHINGLE - 1))))):
        line = lines.pop(random.integers(len(lines)))
        lines.insert(random.integers(len(lines) + 1), line if line.endswith("\n") else line + "\n")
    return "".join(lines)


def framed(text: str, resemblance: float, random: Generator) -> str:
    """Append a site's footer, 1 / r - 1 times as long as the text: the original is contained in the copy."""
    wanted = len(text) * (1.0 / resemblance - 1.0)
    footer = []
    while sum(map(len, footer)) < wanted:
        footer.append(FOOTERS[random.integers(len(FOOTERS))].format(number=random.integers(1_000_000)))
    return text + "\n" + "\n".join(footer)


def reset(text: str, _resemblance: float, random: Generator) -> str:
    """Change case, punctuation and white space only: the words, and so the resemblance of 1, stay."""
    text = text.upper() if random.random() < 0.3 else text.title() if random.random() < 0.3 else text
    text = re.sub(r"[.,;:](?=\s)", lambda _: (" -", "!", " ...", ";")[random.integers(4)], text)
    return re.sub(r"\s", lambda _: (" ", "  ", "\n", "\t", "\u00a0")[random.integers(5)], text)


def revised(text: str, resemblance: float, random: Generator) -> str:
    """Do some of everything, as the next version of a page does."""
    part = resemblance ** (1.0 / 3.0)
    return reset(substituted(moved(shortened(text, part, random), part, random), part, random), 1.0, random)


EDITS: Final[dict[str, Edit]] = {
    "substituted": substituted,
    "shortened": shortened,
    "moved": moved,
    "framed": framed,
    "reset": reset,
    "revised": revised,
}

FOOTERS: Final = (
    "Copyright {number}. All rights reserved. Reproduction without written permission is prohibited.",
    "Subscribe to our newsletter and never miss an update. Reader number {number} just joined.",
    "This page was last modified by editor {number}. Report a problem with this page.",
    "Related articles: ten things you did not know about topic {number}, and what happened next.",
    "We use cookies to improve your experience. Read policy {number} or accept and continue.",
    "Home, About us, Careers, Press, Contact, Terms of service, Privacy, Accessibility, Sitemap, Build {number}.",
    "Printed from mirror {number}. The original of this document may have changed since.",
)
