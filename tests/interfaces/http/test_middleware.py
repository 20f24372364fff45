"""Requests that are refused, each with its problem; tokens, hosts, headers and limits."""

import asyncio
import re
from unittest.mock import Mock

import pytest

from neardup.interfaces.http import problems
from neardup.interfaces.http.app import OPERATIONS
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.middleware import HEADERS
from neardup.interfaces.http.tokens import Tokens, new_token

JSON = {"content-type": "application/json"}
SMALL = Limits(body=1000, url=200, body_seconds=0.05)


def refused(answer, kind, **headers):
    assert answer.status_code == kind.status, answer.text
    assert answer.headers["content-type"] == problems.MEDIA
    told = answer.json()
    assert (told["type"], told["title"], told["status"]) == (kind.type, kind.title, kind.status)
    assert told["detail"]
    for name, value in HEADERS.items():
        assert answer.headers[name.decode()] == value.decode()
    for name, value in headers.items():
        assert answer.headers[name] == value


async def _endless():
    while True:
        yield b" " * 100


async def _stuck():
    yield b"{"
    await asyncio.sleep(30)


def deep(levels):
    return b'{"documents":' + b"[" * levels


REFUSALS = [
    (problems.MALFORMED, ("POST", "/v1/judge"), {"content": b"", "headers": JSON}),
    (problems.MALFORMED, ("POST", "/v1/judge"), {"content": b'{"documents"', "headers": JSON}),
    (problems.MALFORMED, ("POST", "/v1/judge"), {"content": b"\xff\xfe", "headers": JSON}),
    (problems.MALFORMED, ("POST", "/v1/judge"), {"content": b'{"documents":[{"text":"\xff"}]}', "headers": JSON}),
    (problems.MALFORMED, ("GET", "/v1/documents/%FF"), {}),
    (problems.MALFORMED, ("GET", "/v1/documents/a?text=%FF"), {}),
    (problems.INVALID, ("POST", "/v1/judge"), {"content": deep(500), "headers": JSON}),
    (problems.INVALID, ("POST", "/v1/compare"), {"content": b'{"a":' * 150, "headers": JSON}),
    (problems.HOST, ("GET", "/healthz"), {"headers": {"host": "evil.example"}}),
    (problems.HOST, ("GET", "/healthz"), {"headers": {"host": "127.0.0.1.evil.example"}}),
    (problems.HOST, ("GET", "/healthz"), {"headers": {"host": ""}}),
    (problems.HOST, ("GET", "/healthz"), {"headers": [("host", "localhost"), ("host", "localhost")]}),
    (problems.URL_TOO_LONG, ("GET", "/v1/documents/" + "a" * 200), {}),
    (problems.URL_TOO_LONG, ("GET", "/?" + "a" * 200), {}),
    (problems.NO_ROUTE, ("GET", "/nothing"), {}),
    (problems.NO_ROUTE, ("GET", "/v1/nothing"), {}),
    (problems.NO_ROUTE, ("POST", "/v1/nothing"), {}),
    (problems.NO_ROUTE, ("GET", "/v1/documents/"), {}),
    (problems.NO_ROUTE, ("GET", "/v1/judge/"), {}),
    (problems.NO_DOCUMENT, ("GET", "/v1/documents/nobody"), {}),
    (problems.METHOD, ("GET", "/v1/judge"), {}),
    (problems.METHOD, ("OPTIONS", "/v1/judge"), {}),
    (problems.METHOD, ("PUT", "/v1/documents/a"), {}),
    (problems.METHOD, ("POST", "/"), {}),
    (problems.TOO_LARGE, ("POST", "/v1/judge"), {"content": b" " * 1001, "headers": JSON}),
    (problems.TOO_LARGE, ("POST", "/v1/judge"), {"content": _endless, "headers": JSON}),
    (problems.TOO_SLOW, ("POST", "/v1/judge"), {"content": _stuck, "headers": JSON}),
    (problems.NOT_JSON, ("POST", "/v1/judge"), {"content": b"{}"}),
    (problems.NOT_JSON, ("POST", "/v1/judge"), {"content": b"{}", "headers": {"content-type": "text/plain"}}),
    (problems.NOT_JSON, ("POST", "/v1/judge"), {"content": b"{}", "headers": {"content-type": "application/jsonx"}}),
    (problems.NOT_JSON, ("POST", "/v1/judge"), {"content": b"{}", "headers": {**JSON, "content-encoding": "gzip"}}),
    (
        problems.NOT_JSON,
        ("POST", "/v1/judge"),
        {"content": b"{}", "headers": [*JSON.items(), ("content-type", "text/plain")]},
    ),
    (problems.NOT_JSON, ("POST", "/v1/judge"), {"data": {"documents": "x"}}),
    (problems.INVALID, ("POST", "/v1/judge"), {"json": {"documents": []}}),
    (problems.INVALID, ("POST", "/v1/judge"), {"json": {"documents": [{"text": 1}]}}),
    (problems.INVALID, ("POST", "/v1/judge"), {"json": {"documents": [{"text": "a", "other": 1}]}}),
    (problems.INVALID, ("POST", "/v1/judge"), {"json": [[[[]]]]}),
    (problems.INVALID, ("POST", "/v1/judge?x=1"), {"json": {"documents": [{"text": "a"}]}}),
    (problems.INVALID, ("GET", "/v1/groups/a?size=101"), {}),
    (problems.INVALID, ("GET", "/v1/groups/a?size=0"), {}),
    (problems.INVALID, ("GET", "/v1/groups/a?size=ten"), {}),
    (problems.INVALID, ("GET", "/v1/groups/a?page=1&page=2"), {}),
    (problems.INVALID, ("GET", "/v1/groups/a?id=b"), {}),
    (problems.INVALID, ("GET", "/v1/groups/a?other=b"), {}),
    (problems.INVALID, ("GET", "/healthz?" + "&".join("abcdefghijklmnopqrstuvwxyzabcdefgh")), {}),
    (problems.INVALID, ("GET", "/v1/documents/a?text=maybe"), {}),
]


