"""The faults of JSON in plain words, from the errors of its decoder."""

import re
from typing import Final

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
    behind = what == "trailing characters"  # the only place that the decoder counts from 1
    place -= behind
    if value := _NOT_A_NUMBER.match(data, place - (data[place - 1 : place] == b"-")):
        return f"has {value[0].decode()} at byte {value.start() + 1:,}, which JSON does not have; write null"
    half = next((escape for escape in _ESCAPE.finditer(data) if escape[1]), None)
    if half and half.start() < place and (found or half.end() < len(data)):
        return f"has half a surrogate pair at byte {half.start() + 1:,}; write both halves, such as \\ud83d\\ude00"
    if not found:
        return "is incomplete JSON: it ends too early"
    return f"is not valid JSON at byte {place + 1:,}: {what}{_rule_at(data, place, behind=behind)}"


def _rule_at(data: bytes | bytearray, place: int, *, behind: bool) -> str:
    """Return the rule that a usual mistake breaks; *behind* if it follows a whole value."""
    found = data[place : place + 1]
    if behind:
        return "; only one object is allowed" if found == b"{" else ""
    if found == b"'":
        return "; write strings in double quotes"
    return "" if data[:place].strip() else "; begin with {"


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
