"""Daft, run in the peers' environment: `with_daft.py signatures CORPUS`."""

import sys

import daft
import pyarrow as pa
from daft.functions import minhash, normalize
from measuring import column, signing

HASH = "xxhash3_64"  # the quickest of those it offers


def sign(documents, text):
    return documents.select(minhash(text, num_hashes=128, ngram_size=5, hash_function=HASH)).to_arrow()


if __name__ == "__main__":
    _question, path = sys.argv[1:]
    texts = column(path)
    documents = daft.from_arrow(pa.table({"text": texts})).collect()
    text = daft.col("text")
    normalised = normalize(text, remove_punct=True, lowercase=True, white_space=True)
    signing(texts, {"original": lambda: sign(documents, text), "normalised": lambda: sign(documents, normalised)})
