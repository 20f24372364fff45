import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.http.bodies import _STEP, body_decoder, depth_of, id_of, rounded
from neardup.interfaces.http.problems import Refused


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


JSON = st.recursive(
    st.none() | st.text(alphabet='[]{}"\\ab') | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='[]{}"\\'), inner),
)


@given(JSON)
def test_how_deep_json_is(value):
    assert depth_of(json.dumps(value).encode()) == depth(value)


def test_how_deep_long_json_is():
    inside = '"' + "[" * (_STEP + 10) + '"'
    assert depth_of(f"[[{inside}],{'[' * 5}".encode()) == 6
    assert depth_of(b"[" * (2 * _STEP)) == 2 * _STEP
    assert depth_of(b"[]" * _STEP) == 1


@given(st.binary())
def test_whatever_comes_has_a_depth(body):
    assert 0 <= depth_of(body) <= len(body)


@given(st.text(min_size=1))
def test_ids_come_back(name):
    from urllib.parse import quote

    try:
        quoted = quote(name, safe="")
    except UnicodeEncodeError:
        return
    assert id_of(quoted.encode()) == name


def test_ids_that_are_no_text():
    with pytest.raises(Refused):
        id_of(b"%FF")


@given(st.floats(0, 1))
def test_what_is_shown_of_a_share(share):
    shown = rounded(share)
    assert abs(shown - share) <= 1e-4
    assert (shown == 1) == (share == 1)
    assert len(repr(shown).partition(".")[2]) <= 4 or shown < 1e-4


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "The request has no body."),
        (b'{"a": [1', "The JSON ends in the middle, at byte 8."),
        (rb'{"a": "\ud800"}', "The JSON has half a surrogate pair at byte 7."),
        (rb'{"a": "\ud83d\ude00 \uDE00x"}', "The JSON has half a surrogate pair at byte 20."),
        (rb'{"a": "\\ud800"', "The JSON ends in the middle, at byte 15."),
        (b'{"a": "\xff"}', "The body is not valid UTF-8."),
        (b'{"a": 1,}', "JSON is malformed: trailing comma in object (byte 8)"),
    ],
)
def test_what_is_wrong_with_json_is_said(body, detail):
    with pytest.raises(Refused) as refused:
        body_decoder(dict)(body)
    assert (refused.value.kind.name, refused.value.detail) == ("malformed", detail)
