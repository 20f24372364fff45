"""scipy, run in the peers' environment: `with_scipy.py collapse CORPUS HITS THRESHOLD`."""

import sys

import numpy as np
from measuring import answer, column, usual
from rensa import RMinHash
from scipy.spatial.distance import pdist, squareform
from shingling import blanks, strings

PERMUTATIONS = 128
SEED = 42


def kept(rows, threshold):
    """Compare all pairs of rows, then go through them best first."""
    same = squareform(pdist(rows, "hamming")) <= 1 - threshold
    stays = np.ones(len(rows), bool)
    for rank in range(1, len(rows)):
        stays[rank] = not (same[rank, :rank] & stays[:rank]).any()
    return np.flatnonzero(stays)


if __name__ == "__main__":
    _question, _corpus, path, threshold = sys.argv[1:]
    texts = column(path).to_pylist()
    sketches = RMinHash.from_token_sets((strings(text, blanks) for text in texts), PERMUTATIONS, SEED)
    rows = np.array([sketch.digest() for sketch in sketches], np.float64)
    answer(start="ready", way="pdist", seconds=usual(lambda: kept(rows, float(threshold)), 300))
