"""The decision, for libraries that stop at candidates: drop what matches an earlier kept document.

As quick as Python allows: equal shingle sequences need no sets, pairs whose
signatures differ far too much are not compared, a set is made once and only for a
document that needs it.
"""

from itertools import pairwise

import numpy as np

MARGIN = 0.15  # more than four standard errors of 128 permutations


def kept_documents(
    candidates: np.ndarray, starts: np.ndarray, signatures: np.ndarray, shingles: list[np.ndarray], threshold: float
) -> tuple[np.ndarray, int]:
    """Return which documents stay, and how many pairs of sets were compared.

    The candidates of document *d* are ``candidates[starts[d]:starts[d + 1]]``.
    """
    kept = np.ones(len(shingles), bool)
    sets: dict[int, frozenset[int]] = {}
    compared = 0

    def features(document: int) -> frozenset[int]:
        if document not in sets:
            sets[document] = frozenset(shingles[document].tolist())
        return sets[document]

    for document in np.flatnonzero(np.diff(starts) > 1).tolist():
        found = candidates[starts[document] : starts[document + 1]]
        earlier = found[found < document]
        earlier = earlier[kept[earlier]]
        estimates = (signatures[earlier] == signatures[document]).mean(axis=1)
        for other in earlier[np.argsort(-estimates)][: np.count_nonzero(estimates >= threshold - MARGIN)].tolist():
            if np.array_equal(shingles[document], shingles[other]):
                kept[document] = False
                break
            ours, theirs = features(document), features(other)
            compared += 1
            common = len(ours & theirs)
            if common >= threshold * (len(ours) + len(theirs) - common):
                kept[document] = False
                break
    return kept, compared


def pieces(values: np.ndarray, offsets: np.ndarray) -> list[np.ndarray]:
    bounds = offsets.astype(np.int64).tolist()
    return [values[start:end] for start, end in pairwise(bounds)]
