"""Errors as problem details (RFC 9457): the only place where an error becomes an answer.

``KINDS`` is the table of all problems; the documentation and the OpenAPI description are made from it.
"""

from collections.abc import Mapping
from itertools import count
from typing import Final, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response

from neardup.interfaces.http.limits import BATCH, PAGE, Limits
from neardup.interfaces.http.links import Mount
from neardup.interfaces.http.templates import PAGE_POLICY, render
from neardup.model.errors import DataError, NeardupError, ParameterError, QueryTimeout, RecipeMismatch, StorageError

MEDIA: Final = "application/problem+json"
_SHOWN: Final = 400  # characters of a detail
_SERVER_ERROR: Final = 500
_LIMITS: Final = Limits()


class ProblemKind(NamedTuple):
    """A kind of problem: its name, its HTTP status, its title, and when it is the answer."""

    name: str
    status: int
    title: str
    when: str

    @property
    def type(self) -> str:
        """The ``type`` of the problem: a relative reference to its documentation."""
        return f"{Mount.prefix}/docs#{self.name}"


class Problem(msgspec.Struct, frozen=True):
    """Why a request failed: *type* identifies the kind of problem, *detail* explains this one."""

    type: str
    title: str
    status: int
    detail: str


class Refusal(NeardupError):  # noqa: N818 - an answer, not a fault
    """A request that is answered with a problem."""

    def __init__(self, kind: ProblemKind, detail: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(kind, detail, headers)
        self.kind, self.detail, self.headers = kind, detail or kind.when, headers or {}

    @property
    def problem(self) -> Problem:
        """The problem of the answer."""
        return Problem(self.kind.type, self.kind.title, self.kind.status, self.detail[:_SHOWN])


MALFORMED: Final = ProblemKind(
    "malformed", 400, "Malformed request", "The body is not valid JSON, or the URL is not UTF-8."
)
UNAUTHORIZED: Final = ProblemKind("unauthorized", 401, "Token required", "The token is missing or unknown.")
FORBIDDEN: Final = ProblemKind("forbidden", 403, "Token is read-only", "This token is read-only.")
NO_ROUTE: Final = ProblemKind("no-route", 404, "Unknown address", "Nothing is served at this address.")
NO_DOCUMENT: Final = ProblemKind("no-document", 404, "Unknown document", "The index has no document with this id.")
METHOD: Final = ProblemKind("method", 405, "Method not allowed", "The Allow header lists the methods of this address.")
TOO_SLOW: Final = ProblemKind(
    "too-slow", 408, "Body too slow", f"The body did not arrive within {_LIMITS.body_seconds:g} seconds."
)
READ_ONLY: Final = ProblemKind("read-only", 409, "Read-only", "This process only reads the index.")
NO_SEARCH: Final = ProblemKind("no-search", 409, "No search table", "Run neardup reindex to build a search table.")
TOO_LARGE: Final = ProblemKind("too-large", 413, "Body too large", f"The body is larger than {_LIMITS.body >> 20} MiB.")
URL_TOO_LONG: Final = ProblemKind(
    "url-too-long", 414, "URL too long", f"The URL is longer than {_LIMITS.url >> 10} KiB."
)
NOT_JSON: Final = ProblemKind(
    "not-json",
    415,
    "JSON required",
    "The Content-Type is not application/json, its charset is not UTF-8, or the body is compressed.",
)
HOST: Final = ProblemKind("host", 421, "Unknown host", "Unknown Host header.")
INVALID: Final = ProblemKind(
    "invalid",
    422,
    "Invalid request",
    f"A value is invalid, for example a batch of more than {BATCH:,}, a page size above {PAGE}, or an unknown name.",
)
QUERY_TIME: Final = ProblemKind(
    "query-time", 422, "Query too slow", f"The search took longer than {_LIMITS.query_seconds:g} seconds."
)
OVERLOADED: Final = ProblemKind(
    "overloaded", 429, "Too many requests", "Too many requests are in progress; try again after Retry-After seconds."
)
PREFIXES: Final = ProblemKind(
    "prefix-queries",
    429,
    "Too many prefix queries",
    "Queries with word* run one at a time, and others are waiting; try again after Retry-After seconds, or write whole"
    " words.",
)
BROKEN: Final = ProblemKind("broken", 500, "Internal error", "The service failed; its log has the reason.")
UNAVAILABLE: Final = ProblemKind(
    "unavailable", 503, "Index unavailable", "The index cannot be read at the moment; the log has the reason."
)
UNWRITABLE: Final = ProblemKind(
    "unwritable",
    503,
    "Index not writable",
    "The index cannot be written at the moment, for example because the disk is full; the log has the reason. Reads"
    " continue, and writes resume when they can.",
)

KINDS: Final = tuple(kind for kind in [*vars().values()] if isinstance(kind, ProblemKind))  # in the order above
_BY_STATUS: Final = {kind.status: kind for kind in (FORBIDDEN, NO_ROUTE, METHOD)}
_NUMBERS: Final = count(1)


def refusal_of(error: Exception) -> Refusal:
    """Return the refusal for an error; it never names a file of the server.

    Errors of the library that are the client's are reported with their text, all others by their kind only.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        return Refusal(_BY_STATUS.get(error.status_code, INVALID), headers=error.headers)
    if isinstance(error, ParameterError):
        return Refusal(INVALID, f"{error.name} {error.rule}")
    if isinstance(error, DataError | RecipeMismatch):
        return Refusal(INVALID, str(error))
    if isinstance(error, QueryTimeout):
        return Refusal(QUERY_TIME)
    return Refusal(UNAVAILABLE if isinstance(error, StorageError) else BROKEN)


def response_to(request: HTTPConnection, error: Exception) -> Response:
    """Return the problem of an error as a response: a page for browsers, else JSON.

    Errors of the service (5xx) are reported to its log, with a number that the answer repeats.
    """
    refusal = refusal_of(error)
    problem = refusal.problem
    reason = error if refusal is not error else error.__cause__
    if problem.status >= _SERVER_ERROR and reason is not None:
        route = getattr(request.scope.get("route"), "path", "-")
        number, place = next(_NUMBERS), f"{request.scope['method']} {route}"
        request.app.state.service.report(f"error {number}: {place}: {type(reason).__name__}: {reason}")
        problem = msgspec.structs.replace(problem, detail=f"{problem.detail} This is error {number} of the log.")
    if "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/v1/"):
        headers = {**refusal.headers, "content-security-policy": PAGE_POLICY}
        return Response(render("problem", problem=problem), problem.status, headers, "text/html")
    return Response(msgspec.json.encode(problem), problem.status, refusal.headers, MEDIA)
