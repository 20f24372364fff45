import sys
from io import BytesIO

import pytest
from archives_made import lz4_frame

from neardup.model.errors import ExtraMissing
from neardup.sources.streams import brotli, lz4

# "text of a page" by another encoder: one block that is not compressed
BROTLI = b"\x8b\x06\x80text of a page\x03"


LZ4_TEXT = b"text of a page. " * 3
LZ4_BLOCK = "1b000000ff0174657874206f66206120706167652e20100008506167652e20"
LZ4 = {  # frames of the text, by the program lz4
    "checksum": f"04224d186440a7{LZ4_BLOCK}00000000704f590f",
    "no checksum": f"04224d18604082{LZ4_BLOCK}00000000",
    "size": f"04224d186c40300000000000000084{LZ4_BLOCK}00000000704f590f",
    "checksums of blocks": f"04224d187440bd{LZ4_BLOCK}6fef1d2b00000000704f590f",
    "size, checksums of blocks only": f"04224d18784030000000000000007c{LZ4_BLOCK}6fef1d2b00000000",
    "other data before it": f"502a4d1803000000616263 04224d18604082{LZ4_BLOCK}00000000",
}


def expanded(content):
    return b"".join(piece for _, piece in lz4(BytesIO(content)))


def test_streams_are_expanded():
    assert b"".join(brotli(BytesIO(BROTLI))) == b"text of a page"
    assert expanded(lz4_frame(b"text" * 100_000)) == b"text" * 100_000


def test_lz4_frames_are_read_with_their_places():
    frames = [bytes.fromhex(one) for one in LZ4.values()]
    places = [sum(map(len, frames[:number])) for number in range(len(frames))]
    assert expanded(b"".join(frames)) == LZ4_TEXT * len(frames)
    assert sorted({at for at, piece in lz4(BytesIO(b"".join(frames))) if not piece} - {places[-1] + 11}) == places


@pytest.mark.parametrize("frame", LZ4.values(), ids=LZ4)
def test_an_lz4_frame_that_is_cut_is_an_error_at_every_byte(frame):
    content = bytes.fromhex(frame)
    for size in range(1, len(content)):
        if content[:size].hex() != "502a4d1803000000616263":  # a whole frame
            with pytest.raises((OSError, EOFError)):
                expanded(content[:size])
            with pytest.raises((OSError, EOFError)):
                expanded(content + content[:size])


@pytest.mark.parametrize("read", [brotli, lz4])
def test_damage_is_an_error(read):
    with pytest.raises(OSError, match=r"\w"):
        list(read(BytesIO(b"\xff" * 100)))


@pytest.mark.parametrize("read", [brotli, lz4])
def test_without_the_library_it_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastwarc.stream_io", None)
    with pytest.raises(ExtraMissing, match=r"neardup\[warc\]"):
        list(read(BytesIO(b"text")))
