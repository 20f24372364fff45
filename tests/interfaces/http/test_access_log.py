import json
import os
from contextlib import suppress

import pytest
from json_lines import read_lines

from neardup.errors import OutputError
from neardup.interfaces.http.access_log import AccessLog, request_id
from neardup.interfaces.http.tokens import Tokens, new_token


def test_each_request_is_a_line(serve, tmp_path):
    file = tmp_path / "access"
    token, line = new_token("read")
    ask = serve(log=AccessLog(str(file)), tokens=Tokens.parsed([line]))
    head = {"Authorization": f"Bearer {token}", "X-Request-Id": "edge-17"}
    found = ask.get("/v1/documents/a?text=true", headers=head)
    refused = ask.post("/v1/judge", {"documents": []}, headers={"X-Request-Id": "not an id"})
    unknown = ask.get("/nothing", headers={"Host": "evil.example"})
    lines = read_lines(file)
    assert [one["id"] for one in lines] == [one.headers["x-request-id"] for one in (found, refused, unknown)]
    assert lines[0]["id"] == "edge-17"
    assert len({one["id"] for one in lines}) == 3
    assert [(one["method"], one["path"], one["status"]) for one in lines] == [
        ("GET", "/v1/documents/a?text=true", 200),
        ("POST", "/v1/judge", 401),
        ("GET", "/nothing", 421),
    ]
    assert [one["bytes"] for one in lines] == [len(one.content) for one in (found, refused, unknown)]
    assert all(one["client"] == "127.0.0.1" and 0 <= one["seconds"] < 60 for one in lines)
    assert token not in file.read_text()


def test_a_renamed_log_is_opened_again(tmp_path):
    file = tmp_path / "access"
    log, entry = AccessLog(str(file)), {"id": "1", "status": 200}
    log.write(**entry)
    file.rename(tmp_path / "older")
    log.write(**entry)
    old = log._file
    log.reopen()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(old)
    log.write(**entry)
    log.close()
    log.close()
    assert (len(read_lines(tmp_path / "older")), len(read_lines(file))) == (2, 1)


def test_a_line_that_was_cut_is_ended(tmp_path, monkeypatch):
    log, write = AccessLog(str(tmp_path / "access")), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write(file, data[:5]))
        log.write(id="1")
    for number in "23":
        log.write(id=number)
    log.close()
    first, *others = (tmp_path / "access").read_text().splitlines()
    assert (first, [json.loads(line)["id"] for line in others]) == ('{"tim', ["2", "3"])


def test_a_log_that_cannot_be_opened_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="the access log cannot be opened: Is a directory"):
        AccessLog(str(tmp_path))
    with pytest.raises(OutputError, match=f"log: its folder does not exist: {tmp_path}/none; create it first$"):
        AccessLog(str(tmp_path / "none/log"))


def test_a_full_disk_stops_nothing(capfd):
    log = AccessLog("/dev/full")
    log.write(id="1")
    log.close()
    AccessLog("-").write(id="2")
    assert json.loads(capfd.readouterr().err)["id"] == "2"


def emptied(file):
    """Return what can be read now."""
    text = b""
    with suppress(BlockingIOError):
        while data := os.read(file, 1 << 16):
            text += data
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("kind", ["terminal", "pipe", "named pipe"])
def test_a_reader_that_stopped_is_not_waited_for(tmp_path, capfd, kind):
    before = os.dup(2)
    if kind == "named pipe":
        os.mkfifo(tmp_path / "log")
        reader, writer = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK), None
    else:
        reader, writer = os.openpty() if kind == "terminal" else os.pipe()
        os.set_blocking(reader, False)
        os.dup2(writer, 2)
    try:
        log = AccessLog(str(tmp_path / "log") if writer is None else "-")
        for number in range(3000):
            log.write(id=str(number), path="/" * 200)
        first = emptied(reader)
        for number in range(3000, 3003):
            log.write(id=str(number))
        last = emptied(reader)
        log.close()
    finally:
        os.dup2(before, 2)
        for file in filter(None, (before, reader, writer)):
            os.close(file)
    assert [json.loads(line)["id"] for line in first.splitlines()[:3]] == ["0", "1", "2"]
    assert len(first.splitlines()) < 3000
    assert [json.loads(line)["id"] for line in last.splitlines()[-3:]] == ["3000", "3001", "3002"]


@pytest.mark.parametrize("value", [b"", b"a b", b"a" * 65, b'"', b"\xff"])
def test_only_short_plain_ids_are_taken(value):
    assert request_id([(b"x-request-id", value)]) != value.decode("latin-1")
