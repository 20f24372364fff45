import http.server
import json
import threading

import pytest

from neardup import Client
from neardup.errors import DataError, ParameterError, QueryTimeout, StorageFailed, StorageRefused
from neardup.interfaces import connections
from neardup.urls import Addresses

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
ABOUT = (200, {"fields": {}, "signs": [], "addresses": Addresses().id, "next": 0}, {})
NEW = (200, {"verdicts": [{"verdict": "new", "id": "http://a.example/"}]}, {})
LATER = (429, {"type": "/docs#overloaded", "detail": "Too many requests."}, {"Retry-After": "7"})
BROKEN = (None, b"", {})
UNWRITABLE = (503, {"type": "/docs#unwritable", "detail": "The index cannot be written."}, {})


class Script(http.server.ThreadingHTTPServer):
    """A server that answers as it is told: a status with a body and a header, or no answer."""

    daemon_threads = True

    def __init__(self, answers):
        self.answers, self.asked = list(answers), []
        super().__init__(("127.0.0.1", 0), self.handler())
        self.url = f"http://127.0.0.1:{self.server_port}/below"

    def handler(self):
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                script.asked.append((self.path, self.headers["Idempotency-Key"], self.rfile.read(length)))
                status, body, head = script.answers.pop(0)
                if status is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": len(content), **head}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self):
                self.do_POST()

            def log_message(self, *_):
                pass

            def finish(self):
                pass

        return Handler


@pytest.fixture
def scripted():
    made = []

    def make(*answers):
        server = Script(answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        made.append((server, thread))
        return server

    yield make
    for server, thread in made:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def pauses(monkeypatch):
    waited = []
    monkeypatch.setattr(connections.time, "sleep", waited.append)
    return waited


def test_a_batch_is_repeated_with_its_key_until_it_is_answered(scripted, pauses):
    server = scripted(ABOUT, BROKEN, LATER, UNWRITABLE, BROKEN, (502, b"<html>", {}), NEW, NEW)
    with Client(server.url) as client:
        (verdict,) = client.judge_and_admit([("http://a.example/", STORM)])
        assert verdict.name == "new"
        client.judge_and_admit([("http://a.example/", STORM)])
    first, *sent, other = [one for one in server.asked if one[0] == "/below/v1/seen"]
    assert first[1] is not None
    assert set(sent) == {first}
    assert other[1] not in {None, first[1]}
    assert 7 in pauses


def test_patience_ends(scripted, pauses):
    server = scripted(*[LATER] * 3)
    with Client(server.url, patience=0) as client, pytest.raises(StorageFailed, match="Too many requests"):
        client.judge([STORM])
    assert pauses == []


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (
            (301, b"", {"Location": "https://b.example/"}),
            StorageRefused,
            "redirects to https://b.example/; use that URL",
        ),
        ((404, b"<html>", {}), StorageRefused, "answers with status 404"),
        ((200, b"<html>", {}), StorageRefused, "does not answer as a service of neardup"),
        ((200, b'{"a":"\xff"}', {}), StorageRefused, "does not answer as a service of neardup"),
        ((200, b'{"a":' + b"[" * 5000, {}), StorageRefused, "does not answer as a service of neardup"),
        ((422, b'{"detail":"\xff"}', {}), StorageRefused, "answers with status 422"),
        ((422, b'{"a":' + b"[" * 5000, {}), StorageRefused, "answers with status 422"),
        ((422, {"type": "/docs#query-time", "detail": "x"}, {}), QueryTimeout, "stopped after 2 seconds"),
        ((422, {"type": "/docs#invalid", "detail": "url 0: is empty"}, {}), DataError, "the service: url 0: is empty"),
        ((500, {"type": "/docs#broken", "detail": "error 7 of the log"}, {}), StorageRefused, "error 7 of the log"),
    ],
)
def test_other_answers_are_errors(scripted, pauses, answer, error, reason):
    server = scripted(answer)
    with Client(server.url) as client, pytest.raises(error, match=reason):
        client.search("storm")
    assert len(server.asked) == 1


def test_an_answer_that_lacks_what_was_asked_for_is_an_error(scripted):
    strange = {"verdicts": [{"verdict": "strange"}]}
    server = scripted(*((200, answer, {}) for answer in ({}, {}, {"verdicts": []}, strange)))
    with Client(server.url) as client:
        for ask in (lambda: len(client), *[lambda: client.judge([STORM])] * 3):
            with pytest.raises(StorageRefused, match="does not answer as a service of neardup"):
                ask()


@pytest.mark.parametrize(
    "url",
    ["", "seen", "ftp://a", "http://", "http://..", "http://a b", "http://a:b", "http://u:p@a", "http://a/?q", 3],
)
def test_only_urls_of_services_are_taken(url):
    with pytest.raises(ParameterError):
        Client(url)


@pytest.mark.parametrize("url", ["http://u:pass@a/", "http://:pass@a", "http://u:pass@[b", "//pass@a", "ftp://pass@a"])
def test_a_password_in_a_url_is_not_shown(url):
    with pytest.raises(ParameterError, match="token=") as refused:
        Client(url)
    assert "pass@" not in f"{refused.value} {refused.value!r}"


def test_the_path_of_a_service_may_have_an_at_sign():
    Client("http://127.0.0.1:1/@a").close()


def test_a_service_that_does_not_run_cannot_be_reached():
    with Client("http://127.0.0.1:1", patience=0) as client, pytest.raises(StorageFailed, match="cannot be reached"):
        len(client)


def test_a_token_is_never_shown():
    assert "secret" not in repr(Client("http://127.0.0.1:9", token="secret"))  # noqa: S106 - none


@pytest.mark.parametrize("token", ["a\nb", "é", "", " \n", b"secret", 7])
def test_tokens_that_no_header_can_have_are_refused(token):
    with pytest.raises(ParameterError, match=r"token='\(secret\)' must be one token of printable ASCII characters"):
        Client("http://127.0.0.1:9", token=token)


@pytest.mark.parametrize("ways", [{"patience": None}, {"patience": -1}, {"timeout": 0}, {"timeout": "5"}], ids=str)
def test_times_are_numbers_of_seconds(ways):
    with pytest.raises(ParameterError, match="must be a number of seconds"):
        Client("http://127.0.0.1:9", **ways)
