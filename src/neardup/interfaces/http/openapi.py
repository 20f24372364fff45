"""The OpenAPI description of the operations, made from the structs that also decode and encode."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from neardup import __version__
from neardup.interfaces.http import problems
from neardup.interfaces.http.operations import KEY_HEADER, KEY_LENGTH, Operation
from neardup.interfaces.http.problems import KINDS, Problem, ProblemKind
from neardup.interfaces.http.requests import JSON

_REFERENCE: Final = "#/components/schemas/{name}"


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
