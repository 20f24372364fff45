"""Read the bodies of all records of an archive; print the seconds of processor time, the best of several, and bytes."""

import json
import sys
import time
from pathlib import Path

from fastwarc.warc import ArchiveIterator


def main(path: str, repeats: int) -> None:
    times, number = [], 0
    for _ in range(repeats):
        started = time.process_time()
        with Path(path).open("rb") as file:
            found = ArchiveIterator(file, auto_decode="all")
            number = sum(len(record.reader.read()) for record in found)
        times.append(time.process_time() - started)
    print(json.dumps([min(times), number]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
