"""Ask a peer: run its script in the peers' environment, on one thread, and read the figures it prints."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from corpus import CORPUS
from environment import peers_python

SCRIPTS: Final = Path(__file__).with_name("peers")

# Read by the libraries when they load.
SINGLE_THREADED: Final = {
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "DAFT_RUNNER": "native",
    "DAFT_ANALYTICS_ENABLED": "0",
    "DAFT_PROGRESS_BAR": "0",
}


def ask(
    peer: str, question: str, *arguments: str, source: Path = CORPUS, environment: str = "peers"
) -> list[dict[str, Any]]:
    """Return one record per way in which the peer can do it.

    Daft has no setting for the threads of its native runner, so every peer is held
    on one processor.
    """
    command = [peers_python(environment), SCRIPTS / f"with_{peer}.py", question, source, *arguments]
    processor = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "--cpu-list", processor, *command],
        env=os.environ | SINGLE_THREADED,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
