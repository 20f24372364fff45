import gc
import json
import logging
import signal

import pytest
import uvicorn
from programs import by_then, get

from neardup import Index, MinHash
from neardup.interfaces.http.deployment import QUIET, Deployment, SignalledServer, opened_service
from neardup.interfaces.http.tokens import add_token


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_tokens_and_log_are_reloaded_by_a_signal(run, folder, tmp_path, workers):
    tokens, log = tmp_path / "tokens", tmp_path / "access"
    first = add_token("read", str(tokens))
    options = ["--token-file", str(tokens), "--access-log", str(log), "--trust-proxy", "127.0.0.1"]
    process = run(folder, *options, "--workers", str(workers))

    def status(token):
        head = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.7"}
        return get(f"{process.url}/v1/index", headers=head).status_code

    assert status(first) == 200
    by_then(lambda: log.read_text().endswith("\n"))
    assert json.loads(log.read_text().splitlines()[0])["client"] == "192.0.2.7"
    tokens.unlink()
    second = add_token("read", str(tokens))
    log.rename(tmp_path / "older")
    process.process.send_signal(signal.SIGHUP)
    by_then(lambda: [status(second) for _ in range(10)] == [200] * 10)
    by_then(lambda: [status(first) for _ in range(10)] == [401] * 10)
    assert log.exists()
    tokens.write_text("nonsense\n")
    process.process.send_signal(signal.SIGHUP)
    by_then(lambda: "not reloaded: " in process.complaints())
    assert status(second) == 200
    assert process.complaints().count("not reloaded: ") == 1
    assert process.end()[0] == 0


def test_settings_of_a_file_apply_to_an_index_with_a_key(tmp_path, monkeypatch):
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)
    key, config = tmp_path / "key", tmp_path / "neardup.toml"
    key.write_bytes(bytes(range(16)))
    config.write_text("[policy]\nthreshold = 0.9\n")
    Index.create(tmp_path / "keyed", MinHash(key=key.read_bytes())).close()
    served = opened_service(Deployment(folder=str(tmp_path / "keyed"), key_file=str(key), config=str(config)), print)
    assert served.index.scheme.threshold == 0.9
    served.close()


def test_a_second_interrupt_ends_it_without_a_traceback(monkeypatch):
    log = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(log, "disabled", False)
    server = SignalledServer(uvicorn.Config("no app", **QUIET))
    assert [server.handle_exit(signal.SIGINT, None) or log.disabled for _ in range(2)] == [False, True]
