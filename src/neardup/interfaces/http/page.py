"""The search page: a search, two documents compared, one document, and errors, for people with a browser."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import msgspec

from neardup.interfaces.http.bodies import Body, GroupId, Id, Page, query_of
from neardup.interfaces.http.gate import PAGE_POLICY
from neardup.interfaces.http.links import COMPARE, DOCUMENT, START
from neardup.interfaces.http.problems import INVALID, NO_DOCUMENT, Problem, Refused, refusal_of
from neardup.interfaces.http.rendering import prepare, render, static
from neardup.interfaces.http.searching import MOST_QUERY, search_table
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.views.comparison import MOST, comparison_view
from neardup.interfaces.http.views.documents import document_view
from neardup.interfaces.http.views.problems import problem_view
from neardup.interfaces.http.views.results import SIZE, Asked, Step, Way, members_view, results_view
from neardup.interfaces.http.views.start import start_view
from neardup.pipeline.strictness import steps_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from neardup.model.seen import Document

HTML: Final = "text/html; charset=utf-8"
STATIC: Final[Mapping[str, str]] = {"page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}

_KEEP: Final = "private, max-age=604800, immutable"  # its address names its content


class SearchQuery(Body):
    """What a search is asked."""

    q: Annotated[str, msgspec.Meta(max_length=MOST_QUERY)] = ""
    page: Page = 1
    rule: Way = "near"
    strictness: Step = "usual"
    repeats: Literal["hidden", "shown"] = "hidden"
    include: GroupId | None = None


class CompareQuery(Body):
    """Which two documents are compared."""

    a: Id
    b: Id


class StoredQuery(Body):
    """Which document is shown."""

    id: Id
    page: Page = 1


class StaticQuery(Body):
    """Which version of a file: any is the one that there is."""

    v: str = ""


def add_pages(app: "FastAPI", serving: Serving) -> Callable[[Problem], bytes]:
    """Add the pages to an application; give what makes a page of a problem."""
    prepare()
    applications = {path: _Answering(serving, kind, make, HTML) for path, (kind, make) in _PAGES.items()}
    for name, media in STATIC.items():
        applications[f"/static/{name}"] = _Answering(serving, StaticQuery, _file(name), media)
    for path, application in applications.items():
        app.router.add_route(path, cast("Any", application))  # as good as a function of a request
    return problem_page


def problem_page(problem: Problem) -> bytes:
    """Make a page of a problem."""
    return render("problem", view=problem_view(problem))


def search_page(serving: Serving, given: SearchQuery) -> bytes:
    """Make the page of a search, the start where nothing is asked for."""
    if not given.q.strip():
        number, searches = len(serving.index), serving.search is not None
        return render("start", view=start_view(number, searches=searches, keeps_texts=serving.index.keeps_texts))
    table = search_table(serving)
    shown = given.repeats == "shown"
    asked = Asked(
        query=given.q,
        page=given.page,
        rule=given.rule,
        strictness=given.strictness,
        repeats=shown,
        include=None if given.include is None else int(given.include),
    )
    thresholds = steps_of(serving.index.scheme)
    own = given.strictness == "usual" or given.rule != "near" or shown
    answer = table.answer(
        given.q,
        page=given.page,
        size=SIZE,
        collapse="off" if shown else given.rule,
        threshold=None if own else thresholds.get(given.strictness),
        include=asked.include,
        seconds=serving.limits.query_seconds,
    )
    if given.include is not None:
        return render("members", view=members_view(asked, answer))
    return render("results", view=results_view(asked, answer, thresholds))


def compare_page(serving: Serving, given: CompareQuery) -> bytes:
    """Make the page of two documents side by side."""
    from neardup.evaluation.comparison import explain

    if not serving.index.keeps_texts:
        raise Refused(INVALID, "This index keeps no texts, so there is nothing to compare.")
    a, b = _documents(serving, given.a, given.b)
    signatures = serving.index.signatures([a.id, b.id])  # of the whole, and of all that is signed
    found = explain(a.text or "", b.text or "", serving.index.scheme, signatures=signatures, most=MOST)
    return render("comparison", view=comparison_view(a, b, found))


def stored_page(serving: Serving, given: StoredQuery) -> bytes:
    """Make the page of one document."""
    (document,) = _documents(serving, given.id)
    return render("document", view=document_view(document, serving.index.group(given.id), given.page))


def _documents(serving: Serving, *ids: str) -> "list[Document]":
    found = [document for document in serving.index.get(ids) if document is not None]
    if len(found) < len(ids):
        raise Refused(NO_DOCUMENT)
    return found


def _file(name: str) -> Callable[[Serving, StaticQuery], bytes]:
    return lambda _, __: static(name)


_PAGES: Final[Mapping[str, tuple[type[Body], Callable[[Serving, Any], bytes]]]] = {
    START: (SearchQuery, search_page),
    COMPARE: (CompareQuery, compare_page),
    DOCUMENT: (StoredQuery, stored_page),
}


class _Answering:
    """One page as an ASGI application of its own; what it cannot serve, it answers with a page, too."""

    def __init__(self, serving: Serving, kind: type[Body], make: Callable[[Serving, Any], bytes], media: str) -> None:
        self._serving, self._kind, self._make, self._media = serving, kind, make, media

    async def __call__(
        self, scope: dict[str, Any], _: object, send: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> None:
        """Answer one request."""
        status, media, keep = 200, self._media, _KEEP if self._media != HTML else None
        headers: list[tuple[bytes, bytes]] = []
        try:
            given = query_of(self._kind, scope.get("query_string", b""), {})
            body = await self._serving.run(lambda given: self._make(self._serving, given), given, long=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, a reader gets a page
            refused = refusal_of(error)
            status, media, keep, headers = refused.kind.status, HTML, None, list(refused.headers)
            if status >= 500:  # noqa: PLR2004 - the service's own
                self._serving.report(f"page {scope['path']}: {type(error).__name__}: {error}")
            body = problem_page(refused.problem)
        headers += [
            (b"content-type", media.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"content-security-policy", PAGE_POLICY),
        ]
        if keep is not None:
            headers.append((b"cache-control", keep.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
