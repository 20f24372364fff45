"""Bodies and queries of requests as structs: closed, validated, and read within the limits."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from msgspec import Meta
from starlette.datastructures import Headers
from starlette.requests import Request

from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import BATCH, PAGE
from neardup.interfaces.http.links import Mount
from neardup.interfaces.http.problems import Refusal
from neardup.interfaces.http.service import Service
from neardup.model.hits import GROUP_PATTERN
from neardup.sources.records import fault_of

JSON: Final = "application/json"
_PARAMETERS: Final = 32
_SHOWN: Final = 40  # characters of a name in a detail
_RULES: Final = "/docs lists the fields of each body and their rules."  # after the prefix of the service
PARAMETERS_LISTED: Final = "/docs lists the parameters of each address and their rules."


class Input(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A body or a query; an unknown name is an error."""


def batch(kind: Any, least: int = 1) -> Any:
    """Return the type of a list of *least* to ``BATCH`` values."""
    return Annotated[list[kind], Meta(min_length=least, max_length=BATCH)]


Id = Annotated[str, Meta(min_length=1, max_length=1024, description="a string of 1 to 1,024 bytes of UTF-8")]
Query = Annotated[str, Meta(max_length=1024)]
Site = Annotated[str, Meta(min_length=1, max_length=255)]
Size = Annotated[int, Meta(ge=1, le=PAGE)]
Page = Annotated[int, Meta(ge=1, le=1_000_000)]
Number = Annotated[int, Meta(ge=1, le=BATCH)]
Threshold = Annotated[float, Meta(gt=0, le=1)]
GroupId = Annotated[str, Meta(pattern=GROUP_PATTERN)]


class Nothing(Input):
    """A query without parameters."""


# Bodies.

_decoder: Final = cache(msgspec.json.Decoder)


@asynccontextmanager
async def received(request: Request, service: Service) -> AsyncIterator[bytearray]:
    """Receive the JSON body of a request, whose memory counts until the context ends."""
    require_json(request.headers)
    limits = service.limits
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limits.body:
        raise Refusal(problems.TOO_LARGE)
    body = bytearray()
    try:
        try:
            async with asyncio.timeout(limits.body_seconds):
                async for part in request.stream():
                    service.work.release(len(body))
                    body += part
                    service.work.hold(len(body))
        except TimeoutError:
            raise Refusal(problems.TOO_SLOW, headers={"connection": "close"}) from None
        yield body
    finally:
        service.work.release(len(body))


def require_json(headers: Headers) -> None:
    """Raise a refusal unless the headers of a request announce JSON in UTF-8, which is not compressed."""
    media, _, parameters = ", ".join(headers.getlist("content-type")).partition(";")
    charset = re.search(r"charset\s*=\s*\"?([^\";,\s]*)", parameters, re.IGNORECASE)
    is_utf8 = charset is None or charset[1].lower() in {"utf-8", "utf8"}
    is_plain = headers.get("content-encoding", "identity").lower() == "identity"
    if not (media.strip().lower() == JSON and is_utf8 and is_plain):
        raise Refusal(problems.NOT_JSON)


def decoded(kind: Any, body: bytes | bytearray) -> Any:
    """Decode a body as a struct, which also limits how deep it may be nested."""
    try:
        return _decoder(kind).decode(body)
    except msgspec.ValidationError as error:
        raise Refusal(problems.INVALID, f"{error}. {Mount.prefix}{_RULES}") from None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        detail = f"The body {fault_of(body, error)}." if body else "The request has no body."
        raise Refusal(problems.MALFORMED, detail) from None


# Queries.


def query_of(request: Request, kind: Any, listed: str = "") -> Any:
    """Convert the parameters of a URL, in its path and its query, to a struct; *listed* names the page with all."""
    try:
        unquote_to_bytes(request.scope["raw_path"]).decode()  # which the server decodes with replacement characters
        query = request.scope["query_string"].decode("ascii")
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_PARAMETERS)
    except UnicodeError:
        raise Refusal(problems.MALFORMED, "The URL is not percent-encoded UTF-8.") from None
    except ValueError:
        raise Refusal(problems.INVALID, f"The query has more than {_PARAMETERS} parameters.") from None
    given = dict(request.path_params)
    for name, value in pairs:
        if name in given:
            raise Refusal(problems.INVALID, f"{name[:_SHOWN]!r} occurs twice.")
        given[name] = value
    return converted(kind, given, listed)


def converted(kind: Any, given: Mapping[str, str], listed: str = "") -> Any:
    """Convert strings to a struct; raise a refusal for an unknown name and for an invalid or missing value.

    Programs get the rule, and the page where all are *listed*; without it, people get the name.
    """
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        name = str(error).split("`")[-2:][0].removeprefix("$.")
        plain = f"The parameter {name[:_SHOWN]!r} of this address is unknown, missing or invalid."
        raise Refusal(problems.INVALID, f"{error}. {Mount.prefix}{listed}" if listed else plain) from None
