"""The environment of the peers: made once, from pinned versions, apart from the project's own."""

import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from corpus import CACHE

PINNED: Final = Path(__file__).with_name("peers.txt")
ENVIRONMENT: Final = CACHE / "peers"
PYTHON: Final = ENVIRONMENT / "bin" / "python"
READY: Final = ENVIRONMENT / "installed.txt"  # a copy of the pinned versions, written last


def peers_python() -> Path:
    """Return the interpreter of the peers' environment, installing what is missing."""
    if not READY.exists() or READY.read_text() != PINNED.read_text():
        print(f"installing the peers into {ENVIRONMENT}", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--requirement", PINNED], check=True)
        READY.write_text(PINNED.read_text())
    return PYTHON


if __name__ == "__main__":
    print(peers_python())
