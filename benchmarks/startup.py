"""Question: how long until something happens."""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from command import COMMAND, ENVIRONMENT
from figures import Figure, publish
from peers.measuring import best_of

METHOD = """
The best of five with compiled kernels. *First use* is one run of `neardup dedup` on three documents with an empty
kernel cache, including compilation; so is `neardup warm`.
"""
IMPORT: Final = "import time; start = time.perf_counter(); import neardup; print(time.perf_counter() - start)"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shown, _ = best_of(lambda: run("--help"), repeats=5)
        few = documents(folder, ["one rose is a rose is a rose", "one rose is a rose is a rose", "something else"])
        short = documents(folder, [f"document {number} of a collection of short documents" for number in range(600)])
        usual, _ = best_of(lambda: run("dedup", short, "--out", Path(folder, "kept.jsonl"), "--force"), repeats=5)
        spent, said = best_of(
            lambda: run("dedup", few, "--out", Path(folder, "first.jsonl"), kernels=Path(folder, "few")),
            1,
            processor_time,
        )
        warming, _ = best_of(lambda: run("warm", kernels=Path(folder, "all")), repeats=1)
    figures = [
        Figure(name="import neardup", value=min(importing() for _ in range(5)), unit="s", at_most=0.2),
        Figure(name="neardup --help", value=shown, unit="s", at_most=0.35),
        Figure(name="neardup dedup, 600 short documents", value=usual, unit="s", at_most=0.68),
        Figure(name="first use, processor time", value=spent, unit="s", at_most=12),
        Figure(name="lines printed meanwhile", value=len(said.splitlines()), unit="", at_least=1),
        Figure(name="neardup warm", value=warming, unit="s", at_most=60),
    ]
    publish("startup", "Starting", METHOD, figures)


def importing() -> float:
    done = subprocess.run([sys.executable, "-c", IMPORT], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def documents(folder: str, texts: list[str]) -> Path:
    path = Path(folder, f"{len(texts)}.jsonl")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return path


def run(*arguments: str | Path, kernels: Path | None = None) -> str:
    """Run the command, with the machine code in a folder of its own if one is named; return its standard error."""
    environment = ENVIRONMENT if kernels is None else ENVIRONMENT | {"NUMBA_CACHE_DIR": str(kernels)}
    done = subprocess.run([COMMAND, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stderr


def processor_time() -> float:
    """Return the processor time of the processes that have ended, in seconds."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
