"""Templates are learned from the pages in files before a run reads them, and are added to a file of templates."""

import json
from functools import partial
from pathlib import Path
from random import Random

import fsspec
import invented_crawl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import http, packed, record
from invented_crawl import templates_in, write_archive, write_table
from invented_sites import PAGES, SITES, renamed
from json_lines import read_lines

import neardup
from neardup import Checksum
from neardup.engines import processes
from neardup.errors import OutputError, ParameterError
from neardup.pipeline.crawl import templates
from neardup.pipeline.crawl.file_templates import _page_contents, learn_from_files, templates_of
from neardup.pipeline.crawl.templates import learn_templates, learned_again, rule_of
from neardup.pipeline.files.ingestion import add_files
from neardup.sources import archives, jsonl
from neardup.sources.hosts import host
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read
from neardup.sources.request import Request
from neardup.text import extraction as extraction_module
from neardup.text.host_templates import HostTemplates
from neardup.web_pages import Extraction


def test_a_file_gets_the_templates_of_new_hosts_and_keeps_its_own(tmp_path):
    path, pages = tmp_path / "t.arrow", [write_table(tmp_path / "new.jsonl", renamed(PAGES))]
    learn_templates(PAGES[:48]).save(path)
    inputs = inputs_of(pages, Request())
    file = templates_of(path, inputs, Request())
    request, stages = Request(html="html", extraction=file.extraction), []
    found = file.extended(inputs, request, lambda *stage: stages.append(stage)).templates
    assert stages == [("learn", pages[0].stat().st_size, pages[0].stat().st_size)]
    own = [one.host for one in file.known.templates]
    assert [found.get(host).id for host in own] == [one.id for one in file.known.templates]
    assert found.get(SITES[2].host).id == learn_templates(renamed(PAGES[48:])).templates[0].id
    assert file.learned(found) == 1
    assert found.earlier == (*file.known.earlier, file.known.identity)
    assert HostTemplates.load(path) == found
    before = path.stat()
    again = templates_of(path, inputs, Request()).extended(inputs, request, lambda *_: None)
    assert again.templates == found
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # nothing was written


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
def test_pages_that_templates_were_learned_from_are_not_extracted_again(tmp_path, view, monkeypatch):
    pages = [
        (url, page if n % 2 else page.replace("<p>", "<div>" * 600 + "<p>")) for n, (url, page) in enumerate(PAGES)
    ]
    few = [(f"https://few.example/{n}", f"{page}<p>few") for n, (_, page) in enumerate(PAGES[:5])]
    files, learned = [write_table(tmp_path / "new.jsonl", [*pages, *few])], {}
    for name in ("memory", "pieces"):
        work = tmp_path / "work" if name == "pieces" else None
        report, path = tmp_path / f"{name}.parquet", tmp_path / f"{name}.arrow"
        given = {"html": "html", "extraction": Extraction(view=view), "threads": 1}
        neardup.dedup_files(files, report=report, learn_templates=path, work=work, **given)
        learned[name] = pq.read_table(report).sort_by("position"), HostTemplates.load(path)
    (one, templates), (other, same) = learned.values()
    assert templates == same == learn_templates(pages, extraction=Extraction(view=view))
    plain = tmp_path / "plain.parquet"
    known = Extraction(view=view, templates=templates)
    neardup.dedup_files(files, report=plain, html="html", extraction=known, threads=1)
    assert one.equals(other)
    assert one.equals(pq.read_table(plain).sort_by("position"))

    inputs = inputs_of(files, Request())
    file = templates_of(tmp_path / "more.arrow", inputs, Request(extraction=Extraction(view=view)))
    extended = file.extended(inputs, Request(html="html", extraction=file.extraction), lambda *_: None)
    addresses, markup = zip(*(pages + few), strict=True)
    expected = known.pages(markup, hosts=[*map(host, addresses)])
    read_again = []
    content = extraction_module._content
    monkeypatch.setattr(
        extraction_module, "_content", lambda *given, **how: read_again.append(given) or content(*given, **how)
    )
    assert extended.pages(markup, hosts=[*map(host, addresses)]) == expected
    assert len(read_again) == len(few)


