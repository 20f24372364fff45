import base64
import gzip
import hashlib
import random
import struct
import tracemalloc

import pytest
import zstandard
from archives_made import ENDINGS, PACK, http, packed, page, record

from neardup.model.errors import DataError
from neardup.sources import members, warc
from neardup.sources.archives import Archives
from neardup.sources.request import Request
from neardup.sources.warc import Gap, Record, records

PAGES = [page(number) for number in range(3)]


def found(path, content, compression="gzip"):
    file = path / f"x{ENDINGS[compression]}"
    file.write_bytes(content)
    return [*records(str(file))]


def split(found):
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Gap)]


def blocks(found):
    return [one.block for one in split(found)[0]]


def nested(header, block):
    """Return damaged members that begin inside one another: the first block of each extends to a common end."""
    count = 500
    unit = len(header + block(0)) + 5
    return b"".join(header + block((count - k - 1) * unit + 5) + b"WARC/" for k in range(count))


NESTED = {
    None: b"WARC/1.0\r\nContent-Length:300000\r\n\r\n" * 20_000,
    "gzip": nested(b"\x1f\x8b\x08\0\0\0\0\0\0\3", lambda size: b"\0" + struct.pack("<HH", size, size ^ 0xFFFF))
    + (b"\0" + struct.pack("<HH", 65000, 65000 ^ 0xFFFF) + bytes(65000)) * 8,
    "lz4": nested(bytes.fromhex("04224d18604082"), lambda size: struct.pack("<I", size | 1 << 31))
    + struct.pack("<I", 1 << 31) * 5000,
}


