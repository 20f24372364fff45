"""The pages for browsers: search, comparison, documents, and their static files."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.evaluation.comparison import explain
from neardup.interfaces.http.comparison import NO_TEXTS
from neardup.interfaces.http.links import COMPARE, DOCUMENT, START
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, Refusal
from neardup.interfaces.http.requests import GroupId, Id, Input, Page, Query, query_of
from neardup.interfaces.http.search import search_table
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.templates import PAGE_POLICY, TEMPLATES, render, static
from neardup.interfaces.http.views.comparison import MOST, comparison_view
from neardup.interfaces.http.views.documents import document_view
from neardup.interfaces.http.views.results import SIZE, Asked, Step, Way, members_view, results_view
from neardup.pipeline.strictness import steps_of

if TYPE_CHECKING:
    from neardup.model.seen import Document

FILES: Final = {"page.css": "text/css", "icon.svg": "image/svg+xml"}


class SearchPageQuery(Input):
    """A search as its page has it."""

    q: Query = ""
    page: Page = 1
    rule: Way = "near"
    strictness: Step = "default"
    repeats: Literal["hidden", "shown"] = "hidden"
    include: GroupId | None = None


class PairQuery(Input):
    """Two documents."""

    a: Id
    b: Id


class DocumentPageQuery(Input):
    """A document, and a page of those that it represents."""

    id: Id
    page: Page = 1


def search_page(service: Service, given: SearchPageQuery) -> bytes:
    """Render the results of a search; without a query, the start page."""
    if not given.q.strip():
        index = service.index
        return render("start", documents=len(index), searches=service.search is not None, keeps_texts=index.keeps_texts)
    shown = given.repeats == "shown"
    asked = Asked(
        query=given.q,
        page=given.page,
        rule=given.rule,
        strictness=given.strictness,
        repeats=shown,
        include=None if given.include is None else int(given.include),
    )
    thresholds = steps_of(service.index.scheme)
    own = given.strictness == "default" or given.rule != "near" or shown
    answer = search_table(service).answer(
        given.q,
        page=given.page,
        size=SIZE,
        collapse="off" if shown else given.rule,
        threshold=None if own else thresholds.get(given.strictness),
        include=asked.include,
        seconds=service.limits.query_seconds,
    )
    if given.include is not None:
        return render("members", view=members_view(asked, answer))
    return render("results", view=results_view(asked, answer, thresholds))


def compare_page(service: Service, given: PairQuery) -> bytes:
    """Render two documents side by side."""
    if not service.index.keeps_texts:
        raise Refusal(INVALID, NO_TEXTS)
    a, b = _documents(service, given.a, given.b)
    signatures = service.index.signatures([a.id, b.id])  # of everything that is signed, also beyond MOST characters
    found = explain(a.text or "", b.text or "", service.index.scheme, signatures=signatures, most=MOST)
    return render("comparison", view=comparison_view(a, b, found))


def document_page(service: Service, given: DocumentPageQuery) -> bytes:
    """Render a document."""
    (document,) = _documents(service, given.id)
    return render("document", view=document_view(document, service.index.group(given.id), given.page))


def routes(service: Service) -> list[Route]:
    """Return the routes of all pages and static files."""
    for name in TEMPLATES.list_templates():
        TEMPLATES.get_template(name)  # compiled once, before the first request
    pages = (
        (START, SearchPageQuery, search_page),
        (COMPARE, PairQuery, compare_page),
        (DOCUMENT, DocumentPageQuery, document_page),
    )
    return [
        *(Route(path, _page(service, kind, made), name="page") for path, kind, made in pages),
        *(Route(f"/static/{name}", _file(name, media), name="static") for name, media in FILES.items()),
    ]


def _page(service: Service, kind: type[Input], made: Callable[[Service, Any], bytes]) -> Callable[[Request], Any]:
    async def page(request: Request) -> Response:
        given = query_of(request, kind)
        query = given.q if isinstance(given, SearchPageQuery) else ""
        content = await service.answer_query(query, partial(made, service, given))
        return Response(content, headers={"content-security-policy": PAGE_POLICY}, media_type="text/html")

    return page


def _file(name: str, media: str) -> Callable[[Request], Any]:
    kept = {"cache-control": "private, max-age=604800, immutable", "content-security-policy": PAGE_POLICY}

    async def file(_: Request) -> Response:
        return Response(static(name), headers=kept, media_type=media)

    return file


def _documents(service: Service, *ids: str) -> "list[Document]":
    found = [document for document in service.index.get(ids) if document is not None]
    if len(found) < len(ids):
        raise Refusal(NO_DOCUMENT)
    return found
