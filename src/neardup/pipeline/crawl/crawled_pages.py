"""The pages of a crawl as two columns, addresses and contents, from the report of a deduplication."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from os import PathLike
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions
from neardup.model.errors import DataError, FieldMissing, ParameterError, counted, kind_of
from neardup.sources.formats import display_all
from neardup.sources.read import read
from neardup.sources.record_faults import Rejected
from neardup.sources.request import DEFAULT_URL
from neardup.sources.url_forms import web_address
from neardup.text.values import is_missing

_LARGEST: Final = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class Crawled:
    """The URLs of pages, and the numbers of their contents, int64: equal for pages with the same content.

    *ignored* is the number of records whose URL is not one of the web.
    """

    urls: Sequence[str]
    contents: Positions
    ignored: int
    rejected: Sequence[Rejected]


def addressed(urls: Any, contents: Any) -> tuple[list[Any], Positions]:
    """Return the URLs as a list (empty if missing), and the contents of their pages as an array.

    Raises ``DataError`` unless *contents* has one integer per URL.
    """
    pages = [one if isinstance(one, str) or not is_missing(one) else "" for one in _listed("urls", urls)]
    numbers = _listed("contents", contents)
    if len(numbers) != len(pages):
        raise DataError("contents", f"{counted(len(numbers), 'number')} for {counted(len(pages), 'URL')}")
    if not all(isinstance(one, int) and not isinstance(one, bool) and -_LARGEST <= one < _LARGEST for one in numbers):
        raise DataError("contents", "must be integers of 64 bits, such as the clusters of a result of dedup")
    return pages, np.array(numbers, np.int64)


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(name, f"must be a sequence, not {kind_of(values)}")
    for method in ("tolist", "to_pylist"):  # arrays, and columns of tables
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def read_crawled(inputs: Sequence[str | PathLike[str]], *, url: str | None = None) -> Crawled:
    """Read reports that ``dedup --report`` wrote (Parquet or JSON lines).

    *url* is the column with the URL: by default ``url`` if it exists, otherwise ``id``. A page has the content of its
    ``representative``, the kept page that it was dropped for, or its own. Raises ``DataError`` for a missing column,
    and if no page has a URL of the web, and for archives and folders of pages.
    """
    shown = display_all(os.fspath(path) for path in inputs)
    try:
        documents = read(inputs, text="representative")
    except ParameterError as error:
        if error.name != "text":
            raise
        raise DataError(shown, "it is not a report, but the pages themselves", "pages") from error
    try:
        urls = documents.column(url or DEFAULT_URL, literal=True)
    except FieldMissing:
        if url is not None:
            raise
        urls = documents.ids
    ids = documents.ids.cast(pa.large_string())
    named = pc.coalesce(documents.texts.cast(pa.large_string()), ids).combine_chunks().dictionary_encode()
    found: list[str] = pc.fill_null(urls, "").to_pylist()
    of_the_web = np.array([web_address(each) is not None for each in found], np.bool_)
    if found and not of_the_web.any():
        rule = f"none of its pages has a URL such as https://a.example/page; the first one has {found[0]!r}"
        raise DataError(shown, rule, "no URLs")
    numbers = named.indices.to_numpy().astype(np.int64)[of_the_web]
    return Crawled([*compress(found, of_the_web)], numbers, int((~of_the_web).sum()), documents.rejected)
