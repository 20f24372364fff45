"""Question: how fast are the items of test sets found in a training set."""

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus import CACHE, corpus, text_bytes
from figures import SMALL, Figure, publish
from neardup import contamination
from neardup.pipeline.partners.contamination import WORDS
from peer import ask
from pieces import COMMAND, watched

METHOD = """
10,000 generated items of 5 to 150 words, and 200 passages of 400 characters from the benchmark corpus, are searched in
a training set of ten copies of this corpus, 2 GB. The rate is in bytes of training text per second of processor time
of one thread, the best of three. *Found* is the share of the 200 passages.

datatrove searches the same items in a part of the corpus, from a Parquet file, with its 13-gram filter; neardup's
command does the same in one thread. Both figures are processor time of the whole programs, start included.
"""
ITEMS = 1_000 if SMALL else 10_000
QUOTED = 200
TIMES = 1 if SMALL else 10
LONG = 1_000  # characters
REPEATS = 3
PART = 500 if SMALL else 5_000  # documents


def main() -> None:
    corpus()
    table = pq.read_table(CACHE / "corpus.parquet")
    table = table.slice(0, 2_000) if SMALL else table
    random = np.random.default_rng(1)
    vocabulary = np.array([f"{word:x}" for word in range(50_000)])
    invented = [" ".join(random.choice(vocabulary, random.integers(5, 151))) for _ in range(ITEMS)]
    long = [text for text in table["text"].slice(0, 1_000).to_pylist() if len(text) > LONG]
    training = pa.concat_tables([table] * TIMES)
    items = [*invented, *(stretch(long[place % len(long)]) for place in range(QUOTED))]
    spent = []
    for _ in range(REPEATS):
        started = time.process_time()
        found = contamination(training, pa.table({"text": items}), threads=1)
        spent.append(time.process_time() - started)
    share = sum(found.items["contaminated"].to_pylist()[ITEMS:]) / QUOTED
    wrong = sum(found.items["contaminated"].to_pylist()[:ITEMS])
    figures = [
        Figure(name="training text", value=training["text"].nbytes / 1e6 / min(spent), unit="MB/s", at_least=150),
        Figure(name="found", value=share, unit="", at_least=0.99),
        Figure(name="invented items found", value=wrong, unit="", at_most=0),
        *beside_datatrove(table.slice(0, PART), items),
    ]
    publish("contamination", "Contamination", METHOD, figures)


def beside_datatrove(table: pa.Table, items: list[str]) -> list[Figure]:
    size = f"{text_bytes(table) / 1e6:.0f} MB"
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        source, against = Path(folder, "part.parquet"), Path(folder, "items.parquet")
        pq.write_table(table, source, compression="snappy")
        pq.write_table(pa.table({"id": list(map(str, range(len(items)))), "text": items}), against)
        command = [COMMAND, "contamination", source, "--against", against, "--items", Path(folder, "found.parquet")]
        run, _ = watched([*map(str, command), "--threads", "1"], Path(folder))
        own = (folder, str(against), str(WORDS))
        (theirs,) = ask("datatrove", "contamination", *own, source=source, environment="datatrove")
    ratio = theirs["processor"] / run.processor
    return [
        Figure(name=f"neardup, {size} from a file", value=run.processor, unit="s"),
        Figure(name="datatrove, the same", value=theirs["processor"], unit="s", ratio=ratio, at_least=8),
    ]


def stretch(text: str) -> str:
    """Return whole words from the middle of a text."""
    return text[200:600].partition(" ")[2].rpartition(" ")[0]


if __name__ == "__main__":
    main()
