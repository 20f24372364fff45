"""The service as an application of Starlette."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route

from neardup.interfaces.http import collapse, comparison, documents, health, pages, problems, search
from neardup.interfaces.http.access_log import AccessLog
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.metrics import MEDIA
from neardup.interfaces.http.middleware import DISCONNECTED, Guard, TokenBackend, challenge
from neardup.interfaces.http.operations import Operation, encode, openapi
from neardup.interfaces.http.problems import NO_DOCUMENT, NO_SEARCH, PREFIXES, QUERY_TIME, UNAVAILABLE, UNWRITABLE
from neardup.interfaces.http.requests import JSON
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.templates import PAGE_POLICY, fixed, mount, render
from neardup.interfaces.http.tokens import Tokens
from neardup.model.errors import NeardupError

_READING: Final = (UNAVAILABLE, UNWRITABLE)
OPERATIONS: Final = (
    Operation("POST", "/v1/collapse", collapse.collapse, short=8 << 10, compares_texts=True),  # some hundred ids
    Operation("GET", "/v1/search", search.search, searches=True, problems=(NO_SEARCH, QUERY_TIME, PREFIXES)),
    Operation("POST", "/v1/seen", documents.seen, scope="write", keyed=True),
    Operation("POST", "/v1/seen/judge", documents.judge_pages),
    Operation("POST", "/v1/admissions", documents.admissions),
    Operation("POST", "/v1/judge", documents.judge),
    Operation("POST", "/v1/admit", documents.admit, scope="write"),
    Operation("GET", "/v1/documents/{id}", documents.document),
    Operation("DELETE", "/v1/documents/{id}", documents.remove, scope="write"),
    Operation("GET", "/v1/groups/{id}", documents.group, long=True),
    Operation("GET", "/v1/index", health.index, long=True),
    Operation("GET", "/v1/rules", health.rules, long=True),
    Operation("POST", "/v1/remove", documents.remove_each, scope="write"),
    Operation("POST", "/v1/expire", documents.expire, scope="write"),
    Operation("POST", "/v1/compare", comparison.compare, short=4 << 10, compares_texts=True, problems=(NO_DOCUMENT,)),
    Operation("POST", "/v1/explain", comparison.explain, short=4 << 10, compares_texts=True, problems=(NO_DOCUMENT,)),
    Operation("GET", "/healthz", health.healthz, scope=None, probe=True),
    Operation("GET", "/readyz", health.readyz, scope=None, probe=True, problems=_READING),
    Operation("GET", "/metrics", health.metrics, probe=True, media=MEDIA),
)
_FREE: Final = frozenset(one.path for one in OPERATIONS if one.scope is None)
_PROBES: Final = frozenset(one.path for one in OPERATIONS if one.probe)


class IdConvertor(PathConvertor):
    """The rest of a path as an id, which may have any characters, slashes and line ends too."""

    regex = r"[\s\S]+"


register_url_convertor("id", IdConvertor())


def create_app(  # noqa: PLR0913 - every one a keyword with a default
    service: Service,
    *,
    tokens: Tokens | None = None,
    hosts: Hosts | None = None,
    log: AccessLog | None = None,
    counts: bool = True,
    prefix: str = "",
    started: Callable[[], None] = lambda: None,
) -> Guard:
    """Create the application that serves an index; *started* is called when it is ready.

    Without *tokens*, every client may do everything. Requests are written to the *log*, which is closed in the end.
    Without *counts*, they are not counted in the metrics, because another process does.
    All paths may begin with *prefix*, and those of links do.
    """
    mount(prefix)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        started()
        try:
            yield
        finally:
            await service.stop()
            if log is not None:
                log.close()

    app = Starlette(
        routes=[
            *(one.route(service) for one in OPERATIONS),
            *_description(prefix, secured=tokens is not None),
            *pages.routes(service),
        ],
        middleware=[Middleware(AuthenticationMiddleware, backend=TokenBackend(tokens, _FREE), on_error=challenge)],
        exception_handlers=dict.fromkeys((HTTPException, NeardupError, ClientDisconnect, Exception), _handle),
        lifespan=lifespan,
    )
    app.state.service = service
    app.router.redirect_slashes = False
    return Guard(app, service, hosts or Hosts("127.0.0.1"), log, probes=_PROBES, counts=counts, prefix=prefix)


async def _handle(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=DISCONNECTED)  # which no client receives
    response = problems.response_to(request, error)
    if "allow" in response.headers:  # Starlette lists the methods of the first route with this path only
        matching = (one for one in request.app.routes if one.matches(request.scope)[0] is not Match.NONE)
        response.headers["allow"] = ", ".join(sorted({method for one in matching for method in one.methods}))
    return response


def _description(prefix: str, *, secured: bool) -> list[Route]:
    described = openapi(OPERATIONS, secured=secured) | ({"servers": [{"url": prefix}]} if prefix else {})
    page = render("docs", paths=described["paths"], schemas=described["components"]["schemas"], kinds=problems.KINDS)
    policy = {"content-security-policy": PAGE_POLICY}
    return [
        Route("/openapi.json", fixed(encode(described), JSON, {}), name="openapi_json"),
        Route("/docs", fixed(page, "text/html", policy), name="docs"),
    ]
