"""The truth: every pair of documents with an exact resemblance of 0.5 or more.

An exact set-similarity join: shingles are numbered from rare to common, and two
sets that resemble each other enough share a shingle among the first few of both
(prefix filter, Bayardo et al. 2007); pairs that do are intersected. Words and
shingles are numbered, not hashed, so no collision can enter.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numba import int32, njit
from numba.typed import List

from corpus import CACHE, PLANTED, corpus
from definition import SHINGLE, resemblance, shingles, words

TRUTH: Final = CACHE / f"truth-{SHINGLE}.parquet"
# The lowest resemblance recorded, as a fraction: comparing integers is exact.
NUMERATOR: Final = 1
DENOMINATOR: Final = 2


def truth() -> pa.Table:
    """Return the pairs as positions in the corpus, left < right, with their resemblance."""
    if not TRUTH.exists():
        write(join(corpus()["text"].to_pylist()), TRUTH)
    return pq.read_table(TRUTH)


def true_resemblance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Look the pairs up in the truth; what it does not hold is below all thresholds, and 0 here."""
    pairs = truth()
    known = pairs["left"].to_numpy().astype(np.int64) << 32 | pairs["right"].to_numpy()
    wanted = np.minimum(left, right).astype(np.int64) << 32 | np.maximum(left, right)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, pairs["resemblance"].to_numpy()[place], 0.0)


@dataclass(frozen=True, slots=True)
class Planted:
    """The edited copies in the corpus: where they and their originals are, how alike, and what was done to them."""

    copies: np.ndarray
    originals: np.ndarray
    resemblance: np.ndarray
    edits: np.ndarray

    def found(self, representatives: np.ndarray) -> np.ndarray:
        """Say of each copy whether it is dropped, or its original for it."""
        return (representatives[self.copies] >= 0) | (representatives[self.originals] == self.copies)


@cache
def planted() -> Planted:
    ids = corpus()["id"]
    table = pq.read_table(PLANTED)
    copies, originals = (pc.index_in(table[name], value_set=ids).to_numpy() for name in ("id", "original"))
    return Planted(copies, originals, true_resemblance(copies, originals), table["edit"].to_numpy())


def strong_pairs(threshold: float) -> pa.Table:
    return truth().filter(pc.field("resemblance") >= threshold)


def left_over(kept: np.ndarray, threshold: float) -> float:
    """Return the share of the pairs at or above the threshold of which both documents are kept."""
    pairs = strong_pairs(threshold)
    return float(both_kept(kept, pairs).mean())


def both_kept(kept: np.ndarray, pairs: pa.Table) -> np.ndarray:
    return kept[pairs["left"].to_numpy()] & kept[pairs["right"].to_numpy()]


def write(pairs: pa.Table, path: Path) -> None:
    partial = path.with_suffix(".partial")
    pq.write_table(pairs, partial)
    partial.rename(path)


def join(texts: list[str], shingle: int = SHINGLE) -> pa.Table:
    documents, ranks, starts = ranked_shingles(texts, shingle)
    left, right, common = similar_pairs(ranks, starts)
    sizes = np.diff(starts)
    found = pa.table(
        {
            "left": np.minimum(documents[left], documents[right]).astype(np.int32),
            "right": np.maximum(documents[left], documents[right]).astype(np.int32),
            "resemblance": common / (sizes[left] + sizes[right] - common),
        }
    )
    return found.sort_by([("left", "ascending"), ("right", "ascending")])


