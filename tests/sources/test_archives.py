import gzip
import json
import random
from itertools import accumulate, pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from archives_made import ENDINGS, PACK, http, packed, page, record
from json_lines import read_lines

from neardup import MinHash, dedup_files
from neardup.errors import DataError, OutputError, ParameterError
from neardup.interfaces.cli import main
from neardup.interfaces.pages.report import report_page
from neardup.sources import archives, http_response, members, warc
from neardup.sources.archives import Archives, pages_in, undecoded
from neardup.sources.collection import Needs
from neardup.sources.read import read
from neardup.sources.request import Request
from neardup.text import html
from neardup.web_pages import Extraction

SAME = "This article is on two pages of the crawl, word for word, and is long enough to be one."
INFO = record("warcinfo", uri=None, number=90, block=b"software: tests")


def whole_of(path):
    """The shard that a whole archive is."""
    (shard,) = Archives.cut(0, str(path), Request(), 1 << 30)
    return shard


def other(kind, number, of, field="WARC-Concurrent-To"):
    return record(
        kind, uri=f"http://a.example/{of}", number=number, headers=[f"{field}: <urn:uuid:{of:08}>"], block=b"of another"
    )


PLAIN = "Content-Type: text/plain"
RECORDS = [
    INFO,
    other("request", 91, 1),
    page(1, SAME),
    other("metadata", 92, 1),
    other("request", 93, 2),
    page(2, SAME),
    other("metadata", 94, 2),
    page(3, "A quite different page about bees, which have left the harbour for good this year."),
    page(4, status=404),
    page(5, kind="image/png"),
    record("revisit", number=95),
    record("resource", number=6, headers=[PLAIN], block=b"plain text of a resource"),
    record(
        "conversion", number=7, uri="http://b.example/", headers=["Content-Type: text/plain"], block=b"text of a WET"
    ),
]
KEPT = [0, 1, 2, 3, 7, 11, 12]  # the first of two equal pages, with its request and metadata


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(packed(RECORDS))
    return path


def test_pages_and_texts_are_documents(archive):
    got = read([archive])
    assert got.ids.to_pylist() == [
        *(f"http://a.example/{number}" for number in (1, 2, 3)),
        "http://a.example/",
        "http://b.example/",
    ]
    assert got.texts.to_pylist()[0] == f"Page 1\n\n{SAME}"
    assert got.texts.to_pylist()[3:] == ["plain text of a resource", "text of a WET"]
    assert dict(got.skipped) == {"status 404": 1, "type image": 1, "revisit": 1}
    assert got.column("title").to_pylist()[:3] == ["Page 1", "Page 2", "Page 3"]
    assert got.column("fetch_status").to_pylist() == [200, 200, 200, None, None]
    assert got.column("warc_filename").to_pylist() == ["crawl.warc.gz"] * 5
    assert got.has_pages
    assert read([archive], id="record").ids.to_pylist()[0] == "urn:uuid:00000001"
    for field in ("body", "title"):
        with pytest.raises(ParameterError, match=f"text='{field}' can only be used with tables"):
            read([archive], text=field)


