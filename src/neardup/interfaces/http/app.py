"""The service as an application: an index, its operations and pages, behind one gate."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from neardup.interfaces.http import collapsing, comparing, documents, health, problems, searching
from neardup.interfaces.http.bodies import encode
from neardup.interfaces.http.description import description, docs_page
from neardup.interfaces.http.gate import PAGE_POLICY, Gate
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.operations import ANY, Operation, Routes
from neardup.interfaces.http.problems import Problem, Refused, refusal_of
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.tokens import Tokens

Show = Callable[[Problem], bytes]
Pages = Callable[[FastAPI, Serving], Show | None]

DESCRIPTION: Final = "/openapi.json"
DOCS: Final = "/docs"
HTML: Final = "text/html; charset=utf-8"

_BY_STATUS: Final = {kind.status: kind for kind in (problems.NO_ROUTE, problems.METHOD, problems.INVALID)}


def service(
    serving: Serving, *, tokens: Tokens | None = None, hosts: Hosts | None = None, pages: Pages | None = None
) -> Gate:
    """Make the application that serves an index.

    Without *tokens* everybody may do everything. *pages* adds routes to the application behind the gate, where only
    GET comes through, and may give what makes a page of a problem.
    """
    app = FastAPI(title="neardup", docs_url=None, redoc_url=None, openapi_url=None, lifespan=_living(serving))
    show = pages(app, serving) if pages is not None else None
    for error in (HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, _answer_with(show))
    return Gate(serving, Routes(operations()), app, tokens=tokens, hosts=hosts, show=show)


def operations() -> tuple[Operation, ...]:
    """List everything that can be asked for; the pages come beside it."""
    made: dict[str, bytes] = {}
    everything = (
        *collapsing.OPERATIONS,
        *searching.OPERATIONS,
        *documents.OPERATIONS,
        *comparing.OPERATIONS,
        *health.OPERATIONS,
        Operation(
            name="description",
            method="GET",
            path=DESCRIPTION,
            summary="Describe the operations, as OpenAPI has it",
            run=lambda _, __: made[DESCRIPTION],
            short=ANY,
        ),
        Operation(
            name="docs",
            method="GET",
            path=DOCS,
            summary="Describe the operations, for people",
            run=lambda _, __: made[DOCS],
            media=HTML,
            short=ANY,
        ),
    )
    described = description(everything)
    made |= {DESCRIPTION: encode(described), DOCS: docs_page(described)}
    return everything


def _living(serving: Serving) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        await serving.start()
        try:
            yield
        finally:
            await serving.stop()

    return living


def _answer_with(show: Show | None) -> Callable[[Request, Exception], Any]:
    """Answer errors of the pages as the gate answers its own."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            refused = Refused(_BY_STATUS.get(error.status_code, problems.INVALID))
        elif isinstance(error, RequestValidationError):
            refused = Refused(problems.INVALID)
        else:
            refused = refusal_of(error)
        problem = refused.problem
        if show is not None and "text/html" in request.headers.get("accept", ""):
            policy = {"content-security-policy": PAGE_POLICY.decode()}
            return Response(show(problem), problem.status, policy, media_type=HTML)
        return Response(encode(problem), problem.status, media_type=problems.MEDIA)

    return answer
