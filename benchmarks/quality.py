"""Question: is every drop right, and what is left over."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import neardup
from corpus import CACHE, corpus
from definition import resemblance, shingles
from figures import Figure, publish
from truth import left_over, strong_pairs, true_resemblance

METHOD = """
The truth is every pair of documents with its exact resemblance, found by a set-similarity join that shares no code
with neardup; symbols separate words. A document is *wrongly dropped* if its resemblance with the reported kept
document is below the threshold; a sample is computed again from sets of words. *Left over* is the share of the pairs
at or above the threshold whose documents are both kept. The rows of the peers are from the last run of
[dedup](dedup.md).
"""
THRESHOLD = 0.8
SAMPLE = 2_000
SEED = 7
MOST_LEFT = 0.05  # per cent


def main() -> None:
    table = corpus()
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1, analysis=neardup.Analysis(symbols=False))
    result = neardup.dedup(
        table, text="text", id="id", scheme=scheme, threshold=THRESHOLD, keep="first", verify="exact", threads=1
    )
    kept = np.zeros(table.num_rows, bool)
    kept[result.kept] = True
    dropped = np.flatnonzero(~kept)
    evidence = result.decisions.take(dropped)
    representatives = pc.index_in(evidence["representative"], value_set=table["id"]).to_numpy()
    exact = true_resemblance(dropped, representatives)
    reported = evidence["resemblance"].to_numpy()

    chosen = np.random.default_rng(SEED).choice(len(dropped), min(SAMPLE, len(dropped)), replace=False)
    by_sets = recomputed(table["text"], dropped[chosen], representatives[chosen])

    figures = [
        Figure(name="dropped", value=len(dropped), unit=""),
        Figure(name="wrongly dropped, by the truth", value=int(np.sum(exact < THRESHOLD)), unit="", at_most=0),
        Figure(
            name=f"wrongly dropped of {len(chosen):,}, by sets",
            value=int(np.sum(by_sets < THRESHOLD)),
            unit="",
            at_most=0,
        ),
        Figure(name="dropped for one that is dropped", value=int(np.sum(~kept[representatives])), unit="", at_most=0),
        Figure(name="largest error of a reported resemblance", value=float(np.abs(reported - exact).max()), unit=""),
        Figure(name="pairs at the threshold or above", value=strong_pairs(THRESHOLD).num_rows, unit=""),
        Figure(name="left over", value=100.0 * left_over(kept, THRESHOLD), unit="%", at_most=MOST_LEFT),
    ]
    for path in sorted(CACHE.glob("kept-*.npy")):
        peer = path.stem.removeprefix("kept-")
        figures.append(Figure(name=f"left over by {peer}", value=100.0 * left_over(np.load(path), THRESHOLD), unit="%"))
    publish("quality", f"What is dropped and what is left at resemblance {THRESHOLD}", METHOD, figures)


def recomputed(texts: pa.ChunkedArray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    pairs = zip(texts.take(left).to_pylist(), texts.take(right).to_pylist(), strict=True)
    return np.array([resemblance(shingles(a), shingles(b)) for a, b in pairs])


if __name__ == "__main__":
    main()
