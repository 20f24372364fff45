"""datasketch, run in the peers' environment: `with_datasketch.py signatures|collapse CORPUS [HITS THRESHOLD]`."""

import sys

from datasketch import MinHash
from measuring import answer, column, signing, usual
from shingling import batches, blanks, strings

PERMUTATIONS = 128
SUBSET = 5_000  # documents; the rate does not depend on how many there are


def hash_32(shingle: str) -> int:
    """Python's own string hash instead of SHA-1, which would take most of the time."""
    return hash(shingle) & 0xFFFFFFFF


def sign(texts):
    return [
        MinHash.bulk([list(strings(text, blanks)) for text in batch], num_perm=PERMUTATIONS, hashfunc=hash_32)
        for batch in batches(texts)
    ]


def collapse(path, threshold):
    texts = column(path)

    def kept(sketches):
        staying = []
        for sketch in sketches:
            if all(sketch.jaccard(better) < threshold for better in staying):
                staying.append(sketch)
        return staying

    ready = [sketch for batch in sign(texts) for sketch in batch]
    answer(start="ready", way="all compared", seconds=usual(lambda: kept(ready), 30))
    answer(start="from text", way="all compared", seconds=usual(lambda: kept(sign(texts)[0]), 10))


if __name__ == "__main__":
    question, path, *more = sys.argv[1:]
    if question == "collapse":
        collapse(more[0], float(more[1]))
    else:
        texts = column(path, SUBSET)
        signing(texts, {"strings": lambda: sign(texts)})
