"""Question: how fast is a whole collection cleared of its near duplicates, in memory."""

import neardup
from corpus import CACHE, corpus, text_bytes
from figures import Figure, publish
from peer import ask
from peers.measuring import best_of

METHOD = """
Signatures, candidates and exact verification in one thread, the best of three: a resemblance of word 5-grams of 0.8 or
more, 128 permutations. A document is dropped if it matches an earlier kept document.

The peers only propose candidates, with 16 bands of 8 rows. Their candidates are verified by our own loop over Python
sets, made as fast as Python allows. *lower_blanks* splits lower-cased text at white space; *words* extracts runs of
letters and digits, as neardup does. [Quality](quality.md) shows what each finds. The ratio is the peer's time to
neardup's.
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
