"""rensa, run in the peers' environment: `with_rensa.py signatures|dedup|collapse CORPUS [OUT|HITS THRESHOLD]`."""

import sys
from functools import partial

import numpy as np
from measuring import answer, best_of, column, signing, size, usual
from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH
from shingling import BATCH, SPLITS, batches, blanks, hashes, strings
from verifying import kept_documents, pieces

PERMUTATIONS = 128
SEED = 42
BANDS = 16  # of 8 rows


def sign_strings(texts):
    return [
        RMinHash.digest_matrix_from_token_sets((strings(text, blanks) for text in batch), PERMUTATIONS, SEED)
        for batch in batches(texts)
    ]


def sign_hashes(texts):
    return [
        RMinHash.digest_matrix_from_flat_token_hashes(*hashes(batch, blanks), PERMUTATIONS, SEED)
        for batch in batches(texts)
    ]


def dedup(texts, split, threshold):
    """Flag by the quick digest matrix, then index and query the flagged documents only.

    The matrix says that a document has a candidate but not which one; that takes
    signature objects, and those are made from strings.
    """
    shingles, lengths, flat = [], [np.zeros(1, np.uint64)], []
    for batch in batches(texts):
        values, offsets = hashes(batch, split)
        flat.append(values)
        lengths.append(np.diff(offsets))
        shingles += pieces(values, offsets)
    offsets = np.cumsum(np.concatenate(lengths), dtype=np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(np.concatenate(flat), offsets, PERMUTATIONS, SEED)
    index = RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=BANDS)
    flagged = np.flatnonzero(index.query_duplicate_flags_matrix_one_shot(matrix))
    sketches = []
    for start in range(0, len(flagged), BATCH):
        batch = texts.take(flagged[start : start + BATCH]).to_pylist()
        sketches += RMinHash.from_token_sets((strings(text, split) for text in batch), PERMUTATIONS, SEED)
    index.insert_many(sketches)
    found = index.query_all(sketches)
    starts = np.cumsum([0, *map(len, found)])
    candidates = np.fromiter((other for row in found for other in row), np.int64, starts[-1])
    rows = np.array([sketch.digest() for sketch in sketches], np.uint32)
    kept = np.ones(len(texts), bool)
    kept[flagged], compared = kept_documents(candidates, starts, rows, [shingles[d] for d in flagged], threshold)
    return kept, compared


def collapse(path, threshold):
    """Add the hits, best first, to a fresh deduplicator, which tells of each whether it was new."""
    texts = column(path).to_pylist()
    keys = [f"hit-{rank}" for rank in range(len(texts))]

    def signed():
        return RMinHash.from_token_sets((strings(text, blanks) for text in texts), PERMUTATIONS, SEED)

    def kept(sketches, use_lsh):
        added = RMinHashDeduplicator(threshold, PERMUTATIONS, use_lsh, BANDS if use_lsh else None, SEED)
        return [rank for rank, new in enumerate(map(added.add, keys, sketches)) if new]

    def kept_of_batch(sketches, use_lsh):
        added = RMinHashDeduplicator(threshold, PERMUTATIONS, use_lsh, BANDS if use_lsh else None, SEED)
        return added.add_pairs(zip(keys, sketches, strict=True))

    ready = signed()
    for name, use_lsh in (("all compared", False), ("LSH", True)):
        answer(start="ready", way=f"{name}, one by one", seconds=usual(partial(kept, ready, use_lsh)))
        answer(start="ready", way=name, seconds=usual(partial(kept_of_batch, ready, use_lsh)))
    answer(start="from text", way="all compared", seconds=usual(lambda: kept_of_batch(signed(), False), 50))


def main(question, path, out=None, threshold=None):
    if question == "collapse":
        collapse(out, float(threshold))
        return
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
