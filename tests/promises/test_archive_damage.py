"""Damaged and unusual archives: all intact records are delivered, all gaps reported, and nothing changes silently."""

import gzip
import random
import tracemalloc
import zlib

import pytest
import zstandard
from archives_made import http, lz4_frame, packed, page, record

from neardup.model.errors import DataError
from neardup.sources import http_response
from neardup.sources.http_response import response
from neardup.sources.read import read
from neardup.sources.warc import LARGEST, Record, records
from neardup.text.html import LARGEST_PAGE

MADE = [page(number, f"Page {number} has words of its own.") for number in range(4)]
MEMBERS = [packed([one]) for one in MADE]
WHOLE = b"".join(MEMBERS)
PLAIN = b"".join(MADE)
FRAMES = [zstandard.compress(one) for one in MADE]
ALL = (0, 1, 2, 3)


def with_(number, member):
    """Return the members of an archive with another one at this place."""
    return b"".join([*MEMBERS[:number], member, *MEMBERS[number + 1 :]])


def changed(data, place, flip=0xFF):
    damaged = bytearray(data)
    damaged[place] ^= flip
    return bytes(damaged)


def replaced(old, new):
    """Return the archive whose page 1 has other headers."""
    assert old in MADE[1]
    return with_(1, packed([MADE[1].replace(old, new)]))


def plain_with(number, one):
    return b"".join([*MADE[:number], one, *MADE[number + 1 :]])


def length(one):
    return f"Content-Length: {len(one.partition(bytes(2 * [13, 10]))[2]) - 4}".encode()


def dictionary():
    samples = [page(number, f"Page {number} has {number * 7} words.") for number in range(2000)]
    trained = zstandard.train_dictionary(4096, samples).as_bytes()
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(trained))
    head = b"\x5d\x2a\x4d\x18" + len(trained).to_bytes(4, "little") + trained
    return head + b"".join(packer.compress(one) for one in MADE)


