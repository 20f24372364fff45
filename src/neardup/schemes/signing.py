"""How schemes of features go through a collection, in memory that stays in the processor's cache."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Features, Positions, Words
from neardup.text.columns import batches, text_column
from neardup.text.shingling import Shingling

Rows = npt.NDArray[Any]
Blank = Callable[[int], Rows]  # a number of documents to rows that may hold anything
Fill = Callable[[Words, Positions, Positions, Rows], None]  # values, starts and ends of documents, their rows


def sign_texts(documents: Any, shingling: Shingling, blank: Blank, fill: Fill) -> Rows:
    """Sign texts (see ``text_column`` for what is taken), each batch at once, while its features are at hand."""
    column = text_column(documents)
    rows = blank(len(column))
    begin = 0
    for batch in batches(column):
        features = shingling.batch_features(batch)
        fill(features.values, features.offsets[:-1], features.offsets[1:], rows[begin : begin + len(batch)])
        begin += len(batch)
    return rows


def sign_features(
    features: Features, shingling: Shingling, blank: Blank, fill: Fill, positions: Positions | None = None
) -> Rows:
    """Sign the documents at these positions, or all, from their features, which must be this shingling's."""
    shingling.require_own(features)
    chosen = np.arange(len(features)) if positions is None else positions
    rows = blank(len(chosen))
    fill(features.values, features.offsets[chosen], features.offsets[chosen + 1], rows)
    return rows
