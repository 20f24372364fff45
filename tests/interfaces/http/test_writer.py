"""A process that reads, in front of one that writes; both in this process."""

import socket
import tempfile
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
import uvicorn

from neardup import Index
from neardup.interfaces.http import service
from neardup.interfaces.http.app import create_app
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.server import Deployment, uvicorn_config
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.tokens import Tokens, new_token
from neardup.interfaces.http.writer import writes_of


@pytest.fixture
def short_path():
    """A folder whose path is short enough for that of a socket, whatever the name of the user and of the test."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def writer(folder, short_path):
    """Serve the index at a socket; return its path and a token to write."""
    token, line = new_token("write")
    path = str(short_path / "writer")
    limits = Limits()
    served = Service(lambda mode: Index.open(folder, mode), limits=limits)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen()
        listening.setblocking(False)
        started = threading.Event()
        app = create_app(served, tokens=Tokens.parsed([line]), started=started.set)
        server = uvicorn.Server(uvicorn_config(app, Deployment(folder=folder, limits=limits)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert started.wait(120)
            yield path, token, line
        finally:
            server.should_exit = True
            thread.join()


def test_changes_are_passed_on_and_read_back(serve, writer, texts):
    path, token, line = writer
    ask = serve(read_only=True, writer=path, tokens=Tokens.parsed([line]))
    head = {"Authorization": f"Bearer {token}", "Idempotency-Key": "one", "X-Request-Id": "edge-17"}
    pages = {"pages": [{"url": "http://a.example/é", "text": texts.heron}]}
    answers = [ask.post("/v1/seen", pages, headers=head) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert answers[0].headers.get_list("x-request-id") == ["edge-17"]
    assert answers[0].headers.get_list("content-length") == [str(len(answers[0].content))]
    (one,) = answers[0].json()["verdicts"]
    found = f"/v1/documents/{quote(one['id'], safe='')}"
    ask.until(lambda: ask.get(found, headers=head).status_code == 200)

    async def parts():  # sent without a length
        yield b'{"documents": [{"id": "d", '
        yield b'"text": "a text"}]}'

    told = ask("POST", "/v1/admit", content=parts(), headers={**head, "Content-Type": "application/json"})
    assert told.json()["verdicts"] == [{"verdict": "new", "id": "d"}]
    assert ask("DELETE", f"{found}?text=true", headers=head).status_code == 422
    assert ask("DELETE", found, headers=head).json() == {"removed": 1, "promoted": 0}
    assert ask.get("/readyz?writes=true", headers=head).json() == {"writes": "yes", "status": "ready"}
    refused = ask.post("/v1/seen", {"pages": [{"url": ""}]}, headers=head)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


def test_too_many_changes_at_a_time_are_rejected_and_reads_are_not(serve, writer, texts):
    path, token, line = writer
    limits = Limits(long_requests=2, pause_seconds=0.01)
    ask = serve(read_only=True, writer=path, tokens=Tokens.parsed([line]), limits=limits)
    body = {"json": {"documents": [{"id": "d", "text": texts.heron}]}, "headers": {"Authorization": f"Bearer {token}"}}
    admit, judge = (("POST", "/v1/admit"), body), (("POST", "/v1/judge"), body)
    answers = [answer.status_code for answer in ask.together(*[admit] * 6, *[judge] * 3)]
    assert (sorted(answers[:6]), answers[6:]) == ([200] * 2 + [429] * 4, [200] * 3)
    assert {answer.status_code for answer in ask.together(*[admit] * 2)} == {200}  # nothing is left of it


def test_a_token_is_required_before_anything_is_passed_on(serve, writer, texts):
    path, _, line = writer
    ask = serve(read_only=True, writer=path, tokens=Tokens.parsed([line]))
    assert ask.post("/v1/seen", {"pages": [{"url": "http://a.example/", "text": texts.heron}]}).status_code == 401


def test_a_process_that_reads_says_whether_the_writer_writes(serve, folder, request, monkeypatch):
    monkeypatch.setattr(service, "RETRY_SECONDS", 0.5)
    with Index.open(folder, "w"):
        path, token, line = request.getfixturevalue("writer")  # which only reads until then
        ask = serve(read_only=True, writer=path, tokens=Tokens.parsed([line]))
        head = {"Authorization": f"Bearer {token}"}
        ask.until(lambda: ask.get("/readyz").json()["writes"] == "no")
        assert ask.get("/v1/index", headers=head).json()["writes"] == "no"
        assert ask.get("/readyz?writes=true").status_code == 503
    ask.until(lambda: ask.get("/readyz").json()["writes"] == "yes")
    assert ask.get("/readyz?writes=true").status_code == 200
    assert "neardup_writes 0.0\n" in ask.get("/metrics", headers=head).text  # the other process writes


def test_without_the_writer_changes_are_refused_and_reads_are_not(serve, tmp_path, texts):
    ask = serve(read_only=True, writer=str(tmp_path / "nobody"))
    body = {"documents": [{"id": "x", "text": texts.heron}]}
    answer = ask.post("/v1/admit", body)
    assert (answer.status_code, answer.json()["type"]) == (503, "/docs#unwritable")
    assert ask.get("/readyz?writes=true").status_code == 503
    assert ask.get("/readyz").json() == {"writes": "failed", "status": "ready"}
    assert ask.post("/v1/judge", body).status_code == 200
    assert ask.service.work.body_memory == 0


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b'{"writes":"yes","status":"ready"}', "yes"),
        (200, b'{"writes":"no","status":"ready"}', "no"),
        (503, b'{"type":"/docs#unavailable","status":503}', "failed"),
        (200, b'{"writes":"perhaps"}', "failed"),
        (200, b"no JSON", "failed"),
    ],
)
def test_it_says_whether_it_writes(short_path, status, body, said):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(short_path / "writer"))
        listening.listen()

        def answer():
            connection, _ = listening.accept()
            with connection:
                assert connection.recv(4096).startswith(b"GET /readyz HTTP/1.1\r\n")
                connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))

        thread = threading.Thread(target=answer)
        thread.start()
        assert writes_of(str(short_path / "writer"), 60) == said
        thread.join()
        assert writes_of(str(short_path / "writer"), 0.01) == "failed"  # no process accepts
    assert writes_of(str(short_path / "nobody"), 60) == "failed"
