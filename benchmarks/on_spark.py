"""Question: what does Spark add to a run in pieces.

The run on Spark is a process of its own (`on_spark.py SOURCE FOLDER`), with the PySpark of `make spark`.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

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
"""
ROOT: Final = Path(__file__).resolve().parents[1]
SPARK: Final = ".cache/spark"
MEMORY: Final = 512 << 20
TICKS: Final = os.sysconf("SC_CLK_TCK")  # a second
QUIET: Final = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


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
    figures = [
        Figure(name="in pieces, processor time", value=alone.processor, unit="s"),
        Figure(name="Spark, processor time", value=processor, unit="s", ratio=processor / alone.processor, at_most=4),
        Figure(name="in pieces, wall time", value=alone.wall, unit="s"),
        Figure(name="Spark, wall time", value=wall, unit="s", ratio=wall / alone.wall),
        Figure(name="Spark, worker", value=worker / MEGABYTE, unit="MB", at_most=1_000),
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

    session = SparkSession.builder.master("local[2]").config(map=QUIET).getOrCreate()
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
