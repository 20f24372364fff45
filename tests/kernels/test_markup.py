import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import raw_end

from neardup.kernels import markup
from neardup.text.markup import _ELEMENTS, _elements

KINDS = {
    name: sum(kind for kind, own in _ELEMENTS.items() if name in own.split())
    for names in _ELEMENTS.values()
    for name in names.split()
}
VALUE = rb"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))?"""
ATTRIBUTE = re.compile(rb"([^\s/>][^\s/>=]*+)" + VALUE)
TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)((?:[\s/]|[^\s/>][^\s/>=]*+" + VALUE + rb")*+)(>|\Z)")
COMMENT = re.compile(rb"<!--(?:-?>|.*?--!?>|.*\Z)", re.DOTALL)
DECLARATION = re.compile(rb"<[/!?][^>]*(?:>|\Z)")
PIECES = [
    *(
        f"<{end}{name}>".encode()
        for name in ["div", "p", "span", "b", "a", "li", "dd", "table", "td", "svg", "select", "option", "x-y"]
        for end in ("", "/")
    ),
    *(b"<br>", b"<br/>", b"<div/>", b"<path />", b"<svg/>", b"<math>", b"<desc>", b"<form>", b"</form>", b"<input>"),
    *(
        b"<b id=1>",
        b"<nobr>",
        b"<object>",
        b"</object>",
        b"<th>",
        b"<noscript>",
        b"</noscript>",
        b"<body c>",
        b"<html d e>",
    ),
    *(b"<a x='>' y=\"'\" z = 1>", b"<a b='c", b"<x =y//z>", b"<!-- <b> -->", b"<!-->", b"<!--->", b"<!-- --!>", b"<!"),
    *(b"<script>", b"</script>", b"</scripts>", b"</SCRIPT >", b"<style a=/>", b"</style", b"<title>", b"</title>"),
    *(
        b"<textarea>",
        b"</textarea>",
        b"<plaintext>",
        b"<![CDATA[",
        b"]]>",
        b"<blockquote>",
        b"</BLOCKQUOTE>",
        b"<X-Y>",
        b"<?php ",
        b"</ >",
        b"<",
        b">",
        b" ",
        b"\n",
        b"text",
    ),
    *(b"\xc3\xa9", b"\x0b", b"="),
]
# An element that is open: its name, its kind, and whether it and its content are foreign for certain.
NAME, KIND, INSIDE = 0, 1, 2


