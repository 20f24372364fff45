"""Question: how many files are dropped for a licence header, and how many edited copies are kept as a template."""

import re
import sysconfig
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

import neardup
from definition import resemblance, words
from figures import Figure, publish

METHOD = """
The documents are the Python files of the standard library and of the packages installed with neardup. A drop is
*because of the header* if the two files, without the comment at their beginning, have a resemblance of less than 0.5,
computed from sets of three words. Two files that contain nothing but that comment do not count.

- *Near-identical files separated* counts the pairs that `ignore_common` should not lose: plain `dedup` drops one of
  them at a resemblance of 0.95 or more, also without the comment, but now both files are kept or are dropped for
  different files.
- *Families mistaken for a template*: each family has 6 to 10 copies of one random text, in which some words are
  replaced. A family is counted if more than two of its versions count as different documents: then their common text
  is ignored, and more than one version is kept.

Processor time is that of one thread.
"""
HEADER: Final = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*")
DIFFERENT: Final = 0.5
SAME: Final = 0.95
SHARES: Final = (0.02, 0.005, 0.002)
RECOMMENDED: Final = 0.002
MOST: Final = 10
FAMILIES: Final = 100
EDITED: Final = ((300, 3), (600, 5), (100, 1), (200, 4))
MOST_FAMILIES: Final = 25


def main() -> None:
    texts = list(sources())
    figures = [Figure(name="files", value=len(texts), unit="")]
    for name, scheme in (
        ("3 words at 0.6", neardup.MinHash()),
        ("5 words at 0.8", neardup.MinHash(shingle=5, threshold=0.8)),
    ):
        plain, seconds = timed(texts, scheme, None)
        figures += [
            Figure(name=f"{name}: near duplicates", value=plain.summary.near, unit=""),
            Figure(name=f"{name}: because of the header", value=len(for_header(texts, plain)), unit=""),
            Figure(name=f"{name}: processor time", value=seconds, unit="s"),
        ]
        same = same_without_header(texts, plain)
        for share in SHARES:
            result, seconds = timed(texts, scheme, share)
            limit = MOST if share == RECOMMENDED else None
            wrong = len(for_header(texts, result))
            label = f"{name}, ignore_common={share}"
            lost = [pair for pair in same if not together(result, *pair)]
            figures += [
                Figure(name=f"{label}: shingles left out", value=len(result.summary.common), unit=""),
                Figure(name=f"{label}: near duplicates", value=result.summary.near, unit=""),
                Figure(name=f"{label}: because of the header", value=wrong, unit="", at_most=limit),
                Figure(
                    name=f"{label}: near-identical files separated, of {len(same):,} pairs", value=len(lost), unit=""
                ),
                Figure(name=f"{label}: processor time", value=seconds, unit="s"),
            ]
    for length, edits in EDITED:
        wrong = sum(taken_for_template(length, edits, seed) for seed in range(FAMILIES))
        label = f"families mistaken for a template, of {FAMILIES}: {length} words, {edits} edited"
        figures.append(Figure(name=label, value=wrong, unit="", at_most=MOST_FAMILIES))
    publish("common_shingles", "Files that share a licence header", METHOD, figures)


def sources() -> Iterator[str]:
    """Read every Python file of the installation, in the order of their paths."""
    folders = {sysconfig.get_paths()[name] for name in ("stdlib", "purelib")}
    for path in sorted({path for folder in folders for path in Path(folder).rglob("*.py")}):
        yield path.read_text("utf-8", errors="replace")


def taken_for_template(length: int, edits: int, seed: int) -> bool:
    """Tell whether the list that is made from a family of edited copies alone has shingles."""
    random = np.random.default_rng((length, edits, seed))
    original = random.integers(2_000, size=length)
    family = []
    for _ in range(6 + seed % 5):
        version = original.copy()
        version[random.integers(length, size=edits)] = random.integers(2_000, size=edits)
        family.append(" ".join(f"w{number}" for number in version))
    scheme = neardup.MinHash(shingle=5, threshold=0.8)
    return len(neardup.dedup(family, scheme=scheme, ignore_common=RECOMMENDED).summary.common) > 0


def timed(texts: list[str], scheme: neardup.MinHash, share: float | None) -> tuple[neardup.results.Result, float]:
    begin = time.process_time()
    result = neardup.dedup(texts, scheme=scheme, ignore_common=share, threads=1)
    return result, time.process_time() - begin


def near_pairs(result: neardup.results.Result) -> list[tuple[int, int]]:
    exact = result.decisions["exact"].to_numpy(zero_copy_only=False)
    dropped = np.flatnonzero((result.representatives >= 0) & ~exact)
    return [(int(one), int(result.representatives[one])) for one in dropped]


def without_header(texts: list[str], one: int, other: int) -> float:
    return resemblance(*(triples(HEADER.sub("", texts[place])) for place in (one, other)))


@cache
def triples(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return set(zip(found, found[1:], found[2:], strict=False))


def for_header(texts: list[str], result: neardup.results.Result) -> list[tuple[int, int]]:
    return [pair for pair in near_pairs(result) if without_header(texts, *pair) < DIFFERENT and not empty(texts, pair)]


def empty(texts: list[str], pair: tuple[int, int]) -> bool:
    """Tell whether two files are nothing but the comment at their beginning."""
    return not any(words(HEADER.sub("", texts[place])) for place in pair)


def same_without_header(texts: list[str], result: neardup.results.Result) -> list[tuple[int, int]]:
    measured = result.decisions["resemblance"].to_numpy(zero_copy_only=False)
    return [pair for pair in near_pairs(result) if measured[pair[0]] >= SAME and without_header(texts, *pair) >= SAME]


def together(result: neardup.results.Result, one: int, other: int) -> bool:
    groups = [place if result.representatives[place] < 0 else result.representatives[place] for place in (one, other)]
    return bool(groups[0] == groups[1])


if __name__ == "__main__":
    main()
