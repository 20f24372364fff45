import numpy as np
import pytest

from neardup.kernels import tags
from neardup.kernels.compile import kernel


@kernel
def packed(page):
    return tags.packed(page, 0, page.size)


@kernel
def attribute(page, position):
    return tags.attribute(page, position)


@kernel
def ends(page, position, name):
    return tags.name_end(page, position), tags.raw_end(page, position, name), tags.other_end(page, position)


def raw(page):
    return np.frombuffer(page, np.uint8)


def test_names_have_numbers():
    names = ["a", "b", "ab", "ba", "h1", "h6", "blockquote", "figcaption", "0123456789", "zzzzzzzzzz"]
    numbers = [tags.packed_name(name) for name in names]
    assert (
        numbers
        == [packed(raw(name.encode())) for name in names]
        == [packed(raw(name.upper().encode())) for name in names]
    )
    assert len({*numbers, 0}) == len(names) + 1
    assert max(numbers) < 1 << 60
    assert [packed(raw(name)) for name in (b"", b"a-b", b"abcdefghijk", b"\xc3\xa9", b"a\0", b"@", b"[")] == [0] * 7


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"a>", (1, 1, 1, 1)),
        (b"a=b>", (1, 2, 3, 3)),
        (b"a = 'b c'd", (1, 5, 8, 9)),
        (b'a=""', (1, 3, 3, 4)),
        (b"a=>", (1, 2, 2, 2)),
        (b"a=b/c>", (1, 2, 5, 5)),
        (b"==b>", (1, 2, 3, 3)),
        (b"a='b>", (1, 1, 1, 1)),
        (b"a =", (1, 1, 1, 1)),
        (b"a/b", (1, 1, 1, 1)),
        (b"a\x0bb=c>", (3, 4, 5, 5)),
    ],
)
def test_attributes_are_where_they_are_written(page, expected):
    assert attribute(raw(page), 0) == expected
    assert attribute(raw(b"<" + page), 1) == tuple(place + 1 for place in expected)


def test_tags_and_comments_end_where_html_says():
    style = tags.packed_name("style")
    assert ends(raw(b"p</ style></styles></STYLE\t>"), 0, style)[:2] == (2, 19)
    assert ends(raw(b"</style"), 0, style)[1] == 7
    for page, end in {
        b"<!-->x": 5,
        b"<!--->": 6,
        b"<!-- --!>x": 9,
        b"<!-- ->": 7,
        b"<!->x": 4,
        b"</ x>y": 5,
        b"<?": 2,
    }.items():
        assert ends(raw(page), 0, style)[2] == end
