import gzip
import random
import zlib
from time import process_time

import pyarrow as pa
import pytest
import zstandard
from archives_made import http

from neardup.sources import http_response
from neardup.sources.http_response import head_of, media_type, response
from neardup.text import html

TEXT = b"<p>text of a page</p>" * 50


def chunked(body):
    return b"%x;x=y\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, body[:10], len(body) - 10, body[10:])


def raw(body):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ((), TEXT),
        (("Content-Encoding: gzip",), gzip.compress(TEXT, mtime=0)),
        (("Content-Encoding: X-GZIP",), gzip.compress(TEXT, mtime=0)),
        (("Content-Encoding: deflate",), zlib.compress(TEXT)),
        (("Content-Encoding: deflate",), raw(TEXT)),
        (("Content-Encoding: zstd",), zstandard.compress(TEXT)),
        (("Transfer-Encoding: chunked",), chunked(TEXT)),
        (("Content-Encoding: gzip", "Transfer-Encoding: chunked"), chunked(gzip.compress(TEXT, mtime=0))),
        (("Content-Encoding: gzip, identity",), gzip.compress(TEXT, mtime=0)),
        (("Content-Encoding: gzip",), TEXT),  # it was decoded before it was stored
        (("Content-Encoding: unknown",), TEXT),
        (("Transfer-Encoding: chunked",), TEXT),
    ],
)
def test_a_body_is_decoded(headers, body):
    assert response(http(body, headers=headers)).body == TEXT


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (['<http://a.example/x,y;z>; rel="canonical"'], "http://a.example/x,y;z"),
        (["</style>; rel=preload; as=style, </b>; title=c; REL=Canonical"], "/b"),
        (["</a>; rel=next", '</b>;rel="start canonical"', "</b>; rel=canonical"], "/b"),
        (["</a>; rel=canonical, </b>; rel=canonical"], None),
        (['</a>; rel=canonical; anchor="#part"'], None),
        (["</a>; rel=noncanonical", "<>; rel=canonical", "</b>", "/c; rel=canonical", "<" * 99], None),
        ([], None),
    ],
)
def test_the_canonical_address_of_links(links, expected):
    assert response(http(b"", headers=[f"Link: {link}" for link in links])).canonical == expected


# "text of a page" by another encoder: one block that is not compressed
BROTLI = b"\x8b\x06\x80text of a page\x03"


def of_brotli(body):
    return response(http(body, headers=["Content-Encoding: br"]))


def test_brotli_is_decoded():
    assert (of_brotli(BROTLI).body, of_brotli(BROTLI).fault) == (b"text of a page", "")


@pytest.mark.parametrize("number", [300, 3000])
def test_brotli_that_is_damaged_or_cut_keeps_nearly_all_that_comes_before(number):
    text = b"".join(b"%9d," % value for value in range(10 * number))
    header = (99 << 3 | 1 << 19).to_bytes(3, "little")  # of a block of 100 bytes that is not compressed
    first = (99 << 4 | 1 << 20).to_bytes(3, "little")  # behind the bit for the size of the window
    blocks = [text[begin : begin + 100] for begin in range(0, len(text), 100)]
    made = first + header.join(blocks)
    assert of_brotli(made + b"\x03").body == text
    for found in (of_brotli(made + b"\x0e" * 100), of_brotli(made)):
        assert found.fault == "damaged br coding"
        assert text.startswith(found.body)
        assert len(found.body) >= len(text) - 64


def test_damage_in_brotli_that_expands_far_is_called_damage():
    text = b"".join(b"%d " % value for value in range(1 << 20))
    packed = bytes(pa.compress(text, "brotli"))
    middle = len(packed) // 2
    found = of_brotli(packed[:middle] + b"\xff" * 20 + packed[middle:])
    assert found.fault == "damaged br coding"
    assert len(found.body) > 0.45 * len(text)


NOISE = random.Random(4).randbytes(3000)  # noqa: S311 - no secret


@pytest.mark.parametrize(
    ("headers", "body", "fault"),
    [
        (["Content-Encoding: br"], NOISE, "unreadable br coding"),
        (["Content-Encoding: zstd"], zstandard.compress(NOISE.hex().encode())[:-10], "unreadable zstd coding"),
        (["Content-Encoding: gzip"], gzip.compress(NOISE, mtime=0)[:12], "unreadable gzip coding"),
        (["Content-Encoding: compress"], b"\x1f\x9d" + NOISE, "unknown coding"),
        (["Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip"], NOISE, "more than 5 codings"),
        (["Content-Encoding: br", "Transfer-Encoding: chunked"], chunked(NOISE)[:-5], "damaged chunked coding"),
    ],
)
def test_bytes_that_cannot_be_decoded_and_are_not_text_are_left_out(headers, body, fault):
    found = response(http(body, headers=headers))
    assert (found.body, found.fault) == (b"", fault)


@pytest.mark.parametrize(
    "text", [TEXT, b"<p>\0\x1b$B%F\x1b(B\t\f", TEXT.decode().encode("utf-16"), "<p>это".encode("utf-16")]
)
def test_text_that_was_decoded_before_it_was_stored_is_kept(text):
    assert response(http(text, headers=["Content-Encoding: br"])).body == text


