"""Reports describe their runs, and revisit records are rows of them; other tables describe no run."""

import gzip
import os
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from archives_made import packed, page, record

from neardup import MinHash, dedup_files
from neardup.errors import ParameterError
from neardup.interfaces.cli import main
from neardup.pipeline.corpus.report import revisit_rows, terms_of_report
from neardup.sources.read import read
from neardup.sources.warc import records

NEW = "A new page about the harbour, and about the boats that were in it before the storm came."
SAME = "This article is on two pages of the crawl, word for word, and is long enough to be one."


@pytest.mark.parametrize("work", [None, "work"])
def test_a_report_describes_its_run_in_memory_and_in_pieces(tmp_path, work):
    (tmp_path / "in.jsonl").write_text('{"body": "one two three"}\n')
    ways = {"report": tmp_path / "why.parquet", "work": work and tmp_path / work}
    dedup_files([tmp_path / "in.jsonl"], text="body", scheme=MinHash(threshold=0.7), keep="longest", **ways)
    found = terms_of_report(tmp_path / "why.parquet")
    assert (found["keep"], found["reading"]) == ("longest", {"text": "body", "html": False})
    assert (found["scheme"]["scheme"], found["scheme"]["threshold"]) == ("minhash", 0.7)
    assert found["recipe"] == MinHash().recipe


