"""The texts of web pages for an index, and the sites that they belong to."""

from collections.abc import Sequence

import numpy as np

from neardup.pipeline.index.fields import SITE, has_sites
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import extraction_for, require_extraction
from neardup.sources.pages import host_of
from neardup.text.extraction import Extraction


def page_texts(
    index: Index, extraction: Extraction | None, urls: Sequence[str | None], markup: Sequence[bytes | str]
) -> tuple[list[str], dict[str, list[int]]]:
    """Return the texts of pages as *extraction* describes, and the field with their sites if the *index* has one.

    ``None`` is how the pages of the index were read. The templates are those of the *extraction* or, if it has none,
    those that the index keeps. Without templates there is no such field. Pages have the hosts of their *urls*; one
    without a URL has that of the absolute address that it names as canonical. The field is admitted with the texts,
    like the other fields. No pages have no texts.

    Raises ``StorageRefused`` for an index whose texts of pages were extracted otherwise, which an index that is written
    records, and ``ExtraMissing`` as ``Extraction`` does.
    """
    extraction = extraction_for(index, extraction)
    require_extraction(index, extraction)
    texts, sites = extracted_pages(extraction, urls, markup)
    return texts, sites if has_sites(index.store) else {}


def extracted_pages(
    extraction: Extraction, urls: Sequence[str | None], markup: Sequence[bytes | str]
) -> tuple[list[str], dict[str, list[int]]]:
    """Return what ``page_texts`` does, for an index that was checked before; without templates, no field."""
    if extraction.templates is None:
        return extraction.pages(markup).texts, {}
    found = extraction.pages(markup, hosts=[host_of(url, page) for url, page in zip(urls, markup, strict=True)])
    return found.texts, {SITE: np.array(found.sites, np.uint64).view(np.int64).tolist()}
