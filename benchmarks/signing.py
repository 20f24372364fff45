"""Question: how fast does each scheme sign, with a public and with a keyed recipe."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

import neardup
from corpus import CORPUS, corpus
from figures import SMALL, Figure, publish
from neardup.kernels import sentences
from neardup.schemes.laws import least_count
from peers.measuring import best_of, column, size
from truth import truth

METHOD = """
From the Arrow text column to signatures in one thread, the best of three. Each scheme has its default settings unless
its row names others; the MinHash row is the one nearest to the 84 minima of the default trials. The ratio is the time
with a secret key to the time of the same recipe with a public seed; a checksum always has a key, made from the seed.

Random words are seven random letters each, 1,000 in a document, so that all words are new; there the ratio is the time
with English stems to the time without, in alternate runs.

A step is the comparison of one value of two sentence signatures. *Saved* steps are those after the answer is certain.
"""
KEY: Final = bytes(range(16))
TIMES_KEYED: Final = 2.0
TIMES_STEMMED: Final = 2.0
RANDOM_WORDS: Final = 100_000 if SMALL else 12_000_000
LETTERS: Final = 7  # in a random word
DOCUMENT: Final = 1_000  # words
PAIRS: Final = 100_000
SEED: Final = 11


@dataclass(frozen=True)
class Case:
    """A scheme to measure, and how many megabytes it should sign a second."""

    name: str
    scheme: Any
    at_least: float | None = None


CASES: Final = (
    Case("MinHash, 2 words, 88 minima", neardup.MinHash(shingle=2, permutations=88)),
    Case("Trials", neardup.Trials(), at_least=350),
    Case("Sentences", neardup.Sentences(), at_least=100),
    Case("SimHash", neardup.SimHash()),
    Case("Combined", neardup.Combined()),
    Case("Checksum of the whole text", neardup.Checksum(fields=(neardup.Field(name="body"),))),
)


def main() -> None:
    corpus()
    texts = column(CORPUS)
    figures = [figure for case in CASES for figure in measured(case, texts)]
    figures.append(new_words())
    figures += early_exit(texts)
    publish("signing", f"Signing {len(texts):,} documents, {size(texts) / 1e6:.0f} MB", METHOD, figures)


def measured(case: Case, texts: pa.LargeStringArray) -> list[Figure]:
    public, _ = best_of(lambda: case.scheme.sign(texts))
    secret = keyed(case.scheme)
    private, _ = best_of(lambda: secret.sign(texts))
    megabytes = size(texts) / 1e6
    return [
        Figure(name=case.name, value=megabytes / public, unit="MB/s", at_least=case.at_least),
        Figure(
            name=f"{case.name}, keyed",
            value=megabytes / private,
            unit="MB/s",
            ratio=private / public,
            at_most=TIMES_KEYED,
        ),
    ]


def keyed(scheme: Any) -> Any:
    if isinstance(scheme, neardup.Combined):
        return neardup.Combined(keyed(scheme.first), keyed(scheme.second))
    return replace(scheme, key=KEY)


def new_words() -> Figure:
    """Sign texts whose words are new all along, with and without stems."""
    letters = np.random.default_rng(SEED).integers(ord("a"), ord("z") + 1, (RANDOM_WORDS, LETTERS + 1), np.uint8)
    letters[:, LETTERS] = ord(" ")
    texts = pa.array([document.tobytes().decode() for document in np.split(letters, RANDOM_WORDS // DOCUMENT)])
    with_stems, without = neardup.Sentences(), neardup.Sentences(stem=None)
    times = [(best_of(lambda: with_stems.sign(texts), 1)[0], best_of(lambda: without.sign(texts), 1)[0]) for _ in "abc"]
    stemmed, plain = (min(column) for column in zip(*times, strict=True))
    return Figure(
        name="Sentences, random words",
        value=size(texts) / 1e6 / stemmed,
        unit="MB/s",
        ratio=stemmed / plain,
        at_most=TIMES_STEMMED,
    )


def early_exit(texts: pa.LargeStringArray) -> list[Figure]:
    """Count how much of merging two signatures is saved by stopping once the answer is certain."""
    scheme = neardup.Sentences()
    rows = scheme.sign(texts).rows
    random = np.random.default_rng(SEED)
    alike = truth()
    chosen = random.choice(alike.num_rows, min(PAIRS, alike.num_rows), replace=False)
    pairs = {
        "near duplicates": (alike["left"].to_numpy()[chosen], alike["right"].to_numpy()[chosen]),
        "random documents": random.integers(len(rows), size=(2, PAIRS)),
    }
    return [
        Figure(
            name=f"Sentences, steps saved on {name}",
            value=100.0 * saved(rows, left.astype(np.int64), right.astype(np.int64), scheme),
            unit="%",
        )
        for name, (left, right) in pairs.items()
    ]


def saved(rows: np.ndarray, left: np.ndarray, right: np.ndarray, scheme: neardup.Sentences) -> float:
    least = np.array([1, *(least_count(whole, scheme.threshold) for whole in range(1, scheme.size + 1))])
    shares = np.empty(len(left))
    flags = np.empty(len(left), np.bool_)
    every = sentences.overlaps(rows, rows, left, right, False, shares)
    needed = sentences.decide(rows, rows, left, right, False, least, flags)
    return 1.0 - needed / every


if __name__ == "__main__":
    main()
