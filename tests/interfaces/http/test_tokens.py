import re
import stat
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import NeardupError
from neardup.interfaces.http.tokens import Tokens, add_token, new_token, presented


def test_a_file_of_tokens(tmp_path):
    path = tmp_path / "tokens"
    made = {scope: add_token(scope, str(path)) for scope in ("read", "write", "read")}
    path.write_text(f"# who may do what\n\n{path.read_text()}".rstrip("\n"))
    last = add_token("write", str(path))  # behind a line that has no end
    known = Tokens.in_file(str(path))
    assert len(known) == 4
    assert [known.scope_of(token.encode()) for token in (made["read"], made["write"], last)] == [
        "read",
        "write",
        "write",
    ]
    assert not any(token in path.read_text() for token in (*made.values(), last))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_of_several_lines_may_do_the_most_of_them():
    token, line = new_token("read")
    more = line.replace("read", "write")
    assert [Tokens.parsed(lines).scope_of(token.encode()) for lines in ([more, line], [line, more])] == ["write"] * 2


def test_lines_may_have_remarks():
    token, line = new_token("write")
    assert Tokens.parsed([f"  {line}  the crawler, 2026  "]).scope_of(token.encode()) == "write"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# nobody",
        "read",
        "admin sha256:" + "0" * 64,
        "read sha256:" + "0" * 63,
        "read sha256:" + "0" * 65,
        "#" * (1 << 20) + "\nread sha256:" + "0" * 64,
        "read sha256:" + "G" * 64,
        "\0",
        "\xff",
    ],
    ids=ascii,
)
def test_invalid_token_files_are_errors(tmp_path, content):
    path = tmp_path / "tokens"
    path.write_text(content, "latin-1")
    with pytest.raises(NeardupError) as error:
        Tokens.in_file(str(path))
    assert not re.search("0{60}|G{60}", str(error.value))  # it may be a secret


def test_a_token_file_that_cannot_be_read_is_an_error(tmp_path):
    for name in (tmp_path / "nothing", tmp_path):
        with pytest.raises(NeardupError, match="cannot be read"):
            Tokens.in_file(str(name))


@given(st.binary())
def test_no_other_token_is_known(token):
    assert Tokens.parsed([new_token("write")[1]]).scope_of(token) is None


@given(st.binary())
def test_any_header_is_parsed_or_presents_no_token(header):
    presented(header, basic=True)
    assert presented(b"Basic " + header, basic=False) is None


def test_the_token_of_a_header_is_found():
    assert presented(b"Bearer abc", basic=False) == b"abc"
    assert presented(b"bearer  abc ", basic=False) == b"abc"
    assert presented(b"Basic " + b64encode(b"me:a:b"), basic=True) == b"a:b"
