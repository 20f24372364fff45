"""The verdicts of an index on the documents of files and on lines as they arrive, some at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.engine import silent
from neardup.model.errors import require_other_fields, require_share
from neardup.model.verdicts import as_record
from neardup.pipeline.corpus.documents import needs_text
from neardup.pipeline.index.fields import has_sites
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import IndexAddresses, extraction_for, require_extraction
from neardup.pipeline.index.records import NamedRecords, RecordReader, address_fields
from neardup.pipeline.progress import Progress
from neardup.schemes.checksum import BODY
from neardup.sources.addresses import Addresses
from neardup.sources.collection import InputPiece
from neardup.sources.compression import Contents
from neardup.sources.formats import STDIN, AnyPath, display
from neardup.sources.inputs import inputs_of
from neardup.sources.jsonl import JsonLines
from neardup.sources.pages import replace_markup
from neardup.sources.record_faults import RecordFaults, Rejected, missing_field
from neardup.sources.request import AUTO, DEFAULT_ID, DEFAULT_TEXT, DEFAULT_URL, Request
from neardup.sources.shards import extracted_shards
from neardup.sources.standard_input import MOST_BYTES
from neardup.text.extraction import Extraction

TOGETHER: Final = 1 << 23  # bytes of text that are answered together
LINES: Final = 1 << 12  # lines that are answered together, if that many are waiting
_TOO_LONG: Final = f"it has more than {MOST_BYTES:,} bytes"


class FileAnswers:
    """Answers the documents of files, each with the verdict on it compared with those admitted before.

    The documents, their ids and their fields are those that ``add_files`` would admit, in pieces of bounded size; of
    several with one id, each is answered. A document's id is its URL, in the normal form of *addresses*, if it has the
    field *url*, otherwise the field *id*, or the place in its file. An answer has the ``source`` and the ``position``
    of the record, or its ``line``; the ``id``; and the verdict: ``verdict`` is its name, and ``representative`` the
    kept page for which this page may be dropped, null if it must be kept. The answer to a rejected record has an
    ``error``, and a null ``id`` if unknown.

    With *admit* the documents are recorded, what is yielded is acknowledged, and *catch_up* is called, such as that of
    the search table, so that they can be found. Otherwise nothing changes, and a reader compares with what a writer has
    acknowledged. *changed_at_least* is as in ``Index.visit``. *reading* are the options of ``neardup.sources.read``.
    Pages are read as those of the index by default (*extraction*).

    ``faults`` are those of the records of files: also those without a text, a valid id or valid fields are rejected.
    ``addressed`` counts records with a URL.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        index: Index,
        *,
        url: str = DEFAULT_URL,
        addresses: Addresses | None = None,
        admit: bool = False,
        catch_up: Callable[[], object] | None = None,
        changed_at_least: float | None = None,
        extraction: Extraction | None = None,
        **reading: Any,
    ) -> None:
        if changed_at_least is not None:
            require_share("changed_at_least", changed_at_least)
        self._index, self._addresses, self._admit = index, IndexAddresses(index, addresses), admit
        self._catch_up, self._least, self._url, self._extraction = catch_up, changed_at_least, url, extraction
        signed = index.scheme.columns
        self._reader = RecordReader(
            kinds=index.fields,
            signed=signed,
            url=url,
            addresses=self._addresses.now,
            sites=has_sites(index.store),
        )
        columns = [*dict.fromkeys([url, *signed, *index.fields])]
        reading["needs_text"] = index.keeps_texts or needs_text(index.scheme, reading.get("text", DEFAULT_TEXT))
        self._request = Request(**reading, url=url, columns=columns, full_names=True, extraction=extraction or AUTO)
        require_other_fields(self._request.text, url=url, id=self._request.id)
        self.faults = RecordFaults()
        self.addressed = 0

    def answer(self, inputs: Sequence[AnyPath], *, progress: Progress | None = None) -> Iterator[list[dict[str, Any]]]:
        """Yield the answers to the documents of files, some at a time, in order; admitted ones are acknowledged."""
        found = inputs_of(inputs, self._request)
        if self._request.reads_pages(found.formats):
            self._read_pages()
        with extracted_shards(found, self._request) as cut:
            self.faults.ignored = cut.ignored
            shards, begun = replace(cut, size=TOGETHER), False
            for piece in shards.every_piece(progress=partial(progress or silent, "read")):
                if len(piece) and not begun:
                    begun = True
                    self._require_fields(piece)
                answers = self._answered(piece)
                self.faults.add(piece)
                yield [{"source": source, "position": number} | answer for (source, number), answer in answers]

    def answer_lines(self, batches: Iterable[tuple[int, Sequence[bytes | None]]]) -> Iterator[list[dict[str, Any]]]:
        """Yield the answers to batches of JSON lines, each with the number of its first line; blank lines have none.

        A line that was too long is ``None``. Each line must have a URL or an id of its own.
        """
        if self._request.html is not None:
            self._read_pages()
        self._answered_lines(1, [])  # wrong options are refused before the first line arrives
        for first, lines in batches:
            if self._request.html is not None and self._index.extraction is None:
                self._read_pages()  # as the first pages that a writer has admitted since
            yield self._answered_lines(first, lines)

    def _read_pages(self) -> None:
        if not self._admit:
            self._index.refresh()
        self._request = replace(self._request, extraction=extraction_for(self._index, self._extraction))

    def _answered_lines(self, first: int, lines: Sequence[bytes | None]) -> list[dict[str, Any]]:
        data = memoryview(b"\n".join(line or b"" for line in lines))
        piece = JsonLines(STDIN, self._request, Contents(display(STDIN), data, first=first))
        too_long = (number for number, line in enumerate(lines, first) if line is None)
        piece.rejected += [Rejected(piece.source, number, _TOO_LONG, "too long") for number in too_long]
        if self._request.html is not None:
            replace_markup([piece], self._request)
        return [{"line": number} | answer for (_, number), answer in self._answered(piece, alone=True)]

    def _require_fields(self, piece: InputPiece) -> None:
        """Raise ``FieldMissing`` if a piece lacks the text, or a field that was requested by name."""
        text, may_lack = self._request.text, None if self._request.needs_text else DEFAULT_TEXT
        for name, default in ((text, may_lack), (self._url, DEFAULT_URL), (self._request.id, DEFAULT_ID)):
            if name != default and (fields := piece.lacking(name)) is not None:
                raise missing_field(piece.source, name, fields)

    def _answered(self, piece: InputPiece, *, alone: bool = False) -> list[tuple[tuple[str, int], dict[str, Any]]]:
        """Return the places and answers of a piece, in the order of its records.

        The records that cannot be documents of the index are added to those that the piece has rejected. With *alone*,
        a field of one record means nothing for the others.
        """
        if not self._admit:
            self._index.refresh()
        if piece.has_pages:
            require_extraction(self._index, self._request.extraction)
        self._reader = replace(self._reader, addresses=self._addresses.now)
        names = piece.ids.to_pylist()
        without = f"its {self._request.text!r} is missing or null"
        lacking = np.flatnonzero(piece.texts.is_null().to_numpy()).tolist() if self._request.needs_text else []
        refused = dict.fromkeys(lacking, without)
        found = self._reader.read(piece, ids=names, refused=refused)
        self.addressed += 0 if found.urls is None else sum(map(bool, found.urls))
        errors: list[tuple[Rejected, str | None]] = [(one, None) for one in piece.rejected]
        errors += zip(found.rejected, self._known_ids(found, names), strict=True)
        piece.rejected = sorted([*piece.rejected, *found.rejected], key=attrgetter("source", "position"))
        self._request.check(piece.rejected)
        rows = found.named
        given = replace(found, fields=self._fields(found, alone=alone)).at(self._index.fields, rows)
        verdicts = self._index.visit(*given, remember=self._admit, changed_at_least=self._least)
        if self._admit and self._catch_up:
            self._catch_up()
        answers = [((one.source, one.position), {"id": own, "error": one.reason}) for one, own in errors]
        answers += [
            (piece.place(row), {"id": own} | as_record(verdict) | {"representative": verdict.representative})
            for row, own, verdict in zip(rows.tolist(), given[0], verdicts, strict=True)
        ]
        return sorted(answers, key=itemgetter(0)) if errors else answers

    def _known_ids(self, found: NamedRecords, names: Sequence[str]) -> Iterator[str | None]:
        """Yield the ids of the rejected records of a piece with these *names*; ``None`` where the id is invalid."""
        places = (place for place, own in enumerate(found.ids) if own is None)
        for one, place in zip(found.rejected, places, strict=True):
            url = "" if found.urls is None else found.urls[place] or ""
            own = self._reader.addresses.id_of(url) if url.strip() else names[place]
            yield own if one.code == "value" else None

    def _fields(self, found: NamedRecords, *, alone: bool) -> pa.Table:
        """Return the fields of records, with those that are made of their addresses or, if *alone*, of their texts."""
        columns: dict[str, Any] = dict(zip(found.fields.column_names, found.fields.columns, strict=True))
        made = pa.table({BODY: found.piece.texts} if alone and BODY in columns else {})
        made = made if found.urls is None else address_fields(self._index.fields, found.urls, made)
        for name in made.column_names:
            if name not in columns:
                columns[name] = made[name]
            elif alone:
                columns[name] = pc.coalesce(columns[name], made[name])
        return pa.table(columns)
