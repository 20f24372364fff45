"""Pages have the same texts wherever they are extracted."""

import json
import sys
from contextlib import contextmanager, nullcontext

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archives_made import http, packed, record
from json_lines import write_lines

from neardup import dedup_files
from neardup.engines import processes as engine
from neardup.engines.processes import Processes, TableFunction, open_processes
from neardup.interfaces.cli import main
from neardup.pipeline.crawl import templates
from neardup.sources import archives, folder, pages
from neardup.sources.pages import Batch, extracted, extracting, table_of
from neardup.sources.read import read
from neardup.text import extraction, html
from neardup.text.host_templates import HostTemplates
from neardup.web_pages import Extraction

WORKER = """
import os, signal, sys
from neardup.sources import pages

WORKER = getattr(sys.modules["__main__"].__spec__, "name", None) == "neardup.engines.processes"

def reader(settings):
    own = pages.reader(settings)

    def read(table):
        if WORKER and any(b"DEADLY" in page for page in table["markup"].to_pylist() if isinstance(page, bytes)):
            os.kill(os.getpid(), signal.SIGKILL)
        found = own(table)
        asked = WORKER and "ask" in found["texts"].to_pylist()
        place = found.column_names.index("langs")
        return found.set_column(place, "langs", [["worker"] * len(found)]) if asked else found

    return read
"""
VIEWS_WORKER = """
import os
from neardup.pipeline.crawl import templates

def reader(settings):
    read = templates.reader(settings)

    def answer(table):
        pages = table["block" if "block" in table.column_names else "markup"].to_pylist()
        return os._exit(1) if b"DEADLY" in b"".join(pages) else read(table)

    return answer
"""
ARTICLE = "<p>The bees have left the harbour, and page {} has to say why they did, at some length. " * 4
MARKUP = [
    *(
        f"<html lang=en><title>Page {n}</title><link rel=canonical href=/{n}><nav><a href=/>Start</a></nav>"
        f"<article>{ARTICLE.format(*[n] * 4)}</article>".encode()
        for n in range(20)
    ),
    b"",
    b"\xff\x00\xfe bytes",
    "Übergröße".encode("latin-1"),
    b"<div>" * 2_000 + b"deep",
    b"<b id=x>" * 500 + b"<p>x</p>" * 100,
    b"<p " + b"a=1 " * 9_000 + b">attributes</p>",
    b"<select>" + b"<option>x" * 5_000,
]
READING = TableFunction("pages_worker:reader", Extraction().to_dict(), pages._visible)


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.soak)])
def workers(request, tmp_path_factory):
    """Return processes that are ready."""
    folder = tmp_path_factory.mktemp("worker")
    (folder / "pages_worker.py").write_text(WORKER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(engine, "_START", 0)
        with Processes(request.param) as processes:
            processes.turn_to(READING)
            while next(processes.map([table_of([b"<p>ask"], [""])]))["langs"].to_pylist() != ["worker"]:
                pass
            yield processes
    sys.modules.pop("pages_worker")


@pytest.fixture
def started(workers, monkeypatch):
    """Have all readers use the processes that are ready."""
    for name in ("sources.read.open_processes", "pipeline.files.dedup.Processes"):
        monkeypatch.setattr(f"neardup.{name}", lambda *_: nullcontext(workers))
    for module in ("sources.read", "pipeline.spilled.files", "pipeline.spilled.output_records"):
        monkeypatch.setattr(f"neardup.{module}.extracting", lambda *_, **__: READING)


@pytest.fixture(params=["archive", "folder", "field"])
def inputs(request, tmp_path):
    """Return the arguments that read the pages, with other documents between them."""

    def made(markup):
        match request.param:
            case "archive":
                about = ["Content-Type: application/http"]
                found = [
                    record(uri=f"http://a.example/{n}", number=n, headers=about, block=http(page, kind=kind))
                    for n, page in enumerate(markup)
                    for kind in ("text/html", "text/plain", "image/png")[: 1 + (n % 3)]
                ]
                (tmp_path / "crawl.warc.gz").write_bytes(packed(found)[:-3])
                return {"inputs": [tmp_path / "crawl.warc.gz"]}
            case "folder":
                (tmp_path / "pages").mkdir()
                for n, page in enumerate(markup):
                    (tmp_path / "pages" / f"{n:03}.html").write_bytes(page)
                    (tmp_path / "pages" / f"{n:03}.txt").write_bytes(page[: n % 7])
                return {"inputs": [tmp_path / "pages"]}
            case _:
                rows = [{"id": n, "page": page.decode(errors="replace")} for n, page in enumerate(markup)]
                rows[3:3] = [{"id": 300, "page": None}, {"id": 301}]
                write_lines(tmp_path / "pages.jsonl", rows)
                return {"inputs": [tmp_path / "pages.jsonl"], "html": "page"}

    return made


@contextmanager
def alone():
    """Have this process extract pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.sources.read.open_processes", open_processes)
        patch.setattr("neardup.sources.read.extracting", extracting)
        yield


def content(got):
    rejected = [str(one) for one in got.rejected]
    return got.ids.to_pylist(), got.texts.to_pylist(), [t for rows in got.rows() for t in rows.to_pylist()], rejected


@pytest.mark.usefixtures("started")
def test_texts_do_not_depend_on_processes_and_batches(inputs, monkeypatch):
    given = inputs(MARKUP)
    with alone():
        expected = content(read(**given, threads=1))
    for size in (1, 3_000, 1 << 30):
        for module in (archives, folder, pages):
            monkeypatch.setattr(module, "BATCH", size)
        assert content(read(**given)) == expected


@pytest.mark.usefixtures("started")
def test_runs_in_pieces_do_not_depend_on_processes(inputs, tmp_path, monkeypatch):
    given = inputs([*MARKUP, *MARKUP])
    outs = [tmp_path / name for name in ("one.jsonl", "pieces.jsonl")]
    with alone():
        dedup_files(**given, out=outs[0], threads=1, learn_templates=False)  # which the processes do not have
    for module in (archives, folder, pages):
        monkeypatch.setattr(module, "BATCH", 5_000)
    dedup_files(**given, out=outs[1], work=tmp_path / "work", threads=2, learn_templates=False)
    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.usefixtures("started")
def test_a_page_that_ends_its_process_is_read_as_visible_and_reported(inputs):
    deadly = b"<title>DEADLY</title><nav>menu</nav>" + ARTICLE.encode()
    given = inputs([*MARKUP[:5], deadly, *MARKUP[5:]])
    if "html" in given:
        pytest.skip("its worker looks for bytes")
    with pytest.warns(RuntimeWarning, match="its visible text is used instead") as warned:
        got = read(**given).texts.to_pylist()
    assert len(warned) == 1
    place = str(given["inputs"][0])
    assert str(warned[0].message).startswith(place)
    texts = Extraction().pages(MARKUP).texts
    visible = Extraction(view="visible").pages([deadly]).texts[0]
    assert "menu" in visible
    assert [text for text in got if text in {*texts, visible}].count(visible) == 1
    assert {*texts[:20], visible} <= {*got}


def test_templates_are_sent_to_the_processes(monkeypatch):
    from invented_sites import Site, article

    from neardup.pipeline.crawl.templates import learn_templates

    site = Site("host.example")
    made = [site.page(f"p{n}", article(f"{n}")) for n in range(24)]
    extraction = Extraction(templates=learn_templates(made))
    markup = [page for _, page in made]
    expected = extraction.pages(markup, hosts=["host.example"] * 24).texts
    assert expected != Extraction().pages(markup).texts
    monkeypatch.setattr(engine, "_START", 0)
    table = table_of(pa.array(markup), [""] * 24, hosts=["host.example"] * 24)
    with Processes(2) as processes:
        processes.turn_to(extracting(extraction))
        while not processes._ready.is_set():
            list(processes.map([table[:1]]))
        assert [found["texts"].to_pylist() for found in processes.map([table])] == [expected]


@pytest.fixture
def learning(tmp_path, monkeypatch):
    """Have templates learned by processes that end at a deadly page; return these."""
    (tmp_path / "views_worker.py").write_text(VIEWS_WORKER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(engine, "_START", 0)
    monkeypatch.setattr("neardup.pipeline.crawl.templates.BATCH", 5_000)
    function = templates.learning(Extraction())._replace(name="views_worker:reader")
    page = pa.Table.from_pylist(
        [{"host": "h.example", "markup": b"<p>", "decoded": False, "plain": False}], templates._SCHEMA
    )
    with Processes(2) as processes:
        processes.turn_to(function)
        while not processes._ready.is_set():
            list(processes.map([page]))
        monkeypatch.setattr("neardup.pipeline.crawl.templates.learning", lambda _: function)
        monkeypatch.setattr("neardup.pipeline.crawl.templates.Processes", lambda _: nullcontext(processes))
        yield processes


def test_templates_are_learned_by_processes_as_by_one(request, tmp_path):
    from invented_sites import Site, article

    from neardup.pipeline.crawl.templates import learn_templates

    sites = [Site(f"host{number}.example") for number in range(2)]
    made = [site.page(f"p{n}", article(f"{site.host} {n}")) for site in sites for n in range(24)]
    deadly = sites[0].page("deadly", f"{article('deadly')} DEADLY {article('deadly')}")
    expected = learn_templates(made, threads=1)
    processes = request.getfixturevalue("learning")
    assert learn_templates(made) == expected
    assert [one.kept for one in learn_templates([*made, deadly]).templates] == [25, 24]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed([record(uri=url, block=http(one.encode())) for url, one in [*made, deadly]]))
    records = [(table.slice(row, 2), 1.0) for table, _ in archives.undecoded(str(path), []) for row in range(0, 49, 2)]
    known = HostTemplates((), templates.rule_of(Extraction()))
    found = templates.updated(known, (), Extraction(), processes, wanted=lambda _: True, records=records)
    assert found == learn_templates([*made, deadly])


def test_items_keep_their_tables():
    batches = [(n, table_of([MARKUP[n]], ["page"], charsets=[None]), 1.0) for n in range(3)]
    found = list(extracted(Extraction(), None, batches))
    assert [item for item, _ in found] == [0, 1, 2]
    assert [table["titles"].to_pylist() for _, table in found] == [["Page 0"], ["Page 1"], ["Page 2"]]


def test_a_batch_has_pages_and_texts():
    batch = Batch()
    assert len(batch.documents(next(extracted(Extraction(), None, [(0, batch.pages(), 1.0)]))[1], Extraction())) == 0
    for content in ("one", b"<html lang=de><title>Two</title>Zwei", "three", b"<p>\xc3\xa9"):
        batch.add(content, "x", "utf-8")
    assert batch.size == 3 + 36 + 5 + 5
    ((_, found),) = extracted(Extraction(), None, [(0, batch.pages(), 1.0)])
    assert batch.documents(found, Extraction()).drop_columns("whole").to_pylist() == [
        {"texts": "one", "titles": None, "canonicals": None, "langs": None, "sites": 0, "noindex": None},
        {"texts": "Two\n\nZwei", "titles": "Two", "canonicals": None, "langs": "de", "sites": 0, "noindex": 0},
        {"texts": "three", "titles": None, "canonicals": None, "langs": None, "sites": 0, "noindex": None},
        {"texts": "é", "titles": None, "canonicals": None, "langs": None, "sites": 0, "noindex": 0},
    ]


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("form", ["folder", "jsonl", "parquet"])
def test_pages_that_are_too_long_are_cut_and_counted(form, pieces, tmp_path, monkeypatch, capfd):
    for module in (html, extraction, folder, pages):
        monkeypatch.setattr(module, "LARGEST_PAGE", 1 << 12)
    texts = {f"{number}.html": f"<p>{number} {'many words ' * words}" for number, words in ((1, 9), (2, 500), (3, 900))}
    path = tmp_path / form
    if form == "folder":
        path.mkdir()
        for name, page in texts.items():
            (path / name).write_text(page)
        (path / "4.txt").write_text("words " * 2000)
    else:
        path = path.with_suffix(f".{form}")
        rows = pa.Table.from_pylist([{"id": name, "page": page} for name, page in texts.items()])
        with path.open("wb") as file:
            pq.write_table(rows, file) if form == "parquet" else file.writelines(
                json.dumps(row).encode() + b"\n" for row in rows.to_pylist()
            )
    html_field = [] if form == "folder" else ["--html", "page"]
    own = ["--work", str(tmp_path / "work")] if pieces else []
    assert main(["dedup", str(path), *html_field, *own, "--dry-run", "--threads", "1"]) == 0
    assert "2  pages not read completely: 2 longer than 16 MiB, cut there" in capfd.readouterr().out
    if not pieces:
        found = read([path], html=None if form == "folder" else "page", threads=1)
        assert [len(text) for text in found.texts.to_pylist()][:3] == [100, 4093, 4093]
        assert found.body_faults == {html.TOO_LONG: 2}
