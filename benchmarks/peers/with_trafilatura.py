"""Extract the main text of the pages that a list names; print the seconds of processor time, the best of several."""

import json
import sys
import time
from pathlib import Path

from trafilatura import extract


def main(listed: str, repeats: int) -> None:
    pages = [Path(path).read_bytes() for path in json.loads(Path(listed).read_text())]
    times = []
    for _ in range(repeats):
        started = time.process_time()
        for page in pages:
            extract(page, fast=True, include_comments=False)
        times.append(time.process_time() - started)
    print(min(times))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