EXPECTED = [one.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n") for one in PAGES]


@pytest.mark.parametrize(
    ("compression", "content"),
    [
        ("gzip", packed(PAGES)),
        ("gzip", gzip.compress(b"".join(PAGES), mtime=0)),
        (None, b"".join(PAGES)),
        ("zstd", b"".join(zstandard.compress(one) for one in PAGES)),
        ("zstd", zstandard.compress(b"".join(PAGES))),
        ("lz4", PACK["lz4"](b"".join(PAGES))),
    ],
)
def test_whole_archives_are_read(tmp_path, compression, content):
    own, gaps = split(found(tmp_path, content, compression))
    assert not gaps
    assert blocks(own) == EXPECTED
    assert [one.headers["warc-target-uri"] for one in own] == [f"http://a.example/{number}" for number in range(3)]


@pytest.mark.parametrize("compression", PACK)
def test_a_record_is_found_at_its_place(tmp_path, compression):
    made = [*map(PACK[compression], PAGES)]
    own = found(tmp_path, b"".join(made), compression)
    assert [one.length for one in own] == [len(one) for one in made]
    assert [one.offset for one in own] == [0, len(made[0]), len(made[0] + made[1])]
    edge = own[1].offset
    path = str(tmp_path / f"x{ENDINGS[compression]}")
    assert blocks(records(path, 0, edge)) == EXPECTED[:1]
    assert blocks(records(path, edge)) == EXPECTED[1:]


@pytest.mark.parametrize("compression", PACK)
def test_a_file_that_is_cut_is_reported_at_every_byte(tmp_path, compression):
    made = [PACK[compression](one) for one in PAGES]
    content = b"".join(made)
    ends = [sum(map(len, made[:number])) for number in range(4)]
    for size in range(1, len(content)):
        own, gaps = split(found(tmp_path, content[:size], compression))
        whole = sum(end <= size for end in ends[1:])
        assert blocks(own)[:whole] == EXPECTED[:whole]
        if compression:
            assert len(own) == whole
        assert len(own) <= whole + 1  # only the line ends after a plain record may be missing
        lacking = min(end for end in ends if end >= size) - size
        unended = compression is None and 0 < lacking <= len(b"\r\n\r\n")
        if unended:
            assert own[-1].missing == b"\r\n\r\n"[4 - lacking :]
        assert bool(gaps) == (size not in ends)
        assert unended == bool(compression is None and gaps and "the record was read" in gaps[-1].reason)
        if gaps and compression:
            assert (gaps[-1].offset, gaps[-1].end) == (max(end for end in ends if end < size), size)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_a_whole_archive_in_one_frame_that_is_cut_is_reported_at_every_byte(tmp_path, compression):
    content = PACK[compression](b"".join(PAGES))
    for size in range(1, len(content)):
        _, gaps = split(found(tmp_path, content[:size], compression))
        assert [(gap.offset, gap.end) for gap in gaps] == [(0, size)]


@pytest.mark.parametrize("largest", [members.LARGEST, 1 << 10])
def test_gzip_around_a_whole_archive_is_read_up_to_the_damage(tmp_path, monkeypatch, largest):
    monkeypatch.setattr(members, "LARGEST", largest)
    made = [
        record(headers=[f"WARC-Block-Digest: sha1:{sha1(bytes(800))}"], block=block)
        for block in (bytes(800), bytes(799) + b"x", bytes(800))
    ]
    content = gzip.compress(b"".join(made), compresslevel=0, mtime=0)
    own, gaps = split(found(tmp_path, content[:-300]))
    assert blocks(own) == [bytes(800)]
    assert [gap.reason for gap in gaps] == ["its content differs from its WARC-Block-Digest", warc.CUT]
    assert {(one.offset, one.length) for one in own} == {(0, None)}


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_reading_resumes_at_the_member_after_a_bad_record(tmp_path, compression):
    pack = PACK[compression]
    bad = PAGES[1].replace(b"Content-Length: ", b"Content-Length: 1\r\nX: ")
    for begin in (b"", PAGES[1]):  # a record of the same member, which counts
        own, gaps = split(found(tmp_path, pack(PAGES[0]) + pack(begin + bad) + pack(PAGES[2]), compression))
        assert blocks(own) == [EXPECTED[0], *([EXPECTED[1]] if begin else []), EXPECTED[2]]
        assert [(one.offset, one.end) for one in gaps] == [(own[0].length, own[-1].offset)]
        assert ("are not read" in gaps[0].reason) == bool(begin)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
@pytest.mark.parametrize(
    ("size", "whole"), [(1, 0), (7, 0), (50, 0), (len(PAGES[0]) + 9, 1), (2 * len(PAGES[0]) + 9, 2)]
)
def test_members_that_cut_records_are_gaps_up_to_the_next_one_with_a_record(tmp_path, compression, size, whole):
    content, pack = b"".join(PAGES), PACK[compression]
    made = [pack(content[begin : begin + size]) for begin in range(0, len(content), size)]
    own, gaps = split(found(tmp_path, b"".join([pack(PAGES[0]), *made, pack(PAGES[1]), pack(PAGES[2])]), compression))
    assert blocks(own) == [EXPECTED[0], *EXPECTED[:whole], *EXPECTED[1:]]
    assert [one.length for one in own[-2:]] == [len(pack(PAGES[1])), len(pack(PAGES[2]))]
    assert "a record is longer than its " in gaps[0].reason
    assert gaps[0].offset == len(pack(PAGES[0]))


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_a_wrong_length_before_other_members_is_a_gap_of_its_member(tmp_path, compression):
    pack = PACK[compression]
    bad = pack(PAGES[1].replace(b"Content-Length: ", b"Content-Length: 9"))
    other = pack(b"") + pack(b"other")
    own, gaps = split(found(tmp_path, pack(PAGES[0]) + bad + other + pack(PAGES[2]), compression))
    assert blocks(own) == [EXPECTED[0], EXPECTED[2]]
    assert gaps[0].reason.startswith("a record is longer than its ")
    assert gaps[0].end - gaps[0].offset == len(bad)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_reading_resumes_after_damage(tmp_path, compression):
    first, bad, last = map(PACK[compression], PAGES)
    cut, changed = bad[:-9], bad[:5] + bytes([bad[5] ^ 255]) + bad[6:]
    for damaged in (cut, changed, bad[:4], bytes(300), bytes(range(256)) * 2000):
        own, gaps = split(found(tmp_path, first + damaged + last, compression))
        assert [one for one in blocks(own) if one != EXPECTED[1]] == [EXPECTED[0], EXPECTED[2]]
        assert own[-1].offset == len(first + damaged)
        assert [(one.offset, one.end) for one in gaps] in ([(len(first), len(first + damaged))], [])
        assert gaps or len(own) == 3


def test_the_records_before_a_bad_one_in_their_member_count(tmp_path):
    short = PAGES[1].replace(b"Content-Length: ", b"Content-Length: 1\r\nX: ")
    for bad, reason in (
        (
            PAGES[2].replace(b"Content-Length: ", b"Content-Length: 9"),
            "a record is longer than its gzip member; if bgzip or pzstd wrote this file, decompress it first",
        ),
        (short, "it does not end after the bytes of its Content-Length"),
    ):
        content = gzip.compress(PAGES[0] + PAGES[1] + bad, mtime=0)
        own, gaps = split(found(tmp_path, content + packed(PAGES[2:])))
        assert blocks(own) == EXPECTED
        assert gaps == [Gap(0, len(content), f"{reason}; later records that are compressed with it are not read")]
    own, gaps = split(found(tmp_path, gzip.compress(PAGES[0] + PAGES[1] + b"garbage", mtime=0)))
    assert blocks(own) == EXPECTED[:1]  # the Content-Length of the other one may be wrong
    assert len(gaps) == 1


@pytest.mark.parametrize("compression", PACK)
def test_more_empty_lines_than_two_may_follow_a_record(tmp_path, compression):
    made = [PACK[compression](one + b"\r\n\n") for one in PAGES]
    own, gaps = split(found(tmp_path, b"".join(made), compression))
    assert not gaps
    assert blocks(own) == EXPECTED
    own, gaps = split(found(tmp_path, PACK[compression](b"\r\n".join(PAGES)), compression))
    assert not gaps
    assert blocks(own) == EXPECTED


def test_many_empty_lines_are_not_held(tmp_path):
    lines = gzip.compress(b"\r\n" * (1 << 26), mtime=0)  # 128 MiB
    path = tmp_path / "x.warc.gz"
    path.write_bytes(packed(PAGES[:1]) + lines + packed(PAGES[1:]))
    tracemalloc.start()
    own = [*records(str(path))]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert blocks(own) == EXPECTED
    assert most < 2.5 * members.LARGEST


@pytest.mark.parametrize("kept", [0, 20])
def test_a_record_whose_headers_run_into_the_next_one_is_a_gap(tmp_path, kept):
    begin = PAGES[0].index(b"Content-Length")
    for hole in (bytes(len(PAGES[0]) - begin - 2) + b"\r\n", b""):
        content = PAGES[0][:begin] + hole + PAGES[1][0 if hole else kept :] + PAGES[2]
        own, gaps = split(found(tmp_path, content, None))
        assert blocks(own) == (EXPECTED[1:] if hole or not kept else EXPECTED[2:])
        assert [gap.offset for gap in gaps] == [0]


def test_a_record_that_is_cut_anywhere_before_another_one_is_a_gap(tmp_path):
    for cut in range(5, len(PAGES[0])):
        (one,), (gap,) = split(found(tmp_path, PAGES[0][:cut] + PAGES[1], None))
        assert (one.offset, one.block, gap.offset, gap.end) == (cut, EXPECTED[1], 0, cut)
    address = PAGES[0].replace(b"a.example/", b"a.example/WARC/1.0")
    assert split(found(tmp_path, address, None))[1] == []


def test_headers_that_are_not_utf_8_stay_different(tmp_path):
    encodings = ("latin-1", "cp437", "utf-8")
    made = [PAGES[0].replace(b"a.example/", b"a.example/50%/" + "caf\xe9".encode(one)) for one in encodings]
    own, _ = split(found(tmp_path, packed(made)))
    expected = [f"http://a.example/50%/caf{end}0" for end in ("%E9", "%82", "\xe9")]
    assert [one.headers["warc-target-uri"] for one in own] == expected


def test_a_header_that_is_written_twice_is_no_other_record(tmp_path):
    twice = PAGES[0].replace(b"WARC-Type: response\r\n", b"WARC-Type: response\r\nwarc-type: response \r\n")
    assert twice != PAGES[0]
    own, gaps = split(found(tmp_path, twice + PAGES[1], None))
    assert (blocks(own), gaps) == (EXPECTED[:2], [])


@pytest.mark.parametrize("length", [1 << 40, 10**15 - 1])
def test_a_length_beyond_what_files_have_is_a_gap(tmp_path, length):
    bad = PAGES[1].replace(b"Content-Length: ", b"Content-Length: %d\r\nX: " % length)
    own, gaps = split(found(tmp_path, PAGES[0] + bad + PAGES[2], None))
    assert blocks(own) == [EXPECTED[0], EXPECTED[2]]
    assert [gap.offset for gap in gaps] == [len(PAGES[0])]


@pytest.mark.parametrize("ends", [b"", b"\r\n"])
def test_a_record_is_found_after_one_whose_line_ends_are_missing(tmp_path, ends):
    own, gaps = split(found(tmp_path, PAGES[0].removesuffix(b"\r\n\r\n") + ends + PAGES[1] + PAGES[2], None))
    assert blocks(own) == EXPECTED[1:]
    assert len(gaps) == 1
    old = b"WARC/0.18\nWARC-Type: response\nContent-Length: 3\n\nabc\n\n"
    own, gaps = split(found(tmp_path, old.replace(b": 3", b": 2") + old, None))
    assert [one.offset for one in own] == [len(old)]
    assert len(gaps) == 1


def dictionary_frame(content):
    return b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


@pytest.mark.parametrize("pack", [bytes, zstandard.compress])
def test_a_dictionary_that_is_cut_is_reported_at_every_byte(tmp_path, pack):
    dictionary = zstandard.train_dictionary(1 << 10, [page(number) for number in range(300)])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    made = [dictionary_frame(pack(dictionary.as_bytes())), *(packer.compress(one) for one in PAGES)]
    content = b"".join(made)
    ends = [sum(map(len, made[:number])) for number in range(5)]
    assert blocks(found(tmp_path, content, "zstd")) == EXPECTED
    for size in range(1, len(content)):
        _, gaps = split(found(tmp_path, content[:size], "zstd"))
        assert bool(gaps) == (size not in ends)


def test_a_dictionary_that_is_missing_is_reported(tmp_path):
    dictionary = zstandard.train_dictionary(1 << 10, [page(number) for number in range(300)])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    frames = [packer.compress(PAGES[0]), PACK["zstd"](PAGES[1]), packer.compress(PAGES[2])]
    own, gaps = split(found(tmp_path, b"".join(frames), "zstd"))
    assert blocks(own) == EXPECTED[1:2]
    reason = "its zstd frame needs a dictionary, and the file does not begin with one"
    assert [gap.reason for gap in gaps] == [reason] * 2


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_a_block_digest_is_checked_in_streams(tmp_path, compression):
    made = [
        record(headers=[f"WARC-Block-Digest: sha1:{digest}"], block=b"text") for digest in (sha1(b"text"), "0" * 40)
    ]
    own, gaps = split(found(tmp_path, b"".join(PACK[compression](one) for one in [*made, made[0]]), compression))
    assert len(own) == 2
    assert [(gap.offset, gap.damage) for gap in gaps] == [(len(PACK[compression](made[0])), True)]
    assert "WARC-Block-Digest" in gaps[0].reason


@pytest.mark.parametrize("compression", ["gzip", None])
def test_a_flipped_bit_loses_only_what_is_near_it(tmp_path, compression):
    digests = [
        record(number=n, headers=[f"WARC-Block-Digest: sha1:{sha1(b)}"], block=b) for n, b in enumerate(EXPECTED)
    ]
    made = [gzip.compress(one, mtime=0) for one in PAGES] if compression else digests
    content = b"".join(made)
    edges = [sum(map(len, made[:number])) for number in range(4)]
    choices = random.Random(1)  # noqa: S311 - no secrets
    for _ in range(150):
        place = choices.randrange(len(content))
        damaged = bytearray(content)
        damaged[place] ^= 1 << choices.randrange(8)
        own, gaps = split(found(tmp_path, bytes(damaged), compression))
        hit = next(number for number in range(3) if place < edges[number + 1])
        kept = [one for number, one in enumerate(EXPECTED) if number != hit]
        assert [one for one in blocks(own) if one in kept] == kept
        if compression:
            assert all(one in EXPECTED for one in blocks(own))  # never changed in silence
            assert gaps or blocks(own) == EXPECTED  # a flag or the time of a gzip header counts for nothing


def sha1(block):
    return hashlib.sha1(block, usedforsecurity=False).hexdigest()


def test_garbage_between_members_is_a_gap(tmp_path):
    one, two, three = (gzip.compress(one, mtime=0) for one in PAGES)
    for garbage in (b"\0" * 100, b"\x1f\x8b\x08garbage", b"WARC/1.0 no", bytes(range(256)) * 2000):
        own, gaps = split(found(tmp_path, one + garbage + two + three))
        assert blocks(own) == EXPECTED
        assert [(gap.offset, gap.end) for gap in gaps] == [(len(one), len(one + garbage))]


@pytest.mark.parametrize("zeros", [1, 1000, 1 << 19])
def test_zeros_may_follow_the_last_member_of_gzip(tmp_path, zeros):
    content = b"".join(map(PACK["gzip"], PAGES))
    own, gaps = split(found(tmp_path, content + bytes(zeros)))
    assert (blocks(own), gaps) == (EXPECTED, [])
    for rest in (content[:-5] + bytes(zeros), content + bytes(zeros) + b"x", bytes(zeros)):
        assert split(found(tmp_path, rest))[1]
    for compression in ("zstd", "lz4", None):
        content = b"".join(map(PACK[compression], PAGES))
        assert split(found(tmp_path, content + bytes(zeros), compression))[1]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record(block=b"abc").replace(b"Content-Length: 3", b"Content-Length: 2"), "does not end after"),
        (record(block=b"abc").replace(b"Content-Length: 3", b"Content-Length: 9999"), "a record is longer than its "),
        (record(block=b"abc").replace(b"Content-Length: 3", b"Content-Length: -3"), "no valid Content-Length"),
        (record(block=b"abc").replace(b"Content-Length: 3\r\n", b""), "no valid Content-Length"),
        (record(block=b"abc").replace(b"WARC/1.0", b"HTTP/1.0"), "not the beginning of a record"),
        (record(headers=["X: " + "x" * (1 << 20)]), "headers are longer than 1 MiB"),
    ],
)
def test_a_bad_record_is_a_gap(tmp_path, bad, reason):
    own, gaps = split(found(tmp_path, packed([PAGES[0], bad, PAGES[2]])))
    assert blocks(own) == [EXPECTED[0], EXPECTED[2]]
    (gap,) = gaps
    assert reason in gap.reason


