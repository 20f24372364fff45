"""Pages of several crawlers in one index: a batch that is sent twice with one key gets the same verdicts twice."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, cast

from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, ParameterError, RecipeMismatch
from neardup.model.verdicts import Known, Verdict
from neardup.pipeline.crawl.filter import CrawlFilter
from neardup.pipeline.crawl.recorded_visits import RecordedVisits, Visit
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import IndexAddresses
from neardup.sources.addresses import Addresses

Contents = Sequence[str] | Signatures  # the texts of pages, or their signatures


class KeyedVisits:
    """Records batches of pages, as ``CrawlFilter.judge_and_admit`` does, and recognises batches by their keys.

    The last batches are remembered, on the disk: at most ``MOST_VISITS``, and about ``MOST_BYTES``. A repeated batch
    changes nothing and gets the same verdicts. If a kill interrupted the batch, the pages that it admitted are known
    when it is repeated, but those without a representative get none again, unless the index has been changed otherwise
    in between; so do those that a batch before it reported as kept instead of others, if nothing was admitted since.
    Then a batch in which an address has several contents is admitted again.

    Only the process that writes the index may use it.
    """

    def __init__(self, index: Index, addresses: Addresses | None = None) -> None:
        self.index, self.addresses = index, IndexAddresses(index, addresses)
        self._visits = RecordedVisits(index.store)
        self._busy = threading.Lock()

    def filter(self, changed_at_least: float | None = None) -> CrawlFilter:
        """Return the filter of these pages."""
        return CrawlFilter(self.index, self.addresses.now, changed_at_least=changed_at_least)

    def judge_and_admit(  # noqa: PLR0913, PLR0917 - a batch and its key
        self,
        urls: Sequence[str],
        texts: Contents,
        fields: Mapping[str, Sequence[Any]] | None,
        key: str | None,
        content: bytes | bytearray = b"",
        changed_at_least: float | None = None,
        *,
        ids: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Record a batch of pages, and return its verdicts. *ids* are those of the URLs, if they are known already.

        *content* is anything that is equal for equal batches, such as the body of the request. Raises ``DataError`` for
        a key that was used for another content, and the errors of ``CrawlFilter.judge_and_admit``: a batch that these
        refuse does not use its key.
        """
        pages = self.filter(changed_at_least)
        ids = pages.ids_of(urls) if ids is None else ids
        if key is None:
            return pages.judge_and_admit(urls, texts, fields, ids=ids)
        name, digest = (blake2b(part, digest_size=16).hexdigest() for part in (key.encode(), content))
        with self._busy:
            visit = self._visits.get(name)
            if visit is None:
                begun = self._begin(name, digest)
                try:
                    verdicts = pages.judge_and_admit(urls, texts, fields, ids=ids)
                except (DataError, ParameterError, RecipeMismatch):
                    if self.index.next_admission == begun.first:  # none of its pages was admitted
                        self._visits.forget(begun)
                    raise
            elif visit.content != digest:
                raise DataError("Idempotency-Key", "was used for another request; each request needs its own key")
            elif (known := self._visits.verdicts(name)) is not None and len(known) == len(ids):
                return known
            else:
                verdicts = self._repeated(pages, visit, urls, ids, texts, fields)
            self._visits.keep(name, verdicts)
        return verdicts

    def _repeated(  # noqa: PLR0913, PLR0917 - a batch and its visit
        self,
        pages: CrawlFilter,
        visit: Visit,
        urls: Sequence[str],
        ids: Sequence[str],
        texts: Contents,
        fields: Mapping[str, Sequence[Any]] | None,
    ) -> list[Verdict]:
        """Record a batch again that a kill interrupted, and keep those pages that the first attempt kept, too.

        Pages that were admitted after the next batch was recorded are not of this one. If none of its pages were
        admitted, it begins again, so that another repetition finds those that are admitted now.
        """
        there, later = self.index.admissions(ids), self._visits.first_after(visit)
        until = min(math.inf if later is None else later, visit.first + len(ids) + 1)
        if None in there and not any(one is not None and visit.first <= one.number < until for one in there):
            self._begin(visit.key, visit.content)
        verdicts = pages.judge_and_admit(urls, texts, fields, ids=ids)
        first = {name: row for row, name in reversed([*enumerate(ids)])}  # later ones of a page repeat it
        for row in first.values():
            one = there[row]
            if one is not None and visit.first <= one.reported < until:
                verdicts[row] = replace(cast("Known", verdicts[row]), representative=None)
        return verdicts

    def _begin(self, name: str, content: str) -> Visit:
        """Record a batch before its pages are admitted, and return it."""
        visit = Visit(name, content, self.index.next_admission)
        self._visits.record(visit)
        return visit