def ranked_shingles(texts: list[str], size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the documents from short to long, and the shingle ranks of each: sorted, the rarest first.

    Documents without a shingle are left out: they resemble nothing.
    """
    document, shingle = numbered_shingles(texts, size)
    elements = np.unique(document << 32 | shingle)  # as sets
    document, shingle = elements >> 32, elements & 0xFFFFFFFF
    frequency = np.bincount(shingle)
    rank = np.empty(len(frequency), np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(len(frequency))
    sizes = np.bincount(document, minlength=len(texts))
    order = np.argsort(sizes, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    elements = np.sort(place[document] << 32 | rank[shingle])
    empty = int(np.count_nonzero(sizes == 0))
    starts = np.concatenate([[0], np.cumsum(sizes[order][empty:])])
    return order[empty:], (elements & 0xFFFFFFFF).astype(np.int32), starts


def numbered_shingles(texts: list[str], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the document and the number of every shingle; equal numbers are equal shingles."""
    vocabulary: dict[str, int] = {}
    numbered = [np.array([vocabulary.setdefault(w, len(vocabulary)) for w in words(text)], np.int64) for text in texts]
    lengths = np.array([len(tokens) for tokens in numbered])
    tokens = np.concatenate(numbered)
    shingle = tokens
    for place in range(1, size):
        longer = shingle[: len(tokens) - place] << 32 | tokens[place:]
        _, shingle = np.unique(longer, return_inverse=True)
    document = np.repeat(np.arange(len(texts)), lengths)
    inside = document[: len(shingle)] == document[size - 1 :]
    return document[: len(shingle)][inside], shingle[inside]


def similar_pairs(ranks: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs above the limit as places in *starts*, and how many elements they share."""
    sizes = np.diff(starts)
    prefixes = sizes - -(-sizes * NUMERATOR // DENOMINATOR) + 1
    within = np.arange(len(ranks)) - np.repeat(starts[:-1], sizes)
    indexed = within < np.repeat(prefixes, sizes)
    owners = np.repeat(np.arange(len(sizes)), sizes)[indexed]
    # Postings: for each rank the documents that have it in their prefix, from short to long.
    order = np.argsort(ranks[indexed], kind="stable")
    postings = owners[order].astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(ranks[indexed], minlength=ranks.max() + 1))])
    return intersected(ranks, starts, prefixes, postings, bounds)


@njit
def intersected(ranks, starts, prefixes, postings, bounds):
    """Intersect each document with the shorter ones that share an element of both prefixes."""
    heads = bounds[:-1].copy()  # postings before these are too short for every document to come
    met = np.full(starts.size - 1, -1, np.int32)
    left = List.empty_list(int32)
    right = List.empty_list(int32)
    overlaps = List.empty_list(int32)
    for document in range(starts.size - 1):
        size = starts[document + 1] - starts[document]
        for element in range(starts[document], starts[document] + prefixes[document]):
            rank = ranks[element]
            posting = heads[rank]
            while posting < bounds[rank + 1] and postings[posting] < document:
                other = postings[posting]
                other_size = starts[other + 1] - starts[other]
                if other_size * DENOMINATOR < size * NUMERATOR:
                    heads[rank] = posting + 1
                elif met[other] != document:
                    met[other] = document
                    both = size + other_size
                    needed = -(-both * NUMERATOR // (NUMERATOR + DENOMINATOR))
                    common = overlap(ranks, starts, document, other, needed)
                    if common >= needed:
                        left.append(np.int32(other))
                        right.append(np.int32(document))
                        overlaps.append(np.int32(common))
                posting += 1
    return filled(left), filled(right), filled(overlaps)


@njit
def filled(values):
    array = np.empty(len(values), np.int32)
    for place, value in enumerate(values):
        array[place] = value
    return array


@njit
def overlap(ranks, starts, first, second, needed):
    """Count the common elements of two sorted sets; stop below *needed* once it cannot be reached."""
    a, b = starts[first], starts[second]
    end_a, end_b = starts[first + 1], starts[second + 1]
    common = 0
    while a < end_a and b < end_b and common + min(end_a - a, end_b - b) >= needed:
        x, y = ranks[a], ranks[b]
        if x == y:
            common += 1
        a += x <= y
        b += y <= x
    return common


def check(texts: list[str]) -> int:
    """Hold the join against every pair of a few texts, intersected one by one; return how many pairs there are."""
    sets = [shingles(text) for text in texts]
    expected = {}
    for right, ours in enumerate(sets):
        for left, theirs in enumerate(sets[:right]):
            exact = resemblance(theirs, ours)
            if exact * DENOMINATOR >= NUMERATOR:
                expected[left, right] = exact
    found = join(texts).to_pydict()
    pairs = zip(found["left"], found["right"], strict=True)
    if dict(zip(pairs, found["resemblance"], strict=True)) != expected:
        sys.exit("the join and the definition disagree")
    return len(expected)


if __name__ == "__main__":
    sample = corpus().sort_by("id")["text"][:1_500].to_pylist()
    print(f"the join equals the definition on {len(sample):,} documents with {check(sample):,} pairs")
    pairs = truth()
    strong = np.count_nonzero(pairs["resemblance"].to_numpy() >= 0.8)
    print(f"{pairs.num_rows:,} pairs of resemblance 0.5 or more, {strong:,} of 0.8 or more")