class Elements:
    """The elements that may be open, in plain Python."""

    def __init__(self):
        self.open = []
        self.formatting = []  # with the number of cells before each
        self.cells = 0

    def any(self, kind):
        return any(element[KIND] & kind for element in self.open)

    def close(self, element):
        place = next(place for place, one in enumerate(self.open) if one is element)
        for inner in self.open[place + 1 :]:
            inner[INSIDE] = False
        del self.open[place]

    def leave_foreign(self):
        for element in reversed(self.open):
            if not element[INSIDE]:
                break
            element[INSIDE] = False

    def last(self, wanted, stops):
        for element in reversed(self.open):
            if wanted(element):
                return element
            if stops(element[KIND]):
                break
        return None

    def start(self, name, kind, alone):
        """Return whether the content is not markup."""
        if kind & markup.HTML:
            self.leave_foreign()
        inside, foreign = bool(self.open) and self.open[-1][INSIDE], self.any(markup.FOREIGN)
        if alone and (inside or kind & markup.FOREIGN):
            return False
        if kind & (markup.VOID | markup.CELL) and (not foreign or kind & markup.HTML):
            self.cells += bool(kind & markup.MARKER)
            return False
        opaque = self.any(markup.OPAQUE)
        if not foreign:
            if kind & markup.RAW and not opaque:
                return True
            self.make_way(kind)
            if kind & markup.SINGLE:
                self.end_formatting(name)
        listed = len(name) <= 10 and name.isalnum() and name.isascii()
        content = inside and listed and not kind & (markup.FORMATTING | markup.INTEGRATION)
        scope = markup.SCOPE if kind & markup.RAW else 0
        self.open.append([name, kind | scope, not opaque and bool(kind & markup.FOREIGN or content)])
        if kind & markup.FORMATTING:
            self.formatting.append((self.open[-1], self.cells))
        return False

    def make_way(self, kind):
        stops = lambda own: own & markup.SPECIAL and not own & markup.LIGHT  # noqa: E731
        same = kind & (markup.ITEM | markup.TERM)
        last = self.last(lambda element: element[KIND] & same, stops) if same else None
        if kind & markup.CHOICE and self.open and self.open[-1][KIND] & markup.CHOICE:
            last = self.open[-1]
        if last is not None:
            self.close(last)
        if kind & markup.ENDS_PARAGRAPH:
            paragraph = self.last(lambda element: element[KIND] & markup.PARAGRAPH, lambda own: own & markup.SCOPE)
            if paragraph is not None:
                self.close(paragraph)

    def end_formatting(self, name):
        """Return whether there is a formatting element of this name."""
        alike = [number for number, (element, _) in enumerate(self.formatting) if element[NAME] == name]
        if not alike:
            return False
        element, cells = self.formatting[alike[-1]]
        place = next(place for place, one in enumerate(self.open) if one is element)
        above = [own for _, own, _ in self.open[place + 1 :]]
        blocks = sum(own & markup.SPECIAL > 0 for own in above)
        scoped = any(own & markup.SCOPE for own in above)
        if not scoped and cells == self.cells and (blocks == 0 or (blocks <= 7 and len(alike) <= 3)):
            self.close(element)
            del self.formatting[alike[-1]]
        return True

    def end(self, name, kind):
        if not (self.open and self.open[-1][NAME] == name):
            self.leave_foreign()
        if kind & markup.FORMATTING and self.end_formatting(name):
            return
        stop = markup.SCOPE | (markup.LIST if kind & markup.ITEM else 0) if kind & markup.BLOCK else markup.SPECIAL
        found = self.last(lambda element: element[NAME] == name, lambda own: own & stop)
        lasting = kind & (markup.LASTING | markup.VOID | markup.CELL)
        if found is not None and (found is self.open[-1] or not lasting):
            self.close(found)


def oracle(page):
    found = dict.fromkeys(range(markup.NUMBERS), 0)
    elements = Elements()
    names = set()
    place = merged = literal = 0
    while place < len(page):
        if tag := TAG.match(page, place):
            closing, name, attributes = bool(tag[1]), tag[2].lower().decode("latin-1"), tag[3]
            kind = KINDS.get(name, 0)
            named = ATTRIBUTE.findall(attributes + tag[4])
            listed = together = len(named)
            for one in (tag[2], *named):
                names.add(one)
                found[markup.SOUGHT] += len(names)
            if kind & markup.MERGED and not closing:
                merged = together = merged + listed
            found[markup.ATTRIBUTES] = max(found[markup.ATTRIBUTES], together)
            found[markup.COMPARED] += listed * together
            found[markup.VALUES] += listed
            found[markup.TAGS] += 1
            found[markup.REOPENED] += len(elements.formatting)
            found[markup.WALKED] += len(elements.open)
            found[markup.CHOICES] += bool(kind & markup.CHOICE) and not closing
            alone = bool(tag[4]) and re.sub(ATTRIBUTE, b"a", attributes + tag[4]).endswith(b"/>")
            place = tag.end()
            if not closing:
                begin, last = place, len(page)
                if elements.start(name, kind, alone):
                    place = last = raw_end(page.decode("latin-1"), place, name)
                found[markup.SHOWN] += last - begin if kind & markup.KEPT else 0
            elif closing and place > literal and elements.open:
                elements.end(name, kind)
            found[markup.OPEN] = max(found[markup.OPEN], len(elements.formatting))
            found[markup.NESTING] = max(found[markup.NESTING], len(elements.open))
        elif other := COMMENT.match(page, place) or DECLARATION.match(page, place):
            if page[place + 2 : place + 3] == b"[" and elements.any(markup.FOREIGN) and place >= literal:
                end = page.find(b"]]>", place + 2)
                literal = len(page) if end < 0 else end + 3
            place = other.end()
            found[markup.TAGS] += 1
        else:
            found[markup.SHOWN] += page[place] > 0x20
            place += 1
    found[markup.NAMES] = len(names)
    return [found[number] for number in range(markup.NUMBERS)]


