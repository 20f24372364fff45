"""Question: how fast does an index on disk remember documents, and answer about them."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import neardup
from corpus import CACHE
from figures import Figure, publish

METHOD = """
Made-up documents of 360 words, 2.5 KB, drawn from 30,000 words of which some are far more common than others; one
thread. *Admitted* is from texts to what a power failure cannot take (`durability="commit"`), in batches of 2,048, into
an index whose memory is 256 MB: signing, judging each against all before it, log, segments and their merging included.
*Judged* is by ready signatures, so beyond signing: documents that are new, and documents of which half the words of
one sentence in four differ from one that is there (*repeats*). A hot bucket are fingerprints that differ from each
other in one bit or two of the same few. *Opened* includes the first answer.
"""
DOCUMENTS: Final = 1_000_000
ADMITTED: Final = 100_000
TOGETHER: Final = 20_000
WORDS: Final = 360
VOCABULARY: Final = np.array([f"w{number:05}" for number in range(30_000)])
SINGLES: Final = 500
SEED: Final = 1


def main() -> None:
    folder = Path(mkdtemp(dir=CACHE, prefix="living-"))
    try:
        figures = [
            *admitted(folder, neardup.SimHash(), 20_000),
            *admitted(folder, neardup.MinHash(), 10_000),
            *judged(folder),
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
        new = scheme.sign(documents(4096, SEED - 1))
        repeats = scheme.sign(edited(first.slice(0, 4096), SEED))
        index.judge(new[:1])
        opened = perf_counter() - begun
        figures = [
            Figure(name="segments of a million documents", value=segments, unit=""),
            Figure(name="opened", value=opened, unit="s"),
        ]
        for name, signatures in (("new", new), ("repeats", repeats)):
            figures += [
                Figure(name=f"judged, {name}", value=batched(index, signatures), unit="µs", at_most=50),
                Figure(name=f"judged, {name}, one by one", value=single(index, signatures), unit="µs", at_most=300),
            ]
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


def single(index: neardup.Index, signatures: neardup.Signatures) -> float:
    """Give the median of the microseconds of one document by itself."""
    times = []
    for row in range(SINGLES):
        begun = perf_counter()
        index.judge(signatures[row : row + 1])
        times.append(perf_counter() - begun)
    return float(np.median(times)) * 1e6


def hot(folder: Path) -> list[Figure]:
    scheme = neardup.SimHash()
    random = np.random.default_rng(SEED)
    bits = np.uint64(1) << random.integers(0, 8, (2, DOCUMENTS)).astype(np.uint64)
    fingerprints = (np.uint64(0x0123456789ABCDEF) ^ bits[0] ^ bits[1]).reshape(-1, 1)
    signatures = neardup.Signatures(fingerprints, np.ones(DOCUMENTS, np.bool_), scheme.recipe)
    with neardup.Index.create(folder / "hot", scheme, durability="bulk") as index:
        begun = perf_counter()
        for begin in range(0, DOCUMENTS, TOGETHER):
            index.admit([str(row) for row in range(begin, begin + TOGETHER)], signatures[begin : begin + TOGETHER])
        seconds = perf_counter() - begun
        before = index.stats().crowded
        figures = [
            Figure(name="hot bucket of a million, admitted", value=DOCUMENTS / seconds, unit="documents/s"),
            Figure(name="hot bucket, judged", value=batched(index, signatures[:4096]), unit="µs"),
            Figure(name="hot bucket, judged one by one", value=single(index, signatures), unit="µs"),
        ]
        crowded = (index.stats().crowded - before) / (3 * 4096 + SINGLES)
        return [*figures, Figure(name="hot bucket, crowded keys counted a document", value=crowded, unit="")]


if __name__ == "__main__":
    main()
