"""A crawl filter for JSON lines: records in, verdicts out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa

from neardup.index.disk.columns import STRING
from neardup.model.errors import require_other_fields, require_share
from neardup.model.verdicts import as_record
from neardup.pipeline.crawl.filter import page_texts
from neardup.pipeline.index.fields import ARROW, READ, read_field
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.inputs import MOST_ID_BYTES
from neardup.pipeline.index.page_terms import extraction_for, require_extraction, require_url_rules
from neardup.pipeline.index.records import address_fields
from neardup.schemes.checksum import BODY
from neardup.sources.addresses import Addresses
from neardup.sources.ids import id_of
from neardup.sources.lines import BOM
from neardup.sources.records import decoder, is_blank, literal_of, reason_of
from neardup.sources.standard_input import MOST_BYTES
from neardup.text.extraction import Extraction

TOGETHER: Final = 1 << 12  # lines that are answered together, if that many are waiting

_FLAGS: Final = frozenset({b"true", b"false"})


class _Refused(Exception):  # noqa: N818 - what becomes of a line
    """A line that is not a document, why, and its id if it has a valid one."""

    def __init__(self, reason: str, own: str | None = None) -> None:
        super().__init__(reason)
        self.own = own


class Answering:
    """Answers JSON lines, each with the verdict on its page compared with those admitted before.

    The page's id is its URL in the normal form of *addresses*, if the line has the field *url*; otherwise the field
    *id*. An answer has the number of the ``line``, the ``id``, and the verdict: ``verdict`` is its name, and
    ``representative`` the kept page for which this page may be dropped, null if it must be kept. The answer to an
    invalid line has an ``error``, and a null ``id`` if that is not known. ``addressed`` counts the lines with a URL,
    and ``failed`` the invalid ones.

    With *admit* the pages are recorded, what ``answer`` returns is acknowledged, and *catch_up* is called, such as that
    of the search table, so that they can be found. Otherwise nothing changes, and a reader compares with what a writer
    has acknowledged. *changed_at_least* is as in ``Index.visit``. With an *extraction* the texts are HTML, and become
    texts as it describes.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        index: Index,
        *,
        text: str = "text",
        url: str = "url",
        id: str = "id",  # noqa: A002 - the field's name, as everywhere
        addresses: Addresses | None = None,
        admit: bool = False,
        catch_up: Callable[[], object] | None = None,
        changed_at_least: float | None = None,
        extraction: Extraction | None = None,
    ) -> None:
        require_other_fields(text, url=url, id=id)
        self._index, self._addresses, self._admit = index, addresses or Addresses(), admit
        if changed_at_least is not None:
            require_share("changed_at_least", changed_at_least)
        require_url_rules(index, self._addresses.rules)
        self._extraction = extraction
        if extraction is not None:
            require_extraction(index, extraction_for(index, extraction))
        self._text, self._url, self._id = text, url, id
        self._catch_up, self._least = catch_up, changed_at_least
        self._signed: tuple[str, ...] = index.scheme.columns
        self._fields = tuple(dict.fromkeys([*self._signed, *index.fields]))
        self._wanted = tuple(dict.fromkeys([url, id, *(name for name in self._fields if name != text)]))
        self._decode, self._decode_names = decoder(text, self._wanted), decoder(None, self._wanted)
        self.failed = self.addressed = 0

    def answer(self, lines: Sequence[bytes | None], first: int) -> list[dict[str, Any]]:
        """Answer some lines, except blank ones; *first* is the number of the first one."""
        answers: list[dict[str, Any]] = []
        rows: list[int] = []
        pages: list[tuple[str, str | None, str, dict[str, Any]]] = []
        for number, line in enumerate(lines, first):
            own = line.removeprefix(BOM) if line and number == 1 else line
            if own is not None and is_blank(own):
                continue
            answers.append({"line": number, "id": None})
            try:
                pages.append(self._page(own))
                rows.append(len(answers) - 1)
            except _Refused as error:
                answers[-1] |= {"id": error.own, "error": str(error)}
                self.failed += 1
        if pages:
            for row, page, said in zip(rows, pages, self._verdicts(pages), strict=True):
                answers[row] |= {"id": page[0], **as_record(said), "representative": said.representative}
            if self._admit and self._catch_up:
                self._catch_up()
        return answers

    def _verdicts(self, pages: list[tuple[str, str | None, str, dict[str, Any]]]) -> list[Any]:
        if not self._admit:
            self._index.refresh()
        ids, urls, texts, given = zip(*pages, strict=True)
        sites: dict[str, list[int]] = {}
        if self._extraction is not None:
            texts, sites = page_texts(self._index, self._extraction, urls, texts)
        fields: dict[str, Any] = {name: pa.array(values, pa.int64()) for name, values in sites.items()}
        for name in self._fields:
            values = [own.get(name) for own in given]
            if name == BODY and name in self._signed:  # the text replaces it
                values = [text if value is None else value for value, text in zip(values, texts, strict=True)]
            kind = STRING if name in self._signed else self._index.fields.get(name, STRING)
            fields[name] = pa.array(values, ARROW[kind])
        table = pa.table(fields)
        if self._admit:  # addresses may fill columns that no line has and that are not signed
            filled = [one for one in fields if table[one].null_count < len(table) or one in self._signed]
            table = address_fields(self._index.fields, urls, table.select(filled))
        given = (ids, pa.array(texts, pa.large_string()), table)
        return self._index.visit(*given, remember=self._admit, changed_at_least=self._least)

    def _page(self, line: bytes | None) -> tuple[str, str | None, str, dict[str, Any]]:
        """Return the id, URL, text and fields of a line."""
        if line is None:
            raise _Refused(f"it has more than {MOST_BYTES:,} bytes")
        try:
            line.decode()
            record = self._decode(memoryview(line))
        except UnicodeDecodeError:
            raise _Refused("it is not valid UTF-8") from None
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _Refused(reason_of(line, error, self._text), self._id_of_invalid(line)) from None
        tokens = self._tokens(record)
        own, url = self._named(tokens)
        self.addressed += url is not None
        if record.f0 is None:
            raise _Refused(f"its {self._text!r} is missing or null", own)
        tokens[self._text] = msgspec.json.encode(record.f0) if self._text in self._fields else b""
        try:
            return own, url, record.f0, {name: self._value(name, tokens) for name in self._fields}
        except _Refused as error:
            raise _Refused(str(error), own) from error.__cause__

    def _tokens(self, record: Any) -> dict[str, bytes]:
        return {name: bytes(getattr(record, f"f{number}")) for number, name in enumerate(self._wanted, 1)}

    def _named(self, tokens: Mapping[str, bytes]) -> tuple[str, str | None]:
        """Return the id of a line, and its URL if it has one."""
        url, own = self._literal(self._url, tokens), self._literal(self._id, tokens, id_of)
        if url and url.strip():
            own = self._addresses.id_of(url)
        else:
            url = None
        if not own:
            raise _Refused(f"it has neither {self._url!r} nor {self._id!r}")
        if len(own.encode()) > MOST_ID_BYTES:
            raise _Refused(f"its id has {len(own.encode()):,} bytes; at most {MOST_ID_BYTES:,} are allowed")
        return own, url

    def _id_of_invalid(self, line: bytes) -> str | None:
        """Return the id of a line whose text has a wrong type; ``None`` for other lines that cannot be decoded."""
        try:
            return self._named(self._tokens(self._decode_names(memoryview(line))))[0]
        except (msgspec.MsgspecError, RecursionError, _Refused):
            return None

    def _value(self, name: str, tokens: Mapping[str, bytes]) -> Any:
        kind = self._index.fields.get(name, STRING)
        if name in self._signed or kind == STRING:
            written = self._literal(name, tokens)
            if kind == STRING:
                return written
        token = tokens[name]
        try:
            value = read_field(kind, token.decode() if kind == "flag" and token in _FLAGS else literal_of(token))
        except TypeError as error:
            raise _Refused(f"its {name!r} must be {READ[kind].expected}, not {error}") from None
        except (ValueError, KeyError, OverflowError):
            raise _Refused(f"its {name!r} must be {READ[kind].expected}") from None
        return written if name in self._signed else value

    def _literal(
        self, name: str, tokens: Mapping[str, bytes], of: Callable[[bytes], str | None] = literal_of
    ) -> str | None:
        try:
            return of(tokens[name])
        except TypeError as error:
            raise _Refused(f"its {name!r} must be a string or a number, not {error}") from None
