"""Labelled collections: originals, copies that keep the content, and documents that only look like copies.

In both, two documents are the same if and only if they have the same content. `news`: articles; an agency's text is
cut, moved about, corrected in places and put into a paper's frame, and is still the same; another article on the topic
quotes a third of it and is not. `forms`: a template that is filled in; the same form with corrected spelling, other
case or a stamp is the same; the template filled in for somebody else is not, however alike the two are. `desk`: the
articles of `news` and as many short messages about them; the same message with another case or a word added is the
same, the message that differs in its last two or three words is not.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from edits import FOOTERS, moved, reset, shortened, substituted

_VOCABULARY: Final = 6_000


class Words:
    """Texts of words that are as frequent as those of a language."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        letters = list("abcdefghijklmnopqrstuvwxyz")
        self.words = ["".join(random.choice(letters, int(random.integers(2, 10)))) for _ in range(_VOCABULARY)]
        frequencies = 1 / np.arange(1, _VOCABULARY + 1)
        self.shares = frequencies / frequencies.sum()

    def sentences(self, number: int) -> list[str]:
        """Return some sentences."""
        found = []
        for _ in range(number):
            chosen = self.random.choice(self.words, int(self.random.integers(6, 20)), p=self.shares)
            found.append(" ".join(chosen).capitalize() + ".")
        return found


def news(seed: int, stories: int = 400) -> tuple[pa.Table, list[int]]:
    """Return articles with ids and texts, and the number of the content of each."""
    random = np.random.default_rng(seed)
    words = Words(random)
    texts, contents = [], []
    for story in range(stories):
        own = words.sentences(int(random.integers(8, 40)))
        texts.append(" ".join(own))
        contents.append(story)
        for _ in range(int(random.integers(0, 4))):
            text = "\n".join(own)
            kept = float(random.uniform(0.55, 1.0))
            text = shortened(text, kept, random)
            if random.random() < 0.5:
                text = moved(text, 0.9, random)
            text = substituted(text, float(random.uniform(0.8, 1.0)), random)
            if random.random() < 0.5:
                frame = random.choice(FOOTERS, int(random.integers(1, 5)))
                text += "\n" + "\n".join(line.format(number=random.integers(10**6)) for line in frame)
            texts.append(text)
            contents.append(story)
        for _ in range(int(random.integers(0, 3))):
            quoted = own[: max(1, int(len(own) * random.uniform(0.1, 0.45)))]
            texts.append(" ".join([*words.sentences(int(random.integers(6, 25))), *quoted]))
            contents.append(-len(texts))
    return _table(texts), contents


def forms(seed: int, templates: int = 40) -> tuple[pa.Table, list[int]]:
    """Return forms with ids and texts, and the number of the content of each."""
    random = np.random.default_rng(seed)
    words = Words(random)
    texts, contents, number = [], [], 0
    for _ in range(templates):
        template = " ".join(words.sentences(int(random.integers(6, 20)))).split()
        blanks = np.sort(
            random.choice(len(template), max(3, len(template) // int(random.integers(10, 30))), replace=False)
        )
        for _ in range(int(random.integers(5, 20))):
            filled = list(template)
            for place in blanks.tolist():
                filled[place] = f"{random.choice(words.words)}{random.integers(100)}"
            text, number = " ".join(filled), number + 1
            texts.append(text)
            contents.append(number)
            for _ in range(int(random.integers(0, 3))):
                copy = list(filled)
                for _ in range(int(random.integers(0, 3))):  # spelling, but not of what was filled in
                    place = int(random.integers(len(copy)))
                    copy[place] = copy[place] if place in blanks else copy[place][:-1] + "x"
                copied = " ".join(copy)
                if random.random() < 0.5:
                    copied = reset(copied, 1.0, random)
                if random.random() < 0.3:
                    copied += f" Received on day {random.integers(365)}, desk {random.integers(40)}."
                texts.append(copied)
                contents.append(number)
    return _table(texts), contents


def desk(seed: int, stories: int = 250, messages: int = 120) -> tuple[pa.Table, list[int]]:
    """Return articles and short messages with ids and texts, and the number of the content of each."""
    table, contents = news(seed, stories)
    random = np.random.default_rng([seed, 1])
    words = Words(random)
    texts, number = table["text"].to_pylist(), stories
    for _ in range(messages):
        message = words.sentences(1)[0][:-1].split()[: int(random.integers(9, 16))]
        for _ in range(int(random.integers(1, 6))):
            own = list(message)
            for place in range(-int(random.integers(2, 4)), 0):
                own[place] = f"{random.choice(words.words)}{random.integers(100)}"
            number += 1
            for copy in range(int(random.integers(1, 4))):
                text = " ".join(own) + "."
                if copy and random.random() < 0.5:
                    text = reset(text, 1.0, random)
                if copy and random.random() < 0.5:
                    text = f"Update: {text}"
                texts.append(text)
                contents.append(number)
    return _table(texts), contents


def _table(texts: list[str]) -> pa.Table:
    return pa.table({"id": [f"d{place}" for place in range(len(texts))], "text": texts})
