"""References against those of the standard library."""

from html import unescape
from html.entities import html5

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels import references
from neardup.kernels.compile import kernel
from neardup.text.html import _references


@kernel
def put(page, edge, names, firsts, codes, out):  # noqa: PLR0917 - as the kernel has them
    return references.put(page, edge, page.size - edge, names, firsts, codes, out, 1)


def decoded(text, around=""):
    page = f"{around}{text}{around}".encode()
    edge = len(around.encode())
    out = np.full(2 + len(page) * 6 // 5, 0x2A, np.uint8)
    count = put(np.frombuffer(page, np.uint8), edge, *_references(), out)
    assert out[0] == 0x2A
    return out[1:count].tobytes().decode()


PIECES = [
    "&",
    "&#",
    "&#x",
    "&#X",
    ";",
    "amp",
    "lt",
    "notin",
    "not",
    "A",
    "f",
    "9",
    "0",
    "x",
    "\xe9",
    " ",
    "&nGt;",
    "CounterClockwise",
]


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from([f"&{name}" for name in html5])), max_size=12).map(
        "".join
    )
)
@example("&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegralx;")
def test_texts_are_decoded_as_by_the_standard_library(text):
    assert decoded(text) == unescape(text)
    assert decoded(text, around="&amp;9a") == unescape(text)  # what is outside of the piece does not count


def test_numbers_have_any_length():
    assert decoded("&#" + "0" * 9_000 + "65;&#x" + "f" * 9_000) == "A\ufffd"


def test_every_name_is_decoded():
    text = "".join(f"&{name} " for name in html5)
    assert decoded(text) == unescape(text)
    assert max(len(name) for name in html5) <= references.NAME
    assert decoded("&" + "&".join(name + "x;" for name in html5)) == unescape("&" + "&".join(n + "x;" for n in html5))


def test_every_number_is_decoded():
    for code in [*range(0x300), *range(0xD7F0, 0xE010), *range(0xFDC0, 0xFE00), 0xFFFD, 0xFFFE, 0xFFFF, 0x10000]:
        assert decoded(f"&#{code};&#x{code:X}") == unescape(f"&#{code};") * 2
    for code in (0x1FFFE, 0x1FFFF, 0x10FFFF, 0x110000, 1 << 40):
        assert decoded(f"&#{code};") == unescape(f"&#{code};")


def test_what_references_mean_is_never_much_longer():
    most, of = references.GROWTH
    assert max(len(text.encode()) / (len(name) + 1) for name, text in html5.items()) == most / of


def test_line_ends_become_line_feeds_unless_they_are_references():
    assert decoded("a\r\nb\rc\0d\r") == "a\nb\ncd\n"
    assert decoded("&#13;\n&#xd") == "\r\n\r"
