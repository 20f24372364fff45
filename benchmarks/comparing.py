"""Question: how long does it take to look at two texts."""

import subprocess
import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.compute as pc

import neardup
from command import COMMAND, ENVIRONMENT
from corpus import corpus
from edits import EDITS
from figures import Figure, publish
from peers.measuring import best_of

METHOD = """
`compare` reports resemblance and containment by shingles of one to five words, as sets and as bags, the match decision
of each scheme, and every shared passage.

The texts of one megabyte consist of passages of a manual. In the second text each passage is edited: words replaced,
lines moved, parts removed or added, line breaks changed. The command compares two files of one passage each; its time
includes the start of the process. The best of five, with compiled kernels.
"""
MANUAL: Final = "postgresql-doc-15/"
PLANTED_COPY: Final = "~"  # in the id of a document that was made here
LENGTH: Final = 1_000_000  # characters
RESEMBLANCE: Final = 0.8
SEED: Final = 5
REPEATS: Final = 5


def main() -> None:
    passages = manual()
    edited = revision(passages)
    one, other = ("\n".join(parts)[:LENGTH] for parts in (passages, edited))
    seconds, found = best_of(lambda: neardup.compare(one, other), REPEATS)
    size = sum(len(text.encode()) for text in (one, other)) / 2e6
    figures = [
        Figure(name=f"neardup.compare, two texts of {size:.1f} MB", value=seconds, unit="s", at_most=0.5),
        Figure(name="passages that they share", value=len(found.passages), unit=""),
        Figure(name="neardup compare a.txt b.txt", value=command(passages[0], edited[0]), unit="s", at_most=1.2),
    ]
    publish("comparing", "Comparing two texts", METHOD, figures)


def manual() -> list[str]:
    table = corpus().sort_by("id")
    ids = table["id"]
    original = pc.and_(pc.starts_with(ids, MANUAL), pc.invert(pc.match_substring(ids, PLANTED_COPY)))
    return table.filter(original)["text"].to_pylist()


def revision(passages: list[str]) -> list[str]:
    random = np.random.default_rng(SEED)
    ways = random.choice(list(EDITS), len(passages))
    return [EDITS[way](text, RESEMBLANCE, random) for way, text in zip(ways, passages, strict=True)]


def command(one: str, other: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.txt", "b.txt")]
        for path, text in zip(paths, (one, other), strict=True):
            path.write_text(text, encoding="utf-8")
        run = [COMMAND, "compare", *paths]
        seconds, _ = best_of(
            lambda: subprocess.run(run, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True), REPEATS
        )
    return seconds


if __name__ == "__main__":
    main()
