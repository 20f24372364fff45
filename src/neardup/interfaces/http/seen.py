"""Operations on pages of crawls: what a ``CrawlFilter`` does, for many crawlers."""

from typing import Annotated, Any, Final

import msgspec

from neardup.interfaces.http.documents import Content, IdsBody, VerdictsAnswer, changing, columns_of, verdicts_of
from neardup.interfaces.http.problems import INVALID, Refusal
from neardup.interfaces.http.requests import Input, Threshold, batch
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.signatures import contents_of
from neardup.model.arrays import Signatures
from neardup.model.errors import ExtraMissing, StorageRefused
from neardup.pipeline.crawl.filter import page_texts

_OTHER_EXTRACTION: Final = (
    "The pages of this index were read with another text view, version or templates than those of the service."
    " Start it with the same ones, or send texts."
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
    text is that which the service extracts, without the lines of the templates that it has.
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
    gets the same verdicts; without a key, the pages are known the second time.
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
    fields: dict[str, list[Any]] = {**(columns_of(service, pages) or {})}
    rows = [row for row, page in enumerate(pages) if page.html is not None]
    if rows:
        for row in rows:
            if given.recipe is not None:
                rule = "but the request has a recipe; with a recipe, send signatures instead of html"
                raise Refusal(INVALID, f"Page {row} has HTML, {rule}.")
            if pages[row].text is not None:
                rule = "a page must have only one of text, html and signature"
                raise Refusal(INVALID, f"Page {row} has HTML and a text; {rule}.")
        urls, markup = [pages[row].url for row in rows], [str(pages[row].html) for row in rows]
        try:
            texts, found = page_texts(service.index, service.extraction, urls, markup)
        except StorageRefused as error:
            raise Refusal(INVALID, _OTHER_EXTRACTION) from error
        except ExtraMissing as error:
            raise Refusal(INVALID, f"The service cannot read HTML; send texts: {error}") from error
        for row, text in zip(rows, texts, strict=True):
            pages[row].text = text
        for name, values in found.items():
            column: list[Any] = fields.setdefault(name, [None] * len(pages))
            for row, value in zip(rows, values, strict=True):
                column[row] = value
    return [page.url for page in pages], contents_of(service, pages, given.recipe, "page"), fields or None


def admissions(service: Service, given: IdsBody) -> AdmissionsAnswer:
    """Return when documents were admitted, as increasing numbers, for crawlers that continue after an interruption."""
    found = [None if one is None else AdmissionAnswer(*one) for one in service.index.admissions(given.ids)]
    return AdmissionsAnswer(found, service.index.next_admission)
