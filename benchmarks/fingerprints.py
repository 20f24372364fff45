"""Question: how fast does a text column become SimHash fingerprints."""

import neardup
from corpus import CORPUS, corpus
from figures import Figure, publish
from peer import ask
from peers.measuring import best_of, column, size

METHOD = """
Fingerprints of 64 bits of words weighted by their frequency; one thread, the best of three, measured from the Arrow
text column. gaoya splits at white space and signs batches of 1,000 Python strings in Rust, from the *original* or the
*lower-cased* text. tors finds words by the Unicode rules and signs one string per call, without folding case.
neardup's time includes case folding, normalization and word boundaries of every script. The ratio is neardup's speed
to the peer's; the target refers to the peer's faster setting.
"""
TIMES = {"gaoya": 5.0, "tors": 8.0}


def main() -> None:
    corpus()
    texts = column(CORPUS)
    scheme = neardup.SimHash(bits=64)
    seconds, _ = best_of(lambda: scheme.sign(texts))
    ours = size(texts) / seconds / 1e6
    figures = [Figure(name="neardup", value=ours, unit="MB/s")]
    for peer, times in TIMES.items():
        rates = {record["way"]: record["bytes"] / record["seconds"] / 1e6 for record in ask(peer, "fingerprints")}
        fastest = max(rates, key=rates.__getitem__)
        figures += [
            Figure(
                name=f"{peer}, {way}",
                value=rate,
                unit="MB/s",
                ratio=ours / rate,
                at_least=times if way == fastest else None,
            )
            for way, rate in rates.items()
        ]
    title = f"SimHash fingerprints of {len(texts):,} documents, {size(texts) / 1e6:.0f} MB"
    publish("fingerprints", title, METHOD, figures)


if __name__ == "__main__":
    main()
