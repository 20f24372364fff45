"""Pages of several crawlers in one index: a batch that is sent twice with one key gets the same verdicts twice."""

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from neardup.engines.files import naming
from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, ParameterError, RecipeMismatch, StorageFailed
from neardup.model.seen import Admission
from neardup.model.verdicts import Known, Verdict, as_record, from_record
from neardup.pipeline.crawl.filter import CrawlFilter
from neardup.pipeline.index.fields import field_table
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.records import address_fields
from neardup.sources.addresses import Addresses
from neardup.sources.output import atomic

FILE: Final = "visits.jsonl"  # in the folder of the index
MOST_VISITS: Final = 1 << 14  # keys that are remembered
MOST_VERDICTS: Final = 1 << 16  # verdicts that are remembered

Contents = Sequence[str] | Signatures  # the texts of pages, or their signatures


class Visit(msgspec.Struct, array_like=True):
    """A batch before its pages were admitted: the digests of its key and of its content, and the state of the index.

    *first* is the number of the next admission; *known* has a bit for each page whose address was known, *reported* one
    for each kept page that was reported as kept since the last admission (``_bits``). If the batch is *answered*, its
    pages were recorded. In the file, one without *content* releases its key, because the batch was refused.
    """

    key: str
    content: str
    first: int
    known: bytes
    reported: bytes
    answered: bool = False


class VisitVerdicts(msgspec.Struct, array_like=True):
    """The verdicts of a batch after its pages were admitted: the digest of its key, and records."""

    key: str
    verdicts: list[dict[str, Any]]