def test_a_report_may_have_a_name_that_is_not_utf8(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one two three"}\n')
    path = tmp_path / os.fsdecode(b"why\xff.parquet")
    dedup_files([tmp_path / "in.jsonl"], report=path)
    assert terms_of_report(path)["keep"] == "first"


def test_other_files_describe_no_run(tmp_path):
    path = tmp_path / "x.parquet"
    assert terms_of_report(path) is None
    path.write_bytes(b"PAR1")
    assert terms_of_report(path) is None
    for metadata in ({}, {"neardup.run": "{}"}, {"neardup.run": "["}, {"neardup.run": "[]"}):
        pq.write_table(pa.table({"id": ["a"]}).replace_schema_metadata(metadata), path)
        assert terms_of_report(path) is None
    assert terms_of_report(tmp_path / "x.jsonl") is None


def revisited(number, uri, *headers):
    return record("revisit", number=number, uri=uri, headers=headers)


DATED = ("WARC-Refers-To-Target-URI: http://a.example/2", "WARC-Refers-To-Date: 2026-11-23T00:00:00Z")
RECORDS = [
    page(1, SAME),
    page(2, SAME),
    page(3, "A quite different page about bees, which have left the harbour for good this year."),
    revisited(11, "http://a.example/3", "WARC-Refers-To: <urn:uuid:00000003>"),
    revisited(12, "http://c.example/", *DATED, "WARC-Refers-To: <urn:x>"),
    revisited(13, "http://d.example/", "WARC-Refers-To-Target-URI: http://nowhere.example/"),
    revisited(14, None),
]
EXPECTED = [
    ("http://a.example/3", "http://a.example/3", 2),
    ("http://c.example/", "http://a.example/1", 0),  # the page it refers to was dropped for this one
    ("http://d.example/", None, None),
]


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(packed(RECORDS))
    return path


@pytest.mark.parametrize("pieces", [False, True])
def test_revisits_are_rows_of_the_report(tmp_path, archive, pieces):
    own = {"work": tmp_path / "work"} if pieces else {}
    done = dedup_files([archive], report=tmp_path / "why.parquet", **own)
    assert (done.result.summary.documents, done.documents.skipped["revisit"]) == (3, 4)
    rows = pq.read_table(tmp_path / "why.parquet").to_pylist()
    assert [row["position"] for row in rows] == [0, 1, 2, None, None, None, None]
    own = rows[3:]
    assert [(row["id"], row["representative"], row["representative_position"]) for row in own[:3]] == EXPECTED
    assert own[3]["id"] == f"{archive}:{own[3]['warc_record_offset']}"
    assert {(row["kept"], row["rule"], row["resemblance"], row["exact"]) for row in own} == {
        (False, "revisit", None, None)
    }
    assert own[0]["url"] == "http://a.example/3"
    assert own[0]["record_id"] == "urn:uuid:00000011"


@pytest.mark.parametrize(
    "others", [{}, {"more.jsonl": '{"text": "A text about bees."}\n'}], ids=["alone", "with others"]
)
def test_reports_about_archives_have_the_same_bytes_in_memory_and_in_pieces(tmp_path, archive, others):
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    names = [archive, *(tmp_path / name for name in others)]
    reports = [tmp_path / "memory.parquet", tmp_path / "pieces.parquet"]
    for report, own in zip(reports, [{}, {"work": tmp_path / "work"}], strict=True):
        dedup_files(names, report=report, mark=report.with_stem(f"{report.stem}-marked"), **own)
    assert reports[0].read_bytes() == reports[1].read_bytes()
    marked = [report.with_stem(f"{report.stem}-marked").read_bytes() for report in reports]
    assert marked[0] == marked[1]


@pytest.mark.parametrize("way", [None, "work", "state", "against"])
def test_revisits_without_pages_are_rows_of_the_report(tmp_path, archive, way):
    only = tmp_path / "revisits.warc.gz"
    only.write_bytes(packed(RECORDS[3:]))
    own = {} if way is None else {way: archive if way == "against" else tmp_path / way}
    done = dedup_files([only], report=tmp_path / "why.parquet", **own)
    assert (done.result.summary.documents, done.documents.skipped["revisit"]) == (0, 4)
    rows = pq.read_table(tmp_path / "why.parquet").to_pylist()
    assert [(row["url"], row["rule"], row["warc_filename"]) for row in rows[:3]] == [
        (uri, "revisit", only.name) for uri, _, _ in EXPECTED
    ]
    assert len(rows) == 4


def test_ids_of_records_name_revisits_too(tmp_path, archive):
    dedup_files([archive], report=tmp_path / "why.parquet", id="record")
    rows = pq.read_table(tmp_path / "why.parquet").to_pylist()
    assert (rows[3]["id"], rows[3]["representative"]) == ("urn:uuid:00000011", "urn:uuid:00000003")


def test_the_first_page_with_an_address_counts(tmp_path, archive):
    copy = shutil.copy(archive, tmp_path / "copy.warc.gz")
    got = read([archive, copy])
    rows = revisit_rows(got, pa.array([-1] * 6).to_numpy(), pa.schema([("id", "str")]))
    assert len(rows[0]) == 8
    got.revisits = None
    assert revisit_rows(got, [], pa.schema([])) == []


REFERRED = {  # the headers of a revisit record, and the page that they name
    "WARC-Refers-To-Target-URI: http://u.example/, WARC-Refers-To-Date: 2026-02-01T00:00:00Z": "http://z.example/",
    "WARC-Refers-To-Target-URI: http://u.example/, WARC-Refers-To-Date: 2026-02-01T00:00:00.5Z": "http://z.example/",
    "WARC-Refers-To-Target-URI: http://u.example/, WARC-Refers-To-Date: 2026-01-01T00:00:00Z": "http://u.example/",
    "WARC-Refers-To-Target-URI: http://u.example/, WARC-Refers-To-Date: 2026-03-01T00:00:00Z": None,
    "WARC-Refers-To-Target-URI: http://u.example/": None,
    "WARC-Refers-To-Date: 2026-02-01T00:00:00Z": None,
    "WARC-Refers-To-Target-URI: mailto:a": None,
}


@pytest.mark.parametrize("pieces", [False, True])
def test_revisits_name_a_capture_by_its_address_and_date(tmp_path, pieces):
    def capture(number, month, uri, text):
        return page(number, text, uri=uri).replace(b"2026-11-23", b"2026-%02d-01" % month).replace(b"Page 3", b"Page 1")

    path = tmp_path / "crawl.warc.gz"
    captures = [
        capture(1, 1, "http://z.example/", SAME),
        capture(2, 1, "http://u.example/", NEW),
        capture(3, 2, "http://u.example/", SAME),
    ]
    revisits = [revisited(10 + row, "http://v.example/", *one.split(", ")) for row, one in enumerate(REFERRED)]
    path.write_bytes(packed([*captures, *revisits]))
    own = {"work": tmp_path / "work"} if pieces else {}
    dedup_files([path], report=tmp_path / "why.parquet", learn_templates=False, **own)
    rows = pq.read_table(tmp_path / "why.parquet").to_pylist()[3:]
    assert [row["representative"] for row in rows] == [*REFERRED.values()]


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("ending", [".warc.gz", ".warc"])
def test_equal_payloads_are_written_as_revisits(tmp_path, pieces, ending):
    again = page(2, SAME).replace(b"Page 2", b"Page 1")
    near = page(3, SAME)
    request = record("request", number=91, headers=["WARC-Concurrent-To: <urn:uuid:00000002>"])
    archive = tmp_path / os.fsdecode(b"crawl\xff.warc.gz")
    archive.write_bytes(packed([page(1, SAME), request, again, near]))
    out = tmp_path / f"kept{ending}"
    own = {"work": tmp_path / "work"} if pieces else {}
    done = dedup_files([archive], out, revisits=True, **own)
    assert done.result.summary.kept == 1
    written = [*records(str(out))]
    assert [one.headers["warc-type"] for one in written] == ["response", "revisit"]
    assert written[1].headers["warc-target-uri"] == "http://a.example/2"
    assert written[1].headers["warc-refers-to"] == "<urn:uuid:00000001>"
    assert dedup_files([out], report=tmp_path / "why.parquet").documents.skipped["revisit"] == 1
    rows = pq.read_table(tmp_path / "why.parquet").to_pylist()
    assert (rows[1]["id"], rows[1]["representative"]) == ("http://a.example/2", "http://a.example/1")


@pytest.mark.parametrize("pieces", [False, True])
def test_records_that_share_a_member_are_written_as_revisits_of_those_with_their_own(tmp_path, pieces):
    made = [page(number, text) for number, text in enumerate((SAME, NEW, SAME, NEW, NEW))]
    made = [re.sub(rb"Page \d", b"Page 0", one) for one in made]
    archive, out = tmp_path / "crawl.warc.gz", tmp_path / "kept.warc.gz"
    own = {"work": tmp_path / "work"} if pieces else {}
    for content, referred in (
        (packed(made[:2]) + gzip.compress(b"".join(made[2:])), ["0", "1", "1"]),
        (gzip.compress(b"".join(made[:2])) + packed(made[2:]), []),
    ):
        archive.write_bytes(content)
        done = dedup_files([archive], out, revisits=True, force=True, **own)
        written = [one for one in records(str(out)) if one.headers["warc-type"] == "revisit"]
        assert [one.headers["warc-refers-to-target-uri"][-1] for one in written] == referred
        assert [one.headers["warc-target-uri"][-1] for one in written] == ["2", "3", "4"][: len(referred)]
        assert done.result.summary.revisits_missing == 3 - len(referred)
        own = {}


@pytest.fixture
def crawls(tmp_path):
    """Two crawls: the second one has a page of the first again, and a new page twice."""
    pages = {"first": [page(1, SAME)], "second": [page(2, SAME), page(3, NEW), page(4, NEW)]}
    paths = [tmp_path / f"{name}.warc.gz" for name in pages]
    for path, own in zip(paths, pages.values(), strict=True):
        path.write_bytes(packed([re.sub(rb"Page \d", b"Page 0", one) for one in own]))
    return paths


def test_pages_of_earlier_archives_are_written_as_revisits(tmp_path, crawls):
    first, second = crawls
    other = tmp_path / "texts.jsonl"
    other.write_text('{"id": "a", "text": "something else"}\n')
    out = tmp_path / "kept.warc.gz"
    done = dedup_files([second], out, revisits=True, against=[other, first])
    assert (done.result.summary.known, done.result.summary.revisits_missing) == (1, 0)
    written = [*records(str(out))]
    assert [one.headers["warc-type"] for one in written] == ["revisit", "response", "revisit"]
    assert [one.headers.get("warc-refers-to-target-uri") for one in written] == [
        "http://a.example/1",
        None,
        "http://a.example/3",
    ]


def test_places_are_those_of_the_inputs_only(tmp_path, crawls):
    first, second = crawls
    for name, against in (("alone", None), ("against", first)):
        dedup_files([second], report=tmp_path / f"{name}.parquet", work=tmp_path / "w", against=against)
    alone, against = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("alone", "against"))
    assert against["warc_record_offset"].equals(alone["warc_record_offset"])


