"""gaoya, run in the peers' environment: `with_gaoya.py fingerprints CORPUS`."""

import sys
from functools import partial

from gaoya.simhash import SimHashStringIndex
from measuring import column, signing
from shingling import batches


def sign(texts, lowercase):
    """Sign in batches by the index's own function, which its Python class has no method for."""
    index = SimHashStringIndex(hash_size=64, analyzer="word", lowercase=lowercase).index
    return [index.par_bulk_doc2signatures(batch) for batch in batches(texts)]


if __name__ == "__main__":
    _question, path = sys.argv[1:]
    texts = column(path)
    signing(texts, {"original": partial(sign, texts, False), "lower-cased": partial(sign, texts, True)})
