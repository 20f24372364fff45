import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from neardup.text.markup import MOST, MOST_BYTES, shape

OPEN = b"".join(b"<b id=%d>" % number for number in range(500))
HOSTILE = {
    "nesting": [
        *(pattern * 20_000 for pattern in (b"<div>", b"<div/>", b"<div></span>", b"<div></b>", b"<rt>", b"<optgroup>")),
        *(b"<body>" + pattern * 5_000 for pattern in (b"<li><dd>", b"<span><p></span></p>", b"<form><div></form>")),
        *(before + b"<g>" * 5_000 for before in (b"<svg><style>", b"<math><noscript>", b"<select><title>")),
        *(b"<svg>" + pattern * 5_000 for pattern in (b"<tr>", b"<input>", b"<option>")),
        b"<div><svg><![CDATA[></div>]]></svg>" * 5_000,
        b"<div><select></div></select>" * 5_000,
    ],
    "attributes": [
        b"<a " + b"x " * 30_000 + b">",
        b"".join(b"<body x%d>" % number for number in range(10_000)),
        b"".join(b"<html x%d>" % number for number in range(10_000)),
        b"<noscript><p " + b"x " * 10_000 + b">",
    ],
    "choices": [b"<select>" + b"<option>" * 30_000, b"<select><xmp>" + b"<option>" * 30_000],
    "formatting": [
        *(before + OPEN + b"<p>x</p>" * 5_000 for before in (b"", b"<noscript>", b"<svg><title>", b"<head><noscript>")),
        b"<p>" + OPEN.replace(b">", b"></i>") + b"</p>" + b"<p>x</p>" * 5_000,
        b"<p>" + OPEN.replace(b">", b"><object></b></object>"),
        OPEN.replace(b">", b"><table><td></b></table>"),
    ],
    "reopened": [b"".join(b"<b id=%d>" % number for number in range(60)) + b"<p>x</p>" * 5_000],
    "walked": [b"<div>" * 500 + b"<p>x</p>" * 50_000],
    "tags": [b"<br>" * 300_000],
    "values": [b"<p a b c d e f g h>" * 70_000],
    "compared": [(b"<p " + b"x " * 8_000 + b">") * 5],
    "sought": [
        *(b"".join(pattern % number for number in range(20_000)) for pattern in (b"<p a%d>x</p>", b"</x%d>")),
        b"<p " + b" ".join(b"a%d" % number for number in range(1_000)) + b">" + b"<p b>" * 80_000,
    ],
}
NAMES = (
    "div span p b i a nobr font li dd dt ul ol dl td tr th table tbody caption select option optgroup button form "
    "object template svg math g mi desc title noscript style textarea h1 h2 rt ruby image input br frameset frame body "
    "html head center x-a section main details pre iframe script foreignObject annotation-xml search hr col xmp"
)
TAGS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["<", "<", "</"]),
    st.sampled_from(NAMES.split()),
    st.sampled_from([">", ">", "/>"]),
)


@pytest.mark.parametrize(
    ("name", "page"),
    [(name, page) for name, pages in HOSTILE.items() for page in pages],
    ids=lambda value: str(value)[:30],
)
def test_hostile_shapes_are_over_a_limit(name, page):
    found = shape(page)
    assert getattr(found, name) > MOST[name]
    assert not found.bearable


@pytest.mark.parametrize("tag", [b"<p>", b"</p>", b"<a b c>", b"<!>"])
def test_a_page_of_very_many_tags_is_not_scanned_to_its_end(tag):
    found = shape(tag * (MOST_BYTES // len(tag)))
    assert not found.bearable
    assert found.tags <= MOST["tags"] + 1
    assert found.values <= MOST["values"] + 2


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("letters", "ends"), [(10, 700_000), (200, 50_000), (6_000, 900)])
def test_end_tags_are_not_compared_with_each_byte_of_all_open_elements(letters, ends):
    """That would take a minute."""
    name = "a" * letters
    page = "".join(f"<{name}{number:03}>" for number in range(1_000)) + f"</{name}zzz>" * ends
    assert shape(page.encode()).walked <= MOST["walked"] + 1_000


def test_a_page_that_is_too_long_is_not_scanned():
    found = shape(b"<p>" + b"a" * MOST_BYTES)
    assert not found.bearable
    assert found.tags == 0


@given(st.lists(st.one_of(TAGS, st.sampled_from(["x", "<![CDATA[", "]]>", "<a href=x>"])), min_size=1, max_size=9))
@settings(deadline=None)
def test_the_tree_of_a_parser_is_never_much_deeper_than_is_measured(pattern):
    page = "".join(pattern) * 100
    found = shape(page.encode())
    if found.bearable:
        parts_of_a_table = 4
        assert depth(page) <= parts_of_a_table * found.nesting + found.formatting + 10


def depth(page):
    node, found, deepest = HTMLTree.parse(page).document, 0, 0
    while node is not None:
        if node.first_child is not None:
            node, found = node.first_child, found + 1
            deepest = max(deepest, found)
            continue
        while node is not None and node.next is None:
            node, found = node.parent, found - 1
        node = None if node is None else node.next
    return deepest


def test_a_page_of_many_bytes_is_not_bearable():
    assert shape(b" " * MOST_BYTES).bearable
    assert not shape(b" " * (MOST_BYTES + 1)).bearable


def test_ordinary_pages_are_bearable():
    page = b"<html><body><table>" + b"<tr><td><p>text<td><a href=x>link</a>" * 500 + b"</table><ul>" + b"<li>x" * 5_000
    assert shape(page).bearable
    assert shape(b"<div><p>text<ul><li>a<li>b</ul><svg><path d=x /></svg><img src=x></div>" * 1_000).bearable
    assert shape(b"").bearable
