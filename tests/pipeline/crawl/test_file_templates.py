"""Templates are learned from the pages in files before a run reads them, and are added to a file of templates."""

import json
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import http, packed, record
from invented_sites import Site, article

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

SITES = [Site(f"host{number}.example") for number in range(3)]
PAGES = [site.page(f"p{n}", article(f"{site.host} {n}")) for site in SITES for n in range(24)]


def renamed(pages):
    """Return the same pages with other boxes and menus."""
    return [(url, page.replace("the", "tho").replace("<li>", "<li>new ")) for url, page in pages]


def written(path, pages):
    path.write_text("".join(json.dumps({"url": url, "html": page}) + "\n" for url, page in pages))
    return path


def test_a_file_gets_the_templates_of_new_hosts_and_keeps_its_own(tmp_path):
    path, pages = tmp_path / "t.arrow", [written(tmp_path / "new.jsonl", renamed(PAGES))]
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
    assert path.stat() == before  # nothing was written


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
def test_pages_that_templates_were_learned_from_are_not_extracted_again(tmp_path, view, monkeypatch):
    pages = [
        (url, page if n % 2 else page.replace("<p>", "<div>" * 600 + "<p>")) for n, (url, page) in enumerate(PAGES)
    ]
    few = [(f"https://few.example/{n}", f"{page}<p>few") for n, (_, page) in enumerate(PAGES[:5])]
    files, learned = [written(tmp_path / "new.jsonl", [*pages, *few])], {}
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
    path = written(tmp_path / "pages.jsonl", [*PAGES[:10], none, *PAGES[10:], none])
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
    texts, pages = tmp_path / "texts.jsonl", written(tmp_path / "pages.jsonl", PAGES)
    texts.write_text('{"id": "a", "text": "no page"}\n')
    add_files([texts], tmp_path / "index", scheme=Checksum.for_texts())
    assert add_files([pages], tmp_path / "index", html="html", url="url").hosts_learned == len(SITES)


def test_a_file_is_made_even_if_no_host_has_a_template(tmp_path):
    path, pages = tmp_path / "t.arrow", [written(tmp_path / "few.jsonl", PAGES[:5])]
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
    inputs = inputs or [written(tmp_path / "a.jsonl", PAGES[:1])]
    with pytest.raises((ParameterError, OutputError), match=message):
        templates_of(tmp_path / path, inputs_of(inputs, Request()), Request(extraction=extraction))


def test_inputs_that_can_be_read_only_once_are_not_learned_from_unasked(tmp_path):
    request = Request(html="html", url="url")
    for inputs, learns in (([written(tmp_path / "a.jsonl", PAGES[:1])], True), (["-"], False)):
        assert templates_of(None, inputs_of(inputs, Request(format="jsonl")), request).learns == learns


def test_fields_are_those_of_tables(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text(PAGES[0][1])
    for name in ("html", "url"):
        with pytest.raises(ParameterError, match=f"{name}='x' can only be used with tables"):
            learn_from_files([tmp_path / "pages"], **{name: "x"})
    table = written(tmp_path / "a.jsonl", PAGES[:1])
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
    source = written(tmp_path / "new.jsonl", [PAGES[0], ([PAGES[1][0]], PAGES[1][1]), *PAGES[2:5], PAGES[0]])
    folders = {name: tmp_path / path for name, path in folder.items()}
    done = neardup.dedup_files([source], out=tmp_path / "out.jsonl", html="html", url="url", threads=1, **folders)
    assert [(one.position, one.code) for one in done.rejected] == [(2, "type")]
    kept = [json.loads(line)["url"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert kept == [PAGES[place][0] for place in (0, 2, 3, 4)]


def test_stored_templates_that_did_not_follow_each_other_are_not_used(tmp_path):
    inputs = inputs_of([written(tmp_path / "new.jsonl", PAGES)], Request())
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


def test_the_file_is_removed_with_its_contents():
    contents = _page_contents()
    contents.add("auto", [])
    folder = Path(contents.path).parent
    assert folder.is_dir()
    del contents
    assert not folder.exists()
