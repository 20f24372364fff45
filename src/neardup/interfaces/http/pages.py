"""The pages for browsers: search, comparison, documents, and their static files."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.evaluation.comparison import explain
from neardup.interfaces.http import views
from neardup.interfaces.http.comparison import NO_TEXTS
from neardup.interfaces.http.links import COMPARE, DOCUMENT, OPENSEARCH, START, link
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, Refusal
from neardup.interfaces.http.requests import Id, Input, PageNumber, converted, query_of
from neardup.interfaces.http.search import search_table
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.templates import PAGE_POLICY, TEMPLATES, fixed, render, static
from neardup.model.errors import QueryTimeout
from neardup.model.seen import Document
from neardup.pipeline.query.rules import steps_of

_PARAMETERS: Final = 16
FILES: Final = {"page.css": "text/css", "icon.svg": "image/svg+xml"}
_KEPT: Final = {"cache-control": "private, max-age=604800, immutable", "content-security-policy": PAGE_POLICY}


class PairQuery(Input):
    """Two documents, what is shown of them, and the parameters of the search to link back to."""

    a: Id
    b: Id
    shown: views.Shown = "auto"
    back: str = ""


class DocumentPageQuery(Input):
    """A document, a page of those that it represents, and the parameters of the search to link back to."""

    id: Id
    page: PageNumber = 1
    back: str = ""


def search_page(service: Service, given: views.PageQuery) -> bytes:
    """Render the results of a search; without a query, the start page."""
    if not given.q.strip():
        index = service.index
        return render("start", documents=len(index), searches=service.search is not None, keeps_texts=index.keeps_texts)
    thresholds = steps_of(service.index.scheme)
    own = given.strictness == "default" or given.rule != "near" or not given.collapses
    search = search_table(service)
    answer = search.answer(
        given.q,
        page=given.page,
        size=views.SIZE,
        collapse=given.rule if given.collapses else "off",
        threshold=None if own else thresholds.get(given.strictness),
        representative=given.representative,
        include=given.include,
        sort=given.sort,
        site=given.site,
        seconds=service.limits.query_seconds,
    )
    if given.include is not None:
        return render("members", view=views.members_view(given, answer))
    shorter: list[tuple[str, str, int]] = []
    if not answer.total:
        with suppress(QueryTimeout):
            shorter = search.shorter(given.q, service.limits.query_seconds, site=given.site)
    return render("results", view=views.results_view(given, answer, thresholds, shorter))


def _searched(back: str) -> views.PageQuery | None:
    """Return the search with these parameters, if it is one."""
    try:
        asked: views.PageQuery = converted(views.PageQuery, dict(parse_qsl(back, max_num_fields=_PARAMETERS)))
    except (Refusal, ValueError):
        return None
    return asked if asked.q.strip() else None


def compare_page(service: Service, given: PairQuery) -> bytes:
    """Render two documents side by side."""
    if not service.index.keeps_texts:
        raise Refusal(INVALID, NO_TEXTS)
    a, b = _documents(service, given.a, given.b)
    signatures = service.index.signatures([a.id, b.id])  # of all that is signed, also beyond ``MOST``
    found = explain(a.text or "", b.text or "", service.index.scheme, signatures=signatures, most=views.MOST)
    return render("comparison", view=views.comparison_view(a, b, found, given.shown, _searched(given.back)))


def document_page(service: Service, given: DocumentPageQuery) -> bytes:
    """Render a document."""
    (document,) = _documents(service, given.id)
    index = service.index
    group = index.group_page(given.id, 1 + (given.page - 1) * views.MEMBERS, views.MEMBERS)
    if group is None or document.representative != given.id:
        number, ids = 0, list[str]()
    else:
        number, ids = group.total - 1, group.members
    pairs = zip(index.get(ids), index.estimates_of(given.id, ids), strict=True)
    members = [(one, estimate) for one, estimate in pairs if one is not None]
    asked = _searched(given.back)
    view = views.document_view(document, number, members, given.page, measure=index.scheme.measure, asked=asked)
    return render("document", view=view)


def routes(service: Service) -> list[Route]:
    """Return the routes of all pages and static files."""
    for name in TEMPLATES.list_templates():
        TEMPLATES.get_template(name)  # compiled once, before the first request
    pages = (
        (START, views.PageQuery, search_page),
        (COMPARE, PairQuery, compare_page),
        (DOCUMENT, DocumentPageQuery, document_page),
    )
    return [
        *(Route(path, _page(service, kind, made), name="page") for path, kind, made in pages),
        Route(OPENSEARCH, _opensearch, name="static"),
        *(Route(f"/static/{name}", fixed(static(name), media, _KEPT), name="static") for name, media in FILES.items()),
    ]


def _page(service: Service, kind: type[Input], made: Callable[[Service, Any], bytes]) -> Callable[[Request], Any]:
    async def page(request: Request) -> Response:
        given = query_of(request, kind)
        query = given.q if isinstance(given, views.PageQuery) else ""
        content = await service.work.answer_query(query, partial(made, service, given))
        return Response(content, headers={"content-security-policy": PAGE_POLICY}, media_type="text/html")

    return page


async def _opensearch(request: Request) -> Response:
    """Describe the search to browsers, which then offer it in their address bar."""
    content = render("opensearch", start=f"{str(request.base_url).rstrip('/')}{link(START)}")
    return Response(content, media_type="application/opensearchdescription+xml")


def _documents(service: Service, *ids: str) -> list[Document]:
    found = [document for document in service.index.get(ids) if document is not None]
    if len(found) < len(ids):
        raise Refusal(NO_DOCUMENT)
    return found
