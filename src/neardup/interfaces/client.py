"""A client of the service: the calls of ``Index`` and ``CrawlFilter`` on an index that another process serves."""

import os
import re
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from math import inf, isinf
from ssl import SSLCertVerificationError
from threading import Lock
from typing import Any, Final, Self
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

import msgspec
import numpy as np

from neardup.interfaces.http.limits import BATCH, Limits
from neardup.model.arrays import Signatures, require_same_recipe
from neardup.model.errors import (
    DataError,
    NeardupError,
    QueryTimeout,
    StorageFailed,
    StorageRefused,
    is_number,
    kind_of,
    require,
    require_flag,
    require_kind,
    require_name,
    require_share,
)
from neardup.model.moments import moment_of_text
from neardup.model.query import readable
from neardup.model.recipe import Hashing
from neardup.model.seen import Admission, Document, Removal
from neardup.model.verdicts import Verdict, from_record
from neardup.pipeline.crawl.filter import parted, require_urls
from neardup.pipeline.index.fields import (
    column_of_time,
    described,
    field_columns,
    field_table,
    moment_of,
    unknown_field,
)
from neardup.pipeline.index.inputs import as_strings, is_id, microseconds, require_ids
from neardup.schemes.checksum import signed_text
from neardup.schemes.terms import read
from neardup.sources.addresses import Addresses, is_utf8
from neardup.sources.url_rules import UrlRules
from neardup.text.columns import readable_text, text_column

MOST: Final = BATCH  # documents of one request
MOST_BYTES: Final = 4 << 20  # of them, unless one document has more

_FIRST_PAUSE: Final = 0.05  # seconds between two attempts, which double
_LONGEST_PAUSE: Final = 2.0
_JSON: Final = "application/json"
_WITH_USER: Final = re.compile(r"[^/?#]*//[^/?#]*@")
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_DATA: Final = frozenset({400, 413, 414, 415, 422})
_LATER: Final = frozenset({429, 502, 503, 504})