@pytest.mark.parametrize("expanded", [1 << 25, 5_000])
@pytest.mark.parametrize("number", [1, 2])
def test_archives_and_folders_together_have_the_same_templates(tmp_path, monkeypatch, number, expanded):
    monkeypatch.setattr(processes, "_START", 0)
    monkeypatch.setattr(archives, "BATCH", 20_000)
    monkeypatch.setattr(templates, "_EXPANDED", expanded)
    records = [record(uri=url, block=http(page.encode())) for url, page in PAGES]
    (tmp_path / "a.warc.gz").write_bytes(packed([*records[:20], record("revisit")]))
    (tmp_path / "b.warc").write_bytes(b"".join(records[20:40]))
    (tmp_path / "c").mkdir()
    for place, (url, page) in enumerate(PAGES[40:]):
        (tmp_path / "c" / f"{place}.html").write_text(
            page.replace("</head>", f"<link rel=canonical href={url}></head>")
        )
    files, path = [tmp_path / name for name in ("a.warc.gz", "b.warc", "c")], tmp_path / "t.arrow"
    given = {"work": tmp_path / "work", "threads": number}
    done = neardup.dedup_files(files, report=tmp_path / "r.parquet", learn_templates=path, **given)
    assert HostTemplates.load(path) == learn_templates(PAGES)
    assert done.hosts_learned == 3


def test_templates_are_those_of_the_hosts_between_other_records(tmp_path, monkeypatch):
    """Some records have no page, and a file is read in several blocks."""
    monkeypatch.setattr(jsonl, "_BLOCK", 20_000)
    none, learned = ("https://none.example/", None), learn_templates(PAGES)
    path = write_table(tmp_path / "pages.jsonl", [*PAGES[:10], none, *PAGES[10:], none])
    assert neardup.dedup_files([path], html="html", url="url").templates == learned
    archive, texts = tmp_path / "a.warc", tmp_path / "texts.jsonl"
    archive.write_bytes(b"".join(record(uri=url, block=http(page.encode())) for url, page in PAGES))
    texts.write_text('{"text": "no page"}\n')
    assert neardup.dedup_files([archive, texts]).templates == learned
    known, bare = Extraction(templates=learned), tmp_path / "bare.jsonl"
    bare.write_text('{"html": "<p>a page"}\n')
    found = read([path, bare], html="html", url="url", extraction=known).texts
    addresses, markup = zip(*PAGES, strict=True)
    assert found.num_chunks > 1
    expected = known.pages(markup, hosts=[*map(host, addresses)]).texts
    assert found.drop_null().to_pylist() == [*expected, "a page"]  # the last one has no address


def test_an_index_of_checksums_gets_templates_with_its_first_pages(tmp_path):
    texts, pages = tmp_path / "texts.jsonl", write_table(tmp_path / "pages.jsonl", PAGES)
    texts.write_text('{"id": "a", "text": "no page"}\n')
    add_files([texts], tmp_path / "index", scheme=Checksum.for_texts())
    assert add_files([pages], tmp_path / "index", html="html", url="url").hosts_learned == len(SITES)


def test_a_file_is_made_even_if_no_host_has_a_template(tmp_path):
    path, pages = tmp_path / "t.arrow", [write_table(tmp_path / "few.jsonl", PAGES[:5])]
    inputs = inputs_of(pages, Request())
    file = templates_of(path, inputs, Request(extraction=Extraction(view="main")))
    found = file.extended(inputs, Request(html="html", extraction=file.extraction), lambda *_: None)
    assert len(HostTemplates.load(path)) == len(found.templates) == 0
    assert learn_templates(PAGES, extraction=Extraction(view="main"), known=found.templates).earlier
    with pytest.raises(ParameterError, match="it is for pages in the text view main, and"):
        templates_of(path, inputs, Request(extraction=Extraction(view="visible")))


