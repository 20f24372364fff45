"""Bodies, queries and signatures in requests: closed, validated, and read within the limits."""

import asyncio
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
import numpy as np
from msgspec import Meta
from starlette.datastructures import Headers
from starlette.requests import Request

from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import BATCH, PAGE
from neardup.interfaces.http.links import Mount
from neardup.interfaces.http.problems import INVALID, Refusal
from neardup.interfaces.http.service import Service
from neardup.model.arrays import Signatures
from neardup.model.hits import GROUP_PATTERN
from neardup.model.recipe import RecipeId
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
PageNumber = Annotated[int, Meta(ge=1, le=1_000_000)]
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
    unknown = next((name for name in given if listed and name not in kind.__struct_encode_fields__), None)
    if unknown is not None:
        raise Refusal(problems.INVALID, f"Unknown parameter {unknown[:_SHOWN]!r}. {Mount.prefix}{listed}")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        name = str(error).split("`")[-2:][0].removeprefix("$.")
        plain = f"The parameter {name[:_SHOWN]!r} of this address is unknown, missing or invalid."
        raise Refusal(problems.INVALID, f"{error}. {Mount.prefix}{listed}" if listed else plain) from None


def contents_of(service: Service, documents: Sequence[Any], recipe: str | None, name: str) -> list[str] | Signatures:
    """Return the texts of documents, or with a *recipe* their signatures; *name* is the word for one of them.

    A document without a signature is one without words.
    """
    signatures = signatures_of(service, documents, recipe, name)
    if signatures is not None:
        return signatures
    texts = [document.text for document in documents]
    if None in texts:
        raise Refusal(INVALID, f"{name.capitalize()} {texts.index(None)} has no text.")
    return texts


def signatures_of(service: Service, documents: Sequence[Any], recipe: str | None, name: str) -> Signatures | None:
    """Decode the signatures of documents, none where it is null; return ``None`` for a request without a *recipe*.

    Raises a refusal for a document with a signature without a recipe, and for one with a text with a recipe.
    """
    for place, document in enumerate(documents):
        if recipe is None and document.signature is not None:
            rule = "but the request has no recipe; send the recipe of the signatures, too"
            raise Refusal(INVALID, f"{name.capitalize()} {place} has a signature, {rule}.")
        if recipe is not None and document.text is not None:
            rule = f"with a recipe, each {name} must have a signature instead of a text"
            raise Refusal(INVALID, f"{name.capitalize()} {place} has a text; {rule}.")
    if recipe is None:
        return None
    like = service.index.signatures([])
    kind, shape = like.rows.dtype, like.rows.shape[1:]
    rows = np.zeros((len(documents), *shape), kind)
    present = np.array([document.signature is not None for document in documents], np.bool_)
    for place in np.flatnonzero(present).tolist():
        try:
            row = np.frombuffer(b64decode(documents[place].signature, validate=True), kind.newbyteorder("<"))
            rows[place] = row.reshape(shape)
        except ValueError:
            rule = f"must be Base64 of {rows[place].nbytes} bytes: {rows[place].size} numbers {kind}, little-endian"
            raise Refusal(INVALID, f"The signature of {name} {place} {rule}.") from None
    return Signatures(rows, present, RecipeId(recipe))
