"""How copies come about. Each edit says what it does to a text, and does the same every time."""

import re
import unicodedata
from collections.abc import Iterable

from samples.grammar import Pen, variants

SYNONYMS = """
nearly/almost said/stated people/residents began/started large/big often/frequently finished/completed because/since
shop/store several/various children/youngsters whole/entire whether/if enough/sufficient afterwards/later
quickly/rapidly usually/normally beside/near until/till however/though built/constructed repair/fix but/yet
perhaps/maybe many/numerous soon/shortly nobody/no-one everybody/everyone somebody/someone anybody/anyone
buy/purchase begin/start evening/night wrote/noted towns/cities
"""
REPLACED = dict(pair.split("/") for pair in SYNONYMS.split())
NUMBER = re.compile(r"\b\d{2,3}\b")
UPDATES = variants("""
This article has been updated to correct a figure in the second paragraph and to add the name of the photographer.

Update: in the meantime the town hall has confirmed the date. Further reactions are expected in the course of the
week.

Correction: an earlier version gave the wrong day of the week. The editors thank the eleven readers who pointed this
out.

Since this report first appeared, the authorities have promised to publish the relevant papers on their website by
Friday.

Added at six in the evening: a spokeswoman declined to comment on the details while inquiries were still going on.

The original text was shortened for this edition. A podcast of nine minutes with voices from the scene accompanies
it.
""")
AGENCIES = ("Northwire", "Plain Press", "Coast News Service")


def lightly(text: str, pen: Pen, words: int) -> str:
    """Exchange up to *words* words for synonyms, and raise one figure of two or three digits by one to three."""
    places = [found for found in re.finditer(r"\b[a-z]+\b", text) if found[0] in REPLACED]
    chosen = sorted((places[place] for place in pen.shuffled(len(places))[:words]), key=lambda found: -found.start())
    for found in chosen:
        text = text[: found.start()] + REPLACED[found[0]] + text[found.end() :]
    if figures := list(NUMBER.finditer(text)):
        figure = figures[pen.below(len(figures))]
        text = f"{text[: figure.start()]}{int(figure[0]) + pen.between(1, 3)}{text[figure.end() :]}"
    return text


def shortened(text: str, pen: Pen) -> str:
    """Leave out the paragraph before the last, and edit what remains lightly."""
    *paragraphs, _, last = text.split("\n\n")
    return lightly("\n\n".join([*paragraphs, last]), pen, words=5)


def syndicated(text: str, pen: Pen) -> str:
    """Set the agency's name before the text and a line of credit behind it."""
    agency = pen.pick(AGENCIES)
    return f"({agency}) - {text}\n\nReporting by {agency}; edited for length and style."


def on_a_page(text: str, header: str, footer: str) -> str:
    return f"{header}\n\n{text}\n\n{footer}"


def halved(text: str, other: str) -> str:
    """Keep the first half of the paragraphs and go on with the last half of another text."""
    mine, theirs = text.split("\n\n"), other.split("\n\n")
    return "\n\n".join([*mine[: len(mine) // 2], *theirs[len(theirs) // 2 :]])


def shouted(text: str) -> str:
    """Write everything in capitals."""
    return text.upper()


def respaced(text: str) -> str:
    """Break the lines elsewhere, and double some spaces."""
    return text.replace("\n\n", "\r\n \r\n").replace(". ", ".  ").replace(", ", ",\n")


def repunctuated(text: str) -> str:
    """Exchange quotation marks and dashes, and put exclamation marks in place of full stops between sentences."""
    return text.replace('"', "\u201d").replace(" - ", " \u2014 ").replace(". ", "! ").replace(";", " \u2026")


def decomposed(text: str) -> str:
    """Write the same characters as base letters with combining marks."""
    return unicodedata.normalize("NFD", text)


def patched(text: str, replaced: Iterable[tuple[str, str]], added: str) -> str:
    for old, new in replaced:
        if old not in text:
            raise ValueError(f"{old!r} is not in the text")
        text = text.replace(old, new)
    joint = "" if ord(text[-1]) > ord("\u2fff") else " "
    return f"{text}{joint}{added}"
