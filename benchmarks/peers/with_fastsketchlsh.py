"""FastSketchLSH, run in the peers' environment: `with_fastsketchlsh.py signatures|dedup CORPUS [OUT]`."""

import sys
from functools import partial

import numpy as np
from FastSketchLSH import LSH, FastSimilaritySketch
from measuring import answer, best_of, column, signing, size
from shingling import SPLITS, batches, blanks, hashes, strings
from verifying import kept_documents, pieces

PERMUTATIONS = 128
BANDS = 16  # of 8 rows, the library's own example


def sign_strings(texts):
    sketch = FastSimilaritySketch(size=PERMUTATIONS)
    return [sketch.batch([list(strings(text, blanks)) for text in batch], num_threads=1) for batch in batches(texts)]


def sign_hashes(texts):
    sketch = FastSimilaritySketch(size=PERMUTATIONS)
    return [sketch.batch_csr(*hashes(batch, blanks), prehashed=True, num_threads=1) for batch in batches(texts)]


def dedup(texts, split, threshold):
    sketch = FastSimilaritySketch(size=PERMUTATIONS)
    shingles, signatures = [], []
    for batch in batches(texts):
        values, offsets = hashes(batch, split)
        shingles += pieces(values, offsets)
        signatures.append(sketch.batch_csr(values, offsets, prehashed=True, num_threads=1))
    rows = np.concatenate(signatures)
    index = LSH(num_perm=PERMUTATIONS, num_bands=BANDS, num_threads=1)
    index.reserve(len(rows))
    index.insert(rows)
    candidates, starts = index.query(rows, format="csr")
    return kept_documents(candidates.astype(np.int64), starts.astype(np.int64), rows, shingles, threshold)


def main(question, path, out=None):
    texts = column(path)
    if question == "signatures":
        signing(texts, {"strings": partial(sign_strings, texts), "hashes": partial(sign_hashes, texts)})
        return
    for name in ("lower_blanks", "words"):
        seconds, (kept, compared) = best_of(partial(dedup, texts, SPLITS[name], 0.8))
        answer(way=name, seconds=seconds, bytes=size(texts), compared=compared, dropped=int((~kept).sum()))
        if out:
            np.save(f"{out}-{name}.npy", kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
