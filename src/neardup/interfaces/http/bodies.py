"""Bodies and queries of requests as typed structures, and answers as JSON."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
import numpy as np

from neardup.interfaces.http.limits import BATCH, DEPTH, PAGE
from neardup.interfaces.http.parameters import parameter_error
from neardup.interfaces.http.problems import INVALID, MALFORMED, TOO_DEEP, Refused

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
Size = Annotated[int, msgspec.Meta(ge=1, le=PAGE)]
Page = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
GroupId = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,19}$")]  # a string: not all programs read such integers
Value = str | int | float | bool | None

_LONE: Final = re.compile(  # an escaped half of a surrogate pair without the other half
    rb"\\u[Dd][89ABab][0-9A-Fa-f]{2}(?!\\u[Dd][C-Fc-f])|(?<!\\u[Dd][89ABab][0-9A-Fa-f]{2})\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}"
)
_STEP: Final = 1 << 20  # bytes that are looked at together
_PARTS: Final = 10_000
_MOST_PARAMETERS: Final = 32


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A body or a query: closed, an unknown name is an error."""


def batch(kind: Any) -> Any:
    """Give the type of a list of 1 to ``BATCH``."""
    return Annotated[list[kind], msgspec.Meta(min_length=1, max_length=BATCH)]


def body_decoder(kind: type) -> Callable[[bytes], Any]:
    """Give what takes a body for a structure, or refuses it."""
    decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode

    def decoded(body: bytes) -> Any:
        try:
            return decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise _refusal(body, error) from None

    return decoded


def _refusal(body: bytes, error: Exception) -> Refused:
    if depth_of(body) > DEPTH:
        return Refused(TOO_DEEP)
    if isinstance(error, msgspec.ValidationError):
        return Refused(INVALID, str(error))
    return Refused(MALFORMED, _malformed(body, error))


def _malformed(body: bytes, error: Exception) -> str:
    """Say what is wrong with what should be JSON."""
    lone = _LONE.search(body.replace(b"\\\\", b"__"))
    if not isinstance(error, msgspec.MsgspecError):
        return "The body is not valid UTF-8."
    if not body:
        return "The request has no body."
    if lone is not None:
        return f"The JSON has half a surrogate pair at byte {lone.start()}."
    return f"The JSON ends in the middle, at byte {len(body)}." if "truncated" in str(error) else str(error)


def depth_of(body: bytes) -> int:
    r"""Say how deep arrays and objects are nested in JSON, or in what begins as such.

    >>> depth_of(b'{"a": [1, "[[[", "\\\\"]"]}')
    2
    """
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")  # so that each quote begins or ends a string
    deepest, depth, inside = 0, 0, 0
    for begin in range(0, len(plain), _STEP):
        letters = np.frombuffer(plain, np.uint8, min(_STEP, len(plain) - begin), begin)
        quotes = np.cumsum(letters == ord('"'), dtype=np.int32) + inside
        opened = ((letters == ord("[")) | (letters == ord("{"))).astype(np.int8)
        closed = ((letters == ord("]")) | (letters == ord("}"))).astype(np.int8)
        depths = np.cumsum((opened - closed) * (quotes % 2 == 0), dtype=np.int32) + depth
        deepest, depth, inside = max(deepest, int(depths.max())), int(depths[-1]), int(quotes[-1] % 2)
    return deepest


def query_of(kind: type, query: bytes, own: dict[str, str]) -> Any:
    """Take the query of an address, and what its path says, for a structure, or refuse it."""
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeError:
        raise Refused(MALFORMED, "The query is not percent-encoded UTF-8.") from None
    except ValueError:
        raise Refused(INVALID, f"The query has more than {_MOST_PARAMETERS} parameters.") from None
    given: dict[str, str] = dict(own)
    for name, value in pairs:
        if name in given:
            raise Refused(INVALID, f"{name[:40]!r} is given twice")
        given[name] = value
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(INVALID, parameter_error(kind, error)) from None


def id_of(raw: bytes) -> str:
    """Give the id at the end of a path, which may have any character, percent-encoded.

    >>> id_of(b"http%3A//a.example/%E2%82%AC")
    'http://a.example/€'
    """
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Refused(MALFORMED, "The id is not percent-encoded UTF-8.") from None


@lru_cache(maxsize=4096)  # of so many columns that may agree, few shares are different; scores pass through
def rounded(number: float | None) -> float | None:
    """Give a value as it is shown: with four digits behind the point, and never a 1 that is none.

    >>> rounded(0.123456), rounded(0.99999), rounded(1.0), rounded(2.0)
    (0.1235, 0.9999, 1.0, 2.0)
    """
    if number is None:
        return None
    shown = int(number * _PARTS + 0.5) / _PARTS  # of what is not negative; ``round`` takes ten times as long
    return shown if number >= 1 or shown < 1 else 1 - 1 / _PARTS


encode: Final = msgspec.json.Encoder(enc_hook=str).encode
