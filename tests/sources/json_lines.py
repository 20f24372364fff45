"""Files of JSON lines."""

import json


def write_lines(path, records):
    """Write a record per line, and return the path."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]
