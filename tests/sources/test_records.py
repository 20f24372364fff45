import json
import re

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ParameterError
from neardup.sources.records import decoder, fault_of, kind_of, kinds_in, literal_of, reason_of


def test_wanted_fields_are_decoded_and_others_left():
    record = decoder("text", ("id", "a b"))(memoryview(b'{"id": 7, "more": [1, {}], "text": "x", "a b": "\\u00e9"}'))
    assert (record.f0, bytes(record.f1), bytes(record.f2)) == ("x", b"7", b'"\\u00e9"')
    missing = decoder("text", ("id",))(memoryview(b"{}"))
    assert (missing.f0, bytes(missing.f1)) == (None, b"")


@pytest.mark.parametrize(
    ("token", "literal", "kind"),
    [
        (b"", None, ""),
        (b"null", None, ""),
        (b'"a"', "a", "a string"),
        (b'"\\u00e9\\n"', "\u00e9\n", "a string"),
        (b"1.50", "1.50", "a number"),
        (b"-7", "-7", "a number"),
        (b"7.0", "7", "a number"),
        (b"1e3", "1000", "a number"),
        (b'"1.0"', "1.0", "a string"),
        (b"9007199254740993.0", "9007199254740993.0", "a number"),
        (b"1e1000000000000000000", "1e1000000000000000000", "a number"),
        (b"0.1000", "0.1000", "a number"),
        (b"12345678901234567890", "12345678901234567890", "a number"),
        (b"1e-400", "1e-400", "a number"),
        (b"[1]", TypeError, "a list"),
        (b"{}", TypeError, "an object"),
        (b"true", TypeError, "true or false"),
        (b"false", TypeError, "true or false"),
    ],
)
def test_values_as_they_are_written(token, literal, kind):
    assert kind_of(token) == kind
    if literal is TypeError:
        with pytest.raises(TypeError, match=kind):
            literal_of(token)
    else:
        assert literal_of(token) == literal


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b" \r\n", ""),
        (b'{"text": "a"', "it is incomplete JSON: it ends too early"),
        (b'{"text": 5}', "its 'text' must be a string, not an integer"),
        (b'{"text": ["a"]}', "its 'text' must be a string, not a list"),
        (b"[1]", "it must be an object, not a list"),
        (b'"text"', "it must be an object, not a string"),
        (b"null", "it must be an object, not null"),
        (b'{"text": NaN}', "it has NaN at byte 10, which JSON does not have; write null"),
        (b'{"text": "\\ud800"}', "half a surrogate pair"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it is nested too deeply"),
        (b"text", "it is not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_line(line, reason):
    with pytest.raises((msgspec.MsgspecError, RecursionError, UnicodeDecodeError)) as caught:
        decoder("text", ())(memoryview(line))
    assert reason in reason_of(line, caught.value, "text")
    assert bool(reason_of(line, caught.value, "text")) == bool(reason)


def test_names_may_be_strings_of_numpy():
    found = decoder(np.str_("body.text"), (np.str_("id"),))(memoryview(b'{"body": {"text": "one"}, "id": 7}'))
    assert (found.f0, bytes(found.f1)) == ("one", b"7")


def test_a_field_is_inside_a_limited_number_of_objects():
    line = memoryview(b'{"a":' * 100 + b'{"a": "deepest"}' + b"}" * 100)
    assert decoder(".".join("a" * 101), ())(line).f0 == "deepest"
    for text, names in ((".".join("a" * 102), ()), ("text", (".".join("a" * 5000),))):
        with pytest.raises(ParameterError, match="must be inside at most 100 objects"):
            decoder(text, names)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "a\udc80", 'a.b"c'])
def test_names_that_json_escapes_are_refused_by_name(name):
    for text, names in ((name, ("id",)), ("text", ("id", name))):
        with pytest.raises(ParameterError, match="must be valid UTF-8, without quotation marks, backslashes") as caught:
            decoder(text, names)
        assert (caught.value.name, caught.value.value) == ("field", name)


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
        (b'{"a": 1} {', "is not valid JSON at byte 10: trailing characters"),
        (b'{"a": 1},', "is not valid JSON at byte 9: trailing characters"),
        (b"{'a': 1}", "is not valid JSON at byte 2: object keys must be strings"),
        (b"oops", "is not valid JSON at byte 1: invalid character"),
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