def test_a_record_that_is_too_large_is_left_out(tmp_path, monkeypatch):
    for module in (members, warc):
        monkeypatch.setattr(module, "LARGEST", 1 << 10)
    large = record(block=bytes(1 << 12))
    for compression, content in (("gzip", packed([PAGES[0], large, PAGES[2]])), (None, PAGES[0] + large + PAGES[2])):
        own, gaps = split(found(tmp_path, content, compression))
        assert blocks(own) == [EXPECTED[0], EXPECTED[2]]
        assert len(gaps) == 1


@pytest.mark.parametrize("fold", [b" ", b"\t"])
def test_lines_may_end_in_line_feeds_and_be_folded(tmp_path, fold):
    plain = (
        b"WARC/0.18\nWARC-Type: response\nX-Long: one\n"
        + fold
        + b"two\nWARC-Concurrent-To: <a>\nContent-Length: 3\n\nabc\n\n"
    )
    (own,) = found(tmp_path, plain, None)
    assert own.block == b"abc"
    assert own.headers["x-long"] == "one two"
    assert own.concurrent == ("<a>",)


def test_other_files_are_refused(tmp_path):
    for content, compression, reason in (
        (b"filedesc://x.arc 0.0.0.0 2026 text/plain 76\n", None, "ARC file"),
        (gzip.compress(b"filedesc://x.arc 0.0.0.0 2026 text/plain 76\n"), "gzip", "ARC file"),
        (PAGES[0], "gzip", "not compressed"),
        (packed(PAGES), None, "must end in .warc.gz"),
    ):
        with pytest.raises(DataError, match=reason):
            found(tmp_path, content, compression)
    with pytest.raises(DataError, match="cannot be read"):
        list(records(str(tmp_path / "none.warc")))


