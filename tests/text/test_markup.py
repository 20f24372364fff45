import pytest

from neardup.text.markup import MOST, MOST_BYTES, shape

HOSTILE = {
    "nesting": b"<div>" * 20_000,
    "attributes": b"<a " + b"x " * 30_000 + b">",
    "choices": b"<select>" + b"<option>" * 30_000,
    "formatting": b"".join(b"<b id=%d>" % number for number in range(500)) + b"<p>x</p>" * 5_000,
    "reopened": b"".join(b"<b id=%d>" % number for number in range(60)) + b"<p>x</p>" * 5_000,
    "walked": b"<div>" * 500 + b"<p>x</p>" * 50_000,
    "tags": b"<br>" * 300_000,
    "values": b"<p a b c d e f g h>" * 70_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes_are_over_a_limit(name):
    found = shape(HOSTILE[name])
    assert getattr(found, name) > MOST[name]
    assert not found.bearable


def test_a_page_of_many_bytes_is_not_bearable():
    assert shape(b" " * MOST_BYTES).bearable
    assert not shape(b" " * (MOST_BYTES + 1)).bearable


def test_ordinary_pages_are_bearable():
    page = b"<html><body><table>" + b"<tr><td><p>text<td><a href=x>link</a>" * 500 + b"</table><ul>" + b"<li>x" * 5_000
    assert shape(page).bearable
    assert shape(b"").bearable
