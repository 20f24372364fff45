"""One JSON record: decoding the requested fields, and the faults of JSON in plain words."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

import msgspec

from neardup.model.errors import ParameterError
from neardup.model.written_values import EXACT

Decode = Callable[[memoryview], Any]

_DEEPEST: Final = 100  # objects around a field
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')
_SHOWN: Final = 40  # characters of a name in a message
_AT: Final = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_KINDS: Final = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_NOT_A_NUMBER: Final = re.compile(rb"NaN|-?Infinity")
_ESCAPE: Final = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.", re.DOTALL)
_NAMES: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "an integer",
    "object": "an object",
    "str": "a string",
}
_STARTS: Final = {b"[": "a list", b"{": "an object", b"t": "true or false", b"f": "true or false"}


@lru_cache(64)  # streams decode some lines at a time
def decoder(text: str | None, names: tuple[str, ...]) -> Decode:
    """Return a decoder of the requested fields: ``f0`` the text, if requested, ``f1``... the others, undecoded.

    A name with dots, such as ``body.content``, is a field of an object inside the record, unless the record itself has
    a field of exactly this name.
    """
    for name in (*names, text or ""):
        if name.count(".") > _DEEPEST:
            raise ParameterError("field", f"{name[:_SHOWN]}...", f"must be inside at most {_DEEPEST} objects")
        if _ESCAPED.search(name):  # such names are not supported
            rule = "must be valid UTF-8, without quotation marks, backslashes and control characters"
            raise ParameterError("field", name, rule)
    fields = {f"f{index}": str(name) for index, name in enumerate(names, 1)}
    members: list[tuple[str, Any, Any]] = [(field, msgspec.Raw, msgspec.Raw()) for field in fields]
    if text is not None:
        fields["f0"] = str(text)
        members.append(("f0", str | None, None))
    given = {name: field for field, name in fields.items()}
    nested: list[tuple[str, str, Decode]] = []
    for field, name in [*fields.items()]:
        head, dot, rest = name.partition(".")
        if dot and head != text:  # a text is never an object
            if head not in given:
                given[head] = f"h{len(given)}"
                fields[given[head]] = head
                members.append((given[head], msgspec.Raw, msgspec.Raw()))
            nested.append((field, given[head], decoder(rest, ()) if field == "f0" else decoder(None, (rest,))))
    record = msgspec.defstruct("Record", members, rename=fields, gc=False)
    decode: Decode = msgspec.json.Decoder(record).decode
    return _through_objects(decode, nested) if nested else decode


def _through_objects(decode: Decode, nested: list[tuple[str, str, Decode]]) -> Decode:
    """Return a decoder that takes missing *nested* fields from the objects that hold them."""

    def decode_nested(line: memoryview) -> Any:
        found = decode(line)
        for field, head, member in nested:
            value = getattr(found, field)
            if not value and value != "" and _is_object(holder := memoryview(getattr(found, head))):
                setattr(found, field, getattr(member(holder), "f0" if field == "f0" else "f1"))
        return found

    return decode_nested


def _is_object(value: memoryview) -> bool:
    return bytes(value[:1]) == b"{"


def field_names(line: memoryview, prefix: str = "") -> Iterator[str]:
    """Yield the names of a record's fields; an object is represented by its own fields, ``body.content``."""
    for name, value in msgspec.json.decode(line, type=dict[str, msgspec.Raw]).items():
        if _is_object(inner := memoryview(value)) and any(inner[1:-1]):
            yield from field_names(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def literal_of(token: bytes) -> str | None:
    """Return a string, or a number as written, but a whole number below 2^53 as ``written_values`` returns it.

    ``None`` for null and missing; ``TypeError`` for other kinds.

    >>> [literal_of(token) for token in (b"1.0", b"1e3", b"2.50", b'"1.0"')]
    ['1', '1000', '2.50', '1.0']
    """
    if not token or token == b"null":
        return None
    if token[0] == ord('"'):
        return str(msgspec.json.decode(token)) if b"\\" in token else token[1:-1].decode()
    if kind := _STARTS.get(token[:1]):
        raise TypeError(kind)
    written = token.decode()
    if not any(mark in written for mark in ".eE"):
        return written
    try:
        number = Decimal(written)
    except InvalidOperation:  # an exponent of more than 18 digits
        return written
    whole = -EXACT < number < EXACT and number == number.to_integral_value()
    return str(int(number)) if whole else written


def value_of(token: bytes) -> str | None:
    """Return what ``literal_of`` does, and true or false as written, as tables have them."""
    return token.decode() if token in {b"true", b"false"} else literal_of(token)


def kind_of(token: bytes) -> str:
    """Return the name of a value's kind for messages; empty for null and missing values."""
    if not token or token == b"null":
        return ""
    return _STARTS.get(token[:1], "a string" if token[:1] == b'"' else "a number")


def is_blank(line: bytes) -> bool:
    """Return whether a line has no record."""
    return not line.strip(b" \t\r\n")


def reason_of(line: bytes, error: Exception, text: str) -> str:
    """Describe what is wrong with a line; empty if the line is blank."""
    if is_blank(line):
        return ""
    if isinstance(error, msgspec.ValidationError):
        kinds = kinds_in(str(error))
        rule = f"its {text!r} must be a string" if "`$" in str(error) else "it must be an object"
        return f"{rule}, not {kinds[1] if kinds else 'a number'}"  # out of range
    return f"it {fault_of(line, error)}"


def fault_of(data: bytes | bytearray, error: Exception) -> str:
    """Describe why *data* is not JSON: a sentence without its subject. Bytes are counted from 1, as in editors.

    >>> import msgspec
    >>> try:
    ...     msgspec.json.decode(b'{"a": NaN}')
    ... except msgspec.DecodeError as error:
    ...     fault_of(b'{"a": NaN}', error)
    'has NaN at byte 7, which JSON does not have; write null'
    """
    if isinstance(error, UnicodeError):
        return "is not valid UTF-8"
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    found = _AT.fullmatch(str(error))
    what, place = (found[1], int(found[2])) if found else ("", len(data))  # the other error: it is truncated
    place -= what == "trailing characters"  # the only place that the decoder counts from 1
    if value := _NOT_A_NUMBER.match(data, place - (data[place - 1 : place] == b"-")):
        return f"has {value[0].decode()} at byte {value.start() + 1:,}, which JSON does not have; write null"
    half = next((escape for escape in _ESCAPE.finditer(data) if escape[1]), None)
    if half and half.start() < place and (found or half.end() < len(data)):
        return f"has half a surrogate pair at byte {half.start() + 1:,}; write both halves, such as \\ud83d\\ude00"
    if not found:
        return "is incomplete JSON: it ends too early"
    return f"is not valid JSON at byte {place + 1:,}: {what}"


def kinds_in(message: str) -> tuple[list[str], str] | None:
    """Return the kinds of values that an error of the decoder expects, and the kind that it found.

    >>> kinds_in("Expected `int | float | null`, got `array` - at `$.size`")
    (['a number', 'null'], 'a list')

    ``None`` if the error is about another rule.
    """
    found = _KINDS.match(message)
    if found is None:
        return None
    expected = found[1].replace("int | float", "float").split(" | ")
    got = "a number with a fraction" if found[2] == "float" and "int" in expected else _NAMES.get(found[2], found[2])
    return [_NAMES.get(name, name) for name in expected], got
