"""Documents as an index has them, column by column."""

import numpy as np

from neardup.index.disk.columns import Columns, encoded

COLUMNS = Columns("<u8", 2, (("host", "string"), ("rank", "integer")), texts=True)


def batch(number=3):
    ids = encoded([f"id {place}" for place in range(number)])
    return {
        "ordinal": np.arange(5, 5 + number),
        "first": np.arange(number),
        "time": np.arange(number),
        "representative": np.arange(5, 5 + number),
        "decided": np.arange(5, 5 + number),
        "seen": np.arange(number),
        "reported": np.full(number, -1),
        "content": np.ones((number, 2), np.uint64),
        "equal": np.zeros((number, 2), np.uint64),
        "leads": np.ones(number, np.bool_),
        "present": np.ones(number, np.bool_),
        "rows": np.ones((number, 2), np.uint64),
        "known.host": np.ones(number, np.bool_),
        "known.rank": np.ones(number, np.bool_),
        "field.rank": np.arange(number),
        "id": ids,
        "text": ids,
        "field.host": ids,
    }
