"""datasketch, run in the peers' environment: `with_datasketch.py QUESTION TEXTS ...`.

The questions are `signatures`, `collapse` (with a threshold) and `lookup` (with the number of documents that are
stored, how many of the others are asked about at a time, and a threshold).
"""

import sys
from statistics import median
from time import perf_counter

from datasketch import MinHash, MinHashLSH
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


def lookup(texts, stored, together, threshold):
    """Store the first documents; look the others up one by one, and compare each with what is found."""
    sketches = [sketch for batch in sign(texts) for sketch in batch]
    known, asked = sketches[:stored], sketches[stored:]
    table = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    for number, sketch in enumerate(known):
        table.insert(number, sketch)

    def spent(sketch):
        begun = perf_counter()
        [number for number in table.query(sketch) if sketch.jaccard(known[number]) >= threshold]
        return perf_counter() - begun

    for begin in range(0, len(asked), together):
        answer(seconds=median(spent(sketch) for sketch in asked[begin : begin + together]))


if __name__ == "__main__":
    question, path, *more = sys.argv[1:]
    if question == "collapse":
        collapse(more[0], float(more[1]))
    elif question == "lookup":
        lookup(column(path), int(more[0]), int(more[1]), float(more[2]))
    else:
        texts = column(path, SUBSET)
        signing(texts, {"strings": lambda: sign(texts)})
