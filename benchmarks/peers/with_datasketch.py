"""datasketch, run in the peers' environment: `with_datasketch.py signatures CORPUS`."""

import sys

from datasketch import MinHash
from measuring import column, signing
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


if __name__ == "__main__":
    _question, path = sys.argv[1:]
    texts = column(path, SUBSET)
    signing(texts, {"strings": lambda: sign(texts)})
