"""Question: what does the main text of pages cost."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from corpus import CACHE, corpus
from environment import peers_python
from figures import SMALL, Figure, publish
from neardup.web_pages import Extraction

METHOD = """
The pages are from Debian documentation packages; each program turns their bytes into text in one process. Processor
time, the best of three; ours and resiliparse take turns.

- *resiliparse* extracts the main text of pages that are decoded already.
- *main* is `Extraction(view="main")`, which decodes a page, checks its markup, and calls resiliparse.
- *auto* also reads pages that have little main text as visible text.
- *trafilatura* runs with `fast=True`.

The ratio of `main` to resiliparse is of time, the others are of speed.
"""
PAGES: Final = 100 if SMALL else 1500
REPEATS: Final = 3
PEER: Final = Path(__file__).parent / "peers" / "with_trafilatura.py"
OPTIONS: Final = {
    "main_content": True,
    "alt_texts": False,
    "list_bullets": False,
    "comments": False,
    "post_meta": False,
}


def main() -> None:
    corpus()  # it unpacks the packages
    paths = sorted((CACHE / "unpacked").rglob("*.html"))
    paths = paths[:: max(1, len(paths) // PAGES)][:PAGES]
    pages = [path.read_bytes() for path in paths]
    size = sum(map(len, pages)) / 1e6
    texts = [page.decode(errors="replace") for page in pages]
    found = best(
        {"bare": lambda: [extract_plain_text(HTMLTree.parse(text), **OPTIONS) for text in texts]}
        | {view: lambda view=view: Extraction(view=view).pages(pages) for view in ("main", "auto", "visible")}
    )
    bare = found.pop("bare")
    listed = CACHE / "extraction.json"
    listed.write_text(json.dumps([str(path) for path in paths]))
    command = [peers_python("web"), PEER, listed, str(REPEATS)]
    peer = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    speeds = {
        "resiliparse": bare,
        "trafilatura, fast": peer,
        **{f"neardup, {view}": own for view, own in found.items()},
    }
    figures = [Figure(name=name, value=size / seconds, unit="MB/s") for name, seconds in speeds.items()]
    figures += [
        Figure(name="main, to resiliparse", value=found["main"], unit="s", ratio=found["main"] / bare, at_most=1.45),
        Figure(name="main, to trafilatura", value=found["main"], unit="s", ratio=peer / found["main"], at_least=5.5),
        Figure(name="auto, to trafilatura", value=found["auto"], unit="s", ratio=peer / found["auto"]),
    ]
    publish("extraction", "From pages to text", METHOD, figures)


def best(programs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the best times of programs that take turns, because the speed of a machine changes."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for repeat in range(REPEATS + 1):
        for name, program in programs.items():
            started = time.process_time()
            program()
            if repeat:  # the first time loads and compiles
                times[name].append(time.process_time() - started)
    return {name: min(found) for name, found in times.items()}


if __name__ == "__main__":
    main()
