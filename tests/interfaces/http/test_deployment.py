import json
import signal

import pytest
from programs import by_then, get

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
