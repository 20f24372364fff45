"""Extract the main text of all pages of an archive, and print how many texts differ."""

import sys
from pathlib import Path

from trafilatura import extract
from warcio.archiveiterator import ArchiveIterator


def main(path: str) -> None:
    with Path(path).open("rb") as file:
        pages = (record.content_stream().read() for record in ArchiveIterator(file))
        print(len({hash(extract(page, fast=True, include_comments=False)) for page in pages}))


if __name__ == "__main__":
    main(sys.argv[1])
