"""How a document is composed from a bank of sentences, the same on every machine.

A *bank* is plain text. Its variants are separated by empty lines, its line breaks mean nothing.
Inside a variant ``[one|two]`` is a choice, ``{12..30}`` a number, ``{weeks=2..9}`` a number that ``{weeks}``
repeats, and every other ``{name}`` a member of the document's cast.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import product
from operator import eq

from samples import names

CHOICE = re.compile(r"\[([^][]*\|[^][]*)\]")
NUMBER = re.compile(r"\{(?:(\w+)=)?(\d+)\.\.(\d+)\}")
BETWEEN_IDEOGRAPHS = re.compile("(?<=[\u3000-\u30ff\u4e00-\u9fff\uff00-\uff60]) (?=[\u3000-\u30ff\u4e00-\u9fff])")
FIELD = re.compile(r"\{(\w+)\}")


class Pen:
    """A stream of choices that depends on nothing but its seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, count: int) -> int:
        """Draw a number from 0 to *count* - 1."""
        self._drawn += 1
        drawn = blake2b(f"{self._seed}/{self._drawn}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") % count

    def between(self, low: int, high: int) -> int:
        """Draw a number from *low* to *high*."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[str]) -> str:
        """Draw one of the options."""
        return options[self.below(len(options))]

    def shuffled(self, count: int) -> list[int]:
        """Draw an order of the numbers below *count*."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


class Cast:
    """The people, places and figures of one document: a name once given stays given."""

    def __init__(self, pen: Pen, **given: str) -> None:
        self._pen = pen
        self._given = given

    def fill(self, template: str) -> str:
        """Decide every choice, number and name of a variant."""
        text = CHOICE.sub(lambda choice: self._pen.pick(choice[1].split("|")), template)
        text = NUMBER.sub(self._number, text)
        return FIELD.sub(lambda field: self._name(field[1]), text)

    def _number(self, match: re.Match[str]) -> str:
        drawn = str(self._pen.between(int(match[2]), int(match[3])))
        return self._given.setdefault(match[1], drawn) if match[1] else drawn

    def _name(self, field: str) -> str:
        if field not in self._given:
            stem = field.rstrip("0123456789")
            if stem == "last":
                return self._name("person" + field.removeprefix("last")).rsplit(" ", 1)[1]
            if stem == "person":
                drawn = f"{self._pen.pick(names.FIRST)} {self._pen.pick(names.LAST)}"
            elif stem == "woman":
                drawn = f"{self._pen.pick(names.WOMEN)} {self._pen.pick(names.LAST)}"
            else:
                pool = names.POOLS[stem]
                free = [name for name in pool if name not in self._given.values()]
                drawn = self._pen.pick(free)
            self._given[field] = drawn
        return self._given[field]


def variants(bank: str) -> list[str]:
    """Read the variants of a bank, each on one line."""
    return [BETWEEN_IDEOGRAPHS.sub("", " ".join(variant.split())) for variant in bank.strip().split("\n\n")]


@cache
def deal(sizes: tuple[int, ...], documents: int) -> list[tuple[int, ...]]:
    """Give each document a variant from every slot, so that any two share as few as can be, and all come up.

    >>> deal((2, 3), 4)
    [(0, 0), (1, 1), (0, 2), (1, 0)]
    """
    hands: list[tuple[int, ...]] = []

    def cost(hand: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        shared = [sum(map(eq, hand, other)) for other in hands]
        return max(shared, default=0), sum(shared), hand

    while len(hands) < documents:
        hands += [min(product(*map(range, sizes)), key=cost)]
    return hands


@dataclass(frozen=True)
class Subject:
    """What a document is about: its title and the paragraphs that only it has."""

    title: str
    paragraphs: tuple[str, ...]


def subjects(bank: str) -> list[Subject]:
    """Read subjects separated by ``===`` lines: the title on the first line, then paragraphs."""
    read = []
    for entry in bank.strip().split("\n===\n"):
        title, _, body = entry.strip().partition("\n")
        read.append(Subject(title.strip(), tuple(variants(body)) if body.strip() else ()))
    return read


@dataclass(frozen=True)
class Genre:
    """A kind of document: its subjects, and the paragraphs any of them may be given."""

    name: str
    sources: tuple[str, ...]
    subjects: list[Subject]
    slots: tuple[list[str], ...]

    def compose(self, number: int) -> tuple[str, str]:
        """Give the title and the text of document *number*."""
        subject = self.subjects[number]
        pen = Pen(f"{self.name}/{number}")
        cast = Cast(pen, **names.departed(pen)) if self.name == "obituary" else Cast(pen)
        paragraphs = [cast.fill(paragraph) for paragraph in subject.paragraphs]
        hand = deal(tuple(len(slot) for slot in self.slots), len(self.subjects))[number]
        paragraphs += [cast.fill(slot[variant]) for slot, variant in zip(self.slots, hand, strict=True)]
        return cast.fill(subject.title), "\n\n".join(paragraphs)