def test_a_record_is_where_the_report_locates_it(archive):
    got = read([archive])
    content = archive.read_bytes()
    places = (got.column(f"warc_record_{name}").to_pylist() for name in ("offset", "length"))
    for offset, length, number in zip(*places, (2, 5, 7, 11, 12), strict=True):
        assert gzip.decompress(content[offset : offset + length]) == RECORDS[number]


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("ending", [".warc.gz", ".warc"])
def test_kept_records_are_copied_byte_for_byte(tmp_path, archive, pieces, ending):
    own = {"work": tmp_path / "work"} if pieces else {}
    out, report = tmp_path / f"kept{ending}", tmp_path / "why.parquet"
    done = dedup_files([archive], out, report=report, **own)
    assert done.result.summary.kept == 4
    assert dict(done.documents.skipped) == {"status 404": 1, "type image": 1, "revisit": 1}
    expected = [RECORDS[number] for number in KEPT]
    assert out.read_bytes() == (packed(expected) if ending == ".warc.gz" else b"".join(expected))
    table = pq.read_table(report)
    assert table["url"].to_pylist() == table["id"].to_pylist()
    *own, revisit = table["warc_record_offset"].to_pylist()
    assert own == read([archive]).column("warc_record_offset").to_pylist()
    assert gzip.decompress(archive.read_bytes()[revisit:]) == b"".join(RECORDS[10:])
    assert table["date"].to_pylist()[0] == "2026-11-23T00:00:00Z"


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("compression", PACK)
def test_kept_records_are_written_with_every_compression(tmp_path, compression, shared):
    path = tmp_path / f"crawl{ENDINGS[compression]}"
    pack = PACK[compression]
    path.write_bytes(pack(b"".join(RECORDS)) if shared else b"".join(map(pack, RECORDS)))
    dedup_files([path], tmp_path / "parts", work=tmp_path / "work", part_size=1 << 20)
    assert (tmp_path / "parts" / f"part-00000{ENDINGS[compression]}").exists()
    for own, pack in PACK.items():
        out = tmp_path / f"kept{ENDINGS[own]}"
        dedup_files([path], out)
        expected = [RECORDS[number] for number in KEPT]
        assert out.read_bytes() == b"".join(map(pack, expected))
        edges = [0, *accumulate(len(pack(one)) for one in expected)]
        assert set(read([out]).column("warc_record_offset").to_pylist()) <= set(edges)


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("pieces", [False, True])
def test_an_output_without_records_is_an_archive_of_no_pages(tmp_path, compression, pieces):
    own = {"work": tmp_path / "work"} if pieces else {}
    path, dropped = tmp_path / "crawl.warc.gz", tmp_path / f"dropped{ENDINGS[compression]}"
    path.write_bytes(packed([RECORDS[2], RECORDS[7]]))
    dedup_files([path], dropped=dropped, **own)
    assert [one.headers["warc-type"] for one in warc.records(str(dropped))] == ["warcinfo"]
    assert dedup_files([dropped], tmp_path / "again.warc", **own).result.summary.documents == 0
    assert dedup_files([path, dropped], **own).rejected == []


@pytest.mark.parametrize("compression", PACK)
def test_shards_of_captures_give_the_same_answer(tmp_path, monkeypatch, compression):
    path, pack = tmp_path / f"crawl{ENDINGS[compression]}", PACK[compression]
    path.write_bytes(b"".join(map(pack, RECORDS)))
    shards = Archives.cut(0, str(path), Request(), 400)
    assert len(shards) > 2
    assert shards[0].begin == 0
    assert shards[-1].end == path.stat().st_size
    monkeypatch.setattr("neardup.pipeline.spilled.files._share", lambda *_: 400)
    done = dedup_files([path], tmp_path / "kept.warc.gz", work=tmp_path / "work")
    assert (tmp_path / "kept.warc.gz").read_bytes() == packed([RECORDS[number] for number in KEPT])
    assert done.result.summary.documents == 5


@pytest.mark.parametrize("lacking", [1, 2, 3, 4])
@pytest.mark.parametrize(("ending", "written"), [(".warc", ".warc"), (".warc", ".warc.gz"), (".warc.gz", ".warc")])
def test_a_record_without_its_line_ends_is_copied_with_them(tmp_path, ending, written, lacking):
    made = [page(1, "One page about bees in the harbour."), page(2, "Another one, on trains that were late.")]
    inputs = [tmp_path / f"{number}{ending}" for number in range(2)]
    for path, whole in zip(inputs, made, strict=True):
        path.write_bytes(packed([whole[:-lacking]]) if ending == ".warc.gz" else whole[:-lacking])
    kept = tmp_path / f"kept{written}"
    done = dedup_files(inputs, kept)
    assert (len(done.documents), [one.code for one in done.rejected]) == (2, ["endless"] * 2 * (ending == ".warc"))
    assert (gzip.decompress(kept.read_bytes()) if written == ".warc.gz" else kept.read_bytes()) == b"".join(made)


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("largest", [members.LARGEST, 1 << 10])
@pytest.mark.parametrize("cuts", [[], [3, 6]])
def test_records_that_share_a_member_are_copied_to_members_of_their_own(tmp_path, monkeypatch, pieces, largest, cuts):
    monkeypatch.setattr(members, "LARGEST", largest)
    parts = [RECORDS[begin:end] for begin, end in pairwise([0, *cuts, len(RECORDS)])]
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(packed(b"".join(part) for part in parts))
    own = {"work": tmp_path / "work"} if pieces else {}
    for ending in (".warc.gz", ".warc"):
        out = tmp_path / f"kept{ending}"
        dedup_files([path], out, **own)
        expected = [RECORDS[number] for number in KEPT]
        assert out.read_bytes() == (packed(expected) if ending == ".warc.gz" else b"".join(expected))


