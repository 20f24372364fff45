import json
import re
from functools import partial
from typing import get_type_hints

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from neardup import Index
from neardup.interfaces.http.app import OPERATIONS, create_app
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.operations import openapi, problems_of
from neardup.interfaces.http.problems import KINDS
from neardup.interfaces.http.requests import Nothing
from neardup.interfaces.http.service import Service
from neardup.pipeline.query.search import Search


def test_every_operation_describes_itself():
    assert len({(one.method, one.path) for one in OPERATIONS}) == len(OPERATIONS)
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    for one in OPERATIONS:
        assert one.run.__doc__
        assert one.answer is get_type_hints(one.run, include_extras=True)["return"]
        assert one.has_body == (one.method == "POST")


def test_probes_need_no_token_to_be_answered():
    assert {one.path for one in OPERATIONS if one.probe} == {"/healthz", "/readyz", "/metrics"}


CHECKS = [  # that valid requests are served is left out: what the index has no field for is no matter of form
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    folder = tmp_path_factory.mktemp("described") / "seen"
    with Index.create(folder, texts=True, fields={"site": str}) as index:
        index.admit(["0", "1"], ["some words that stand in a text", "some words that stand in a text, or so"])
        Search.rebuild(index)
    service = Service(partial(Index.open, folder))
    service.warm_up()
    service.ready = True
    app = create_app(service, hosts=Hosts("127.0.0.1", ["testserver"]))

    async def living(scope, receive, send):  # each request would begin and end the service
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for event in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{event}.complete"})

    yield schemathesis.openapi.from_asgi("/openapi.json", living)
    service.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_whatever_is_asked_is_answered_as_described(described, operation):
    one = described[operation.path][operation.method]
    positive, negative = one.as_strategy(), one.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    can_be_wrong = operation.has_body or operation.input is not Nothing

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.one_of(positive, negative) if can_be_wrong else positive)
    def ask(case):
        answer = case.call_and_validate(checks=CHECKS)
        if operation.has_body and case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE:
            assert answer.status_code >= 400

    ask()


def test_every_operation_is_described():
    described = openapi(OPERATIONS)
    assert [*described["paths"]] == [*dict.fromkeys(one.path for one in OPERATIONS)]
    for one in OPERATIONS:
        told = described["paths"][one.path][one.method.lower()]
        assert one.run.__doc__.startswith(told["summary"])
        assert {str(kind.status) for kind in problems_of(one)} < {*told["responses"]}
    references = {*re.findall(r"#/components/schemas/(\w+)", json.dumps(described))}
    assert references == {*described["components"]["schemas"]}


def test_which_statuses_an_operation_may_have():
    described = openapi(OPERATIONS)["paths"]
    common, of_work = {"200", "400", "414", "421", "422", "500"}, {"401", "429", "503"}
    for path, method, more in (
        ("/healthz", "get", set()),
        ("/metrics", "get", {"401"}),
        ("/v1/documents/{id}", "get", of_work | {"404"}),
        ("/v1/documents/{id}", "delete", of_work | {"403", "404", "409"}),
        ("/v1/judge", "post", of_work | {"408", "413", "415"}),
        ("/v1/admit", "post", of_work | {"403", "408", "409", "413", "415"}),
    ):
        assert {*described[path][method]["responses"]} == common | more, path


def test_which_parameters_are_required():
    parameters = openapi(OPERATIONS)["paths"]["/v1/search"]["get"]["parameters"]
    assert [one["name"] for one in parameters if one["required"]] == ["q"]


def test_the_page_lists_all_operations_objects_and_problems(serve):
    ask = serve()
    page = ask.get("/docs").text
    for one in OPERATIONS:
        assert f"<code>{one.method} {one.path}</code>" in page
    for name in ask.get("/openapi.json").json()["components"]["schemas"]:
        assert f'<section id="{name}">' in page
    for kind in KINDS:
        assert f'<div id="{kind.name}"><dt>{kind.status}' in page


def test_lists_of_values_have_a_type():
    def found(schema):
        for one in schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ():
            yield from found(one)
        if isinstance(schema, dict) and "enum" in schema:
            yield schema

    listed = list(found(openapi(OPERATIONS)))
    assert len(listed) > 3
    assert all(one["type"] == "string" for one in listed)


def test_tokens_are_required_where_there_are_tokens():
    for secured, wanted in ((False, [{"token": []}, {}]), (True, [{"token": []}])):
        described = openapi(OPERATIONS, secured=secured)["paths"]
        assert described["/v1/judge"]["post"]["security"] == wanted
        assert "security" not in described["/healthz"]["get"]


def test_keys_of_requests_are_described():
    (parameter,) = openapi(OPERATIONS)["paths"]["/v1/seen"]["post"]["parameters"]
    assert (parameter["name"], parameter["in"], parameter["required"]) == ("Idempotency-Key", "header", False)


def test_the_length_of_ids_is_described_in_bytes():
    schemas = openapi(OPERATIONS)["components"]["schemas"]
    for schema in (
        schemas["AdmittedDocument"]["properties"]["id"],
        schemas["RankedHit"]["properties"]["id"],
        schemas["CheckedDocument"]["properties"]["id"]["anyOf"][0],
        schemas["IdsBody"]["properties"]["ids"]["items"],
    ):
        assert schema["description"] == "a string of 1 to 1,024 bytes of UTF-8"
        assert schema["maxLength"] == 1024  # characters, of one byte or more
