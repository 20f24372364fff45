"""Question: how long until something happens."""

import json
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
kernel cache, including compilation.
"""
IMPORT: Final = "import time; start = time.perf_counter(); import neardup; print(time.perf_counter() - start)"
TEXTS: Final = ("one rose is a rose is a rose", "one rose is a rose is a rose", "something else altogether is this")


def main() -> None:
    shown, _ = best_of(helping, repeats=5)
    cold, said = first_use()
    figures = [
        Figure(name="import neardup", value=min(importing() for _ in range(5)), unit="s", at_most=0.2),
        Figure(name="neardup --help", value=shown, unit="s", at_most=0.35),
        Figure(name="first use, empty kernel cache", value=cold, unit="s", at_most=20),
        Figure(name="lines printed meanwhile", value=len(said.splitlines()), unit="", at_least=1),
    ]
    publish("startup", "Starting", METHOD, figures)


def importing() -> float:
    done = subprocess.run([sys.executable, "-c", IMPORT], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def helping() -> None:
    subprocess.run([COMMAND, "--help"], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)


def first_use() -> tuple[float, str]:
    """Run the command with an empty kernel cache; return its seconds and what it wrote to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.jsonl"
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
        command = [COMMAND, "dedup", source, "--out", Path(folder) / "kept.jsonl"]
        environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")}
        seconds, done = best_of(
            lambda: subprocess.run(command, env=environment, capture_output=True, text=True, check=True), repeats=1
        )
    return seconds, done.stderr


if __name__ == "__main__":
    main()
