"""Bodies and queries of requests as structs: closed, validated, and read within the limits."""

import asyncio
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from starlette.requests import Request

from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import BATCH, PAGE
from neardup.interfaces.http.problems import Refusal
from neardup.interfaces.http.service import Service

JSON: Final = "application/json"
_PARAMETERS: Final = 32
_TRUNCATED: Final = "Input data was truncated"  # in the words of msgspec
_ENDED: Final = "The JSON ends inside a value, or a string ends with half a surrogate pair, such as \\ud83d."
_RULES: Final = "/docs lists the fields of each body and their rules."


class Input(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A body or a query; an unknown name is an error."""


def whole(least: int, most: int) -> msgspec.Meta:
    """Limit an integer; the description states the rule."""
    return msgspec.Meta(ge=least, le=most, description=f"a whole number from {least:,} to {most:,}")


def characters(least: int, most: int) -> msgspec.Meta:
    """Limit a string; the description states the rule."""
    return msgspec.Meta(min_length=least, max_length=most, description=f"{least:,} to {most:,} characters")


def batch(kind: Any, least: int = 1) -> Any:
    """Return the type of a list of *least* to ``BATCH`` values."""
    return Annotated[list[kind], msgspec.Meta(min_length=least, max_length=BATCH)]


Id = Annotated[str, characters(1, 1024)]
Query = Annotated[str, characters(0, 1024)]
Site = Annotated[str, characters(1, 255)]
Size = Annotated[int, whole(1, PAGE)]
Page = Annotated[int, whole(1, 1_000_000)]
Number = Annotated[int, whole(1, BATCH)]
Threshold = Annotated[float, msgspec.Meta(gt=0, le=1, description="a number above 0 and at most 1")]
GroupId = Annotated[  # a string, because many programs cannot read such integers
    str, msgspec.Meta(pattern="^[0-9]{1,19}$", description="the digits of a group id")
]


class Nothing(Input):
    """A query without parameters."""


# Bodies.


async def received(request: Request, service: Service) -> bytearray:
    """Receive the JSON body of a request, whose memory the caller releases (``service.release``)."""
    media = [value.partition(";")[0].strip().lower() for value in request.headers.getlist("content-type")]
    if media != [JSON] or request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(problems.NOT_JSON)
    limits = service.limits
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limits.body:
        raise Refusal(problems.TOO_LARGE)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for part in request.stream():
                service.release(len(body))
                body += part
                service.hold(len(body))
    except BaseException as error:
        service.release(len(body))
        if isinstance(error, TimeoutError):
            raise Refusal(problems.TOO_SLOW, headers={"connection": "close"}) from None
        raise
    return body


def decoded(kind: Any, body: bytes | bytearray) -> Any:
    """Decode a body as a struct, which also limits how deep it may be nested."""
    try:
        return _decoder(kind).decode(body)
    except msgspec.ValidationError as error:
        raise Refusal(problems.INVALID, f"{error}. {_RULES}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        told = _ENDED if str(error) == _TRUNCATED else str(error)
        raise Refusal(problems.MALFORMED, told if body else "The request has no body.") from None
    except UnicodeError:
        raise Refusal(problems.MALFORMED, "The body is not valid UTF-8.") from None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


# Queries.


def query_of(request: Request, kind: Any) -> Any:
    """Convert the parameters of a URL, in its path and its query, to a struct."""
    try:
        unquote_to_bytes(request.scope["raw_path"]).decode()  # which the server decodes with replacement characters
        query = request.scope["query_string"].decode("ascii")
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_PARAMETERS)
    except UnicodeError:
        raise Refusal(problems.MALFORMED, "The URL is not percent-encoded UTF-8.") from None
    except ValueError:
        raise Refusal(problems.INVALID, f"The query has more than {_PARAMETERS} parameters.") from None
    given: dict[str, str] = dict(request.path_params)
    for name, value in pairs:
        if name in given:
            raise Refusal(problems.INVALID, f'"{name[:40]}" occurs twice.')
        given[name] = value
    return converted(kind, given)


def converted(kind: Any, given: Mapping[str, str]) -> Any:
    """Convert strings to the fields of a struct, each on its own, so that an error names the field and its rule."""
    known = _fields(kind)
    if unknown := given.keys() - known.keys():
        raise Refusal(problems.INVALID, f'"{min(unknown)[:40]}" is unknown; use {", ".join(known) or "no parameters"}.')
    values: dict[str, Any] = {}
    for name, (field, rule) in known.items():
        if name not in given:
            if field.required:
                raise Refusal(problems.INVALID, f'"{name}" is missing.')
            continue
        try:
            values[name] = msgspec.convert(given[name], field.type, strict=False)
        except msgspec.ValidationError:
            raise Refusal(problems.INVALID, f'"{name}" must be {rule}.') from None
    return kind(**values)


@cache
def _fields(kind: Any) -> dict[str, tuple[msgspec.structs.FieldInfo, str]]:
    (_,), components = msgspec.json.schema_components([kind])
    shapes = components[kind.__name__]["properties"]
    return {field.name: (field, _rule(shapes[field.name])) for field in msgspec.structs.fields(kind)}


def _rule(shape: dict[str, Any]) -> str:
    shape = shape.get("anyOf", [shape])[0]  # the other one is null
    if "enum" in shape:
        *others, last = sorted(shape["enum"])
        return f"{', '.join(others)} or {last}" if others else str(last)
    return str(shape.get("description", "true or false"))
