"""Write ``golden.json``: the bits that signatures of known texts must have on every machine, in every version.

Run it only to change them on purpose: every stored signature of anybody becomes worthless with that.

    python tests/golden/make_golden.py
"""

import json
from pathlib import Path

import pyarrow as pa

from neardup import Analysis, Checksum, Field, FracMinHash, MinHash, Sentences, SimHash, TermWeights, Trials

GOLDEN = Path(__file__).with_name("golden.json")
KEY = bytes(range(16))

TEXTS = {
    "ascii": "A rose is a rose is a rose. The quick brown fox jumps over the lazy dog!",
    "numbers": "Form 1506, page 1 of 12: pay 3.14 by 2024-02-29.",
    "NFC": "D\u00e9j\u00e0 vu \u00e0 la cr\u00e8me, \u00c5se sa caf\u00e9 og br\u00f8d",
    "NFD": "De\u0301ja\u0300 vu a\u0300 la cre\u0300me, A\u030ase sa cafe\u0301 og br\u00f8d",
    "case": "STRASSE Stra\u00dfe \u1f48\u0394\u03a5\u03a3\u03a3\u0395\u038e\u03a3 \u0130stanbul \u01c5",
    "compatibility": "\ufb01ne \uff26ull \u2460 \u33a1 \u210cello world",
    "CJK": "\u6211\u7231\u5317\u4eac\u5929\u5b89\u95e8\u3002\u6771\u4eac\u30bf\u30ef\u30fc\u306b\u884c\u304f\u3002",
    "Thai": (
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01 \u0e20\u0e32\u0e29\u0e32"
        "\u0e44\u0e17\u0e22"
    ),
    "Cyrillic": (
        "\u0421\u044a\u0435\u0448\u044c \u0436\u0435 \u0435\u0449\u0451 \u044d\u0442\u0438\u0445 \u043c\u044f"
        "\u0433\u043a\u0438\u0445 \u0431\u0443\u043b\u043e\u043a"
    ),
    "emoji": (
        "so \U0001f600 many \U0001f468\u200d\U0001f469\u200d\U0001f467 little \u2764\ufe0f faces"
        " \U0001f1ee\U0001f1f8 here"
    ),
    "lines": "The first line\nis short.\r\nDr. Watson came. He left!\n\nThe running houses were walking",
    "repeats": "to be or not to be to be or not to be to be or not",
    "invalid": "one two\ud800three four five",
    "short": "two words",
    "empty": "",
}

SCHEMES = {
    "default": MinHash(),
    "letter": MinHash(analysis=Analysis(unit="letter"), shingle=5, permutations=16, recall=0.9),
    "line": MinHash(analysis=Analysis(unit="line"), shingle=1, permutations=16, recall=0.9),
    "sentence": MinHash(analysis=Analysis(unit="sentence"), shingle=1, permutations=16, recall=0.9),
    "stem": MinHash(
        analysis=Analysis(stem="english", stop_words=("the", "of"), min_length=3), permutations=16, recall=0.9
    ),
    "NFKC": MinHash(analysis=Analysis(normalization="NFKC"), shingle=2, permutations=16, recall=0.9),
    "as it is": MinHash(analysis=Analysis(normalization=None, fold_case=False), shingle=2, permutations=16, recall=0.9),
    "bag": MinHash(bag=True, shingle=2, permutations=16, recall=0.9),
    "seed": MinHash(seed=2**64 - 1, permutations=16, recall=0.9),
    "keyed": MinHash(key=KEY, permutations=16, recall=0.9),
    "keyed letters": MinHash(key=KEY, analysis=Analysis(unit="letter"), permutations=16, recall=0.9),
    "fracminhash": FracMinHash(scaled=2, size=16),
    "fracminhash, keyed": FracMinHash(shingle=1, scaled=1, size=16, key=KEY),
    "trials": Trials(),
    "trials, bag": Trials(bag=True, hashes=3, trials=4, needed=3),
    "trials, keyed": Trials(key=KEY),
    "sentences": Sentences(size=8),
    "sentences, as they are": Sentences(size=2, stem=None, min_length=1, seed=5),
    "sentences, keyed": Sentences(size=8, key=KEY),
}

FINGERPRINTS = {
    "simhash": SimHash(),
    "simhash, wide": SimHash(bits=192, shingle=2, distance=5),
    "simhash, keyed": SimHash(key=KEY),
    "simhash, given": SimHash(weights=TermWeights.given({"rose": 4.0, "the": 0.25}, otherwise=1.5)),
    "simhash, fitted": SimHash(weights=TermWeights.fitted([*TEXTS.values(), *["a rose is the fox"] * 50])),
}

CHECKSUMS = {
    "checksum": Checksum(fields=(Field(name="body"),)),
    "checksum, cut": Checksum(fields=(Field(name="title", required=False), Field(name="body", limit=20))),
    "checksum, keyed": Checksum(fields=(Field(name="body"),), contribution="title", key=KEY),
}


def measured():
    """Everything that must never change by accident, in plain values."""
    texts = list(TEXTS.values())
    found = {}
    for name, scheme in (SCHEMES | FINGERPRINTS).items():
        digits = 2 * scheme.sign([]).rows.itemsize
        features, signatures = scheme.features(texts), scheme.sign(texts)
        keys = scheme.keys(signatures)
        documents = {}
        for place, text in enumerate(TEXTS):
            values = features.values[features.offsets[place] : features.offsets[place + 1]]
            documents[text] = {"features": "".join(f"{value:016x}" for value in values.tolist())}
            if signatures.present[place]:
                documents[text]["row"] = "".join(f"{value:0{digits}x}" for value in signatures.rows[place].tolist())
                documents[text]["keys"] = "".join(f"{value:016x}" for value in keys[place].tolist())
        found[name] = {"recipe": scheme.recipe, "documents": documents}
    table = pa.table({"title": list(TEXTS), "body": [text.encode("utf-8", "surrogatepass") for text in texts]})
    for name, checksum in CHECKSUMS.items():
        signatures = checksum.sign(table)
        rows = {
            text: f"{signatures.rows[place, 0]:016x}" if signatures.present[place] else None
            for place, text in enumerate(TEXTS)
        }
        found[name] = {"recipe": checksum.recipe, "documents": rows}
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