@pytest.mark.parametrize(("kind", "request_", "given"), REFUSALS, ids=lambda value: getattr(value, "name", None))
def test_requests_are_refused_with_their_problem(serve, kind, request_, given):
    ask = serve(limits=SMALL)
    content = given.get("content")
    given = {**given, "content": content()} if callable(content) else given
    answer = ask(*request_, **given)
    refused(answer, kind)
    assert ("allow" in answer.headers) == (kind is problems.METHOD)
    assert (answer.headers.get("connection") == "close") == (kind is problems.TOO_SLOW)  # the rest may still come
    assert ask.get("/readyz").status_code == 200


def test_a_batch_has_its_limit(serve):
    ask = serve()
    documents = [{"text": ""}] * 1001
    refused(ask.post("/v1/judge", {"documents": documents}), problems.INVALID)
    assert ask.post("/v1/judge", {"documents": documents[1:]}).status_code == 200


def test_who_is_told_nothing_of_the_server(serve, folder):
    ask = serve()
    ask.service.index.close()
    answer = ask.post("/v1/judge", {"documents": [{"text": "a"}]})
    refused(answer, problems.UNAVAILABLE)
    assert folder not in answer.text
    (report,) = ask.reports
    assert re.fullmatch(rf"error \d+: POST /v1/judge: \w+: {folder} is closed; open it again", report)
    assert ask.get("/healthz").status_code == 200
    refused(ask.get("/readyz"), problems.UNAVAILABLE)
    assert ask.get("/metrics").status_code == 200
    assert len(ask.reports) == 1  # a probe adds nothing to what is known


def test_an_error_of_ours_is_reported_with_its_number(serve, monkeypatch):
    ask = serve()

    monkeypatch.setattr(ask.service.index, "get", Mock(side_effect=RuntimeError("something secret")))
    answer = ask.get("/v1/documents/a")
    refused(answer, problems.BROKEN)
    assert "secret" not in answer.text
    number = re.search(r"error (\d+) of the log", answer.text)[1]
    assert ask.reports[-1] == f"error {number}: GET /v1/documents/{{id:id}}: RuntimeError: something secret"


def test_head_is_get_without_a_body(serve):
    ask = serve()
    answer = ask("HEAD", "/v1/documents/a")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(ask.get("/v1/documents/a").content)


def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_error(serve):
    ask = serve()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"100")]
    where = {"path": "/v1/judge", "raw_path": b"/v1/judge", "query_string": b"", "root_path": ""}
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    async def send(_):
        pass

    ask.loop.run_until_complete(ask.app({"type": "http", "method": "POST", "headers": headers, **where}, receive, send))
    assert ask.reports == []
    assert 'neardup_requests_total{route="judge",status="499"} 1.0' in ask.get("/metrics").text


# Who may do what.


class Others:
    """Tokens of each scope, an unknown one, and none."""

    def __init__(self):
        made = {scope: new_token(scope) for scope in ("read", "write")}
        self.known = Tokens.parsed(line for _, line in made.values())
        self.tokens = {scope: token for scope, (token, _) in made.items()}
        self.tokens["forged"] = new_token("write")[0]
        self.tokens["none"] = None

    def headers(self, who):
        token = self.tokens[who]
        return {} if token is None else {"authorization": f"Bearer {token}"}


