"""Question: how fast does an index on disk remember documents, and answer about them."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import neardup
from corpus import CACHE
from figures import Figure, publish
from peer import ask

METHOD = """
The documents are generated: 360 words (2.5 KB) from a vocabulary of 30,000, in which some words are much more frequent
than others. One thread.

- *Admitted* measures from texts to durable storage (`durability="commit"`), in batches of 2,048, with 256 MB of memory
  for the index: signing, judging each document against all earlier ones, the log, segments and merging them.
- *Judged* starts from signatures: of new documents, and of *repeats*, in which half the words of every fourth sentence
  differ from a document of the index. *From text* includes signing.
- *Hot bucket*: fingerprints that differ in one or two of the same few bits.
- *Opened* includes the first answer.

datasketch looks signatures up in a `MinHashLSH` of 50,000 of these documents in memory, and estimates the resemblance
of the documents found. The ratio is its median to that of a neardup index of the same documents.
"""
DOCUMENTS: Final = 1_000_000
ADMITTED: Final = 100_000
HOT: Final = 200_000
TOGETHER: Final = 20_000
WORDS: Final = 360
VOCABULARY: Final = np.array([f"w{number:05}" for number in range(30_000)])
SINGLES: Final = 2_000
PEER_DOCUMENTS: Final = 50_000
PEER_SINGLES: Final = 500
SEED: Final = 1


def main() -> None:
    folder = Path(mkdtemp(dir=CACHE, prefix="living-"))
    try:
        figures = [
            *admitted(folder, neardup.SimHash(), 20_000),
            *admitted(folder, neardup.MinHash(), 10_000),
            *judged(folder),
            *beside_datasketch(folder),
            *hot(folder),
        ]
    finally:
        shutil.rmtree(folder)
    publish("living", "An index on disk", METHOD, figures)


def documents(number: int, seed: int) -> pa.Array:
    """Make up texts of words that are the rarer, the greater their number."""
    random = np.random.default_rng(seed)
    chosen = (random.random(number * WORDS) ** 2 * len(VOCABULARY)).astype(np.int32)
    words = pa.array(VOCABULARY).take(pa.array(chosen))
    return pc.binary_join(pa.ListArray.from_arrays(np.arange(number + 1, dtype=np.int32) * WORDS, words), " ")


def edited(texts: pa.Array, seed: int) -> list[str]:
    """Change one word in eight of a quarter of each text."""
    random = np.random.default_rng(seed)
    changed = []
    for text in texts.to_pylist():
        words = text.split()
        for place in random.integers(0, WORDS // 4, WORDS // 32):
            words[place] = "edited"
        changed.append(" ".join(words))
    return changed


def admitted(folder: Path, scheme: Any, at_least: float) -> list[Figure]:
    parts = [documents(TOGETHER, seed) for seed in range(ADMITTED // TOGETHER)]
    figures = []
    for texts in (False, True):
        with neardup.Index.create(folder / f"{scheme.name}-{texts}", scheme, texts=texts) as index:
            begun = perf_counter()
            for number, part in enumerate(parts):
                index.admit([f"{number}-{row}" for row in range(len(part))], part)
            seconds = perf_counter() - begun
        name = f"{scheme.name}, admitted{', texts kept' if texts else ''}"
        figures.append(Figure(name=name, value=ADMITTED / seconds, unit="documents/s", at_least=at_least))
    return figures


def judged(folder: Path) -> list[Figure]:
    scheme = neardup.MinHash()
    first = documents(TOGETHER, SEED)
    with neardup.Index.create(folder / "million", scheme, durability="bulk", memory=1 << 29) as index:
        for number in range(DOCUMENTS // TOGETHER):
            part = first if number == 0 else documents(TOGETHER, SEED + number)
            index.admit([f"{number}-{row}" for row in range(TOGETHER)], part)
        segments = index.stats().segments
    begun = perf_counter()
    with neardup.Index.open(folder / "million") as index:
        texts = {"new": documents(4096, SEED - 1).to_pylist(), "repeats": edited(first.slice(0, 4096), SEED)}
        signed = {name: scheme.sign(own) for name, own in texts.items()}
        index.judge(signed["new"][:1])
        opened = perf_counter() - begun
        figures = [
            Figure(name="segments of a million documents", value=segments, unit=""),
            Figure(name="opened", value=opened, unit="s"),
        ]
        for name, signatures in signed.items():
            figures.append(Figure(name=f"judged, {name}", value=batched(index, signatures), unit="µs", at_most=50))
            times = singles(index, signatures)
            for share, word, most in ((50, "median", 400), (99, "p99", 3000)):
                value = float(np.percentile(times, share))
                figures.append(Figure(name=f"judged, {name}, one by one, {word}", value=value, unit="µs", at_most=most))
            value = float(np.median(singles(index, texts[name])))
            figures.append(Figure(name=f"judged, {name}, one by one, from text", value=value, unit="µs"))
        begun = perf_counter()
        report = index.check()
        figures.append(Figure(name="checked", value=report.bytes / 1e9 / (perf_counter() - begun), unit="GB/s"))
    return figures


def batched(index: neardup.Index, signatures: neardup.Signatures) -> float:
    """Give the microseconds of a document among many, the best of three rounds."""
    times = []
    for _ in range(3):
        begun = perf_counter()
        index.judge(signatures)
        times.append(perf_counter() - begun)
    return min(times) / len(signatures) * 1e6


def singles(index: neardup.Index, given: Any) -> np.ndarray:
    """Give the microseconds of documents one by one."""
    times = []
    for row in range(min(SINGLES, len(given))):
        begun = perf_counter()
        index.judge(given[row : row + 1])
        times.append(perf_counter() - begun)
    return np.array(times) * 1e6


def beside_datasketch(folder: Path) -> list[Figure]:
    scheme, path = neardup.MinHash(), folder / "texts.parquet"
    known = documents(PEER_DOCUMENTS, SEED)
    asked = {"new": documents(PEER_SINGLES, SEED - 1), "repeats": edited(known.slice(0, PEER_SINGLES), SEED)}
    pq.write_table(pa.table({"text": pa.concat_arrays([known, *map(pa.array, asked.values())])}), path)
    theirs = ask("datasketch", "lookup", str(PEER_DOCUMENTS), str(PEER_SINGLES), str(scheme.threshold), source=path)
    figures = []
    with neardup.Index.create(folder / "beside", scheme, durability="bulk") as index:
        index.admit([str(row) for row in range(len(known))], known)
        index.compact()
        for (name, texts), record in zip(asked.items(), theirs, strict=True):
            ours = float(np.median(singles(index, scheme.sign(texts))))
            seconds = record["seconds"]
            figures += [
                Figure(name=f"{PEER_DOCUMENTS:,} documents, {name}, one by one, median", value=ours, unit="µs"),
                Figure(name=f"datasketch, {name}", value=seconds * 1e6, unit="µs", ratio=seconds * 1e6 / ours),
            ]
    return figures


def hot(folder: Path) -> list[Figure]:
    scheme = neardup.SimHash()
    random = np.random.default_rng(SEED)
    bits = np.uint64(1) << random.integers(0, 8, (2, HOT)).astype(np.uint64)
    fingerprints = (np.uint64(0x0123456789ABCDEF) ^ bits[0] ^ bits[1]).reshape(-1, 1)
    signatures = neardup.Signatures(fingerprints, np.ones(HOT, np.bool_), scheme.recipe)
    with neardup.Index.create(folder / "hot", scheme, durability="bulk") as index:
        begun = perf_counter()
        for begin in range(0, HOT, TOGETHER):
            index.admit([str(row) for row in range(begin, begin + TOGETHER)], signatures[begin : begin + TOGETHER])
        seconds = perf_counter() - begun
        before = index.stats().oversized_buckets
        figures = [
            Figure(name=f"hot bucket of {HOT:,}, admitted", value=HOT / seconds, unit="documents/s"),
            Figure(name="hot bucket, judged", value=batched(index, signatures[:4096]), unit="µs"),
            Figure(name="hot bucket, judged one by one", value=float(np.median(singles(index, signatures))), unit="µs"),
        ]
        oversized = (index.stats().oversized_buckets - before) / (3 * 4096 + SINGLES)
        return [*figures, Figure(name="hot bucket, oversized keys counted per document", value=oversized, unit="")]


if __name__ == "__main__":
    main()
