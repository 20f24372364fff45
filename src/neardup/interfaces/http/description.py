"""The OpenAPI description of the operations, and a page made of it that loads nothing."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

import msgspec

from neardup import __version__
from neardup.interfaces.http import problems
from neardup.interfaces.http.operations import JSON, Operation
from neardup.interfaces.http.problems import KINDS, Kind, Problem
from neardup.interfaces.pages.frame import framed

_REFERENCE: Final = "#/components/schemas/{name}"
_TITLE: Final = "neardup"
_STYLE: Final = """
code, pre { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap; padding: .6rem; border: 1px solid; border-radius: .3rem }
table { border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0 }
"""


def kinds_of(operation: Operation) -> list[Kind]:
    """Give the problems that an operation may be answered with."""
    always = [problems.MALFORMED, problems.URL_TOO_LONG, problems.HOST, problems.OVERLOADED, problems.HEAD_TOO_LARGE]
    always += [problems.TOO_SLOW, problems.BROKEN]
    if operation.scope is not None:
        always.append(problems.UNAUTHORIZED)
    if operation.scope == "write":
        always.append(problems.FORBIDDEN)
    if operation.body is not None:
        always += [problems.TOO_DEEP, problems.TOO_LARGE, problems.NOT_JSON]
    always.append(problems.INVALID)
    wanted = {kind.name for kind in [*always, *operation.refuses]}
    return [kind for kind in KINDS if kind.name in wanted]


def description(operations: Sequence[Operation]) -> dict[str, Any]:
    """Describe operations, as OpenAPI 3.1 has it."""
    types = {
        one: None for operation in operations for one in (operation.body, operation.query, operation.answer) if one
    }
    shapes, components = msgspec.json.schema_components([*types, Problem], ref_template=_REFERENCE)
    shape_of = dict(zip(types, shapes, strict=False))
    problem = {problems.MEDIA: {"schema": shapes[-1]}}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(
            operation, shape_of, components, problem
        )
    for query in {operation.query for operation in operations if operation.query}:
        components.pop(query.__name__)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": _TITLE,
            "version": __version__,
            "description": "Near-duplicate documents: judged, admitted, found, collapsed, explained.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(
    operation: Operation, shape_of: dict[Any, Any], components: dict[str, Any], problem: dict[str, Any]
) -> dict[str, Any]:
    told: dict[str, Any] = {"operationId": operation.name, "summary": operation.summary}
    if operation.explained:
        told["description"] = operation.explained
    if operation.query is not None:
        told["parameters"] = list(_parameters(operation, components[operation.query.__name__]))
    if operation.body is not None:
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": shape_of[operation.body]}}}
    media, _, _ = operation.media.partition(";")
    shape = shape_of[operation.answer] if operation.answer else {"type": "object" if media == JSON else "string"}
    responses: dict[str, Any] = {"200": {"description": "Done", "content": {media: {"schema": shape}}}}
    for kind in kinds_of(operation):
        known = responses.setdefault(str(kind.status), {"description": "", "content": problem})
        known["description"] = " ".join(filter(None, [known["description"], kind.when]))
        if kind is problems.OVERLOADED:
            known["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    told["responses"] = responses
    if operation.scope is not None:
        told["security"] = [{"token": []}, {}]
    return told


def _parameters(operation: Operation, shape: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, own in shape["properties"].items():
        in_path = operation.has_id and name == "id"
        required = in_path or name in shape.get("required", [])
        yield {"name": name, "in": "path" if in_path else "query", "required": required, "schema": own}


def docs_page(described: dict[str, Any]) -> bytes:
    """Make a page of a description, for people."""
    parts = []
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            parts.append(_operation_in_words(path, method, told, described["components"]["schemas"]))
    rows = "".join(
        f'<tr id="{kind.name}"><td>{kind.status}</td><td>{escape(kind.title)}</td><td>{escape(kind.when)}</td></tr>\n'
        for kind in KINDS
    )
    parts.append(
        f"<section><h2>Problems</h2><table><tr><th>Status</th><th>Title</th><th>When</th></tr>\n{rows}</table></section>\n"
    )
    lead = 'What the service does. <a href="/openapi.json">The same as OpenAPI</a>, for programs.'
    return framed(f"{_TITLE}: the service", lead, "".join(parts), style=_STYLE)


def _operation_in_words(path: str, method: str, told: dict[str, Any], shapes: dict[str, Any]) -> str:
    lines = [f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>", f"<p>{escape(told['summary'])}.</p>"]
    if "description" in told:
        lines.append(f"<p>{escape(told['description'])}</p>")
    for parameter in told.get("parameters", []):
        optional = "" if parameter["required"] else ", optional"
        shape = escape(_in_words(parameter["schema"], shapes))
        lines.append(f"<p>In the {parameter['in']}{optional}: <code>{escape(parameter['name'])}</code> {shape}</p>")
    if "requestBody" in told:
        shape = told["requestBody"]["content"][JSON]["schema"]
        lines.append(f"<p>Body</p><pre>{escape(_in_words(shape, shapes))}</pre>")
    for media, content in told["responses"]["200"]["content"].items():
        lines.append(f"<p>Answer, {escape(media)}</p><pre>{escape(_in_words(content['schema'], shapes))}</pre>")
    others = ", ".join(status for status in told["responses"] if status != "200")
    lines.append(f"<p>Problems: {others}</p></section>\n")
    return "\n".join(lines)


def _in_words(shape: dict[str, Any], shapes: dict[str, Any], indent: str = "") -> str:
    """Write a schema as a reader wants it.

    >>> _in_words({"type": "array", "items": {"type": "string"}, "maxItems": 3}, {})
    'list of string (maxItems 3)'
    """
    if "$ref" in shape:
        return _in_words(shapes[shape["$ref"].rpartition("/")[2]], shapes, indent)
    if "anyOf" in shape:
        return " or ".join(_in_words(one, shapes, indent) for one in shape["anyOf"])
    bounds = [f"{name} {shape[name]}" for name in _BOUNDS if name in shape]
    if "default" in shape:
        bounds.append(f"default {msgspec.json.encode(shape['default']).decode()}")
    behind = f" ({', '.join(bounds)})" if bounds else ""
    if shape.get("type") == "array":
        return f"list of {_in_words(shape.get('items', {}), shapes, indent)}{behind}"
    if shape.get("type") == "object" and "properties" in shape:
        inner = indent + "  "
        required = shape.get("required", [])
        fields = [
            f"{inner}{name}{'' if name in required else '?'}: {_in_words(own, shapes, inner)}"
            for name, own in shape["properties"].items()
        ]
        return "\n".join(["{", *fields, f"{indent}}}"]) + behind
    return f"{shape.get('type', 'anything')}{behind}"


_BOUNDS: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "enum")
