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


@pytest.mark.parametrize("use", [brotli, lz4_reader])
def test_without_the_library_it_is_named(use, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastwarc.stream_io", None)
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        list(use(BytesIO(b"text")))
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        lz4_frame(b"text")