OWN = length(MADE[1])
LONG = record(
    uri="http://a.example/1", number=1, headers=["X: " + "x" * 40_000], block=MADE[1].partition(b"\r\n\r\n")[2][:-4]
)
CASES = {
    # damage of gzip members
    "cut inside a record": (".warc.gz", WHOLE[: -len(MEMBERS[3]) // 2], (0, 1, 2), 1),
    "cut after a header of gzip": (".warc.gz", WHOLE[: len(WHOLE) - len(MEMBERS[3]) + 10], (0, 1, 2), 1),
    "cut in the trailer": (".warc.gz", WHOLE[:-4], (0, 1, 2), 1),
    "trailer cut": (".warc.gz", WHOLE[:-8], (0, 1, 2), 1),
    "byte changed": (".warc.gz", with_(1, changed(MEMBERS[1], 60)), (0, 2, 3), 1),
    "checksum wrong": (".warc.gz", with_(1, changed(MEMBERS[1], -8)), (0, 2, 3), 1),
    "size wrong": (".warc.gz", with_(1, changed(MEMBERS[1], -1)), (0, 2, 3), 1),
    "method of compression unknown": (".warc.gz", with_(1, changed(MEMBERS[1], 2)), (0, 2, 3), 1),
    "magic number wrong": (".warc.gz", with_(1, changed(MEMBERS[1], 0)), (0, 2, 3), 1),
    "first member damaged": (".warc.gz", with_(0, changed(MEMBERS[0], 60)), (1, 2, 3), 1),
    "last member damaged": (".warc.gz", with_(3, changed(MEMBERS[3], 60)), (0, 1, 2), 1),
    "two members damaged": (".warc.gz", changed(changed(WHOLE, 60), -60), (1, 2), 2),
    "a hole": (".warc.gz", with_(1, MEMBERS[1][:40] + MEMBERS[1][80:]), (0, 2, 3), 1),
    "the end of a member missing": (".warc.gz", with_(1, MEMBERS[1][:-50]), (0, 2, 3), 1),
    "garbage between members": (".warc.gz", with_(1, MEMBERS[1] + bytes(range(256))), ALL, 1),
    "zeros between members": (".warc.gz", with_(1, MEMBERS[1] + bytes(300)), ALL, 1),
    "few zeros between members": (".warc.gz", with_(1, MEMBERS[1] + bytes(3)), ALL, 1),
    "text between members": (".warc.gz", with_(1, MEMBERS[1] + b"WARC/1.0\r\n"), ALL, 1),
    "the beginning of a member between": (".warc.gz", with_(1, MEMBERS[1] + MEMBERS[1][:30]), ALL, 1),
    "garbage at the end": (".warc.gz", WHOLE + bytes(range(256)), ALL, 1),
    "zeros at the end, which gzip accepts": (".warc.gz", WHOLE + bytes(512), ALL, 0),
    "another gzip member": (".warc.gz", with_(1, MEMBERS[1] + gzip.compress(b"other", mtime=0)), ALL, 1),
    # records that contradict themselves
    "length too small": (".warc.gz", replaced(OWN, b"Content-Length: 9"), (0, 2, 3), 1),
    "length too large": (".warc.gz", replaced(OWN, b"Content-Length: 9999"), (0, 2, 3), 1),
    "length huge": (".warc.gz", replaced(OWN, b"Content-Length: 99999999999999999999"), (0, 2, 3), 1),
    "length negative": (".warc.gz", replaced(OWN, b"Content-Length: -5"), (0, 2, 3), 1),
    "length no number": (".warc.gz", replaced(OWN, "Content-Length: ٣".encode()), (0, 2, 3), 1),
    "no length": (".warc.gz", replaced(OWN + b"\r\n", b""), (0, 2, 3), 1),
    "no line ends after the record": (".warc.gz", with_(1, packed([MADE[1][:-4]])), ALL, 0),
    "another version": (".warc.gz", replaced(b"WARC/1.0", b"HTTP/1.0"), (0, 2, 3), 1),
    "record in two members": (".warc.gz", with_(1, packed([MADE[1][:150], MADE[1][150:]])), (0, 2, 3), 2),
    # unusual archives, nothing of which is damaged
    "headers of 40 KB": (".warc.gz", with_(1, packed([LONG])), ALL, 0),
    "no address": (".warc.gz", replaced(b"WARC-Target-URI: http://a.example/1\r\n", b""), ALL, 0),
    "an address in brackets": (".warc.gz", replaced(b": http://a.example/1", b": <http://a.example/ 1>"), ALL, 0),
    "an address that is not UTF-8": (".warc.gz", replaced(b"a.example/1", b"a.example/\xff\xfe"), ALL, 0),
    "all records in one member": (".warc.gz", gzip.compress(PLAIN, mtime=0), ALL, 0),
    "two records in a member": (".warc.gz", packed([MADE[0] + MADE[1], MADE[2] + MADE[3]]), ALL, 0),
    "empty members": (".warc.gz", with_(1, gzip.compress(b"", mtime=0) + MEMBERS[1]), ALL, 0),
    "version 1.1": (".warc.gz", replaced(b"WARC/1.0", b"WARC/1.1"), ALL, 0),
    # plain files
    "plain, cut": (".warc", PLAIN[:-100], (0, 1, 2), 1),
    "plain, garbage between records": (".warc", plain_with(1, MADE[1] + b"garbage\r\n\r\n"), ALL, 1),
    "plain, length too small": (".warc", plain_with(1, MADE[1].replace(OWN, b"Content-Length: 9")), (0, 2, 3), 1),
    "plain, length too large": (".warc", plain_with(1, MADE[1].replace(OWN, b"Content-Length: 200")), (0, 2, 3), 1),
    "plain, version damaged": (".warc", plain_with(1, changed(MADE[1], 0)), (0, 2, 3), 1),
    "plain, line feeds only": (".warc", b"WARC/0.18\nWARC-Type: x\nContent-Length: 3\n\nabc\n\n" + PLAIN, ALL, 0),
    # frames
    "zstd frames": (".warc.zst", b"".join(FRAMES), ALL, 0),
    "zstd with a dictionary": (".warc.zst", dictionary(), ALL, 0),
    "zstd, cut": (".warc.zst", b"".join(FRAMES)[:-20], (0, 1, 2), 1),
    "zstd, damaged": (".warc.zst", b"".join([*FRAMES[:2], changed(FRAMES[2], 0), FRAMES[3]]), (0, 1, 3), 1),
    "zstd, records cut": (".warc.zst", zstandard.compress(PLAIN[:-100]), (0, 1, 2), 1),
    "lz4": (".warc.lz4", lz4_frame(PLAIN), ALL, 0),
    "lz4 frames": (".warc.lz4", b"".join(map(lz4_frame, MADE)), ALL, 0),
    "lz4 frames, damaged": (
        ".warc.lz4",
        b"".join([*map(lz4_frame, MADE[:2]), changed(lz4_frame(MADE[2]), 9), lz4_frame(MADE[3])]),
        (0, 1, 3),
        1,
    ),
    "lz4, cut": (".warc.lz4", lz4_frame(PLAIN)[:-30], (), 1),
    "lz4, damaged": (".warc.lz4", changed(lz4_frame(PLAIN), 100), (), 1),
    # nothing
    "empty": (".warc.gz", b"", (), 1),
    "garbage": (".warc.gz", bytes(range(256)) * 9, (), 1),
}


def block(made):
    return made.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")


BLOCKS = [block(one) for one in MADE]


@pytest.mark.parametrize(("ending", "content", "intact", "gaps"), CASES.values(), ids=CASES)
def test_intact_records_are_delivered_and_gaps_reported(tmp_path, ending, content, intact, gaps):
    path = tmp_path / f"x{ending}"
    path.write_bytes(content)
    found = [*records(str(path))]
    own = [one.block for one in found if isinstance(one, Record)]
    assert [one for one in own if one in BLOCKS] == [BLOCKS[number] for number in intact]
    assert all(one in [*BLOCKS, b"abc"] for one in own)  # none is changed
    reported = [one for one in found if not isinstance(one, Record)]
    assert len(reported) == gaps
    assert all(one.reason and 0 <= one.offset <= one.end <= len(content) for one in reported)


def test_there_are_as_many_cases_as_in_the_study():
    assert len(CASES) >= 54


@pytest.mark.parametrize("ending", [".warc", ".warc.gz"])
def test_older_formats_are_refused(tmp_path, ending):
    content = b"filedesc://x.arc 0.0.0.0 2026 text/plain 76\n"
    (tmp_path / f"x{ending}").write_bytes(gzip.compress(content, mtime=0) if ending.endswith("gz") else content)
    with pytest.raises(DataError, match="ARC file"):
        read([tmp_path / f"x{ending}"])


TEXT = b"<p>A page of some words.</p>" * 20
BODIES = {
    "x-gzip": (["Content-Encoding: x-gzip"], gzip.compress(TEXT, mtime=0)),
    "unknown coding": (["Content-Encoding: secret"], TEXT),
    "gzip that is not": (["Content-Encoding: gzip"], TEXT),
    "gzip that is cut": (["Content-Encoding: gzip"], gzip.compress(TEXT, mtime=0)[:-3]),
    "gzip with a wrong checksum": (["Content-Encoding: gzip"], changed(gzip.compress(TEXT, mtime=0), -8)),
    "chunks that are none": (["Transfer-Encoding: chunked"], TEXT),
    "br": (["Content-Encoding: br"], b"\x8b\x06\x80text of a page\x03"),
    "br that is not": (["Content-Encoding: br"], TEXT),
    "zstd": (["Content-Encoding: zstd"], zstandard.compress(TEXT)),
    "zstd that is not": (["Content-Encoding: zstd"], TEXT),
    "headers of 40 KB": ([f"X: {'x' * 40_000}"], TEXT),
    "very many headers": ([f"X{number}: x" for number in range(5000)], TEXT),
    "codings of codings": (["Content-Encoding: " + "gzip, " * 50 + "gzip"], TEXT),
}


def test_a_bad_body_never_ends_a_file(tmp_path):
    made = [
        record(uri=f"http://a.example/{number}", number=number, block=http(body, headers=headers))
        for number, (headers, body) in enumerate(BODIES.values())
    ]
    (tmp_path / "x.warc.gz").write_bytes(packed(made))
    got = read([tmp_path / "x.warc.gz"])
    assert not got.rejected
    texts = dict(zip(BODIES, got.texts.to_pylist(), strict=True))
    assert texts.pop("br") == "text of a page"
    assert [name for name, text in texts.items() if "A page of some words." not in text] == []


def flipped(path, times, seed):
    made = [page(number, random.Random(number).randbytes(300).hex()) for number in range(12)]
    members = [packed([one]) for one in made]
    content, blocks = b"".join(members), [block(one) for one in made]
    ends = [sum(map(len, members[: number + 1])) for number in range(len(made))]
    choices = random.Random(seed)
    for _ in range(times):
        bit = choices.randrange(8 * len(content))
        path.write_bytes(changed(content, bit >> 3, 1 << (bit & 7)))
        found = [*records(str(path))]
        own = [one.block for one in found if isinstance(one, Record)]
        hit = next(number for number, end in enumerate(ends) if bit >> 3 < end)
        assert [one for one in own if one in blocks] == own  # never changed in silence
        assert own in (blocks, [*blocks[:hit], *blocks[hit + 1 :]])  # no other is lost
        assert own == blocks or len(found) > len(own)  # what is lost is reported


def test_flipped_bits(tmp_path):
    flipped(tmp_path / "x.warc.gz", 100, 1)


@pytest.mark.soak
def test_many_flipped_bits(tmp_path):
    flipped(tmp_path / "x.warc.gz", 2_000, 2)


def bomb(size, bits=31):
    packer = zlib.compressobj(9, wbits=bits)
    step = bytes(1 << 20)
    return b"".join([*(packer.compress(step) for _ in range(size >> 20)), packer.flush()])


@pytest.fixture
def expanded(monkeypatch):
    """Count the bytes that bodies are expanded to."""
    sizes = []
    inflater = http_response.inflater

    class Counting:
        def __init__(self, *bits):
            self._own = inflater(*bits)

        def __getattr__(self, name):
            return getattr(self._own, name)

        def decompress(self, data):
            sizes.append(len(found := self._own.decompress(data)))
            return found

    monkeypatch.setattr(http_response, "inflater", Counting)
    return sizes


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_in_a_body_is_hardly_expanded(expanded, coding):
    packed_body = bomb(1 << 26, 31 if coding == "gzip" else 15)
    tracemalloc.start()
    found = response(http(packed_body, headers=[f"Content-Encoding: {coding}"]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.body) == LARGEST_PAGE
    assert "longer than" in found.fault
    assert sum(expanded) < LARGEST_PAGE + (5 << 20)
    assert peak < 60_000_000


def opened(tmp_path, size):
    """Return the records of an archive with a record of so many zeros, and the most memory that reading takes."""
    head = f"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {size}\r\n\r\n".encode()
    packer = zlib.compressobj(9, wbits=31)
    step = bytes(1 << 20)
    large = b"".join([packer.compress(head), *(packer.compress(step) for _ in range(size >> 20)), packer.flush()])
    (tmp_path / "x.warc.gz").write_bytes(MEMBERS[0] + large + MEMBERS[1])
    tracemalloc.start()
    found = [*records(str(tmp_path / "x.warc.gz"))]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, peak


def test_a_bomb_of_a_record_is_left_out(tmp_path):
    found, peak = opened(tmp_path, LARGEST + (64 << 20))
    assert [isinstance(one, Record) for one in found] == [True, False, True]
    assert peak < 100_000_000


@pytest.mark.soak
def test_a_bomb_of_a_gigabyte(tmp_path):
    found, peak = opened(tmp_path, 1 << 30)
    assert [isinstance(one, Record) for one in found] == [True, False, True]
    assert peak < 100_000_000
    body = http(bomb(1 << 30), headers=["Content-Encoding: gzip"])
    tracemalloc.start()
    assert len(response(body).body) == LARGEST_PAGE
    assert tracemalloc.get_traced_memory()[1] < 60_000_000
    tracemalloc.stop()
