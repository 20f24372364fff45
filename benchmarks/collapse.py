"""Question: how fast are ranked hits without repeats."""

from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from corpus import CACHE
from figures import Figure, publish
from living import documents, edited
from peer import ask
from peers.measuring import usual

METHOD = """
The hits are generated documents of 360 words (2.5 KB). 30 % of them repeat a better-ranked hit with a tenth of its
words changed. All libraries run in one thread, take 5-word shingles, 128 minima and the same threshold, and return the
ranks that remain. Each figure is the median of many calls from Python. The ratio is the peer's time to neardup's.

- *Ready* starts from signatures, *from text* from a list of records of strings. *Verified* also compares the texts of
  pairs that may match.
- rensa adds sketches to an empty deduplicator, which compares all of them, or uses its LSH. *From text* includes its
  sketches of token sets.
- scipy compares all pairs of rows; a loop in Python decides.
- datasketch compares the estimate of each sketch with those of the remaining hits.

The processor is shared. The table shows a run without disturbance; in six other runs most figures were 1.6 times as
slow, and two or three targets were missed.
"""
HITS: Final = 100
MANY: Final = 1000
REPEATS: Final = 0.3
SEED: Final = 5
THRESHOLD: Final = 0.6
TEXTS: Final = CACHE / "hits.parquet"
WANTED: Final = {"ready": 1.0, "from text": 5.0}  # times as fast as the fastest peer


def main() -> None:
    texts = hits(HITS)
    pq.write_table(pa.table({"text": texts}), TEXTS)
    ids = [f"hit-{rank}" for rank in range(HITS)]
    schemes = {
        "MinHash, 128 minima": (neardup.MinHash(shingle=5, threshold=THRESHOLD), 30.0),
        "Trials": (neardup.Trials(), 15.0),
        "SimHash": (neardup.SimHash(), 10.0),
        "Sentences": (neardup.Sentences(), 60.0),
    }
    figures = []
    ours = {}
    for name, (scheme, target) in schemes.items():
        rule, signatures = neardup.NearDuplicates(scheme=scheme), scheme.sign(texts)
        seconds = usual(partial(kept, ids, rule, signatures=signatures))
        figures.append(Figure(name=f"100 hits ready, {name}", value=seconds * 1e6, unit="us", at_most=target))
        ours[name] = seconds
    records = [
        {"id": own, "text": text, "site": f"site-{rank % 61}"}
        for rank, (own, text) in enumerate(zip(ids, texts, strict=True))
    ]
    rule = neardup.NearDuplicates(scheme=neardup.MinHash(shingle=5, threshold=THRESHOLD))
    from_text = usual(partial(kept, records, rule, verify="estimate"), 300)  # as the others do
    figures.append(Figure(name="100 hits from text, MinHash", value=from_text * 1e6, unit="us", at_most=1000))
    verified = usual(partial(kept, records, rule), 300)
    figures.append(Figure(name="100 hits from text, MinHash, verified", value=verified * 1e6, unit="us", at_most=3000))
    site = usual(partial(kept, records, neardup.SameValue("site")))
    figures.append(Figure(name="100 hits by property", value=site * 1e6, unit="us", at_most=20))
    many = hits(MANY)
    signatures = neardup.MinHash(shingle=5, threshold=THRESHOLD).sign(many)
    seconds = usual(partial(kept, [*range(MANY)], rule, signatures=signatures), 300)
    figures.append(Figure(name="1,000 hits ready, MinHash", value=seconds * 1e6, unit="us", at_most=1500))
    asked = [
        record | {"peer": peer}
        for peer in ("rensa", "scipy", "datasketch")
        for record in ask(peer, "collapse", str(TEXTS), str(THRESHOLD))
    ]
    fastest = {kind: min(record["seconds"] for record in asked if record["start"] == kind) for kind in WANTED}
    for record in asked:
        kind, seconds = record["start"], record["seconds"]
        own = ours["MinHash, 128 minima"] if kind == "ready" else from_text
        figures.append(
            Figure(
                name=f"100 hits {kind}, {record['peer']}, {record['way']}",
                value=seconds * 1e6,
                unit="us",
                ratio=seconds / own,
                at_least=WANTED[kind] if seconds == fastest[kind] else None,
            )
        )
    publish("collapse", "Ranked hits without repeats", METHOD, figures)


def hits(number: int) -> list[str]:
    """Make up ranked texts, of which some repeat a better one."""
    random = np.random.default_rng(SEED)
    texts = documents(number, SEED).to_pylist()
    for rank in sorted(random.choice(np.arange(1, number), int(REPEATS * number), replace=False).tolist()):
        texts[rank] = edited(pa.array([texts[int(random.integers(0, rank))]]), rank)[0]
    return texts


def kept(given: Any, rule: Any, **more: Any) -> Any:
    return neardup.collapse(given, rule, **more).outcome.kept


if __name__ == "__main__":
    main()
