import asyncio
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

from neardup.interfaces.http.labelling import POLICY, create_label_app, pair_view
from neardup.labels import Labelling, draw_pairs, read_labels
from neardup.model.errors import OutputError
from neardup.model.labels import DrawnPair

WORDS = [f"w{number}" for number in range(40)]
TEXTS = [" ".join([*WORDS[:keep], *(f"{keep}x{rest}" for rest in range(40 - keep))]) for keep in range(0, 41, 4)]
HOSTILE = "<script>alert(1)</script> \u202e \x1b[2J & \" '"


@contextmanager
def page(path, texts=TEXTS, wanted=3):
    with Labelling(draw_pairs(texts), path, wanted=wanted) as labelling:
        yield labelling, Page(create_label_app(labelling, "token"))


class Page:
    """Requests to the application."""

    def __init__(self, app):
        self.app, self._transport = app, httpx.ASGITransport(app)

    def send(self, method, path="/token/", host="127.0.0.1:5", **more):
        async def sent():
            async with httpx.AsyncClient(transport=self._transport, base_url=f"http://{host}") as client:
                return await client.request(method, path, **more)

        return asyncio.run(sent())

    def answer(self, label, pair=None):
        found = re.search('name="pair" value="([0-9a-f]*)"', self.send("GET").text)[1]
        return self.send("POST", data={"pair": found if pair is None else pair, "label": label})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.jsonl"


def test_answers_are_recorded(path):
    with page(path) as (labelling, page_):
        assert "Pair 1 of 3" in page_.send("GET").text
        for label in ("same", "unsure"):
            done = page_.answer(label)
            assert (done.status_code, done.headers["location"]) == (303, "/token/")
            assert read_labels(path)[-1].label == label
        page_.answer("back")
        assert re.search('value="unsure" data-key="u" aria-current="true"', page_.send("GET").text)
        page_.answer("different")
        page_.answer("same")
        assert [one.label for one in labelling.answers] == ["same", "different", "same"]
        last = page_.send("GET").text
        assert "3 pairs as wanted; a larger --labels adds more" in last
        assert "3 pairs labelled: 2 same, 1 different, 0 unsure" in last
        assert page_.answer("same").status_code == 422
        page_.answer("back")
        assert "Pair 3 of 3, labelled same" in page_.send("GET").text


def test_answers_about_other_pairs_are_not_recorded(path):
    with page(path) as (labelling, page_):
        before = re.search('name="pair" value="([0-9a-f]+)"', page_.send("GET").text)[1]
        page_.answer("same")
        for pair in (before, "", "x" * 9):
            again = page_.answer("different", pair)
            assert again.status_code == 409
            assert "It was not recorded." in again.text
        assert page_.answer("perhaps").status_code == 422
        assert len(labelling.answers) == 1


@pytest.mark.parametrize("body", [b"", b"label=same", b"\xff=1", b"&".join([b"a=1"] * 100), b"x" * 10_000])
def test_invalid_forms_are_not_recorded(path, body):
    with page(path) as (labelling, page_):
        assert page_.send("POST", content=body).status_code == 409
        assert labelling.answers == []


def test_a_long_form_is_not_recorded(path):
    with page(path) as (labelling, page_):
        pair = re.search('name="pair" value="([0-9a-f]+)"', page_.send("GET").text)[1]
        assert page_.send("POST", data={"pair": pair, "label": "same", "x": "x" * 5_000}).status_code == 409
        assert labelling.answers == []


def test_a_client_that_leaves_in_the_middle_of_a_form_is_no_error(path):
    messages = [{"type": "http.request", "body": b"label=same", "more_body": True}, {"type": "http.disconnect"}]
    scope = {"type": "http", "method": "POST", "path": "/token/", "root_path": "", "headers": [(b"host", b"localhost")]}

    async def receive():
        return messages.pop(0)

    async def send(_):
        pass

    with page(path) as (labelling, page_):
        asyncio.run(page_.app(scope, receive, send))
        assert labelling.answers == []


def test_a_full_disk_is_reported(path, monkeypatch):
    with page(path) as (labelling, page_):

        def refuse(*_):
            raise OutputError("labels.jsonl", "it cannot be written: No space left on device")

        monkeypatch.setattr(labelling._file, "append", refuse)
        failed = page_.answer("same")
        assert failed.status_code == 507
        assert "not recorded: it cannot be written: No space left on device." in failed.text
        monkeypatch.undo()
        assert page_.answer("same").status_code == 303


def test_only_the_address_with_the_token_is_served(path):
    with page(path) as (labelling, page_):
        for method in ("GET", "POST"):
            assert page_.send(method, "/guess/").status_code == 404
            assert page_.send(method, "/tökén/").status_code == 404
            assert page_.send(method, host="evil.example").status_code == 421
        assert page_.send("GET", "/").status_code == 404
        assert page_.send("PUT").status_code == 405
        assert labelling.answers == []


def test_headers_and_files(path):
    with page(path) as (_, page_):
        shown = page_.send("GET")
        assert shown.headers["content-security-policy"] == POLICY
        assert shown.headers["cache-control"] == "no-store"
        assert shown.headers["referrer-policy"] == "no-referrer"
        assert "unsafe" not in POLICY
        for name in re.findall('(?:href|src)="(/static/[^"]+)"', shown.text):
            assert page_.send("GET", name).status_code == 200
        assert "http" not in re.sub("<!DOCTYPE.*>", "", shown.text)


def test_hostile_texts_are_escaped(path):
    with page(path, [f"{HOSTILE} one two three", f"{HOSTILE} one two four"]) as (_, page_):
        shown = page_.send("GET").text
        assert shown.count("<script") == 1
        assert "\u202e" not in shown
        assert "\x1b" not in shown
        assert "&lt;script&gt;" in shown


def test_long_texts_are_shown_in_part():
    pair = DrawnPair(a="\u202e1", b="2", text_a="word " * 100_000, text_b="")
    (hostile, long), (name, empty) = pair_view(pair).sides
    assert "\u202e" not in hostile
    assert long.left == 300_000
    assert (name, empty.pieces) == ("2", ())


def test_it_serves_until_a_signal_that_was_not_ignored(path, tmp_path):
    (tmp_path / "in.csv").write_text("id,text\n" + "\n".join(f"{one},{text}" for one, text in enumerate(TEXTS)))
    command = [sys.executable, "-m", "neardup", "label", "in.csv", "--out", path.name, "--serve"]
    command = ["sh", "-c", 'trap "" INT; exec "$0" "$@"', *command]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as serving:
        address = next(line for line in serving.stdout if line.startswith("http://127.0.0.1:")).strip()
        serving.send_signal(signal.SIGINT)
        time.sleep(1)
        shown = httpx.get(address)
        pair = re.search('name="pair" value="([0-9a-f]+)"', shown.text)[1]
        assert httpx.post(address, data={"pair": pair, "label": "same"}).status_code == 303
        serving.terminate()
        assert "1 pair labelled: 1 same" in serving.stdout.read()
        assert serving.wait(60) == 0
    assert len(read_labels(path)) == 1