OTHERS = Others()
ALLOWED = {None: {"none", "forged", "read", "write"}, "read": {"read", "write"}, "write": {"write"}}
EVERYTHING = [
    *((one.method, one.path.replace("{id}", "nobody"), one.scope) for one in OPERATIONS),
    *(("GET", path, "read") for path in ("/", "/docs", "/openapi.json", "/static/page.css", "/v1/unknown")),
    ("PATCH", "/v1/judge", "read"),
]


@pytest.mark.parametrize(("method", "path", "scope"), EVERYTHING)
def test_every_route_asks_for_its_scope(serve, method, path, scope):
    ask = serve(tokens=OTHERS.known)
    for who in OTHERS.tokens:
        answer = ask(method, path, headers=OTHERS.headers(who))
        if who in ALLOWED[scope]:
            assert answer.status_code not in {401, 403}, (who, answer.text)
        elif who in {"none", "forged"}:
            refused(answer, problems.UNAUTHORIZED)
            assert answer.headers["www-authenticate"].startswith("Bearer")
        else:
            refused(answer, problems.FORBIDDEN)
    assert len(ask.service.index) == 3


def test_only_requests_with_the_scope_to_write_change_something():
    assert {one.name for one in OPERATIONS if one.scope is None} == {"healthz", "readyz"}
    assert {one.name for one in OPERATIONS if one.scope == "write"} == {
        "admit",
        "expire",
        "remove",
        "remove_each",
        "seen",
    }
    assert all(one.method in {"POST", "DELETE"} for one in OPERATIONS if one.scope == "write")


def test_get_changes_nothing(serve):
    ask = serve()
    before = ask.service.index.stats()
    for operation in OPERATIONS:
        if operation.method == "GET":
            ask.get(operation.path.replace("{id}", "a"))
    assert ask.service.index.stats() == before


def test_a_browser_may_ask_with_a_password_but_change_nothing(serve):
    ask = serve(tokens=OTHERS.known)
    answer = ask.get("/docs")
    assert "Basic" in answer.headers["www-authenticate"]
    known = ("anybody", OTHERS.tokens["write"])
    assert ask.get("/docs", auth=known).status_code == 200
    assert ask.get("/docs", auth=("anybody", "guessed")).status_code == 401
    answer = ask("DELETE", "/v1/documents/a", auth=known)
    assert (answer.status_code, answer.json()["type"]) == (401, problems.UNAUTHORIZED.type)
    assert "send it as a Bearer token" in answer.json()["detail"]


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic", "Basic !", "Basic Og==", "Digest x", "x" * 3000])
def test_invalid_tokens_are_refused(serve, value):
    refused(serve(tokens=OTHERS.known).get("/docs", headers={"authorization": value}), problems.UNAUTHORIZED)


def test_without_tokens_everybody_may_do_everything(serve):
    ask = serve()
    assert ask("DELETE", "/v1/documents/a").status_code == 200


def test_other_hosts_may_be_allowed(serve):
    ask = serve(hosts=Hosts("127.0.0.1", ["search.example"]))
    assert ask.get("/healthz", headers={"host": "search.example:8000"}).status_code == 200
    refused(ask.get("/healthz", headers={"host": "other.example"}), problems.HOST)


def test_pages_of_other_origins_get_no_permission(serve):
    ask = serve()
    answer = ask.get("/healthz", headers={"origin": "http://evil.example"})
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert "set-cookie" not in answer.headers


def test_a_request_without_a_host_is_refused(serve):
    ask = serve()
    request = ask.client.build_request("GET", "/healthz")
    del request.headers["host"]
    answer = ask.loop.run_until_complete(ask.client.send(request))
    refused(answer, problems.HOST)
    assert answer.json()["detail"].startswith("The Host header is missing. Send one")


# Too much at a time.


def test_refused_requests_hold_neither_work_nor_memory(serve):
    ask = serve(limits=Limits(body=200_000))
    for kind, request_, given in REFUSALS:
        if kind is not problems.TOO_SLOW and not callable(given.get("content")):
            ask(*request_, **given)
    ask("POST", "/v1/judge", content=b" " * 150_000, headers=JSON)
    ask("POST", "/v1/judge", content=_endless(), headers=JSON)
    assert ask.service.work.in_progress == {False: 0, True: 0}
    assert ask.service.work.body_memory == 0


def test_only_pages_ask_for_a_password(serve):
    ask = serve(tokens=Tokens.parsed([new_token("read")[1]]))
    for path, ways in (("/v1/index", ["Bearer"]), ("/", ["Bearer", "Basic"])):
        asked = ask.get(path).headers.get_list("www-authenticate")
        assert [one.partition(" ")[0] for one in asked] == ways


def test_a_query_has_a_limited_number_of_parameters(serve):
    query = "&".join(f"p{number}=" for number in range(33))
    assert serve().get(f"/healthz?{query}").json()["detail"] == "The query has more than 32 parameters."
