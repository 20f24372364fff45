"""tors, run in the peers' environment: `with_tors.py fingerprints CORPUS`."""

import sys

from measuring import column, signing
from shingling import batches
from tors import simhash64


def sign(texts):
    return [[simhash64(text) for text in batch] for batch in batches(texts)]


if __name__ == "__main__":
    _question, path = sys.argv[1:]
    texts = column(path)
    signing(texts, {"original": lambda: sign(texts)})
