import errno
from io import BytesIO

import pytest
import zstandard
from archives_made import ENDINGS, PACK

from neardup.model.errors import DataError
from neardup.sources import members
from neardup.sources.members import FileBytes, HeldBytes, Members, PackedMember, next_member, packed, packing_of

COMPRESSED = ["gzip", "zstd", "lz4"]
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


def read(content, compression, at=0):
    """Return what the member at a byte holds, where it ends, and what is wrong with it."""
    file = BytesIO(content)
    member = PackedMember(packing_of(file, compression), FileBytes(file), at)
    return b"".join(member.more), member.end, member.fault


@pytest.mark.parametrize("compression", COMPRESSED)
def test_members_are_read_one_by_one(compression):
    contents = [b"first" * 9000, b"", b"second"]
    made = [*map(PACK[compression], contents)]
    at = 0
    for content, member in zip(contents, made, strict=True):
        assert read(b"".join(made), compression, at) == (content, at + len(member), None)
        at += len(member)


@pytest.mark.parametrize("compression", COMPRESSED)
def test_a_member_that_is_cut_has_no_end(compression):
    made = PACK[compression](b"text of a page")
    for size in range(len(made)):
        _, end, fault = read(made[:size], compression)
        assert (end, fault) == (None, members.CUT)


@pytest.mark.parametrize("compression", COMPRESSED)
def test_a_damaged_member_has_no_end(compression):
    made = PACK[compression](b"text of a page")
    place = 6 if compression == "lz4" else -1  # of lz4 the checksum of its header, the only one
    content, end, fault = read(made[:place] + bytes([made[place] ^ 1]) + made[place:][1:], compression)
    assert content in {b"text of a page", b""}
    assert end is None
    assert fault in {"its gzip member is damaged", "its zstd frame is damaged", "its lz4 frame is damaged"}


def test_an_error_of_the_file_is_not_damage():
    class Unreadable(BytesIO):
        def read(self, *_):
            raise OSError(errno.EIO, "Input/output error")

    file = Unreadable(bytes(100))
    for compression in ("gzip", "lz4"):
        with pytest.raises(OSError, match="Input/output"):
            list(PackedMember(packing_of(file, compression), FileBytes(file), 0).more)


@pytest.mark.parametrize("frame", LZ4.values(), ids=LZ4)
def test_lz4_frames_of_all_kinds_are_read(frame):
    frame = bytes.fromhex(frame)
    other = 11 if frame[:1] == b"\x50" else 0
    if other:
        assert read(frame, "lz4") == (b"", other, None)
    assert read(frame, "lz4", other) == (LZ4_TEXT, len(frame), None)
    for size in range(other + 1, len(frame)):
        assert read(frame[:size], "lz4", other)[1:] == (None, members.CUT)
    for size in range(1, other):
        assert read(frame[:size], "lz4")[1] is None


def test_zstd_frames_of_other_data_hold_nothing():
    other = b"\x51\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert read(other + PACK["zstd"](b"text"), "zstd") == (b"", len(other), None)


def test_a_zstd_dictionary_is_used_and_bounded(monkeypatch):
    trained = zstandard.train_dictionary(1 << 10, [b"page %d has %d words" % (n, n * n) for n in range(900)])
    made = zstandard.ZstdCompressor(dict_data=trained).compress(b"page 3 has 9 words")
    for content in (trained.as_bytes(), zstandard.compress(trained.as_bytes())):
        head = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
        assert packing_of(BytesIO(head + made), "zstd").first == len(head)
        assert read(head + made, "zstd", len(head))[0] == b"page 3 has 9 words"
        with pytest.raises(EOFError):
            packing_of(BytesIO(head[:-1]), "zstd")
        monkeypatch.setattr(members, "LARGEST", 100)
        with pytest.raises(zstandard.ZstdError, match="larger than"):
            packing_of(BytesIO(head), "zstd")
        monkeypatch.undo()


def test_the_end_of_an_lz4_frame_that_needs_a_dictionary_is_known():
    frame = bytes.fromhex(f"04224d1861400000000082{LZ4_BLOCK}00000000")
    assert read(frame, "lz4")[1:] == (None, "its lz4 frame is damaged")
    assert read(frame[:-1], "lz4")[1:] == (None, members.CUT)


@pytest.mark.parametrize("compression", COMPRESSED)
def test_the_next_member_with_a_beginning_is_found(compression, monkeypatch):
    monkeypatch.setattr(members, "_READ", 64)  # members lie across the edges of what is read at once
    packing = packing_of(BytesIO(), compression)
    wanted = PACK[compression](b"WARC/1.0" + bytes(range(256)) * 900)
    for garbage in (b"", packing.magic, packing.magic * 30, b"x" * 63, PACK[compression](b"HTTP/1.0"), wanted[:20]):
        data = FileBytes(BytesIO(garbage + wanted))
        assert next_member(packing, data, 0, data.size, b"WARC/") == len(garbage)
        assert next_member(packing, data, len(garbage) + 1, data.size, b"WARC/") == data.size
        for last in (len(garbage), len(garbage) // 2):
            assert next_member(packing, data, 0, last, b"WARC/") == last


@pytest.mark.parametrize("compression", COMPRESSED)
def test_parts_of_members_are_read_again(tmp_path, compression):
    contents = [b"0123456789" * 9000, b"abcdef"]
    made = [*map(PACK[compression], contents)]
    path = tmp_path / f"x{ENDINGS[compression]}"
    path.write_bytes(b"".join(made))
    own = Members()
    for span in ((0, 5), (3, 9), (80_000, 90_000), (0, 90_000)):
        assert own.read(str(path), 0, span) == contents[0][slice(*span)]
    assert own.read(str(path), len(made[0]), (2, 4)) == b"cd"
    assert own.whole(str(path), len(made[0])) == b"abcdef"
    with pytest.raises(DataError, match="changed"):
        own.read(str(path), len(made[0]), (2, 7))
    path.write_bytes(b"".join(made)[:-3])
    with pytest.raises(DataError, match="changed"):
        own.whole(str(path), len(made[0]))
    own.close()


@pytest.mark.parametrize("compression", PACK)
def test_a_member_is_made(compression):
    for content in (b"", b"text" * 99_999):
        assert packed(content, compression) == packed(content, compression) == PACK[compression](content)
    if compression:
        assert read(packed(b"text", compression), compression)[0] == b"text"


def test_bytes_of_a_file_are_read_anywhere(monkeypatch):
    monkeypatch.setattr(members, "_READ", 8)
    content = bytes(range(100))
    data = FileBytes(BytesIO(content))
    for begin, end in ((50, 60), (45, 48), (3, 90), (95, 200), (200, 300)):
        assert data.read(begin, end) == content[begin:end]


def test_bytes_of_a_stream_are_held_as_long_as_they_are_needed():
    held = HeldBytes(b"01", iter([b"234", b"", b"56789"]))
    assert held.read(1, 4) == b"123"
    held.forget(4)
    assert (held.read(4, 6), held.read(8, 99), held.read(50, 60)) == (b"45", b"89", b"")
