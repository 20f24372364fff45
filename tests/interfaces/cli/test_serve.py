"""What `neardup serve` refuses before it serves, and the tokens that it makes; the rest is in tests/interfaces/http."""

import socket
import subprocess
import sys

import pytest

from neardup import Index
from neardup.interfaces.http.tokens import Tokens
from neardup.pipeline.index.page_terms import require_extraction
from neardup.text.extraction import Extraction


@pytest.fixture
def seen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Index.create("seen").close()
    return "seen"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "is needed: the folder"),
        (["nothing"], "there is nothing at this path"),
        (["seen", "--port", "65536"], "--port"),
        (["seen", "--workers", "0"], "--workers"),
        (["seen", "--memory", "256"], "--memory 256: the value must be an integer of at least 1,048,576 (bytes)"),
        (["seen", "--host", "::"], "needs --token-file; --new-token makes tokens"),
        (["seen", "--host", "example.org"], "--token-file"),
        (["seen", "--token-file", "nothing"], "neardup serve --new-token read --token-file FILE writes such"),
        (["seen", "--key-file", "nothing"], "a key is a file of 16 bytes or 32 hexadecimal digits"),
        (["seen", "--allow-host", "a b"], "--allow-host"),
        (
            ["seen", "--allow-host", "*.example"],
            "--allow-host *.example: the value must be the name of a host, without",
        ),
        *(
            (["seen", "--trust-proxy", wrong], f"--trust-proxy {wrong}")
            for wrong in ("foo", "10.0.0.1/8", "*", "::1,::2")
        ),
        (["--new-token", "read", "--token-file", "no/t"], "the token cannot be saved: the folder no does not exist"),
        (["--new-token", "read"], "needs --token-file"),
        (["--new-token", "all", "--token-file", "x"], "invalid choice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_options_are_reported(neardup, seen, options, said):
    port = [] if "--port" in options else ["--port", "0"]  # another program may use that of the default
    assert said in neardup("serve", *options, *port, code=2).err


def test_pages_that_were_read_in_another_view(neardup, seen):
    with Index.open(seen, "w") as index:
        require_extraction(index, Extraction(view="visible"))
    shown = neardup("serve", seen, "--port", "0", "--text-view", "main", code=2).err
    assert "its pages were read in the text view visible, and the new ones in the text view main" in shown
    assert "leave out --text-view, or use the view of" in shown


def test_a_host_that_is_unknown(neardup, seen):
    neardup("serve", "--new-token", "read", "--token-file", "tokens")
    shown = neardup("serve", seen, "--host", "nowhere.invalid", "--token-file", "tokens", code=2).err
    assert "--host nowhere.invalid is not an address of this machine: " in shown


def test_a_port_that_is_taken(neardup, seen):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = neardup("serve", seen, "--port", port, code=2).err
    assert f"--port {port} cannot be used on 127.0.0.1: another program uses it; choose another port" in shown
    with Index.open(seen, "w"):  # nothing is held after it
        pass


def test_tokens_are_made(neardup):
    made = [neardup("serve", "--new-token", scope, "--token-file", "tokens") for scope in ("read", "write")]
    known = Tokens.in_file("tokens")
    assert [known.scope_of(one.out.strip().encode()) for one in made] == ["read", "write"]
    assert "shown only this once" in made[0].err


def test_a_token_file_without_tokens(neardup, seen, tmp_path):
    (tmp_path / "tokens").touch(0o600)
    assert "has no token" in neardup("serve", seen, "--token-file", "tokens", code=2).err


def test_without_the_extra_it_says_what_to_install(seen):
    script = (
        "import sys; sys.modules['uvicorn'] = None; from neardup.interfaces.cli import main;"
        "sys.exit(main(['serve', 'seen', '--port', '0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 2
    assert "needs uvicorn, which is not installed: pip install 'neardup[web]'" in done.stderr
