import sys
from io import BytesIO

import pytest
from archives_made import lz4_frame

from neardup.model.errors import ExtraMissing
from neardup.sources.streams import brotli, lz4

# "text of a page" by another encoder: one block that is not compressed
BROTLI = b"\x8b\x06\x80text of a page\x03"


def test_streams_are_expanded():
    assert b"".join(brotli(BytesIO(BROTLI))) == b"text of a page"
    assert b"".join(lz4(BytesIO(lz4_frame(b"text" * 100_000)))) == b"text" * 100_000


@pytest.mark.parametrize("read", [brotli, lz4])
def test_damage_is_an_error(read):
    with pytest.raises(OSError, match=r"\w"):
        list(read(BytesIO(b"\xff" * 100)))


@pytest.mark.parametrize("read", [brotli, lz4])
def test_without_the_library_it_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastwarc.stream_io", None)
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        read(BytesIO(b""))
