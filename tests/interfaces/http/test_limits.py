"""Limits of the service, and of the proxies in the guide, which nginx and Caddy check where they are installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from neardup.interfaces.http.limits import Limits

GUIDE = Path(__file__).resolve().parents[3] / "docs/guide/serving.md"


def block(word):
    blocks = re.findall(r"^```text\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if word in block]
    return found


def seconds(name, text):
    return int(re.search(rf"\b{name} (\d+)s\b", text)[1])


def test_nginx_has_complete_directives_and_limits_of_the_service():
    text = block("limit_conn")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert all(line.endswith((";", "{", "}")) for line in lines)
    assert text.count("{") == text.count("}")
    assert f"client_max_body_size {Limits().body >> 20}m;" in lines
    assert "proxy_pass http://neardup;" in lines  # with a path, nginx would decode percent-encoded slashes
    assert seconds("client_body_timeout", text) <= Limits().body_seconds
    assert seconds("proxy_read_timeout", text) > Limits().body_seconds


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_accepts_its_configuration(tmp_path):
    text = re.sub(r"ssl_certificate.*", "", block("limit_conn")).replace("listen 443 ssl", "listen 127.0.0.1:8443")
    wrapped = f"pid {tmp_path}/pid; events {{}} http {{ {text} }}"
    (tmp_path / "nginx.conf").write_text(wrapped)
    command = ["nginx", "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", timeout=120)
    assert "syntax is ok" in done.stderr


def test_caddy_has_balanced_blocks_and_limits_of_the_service():
    text = block("reverse_proxy")
    assert text.count("{") == text.count("}")
    assert all(line.startswith(("\t", "{", "}", "search.example {")) for line in text.splitlines() if line)
    assert f"max_size {Limits().body >> 20}MB" in text
    assert f"max_header_size {Limits().head >> 10}KB" in text
    assert seconds("read_body", text) <= Limits().body_seconds


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed")
def test_caddy_accepts_its_configuration(tmp_path):
    (tmp_path / "Caddyfile").write_text(block("reverse_proxy"))
    command = ["caddy", "adapt", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
