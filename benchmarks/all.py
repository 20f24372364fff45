"""Answer every question, one after the other, each in a process of its own; `--long` answers the long ones, too."""

import subprocess
import sys
from pathlib import Path
from typing import Final

QUESTIONS: Final = (
    "signatures",
    "fingerprints",
    "fingerprint_tables",
    "signing",
    "dedup",
    "quality",
    "schemes",
    "kinds",
    "presets",
    "common_shingles",
    "web_templates",
    "web_transplants",
    "web_pages",
    "mirrors",
    "comparing",
    "extraction",
    "archives",
    "bomb",
    "web_stage",
    "audit",
    "pairs",
    "tuning",
    "containment",
    "labelling",
    "contamination",
    "files",
    "threads",
    "growth",
    "memory",
    "pieces",
    "growing",
    "grouping",
    "pipelines",
    "on_spark",
    "living",
    "collapse",
    "serving",
    "busy",
    "startup",
)
LONG: Final = ("stored_fingerprints", "largest", "hundred_million")  # with --long


def main() -> None:
    wanted = LONG if "--long" in sys.argv else ()
    folder = Path(__file__).parent
    failed = [
        name
        for name in (*QUESTIONS, *wanted)
        if subprocess.run([sys.executable, folder / f"{name}.py"], check=False).returncode
    ]
    if failed:
        sys.exit(f"no answer: {', '.join(failed)}")


if __name__ == "__main__":
    main()
