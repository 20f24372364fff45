"""Question: how fast does a text column become signatures."""

import neardup
from corpus import CORPUS, corpus
from figures import Figure, publish
from peer import ask
from peers.measuring import best_of, column, size

METHOD = """
Word 5-grams, 128 permutations, one thread, the best of three, measured from the Arrow text column. The ratio is
neardup's speed to the peer's.

- rensa, FastSketchLSH and datasketch sign shingles that Python makes, split at white space and without case folding:
  *strings* are made as in their own examples, *hashes* with NumPy, the fastest way. datasketch signs 5,000 of the
  documents.
- Daft splits at single blanks; *normalised* first applies Daft's own normalization of case, punctuation and white
  space.
- neardup's time includes case folding, normalization and word boundaries of every script.
"""
LIBRARIES = ("rensa", "fastsketchlsh", "daft", "datasketch")
TIMES_DAFT = 5.0
TIMES_OTHERS = 10.0


def main() -> None:
    corpus()
    texts = column(CORPUS)
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    seconds, _ = best_of(lambda: scheme.sign(texts))
    ours = size(texts) / seconds / 1e6
    theirs = {
        (peer, record["way"]): record["bytes"] / record["seconds"] / 1e6
        for peer in LIBRARIES
        for record in ask(peer, "signatures")
    }
    targets = {
        fastest(theirs, {"daft"}): TIMES_DAFT,
        fastest(theirs, {"rensa", "fastsketchlsh"}): TIMES_OTHERS,
    }
    figures = [Figure(name="neardup", value=ours, unit="MB/s")]
    figures += [
        Figure(name=", ".join(key), value=rate, unit="MB/s", ratio=ours / rate, at_least=targets.get(key))
        for key, rate in theirs.items()
    ]
    publish("signatures", f"Signatures of {len(texts):,} documents, {size(texts) / 1e6:.0f} MB", METHOD, figures)


def fastest(rates: dict[tuple[str, str], float], peers: set[str]) -> tuple[str, str]:
    return max((key for key in rates if key[0] in peers), key=rates.__getitem__)


if __name__ == "__main__":
    main()
