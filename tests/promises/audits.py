"""Collections of which a run misses much, and an audit in numbers."""

import json

import numpy as np

from neardup import MinHash
from neardup.evaluation.audit import Audit, Band, Missed
from neardup.evaluation.intervals import share


def collection(seed, number=70):
    """Texts with rewritten copies of them, some of which are hard to find."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(number):
        words = random.integers(0, 5_000, 40).tolist()
        texts.append(words)
        for _ in range(random.integers(0, 3)):
            other = [*words]
            for place in random.integers(0, 40, random.integers(0, 5)):
                other[place] = int(random.integers(5_000, 9_000))
            texts.append(other)
    random.shuffle(texts)
    return [" ".join(f"w{word}" for word in words) for words in texts]


TEXTS = collection(1)
LEAKY = MinHash(recall=0.5)  # which misses many


def written(folder):
    """Write the texts as two files, with a rejected record."""
    lines = [json.dumps({"id": f"d{n}", "text": text, "score": n % 5}) for n, text in enumerate(TEXTS)]
    (folder / "a.jsonl").write_text("\n".join([*lines[:50], "{broken"]) + "\n")
    (folder / "b.jsonl").write_text("\n".join(lines[50:]) + "\n")
    return [folder / "a.jsonl", folder / "b.jsonl"]


MISSED = Missed(
    id="b\x1b" * 90,
    partner="a",
    position=1,
    partner_position=0,
    value=0.9999,
    reason="oversized bucket",
    text="one <two> three four five",
    partner_text="one <two> three four six",
)


def made(**changes):
    values = {
        "documents": 1_000,
        "sample": 100,
        "scheme": "minhash",
        "measure": "resemblance",
        "threshold": 0.6,
        "recall": share(49, 50, 500),
        "predicted": 0.9,
        "precision": share(49, 49, 490),
        "bands": (Band(0.6, 0.7, share(9, 10, 100), 0.9), Band(1.0, 1.0, share(40, 40, 400), None)),
        "reasons": {"oversized bucket": share(1, 50, 500)},
        "below": share(5, 51, 500),
        "missed": (MISSED,),
    }
    return Audit(**values | changes)
