"""Pages of several crawlers in one index: a batch that is sent twice with one key gets the same verdicts twice."""

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, ParameterError, RecipeMismatch
from neardup.model.seen import Admission
from neardup.model.verdicts import Known, Verdict
from neardup.pipeline.crawl.filter import CrawlFilter
from neardup.pipeline.crawl.recorded_visits import RecordedVisits, Visit
from neardup.pipeline.index.fields import field_table
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import IndexAddresses
from neardup.pipeline.index.records import address_fields
from neardup.sources.addresses import Addresses

Contents = Sequence[str] | Signatures  # the texts of pages, or their signatures


class KeyedVisits:
    """Records batches of pages, as ``CrawlFilter.judge_and_admit`` does, and recognises batches by their keys.

    The last batches are remembered, on the disk: at most ``MOST_VISITS``, and about ``MOST_BYTES``. A repeated batch
    changes nothing and gets the same verdicts. Those of a batch that a kill interrupted are computed again for the
    pages that the first batch admitted, against what was admitted before them. So a page whose representative was
    ``None`` gets that again, unless the index has been changed otherwise in between; the values of a comparison with an
    earlier version are not repeated. Then a batch in which an address has several contents is admitted again, and may
    get other verdicts.

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
                begun = self._begin(name, digest, self.index.admissions(ids))
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
                verdicts = self._repeated(pages, visit, urls, ids, texts, fields, changed_at_least)
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
        least: float | None,
    ) -> list[Verdict]:
        """Return the verdicts of a batch that was recorded; a kill may have prevented that for some of its pages.

        Pages that were admitted after the next batch was recorded are not those of this one. If it had none before, it
        begins again, so that another repetition finds those that it gets now.
        """
        index = self.index
        there, now = index.admissions(ids), index.known(ids, texts, fields, changed_at_least=least)
        numbers, reported = range(visit.first, visit.first + len(ids) + 1), _rows(visit.reported)
        later = self._visits.first_after(visit)
        until = math.inf if later is None else later
        begun = any(one is not None and visit.first <= one.number < until for one in there)
        if None in there and not begun:
            self._begin(visit.key, visit.content, there)
        verdicts = pages.judge_and_admit(urls, texts, fields, ids=ids)
        own: dict[str, int] = {}  # the pages that were admitted then, by their first rows
        last: dict[str, int] = {}  # and by their last ones, whose fields they have
        passed_on: set[int] = set()
        for row, (admission, found) in enumerate(zip(there, now, strict=True)):
            if admission is None or found is None or found.changed or admission.number >= until:
                continue
            if admission.number in numbers and found.resemblance is None:
                own.setdefault(ids[row], row)
                last[ids[row]] = row
                if admission.reported == admission.number:
                    passed_on.add(row)
            elif admission.reported in numbers and row not in reported:
                verdicts[row] = Known(ids[row], resemblance=found.resemblance, contained=found.contained)
        rows, known = list(own.values()), _rows(visit.known)
        columns = {name: [values[row] for row in last.values()] for name, values in (fields or {}).items()}
        table = address_fields(index.fields, [urls[row] for row in last.values()], field_table(columns, len(last)))
        some = texts[np.array(rows, np.int64)] if isinstance(texts, Signatures) else [texts[row] for row in rows]
        judged = index.admit(list(own), some, table)
        for row, verdict in zip(rows, judged, strict=True):
            own_verdict = Known(ids[row], True, verdict.representative) if row in known else verdict
            if row in passed_on and own_verdict.representative is not None:
                own_verdict = replace(own_verdict, representative=None)
            verdicts[row] = own_verdict
        return verdicts

    def _begin(self, name: str, content: str, there: Sequence[Admission | None]) -> Visit:
        """Record a batch whose pages have these admissions before it, and return it."""
        first, known = self.index.next_admission, _bits(one is not None for one in there)
        reported = _bits(one is not None and one.reported == first for one in there)
        visit = Visit(name, content, first, known, reported)
        self._visits.record(visit)
        return visit


def _bits(flags: Iterable[bool]) -> bytes:
    """Return flags as bits without the zero bytes at their end: 1,000 rows have at most 125 bytes.

    >>> _bits([False, True, False]), sorted(_rows(_bits([False, True, False])))
    (b'@', [1])
    """
    return np.packbits(np.fromiter(flags, np.bool_)).tobytes().rstrip(b"\0")


def _rows(bits: bytes) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8))).tolist())
