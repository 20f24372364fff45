"""Operations on documents of the index, and on pages of crawls: what an ``Index`` and a ``CrawlFilter`` do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import msgspec

from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, READ_ONLY, UNWRITABLE, Refusal
from neardup.interfaces.http.requests import Id, Input, PageNumber, Size, Threshold, batch, contents_of
from neardup.interfaces.http.service import Service
from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, ExtraMissing, StorageFailed, StorageRefused
from neardup.model.moments import moment_in
from neardup.model.seen import Document
from neardup.model.verdicts import Verdict, as_record
from neardup.pipeline.crawl.filter import page_texts
from neardup.pipeline.index.fields import unknown_field
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.verification import lacking_fields

Value = str | int | float | bool | None
Fields = dict[str, Value]
_OTHER_EXTRACTION: Final = (
    "The pages of this index were read with another text view, version or templates than those of the service."
    " Start it with the same ones, or send texts."
)


class Content(Input, kw_only=True):
    """The text of a document, or its signature, and its fields."""

    text: str | None = None
    signature: str | None = None
    fields: Fields = msgspec.field(default_factory=dict)


class CheckedDocument(Content):
    """A document to check: its text or signature, the fields that the scheme signs, and its id if it has one."""

    id: Id | None = None


class AdmittedDocument(Content):
    """A document to admit: its id, its text or signature, and its fields."""

    id: Id


class JudgeBody(Input):
    """Documents to check: either all have an id, or none. With the *recipe* of their signatures, they need no texts.

    A signature is the bytes of its row, as Base64; null is that of a document without words.
    """

    documents: batch(CheckedDocument)  # type: ignore[valid-type]
    recipe: str | None = None


class AdmitBody(Input):
    """Documents to admit; to an index without texts, also by their signatures and the *recipe*, as to be checked."""

    documents: batch(AdmittedDocument)  # type: ignore[valid-type]
    recipe: str | None = None


class VerdictAnswer(msgspec.Struct, omit_defaults=True):
    """The verdict on a document: ``new``, ``empty``, ``exact duplicate`` or ``near duplicate``.

    *of* is the document that it repeats, *representative* the kept document for which it may be dropped, *value* the
    *measure* of both; *verified* means measured on the texts. A page whose address is known is ``known``: *changed*
    reports whether its content was different then, *resemblance* and *contained* compare it with the last version.
    """

    verdict: Literal["new", "empty", "exact duplicate", "near duplicate", "known"]
    id: str | None = None
    of: str | None = None
    representative: str | None = None
    measure: str | None = None
    value: float | None = None
    verified: bool | None = None
    changed: bool | None = None
    resemblance: float | None = None
    contained: float | None = None


class VerdictsAnswer(msgspec.Struct):
    """One verdict per document, in the order of the documents."""

    verdicts: list[VerdictAnswer]


class IdQuery(Input):
    """A document."""

    id: Id


class IdsBody(Input):
    """Ids of documents."""

    ids: batch(Id)  # type: ignore[valid-type]


class DocumentQuery(IdQuery):
    """A document, and whether its text is wanted."""

    text: bool = False


class GroupQuery(IdQuery):
    """A document, and a page of its cluster."""

    page: PageNumber = 1
    size: Size = 10


class GroupAnswer(msgspec.Struct):
    """A page of the *total* members of a cluster; the first member of all is the *representative*."""

    id: str
    representative: str
    total: int
    page: int
    size: int
    members: list[str]


class ExpireBody(Input):
    """A moment, and the time that counts.

    *before* is a date or time in UTC, such as ``2026-01-31`` or ``2026-01-31T12:00:00Z``, or an age, such as ``90d``,
    ``12h`` or ``4w``. A time in the future is refused, and so is an age of 0, which would remove everything.
    """

    before: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    by: Literal["last_seen", "first_seen"] = "last_seen"


class RemovedAnswer(msgspec.Struct):
    """The number of removed documents, and of those that are kept now because their representative was removed."""

    removed: int
    promoted: int


def judge(service: Service, given: JudgeBody) -> VerdictsAnswer:
    """Check whether documents repeat documents of the index; changes nothing."""
    documents: Sequence[CheckedDocument] = given.documents
    names = [document.id for document in documents]
    named = [name for name in names if name is not None]
    if named and len(named) != len(documents):
        rule = "send an id with every document, or leave out all ids"
        raise Refusal(INVALID, f"Document {names.index(None)} has no id; {rule}.")
    own = contents_of(service, documents, given.recipe, "document")
    verdicts = service.index.judge(own, columns_of(service, documents, given.recipe), ids=named or None)
    return verdicts_of(service, "judge", names, verdicts)


def admit(service: Service, given: AdmitBody) -> VerdictsAnswer:
    """Add documents to the index, and report what they repeat.

    An answer with status 200 is the acknowledgement. A document with a known id replaces the earlier one; with the same
    content, only its fields are replaced.
    """
    documents: Sequence[AdmittedDocument] = given.documents
    own, ids = contents_of(service, documents, given.recipe, "document"), [document.id for document in documents]
    with changing(service) as index:
        verdicts = index.admit(ids, own, columns_of(service, documents, given.recipe))
    return verdicts_of(service, "admit", ids, verdicts)


def document(service: Service, given: DocumentQuery) -> Document:
    """Return a document of the index."""
    (found,) = service.index.get([given.id])
    if found is None:
        raise Refusal(NO_DOCUMENT)
    return found if given.text else replace(found, text=None)


def group(service: Service, given: GroupQuery) -> GroupAnswer:
    """List the cluster of a document."""
    found = service.index.group_page(given.id, (given.page - 1) * given.size, given.size)
    if found is None:
        raise Refusal(NO_DOCUMENT)
    return GroupAnswer(given.id, found.representative, found.total, given.page, given.size, found.members)


def remove(service: Service, given: IdQuery) -> RemovedAnswer:
    """Remove a document; the documents that it represents are decided again."""
    with changing(service) as index:
        done = index.remove([given.id])
    if not done.removed:
        raise Refusal(NO_DOCUMENT)
    return RemovedAnswer(done.removed, len(done.promoted))


def remove_each(service: Service, given: IdsBody) -> RemovedAnswer:
    """Remove documents; unknown ids are ignored. The documents that they represent are decided again."""
    with changing(service) as index:
        done = index.remove(given.ids)
    return RemovedAnswer(done.removed, len(done.promoted))


def expire(service: Service, given: ExpireBody) -> RemovedAnswer:
    """Remove the documents that were last seen before a moment; those that they represent are decided again."""
    before = moment_in(given.before)
    with changing(service) as own:
        done = own.expire(before, by=given.by)
    return RemovedAnswer(done.removed, len(done.promoted))


@contextmanager
def changing(service: Service) -> Iterator[Index]:
    """Lend the index for a change, and then update the search table."""
    if service.writes == "no":
        raise Refusal(READ_ONLY, service.reason_not_to_write)
    if not service.index.store.writes:
        raise Refusal(UNWRITABLE)
    try:
        yield service.index
    except StorageFailed as error:
        raise Refusal(UNWRITABLE) from error
    service.catch_up()


def columns_of(
    service: Service, documents: Sequence[Any], recipe: str | None, what: str = "documents"
) -> dict[str, list[Value]] | None:
    """Return the fields of documents as columns; a missing field is null.

    Raises ``DataError`` for an unknown field: a thousand documents with names of their own would be millions of values;
    and, without the *recipe* of signatures, for a document without a field that the scheme requires.
    """
    fields, scheme = _known_fields(service, documents), service.index.scheme
    for place, document in enumerate(documents if recipe is None and scheme.required_columns else ()):
        for name in lacking_fields(scheme, document.fields):
            rule = f"has no {name!r}, which the scheme of the index requires; send null if it is unknown"
            raise DataError(f"{what}[{place}].fields", rule)
    return {field: [document.fields.get(field) for document in documents] for field in fields} or None


def _known_fields(service: Service, documents: Sequence[Any]) -> list[str]:
    """Return the names of the fields of documents; ``DataError`` for one that the index does not have."""
    fields = dict.fromkeys(field for document in documents for field in document.fields)
    known = {*dict(service.index.store.columns.fields), *service.index.scheme.columns}
    for name in fields:
        if name not in known:
            raise unknown_field(name, known)
    return [*fields]


def verdicts_of(
    service: Service, route: str, names: Sequence[str | None], verdicts: Sequence[Verdict]
) -> VerdictsAnswer:
    """Count the verdicts of a route on documents, and return them with the names of these as an answer."""
    service.metrics.count_verdicts(route, verdicts)
    return VerdictsAnswer(
        [VerdictAnswer(id=name, **as_record(verdict)) for name, verdict in zip(names, verdicts, strict=True)]
    )


Url = Annotated[str, msgspec.Meta(min_length=1, max_length=1 << 16)]


class FetchedPage(Content):
    """A page: its URL, its text, HTML or signature, and its fields."""

    url: Url
    html: str | None = None


class PagesBody(Input):
    """Pages; content that resembles the last version of its page by *changed_at_least* counts as unchanged.

    With the *recipe* of their signatures, as in ``/v1/judge``, pages need no texts; only an index that stores no texts
    records them. A page with the signature of its last version is unchanged. If a page has HTML instead of a text, its
    text is that which the service extracts, without the lines of the templates that it has; and so are its fields
    ``title``, ``canonical``, ``lang`` and ``noindex``, if the index has them and the page does not send them.
    """

    pages: batch(FetchedPage)  # type: ignore[valid-type]
    recipe: str | None = None
    changed_at_least: Threshold | None = None


class AdmissionAnswer(msgspec.Struct):
    """The number of the admission of a document, and that of the next one when its last verdict to keep it was given.

    *reported* is -1 if there was no such verdict.
    """

    number: int
    reported: int


class AdmissionsAnswer(msgspec.Struct):
    """An admission per id, null for unknown ids; *next* is the number of the next admission."""

    admissions: list[AdmissionAnswer | None]
    next: int


def seen(service: Service, given: PagesBody, key: str | None, content: bytes | bytearray) -> VerdictsAnswer:
    """Record fetched pages, and report for each whether its address or its content is known.

    The id of a page is its URL in normal form. A page may be dropped if its verdict has a *representative*. An answer
    with status 200 is the acknowledgement. A request that is repeated with the same Idempotency-Key changes nothing and
    gets the same verdicts, unless the service was killed during the first request: then pages that were recorded before
    the kill are known, and the pages to keep are the same. Without a key, the pages are known the second time.
    """
    urls, own, fields = _contents(service, given)
    with changing(service):
        visits = service.visits()
        ids = visits.filter().ids_of(urls)
        verdicts = visits.judge_and_admit(urls, own, fields, key, content, given.changed_at_least, ids=ids)
    return verdicts_of(service, "seen", ids, verdicts)


def judge_pages(service: Service, given: PagesBody) -> VerdictsAnswer:
    """Check whether the address or the content of fetched pages is known; changes nothing."""
    urls, own, fields = _contents(service, given)
    known = service.visits().filter(given.changed_at_least)
    ids = known.ids_of(urls)
    verdicts = known.judge_each(urls, own, fields, ids=ids)
    return verdicts_of(service, "judge_pages", ids, verdicts)


def _contents(
    service: Service, given: PagesBody
) -> tuple[list[str], list[str] | Signatures, dict[str, list[Any]] | None]:
    """Return the URLs of pages, their texts or signatures, and their fields; HTML becomes text."""
    pages: list[FetchedPage] = given.pages
    rows = [row for row, page in enumerate(pages) if page.html is not None]
    for row in rows:
        if given.recipe is not None:
            rule = "but the request has a recipe; with a recipe, send signatures instead of html"
            raise Refusal(INVALID, f"Page {row} has HTML, {rule}.")
        if pages[row].text is not None:
            rule = "a page must have only one of text, html and signature"
            raise Refusal(INVALID, f"Page {row} has HTML and a text; {rule}.")
    if rows:
        _known_fields(service, pages)  # before the HTML is read, which takes long
        urls, markup = [pages[row].url for row in rows], [str(pages[row].html) for row in rows]
        try:
            texts, found = page_texts(service.index, service.extraction, urls, markup)
        except StorageRefused as error:
            raise Refusal(INVALID, _OTHER_EXTRACTION) from error
        except ExtraMissing as error:
            raise Refusal(INVALID, f"The service cannot read HTML; send texts: {error}") from error
        for place, row in enumerate(rows):
            page = pages[row]
            page.text = texts[place]
            page.fields = {name: values[place] for name, values in found.items()} | page.fields
    fields = columns_of(service, pages, given.recipe, "pages")
    return [page.url for page in pages], contents_of(service, pages, given.recipe, "page"), fields


def admissions(service: Service, given: IdsBody) -> AdmissionsAnswer:
    """Return when documents were admitted, as increasing numbers, for crawlers that continue after an interruption."""
    found = [None if one is None else AdmissionAnswer(*one) for one in service.index.admissions(given.ids)]
    return AdmissionsAnswer(found, service.index.next_admission)