def test_a_body_that_breaks_off_keeps_what_came():
    found = response(http(gzip.compress(TEXT, mtime=0)[:-10], headers=["Content-Encoding: gzip"]))
    assert found.body == TEXT[: len(found.body)]
    assert found.fault == "damaged gzip coding"
    assert response(http(TEXT, headers=["Content-Encoding: secret"])).fault == "unknown coding"
    plain = response(http(TEXT, headers=["Content-Encoding: x-gzip"]))
    assert (plain.body, plain.fault) == (TEXT, "unreadable gzip coding")


def test_a_body_that_is_damaged_in_the_middle_keeps_what_came():
    text = random.Random(1).randbytes(1 << 15).hex().encode()  # noqa: S311 - no secret
    for coding, packed in (("gzip", gzip.compress(text, mtime=0)), ("deflate", zlib.compress(text))):
        damaged = packed[: len(packed) // 2] + bytes(100) + packed[len(packed) // 2 + 100 :]
        found = response(http(damaged, headers=[f"Content-Encoding: {coding}"]))
        assert text.startswith(found.body[: len(text) // 3])
        assert found.fault == f"damaged {coding} coding"


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", lambda text: bytes(pa.compress(text, "brotli")))],
)
def test_a_short_body_that_is_damaged_near_its_end_keeps_nearly_all(coding, pack):
    text = " ".join(f"word{number * number % 3001}" for number in range(900)).encode()
    damaged = pack(text)
    damaged = damaged[: len(damaged) * 9 // 10] + bytes(20) + b"\xff" * 300
    found = response(http(damaged, headers=[f"Content-Encoding: {coding}"]))
    assert found.fault == f"damaged {coding} coding"
    assert found.body[: len(text) * 4 // 5] == text[: len(text) * 4 // 5]


def test_zstd_that_is_damaged_keeps_blocks_before():
    text = random.Random(2).randbytes(1 << 20).hex().encode()  # noqa: S311 - no secret
    damaged = zstandard.compress(text)
    damaged = damaged[: len(damaged) // 2] + b"\xff" * (len(damaged) // 2)
    found = response(http(damaged, headers=["Content-Encoding: zstd"]))
    assert found.fault == "damaged zstd coding"
    assert found.body[: len(text) // 3] == text[: len(text) // 3]


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_members_of_a_body_follow_each_other(coding):
    packed = (gzip if coding == "gzip" else zstandard).compress(TEXT)
    for body, expected in ((packed * 3, TEXT * 3), (packed + b"other", TEXT), (b"", b"")):
        found = response(http(body, headers=[f"Content-Encoding: {coding}"]))
        assert (found.body, found.fault) == (expected, "")


def test_frames_of_zstd_may_be_skipped():
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0meta"
    found = response(http((skipped + zstandard.compress(TEXT)) * 2, headers=["Content-Encoding: zstd"]))
    assert (found.body, found.fault) == (TEXT * 2, "")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("chunked", b"0\r\n\r\n"),
        ("gzip", gzip.compress(b"", mtime=0)),
        ("deflate", raw(b"")),
        ("zstd", zstandard.compress(b"")),
        ("br", b"\x06"),
    ],
)
def test_an_empty_body_is_empty_in_every_coding(coding, body):
    found = response(http(body, headers=[f"Transfer-Encoding: {coding}"]))
    assert (found.body, found.fault) == (b"", "")


@pytest.mark.parametrize(
    ("coding", "part", "text"),
    [
        ("chunked", b"1\r\na\r\n", b"a"),
        ("gzip", gzip.compress(b"a", mtime=0), b"a"),
        ("zstd", zstandard.compress(b"a"), b"a"),
    ],
)
def test_a_body_in_very_many_parts_is_cut(coding, part, text):
    found = response(http(part * 300_000, headers=[f"Transfer-Encoding: {coding}"]))
    assert found.fault == "more than 131,072 parts, cut there"
    assert found.body.strip(text) == b""
    assert len(found.body) == {"chunked": 131_073, "gzip": 131_073, "zstd": 131_073}[coding]


def test_a_chunk_whose_size_is_nothing_but_zeros_costs_little_time():
    block = http(b"0" * (1 << 26), headers=["Transfer-Encoding: chunked"])
    started = process_time()
    assert response(block).fault == "unreadable chunked coding"
    assert process_time() - started < 10


@pytest.mark.parametrize("header", ["Link: a", "X-Robots-Tag: a", "Content-Encoding: identity"])
def test_very_many_headers_cost_little_time(header):
    block = http(TEXT, headers=[header] * 1_000_000)
    started = process_time()
    found = response(block)
    assert process_time() - started < 10
    assert (found.body, found.fault) == (TEXT, "headers longer than 256 KiB, cut there")


def test_very_many_parameters_of_a_type_cost_little_time():
    started = process_time()
    for one in ("a;", "charset=;", 'charset="', "; charset "):
        assert media_type("text/html;" + one * 500_000)[0] == "text/html"
    assert process_time() - started < 10


def test_a_header_may_continue_in_the_next_line():
    found = response(b"HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n\tcharset=koi8-r\r\nServer: a\r\n b\r\n\r\nbody")
    assert (found.type, found.charset, found.body) == ("text/html", "koi8-r", b"body")


def test_headers_end_at_the_first_empty_line():
    assert response(b"HTTP/1.1 200 OK\ncontent-type : Text/Plain\n\nbody\r\n\r\nrest").body == b"body\r\n\r\nrest"


@pytest.mark.parametrize("size", [0, 5, 20])
def test_zstd_that_breaks_off_is_noticed(size):
    body = zstandard.compress(TEXT)
    found = response(http(body[: len(body) - 1 - size], headers=["Content-Encoding: zstd"]))
    assert found.fault in {"damaged zstd coding", "unreadable zstd coding"}


def test_chunks_that_break_off_are_kept():
    found = response(http(chunked(TEXT)[:-20], headers=["Transfer-Encoding: chunked"]))
    assert TEXT.startswith(found.body)
    assert len(found.body) > 500
    assert found.fault == "damaged chunked coding"


@pytest.mark.parametrize("sizes", [b"%010x", b"%x", b"%X ", b"%08x;a=1"])
def test_sizes_of_chunks_may_have_leading_zeros(sizes):
    body = b"".join(sizes % len(part) + b"\r\n" + part + b"\r\n" for part in (TEXT, TEXT[:300], b""))
    found = response(http(body, headers=["Transfer-Encoding: chunked"]))
    assert (found.body, found.fault) == (TEXT + TEXT[:300], "")


def test_very_many_zeros_before_a_size_cost_little_time():
    found = response(http(b"0" * 10_000_000 + b"g", headers=["Transfer-Encoding: chunked"]))
    assert found.fault == "unreadable chunked coding"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html, text/html", ("text/html", None)),
        ("text/html;charset=utf-8, Text/HTML", ("text/html", "utf-8")),
        ("text/html;charset=a, text/html;charset=b", ("text/html", "b")),
        ("text/html;charset=utf-8, text/plain", ("text/plain", None)),
        ("text/html, */*", ("text/html", None)),
        ("text/html,charset=utf-8", ("text/html", None)),
        ('text/html; a="b"; charset=utf-8', ("text/html", "utf-8")),
        ("text/html;charset =  'koi8-r'; a=b", ("text/html", "'koi8-r'")),
        ('text/html; charset=""', ("text/html", None)),
        ("html, ,", ("html", None)),
        ("text/html; a=charset=b; charset", ("text/html", None)),
    ],
)
def test_of_several_types_the_last_one_counts(value, expected):
    assert media_type(value) == expected


def test_a_bomb_is_cut(monkeypatch):
    for module in (http_response, html):
        monkeypatch.setattr(module, "LARGEST_PAGE", 1 << 16)
    for coding, bomb in {
        "gzip, gzip": gzip.compress(gzip.compress(bytes(1 << 24))),
        "zstd": zstandard.compress(bytes(1 << 24)),
        "deflate": zlib.compress(bytes(1 << 24)),
    }.items():
        found = response(http(bomb, headers=[f"Content-Encoding: {coding}"]))
        assert len(found.body) <= 1 << 16
        assert found.fault == "longer than 16 MiB, cut there"


def test_several_headers_of_a_type_are_one_list():
    several = ["Content-Type: application/octet-stream", "Content-Type: text/html; charset=koi8-r", "Content-Type:"]
    for headers in (several, several[::-1], several[1:], [several[0], "Content-Type: text/html", several[1]]):
        block = "\r\n".join(["HTTP/1.1 200 OK", *headers, "", "body"]).encode()
        last = [one for one in headers if "/" in one][-1]
        found = response(block)
        assert (found.type, found.body) == (last.split(": ")[1].partition(";")[0], b"body")
        assert found.charset == ("koi8-r" if "koi8-r" in last else None)


def test_interim_responses_are_not_the_response():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nContent-Type: image/png\r\n\r\n"
    final = http(gzip.compress(TEXT, mtime=0), headers=("Content-Encoding: gzip",))
    for before in (hints, b"HTTP/1.1 100 Continue\r\n\r\n" + hints):
        assert response(before + final) == response(final)
        assert head_of(before + final)[1] == len(before) + head_of(final)[1]
    assert response(hints + TEXT).status == 103  # it is all that is there
    switching = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    assert response(switching + final).status == 101


def test_very_many_interim_responses_cost_little_time():
    begun = process_time()
    assert response(b"HTTP/1.1 100 \n\n" * 1_000_000).status == 100
    assert process_time() - begun < 10


def test_status_type_and_charset():
    found = response(http(b"", status=404, kind='Text/HTML; charset="utf-8"'))
    assert (found.status, found.type, found.charset) == (404, "text/html", "utf-8")
    assert response(b"no response").status is None
    assert response(b"HTTP/1.1 200 OK\nContent-Type: text/plain\n\nbody").body == b"body"
    assert media_type("text/html; charset=") == ("text/html", None)
    assert media_type("") == ("", None)
