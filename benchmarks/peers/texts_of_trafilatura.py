"""Extract the main text of the pages of a JSON list; write a JSON list of texts."""

import json
import sys

from trafilatura import extract


def main() -> None:
    texts = [extract(page, fast=True, include_comments=False) or "" for page in json.load(sys.stdin)]
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    main()