def measured(page, *, named=True):
    found = np.full(markup.NUMBERS, -1, np.int64)
    table = np.zeros(markup.PLACES, np.uint64) if named else np.empty(0, np.uint64)
    markup.shape(np.frombuffer(page, np.uint8), *_elements(), table, found)
    return found.tolist()


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
@example(b"<b>" * 3 + b"<p>x</p>" * 2)
@example(b"<div><div></div></div></div><div>")
@example(b"<a x=1 y z='2' / w>")
@example(b"<title><b></title><b>")
@example(b"<div><svg><![CDATA[></div>]]></svg>" * 3)
@example(b"<script><!-- <script></script><b> --></script><b>")
@example(b"<b><b><b><b><div></b></b></b></b></div>")
@example(b"<b>" + b"<div>" * 8 + b"</b>")
@example(b"<svg><desc><x-y><td><path/></td></x-y></desc></svg>")
def test_pages_are_measured_as_defined(page):
    page = page.replace(b"\x0b", b"v")  # to Python's patterns it is white space
    expected = oracle(page)
    assert measured(page) == expected
    assert measured(page, named=False) == [*expected[: markup.NAMES], 0, 0]


@pytest.mark.parametrize(
    ("page", "number", "expected"),
    [
        (b"<div>" * 7, markup.NESTING, 7),
        (b"<p>" * 7 + b"<br>" * 7, markup.NESTING, 1),
        (b"<div/>" * 7, markup.NESTING, 7),
        (b"<div></span>" * 7, markup.NESTING, 7),
        (b"<div><p></div>" * 7, markup.NESTING, 2),
        (b"<li><div>" * 7, markup.NESTING, 8),
        (b"<li><dd>" * 7, markup.NESTING, 14),
        (b"<svg>" + b"<path/>" * 7 + b"</svg><x></x>", markup.NESTING, 1),
        (b"<i><b><u>", markup.OPEN, 3),
        (b"<a " + b"x " * 9 + b">", markup.ATTRIBUTES, 9),
        (b"<select><option>a<option>b</select>", markup.CHOICES, 2),
        (b"<b><i>" + b"<p>" * 5, markup.REOPENED, 1 + 2 * 5),
        (b"<p>" + b"<b></i>" * 5, markup.OPEN, 5),
        (b"<div>" * 4, markup.WALKED, 0 + 1 + 2 + 3),
        (b"<p> a b <script>c</script> d <!-- e --> < f", markup.SHOWN, 5),
        (b"<xmp>a <b>c</xmp>d<textarea>e", markup.SHOWN, 8),
        (b"<br>" * 5 + b"</p><!-- <a> --><!x> < b", markup.TAGS, 8),
        (b"<a b c=1><d e>", markup.VALUES, 3),
        (b"<a b c=1><d e>", markup.COMPARED, 2 * 2 + 1),
        (b"<body a><p b><body c d>", markup.ATTRIBUTES, 3),
        (b"<body a><p b><body c d>", markup.COMPARED, 1 + 1 + 2 * 3),
        (b"<a long-name=1 b><b long-nam>x</a><A>", markup.NAMES, 5),
        (b"<a b><b></c>", markup.SOUGHT, 1 + 2 + 2 + 3),
        (b"", markup.SHOWN, 0),
    ],
)
def test_numbers_of_small_pages(page, number, expected):
    assert measured(page)[number] == expected


def test_the_scan_ends_at_its_limits():
    assert measured(b"<div>" * 5_000)[markup.NESTING] == markup.DEEPEST + 1
    assert measured(b"<b>" * 5_000)[markup.OPEN] == markup.MOST_OPEN + 1
    page = b"".join(b"<p a%d>" % number for number in range(40_000))
    assert measured(page)[markup.NAMES] == markup.MOST_NAMES + 1