class Client:
    """The index of a service, at *url*, such as ``http://127.0.0.1:8000``; close it, or use it in ``with``.

    Its methods have the parameters, the results and the errors of the methods of ``Index``; ``judge_each``,
    ``judge_and_admit`` and ``id_of`` those of ``CrawlFilter``. The differences: the service sets the time of a change
    (there is no *at*); the ids of pages are those of their URLs (there is no *ids*); JSON has no NaN and no infinity,
    so NaN in *fields* is sent as a missing value, an infinite number is a ``DataError``, and ``get`` returns both as
    ``None``. ``collapse`` and ``search`` have the options and the answers of the service. *token* is a token of the
    service. *addresses* and *changed_at_least* are as in ``CrawlFilter``; by default, *addresses* are the default ones
    with the URL rules of the index, which the service sends. Others must be those of the service.

    Large batches are sent in several requests: if one fails, those before it are recorded. Connections are kept. A
    request that is not answered, or is answered with 429 or 503, is sent again for up to *patience* seconds; a batch of
    ``judge_and_admit`` has the same key each time, so that it is recorded once, with the same verdicts, unless the
    service was killed during the request: then pages that were recorded before the kill are ``Known``, and the pages to
    keep are the same. An attempt may take *timeout* seconds.

    With *signatures*, texts are signed here, and their signatures are sent instead of them: a fourth of the bytes for
    pages of 2.5 KB, and less work for the service. *key* is that of the index. Its index must not store texts, to admit
    them. A page with the signature of its last version counts as unchanged, and equal pages are near duplicates with
    the value 1. ``Signatures`` are accepted in place of texts in any case.

    Raises ``ParameterError``; ``StorageRefused`` if the service refuses the token, or does not do this, and after
    ``close``; ``StorageFailed`` if there was no answer; ``DataError`` for invalid documents, and ``RecipeMismatch`` for
    signatures of another recipe. Threads and forked processes may share a client.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        url: str,
        *,
        token: str | None = None,
        addresses: Addresses | None = None,
        changed_at_least: float | None = None,
        signatures: bool = False,
        key: bytes | None = None,
        timeout: float = 60.0,
        patience: float = 60.0,
    ) -> None:
        self._service = Connections(url, token=token, timeout=timeout, patience=patience)
        if addresses is not None:
            require_kind("addresses", addresses, Addresses)
        self._given = addresses
        if changed_at_least is not None:
            changed_at_least = require_share("changed_at_least", changed_at_least)
        self._least = changed_at_least
        require_flag("signatures", signatures)
        self._signs, self._key = signatures, Hashing(key=key).key

    def __repr__(self) -> str:
        return f"<Client of {self._service.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._service.close()

    # The index.

    def __len__(self) -> int:
        return int(self._index()["documents"])

    @cached_property
    def about(self) -> dict[str, Any]:
        """The description of the index, when it was first needed: ``GET /v1/index``."""
        return self._index()

    @cached_property
    def _addresses(self) -> Addresses:
        """How URLs become ids; ``ParameterError`` if not as in the service."""
        own = Addresses() if self._given is None else self._given
        if self._given is None and self.about["addresses"] != own.id:
            rules = self._service.answer("GET", "/v1/rules").get("rules")
            kept = None if rules is None else UrlRules.from_bytes(msgspec.json.encode(rules), self._service.url)
            own = replace(own, rules=kept)
        rule = "must be those of the service; leave them out if it was started with the default ones"
        if self._given is None:
            rule = "must be those that the service was started with, which are not the default ones; give the same"
        require(self.about["addresses"] == own.id, "addresses", self._given, rule)
        return own

    @property
    def fields(self) -> dict[str, str]:
        """The names of the fields, and their kinds."""
        return dict(self.about["fields"])

    @cached_property
    def scheme(self) -> Any:
        """The scheme of the index, which signs as the service does.

        Raises ``StorageRefused`` if the signatures of the index have another recipe: because it has another key, or a
        list of common shingles or a table of weights, which services do not send, and if its scheme is not registered;
        ``ParameterError`` for a key that the scheme does not have.
        """
        scheme = read(self.about["settings"], self._key, where=self._service.url)
        if scheme.recipe != self.about["recipe"]:
            rule = "has another key, a list of common shingles or a table of weights; use its key, or send texts"
            raise StorageRefused(self._service.url, rule, "other settings")
        return scheme

    @property
    def next_admission(self) -> int:
        """The number of the next admission."""
        return int(self._index()["next"])

    def judge(self, documents: Any, fields: Any = None, *, ids: Sequence[str] | None = None) -> list[Verdict]:
        """Return a verdict for each text. Changes nothing."""
        contents, more = self._contents(documents)
        named = [{}] * len(contents) if ids is None else [{"id": name} for name in require_ids(ids, len(contents))]
        records = self._records(named, contents, field_table(fields, len(contents)))
        return self._verdicts("/v1/judge", "documents", records, more)

    def admit(self, ids: Sequence[str], documents: Any, fields: Any = None) -> list[Verdict]:
        """Admit texts; return what each repeats among those admitted before. The answer is the acknowledgement."""
        contents, more = self._contents(documents)
        named = [{"id": name} for name in require_ids(ids, len(contents))]
        records = self._records(named, contents, field_table(fields, len(contents)))
        return self._verdicts("/v1/admit", "documents", records, more)

    def get(self, ids: Iterable[str]) -> list[Document | None]:
        """Return the documents with these ids, one request for each; ``None`` for an unknown id."""
        return [self._document(name) if is_id(name) else None for name in as_strings(ids)]

    def group(self, id: str) -> list[str]:  # noqa: A002 - the name of the field, as everywhere
        """Return the ids of the documents with the same representative, which comes first."""
        members: list[str] = []
        if not is_id(*as_strings([id])):
            return members
        while True:
            page = len(members) // 100 + 1
            found = self._found(f"/v1/groups/{_escaped(id)}?{urlencode({'page': page, 'size': 100})}")
            if found is None:
                return []
            members += found["members"]
            if len(members) >= found["total"] or not found["members"]:
                return members

    def remove(self, ids: Iterable[str]) -> Removal:
        """Remove documents; unknown ids are ignored. The ids of promoted documents are not returned."""
        names = [*filter(is_id, as_strings(ids))]
        parts = (names[begin : begin + MOST] for begin in range(0, len(names), MOST))
        return Removal(sum(self._post("/v1/remove", {"ids": part})["removed"] for part in parts), [])

    def expire(self, before: datetime | float, by: str = "last_seen") -> Removal:
        """Remove the documents that were last seen before a moment; see ``Index.expire`` and ``remove``."""
        moment = microseconds(before, "before")
        column_of_time(by, moment)  # which checks them
        return Removal(self._post("/v1/expire", {"before": moment_of(moment), "by": by})["removed"], [])

    def admissions(self, ids: Iterable[str]) -> list[Admission | None]:
        """Return the admission numbers of documents; ``None`` for an unknown id."""
        names = as_strings(ids)
        asked = [*filter(is_id, names)]
        found: dict[str, Any] = {}
        for begin in range(0, len(asked), MOST):
            part = asked[begin : begin + MOST]
            found.update(zip(part, self._post("/v1/admissions", {"ids": part})["admissions"], strict=True))
        return [None if found.get(name) is None else Admission(**found[name]) for name in names]

    def collapse(self, hits: Sequence[Any], **options: Any) -> dict[str, Any]:
        """Hide ranked hits that repeat a better one; see ``POST /v1/collapse`` for the options and the answer.

        *hits* are ids or records. Raises ``DataError`` for others, and for values that JSON does not have.
        """
        names = isinstance(hits, Mapping) or hasattr(hits, "columns")  # a record or a table, which iterate over names
        if names or isinstance(hits, str | bytes) or not isinstance(hits, Iterable):
            raise DataError("hits", f"must be a sequence of ids or records, not {kind_of(hits)}")
        return self._post("/v1/collapse", {"hits": [_hit(rank, hit) for rank, hit in enumerate(hits)], **options})

    def search(self, query: str, **options: Any) -> dict[str, Any]:
        """Find documents by their words; see ``GET /v1/search`` for the options and the answer.

        Options that are ``None`` are not sent.
        """
        require_name("query", query)
        given = {"q": query, **{name: value for name, value in options.items() if value is not None}}
        encoded = urlencode(
            {name: readable(value) if isinstance(value, str) else value for name, value in given.items()}
        )
        return self._service.answer("GET", f"/v1/search?{encoded}")

    # Pages of a crawl.

    def id_of(self, url: str) -> str:
        """Return the id of the page at this URL."""
        return self._addresses.id_of(url)

    def judge_each(self, pages: Any, texts: Any = None, fields: Any = None) -> list[Verdict]:
        """Return a verdict for each page, as ``CrawlFilter.judge_each``. Changes nothing."""
        return self._verdicts("/v1/seen/judge", "pages", *self._pages(pages, texts, fields))

    def judge_and_admit(self, pages: Any, texts: Any = None, fields: Any = None) -> list[Verdict]:
        """Record pages, and return a verdict for each, as ``CrawlFilter.judge_and_admit``."""
        return self._verdicts("/v1/seen", "pages", *self._pages(pages, texts, fields), keyed=True)

    def _pages(self, pages: Any, texts: Any, fields: Any) -> tuple[Iterator[dict[str, Any]], dict[str, Any]]:
        about, id_of = self.about, self._addresses.id_of
        urls, column, table = parted(pages, texts, fields, {*about["fields"], *about["signs"]} - {"text"})
        require_urls(urls)
        contents, more = self._contents(column)
        more |= {} if self._least is None else {"changed_at_least": self._least}
        # JSON cannot have half a surrogate pair, which is escaped in the normal form of a URL.
        named = [{"url": str(url) if is_utf8(url) else id_of(url)} for url in urls]
        return self._records(named, contents, table), more

    # Requests and answers.

    def _contents(self, documents: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the texts or signatures of records, and what else their request has."""
        if self._signs and not isinstance(documents, Signatures):
            rule = "cannot be used with a scheme that signs fields; send texts"
            require(not self.about["signs"], "signatures", self._signs, rule)
            documents = self.scheme.sign(documents)
        if not isinstance(documents, Signatures):
            column = text_column(documents)
            return [{"text": readable_text(column, row)} for row in range(len(column))], {}
        require_same_recipe(self.about["recipe"], documents.recipe)
        rows = np.ascontiguousarray(documents.rows, documents.rows.dtype.newbyteorder("<"))
        signed = zip(rows, documents.present.tolist(), strict=True)
        contents = [{"signature": b64encode(row).decode()} if there else {} for row, there in signed]
        return contents, {"recipe": documents.recipe}

    def _records(
        self, named: Sequence[Mapping[str, Any]], contents: Sequence[Mapping[str, Any]], fields: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the records of a request; ``DataError`` for an unknown field of no documents, as from an index."""
        if not contents and fields.num_columns:
            known = {*self.fields, *self.about["signs"]}
            for name in fields.column_names:
                if name not in known:
                    raise unknown_field(name, known)
        try:
            rows = fields.to_pylist() if fields.num_columns else [{}] * len(contents)
        except (ValueError, OverflowError) as error:  # what Python's times cannot hold
            rule = "a time is outside the years 1 to 9999 or has nanoseconds; send times in microseconds"
            raise DataError("the fields", rule) from error
        for number, own in enumerate(rows):
            _require_json(own, f"document {number}")
        if fields.num_columns:
            field_columns(self.fields, fields, len(contents))  # whose errors are those of an index
            for name in {*self.about["signs"]} & {*fields.column_names}:  # JSON has other forms of times and numbers
                for own, value in zip(rows, signed_text(fields.column(name)).to_pylist(), strict=True):
                    own[name] = value
        for name, content, own in zip(named, contents, rows, strict=True):
            yield {**name, **content, "fields": own}

    def _verdicts(
        self, path: str, name: str, records: Iterable[dict[str, Any]], more: Mapping[str, Any], *, keyed: bool = False
    ) -> list[Verdict]:
        verdicts: list[Verdict] = []
        for part in _batches(records):
            key = uuid4().hex if keyed else None
            body = msgspec.json.encode({name: part, **more})
            try:
                answer = self._service.answer("POST", path, body, key)
            except DataError as error:
                begin = len(verdicts)
                where = f"{error.where}, documents {begin:,} to {begin + len(part) - 1:,}" if begin else error.where
                raise DataError(where, error.rule) from None
            try:
                read = [*map(from_record, answer["verdicts"])]
            except (KeyError, TypeError) as error:
                raise self._service.unexpected_answer() from error
            if len(read) != len(part):
                raise self._service.unexpected_answer()
            verdicts += read
        return verdicts

    def _document(self, name: str) -> Document | None:
        found = self._found(f"/v1/documents/{_escaped(name)}?text=true")
        if found is None:
            return None
        times = [field for field, kind in self.fields.items() if kind == "time" and found["fields"].get(field)]
        values = {field: moment_of_text(found["fields"][field]) for field in times}
        return msgspec.convert({**found, "fields": found["fields"] | values}, Document)

    def _index(self) -> dict[str, Any]:
        found = self._service.answer("GET", "/v1/index")
        if "next" not in found:
            raise self._service.unexpected_answer()
        return found

    def _post(self, path: str, given: Any) -> dict[str, Any]:
        return self._service.answer("POST", path, _as_json(given, "the request"))

    def _found(self, path: str) -> dict[str, Any] | None:
        try:
            return self._service.answer("GET", path)
        except UnknownDocument:
            return None


def _require_json(fields: Mapping[Any, Any], where: str) -> None:
    """Raise ``DataError`` for a value that JSON does not have, except NaN, which is sent as a missing value."""
    for name, value in fields.items():
        if isinstance(value, float) and isinf(value):
            raise DataError(f"field {name!r} of {where}", "is infinite, which JSON does not have; send a finite number")
        if isinstance(value, bytes | bytearray | memoryview):
            raise DataError(f"field {name!r} of {where}", "is a byte string, which JSON does not have; send a string")


def _batches(records: Iterable[dict[str, Any]]) -> Iterator[list[msgspec.Raw]]:
    """Yield the records as JSON in batches that a service accepts."""
    part: list[msgspec.Raw] = []
    size = 0
    for record in records:
        written = _as_json(record, "a document")
        if part and (len(part) == MOST or size + len(written) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(msgspec.Raw(written))
        size += len(written)
    if part:
        yield part


def _as_json(value: Any, where: str) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=_time)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DataError(where, f"cannot be written as JSON: {error}") from error


def _time(value: Any) -> str:
    """Return a ``Timestamp`` of pandas as a string; Arrow returns times with nanoseconds as such objects."""
    if isinstance(value, datetime):
        return value.isoformat()
    raise DataError("a field", f"is {described(value)}, which JSON does not have")


def _hit(rank: int, hit: Any) -> Any:
    """Return a hit as JSON has it: an id, or a record."""
    if isinstance(hit, str):
        return str(hit)
    if not isinstance(hit, Mapping):
        raise DataError(f"hit {rank}", f"must be an id, which is a string, or a record, not {kind_of(hit)}")
    record = dict(hit)
    fields = record.get("fields")
    _require_json(record | (dict(fields) if isinstance(fields, Mapping) else {}), f"hit {rank}")
    return record


def _escaped(name: str) -> str:
    """Return an id as a part of a path; dots are escaped, because some proxies remove ``..``."""
    return quote(name, safe="").replace(".", "%2E")


class UnknownDocument(NeardupError):  # noqa: N818 - an answer
    """There is no such document."""


class _Problem(msgspec.Struct):
    type: str = ""
    title: str = ""
    detail: str = ""


class Connections:
    """Kept connections to the service at *url*; see ``Client``. Threads and forked processes may share them."""

    def __init__(self, url: str, *, token: str | None, timeout: float, patience: float) -> None:
        require_name("url", url)
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
            (host or "").encode("idna")  # as sockets do
        except ValueError:
            host = port = None
        holds = (
            host is not None
            and not any(map(str.isspace, url))
            and parts.scheme in {"http", "https"}
            and not parts.query
        )
        rule = "must not have a user or a password; pass a token as token=..."
        require(not _WITH_USER.match(url), "url", "(secret)", rule)
        require(holds, "url", url, "must be the URL of a service, such as http://127.0.0.1:8000")
        self._connect = (HTTPSConnection if parts.scheme == "https" else HTTPConnection, str(host), port)
        self._prefix = parts.path.rstrip("/")
        self._token, self.url = None if token is None else _header(token), url
        require(is_number(timeout) and 0 < timeout < inf, "timeout", timeout, "must be a number of seconds above 0")
        require(is_number(patience) and patience >= 0, "patience", patience, "must be a number of seconds, or 0")
        self._timeout, self._patience = timeout, patience
        self._idle: list[HTTPConnection] = []
        self._lock = Lock()
        self._process = os.getpid()
        self._closed = False

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._leave_parent()
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def answer(self, method: str, path: str, body: bytes | None = None, key: str | None = None) -> dict[str, Any]:
        """Send a request until it is answered; ``UnknownDocument`` for a document that does not exist."""
        head = {"Accept": _JSON}
        head |= {"Content-Type": _JSON} if body is not None else {}
        head |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        head |= {"Idempotency-Key": key} if key else {}
        until, pause, reason = time.monotonic() + self._patience, _FIRST_PAUSE, ""
        while True:
            if self._closed:
                raise StorageRefused(self.url, "the client is closed; make another one")
            wait = pause
            try:
                response, content = self._sent(method, self._prefix + path, body, head)
            except SSLCertVerificationError as error:
                raise StorageRefused(self.url, error.verify_message) from error
            except (OSError, HTTPException) as error:
                reason = f"cannot be reached: {error or type(error).__name__}"
            else:
                if response.status == _OK:
                    return self._decoded(content)
                failure = self._failure(response, content)
                if response.status not in _LATER:
                    raise failure
                reason = getattr(failure, "rule", str(failure))
                after = response.headers.get("Retry-After", "")
                wait = max(pause, float(after) if after.isascii() and after.isdigit() else 0.0)
            if time.monotonic() + wait > until:
                raise StorageFailed(self.url, reason)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _leave_parent(self) -> None:
        """After a fork, close the connections of the parent, whose answers this process would read."""
        if self._process != os.getpid():
            old, self._idle, self._lock, self._process = self._idle, [], Lock(), os.getpid()
            for connection in old:
                connection.close()

    def _sent(self, method: str, path: str, body: bytes | None, head: dict[str, str]) -> tuple[HTTPResponse, bytes]:
        self._leave_parent()
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            with suppress(ConnectionError, HTTPException):  # the service ends idle connections
                return self._exchanged(connection, method, path, body, head)
        kind, host, port = self._connect
        return self._exchanged(kind(host, port, timeout=self._timeout), method, path, body, head)

    def _exchanged(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None, head: dict[str, str]
    ) -> tuple[HTTPResponse, bytes]:
        try:
            connection.request(method, path, body, head)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if self._closed or response.will_close:
                connection.close()
            else:
                self._idle.append(connection)
        return response, content

    def _decoded(self, content: bytes) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise self.unexpected_answer() from error
        return found

    def unexpected_answer(self) -> StorageRefused:
        """Return the error for an answer that is not that of a service."""
        return StorageRefused(self.url, "does not answer as a service of neardup does")

    def _failure(self, response: HTTPResponse, content: bytes) -> NeardupError:
        try:
            problem = msgspec.json.decode(content, type=_Problem)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            problem = _Problem()
        status, name = response.status, problem.type.rpartition("#")[2]
        what = problem.detail or f"answers with status {status}"
        if status in _REDIRECTS:
            what = f"redirects to {response.headers.get('Location', 'another URL')}; use that URL"
        if name == "no-document":
            return UnknownDocument()
        if name == "query-time":
            return QueryTimeout(Limits().query_seconds)
        if status in _DATA and problem.detail:
            return DataError("the service", what)
        return StorageRefused(self.url, what)


def _header(token: Any) -> str:
    """Return a token as a header has it, without the line break of a file."""
    rule = "must be one token of printable ASCII characters"
    holds = isinstance(token, str) and token.strip() != "" and token.strip().isascii() and token.strip().isprintable()
    require(holds, "token", "(secret)", rule)
    return str(token.strip())