class KeyedVisits:
    """Records batches of pages, as ``CrawlFilter.judge_and_admit`` does, and recognises batches by their keys.

    The last ``MOST_VISITS`` keys are remembered, on the disk. A repeated batch changes nothing and gets the verdicts of
    the first time: the same ones while they are among the last ``MOST_VERDICTS``. Older verdicts, and those of a batch
    that a kill interrupted, are computed again for the pages that the first batch admitted, against what was admitted
    before them. So a page whose representative was ``None`` gets that again, unless the index has been changed
    otherwise in between; the values of a comparison with an earlier version are not repeated. Then a batch in which an
    address has several contents is admitted again, and may get other verdicts.

    Only the process that writes the index may use it.
    """

    def __init__(self, index: Index, addresses: Addresses | None = None) -> None:
        self.index, self._addresses = index, addresses
        self._path = Path(index.store.folder, FILE)
        self._busy = threading.Lock()
        self._visits: OrderedDict[str, Visit] | None = None  # of the file, which is read when it is needed
        self._lines, self._stored = 0, 0  # visits and verdicts in the file, older ones too
        self._cut = False  # whether the last line of the file has no end
        self._verdicts: OrderedDict[str, list[Verdict]] = OrderedDict()
        self._remembered = 0

    def filter(self, changed_at_least: float | None = None) -> CrawlFilter:
        """Return the filter of these pages."""
        return CrawlFilter(self.index, self._addresses, changed_at_least=changed_at_least)

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
            visit = self._read().get(name)
            if visit is None:
                self._begin(name, digest, self.index.admissions(ids))
                try:
                    verdicts = pages.judge_and_admit(urls, texts, fields, ids=ids)
                except (DataError, ParameterError, RecipeMismatch):
                    self._forget(name)
                    raise
            elif visit.content != digest:
                raise DataError("Idempotency-Key", "was used for another request; each request needs its own key")
            elif name in self._verdicts:
                return self._verdicts[name]
            else:
                verdicts = self._repeated(pages, visit, urls, ids, texts, fields, changed_at_least)
            self._keep(name, verdicts)
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
        begins again, so that another repetition finds those that it gets now. Pages of an *answered* batch that were
        changed or removed since then remain so.
        """
        index = self.index
        there, now = index.admissions(ids), index.known(ids, texts, fields, changed_at_least=least)
        numbers, reported = range(visit.first, visit.first + len(ids) + 1), _rows(visit.reported)
        until = self._next(visit)
        begun = visit.answered or any(one is not None and visit.first <= one.number < until for one in there)
        if None in there and not begun:
            self._begin(visit.key, visit.content, there)
        judged_now = pages.judge_each if visit.answered else pages.judge_and_admit
        verdicts = judged_now(urls, texts, fields, ids=ids)
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

    def _begin(self, name: str, content: str, there: Sequence[Admission | None]) -> None:
        """Record a batch whose pages have these admissions before it."""
        first, known = self.index.next_admission, _bits(one is not None for one in there)
        reported = _bits(one is not None and one.reported == first for one in there)
        self._record(Visit(name, content, first, known, reported))

    def _forget(self, name: str) -> None:
        """Release the key of a refused batch, unless some of its pages were admitted."""
        visit = self._read()[name]
        if self.index.next_admission == visit.first:
            del self._read()[name]
            with suppress(StorageFailed):  # then the key remains in use after a restart
                self._write(Visit(name, "", visit.first, b"", b""), sync=False)
                self._lines += 1

    def _next(self, visit: Visit) -> float:
        """Return the number of the next admission when the batch after this one was recorded, if there is one."""
        later = dropwhile(lambda one: one is not visit, self._read().values())
        return next((one.first for one in later if one is not visit), math.inf)

    def _keep(self, name: str, verdicts: list[Verdict]) -> None:
        """Remember the verdicts of a batch; if they cannot be written, they are computed again after a restart."""
        self._remember(name, verdicts)
        with suppress(StorageFailed):
            self._write(_recorded(name, verdicts), sync=False)
            self._stored += len(verdicts)

    def _remember(self, name: str, verdicts: list[Verdict]) -> None:
        self._read()[name].answered = True
        self._remembered += len(verdicts) - len(self._verdicts.pop(name, ()))
        self._verdicts[name] = verdicts
        while self._remembered > MOST_VERDICTS:
            _, oldest = self._verdicts.popitem(last=False)
            self._remembered -= len(oldest)

    def _read(self) -> OrderedDict[str, Visit]:
        if self._visits is None:
            with naming(self._path, doing="read"):
                content = self._path.read_bytes() if self._path.exists() else b""
            *lines, rest = content.split(b"\n")
            self._visits, self._cut = OrderedDict(), bool(rest)
            for entry in _decoded(lines):
                if isinstance(entry, Visit):
                    self._lines += 1
                    if entry.content:
                        self._put(self._visits, entry)
                    else:
                        self._visits.pop(entry.key, None)
                elif entry.key in self._visits:
                    with suppress(KeyError, TypeError):  # unknown verdicts are computed again
                        self._remember(entry.key, [*map(from_record, entry.verdicts)])
                    self._stored += len(entry.verdicts)
        return self._visits

    def _put(self, visits: OrderedDict[str, Visit], visit: Visit) -> None:
        """Append a visit; that of the same key is removed, and the oldest ones, with their verdicts."""
        visits.pop(visit.key, None)
        visits[visit.key] = visit
        while len(visits) > MOST_VISITS:
            oldest, _ = visits.popitem(last=False)
            self._remembered -= len(self._verdicts.pop(oldest, ()))

    def _record(self, visit: Visit) -> None:
        """Write a visit to the disk before its pages are admitted."""
        self.index.store.require_writer()  # or the file could be that of another folder at this path
        visits = self._read()
        self._put(visits, visit)
        try:
            if self._lines >= 2 * MOST_VISITS or self._stored >= 2 * MOST_VERDICTS:
                self._rewrite(visits)
            else:
                self._write(visit, sync=True)
                self._lines += 1
        except StorageFailed:
            visits.pop(visit.key)
            raise

    def _write(self, entry: Visit | VisitVerdicts, *, sync: bool) -> None:
        line = b"\n" * self._cut + msgspec.json.encode(entry) + b"\n"
        self._cut = True  # unless it is written as a whole
        with naming(self._path), open(self._path, "ab", opener=_without_links) as file:
            file.write(line)
            file.flush()
            if sync:
                os.fdatasync(file.fileno())
        self._cut = False

    def _rewrite(self, visits: Mapping[str, Visit]) -> None:
        """Replace the file by one with what is remembered."""
        try:
            with atomic(self._path) as file:
                for name, visit in visits.items():
                    file.write(msgspec.json.encode(visit) + b"\n")
                    if name in self._verdicts:
                        file.write(msgspec.json.encode(_recorded(name, self._verdicts[name])) + b"\n")
        except OSError as error:
            raise StorageFailed.by(error, self._path, "written") from error
        self._lines, self._stored, self._cut = len(visits), self._remembered, False


def _without_links(path: str, flags: int) -> int:
    """Open a file unless it is a link, whose target others have chosen."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _bits(flags: Iterable[bool]) -> bytes:
    """Return flags as bits without the zero bytes at their end: 1,000 rows have at most 125 bytes.

    >>> _bits([False, True, False]), sorted(_rows(_bits([False, True, False])))
    (b'@', [1])
    """
    return np.packbits(np.fromiter(flags, np.bool_)).tobytes().rstrip(b"\0")


def _rows(bits: bytes) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8))).tolist())


def _recorded(name: str, verdicts: Iterable[Verdict]) -> VisitVerdicts:
    records = [as_record(verdict) for verdict in verdicts]
    return VisitVerdicts(name, [{part: value for part, value in one.items() if value is not None} for one in records])


def _decoded(lines: Iterable[bytes]) -> Iterable[Visit | VisitVerdicts]:
    decoders = msgspec.json.Decoder(Visit), msgspec.json.Decoder(VisitVerdicts)
    for line in lines:
        for decoder in decoders:
            with suppress(msgspec.MsgspecError):  # it is of the other kind, or was cut by a kill
                yield decoder.decode(line)
                break
