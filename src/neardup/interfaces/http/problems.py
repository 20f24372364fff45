"""What is answered to a request that cannot be served: problem details, as RFC 9457 has them.

``KINDS`` is the one table of them; the documentation and the tests are made from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from neardup.interfaces.http.limits import BATCH, DEPTH, PAGE, Limits
from neardup.model.errors import DataError, ParameterError, QueryTimeout, RecipeMismatch, StorageError

MEDIA: Final = "application/problem+json"
_SHOWN: Final = 400  # characters of a detail

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its name, which the type ends in, its status, and when it is answered."""

    name: str
    status: int
    title: str
    when: str

    @property
    def type(self) -> str:
        """The type, a relative reference to what explains it."""
        return f"/docs#{self.name}"


class Problem(msgspec.Struct, frozen=True):
    """Why a request was not served: ``type`` tells the kind, ``detail`` what is wrong with this one."""

    type: str
    title: str
    status: int
    detail: str


class Refused(Exception):  # noqa: N818 - what becomes of a request
    """A request that is answered with a problem."""

    def __init__(self, kind: Kind, detail: str = "", headers: Headers = ()) -> None:
        super().__init__(kind, detail, headers)
        self.kind, self.detail, self.headers = kind, detail, headers

    @property
    def problem(self) -> Problem:
        """What is answered."""
        kind = self.kind
        detail = (self.detail or kind.when)[:_SHOWN]
        return Problem(kind.type, kind.title, kind.status, detail)


_LIMITS: Final = Limits()


def _kib(number: int) -> str:
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB"


MALFORMED: Final = Kind("malformed", 400, "Malformed request", "The body is no JSON, or the address is no UTF-8.")
TOO_DEEP: Final = Kind(
    "too-deep", 400, "JSON nested too deeply", f"Arrays and objects are nested more than {DEPTH} deep."
)
UNAUTHORIZED: Final = Kind("unauthorized", 401, "Token wanted", "There is no token, or none that is known.")
FORBIDDEN: Final = Kind("forbidden", 403, "Token does not suffice", "The token reads, but this would change something.")
NO_ROUTE: Final = Kind("no-route", 404, "Nothing there", "No such address is served.")
NO_DOCUMENT: Final = Kind("no-document", 404, "No such document", "The index has no document of this id.")
METHOD: Final = Kind("method", 405, "Method not allowed", "The address is served by other methods; Allow tells which.")
TOO_SLOW: Final = Kind(
    "too-slow",
    408,
    "Request too slow",
    f"The head did not come in {_LIMITS.head_seconds:g} seconds, or the body in {_LIMITS.body_seconds:g}.",
)
READ_ONLY: Final = Kind(
    "read-only", 409, "Read-only", "This process does not write: another one does, or it is told to."
)
NO_SEARCH: Final = Kind(
    "no-search", 409, "No search table", "The index has no search table; neardup reindex makes one."
)
TOO_LARGE: Final = Kind("too-large", 413, "Body too large", f"The body has more than {_kib(_LIMITS.body)}.")
URL_TOO_LONG: Final = Kind("url-too-long", 414, "Address too long", f"The address has more than {_kib(_LIMITS.url)}.")
NOT_JSON: Final = Kind(
    "not-json", 415, "JSON wanted", "The body's Content-Type is not application/json, or it is compressed."
)
HOST: Final = Kind("host", 421, "Unknown host", "The Host is none that is served here.")
INVALID: Final = Kind(
    "invalid",
    422,
    "Invalid request",
    f"A value is not as it must be: a batch of more than {BATCH:,}, a page of more than {PAGE}, an unknown name.",
)
QUERY_TIME: Final = Kind(
    "query-time", 422, "Query takes too long", f"The search took more than {_LIMITS.query_seconds:g} seconds."
)
OVERLOADED: Final = Kind(
    "overloaded", 429, "Too much at a time", "Too many requests are at work; Retry-After says when."
)
HEAD_TOO_LARGE: Final = Kind("head-too-large", 431, "Head too large", f"The head has more than {_kib(_LIMITS.head)}.")
BROKEN: Final = Kind("broken", 500, "Error of the service", "The service has an error, which its log tells of.")
UNAVAILABLE: Final = Kind(
    "unavailable", 503, "Index unavailable", "The index cannot be read now; the log has the reason."
)
UNWRITABLE: Final = Kind(
    "unwritable",
    503,
    "Index not writable",
    "The index cannot be written now, as when the disk is full; the log has the reason. Reads go on, and so do writes"
    " when it can.",
)

KINDS: Final = (
    MALFORMED,
    TOO_DEEP,
    UNAUTHORIZED,
    FORBIDDEN,
    NO_ROUTE,
    NO_DOCUMENT,
    METHOD,
    TOO_SLOW,
    READ_ONLY,
    NO_SEARCH,
    TOO_LARGE,
    URL_TOO_LONG,
    NOT_JSON,
    HOST,
    INVALID,
    QUERY_TIME,
    OVERLOADED,
    HEAD_TOO_LARGE,
    BROKEN,
    UNAVAILABLE,
    UNWRITABLE,
)


def refusal_of(error: Exception) -> Refused:
    """Say how an error of the library is answered; nothing of the server's own files is told."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ParameterError):
        return Refused(INVALID, f"{error.name} {error.rule}")
    if isinstance(error, DataError | RecipeMismatch):
        return Refused(INVALID, str(error))
    if isinstance(error, QueryTimeout):
        return Refused(QUERY_TIME)
    if isinstance(error, StorageError):
        return Refused(UNAVAILABLE)
    return Refused(BROKEN)
