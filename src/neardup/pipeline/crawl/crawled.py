"""The pages of a crawl as two columns, addresses and contents, from the report of a deduplication."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions
from neardup.model.errors import FieldMissing
from neardup.sources.collection import Rejected
from neardup.sources.read import read

URL: Final = "url"
CONTENT: Final = "representative"


@dataclass(frozen=True, slots=True, eq=False)
class Crawled:
    """The URLs of pages, and the numbers of their contents, int64: equal for pages with the same content."""

    urls: Sequence[str]
    contents: Positions
    rejected: Sequence[Rejected]


def read_crawled(inputs: Sequence[str | PathLike[str]], *, url: str | None = None, content: str = CONTENT) -> Crawled:
    """Read reports that ``dedup --report`` wrote (Parquet or JSON lines), or other tables with two such columns.

    *url* is the column with the URL: by default ``url`` if it exists, otherwise ``id``. A page has the content that its
    column *content* names: by default ``representative``, the id of the kept page that it was dropped for. A page
    without a value has the content that its own id names. Raises ``DataError`` for a missing column.
    """
    documents = read(inputs, text=content)
    try:
        urls = documents.column(url or URL, literal=True)
    except FieldMissing:
        if url is not None:
            raise
        urls = documents.ids
    ids = documents.ids.cast(pa.large_string())
    named = pc.coalesce(documents.texts.cast(pa.large_string()), ids).combine_chunks().dictionary_encode()
    return Crawled(pc.fill_null(urls, "").to_pylist(), named.indices.to_numpy().astype(np.int64), documents.rejected)