def test_an_empty_file_is_a_gap(tmp_path):
    assert [one.reason for one in found(tmp_path, b"")] == ["the file is empty"]


@pytest.mark.parametrize("encode", [base64.b16encode, base64.b32encode, base64.b64encode, base64.urlsafe_b64encode])
def test_block_digests_are_written_in_several_ways(tmp_path, encode):
    digest = hashlib.sha256(b"text").digest()
    path = tmp_path / "pages.warc"
    path.write_bytes(record(headers=[f"WARC-Block-Digest: SHA-256:{encode(digest).decode()}"], block=b"text"))
    assert blocks(records(str(path))) == [b"text"]


def test_a_block_digest_is_checked_in_plain_files(tmp_path):
    block = http(b"text")
    right, wrong = (
        record(headers=[f"WARC-Block-Digest: sha1:{digest}"], block=block) for digest in (sha1(block), "0" * 40)
    )
    own, gaps = split(found(tmp_path, right + wrong + right, None))
    assert len(own) == 2
    assert "WARC-Block-Digest" in gaps[0].reason


@pytest.mark.parametrize("compression", NESTED)
def test_damage_inside_damage_takes_linear_time(tmp_path, monkeypatch, compression):
    requested = []

    class Counted(members.FileBytes):
        def read(self, begin, end):
            data = super().read(begin, end)
            requested.append(len(data))
            return data

    monkeypatch.setattr(warc, "FileBytes", Counted)
    content = NESTED[compression]
    pages = b"".join(map(PACK[compression], PAGES))
    own, gaps = split(found(tmp_path, content + bytes(1 << 19) + pages, compression))
    assert blocks(own) == EXPECTED
    assert gaps
    assert sum(requested) < 100 * (len(content) + (1 << 19))


def test_records_after_nested_damage_are_those_of_any_range(tmp_path):
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join([*PAGES, NESTED[None][:300_000], *PAGES * 50]))
    whole = [*records(str(path))]
    shards = Archives.cut(0, str(path), Request(), 1 << 12)
    assert len(shards) > 2
    assert [one for shard in shards for one in records(str(path), shard.begin, shard.end)] == whole


def test_many_records_of_a_member_are_not_all_in_memory(tmp_path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(b"WARC/1.0\nContent-Length:0\n\n\n\n" * 30_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in records(str(path))) == 30_000
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
