"""Question: how fast is a whole collection cleared of its near-duplicates, in memory."""

import neardup
from corpus import CACHE, corpus, text_bytes
from figures import Figure, publish
from peer import ask
from peers.measuring import best_of

METHOD = """
Signatures, candidates and exact verification: resemblance of word 5-grams of 0.8 or more,
128 permutations, one thread, the best of three. A document is dropped when it matches an earlier one
that is kept. The peers stop at candidates, so the verification is ours, in Python sets, made as
quick as Python allows; they use 16 bands of 8 rows. *lower_blanks* splits lower-cased text at white
space, *words* cuts out runs of letters and digits as neardup does. What each finds is in
[quality](quality.md). The ratio is the peer's time to neardup's.
"""
LIBRARIES = ("rensa", "fastsketchlsh")
THRESHOLD = 0.8
TIMES = 8.0


def main() -> None:
    table = corpus()
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    ours, _ = best_of(
        lambda: neardup.dedup(
            table, text="text", id="id", scheme=scheme, threshold=THRESHOLD, keep="first", verify="exact", threads=1
        )
    )
    theirs = {
        (peer, record["way"]): record["seconds"]
        for peer in LIBRARIES
        for record in ask(peer, "dedup", str(CACHE / f"kept-{peer}"))
    }
    fastest = min(theirs, key=theirs.__getitem__)
    figures = [Figure(name="neardup", value=ours, unit="s")]
    figures += [
        Figure(
            name=", ".join(key),
            value=seconds,
            unit="s",
            ratio=seconds / ours,
            at_least=TIMES if key == fastest else None,
        )
        for key, seconds in theirs.items()
    ]
    title = f"Near-duplicates of {table.num_rows:,} documents, {text_bytes(table) / 1e6:.0f} MB"
    publish("dedup", title, METHOD, figures)


if __name__ == "__main__":
    main()