@pytest.mark.parametrize("kind", ["state", "index", "stream"])
def test_pages_of_states_and_indexes_without_a_record_are_counted(tmp_path, crawls, kind, capfd):
    first, second = crawls
    known = tmp_path / kind
    if kind == "state":
        dedup_files([first], tmp_path / "kept-1.warc.gz", state=known)
    elif kind == "index":
        assert main(["index", str(first), "--to", str(known), "--url", "url", "--texts"]) == 0
    else:
        known = tmp_path / "stream.warc.zst"
        known.write_bytes(zstandard.compress(gzip.decompress(first.read_bytes()) + record("warcinfo", uri=None)))
    out = tmp_path / "kept.warc.gz"
    capfd.readouterr()
    assert main(["dedup", str(second), "--out", str(out), "--revisits", "--against", str(known)]) == 0
    assert "1  exact duplicate without a revisit record: the kept page is only known" in capfd.readouterr().out
    assert [one.headers["warc-type"] for one in records(str(out))] == ["response", "revisit"]


def test_revisits_are_written_to_archives_only(tmp_path, archive):
    for out in (None, tmp_path / "kept.jsonl"):
        with pytest.raises(ParameterError, match="requires a web archive as output"):
            dedup_files([archive], out, revisits=True)


def test_runs_without_archives_load_no_reader_of_archives():
    program = (
        "import sys, neardup.pipeline.files.dedup as _; print([name for name in sys.modules if name.endswith('warc')])"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "[]\n"