@pytest.mark.parametrize(
    ("inputs", "path", "extraction", "message"),
    [
        (["-"], "t.arrow", Extraction(), "can be read only once"),
        (
            [],
            "t.arrow",
            Extraction(templates=HostTemplates([], rule_of(Extraction()))),
            "must not have templates if a file of templates is named",
        ),
        ([], "t.json", Extraction(), "must end in .arrow"),
    ],
)
def test_what_no_templates_can_be_added_to(tmp_path, inputs, path, extraction, message):
    inputs = inputs or [write_table(tmp_path / "a.jsonl", PAGES[:1])]
    with pytest.raises((ParameterError, OutputError), match=message):
        templates_of(tmp_path / path, inputs_of(inputs, Request()), Request(extraction=extraction))


def test_inputs_that_can_be_read_only_once_are_not_learned_from_unasked(tmp_path):
    request = Request(html="html", url="url")
    for inputs, learns in (([write_table(tmp_path / "a.jsonl", PAGES[:1])], True), (["-"], False)):
        assert templates_of(None, inputs_of(inputs, Request(format="jsonl")), request).learns == learns


def test_fields_are_those_of_tables(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text(PAGES[0][1])
    for name in ("html", "url"):
        with pytest.raises(ParameterError, match=f"{name}='x' can only be used with tables"):
            learn_from_files([tmp_path / "pages"], **{name: "x"})
    table = write_table(tmp_path / "a.jsonl", PAGES[:1])
    with pytest.raises(ParameterError, match="must be only tables, or only folders and archives"):
        learn_from_files([tmp_path / "pages", table])


def test_archives_and_folders_are_learned_from_together(tmp_path):
    """The rejected records are those of both, and progress is that of all inputs."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text(PAGES[0][1])
    (tmp_path / "pages" / "b.txt").write_bytes(b"\xff")
    responses = [
        record(uri=url, number=number, headers=["Content-Type: application/http"], block=http(page.encode()))
        for number, (url, page) in enumerate(PAGES)
    ]
    (tmp_path / "a.warc.gz").write_bytes(packed(responses) + b"damage")
    inputs = [tmp_path / "a.warc.gz", tmp_path / "pages"]
    found, rejected = learn_from_files(inputs)
    assert found == learn_templates(PAGES)
    assert sorted(one.code for one in rejected) == ["damaged", "encoding"]
    host, known = PAGES[0][0].split("/")[2], learn_templates(renamed(PAGES))
    again, _ = learn_from_files(inputs, learn=partial(learned_again, known, host))
    assert again.get(host).lines.tolist() == found.get(host).lines.tolist()
    stages = []
    given = inputs_of(inputs, Request())
    templates_of(None, given, Request()).extended(given, Request(), lambda *stage: stages.append(stage))
    total = sum(path.stat().st_size for path in (inputs[0], *inputs[1].iterdir()))
    assert {(name, whole) for name, _, whole in stages} == {("learn", total)}
    done = [number for _, number, _ in stages]
    assert done == sorted(done)
    assert done[-1] == total


def test_binary_pages_in_parquet_may_have_any_encoding(tmp_path):
    pages = [(url, f"<meta charset=latin1>{page}<p>Ch\u00e2teau".encode("latin-1")) for url, page in PAGES[:24]]
    pq.write_table(
        pa.table({"url": [url for url, _ in pages], "html": [page for _, page in pages]}), tmp_path / "p.parquet"
    )
    found, rejected = learn_from_files([tmp_path / "p.parquet"])
    assert found == learn_templates(pages)
    assert "Ch\u00e2teau" in found.templates[0].examples
    assert not rejected


@pytest.mark.parametrize("expanded", [1 << 25, 5_000])
def test_a_charset_that_nothing_declares_is_detected(tmp_path, monkeypatch, expanded):
    monkeypatch.setattr(templates, "_EXPANDED", expanded)
    words = ["река", "мост", "город", "рынок", "гавань", "зима", "лето", "книга", "бумага", "окно", "сад", "медь"]
    chosen = Random(1)  # noqa: S311 - for texts
    notice = " ".join(chosen.choices(words, k=45))
    pages = []
    for number in range(24):
        url, own = f"http://a.example/{number}", " ".join(chosen.choices(words, k=60))
        text = f"<head><link rel=canonical href={url}></head><article><p>{own}.<p>{notice}.</article>"
        pages.append((url, text.encode("cp1251")))
    (tmp_path / "pages").mkdir()
    for number, (_, page) in enumerate(pages):
        (tmp_path / "pages" / f"{number}.html").write_bytes(page)
    (tmp_path / "a.warc.gz").write_bytes(packed([record(uri=url, block=http(page)) for url, page in pages]))
    expected = learn_templates(pages)
    assert [notice.startswith(line) for line in expected.templates[0].examples] == [True]
    for path in (tmp_path / "pages", tmp_path / "a.warc.gz"):
        assert learn_from_files([path])[0] == expected


@pytest.mark.parametrize("folder", [{}, {"work": "work"}, {"state": "state"}])
def test_a_record_whose_address_is_a_list_is_rejected(tmp_path, folder):
    """All readings of a run reject the same records, so that rows of the output are those of the decisions."""
    source = write_table(tmp_path / "new.jsonl", [PAGES[0], ([PAGES[1][0]], PAGES[1][1]), *PAGES[2:5], PAGES[0]])
    folders = {name: tmp_path / path for name, path in folder.items()}
    done = neardup.dedup_files([source], out=tmp_path / "out.jsonl", html="html", url="url", threads=1, **folders)
    assert [(one.position, one.code) for one in done.rejected] == [(2, "type")]
    kept = [json.loads(line)["url"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert kept == [PAGES[place][0] for place in (0, 2, 3, 4)]


def test_stored_templates_that_did_not_follow_each_other_are_not_used(tmp_path):
    inputs = inputs_of([write_table(tmp_path / "new.jsonl", PAGES)], Request())
    request = Request(html="html", url="url")
    one, other = (Extraction(templates=learn_templates(pages)) for pages in (PAGES, renamed(PAGES)))
    following = Extraction(templates=learn_templates(renamed(PAGES), known=one.templates))
    assert templates_of(None, inputs, request, lambda: [one, following]).known == following.templates
    for stored in ([one, other], [Extraction()]):
        found = templates_of(None, inputs, request, lambda stored=stored: stored)
        assert (found.extraction, found.learns) == (request.extraction, False)


def test_texts_of_archives_do_not_decide_the_view_of_pages(tmp_path):
    links = [f"<p>{n}" + "".join(f"<ul><li><a href=/{n}/{i}>w{n} x{i}</a></ul>" for i in range(40)) for n in range(12)]
    records = [record(uri=f"http://a.example/{n}", block=http(page.encode())) for n, page in enumerate(links)]
    texts = [" ".join(f"w{n}x{word}" for word in range(40)).encode() for n in range(150)]
    headers = ["Content-Type: text/plain"]
    records += [record("conversion", uri="http://a.example/", block=text, headers=headers) for text in texts]
    (tmp_path / "a.warc.gz").write_bytes(packed(records))
    (template,) = learn_from_files([tmp_path / "a.warc.gz"])[0].templates
    assert (template.view, template.kept) == ("visible", 162)


@pytest.mark.parametrize("work", [None, "work"])
def test_pages_are_compared_by_the_lines_that_are_not_of_their_host(crawl, tmp_path, work):
    pages, fields = crawl / "pages.jsonl", {"html": "html", "id": "url"}
    assert neardup.dedup_files([pages], **fields, extraction=Extraction(view="visible")).result.summary.kept == 46
    own = Extraction(templates=templates_in(crawl))
    out, report, work = tmp_path / "kept.jsonl", tmp_path / "why.jsonl", work and tmp_path / work
    neardup.dedup_files([pages], out, report=report, extraction=own, work=work, **fields)
    assert out.read_text() == "".join(pages.read_text().splitlines(keepends=True)[:-1])
    (drop,) = [one for one in read_lines(report) if not one["kept"]]
    assert (drop["id"], drop["representative"]) == ("https://host1.example/both", "https://host0.example/both")
    assert drop["resemblance"] > 0.6


@pytest.mark.parametrize("work", [None, "work"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl.gz"])
def test_pages_in_tables_have_templates_in_memory_and_in_pieces(crawl, tmp_path, ending, work):
    source, new, known = tmp_path / f"pages.{ending}", tmp_path / "new.arrow", templates_in(crawl)
    neardup.dedup_files([crawl / "pages.jsonl"], source, html="html", threshold=1)
    for ways in ({"extraction": Extraction(templates=known)}, {"learn_templates": new}):
        done = neardup.dedup_files([source], html="html", url="url", work=work and tmp_path / work, **ways)
        assert (done.result.summary.documents, done.result.summary.near) == (46, 1)
    assert HostTemplates.load(new) == known


@pytest.mark.parametrize("name", ["crawl.warc.gz", "files"])
def test_archives_and_folders_have_templates(crawl, tmp_path, name):
    learned, before = learn_from_files([crawl / name])[0], templates_in(crawl)
    assert [list(one.lines) for one in learned.templates] == [list(one.lines) for one in before.templates]
    assert [one.id for one in learned.templates] == [one.id for one in before.templates]
    own = {"extraction": Extraction(templates=learned)}
    for ways in ({}, {"work": tmp_path / "work"}, {"state": tmp_path / "state"}):
        assert neardup.dedup_files([crawl / name], **own, **ways).result.summary.near == 1
    plain = neardup.dedup_files([crawl / name], extraction=Extraction(view="visible"), learn_templates=False)
    assert plain.result.summary.near == 0


@pytest.fixture
def decided(crawl, tmp_path):
    """A function that returns the decisions of a run over the archive, and the result; its keyword names the report."""
    templates = Extraction(templates=templates_in(crawl))

    def run_over(inputs=("crawl.warc.gz",), **options):
        report = tmp_path / f"why{len([*tmp_path.iterdir()])}.jsonl"
        paths = [crawl / name if isinstance(name, str) else name for name in inputs]
        done = neardup.dedup_files(paths, report=report, **options)
        return report.read_text(), done

    return run_over, templates


def test_archives_are_read_with_the_templates_that_the_run_learns(tmp_path, decided):
    run_over, extraction = decided
    expected, done = run_over(extraction=extraction)
    assert (done.templates, done.hosts_learned) == (extraction.templates, 0)
    for options in ({}, {"work": tmp_path / "work"}):
        found, done = run_over(**options)
        assert [one.id for one in done.templates.templates] == [one.id for one in extraction.templates.templates]
        assert (found, done.result.summary.near) == (expected, 1)
    plain, done = run_over(learn_templates=False)
    assert done.templates is None
    assert plain != expected


def test_files_that_pages_are_compared_with_have_templates_as_in_one_run(tmp_path, decided):
    run_over, _ = decided
    parts = [write_archive(tmp_path / f"{half}.warc.gz", invented_crawl.PAGES[half::2]) for half in range(2)]
    names = ["kept", "representative", "rule", "resemblance"]
    whole = [{name: row[name] for name in ("id", *names)} for row in map(json.loads, run_over(parts)[0].splitlines())]
    later, done = run_over(parts[1:], against=parts[0])
    assert [{name: row[name] for name in ("id", *names)} for row in map(json.loads, later.splitlines())] == whole[23:]
    assert len(done.templates) == 2
    plain, done = run_over(parts[1:])  # 11 pages of a host are too few
    assert len(done.templates) == 0
    assert json.loads(plain.splitlines()[0])["threshold"] is None
    (tmp_path / "text.jsonl").write_text('{"text": "one text"}\n')
    assert len(run_over([tmp_path / "text.jsonl"], against=parts)[1].templates) == 2


def test_nothing_is_learned_unasked_from_files_that_are_read_only_once(crawl, tmp_path):
    archive, url, text = crawl / "crawl.warc.gz", "memory://crawl.warc.gz", tmp_path / "text.jsonl"
    with fsspec.open(url, "wb") as file:
        file.write(archive.read_bytes())
    text.write_text('{"text": "one text"}\n')
    for given, against in ((archive, url), (url, text)):
        assert len(neardup.dedup_files([given], against=against).templates) == 0
    with pytest.raises(ParameterError, match="save it"):
        neardup.dedup_files([archive], against=url, learn_templates=tmp_path / "t.arrow")
    none = Extraction(templates=HostTemplates((), rule_of(Extraction())))
    assert neardup.audit_files([url]) == neardup.audit_files([archive], extraction=none)
    assert len(neardup.dedup_files([f"file://{archive}"]).templates) == 2  # it is a file


def test_pages_of_tables_with_addresses_have_templates_as_those_of_archives(crawl, tmp_path, decided):
    run_over, extraction = decided
    asked = {"html": "html", "url": "url", "id": "url"}
    expected, _ = run_over(["pages.jsonl"], **asked, extraction=extraction)
    for more in ({}, {"work": tmp_path / "work"}):
        found, done = run_over(["pages.jsonl"], **asked, **more)
        assert (found, done.hosts_learned) == (expected, 2)
        assert [one.id for one in done.templates.templates] == [one.id for one in extraction.templates.templates]
    assert run_over(["pages.jsonl"], **asked, learn_templates=False)[1].templates is None
    assert add_files([crawl / "pages.jsonl"], tmp_path / "index", html="html", url="url").hosts_learned == 2


def test_nothing_is_learned_unasked_from_other_inputs(tmp_path, decided):
    run_over, _ = decided
    assert run_over(["files"])[1].templates is None
    assert run_over(["pages.jsonl"], html="html")[1].templates is None
    (tmp_path / "texts.jsonl").write_text('{"text": "a text without an address"}\n')
    assert len(run_over([tmp_path / "texts.jsonl", "crawl.warc.gz"], work=tmp_path / "w")[1].templates) == 2


def test_pages_of_a_host_without_a_template_decide_the_same_whatever_else_is_read(crawl, tmp_path):
    """All have one menu, and 12 words of their own: none is dropped, although they resemble each other by 0.7."""
    menu = "".join(f"<p>line {number} of a menu that is on all of these pages</p>" for number in range(16))
    texts = [" ".join(f"w{n}x{own}" for own in range(14)) for n in range(12)]
    pages = [(f"https://few.example/{n}", f"<title>{n}</title>{menu}<p>{text}") for n, text in enumerate(texts)]
    few = write_archive(tmp_path / "few.warc.gz", pages)
    with fsspec.open("memory://few.warc.gz", "wb") as file:
        file.write(few.read_bytes())
    assert neardup.dedup_files([few], learn_templates=False).result.summary.kept < 12
    for inputs, ways in (
        ([few], {}),
        (["memory://few.warc.gz"], {}),
        ([few, crawl / "crawl.warc.gz"], {}),
        ([few], {"state": tmp_path / "state"}),
        ([few], {"learn_templates": tmp_path / "t.arrow"}),
    ):
        done = neardup.dedup_files(inputs, **ways)
        assert done.result.summary.kept == len(done.documents) - (len(inputs) == 2), ways


@pytest.mark.parametrize("work", [None, "work"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": "there.warc.gz"}, "there.warc.gz: it exists already"),
        ({"out": "k.warc.gz", "report": "no/why.jsonl"}, "its folder does not exist"),
        ({"report": "u.arrow"}, "u.arrow"),
        ({"gather": "components", "measure": "cosine"}, "cannot be used with"),
        ({"glob": ["*.html"]}, "can only be used with folders"),
    ],
)
def test_everything_is_checked_before_templates_are_learned(crawl, tmp_path, monkeypatch, work, options, message):  # noqa: PLR0917
    monkeypatch.chdir(tmp_path)
    Path("there.warc.gz").touch()
    with pytest.raises((ParameterError, OutputError), match=message):
        neardup.dedup_files([crawl / "crawl.warc.gz"], learn_templates="u.arrow", work=work, **options)
    assert not Path("u.arrow").exists()


def test_the_file_is_removed_with_its_contents():
    contents = _page_contents()
    contents.add("auto", [])
    folder = Path(contents.path).parent
    assert folder.is_dir()
    del contents
    assert not folder.exists()
