"""The environments of the peers: made once, from pinned versions, apart from the project's own."""

import subprocess
import sys
import venv
from pathlib import Path

from corpus import CACHE


def peers_python(name: str = "peers") -> Path:
    """Return the interpreter of the environment with the versions of `NAME.txt`, installing what is missing."""
    pinned, environment = Path(__file__).with_name(f"{name}.txt"), CACHE / name
    python = environment / "bin" / "python"
    ready = environment / "installed.txt"  # a copy of the pinned versions, written last
    if not ready.exists() or ready.read_text() != pinned.read_text():
        print(f"installing {name} into {environment}", file=sys.stderr)
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", pinned], check=True)
        ready.write_text(pinned.read_text())
    return python


if __name__ == "__main__":
    print(peers_python())
