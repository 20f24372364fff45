"""The faults of JSON in plain words."""

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.sources.json_faults import fault_of, kinds_in

HALF = "has half a surrogate pair at byte {}; write both halves, such as \\ud83d\\ude00"
VALUE = "has {} at byte {}, which JSON does not have; write null"
DECODERS = {"any": msgspec.json.Decoder(), "raw": msgspec.json.Decoder(dict[str, msgspec.Raw])}


@pytest.mark.parametrize("kind", DECODERS)
@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "is incomplete JSON: it ends too early"),
        (b'{"a": 1', "is incomplete JSON: it ends too early"),
        (b'{"a": "\\\\ud800"', "is incomplete JSON: it ends too early"),
        (b'{"a": "\\ud83d"}', HALF.format(8)),
        (b'{"a": "\\ud83d and more letters"}', HALF.format(8)),
        (b'{"a": "\\ud83d\\ude00 \\ude00 and more letters"}', HALF.format(21)),
        (b'{"a": "\\ud83d\\u0041 and more letters"}', HALF.format(8)),
        (b'{"\\udc00": "a"}', HALF.format(3)),
        (b'{"a": x, "b": "\\ud83d"}', "is not valid JSON at byte 7: invalid character"),
        (b'{"a": NaN}', VALUE.format("NaN", 7)),
        (b'{"a": -Infinity}', VALUE.format("-Infinity", 7)),
        (b"Infinity", VALUE.format("Infinity", 1)),
        (b'{"a": 1} {', "is not valid JSON at byte 10: trailing characters; only one object is allowed"),
        (b'{"a": 1},', "is not valid JSON at byte 9: trailing characters"),
        (b"{'a': 1}", "is not valid JSON at byte 2: object keys must be strings; write strings in double quotes"),
        (b"oops", "is not valid JSON at byte 1: invalid character; begin with {"),
        (b'{"a": ' + b"[" * 200_000, "is nested too deeply"),
    ],
)
def test_a_fault_is_named_with_its_place(data, fault, kind):
    with pytest.raises((msgspec.DecodeError, RecursionError)) as caught:
        DECODERS[kind].decode(data)
    assert fault_of(data, caught.value) == fault


def test_invalid_utf8_is_a_fault():
    with pytest.raises(UnicodeError) as caught:
        msgspec.json.decode(b'"\xff"')
    assert fault_of(b'"\xff"', caught.value) == "is not valid UTF-8"


@given(st.binary() | st.text(alphabet='{"a\\ud8cN-I1:,]} ').map(str.encode))
def test_every_fault_is_described(data):
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError) as error:
        fault = fault_of(data, error)
        assert re.match("has |is ", fault)
        if "half" in fault:
            with pytest.raises((ValueError, UnicodeError)):
                json.dumps(json.loads(data), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("kind", "data", "kinds"),
    [
        (dict, b"[]", (["an object"], "a list")),
        (dict[str, str | None], b'{"a": 1}', (["a string", "null"], "an integer")),
        (dict[str, bool | int | float], b'{"a": null}', (["true or false", "a number"], "null")),
        (int, b"1e999", None),
    ],
)
def test_the_kinds_of_an_error_are_named(kind, data, kinds):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(data, type=kind)
    assert kinds_in(str(caught.value)) == kinds
