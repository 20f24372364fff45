import sys
from io import BytesIO

import pytest
from archives_made import PACK

from neardup.model.errors import ExtraMissing
from neardup.sources.streams import brotli, lz4_frame, lz4_reader

# "text of a page" by another encoder: one block that is not compressed
BROTLI = b"\x8b\x06\x80text of a page\x03"


def expanded(stream):
    return lz4_reader(stream).read(1 << 20)


def test_streams_are_expanded():
    assert b"".join(brotli(BytesIO(BROTLI))) == b"text of a page"
    assert expanded(BytesIO(PACK["lz4"](b"text" * 100_000))) == b"text" * 100_000


def test_a_frame_is_made():
    for content in (b"", b"text" * 100_000):
        assert expanded(BytesIO(lz4_frame(content))) == content
        assert lz4_frame(content) == lz4_frame(content)


@pytest.mark.parametrize("read", [brotli, expanded])
def test_damage_is_an_error(read):
    with pytest.raises(OSError, match=r"\w"):
        list(read(BytesIO(b"\xff" * 100)))


def before_damage(content):
    """Return what is yielded before the error."""
    pieces, read = [], brotli(BytesIO(content))
    with pytest.raises(OSError, match=r"\w"):
        pieces.extend(read)
    return b"".join(pieces)


def test_brotli_that_is_cut_yields_everything_before():
    for end in range(3, len(BROTLI)):
        assert before_damage(BROTLI[:end]) == BROTLI[3:end]


@pytest.mark.parametrize("number", [2, 30, 3000])
def test_brotli_that_is_damaged_yields_what_comes_before(number):
    text = b"".join(b"%9d," % value for value in range(10 * number))
    header = (99 << 3 | 1 << 19).to_bytes(3, "little")  # of a block of 100 bytes that is not compressed
    first = (99 << 4 | 1 << 20).to_bytes(3, "little")  # behind the bit for the size of the window
    blocks = [text[begin : begin + 100] for begin in range(0, len(text), 100)]
    made = first + header.join(blocks)
    assert b"".join(brotli(BytesIO(made + b"\x03"))) == text
    found = before_damage(made + b"\x0e" * 100)
    assert text.startswith(found)
    assert len(found) >= len(text) - 64


@pytest.mark.parametrize("use", [brotli, lz4_reader])
def test_without_the_library_it_is_named(use, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastwarc.stream_io", None)
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        list(use(BytesIO(b"text")))
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        lz4_frame(b"text")
