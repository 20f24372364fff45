import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels import markup
from neardup.text.markup import _KINDS, _elements

KINDS = {name: kind for kind, names in _KINDS.items() for name in names.split()}
VALUE = rb"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))?"""
ATTRIBUTE = re.compile(rb"[^\s/>][^\s/>=]*+" + VALUE)
TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)((?:[\s/]|[^\s/>][^\s/>=]*+" + VALUE + rb")*+)(>|\Z)")
COMMENT = re.compile(rb"<!--(?:-?>|.*?--!?>|.*\Z)", re.DOTALL)
DECLARATION = re.compile(rb"<[/!?][^>]*(?:>|\Z)")
PIECES = [
    *(b"<b>", b"</b>", b"<div>", b"</div>", b"<div/>", b"<p>", b"<br>", b"<option>", b"</option>", b"<path />"),
    *(b"<a x='>' y=\"'\" z = 1>", b"<a b='c", b"<x =y//z>", b"<!-- <b> -->", b"<!-->", b"<!--->", b"<!-- --!>", b"<!"),
    *(
        b"<script>",
        b"</script>",
        b"</scripts>",
        b"</SCRIPT >",
        b"<style a=/>",
        b"</style",
        b"<textarea>",
        b"</textarea>",
    ),
    *(
        b"<blockquote>",
        b"</blockquote>",
        b"<?php ",
        b"</ >",
        b"<",
        b">",
        b" ",
        b"\n",
        b"text",
        b"\xc3\xa9",
        b"\x0b",
        b"=",
    ),
]


def oracle(page):
    found = dict.fromkeys(range(markup.NUMBERS), 0)
    nesting = formatting = place = 0
    while place < len(page):
        if tag := TAG.match(page, place):
            closing, name, attributes = bool(tag[1]), tag[2].lower().decode("latin-1"), tag[3]
            kind = KINDS.get(name, 0)
            listed = len(ATTRIBUTE.findall(attributes))
            found[markup.ATTRIBUTES] = max(found[markup.ATTRIBUTES], listed)
            found[markup.VALUES] += listed
            found[markup.TAGS] += 1
            found[markup.REOPENED] += formatting
            found[markup.WALKED] += nesting
            found[markup.CHOICES] += kind == markup.CHOICE and not closing
            alone = bool(tag[4]) and re.sub(ATTRIBUTE, b"a", attributes).endswith(b"/")
            if kind == markup.FORMATTING:
                formatting = max(0, formatting - 1) if closing else formatting + 1
            if kind in {0, markup.FORMATTING} and (closing or kind or not alone):
                nesting = max(0, nesting - 1) if closing else nesting + 1
            found[markup.OPEN] = max(found[markup.OPEN], formatting)
            found[markup.NESTING] = max(found[markup.NESTING], nesting)
            place = tag.end()
            if kind == markup.RAW and not closing:
                end = re.compile(rb"</" + name.encode() + rb"(?=[\s/>])", re.IGNORECASE).search(page, place)
                place = end.start() if end else len(page)
        elif other := COMMENT.match(page, place) or DECLARATION.match(page, place):
            place = other.end()
            found[markup.TAGS] += 1
        else:
            found[markup.SHOWN] += page[place] > 0x20
            place += 1
    return [found[number] for number in range(markup.NUMBERS)]


def measured(page):
    found = np.full(markup.NUMBERS, -1, np.int64)
    markup.shape(np.frombuffer(page, np.uint8), *_elements(), found)
    return found.tolist()


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
@example(b"<b>" * 3 + b"<p>x</p>" * 2)
@example(b"<div><div></div></div></div><div>")
@example(b"<a x=1 y z='2' / w>")
@example(b"<title><b></title><b>")
def test_pages_are_measured_as_defined(page):
    page = page.replace(b"\x0b", b"v")  # to Python's patterns it is white space
    assert measured(page) == oracle(page)


@pytest.mark.parametrize(
    ("page", "number", "expected"),
    [
        (b"<div>" * 7, markup.NESTING, 7),
        (b"<p>" * 7 + b"<br>" * 7, markup.NESTING, 0),
        (b"<path/>" * 7 + b"<x></x>", markup.NESTING, 1),
        (b"<i><b><u>", markup.OPEN, 3),
        (b"<a " + b"x " * 9 + b">", markup.ATTRIBUTES, 9),
        (b"<select><option>a<option>b</select>", markup.CHOICES, 2),
        (b"<b><i>" + b"<p>" * 5, markup.REOPENED, 1 + 2 * 5),
        (b"<div>" * 4, markup.WALKED, 0 + 1 + 2 + 3),
        (b"<p> a b <script>c</script> d <!-- e --> < f", markup.SHOWN, 5),
        (b"<br>" * 5 + b"</p><!-- <a> --><!x> < b", markup.TAGS, 8),
        (b"<a b c=1><d e>", markup.VALUES, 3),
        (b"", markup.SHOWN, 0),
    ],
)
def test_numbers_of_small_pages(page, number, expected):
    assert measured(page)[number] == expected
