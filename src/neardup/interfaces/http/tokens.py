"""Tokens and what they allow; only their hashes are stored."""

import re
import secrets
from base64 import b64decode
from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Final, Literal, Self, get_args

from neardup.model.errors import NO_FILE, DataError, InputRefused, OutputError, OutputRefused, raising

Scope = Literal["read", "write"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)  # each includes those before it
_LINE: Final = re.compile(r"(read|write)\s+sha256:([0-9a-f]{64})(?:\s.*)?")
_TOKEN_BYTES: Final = 32
_MOST_BYTES: Final = 1 << 20


class Tokens:
    """Known tokens, by their hashes.

    >>> token, line = new_token("read")
    >>> known = Tokens.parsed([line])
    >>> known.scope_of(token.encode()), known.scope_of(b"another one")
    ('read', None)
    """

    def __init__(self, known: Iterable[tuple[Scope, bytes]]) -> None:
        self.known = tuple(known)

    def __len__(self) -> int:
        return len(self.known)

    @classmethod
    def parsed(cls, lines: Iterable[str], name: str = "tokens") -> Self:
        """Read lines ``SCOPE sha256:HEX REMARK``; empty lines and comments (``#``) are ignored."""
        known: list[tuple[Scope, bytes]] = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = _LINE.fullmatch(line.strip())
            if found is None:
                rule = "is not a valid token line: write SCOPE sha256:HEX, with SCOPE read or write"
                raise InputRefused(f"{name}:{number}", rule)
            scope: Scope = "write" if found[1] == "write" else "read"
            known.append((scope, bytes.fromhex(found[2])))
        return cls(known)

    @classmethod
    def in_file(cls, name: str) -> Self:
        """Read a token file."""
        with raising(DataError.by, name, "the tokens"), Path(name).open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise InputRefused(name, f"a token file has at most {_MOST_BYTES:,} bytes")
        known = cls.parsed(content.decode(errors="replace").splitlines(), name)
        if not known:
            raise InputRefused(name, "has no token; --new-token makes one")
        return known

    def scope_of(self, token: bytes) -> Scope | None:
        """Return what a token allows; the time this takes does not depend on the known tokens."""
        own, allowed = sha256(token).digest(), -1
        for scope, known in self.known:
            if compare_digest(own, known):
                allowed = max(allowed, SCOPES.index(scope))
        return SCOPES[allowed] if allowed >= 0 else None


def new_token(scope: Scope) -> tuple[str, str]:
    """Make a token and its line of a token file."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    return token, f"{scope} sha256:{sha256(token.encode()).hexdigest()}"


def add_token(scope: Scope, name: str) -> str:
    """Make a token and add its line to a file, which only its owner may read if it is new; return the token."""
    token, line = new_token(scope)
    path = Path(name)
    try:
        path.touch(0o600)
        with path.open("r+b") as stream:
            ends = stream.seek(0, 2)
            if ends:
                stream.seek(ends - 1)
                line = line if stream.read(1) == b"\n" else f"\n{line}"
            stream.write(f"{line}\n".encode())
    except FileNotFoundError as error:
        rule = f"the token cannot be saved: the folder {path.parent} does not exist"
        raise OutputRefused(name, rule, NO_FILE) from error
    except OSError as error:
        raise OutputError.by(error, name) from error
    return token


def presented(authorization: bytes, *, basic: bool) -> bytes | None:
    """Return the token in an Authorization header: a Bearer token or, with *basic*, the password of any user."""
    way, _, credentials = authorization.strip().partition(b" ")
    credentials = credentials.strip()
    if way.lower() == b"bearer":
        return credentials or None
    if way.lower() == b"basic" and basic:
        try:
            return b64decode(credentials, validate=True).partition(b":")[2] or None
        except ValueError:
            return None
    return None