@pytest.mark.parametrize("uri", ["http://a.example/{}", None])
@pytest.mark.parametrize("share", [None, 1])
def test_metadata_that_refers_to_a_kept_record_are_copied(tmp_path, monkeypatch, uri, share):
    def metadata(number, of):
        headers = [f"WARC-Refers-To: <urn:uuid:{of:08}>"]
        return record("metadata", uri=uri and uri.format(of), number=number, headers=headers, block=b"x")

    made = [page(1, SAME), metadata(91, 1), page(2, SAME), metadata(92, 2), metadata(93, 4), page(3), metadata(94, 3)]
    (tmp_path / "x.warc.gz").write_bytes(packed(made))
    work = {}
    if share:
        monkeypatch.setattr("neardup.pipeline.spilled.files._share", lambda *_: share)
        work = {"work": tmp_path / "work"}
    dedup_files([tmp_path / "x.warc.gz"], tmp_path / "kept.warc.gz", **work)
    assert (tmp_path / "kept.warc.gz").read_bytes() == packed([made[row] for row in (0, 1, 5, 6)])


def test_records_far_behind_their_page_are_copied_in_pieces_too(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.pipeline.spilled.files._share", lambda *_: 300)
    monkeypatch.setattr(archives, "BATCH", 1)
    pages = [page(number, SAME if number in {4, 7} else None) for number in range(1, 10)]
    behind = [*(other("metadata", 90 + number, number) for number in range(1, 10)), other("metadata", 100, 55)]
    (tmp_path / "x.warc.gz").write_bytes(packed([INFO, *pages, *behind]))
    dedup_files([tmp_path / "x.warc.gz"], tmp_path / "memory.warc.gz", dropped=tmp_path / "out.warc.gz")
    kept = [row for row in range(9) if row != 6]
    expected = packed([INFO, *(pages[row] for row in kept), *(behind[row] for row in kept)])
    assert (tmp_path / "memory.warc.gz").read_bytes() == expected
    assert (tmp_path / "out.warc.gz").read_bytes() == packed([INFO, pages[6], behind[6]])
    outputs = {"dropped": tmp_path / "dropped.warc.gz", "work": tmp_path / "work"}
    dedup_files([tmp_path / "x.warc.gz"], tmp_path / "pieces.warc.gz", **outputs)
    assert (tmp_path / "pieces.warc.gz").read_bytes() == expected
    assert (tmp_path / "dropped.warc.gz").read_bytes() == (tmp_path / "out.warc.gz").read_bytes()


def test_an_archive_inside_a_record_is_never_cut(tmp_path):
    inner = packed([page(number, uri="http://false.example/") for number in range(20, 40)])
    headers = ["Content-Type: application/http"]
    outer = record(uri="http://a.example/x.warc.gz", headers=headers, block=http(inner, kind="application/gzip"))
    stored = gzip.compress(outer, compresslevel=0, mtime=0)
    assert inner in stored
    (tmp_path / "x.warc.gz").write_bytes(packed([page(1)]) + stored + packed([page(2), page(3)]))
    path, request = str(tmp_path / "x.warc.gz"), Request(max_bytes=1)
    shards = Archives.cut(0, path, request, 200)
    assert len(shards) > 2
    pieces = [piece for shard in shards for piece in Archives.pieces(path, request, shard, 1, Needs())]
    assert [name for piece in pieces for name in piece.ids.to_pylist()] == [f"http://a.example/{n}" for n in (1, 2, 3)]
    assert not any(piece.rejected for piece in pieces)


@pytest.mark.parametrize("address", [None, "http://a.example/1"])
def test_records_that_accompany_pages_are_not_all_held_together(tmp_path, monkeypatch, address):
    monkeypatch.setattr(archives, "BATCH", 1 << 12)
    made = [record("metadata", number=number, uri=address or f"http://a.example/{number}") for number in range(40)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(packed([INFO, *made, other("request", 91, 1), page(1), other("metadata", 92, 1)]))
    request = Request()
    pieces = [*Archives.pieces(str(path), request, whole_of(path), 1 << 12, Needs())]
    assert max(len(piece._pages.accessories) for piece in pieces) <= 8
    assert sum(map(len, pieces)) == 1


@pytest.mark.parametrize("kind", ["metadata", "response", "revisit"])
@pytest.mark.parametrize("limits", [{"_MANY": 4, "_MOST": 1 << 26}, {"_MANY": 1 << 16, "_MOST": 1 << 12}])
def test_the_records_of_one_capture_are_not_all_held_together(tmp_path, monkeypatch, kind, limits):
    for name, limit in ({"BATCH": 1 << 10} | limits).items():
        monkeypatch.setattr(archives, name, limit)
    own = ["Content-Type: application/http", "WARC-Concurrent-To: <urn:uuid:00000001>"]
    made = [record(kind, number=number, headers=own, block=http(b"<p>text")) for number in range(2, 42)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(packed([page(1), *made]))
    pieces = [piece._pages for piece in Archives.pieces(str(path), Request(), whole_of(path), 1 << 10, Needs())]
    held = [len(piece.accessories) + len(piece.captures) + len(piece.revisits) for piece in pieces]
    assert (sum(held), max(held) <= 8) == (41, True)


@pytest.mark.parametrize("uri", ["http://a.example/", None])
def test_captures_of_one_address_are_not_all_held_together(tmp_path, monkeypatch, uri):
    monkeypatch.setattr(archives, "BATCH", 1)
    (tmp_path / "x.warc.gz").write_bytes(packed(page(number, uri=uri) for number in range(9)))
    path = str(tmp_path / "x.warc.gz")
    assert len(Archives.cut(0, path, Request(), 1)) == 9
    assert [len(piece) for piece in Archives.pieces(path, Request(), whole_of(path), 1, Needs())] == [1] * 9


def test_revisits_of_one_capture_are_not_held_together(tmp_path):
    made = [other("revisit", number, 1, "WARC-Refers-To") for number in range(2, 11)]
    (tmp_path / "x.warc.gz").write_bytes(packed([page(1), *made]))
    assert len(Archives.cut(0, str(tmp_path / "x.warc.gz"), Request(), 1)) == 10


def test_many_tiny_pages_are_not_all_held_together(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "BATCH", 1 << 12)
    made = [record("resource", number=number, headers=[PLAIN], block=b"x") for number in range(40)]
    (tmp_path / "x.warc.gz").write_bytes(packed([b"".join(made)]))  # which cannot be cut
    pieces = Archives.pieces(str(tmp_path / "x.warc.gz"), Request(), whole_of(tmp_path / "x.warc.gz"), 1 << 13, Needs())
    assert [len(piece) for piece in pieces] == [8] * 5


def test_records_of_a_capture_stay_together_whatever_their_addresses(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "BATCH", 1)

    def capture(number):
        links = ["Content-Type: application/http", f"WARC-Concurrent-To: <urn:uuid:{number + 1:08}>"]
        about = {"headers": [f"WARC-Refers-To: <urn:uuid:{number:08}>"], "uri": f"urn:{number}"}
        return [
            record(number=number, headers=links, block=http(b"<p>The text of a page.")),
            record("request", number=number + 1),
            record("metadata", number=number + 2, **about),
        ]

    made = [one for number in range(0, 30, 10) for one in capture(number)]
    path, request = tmp_path / "x.warc.gz", Request()
    path.write_bytes(packed(made))
    shards = Archives.cut(0, str(path), request, 1)
    pieces = [piece for shard in shards for piece in Archives.pieces(str(path), request, shard, 1, Needs())]
    assert (len(shards), [len(piece._pages.accessories) for piece in pieces]) == (3, [2, 2, 2])
    with Archives.writer(str(tmp_path / "kept.warc.gz")) as append:
        for piece, kept in zip(pieces, [True, False, True], strict=True):
            append(piece, np.array([kept]), None)
    assert (tmp_path / "kept.warc.gz").read_bytes() == packed(made[:3] + made[6:])


def test_damage_is_rejected_and_counted(archive):
    content = archive.read_bytes()
    first = len(packed(RECORDS[:2]))
    archive.write_bytes(content[:first] + b"\0" * 50 + content[first:-5])
    got = read([archive])
    assert (got.rejected[0].position, got.rejected[0].code) == (first, "damaged")
    assert f"reading resumes at byte {first + 50:,}" in got.rejected[0].reason
    assert "ends in the middle of a record" in got.rejected[-1].reason
    assert len(got) == 4
    with pytest.raises(DataError, match="no gzip member begins here"):
        read([archive], strict=True)


def test_a_length_beyond_the_file_is_not_called_its_end_if_records_follow(tmp_path):
    path = tmp_path / "x.warc"
    first, second = (page(number, f"An article about bees, number {number}.") for number in (1, 2))
    path.write_bytes(first.replace(b"Content-Length: ", b"Content-Length: 9") + second)
    got = read([path])
    (rejected,) = got.rejected
    assert rejected.reason == f"it does not end before the next record begins; reading resumes at byte {len(first) + 1}"
    assert len(got) == 1
    path.write_bytes(first + second[:-30])
    (rejected,) = read([path]).rejected
    assert rejected.reason == "the file ends in the middle of a record"


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_reading_does_not_resume_at_the_end_of_a_file(tmp_path, compression):
    path = tmp_path / f"x{ENDINGS[compression]}"
    whole = [PACK[compression](one) for one in RECORDS[2:4]]
    path.write_bytes(b"".join(whole) + b"\xff" * 50)
    (rejected,) = read([path]).rejected
    assert rejected.position == (len(b"".join(whole)))
    assert "resumes" not in rejected.reason


def test_the_error_for_an_archive_without_documents_counts_no_records(tmp_path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(packed([page(1, status=404), page(2)])[:-20])
    expected = (
        r"x\.warc\.gz: no document was found; a damaged part is at .*x\.warc\.gz:\d+: the file ends in the middle"
    )
    with pytest.raises(DataError, match=expected):
        read([path])
    with pytest.raises(DataError, match=expected):
        dedup_files([path], tmp_path / "out.jsonl", work=tmp_path / "work")


def test_pages_in_other_formats(tmp_path, archive):
    dedup_files([archive], tmp_path / "kept.jsonl")
    lines = read_lines(tmp_path / "kept.jsonl")
    assert lines[0]["id"] == lines[0]["url"] == "http://a.example/1"
    assert lines[0]["text"].startswith("Page 1")
    with pytest.raises(ParameterError, match="only be an archive if all inputs are archives"):
        dedup_files([tmp_path / "kept.jsonl", archive], tmp_path / "again.warc.gz")
    with pytest.raises((ParameterError, OutputError)):
        dedup_files([archive], tmp_path / "out.jsonl", mark=tmp_path / "mark.warc.gz")


def test_a_canonical_address_of_http_counts_without_one_in_the_markup(tmp_path):
    link = ["Link: </http>; rel=canonical"]
    head = b"<html><head><link rel=canonical href=/markup></head><p>text</html>"
    declared = record(
        uri="http://a.example/3", headers=["Content-Type: application/http"], block=http(head, headers=link)
    )
    path = tmp_path / "crawl.warc"
    path.write_bytes(page(1, headers=link) + page(2) + page(4, kind="text/plain", headers=link) + declared)
    assert read([path]).column("canonical").to_pylist() == ["/http", None, "/http", "/markup"]


def test_a_charset_of_http_counts(tmp_path):
    body = "<p>Привет, как дела".encode("cp1251")
    block = http(body, kind="text/html; charset=windows-1251")
    (tmp_path / "a.warc").write_bytes(record(headers=["Content-Type: application/http"], block=block))
    for view in ("auto", "visible"):
        assert read([tmp_path / "a.warc"], extraction=Extraction(view=view)).texts.to_pylist() == ["Привет, как дела"]


def test_an_index_takes_archives(tmp_path, archive):
    from neardup import Index
    from neardup.pipeline.files.ingestion import add_files

    added = add_files([archive], tmp_path / "index", texts=True)
    assert (added.documents, added.skipped["revisit"]) == (5, 1)
    with Index.open(tmp_path / "index") as index:
        assert index.get(["http://a.example/3"])[0].text.startswith("Page 3")


def test_several_canonical_addresses_in_the_markup_count_as_none(tmp_path):
    head = b"<html><head><link rel=canonical href=/a><link rel=canonical href=/b></head><p>text</html>"
    block = http(head, headers=["Link: </http>; rel=canonical"])
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed([record(block=block)]))
    assert read([path]).column("canonical").to_pylist() == [None]


@pytest.mark.parametrize(
    ("headers", "page", "expected"),
    [
        (["X-Robots-Tag: noindex"], b"<p>a", 1),
        (["X-Robots-Tag: nofollow", "x-robots-tag: unavailable_after: 1 Jan 2030, none"], b"<p>a", 1),
        (["X-Robots-Tag: otherbot: noindex, nofollow"], b"<p>a", 0),
        (["X-Robots-Tag: otherbot: noindex", "X-Robots-Tag: noindex"], b"<p>a", 1),
        ([], b"<meta name=robots content=noindex><p>a", 1),
        ([], b"<p>a", 0),
    ],
)
def test_pages_and_headers_may_ask_not_to_index(tmp_path, headers, page, expected):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed([record(block=http(page, headers=headers))]))
    assert read([path]).column("noindex").to_pylist() == [expected]


@pytest.mark.parametrize("shared", [[0, 3], [1, 3], [0, 1, 2, 3]])
def test_pages_without_an_address_have_different_ids(tmp_path, shared):
    made = [record(kind, uri=None, block=http(b"<p>a")) for kind in ("response", "response", "revisit")]
    members = [b"".join(made[begin:end]) for begin, end in pairwise(shared)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(gzip.compress(member, mtime=0) for member in members))
    got = read([path])
    ids = got.ids.to_pylist() + got.revisits["id"].to_pylist()
    assert len(set(ids)) == len(ids) == shared[-1] - shared[0]
    if shared == [0, 3]:
        sizes = [len(one) for one in made]
        assert ids == [f"{path}:0", f"{path}:0:{sizes[0]}", f"{path}:0:{sum(sizes[:2])}"]


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    """An archive whose HTTP bodies have faults, except for the last one."""
    for module in (http_response, html):
        monkeypatch.setattr(module, "LARGEST_PAGE", 1 << 12)
    body = f"<title>t</title><p>{random.Random(1).randbytes(600).hex()}".encode()  # noqa: S311 - no secret
    bodies = [
        (gzip.compress(body)[:-200], "Content-Encoding: gzip"),
        (body, "Content-Encoding: gzip"),
        (body, "Content-Encoding: secret"),
        (body + b" word" * 2000, "Content-Encoding: identity"),
        (body, ", ".join(["Content-Encoding: gzip"] + ["gzip"] * 5)),
        (gzip.compress(body), "Content-Encoding: gzip"),
    ]
    path = tmp_path / "faulty.warc.gz"
    kind = ["Content-Type: application/http"]
    resource = record(
        "resource", uri="http://a.example/r", headers=["Content-Type: text/html"], block=body + b" text" * 2000
    )
    records = [
        record(uri=f"http://a.example/{number}", number=number, headers=kind, block=http(own, headers=[coding]))
        for number, (own, coding) in enumerate(bodies)
    ]
    path.write_bytes(packed([*records, resource]))
    return path


FAULTS = {
    "damaged gzip coding": 1,
    "unreadable gzip coding": 1,
    "unknown coding": 1,
    "longer than 16 MiB, cut there": 2,
    "more than 5 codings": 1,
}


@pytest.mark.parametrize("pieces", [False, True])
def test_pages_with_faults_in_their_bodies_are_documents_and_are_counted(tmp_path, faulty, pieces):
    own = {"work": tmp_path / "work"} if pieces else {}
    report = tmp_path / "report.html"
    done = dedup_files([faulty], report=report, page=lambda done: report_page(done, MinHash()), **own)
    assert (len(done.documents), done.documents.body_faults, done.documents.skipped) == (7, FAULTS, {})
    assert "1 damaged gzip coding" in report.read_text()


def test_faults_of_bodies_are_in_every_summary(tmp_path, faulty, capfd):
    commands = (["dedup", "--dry-run"], ["index", "--to", "ix", "--url", "url"], ["seen", "ix"])
    for verb, *options in commands:
        paths = [str(tmp_path / one) if one == "ix" else one for one in options]
        assert (
            main([verb, *(paths[:1] if verb == "seen" else []), str(faulty), *(paths if verb != "seen" else [])]) == 0
        )
        told = capfd.readouterr()
        assert "pages not read completely: 1 damaged gzip coding" in told.out + told.err
    for verb, *options in (["dedup", "--dry-run"], ["index", "--to", str(tmp_path / "other")]):
        assert main([verb, str(faulty), *options, "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["body_faults"] == FAULTS


def test_records_that_are_too_long_are_rejected_without_advice_on_the_size_of_files(archive, monkeypatch, capfd):
    archive.write_bytes(packed([page(1, SAME), page(2, SAME * 40), page(3, SAME)]))
    for module in (members, warc):
        monkeypatch.setattr(module, "LARGEST", 1 << 10)
    (rejected,) = read([archive], max_bytes=1).rejected
    assert rejected.code == "too long"
    assert "its record is larger than" in rejected.reason
    assert main(["dedup", str(archive), "--dry-run", "--max-bytes", "1"]) == 1
    told = capfd.readouterr().out
    assert "rejected" in told
    assert "--max-bytes" not in told


def test_types_that_are_not_read_are_named(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    kinds = ["text/html", "application/xhtml+xml", "text/css", "", "text/plain; charset=utf-8"]
    made = [record("conversion", headers=[f"Content-Type: {kind}"], block=b"<p>text") for kind in kinds]
    path.write_bytes(packed([*made, page(1, SAME, kind="text/css"), page(2, SAME, kind="x-other/css")]))
    got = read([path])
    assert len(got) == 1
    assert got.skipped == {
        "conversion of text/html (only text/plain is read)": 2,
        "conversion of application/xhtml+xml (only text/plain is read)": 1,
        "conversion of another type (only text/plain is read)": 1,
        "type text, but neither plain nor HTML": 1,
        "no known type": 1,
    }


@pytest.mark.parametrize("batch", [1, 300, 1 << 20])
def test_undecoded_records_have_the_pages_of_pieces(archive, monkeypatch, batch):
    monkeypatch.setattr(archives, "BATCH", batch)
    latin = http("<p>K\xe4se".encode("latin-1"), kind="text/html; charset=latin-1")
    http_type = ["Content-Type: application/http"]
    bare = [record(block=block, uri=None, headers=http_type) for block in (latin, http(b"<p>nowhere"))]
    whole = packed([*RECORDS, *bare])
    archive.write_bytes(whole[: len(whole) // 2] + b"damage" + whole[len(whole) // 2 :])
    rejected = []
    parts = [*undecoded(str(archive), rejected)]
    pieces = [*Archives.pieces(str(archive), Request(), whole_of(archive), 1 << 30, Needs(markup=True))]
    assert rejected == [record for piece in pieces for record in piece.rejected] != []
    columns = ([*piece.column("url").to_pylist()] for piece in pieces)
    expected = [
        (address, text, text == "text of a WET")
        for piece, addresses in zip(pieces, columns, strict=True)
        for address, text in zip(addresses, piece.texts.to_pylist(), strict=True)
        if text != "plain text of a resource"
    ]
    assert [page for table, _ in parts for page in pages_in(table, Extraction()) if page is not None] == expected
    assert {address for address, *_ in expected} >= {"http://a.example/1", "http://b.example/", None}
    assert [page for _, page, _ in expected[-2:]] == ["<p>K\xe4se", "<p>nowhere"]
    assert (parts[-1][1], len(parts) > 2) == (archive.stat().st_size, batch < 1 << 20)


def test_xhtml_is_read_and_learned_from_with_its_empty_elements(tmp_path):
    text = "<p>The bees have left the harbour, and nobody knows why they did. </p>" * 5
    xhtml = f'<html xml:lang="fr"><head><script src="a.js"/><title>Bees</title></head><body>{text}</body></html>'
    path = tmp_path / "a.warc.gz"
    block = http(xhtml.encode(), kind="application/xhtml+xml; charset=utf-8")
    path.write_bytes(packed([record(uri="http://a.example/1", block=block)]))
    found = read([path])
    assert found.column("title").to_pylist() == ["Bees"]
    assert found.texts[0].as_py().count("nobody knows") == 5
    [(table, _)] = undecoded(str(path), [])
    [(_, page, is_text)] = pages_in(table, Extraction())
    assert (is_text, '<script src="a.js"></script>' in page) == (False, True)
