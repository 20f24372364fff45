"""Operations: functions from an input to an answer, as routes of Starlette and as their OpenAPI description."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any, Final, get_type_hints

import msgspec
from starlette.authentication import requires
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup import __version__
from neardup.interfaces.http import problems
from neardup.interfaces.http.problems import INVALID, KINDS, Problem, ProblemKind, Refusal
from neardup.interfaces.http.requests import JSON, PARAMETERS_LISTED, Nothing, decoded, query_of, received
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.tokens import Scope
from neardup.interfaces.http.writer import answer_of

KEY_HEADER: Final = "Idempotency-Key"
KEY_LENGTH: Final = 255
encode: Final = msgspec.json.Encoder(enc_hook=str).encode
_REFERENCE: Final = "#/components/schemas/{name}"


@dataclass(frozen=True)
class Operation:
    """An operation of the service.

    *run* takes the service and an input; the annotations of *run* are the structs of the input and of the answer, its
    docstring is the description. A POST has the input as its body, other methods have it in the URL. *scope* is what a
    token must allow, ``None`` for operations without a token. Changes are long work, and so are bodies of more than
    *short* bytes, each body that *compares_texts* where the index keeps texts, and each request of a *long* operation.
    *problems* are further ones than all operations of its kind have. A *probe* is answered however busy the service is.
    *run* of a *keyed* operation also takes what identifies a request that is repeated: the name in its header, if any,
    and its body. The input of an operation that *searches* has a query ``q``.
    Where one process writes and others read, the writer does the operations of the scope ``write``.
    """

    method: str
    path: str
    run: Callable[..., Any]
    _: KW_ONLY
    problems: Sequence[ProblemKind] = ()
    scope: Scope | None = "read"
    short: int = 16 << 10
    long: bool = False
    compares_texts: bool = False
    probe: bool = False
    keyed: bool = False
    searches: bool = False
    media: str = JSON

    @property
    def name(self) -> str:
        """The name, by which requests are counted and the description refers to it."""
        return self.run.__name__

    @property
    def has_body(self) -> bool:
        """Whether the input is a body."""
        return self.method == "POST"

    @cached_property
    def input(self) -> Any:
        """The struct of the input."""
        return self._hints.get("given", Nothing)

    @cached_property
    def answer(self) -> Any:
        """The struct of the answer; ``bytes`` for one that is not JSON."""
        return self._hints["return"]

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.run, include_extras=True)

    def route(self, service: Service) -> Route:
        """Return the operation as a route."""
        endpoint = self._answer_body if self.has_body else self._answer_query

        async def answered(request: Request) -> Response:
            if service.writer is not None and self.scope == "write":
                async with received(request, service) if self.has_body else nullcontext(b"") as body:
                    return await service.work.forward(partial(answer_of, service.writer, request, bytes(body)))
            return Response(await endpoint(service, request), media_type=self.media)

        if self.scope == "write":
            answered = requires("write")(answered)
        return Route(self.path.replace("{id}", "{id:id}"), answered, methods=[self.method], name=self.name)

    async def _answer_body(self, service: Service, request: Request) -> bytes:
        if request.scope["query_string"]:
            query_of(request, Nothing)  # which refuses it
        name = _key_of(request) if self.keyed else None
        async with received(request, service) as body:
            more = (name, body) if self.keyed else ()
            long = self.scope == "write" or len(body) > self.short
            long = long or (self.compares_texts and service.index.keeps_texts)
            return await service.work.answer(lambda: self._result(service, decoded(self.input, body), *more), long=long)

    async def _answer_query(self, service: Service, request: Request) -> bytes:
        given = query_of(request, self.input, PARAMETERS_LISTED)
        if self.probe:
            return self._result(service, given)
        if self.searches:
            return await service.work.answer_query(given.q, lambda: self._result(service, given))
        return await service.work.answer(lambda: self._result(service, given), long=self.long or self.scope == "write")

    def _result(self, service: Service, given: Any, *more: Any) -> bytes:
        result = self.run(service, given, *more)
        return result if isinstance(result, bytes) else encode(result)


def _key_of(request: Request) -> str | None:
    names = request.headers.getlist(KEY_HEADER)
    if not names:
        return None
    if len(names) > 1 or not 1 <= len(names[0]) <= KEY_LENGTH or not names[0].isprintable():
        raise Refusal(INVALID, f"{KEY_HEADER} must be one key of 1 to {KEY_LENGTH} printable characters.")
    return names[0]


def problems_of(operation: Operation) -> list[ProblemKind]:
    """Return the problems that may be the answer of an operation."""
    possible = {problems.MALFORMED, problems.URL_TOO_LONG, problems.HOST, problems.INVALID, problems.BROKEN}
    possible |= {*operation.problems}
    if not operation.probe:
        possible |= {problems.OVERLOADED, problems.UNAVAILABLE}
    if operation.scope is not None:
        possible.add(problems.UNAUTHORIZED)
    if operation.scope == "write":
        possible |= {problems.FORBIDDEN, problems.READ_ONLY, problems.UNWRITABLE}
    if "{id}" in operation.path:
        possible.add(problems.NO_DOCUMENT)
    if operation.has_body:
        possible |= {problems.TOO_LARGE, problems.NOT_JSON, problems.TOO_SLOW}
    return [kind for kind in KINDS if kind in possible]


def openapi(operations: Sequence[Operation], *, secured: bool = False) -> dict[str, Any]:
    """Describe operations in OpenAPI 3.1; they are *secured* if they require tokens."""
    types = {kind for one in operations for kind in (one.input, one.answer) if kind is not bytes}
    listed = [*sorted(types, key=lambda kind: str(kind.__name__)), Problem]
    references, components = msgspec.json.schema_components(listed, ref_template=_REFERENCE)
    _name_types(components)
    schemas = dict(zip(listed, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, schemas, components, secured=secured)
    for name in {one.input.__name__ for one in operations if not one.has_body}:
        components.pop(name)
    return {
        "openapi": "3.1.0",
        "info": {"title": "neardup", "version": __version__},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _name_types(schema: Any) -> None:
    """Add the type of strings to lists of their values, which some programs need."""
    if isinstance(schema, list):
        for one in schema:
            _name_types(one)
    elif isinstance(schema, dict):
        values = schema.get("enum")
        if isinstance(values, list) and all(isinstance(value, str) for value in values):
            schema.setdefault("type", "string")
        for one in schema.values():
            _name_types(one)


def _described(
    operation: Operation, schemas: dict[Any, Any], components: dict[str, Any], *, secured: bool
) -> dict[str, Any]:
    summary, _, more = (operation.run.__doc__ or "").partition("\n")
    media = operation.media.partition(";")[0]
    schema = schemas.get(operation.answer, {"type": "object" if media == JSON else "string"})
    responses: dict[str, Any] = {"200": {"description": "Done.", "content": {media: {"schema": schema}}}}
    for kind in problems_of(operation):
        content = {problems.MEDIA: {"schema": schemas[Problem]}}
        known = responses.setdefault(str(kind.status), {"description": "", "content": content})
        known["description"] = f"{known['description']} {kind.when}".strip()
        if kind.status == problems.OVERLOADED.status:
            known["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": summary,
        "description": " ".join(more.split()),
        "responses": responses,
    }
    if operation.keyed:
        schema = {"type": "string", "minLength": 1, "maxLength": KEY_LENGTH}
        described["parameters"] = [{"name": KEY_HEADER, "in": "header", "required": False, "schema": schema}]
    if operation.has_body:
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas[operation.input]}}}
    else:
        described["parameters"] = [*_parameters(operation, components[operation.input.__name__])]
    if operation.scope is not None:
        described["security"] = [{"token": []}] if secured else [{"token": []}, {}]
    return described


def _parameters(operation: Operation, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, own in schema["properties"].items():
        in_path = f"{{{name}}}" in operation.path
        yield {
            "name": name,
            "in": "path" if in_path else "query",
            "required": in_path or name in schema.get("required", []),
            "schema": own,
        }
