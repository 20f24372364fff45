"""Question: what does Spark add to a run in pieces.

The run on Spark is a process of its own (`on_spark.py SOURCE FOLDER`), with the PySpark of `make spark`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from corpus import CACHE
from figures import SMALL, Figure, publish
from neardup import MinHash
from neardup.spark import dedup_files
from pieces import MEGABYTE, anonymous, disguised, run

METHOD = """
The file of [pieces](pieces.md) from Parquet to Parquet and a report: in pieces on one machine, and on the executors of
a Spark session on the same machine (`local[2]`), which read the file themselves. Word 5-grams, a threshold of 0.8, two
threads, 512 MB for a run or a core. The figures are processor time of all processes, the Java machine and the start
included; the ratio is Spark to pieces. *Worker* is the peak of anonymous memory of a Python process of an executor.
Both reports must be equal.

*Hot keys*: a tenth of the documents are a text of 340 words with one more word each, so that they share keys and match.
Another tenth share a block of 340 words and have 60 of their own, so that they share keys and do not match. The ratio
is the longest task to the median one of the same stage, as Spark records them, in the stage where it is highest, of
stages of three tasks and more whose longest task takes half a second or more.
"""
ROOT: Final = Path(__file__).resolve().parents[1]
SPARK: Final = ".cache/spark"
MEMORY: Final = 512 << 20
TICKS: Final = os.sysconf("SC_CLK_TCK")  # a second
QUIET: Final = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
LOGGED: Final = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
SHARE: Final = 10  # one of so many documents has a hot key
BLOCK: Final = 340  # words that documents with a hot key share
OWN: Final = 60
STRAGGLES: Final = 3.0
LONG: Final = 0.5  # seconds of the longest task of a stage whose times are compared
TASKS: Final = 3


def main() -> None:
    subprocess.run(["make", "--silent", f"{SPARK}/installed"], cwd=ROOT, check=True)
    source = disguised()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place = Path(folder)
        options = ["--shingle", "5", "--threshold", "0.8", "--memory", str(MEMORY)]
        alone = run([source], place, "pieces", [*options, "--work", f"{folder}/work"], threads=2)
        processor, wall, worker = on_spark(source, place)
        if not pq.read_table(place / "pieces.report.parquet").equals(pq.read_table(place / "spark.report.parquet")):
            sys.exit("the decisions differ")
        plain = straggling(place / "events")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        on_spark(hot(source), Path(folder))
        skewed = straggling(Path(folder) / "events")
    figures = [
        Figure(name="in pieces, processor time", value=alone.processor, unit="s"),
        Figure(name="Spark, processor time", value=processor, unit="s", ratio=processor / alone.processor, at_most=4),
        Figure(name="in pieces, wall time", value=alone.wall, unit="s"),
        Figure(name="Spark, wall time", value=wall, unit="s", ratio=wall / alone.wall),
        Figure(name="Spark, worker", value=worker / MEGABYTE, unit="MB", at_most=1_000),
        Figure(name="no hot keys, longest task", value=plain[0], unit="s", ratio=plain[1]),
        Figure(name="hot keys, longest task", value=skewed[0], unit="s", ratio=skewed[1], at_most=STRAGGLES),
    ]
    publish("on_spark", "On Spark", METHOD, figures)


def on_spark(source: Path, folder: Path) -> tuple[float, float, float]:
    """Return processor time and wall time of all processes of the run in seconds, and the most bytes of a worker."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / SPARK), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, __file__, str(source), str(folder)]
    started, times, worker = time.monotonic(), {}, 0.0
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    while process.poll() is None:
        for own, name, seconds in processes(process.pid):
            times[own] = seconds
            if own != process.pid and "python" in name:
                worker = max(worker, anonymous(own))
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"Spark ended with {process.returncode}")
    return sum(times.values()), time.monotonic() - started, worker


def hot(source: Path) -> Path:
    """Return the file of documents with hot keys, writing it on the first call."""
    path = CACHE / f"hot-{BLOCK}-{OWN}-{source.name}"
    if not path.exists():
        partial, words = path.with_suffix(".partial"), ()
        with pq.ParquetFile(source) as read, pq.ParquetWriter(partial, read.schema_arrow) as writer:
            for part in read.iter_batches(20_000):
                texts = part["text"].to_pylist()
                words = words or tuple(" ".join(texts).split()[: 2 * BLOCK])
                for place in range(0, len(texts), SHARE):
                    texts[place] = " ".join((*words[:BLOCK], str(part["id"][place])))
                    texts[place + 1] = " ".join((*words[BLOCK:], *texts[place + 1].split()[:OWN]))
                writer.write_table(pa.table([part["id"], texts], schema=read.schema_arrow))
        partial.rename(path)
    return path


def straggling(folder: Path) -> tuple[float, float]:
    """Return the seconds of the task that takes longest beside the median of its stage, and the ratio of both."""
    stages = defaultdict(list)
    for path in folder.iterdir():
        with path.open(encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                if event["Event"] == "SparkListenerTaskEnd":
                    own = event["Task Info"]
                    stages[event["Stage ID"]].append((own["Finish Time"] - own["Launch Time"]) / 1000)
    compared = [times for times in stages.values() if len(times) >= TASKS and max(times) >= LONG]
    return max(((max(times), max(times) / statistics.median(times)) for times in compared), key=lambda one: one[1])


def processes(session: int) -> list[tuple[int, str, float]]:
    """Return the processes of a session with their names and seconds of processor time."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text(encoding="utf-8").split("(", 1)[1].rsplit(") ", 1)
        except OSError:  # it has just ended
            continue
        values = fields.split()
        if int(values[3]) == session:
            found.append((int(path.parent.name), name, (int(values[11]) + int(values[12])) / TICKS))
    return found


def measure(source: str, folder: str) -> None:
    from pyspark.sql import SparkSession

    events = Path(folder, "events")
    events.mkdir()
    options = {**QUIET, **LOGGED, "spark.eventLog.dir": events.as_uri()}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    dedup_files(
        [source],
        f"{folder}/spark.out.parquet",
        report=f"{folder}/spark.report.parquet",
        work=f"{folder}/work",
        spark=session,
        scheme=MinHash(shingle=5, threshold=0.8),
        memory=MEMORY,
        threads=2,
    )
    session.stop()


if __name__ == "__main__":
    if sys.argv[1:] and not SMALL:
        measure(*sys.argv[1:])
    else:
        main()
