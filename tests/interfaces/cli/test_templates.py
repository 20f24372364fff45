"""Templates on the command line: learned from files of pages, shown, and used by dedup and index."""

import gc
import json
import shutil
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import urlsplit

import fsspec
import pytest
from archives_made import http, packed, page, record
from invented_sites import Site, article, edited

from neardup import Index, SimHash, audit_files, dedup_files
from neardup.engines import journal
from neardup.engines.journal import read_header
from neardup.errors import DataError, ParameterError
from neardup.interfaces.cli import main
from neardup.model.errors import RunChanged, RunComplete, StorageBusy, StorageDamaged
from neardup.pipeline.crawl import templates
from neardup.pipeline.crawl.file_templates import RunTemplates
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.spilled import files as spilled_files
from neardup.pipeline.spilled import run as stages
from neardup.pipeline.spilled.state import State
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates

SITES = [Site(f"host{number}.example") for number in range(2)]


def lines(pages):
    return "".join(json.dumps({"url": url, "html": html, "n": n}) + "\n" for n, (url, html) in enumerate(pages))


def pages_of(folder):
    return [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]


def records_of(pages):
    """Return the records of pages in an archive."""
    return [record(uri=one["url"], number=one["n"], block=http(one["html"].encode())) for one in pages]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages of two hosts: 22 articles of their own, and one that both have."""
    folder = tmp_path_factory.mktemp("pages")
    pages = [site.page(f"p{n}", article(f"{site.host} {n}")) for site in SITES for n in range(22)]
    both = [site.page("both", edited(article("both", 6), site.host)) for site in SITES]
    (folder / "pages.jsonl").write_text(lines([*pages, *both]))
    assert main(["templates", "learn", str(folder / "pages.jsonl"), "--out", str(folder / "templates.arrow")]) == 0
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*arguments):
    return main([*map(str, arguments)])


def test_learn_writes_what_show_prints(folder, capsys):
    found = HostTemplates.load(folder / "templates.arrow")
    assert run("templates", "show", "--templates", folder / "templates.arrow", "--json") == 0
    about = json.loads(capsys.readouterr().out)
    assert (about["id"], [one["host"] for one in about["hosts"]]) == (found.identity, [site.host for site in SITES])
    assert run("templates", "show", SITES[0].host, "--templates", folder / "templates.arrow") == 0
    shown = capsys.readouterr().out
    assert SITES[0]._footer in shown
    assert SITES[1]._footer not in shown
    assert run("templates", "show", "--templates", folder / "templates.arrow") == 0
    assert found.identity in capsys.readouterr().out
    assert run("templates", "show", SITES[0].host, "--templates", folder / "templates.arrow", "--json") == 0
    assert json.loads(capsys.readouterr().out)["id"] == found.templates[0].id


@pytest.mark.parametrize("name", [SITES[1].host.upper(), f"{SITES[1].host}:443", f"https://{SITES[1].host}/a"])
def test_a_host_may_be_named_in_any_way(folder, tmp_path, capsys, name):
    own = ("--templates", folder / "templates.arrow", "--json")
    assert run("templates", "show", name, *own) == 0
    assert json.loads(capsys.readouterr().out)["host"] == SITES[1].host
    assert run("templates", "relearn", name, folder / "pages.jsonl", *own, "--out", tmp_path / "again.arrow") == 0
    assert json.loads(capsys.readouterr().out)["host"] == SITES[1].host


def test_dedup_uses_them_in_memory_and_in_pieces(folder, tmp_path, capsys):
    pages, templates = folder / "pages.jsonl", folder / "templates.arrow"
    common = ("dedup", pages, "--html", "html", "--id", "url", "--force")
    assert run(*common, "--text-view", "visible", "--out", tmp_path / "visible.jsonl") == 0
    assert len((tmp_path / "visible.jsonl").read_text().splitlines()) == 46
    for how in ([], ["--work", tmp_path / "work"]):
        out, report = tmp_path / "kept.jsonl", tmp_path / "why.jsonl"
        assert run(*common, "--templates", templates, "--out", out, "--report", report, *how) == 0
        assert out.read_text() == "".join(pages.read_text().splitlines(keepends=True)[:-1])
        (drop,) = [one for one in map(json.loads, report.read_text().splitlines()) if not one["kept"]]
        assert (drop["id"], drop["representative"]) == ("https://host1.example/both", "https://host0.example/both")
        assert drop["resemblance"] > 0.6
    capsys.readouterr()


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl.gz"])
def test_pages_in_tables_have_templates_in_memory_and_in_pieces(folder, tmp_path, capsys, ending):
    rows = pages_of(folder)
    source, common = tmp_path / f"pages.{ending}", ("--html", "html", "--url", "url", "--dry-run", "--json")
    assert run("dedup", folder / "pages.jsonl", "--html", "html", "--out", source, "--threshold", 1) == 0
    for how in ([], ["--work", tmp_path / "work"]):
        for name in ("templates.arrow", "new.arrow"):
            templates = (folder if name == "templates.arrow" else tmp_path) / name
            capsys.readouterr()
            learn = ["--learn-templates"] if name == "new.arrow" else []
            assert run("dedup", source, *common, "--templates", templates, *learn, *how) == 0
            counts = json.loads(capsys.readouterr().out.splitlines()[-1])
            assert (counts["documents"], counts["near"]) == (len(rows), 1)
    assert HostTemplates.load(tmp_path / "new.arrow") == HostTemplates.load(folder / "templates.arrow")


def test_an_index_uses_them(folder, tmp_path, capsys):
    how = ("--html", "html", "--url", "url", "--templates", folder / "templates.arrow", "--json")
    assert run("index", folder / "pages.jsonl", "--to", tmp_path / "seen", *how) == 0
    assert json.loads(capsys.readouterr().out)["near"] == 1
    assert run("index", folder / "pages.jsonl", "--to", tmp_path / "seen", *how[:4], "--json") == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] == 46  # it has kept them
    assert run("index", folder / "pages.jsonl", "--to", tmp_path / "seen", *how[:4], "--no-templates") == 2
    assert "with the templates" in capsys.readouterr().err


def test_other_fields_are_named(folder, tmp_path, capsys):
    renamed = (folder / "pages.jsonl").read_text().replace('"url"', '"address"').replace('"html"', '"page"')
    (tmp_path / "other.jsonl").write_text(renamed)
    names = ("--html", "page", "--url", "address")
    assert run("templates", "learn", tmp_path / "other.jsonl", "--out", tmp_path / "t.arrow", *names, "--json") == 0
    assert json.loads(capsys.readouterr().out)["id"] == HostTemplates.load(folder / "templates.arrow").identity
    out = ("--templates", tmp_path / "t.arrow", "--out", tmp_path / "kept.jsonl", "--json")
    assert run("dedup", tmp_path / "other.jsonl", *names, *out) == 0
    assert json.loads(capsys.readouterr().out)["near"] == 1
    assert run("dedup", tmp_path / "other.jsonl", "--html", "page", *out, "--force") == 1
    assert "'url'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def crawl(folder):
    """The same pages as an archive, and as a folder of files that name their addresses."""
    pages = pages_of(folder)
    records = records_of(pages)
    note = record(uri=f"https://{SITES[0].host}/note", number=99, block=http(b"A note", kind="text/plain"))
    (folder / "crawl.warc.gz").write_bytes(packed([*records, note]))
    (folder / "files").mkdir()
    for one in pages:
        link = f'<head><link rel="canonical" href="{one["url"]}">'
        (folder / "files" / f"{one['n']:02}.html").write_text(one["html"].replace("<head>", link))
    (folder / "files" / "note.txt").write_text("A note")
    return folder


@pytest.mark.parametrize("name", ["crawl.warc.gz", "files"])
def test_archives_and_folders_have_templates(crawl, tmp_path, capsys, name):
    assert run("templates", "learn", crawl / name, "--out", tmp_path / "t.arrow") == 0
    learned, before = (
        HostTemplates.load(path / name) for path, name in ((tmp_path, "t.arrow"), (crawl, "templates.arrow"))
    )
    assert [list(one.lines) for one in learned.templates] == [list(one.lines) for one in before.templates]
    assert [one.id for one in learned.templates] == [one.id for one in before.templates]
    common = ("dedup", crawl / name, "--out", tmp_path / name, "--force", "--json")
    work, state = ("--work", tmp_path / "work"), ("--state", tmp_path / "state")
    for how, near in (([], 1), (work, 1), (state, 1), (["--text-view", "visible", "--no-templates"], 0)):
        capsys.readouterr()
        templates = ("--templates", tmp_path / "t.arrow") if near else ()
        assert run(*common, *templates, *how) == 0
        shutil.rmtree(tmp_path / name, ignore_errors=True)  # a folder is never replaced
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["near"] == near


@pytest.fixture
def decided(crawl, tmp_path):
    """A function that returns the decisions of a run over the archive, and the result; its keyword names the report."""
    templates = Extraction(templates=HostTemplates.load(crawl / "templates.arrow"))

    def run_over(inputs=("crawl.warc.gz",), **options):
        report = tmp_path / f"why{len([*tmp_path.iterdir()])}.jsonl"
        paths = [crawl / name if isinstance(name, str) else name for name in inputs]
        done = dedup_files(paths, report=report, **options)
        return report.read_text(), done

    return run_over, templates


def test_archives_are_read_with_the_templates_that_the_run_learns(crawl, tmp_path, decided):
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


def test_files_that_pages_are_compared_with_have_templates_as_in_one_run(crawl, tmp_path, decided):
    run_over, _ = decided
    pages = pages_of(crawl)
    parts = [tmp_path / f"{name}.warc.gz" for name in ("first", "second")]
    for part, own in zip(parts, (pages[::2], pages[1::2]), strict=True):
        part.write_bytes(packed(records_of(own)))
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
        assert len(dedup_files([given], against=against).templates) == 0
    with pytest.raises(ParameterError, match="save it"):
        dedup_files([archive], against=url, learn_templates=tmp_path / "t.arrow")
    none = Extraction(templates=HostTemplates((), rule_of(Extraction())))
    assert audit_files([url]) == audit_files([archive], extraction=none)
    assert len(dedup_files([f"file://{archive}"]).templates) == 2  # it is a file


@pytest.mark.parametrize("against", ["state", "index"])
def test_pages_that_were_stored_without_templates_are_compared_without_any(crawl, tmp_path, decided, against):
    run_over, _ = decided
    assert run("dedup", crawl / "crawl.warc.gz", "--state", tmp_path / "state", "--dry-run") == 2
    place = tmp_path / against
    options = ("--state", place, "--out", tmp_path / "k.warc.gz") if against == "state" else ("--to", place, "--texts")
    verb = "dedup" if against == "state" else "index"
    assert run(verb, crawl / "crawl.warc.gz", *options, "--no-templates") == 0
    _, done = run_over(against=place)
    assert (done.templates, done.result.summary.kept) == (None, 0)
    assert run_over(["pages.jsonl"], html="html", id="url", against=place)[1].templates is None
    force = ("--force",) if verb == "dedup" else ()
    assert run(verb, crawl / "crawl.warc.gz", *options, *force) == 0  # without templates, as before
    with pytest.raises(DataError, match="is a folder without templates"):
        HostTemplates.load(place)


def test_items_that_are_pages_need_templates(tmp_path, neardup):
    """Without them every line of a training page counts, and short items are contaminated by the menu of their host."""
    menu = "".join(f"<p>line {line} of the menu of this host that all of its pages have</p>" for line in range(10))
    for name, number, letters in (("train", 20, None), ("tests", 4, 100)):
        pages = [f"{menu}<p>{' '.join(article(f'{name} {n}'))[:letters]}</p>".encode() for n in range(number)]
        records = [record(uri=f"https://a.example/{n}", number=n, block=http(page)) for n, page in enumerate(pages)]
        (tmp_path / f"{name}.warc.gz").write_bytes(packed(records))
    command = ("contamination", "train.warc.gz", "--against", "tests.warc.gz", "--text-view", "visible", "--json")
    assert neardup(*command).json["contaminated"] == 4
    neardup("templates", "learn", "train.warc.gz", "--out", "t.arrow", "--text-view", "visible")
    assert neardup(*command, "--templates", "t.arrow").json["contaminated"] == 0


def archives(folder, crawl, groups):
    """Return archives of the pages of some hosts each."""
    pages = pages_of(crawl)
    paths = [folder / f"part-{number}.warc.gz" for number in range(len(groups))]
    for path, sites in zip(paths, groups, strict=True):
        hosts = {site.host for site in sites}
        own = [one for one in pages if urlsplit(one["url"]).hostname in hosts]
        path.write_bytes(packed(records_of(own)))
    return paths


@pytest.mark.parametrize("kind", ["state", "index"])
def test_a_state_and_an_index_keep_the_templates_of_their_pages(crawl, tmp_path, neardup, kind):
    """Each run learns those of new hosts: the decisions are those with a named file that every run extends."""
    parts = archives(tmp_path, crawl, [SITES[:1], SITES])

    def results(place, *ways):
        found = []
        for number, part in enumerate(parts):
            report = tmp_path / f"why-{number}.jsonl"
            if kind == "state":
                out = ("--out", tmp_path / "kept.warc.gz", "--report", report, "--force")
                done = json.loads(neardup("dedup", part, "--state", place, *out, *ways, "--json").out.splitlines()[-1])
                found.append(report.read_text())
            else:
                done = neardup("index", part, "--to", place, *ways, "--json").json
            found.append({name: done[name] for name in done if name not in {"seconds", "hosts_learned"}})
        return found

    named = results(tmp_path / "named", "--templates", tmp_path / "t.arrow", "--learn-templates")
    assert results(tmp_path / "kept") == named
    assert [one["hosts_with_templates"] for one in named if isinstance(one, dict)] == [1, 2]
    kept = HostTemplates.load(tmp_path / "kept")
    assert kept == HostTemplates.load(tmp_path / "t.arrow") == HostTemplates.load(tmp_path / "named")
    assert kept.identity in neardup("templates", "show", "--templates", tmp_path / "kept").out
    again = ("templates", "relearn", SITES[0].host, parts[1], "--templates", tmp_path / "kept")
    assert "is a folder" in neardup(*again, code=2).err
    neardup(*again, "--out", tmp_path / "again.arrow")
    assert HostTemplates.load(tmp_path / "again.arrow").earlier[-1] == kept.identity
    archive = crawl / "crawl.warc.gz"
    done = dedup_files([archive], against=tmp_path / "kept") if kind == "state" else None
    if done is not None:
        assert (done.templates, done.hosts_learned, done.result.summary.kept) == (kept, 0, 1)  # a note
    else:
        said = [json.loads(line)["verdict"] for line in neardup("seen", tmp_path / "kept", archive).out.splitlines()]
        assert said.count("known") == 46  # but for a note


def test_pages_of_tables_with_addresses_have_templates_as_those_of_archives(crawl, tmp_path, decided, neardup):
    run_over, extraction = decided
    asked = {"html": "html", "url": "url", "id": "url"}
    expected, _ = run_over(["pages.jsonl"], **asked, extraction=extraction)
    for more in ({}, {"work": tmp_path / "work"}):
        found, done = run_over(["pages.jsonl"], **asked, **more)
        assert (found, done.hosts_learned) == (expected, 2)
        assert [one.id for one in done.templates.templates] == [one.id for one in extraction.templates.templates]
    assert run_over(["pages.jsonl"], **asked, learn_templates=False)[1].templates is None
    index = ("index", crawl / "pages.jsonl", "--html", "html", "--url", "url", "--to", tmp_path / "seen", "--json")
    assert neardup(*index).json["hosts_learned"] == 2
    missing = neardup("dedup", crawl / "pages.jsonl", "--html", "html", "--url", "nowhere", "--dry-run", code=1)
    assert "there is no field 'nowhere'; the fields are: url, html, n" in missing.err


def test_nothing_is_learned_unasked_from_other_inputs(crawl, tmp_path, decided):
    run_over, _ = decided
    assert run_over(["files"])[1].templates is None
    assert run_over(["pages.jsonl"], html="html")[1].templates is None
    (tmp_path / "texts.jsonl").write_text('{"text": "a text without an address"}\n')
    assert len(run_over([tmp_path / "texts.jsonl", "crawl.warc.gz"], work=tmp_path / "w")[1].templates) == 2


def test_what_was_learned_unasked_is_shown_and_may_be_left_out(crawl, tmp_path, neardup):
    bare = ("dedup", crawl / "crawl.warc.gz", "--dry-run")
    found = neardup(*bare)
    assert "templates of 2 hosts learned, whose lines do not count" in found.out
    assert neardup(*bare, "--json").json["hosts_with_templates"] == 2
    assert "templates" not in neardup(*bare, "--no-templates").out
    assert neardup(*bare, "--no-templates", "--json").json["hosts_with_templates"] is None
    both = neardup(*bare, "--no-templates", "--templates", crawl / "templates.arrow", code=2)
    assert "--no-templates cannot be used with --templates FILE" in both.err


@pytest.mark.parametrize("how", [[], ["--work", "work"]])
def test_a_full_disk_of_temporary_files_is_named(crawl, tmp_path, neardup, monkeypatch, how):
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr("neardup.pipeline.crawl.templates._TOGETHER", 1 << 16)
    monkeypatch.setattr(templates, "_MADE", f"{templates._MADE}; PRAGMA max_page_count = 9")
    error = neardup("dedup", crawl / "crawl.warc.gz", "--dry-run", "--threads", 1, *how, code=1).err
    assert f"{tmp_path / 'temporary'} cannot be written: database or disk is full; make room there, or" in error
    assert "TMPDIR=DIR" in error
    gc.collect()  # the error has what owns the folder; a process removes it when it ends
    assert not [*(tmp_path / "temporary").iterdir()]
    assert (tmp_path / "work").exists() == bool(how)  # the same command continues


def test_a_system_without_a_folder_for_temporary_files_is_explained(crawl, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", list)
    monkeypatch.setattr("neardup.interfaces.cli._abandon_stdout", lambda: None)
    assert run("dedup", crawl / "crawl.warc.gz", "--dry-run") == 1
    assert "that for temporary files: it was removed, or cannot be written" in capsys.readouterr().err


def test_a_current_folder_that_was_removed_is_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    monkeypatch.setattr("neardup.interfaces.cli._abandon_stdout", lambda: None)
    assert run("warm") == 1
    assert "the current folder, or that for temporary files: it was removed" in capsys.readouterr().err


def test_an_audit_reads_archives_as_the_run_did(crawl, tmp_path, neardup):
    report, audit = tmp_path / "why.parquet", ("audit", crawl / "crawl.warc.gz", "--json")
    neardup("dedup", crawl / "crawl.warc.gz", "--dry-run", "--report", report)
    for of in ((), ("--of", report)):
        found = neardup(*audit, *of).json["recall"]
        assert (found["found"], found["of"]) == (1, 1)
    shown = neardup(*audit, "--of", report, "--no-templates", code=1).err
    assert "its run read the inputs in another way: web pages were read with templates of hosts" in shown
    assert "and are read without templates of hosts; repeat its options for reading" in shown
    plain = tmp_path / "plain.parquet"
    neardup("dedup", crawl / "crawl.warc.gz", "--dry-run", "--no-templates", "--report", plain)
    alone, reported = (neardup(*audit, "--no-templates", *of).json for of in ((), ("--of", plain)))
    assert alone == reported
    with pytest.raises(ParameterError, match="must be None or False"):
        audit_files([crawl / "crawl.warc.gz"], learn_templates=tmp_path / "t.arrow")


def test_pairs_and_labels_are_of_the_texts_that_dedup_compares(crawl, neardup):
    archive, found = crawl / "crawl.warc.gz", {}
    for name, ways in {"memory": (), "pieces": ("--work", "work"), "plain": ("--no-templates",)}.items():
        neardup("pairs", archive, "--out", f"{name}.jsonl", "--threshold", 0.2, *ways)
        found[name] = Path(f"{name}.jsonl").read_text()
    assert found["memory"] == found["pieces"]
    assert found["memory"].count("\n") == 1 < found["plain"].count("\n")

    neardup("label", archive, "--out", "labels.jsonl", "--labels", 3, stdin=b"d\n" * 3)
    texts = [
        one[name]
        for one in map(json.loads, Path("labels.jsonl").read_text().splitlines())
        for name in ("text_a", "text_b")
    ]
    assert not any(site._footer in text for site in SITES for text in texts)


def test_one_host_is_learned_again(folder, tmp_path, capsys):
    before = HostTemplates.load(folder / "templates.arrow")
    before.save(tmp_path / "t.arrow")
    own = ("--templates", tmp_path / "t.arrow")
    assert run("templates", "relearn", SITES[1].host, folder / "pages.jsonl", *own, "--json") == 0
    found = HostTemplates.load(tmp_path / "t.arrow")
    assert json.loads(capsys.readouterr().out) == {
        "host": SITES[1].host,
        "id": found.templates[1].id,
        "version": 2,
        "view": "main",
        "kept": 23,
        "lines": len(found.templates[1].lines),
        "templates": found.identity,
        "rejected": 0,
    }
    assert found.templates[0].id == before.templates[0].id
    assert run("templates", "relearn", SITES[1].host, folder / "pages.jsonl", *own) == 0
    assert "version 3" in capsys.readouterr().out
    assert run("templates", "learn", folder / "pages.jsonl", *own, "--out", tmp_path / "u.arrow") == 0
    assert HostTemplates.load(tmp_path / "u.arrow") == HostTemplates.load(tmp_path / "t.arrow")


def test_one_host_of_a_state_is_learned_again_in_a_file_outside(crawl, tmp_path, neardup):
    archive, state, out = crawl / "crawl.warc.gz", tmp_path / "state", ("--out", tmp_path / "k.warc.gz", "--force")
    neardup("dedup", archive, "--state", state, *out)
    before, again = HostTemplates.load(state), ("templates", "relearn", SITES[1].host, archive)
    assert "--out is needed, as --templates" in neardup(*again, "--templates", state, code=2).err
    assert "inside the state" in neardup(*again, "--templates", state / "templates.arrow", code=2).err
    assert HostTemplates.load(state) == before
    neardup(*again, "--templates", state, "--out", tmp_path / "t.arrow")
    assert "exists already" in neardup(*again, "--templates", state, "--out", tmp_path / "t.arrow", code=2).err
    neardup("dedup", archive, "--state", state, "--templates", tmp_path / "t.arrow", *out)
    after = HostTemplates.load(state)
    assert after == HostTemplates.load(tmp_path / "t.arrow")
    assert [one.version for one in after.templates] == [1, 2]


def test_an_index_that_was_made_without_templates_is_reported(crawl, tmp_path, neardup):
    (tmp_path / "text.jsonl").write_text('{"text": "one text"}\n')
    neardup("index", "text.jsonl", "--to", "seen")
    words = "the pages were read without templates"
    archive = crawl / "crawl.warc.gz"
    assert words in neardup("index", archive, "--to", "seen").out
    for place, options in (("seen", ["--no-templates"]), ("new", []), ("new", []), ("plain", ["--no-templates"])):
        assert words not in neardup("index", archive, "--to", place, *options).out
    assert words not in neardup("index", "text.jsonl", "--to", "seen").out


def test_an_index_of_plain_texts_in_an_archive_gets_templates_with_its_first_pages(crawl, tmp_path, neardup):
    note = record(uri="https://a.example/", number=0, block=http(b"A note", kind="text/plain"))
    (tmp_path / "notes.warc.gz").write_bytes(packed([note]))
    neardup("index", "notes.warc.gz", "--to", "seen")
    found = neardup("index", crawl / "crawl.warc.gz", "--to", "seen", "--json").json
    assert (found["hosts_with_templates"], found["near"]) == (2, 1)


def test_a_state_replaces_its_templates_only_if_they_change(crawl, tmp_path, neardup):
    first, both = archives(tmp_path, crawl, [SITES[:1], SITES])
    found = []
    for part in (first, first, both):
        neardup("dedup", part, "--state", tmp_path / "state", "--out", tmp_path / "k.warc.gz", "--force")
        found.append(
            ((tmp_path / "state" / "templates.arrow").stat().st_ino, len(HostTemplates.load(tmp_path / "state")))
        )
    assert found[0] == found[1]
    assert [hosts for _, hosts in found] == [1, 1, 2]
    assert found[1][0] != found[2][0]


def test_an_index_is_filled_from_a_state_with_templates(folder, tmp_path, capsys):
    pages = (folder / "pages.jsonl", "--html", "html", "--templates", folder / "templates.arrow")
    assert run("dedup", *pages, "--id", "url", "--state", tmp_path / "state", "--out", tmp_path / "kept.jsonl") == 0
    assert run("index", "--from", tmp_path / "state", "--to", tmp_path / "filled") == 0
    assert run("index", *pages, "--url", "url", "--to", tmp_path / "filled", "--json") == 0
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (counts["unchanged"], counts["near"], counts["new"]) == (45, 1, 0)


def test_an_extraction_can_be_stored(folder):
    first = Extraction(templates=HostTemplates.load(folder / "templates.arrow"))
    assert Extraction.from_dict(json.loads(json.dumps(first.to_dict()))) == first
    assert Extraction.from_dict(Extraction(view="main").to_dict()) == Extraction(view="main")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("templates learn pages.jsonl", 2, "--out is needed"),
        ("templates learn pages.jsonl --out t.txt", 2, "must end in .arrow"),
        ("templates learn pages.jsonl --out templates.arrow", 2, "exists already"),
        ("templates learn pages.jsonl --out t.arrow --html page", 1, "no field 'page'"),
        ("templates learn pages.jsonl --out t.arrow --url page", 1, "no field 'page'"),
        ("templates relearn --templates templates.arrow", 2, "templates relearn needs a host"),
        ("templates learn absent.jsonl --out t.arrow", 2, "absent.jsonl"),
        ("templates learn pages.jsonl --out t.arrow --templates a", 2, "cannot be read"),
        (
            "templates relearn h --templates templates.arrow",
            2,
            "templates relearn needs a host, then files of its pages",
        ),
        ("templates relearn h pages.jsonl --templates templates.arrow", 1, "needs 20 different ones; the hosts with"),
        ("templates show --templates templates.arrow --out a", 2, "only be used with learn and relearn"),
        ("templates relearn h pages.jsonl --templates t --text-view main", 2, "with learn"),
        ("templates relearn h pages.jsonl --templates .", 2, "--out is needed"),
        ("templates show h --templates templates.arrow --html a", 2, "only be used with learn"),
        (
            "templates show h --templates templates.arrow",
            2,
            "there is no template of this host; without a host, `templates show` lists all",
        ),
        (
            "dedup pages.jsonl --html html --dry-run --templates absent.arrow",
            2,
            "`neardup templates learn` writes such a file; dedup and index do so with --learn-templates",
        ),
        (
            "dedup pages.jsonl --html html --dry-run --templates . --learn-templates",
            2,
            "is a file; name an .arrow file; a state or an index in use learns its own templates: leave out --temp",
        ),
        ("templates show h", 2, "--templates is needed"),
        (
            "templates show --templates pages.jsonl",
            1,
            "pages.jsonl is not a file of templates; `neardup templates learn` writes such a file",
        ),
        ("templates show --templates absent.arrow", 2, "cannot be read"),
        ("dedup pages.jsonl --out o.jsonl --templates templates.arrow", 2, "only be used with web pages"),
        (
            "dedup pages.jsonl --html html --text-view visible --dry-run --templates templates.arrow",
            2,
            "leave out --text-view, or use the view of the templates",
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_wrong_use_is_explained(capsys, arguments, code, message):
    assert run(*arguments.split()) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_missing_action_is_named(neardup):
    assert "the following arguments are required: action; see" in neardup("templates", code=2).err


def test_a_record_that_cannot_be_read_is_reported(folder, tmp_path, capsys):
    (tmp_path / "pages.jsonl").write_text((folder / "pages.jsonl").read_text() + "{\n")
    assert run("templates", "learn", tmp_path / "pages.jsonl", "--out", tmp_path / "t.arrow") == 1
    assert "pages.jsonl:47" in capsys.readouterr().out
    assert HostTemplates.load(tmp_path / "t.arrow") == HostTemplates.load(folder / "templates.arrow")


@pytest.fixture
def part(crawl, tmp_path):
    """The pages of one of the hosts, their templates, and the archive of the pages of both."""
    own = [line for line in (crawl / "pages.jsonl").read_text().splitlines(keepends=True) if SITES[0].host in line]
    (tmp_path / "one.jsonl").write_text("".join(own))
    assert run("templates", "learn", tmp_path / "one.jsonl", "--out", tmp_path / "t.arrow") == 0
    return tmp_path


@pytest.mark.parametrize("verb", ["index --to seen", "dedup --dry-run"])
def test_what_was_learned_is_shown(crawl, part, capsys, monkeypatch, verb):
    monkeypatch.chdir(part)
    capsys.readouterr()
    assert run(*verb.split(), crawl / "crawl.warc.gz", "--templates", "t.arrow", "--learn-templates") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "templates of 1 new host added to t.arrow; 1 host already had templates" in shown


@pytest.mark.parametrize("ending", [".jsonl", ".warc"])
def test_why_nothing_was_learned_is_shown_and_not_only_a_rejected_record(tmp_path, capsys, ending):
    lines = '{"html": "<p>One page", "url": "http://a.example/"}\n{broken\n'
    broken = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\nbroken"
    (tmp_path / f"x{ending}").write_text(lines if ending == ".jsonl" else broken)
    assert run("templates", "learn", tmp_path / f"x{ending}", "--out", tmp_path / "t.arrow") == 1
    out = capsys.readouterr().out
    assert "no host has a template: that needs 20 pages of one host" in out
    assert "and full URLs, such as https://" in out
    assert f"rejected: {tmp_path}" in out.replace("\n", "")
    assert len(HostTemplates.load(tmp_path / "t.arrow")) == 0


@pytest.mark.parametrize("way", ["memory", "pieces", "state", "index"])
@pytest.mark.parametrize("there", [True, False])
def test_a_run_learns_the_templates_of_new_hosts_first(crawl, part, capsys, way, there):
    templates = part / ("t.arrow" if there else "u.arrow")
    learn = ("--templates", templates, "--learn-templates", "--json")
    how = {"memory": (), "pieces": ("--work", part / "w"), "state": ("--state", part / "s"), "index": ()}[way]
    verb = ("index", "--to", part / "seen") if way == "index" else ("dedup", "--out", part / "kept.warc.gz", *how)
    before = HostTemplates.load(part / "t.arrow")
    capsys.readouterr()
    assert run(*verb, crawl / "crawl.warc.gz", *learn) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["near"] == 1
    found = HostTemplates.load(templates)
    assert [one.id for one in found.templates] == [
        one.id for one in HostTemplates.load(crawl / "templates.arrow").templates
    ]
    assert found.earlier[-1] == before.identity if there else found.templates[0].id == before.templates[0].id


def test_states_and_indexes_accept_the_templates_that_theirs_were_replaced_by(crawl, part, capsys):
    old, state = part / "old.arrow", ("--state", part / "state")
    old.write_bytes((part / "t.arrow").read_bytes())
    fields = ("--html", "html", "--templates", part / "t.arrow")
    assert run("dedup", part / "one.jsonl", *fields, "--id", "url", *state, "--out", part / "kept.jsonl") == 0
    assert run("index", part / "one.jsonl", *fields, "--url", "url", "--to", part / "seen", "--texts") == 0
    learn = ("--templates", part / "t.arrow", "--learn-templates", "--json")
    pages = (part / "one.jsonl", "--html", "html", "--url", "url", *learn)
    assert run("index", *pages, "--to", part / "seen") == 0  # nothing is new
    for verb in (("index", "--to", part / "seen"), ("dedup", "--out", part / "k.warc.gz", *state)):
        capsys.readouterr()
        assert run(*verb, crawl / "crawl.warc.gz", *learn) == 0
        counts = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert counts["near"] == 1 if verb[0] == "index" else (counts["known"], counts["kept"]) == (24, 23)
    assert run("dedup", crawl / "crawl.warc.gz", "--against", part / "seen", *learn, "--dry-run") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["kept"] == 0
    with Index.open(part / "seen") as index:
        assert index.extraction["templates"] == HostTemplates.load(part / "t.arrow").identity
    for verb in (("index", "--to", part / "seen"), ("dedup", "--dry-run", "--against", part / "state")):
        assert run(*verb, crawl / "crawl.warc.gz", "--templates", old) == 2
        assert "which were not made of those" in capsys.readouterr().err
    assert run("index", "--from", part / "state", "--to", part / "filled") == 0
    pages = (crawl / "crawl.warc.gz", "--templates", part / "t.arrow", "--json")
    capsys.readouterr()
    assert run("index", *pages, "--to", part / "filled") == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["unchanged"], counts["near"], counts["new"]) == (46, 1, 0)
    with State.open(part / "state", write=True) as opened:
        opened.forget(
            [f"https://{SITES[1].host}/p{n}" for n in range(22)]
            + [f"https://{SITES[0].host}/note", f"https://{SITES[1].host}/both"]
        )
        assert [one.leaders for one in opened.segments] == [23, 0]
    assert run("index", "--from", part / "state", "--to", part / "less") == 0


def test_an_interrupted_run_continues_with_what_it_learned(crawl, part, monkeypatch, interrupted_at):
    def begin(name):
        ways = {"learn_templates": part / name, "work": part / "work", "report": part / f"{name}.jsonl"}
        return dedup_files([crawl / "crawl.warc.gz"], **ways)

    with interrupted_at(stages, "rank"):
        begin("t.arrow")
    learned = (part / "t.arrow").read_bytes()
    sign = stages.sign
    monkeypatch.setattr(stages, "sign", lambda *_: pytest.fail("it was signed before"))
    with monkeypatch.context() as patch:
        patch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
        assert begin("t.arrow").result.summary.near == 1
    assert (part / "t.arrow").read_bytes() == learned
    monkeypatch.setattr(stages, "sign", sign)
    begin("new.arrow")
    assert (part / "t.arrow.jsonl").read_text() == (part / "new.arrow.jsonl").read_text()


def test_a_run_that_was_interrupted_while_it_learned_learns_again(crawl, tmp_path, interrupted_at):
    ways = {"work": tmp_path / "work", "report": tmp_path / "why.jsonl"}
    with interrupted_at(RunTemplates, "extended"):
        dedup_files([crawl / "crawl.warc.gz"], **ways)
    done = dedup_files([crawl / "crawl.warc.gz"], **ways)
    assert (done.result.summary.near, len(done.templates), done.hosts_learned) == (1, 2, 2)
    assert not (tmp_path / "work").exists()


def test_a_run_that_learned_continues_only_with_these_templates(crawl, part, interrupted_at, neardup):
    others = archives(part, crawl, [SITES[1:]])
    neardup("templates", "learn", *others, "--out", part / "other.arrow")
    ways = {"work": part / "work", "report": part / "why.jsonl"}
    with interrupted_at(stages, "rank"):
        dedup_files([crawl / "crawl.warc.gz"], learn_templates=part / "t.arrow", **ways)
    before = (part / "other.arrow").read_bytes()
    with pytest.raises(RunChanged, match=r"with templates of hosts \(id .{16}\), and are read with templates of hosts"):
        dedup_files([crawl / "crawl.warc.gz"], learn_templates=part / "other.arrow", **ways)
    assert (part / "other.arrow").read_bytes() == before
    assert dedup_files([crawl / "crawl.warc.gz"], learn_templates=part / "t.arrow", **ways).result.summary.near == 1


def test_a_kept_run_that_learned_stays_complete_if_other_templates_are_refused(crawl, part, neardup):
    others = archives(part, crawl, [SITES[1:]])
    neardup("templates", "learn", *others, "--out", part / "other.arrow")
    ways = {"work": part / "work", "report": part / "why.jsonl", "force": True}
    dedup_files([crawl / "crawl.warc.gz"], learn_templates=part / "t.arrow", keep_work=True, **ways)
    with pytest.raises(RunChanged, match="templates of hosts"):
        dedup_files([crawl / "crawl.warc.gz"], learn_templates=part / "other.arrow", **ways)
    assert read_header(part / "work").finished


def test_a_complete_run_that_learned_is_not_done_again(crawl, part, interrupted_at):
    ways = {"learn_templates": part / "t.arrow", "work": part / "work", "report": part / "why.jsonl"}
    with interrupted_at(journal, "_remove"):
        dedup_files([crawl / "crawl.warc.gz"], **ways)
    with pytest.raises(RunComplete):
        dedup_files([crawl / "crawl.warc.gz"], **ways)
    assert not (part / "work").exists()


def test_an_interrupted_run_with_a_state_continues_with_what_it_learned(crawl, tmp_path, monkeypatch, interrupted_at):
    first, both = archives(tmp_path, crawl, [SITES[:1], SITES])
    ways = {"state": tmp_path / "state", "report": tmp_path / "why.jsonl"}
    dedup_files([first], state=tmp_path / "state")
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    for module, name in ((stages, "rank"), (spilled_files.Journal, "finish")):  # before the addition, and after it
        with interrupted_at(module, name):
            dedup_files([both], **ways)
    monkeypatch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
    done = dedup_files([both], **ways)
    monkeypatch.undo()
    expected = dedup_files([both], state=tmp_path / "copy", report=tmp_path / "expected.jsonl")
    assert (tmp_path / "why.jsonl").read_text() == (tmp_path / "expected.jsonl").read_text()
    assert done.templates == expected.templates == HostTemplates.load(tmp_path / "state")


@pytest.mark.parametrize("kind", ["state", "index"])
def test_a_new_file_begins_with_the_templates_of_the_state_or_index(crawl, tmp_path, neardup, kind):
    first, both = archives(tmp_path, crawl, [SITES[:1], SITES])
    place, file = tmp_path / kind, tmp_path / "t.arrow"
    options = ("--state", place, "--out", tmp_path / "k.warc.gz") if kind == "state" else ("--to", place)
    verb, force = ("dedup", ("--force",)) if kind == "state" else ("index", ())
    neardup(verb, first, *options)
    before = HostTemplates.load(place)
    neardup(verb, both, *options, *force, "--templates", file, "--learn-templates")
    assert HostTemplates.load(file) == HostTemplates.load(place)
    assert before.identity in HostTemplates.load(file).earlier


def test_pages_of_tables_are_read_with_the_templates_of_a_state(crawl, tmp_path, neardup):
    (first,) = archives(tmp_path, crawl, [SITES[:1]])
    state, table, report = tmp_path / "state", tmp_path / "pages.jsonl", tmp_path / "why.jsonl"
    neardup("dedup", first, "--state", state, "--out", tmp_path / "k.warc.gz")
    table.write_text((crawl / "pages.jsonl").read_text().replace('"url"', '"address"'))
    asked = ("dedup", table, "--html", "html", "--url", "address", "--id", "address", "--force")
    asked += ("--out", tmp_path / "k.jsonl", "--report", report)
    for ways, hosts, near in (((), 2, 1), (("--templates", state), 1, 0)):  # with the templates of other hosts, or not
        done = json.loads(neardup(*asked, "--against", state, *ways, "--json").out.splitlines()[-1])
        assert (done["hosts_with_templates"], done["near"]) == (hosts, near)
        assert report.read_text().count("same text") == 23


def test_pages_of_indexes_that_were_read_otherwise_are_not_compared_with(crawl, tmp_path, neardup):
    parts = archives(tmp_path, crawl, [SITES[:1], SITES[1:]])
    for name, part, *more in (("a", parts[0]), ("b", parts[1]), ("plain", parts[1], "--no-templates")):
        neardup("index", part, "--to", tmp_path / name, "--texts", *more)
    run_over = ("dedup", crawl / "crawl.warc.gz", "--dry-run", "--against", tmp_path / "a")
    for other in ("b", "plain"):
        shown = " ".join(neardup(*run_over, "--against", tmp_path / other, code=2).err.split())
        assert f"--against {tmp_path / other} has pages that were read with other templates" in shown
        assert f"than those of {tmp_path / 'a'}; compare with one of the two, and then with the other" in shown
    shown = " ".join(neardup(*run_over, "--no-templates", code=2).err.split())
    assert "and the new ones without; leave out --no-templates" in shown


def test_an_index_may_grow_while_templates_are_learned(crawl, tmp_path, monkeypatch, neardup):
    first, both = archives(tmp_path, crawl, [SITES[:1], SITES])
    seen, extended = tmp_path / "seen", RunTemplates.extended
    neardup("index", first, "--to", seen, "--texts")

    def extending(*given):
        with Index.open(seen, "w") as index:
            index.admit(["another"], ["one more document that a crawler admits to the index"])
        return extended(*given)

    monkeypatch.setattr(RunTemplates, "extended", extending)
    done = dedup_files([both], against=seen, report=tmp_path / "why.jsonl")
    assert (done.result.summary.kept, len(done.templates)) == (22, 2)


def test_templates_of_a_killed_run_are_not_those_of_a_state_without_any(crawl, tmp_path, interrupted_at, neardup):
    state = tmp_path / "state"
    with interrupted_at(State, "_replace"):
        dedup_files([crawl / "crawl.warc.gz"], state=state)
    assert (state / "templates.arrow").exists()
    dedup_files([crawl / "crawl.warc.gz"], state=state, learn_templates=False, restart=True)
    assert "is a folder without templates" in neardup("templates", "show", "--templates", state, code=2).err


def test_a_folder_with_a_file_of_templates_is_not_a_state(crawl, tmp_path, neardup):
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(crawl / "templates.arrow", folder)
    run_over = ("dedup", crawl / "crawl.warc.gz", "--state", folder, "--out", tmp_path / "k.warc.gz")
    assert "it is not a state of neardup" in neardup(*run_over, code=2).err
    assert HostTemplates.load(folder) == HostTemplates.load(crawl / "templates.arrow")


def test_a_state_is_locked_and_verified_once_while_a_run_learns(crawl, tmp_path, monkeypatch):
    first, both = archives(tmp_path, crawl, [SITES[:1], SITES])
    state = tmp_path / "state"
    dedup_files([first], state=state)
    extended, check, done = RunTemplates.extended, State.check, []

    def extending(*given):
        with pytest.raises(StorageBusy), State.open(state, write=True):
            pass
        done.append("learned")
        return extended(*given)

    monkeypatch.setattr(RunTemplates, "extended", extending)
    monkeypatch.setattr(State, "check", lambda own: (done.append("checked"), check(own)))
    dedup_files([both], state=state)
    assert done == ["checked", "learned"]


def test_damaged_templates_of_a_state_and_of_an_index_are_named(crawl, tmp_path, neardup):
    archive, state, seen = crawl / "crawl.warc.gz", tmp_path / "state", tmp_path / "seen"
    neardup("dedup", archive, "--state", state, "--out", tmp_path / "kept.warc.gz")
    neardup("index", archive, "--to", seen)
    other = ("templates", "learn", *archives(tmp_path, crawl, [SITES[:1]]), "--out", tmp_path / "other.arrow")
    neardup(*other)
    own = (state / "templates.arrow").read_bytes()
    for content, message in (
        (None, "are missing"),
        (own[:-9], "are damaged"),
        ((tmp_path / "other.arrow").read_bytes(), "are others than"),
    ):
        for folder in (state, seen):
            (folder / "templates.arrow").unlink() if content is None else (folder / "templates.arrow").write_bytes(
                content
            )
        for command in (("dedup", archive, "--dry-run", "--against", state), ("index", archive, "--to", seen)):
            shown = neardup(*command, code=1).err
            assert f"{command[-1]}/templates.arrow" in shown
            assert message in " ".join(shown.split())
        assert message in neardup("check", seen, code=1).out
    neardup("index", archive, "--to", seen, "--templates", crawl / "templates.arrow")  # the same ones
    assert HostTemplates.load(seen) == HostTemplates.load(crawl / "templates.arrow")
    neardup("check", seen)


def test_a_run_that_found_no_template_continues_without_learning_again(crawl, tmp_path, monkeypatch, interrupted_at):
    pages = pages_of(crawl)[:12]
    few = tmp_path / "few.warc.gz"
    few.write_bytes(packed(records_of(pages)))
    ways = {"work": tmp_path / "work", "report": tmp_path / "why.jsonl"}
    with interrupted_at(stages, "rank"):
        dedup_files([few], **ways)
    monkeypatch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("there are no templates"))
    assert len(dedup_files([few], **ways).templates) == 0


def test_pages_of_a_host_without_a_template_decide_the_same_whatever_else_is_read(crawl, tmp_path):
    """All have one menu, and 12 words of their own: none is dropped, although they resemble each other by 0.7."""
    menu = "".join(f"<p>line {number} of a menu that is on all of these pages</p>" for number in range(16))
    texts = [" ".join(f"w{n}x{own}" for own in range(14)) for n in range(12)]
    pages = [
        {"url": f"https://few.example/{n}", "n": n, "html": f"<title>{n}</title>{menu}<p>{text}"}
        for n, text in enumerate(texts)
    ]
    few = tmp_path / "few.warc.gz"
    few.write_bytes(packed(records_of(pages)))
    with fsspec.open("memory://few.warc.gz", "wb") as file:
        file.write(few.read_bytes())
    assert dedup_files([few], learn_templates=False).result.summary.kept < 12
    for inputs, ways in (
        ([few], {}),
        (["memory://few.warc.gz"], {}),
        ([few, crawl / "crawl.warc.gz"], {}),
        ([few], {"state": tmp_path / "state"}),
        ([few], {"learn_templates": tmp_path / "t.arrow"}),
    ):
        done = dedup_files(inputs, **ways)
        assert done.result.summary.kept == len(done.documents) - (len(inputs) == 2), ways


def test_texts_are_read_with_states_and_indexes_of_pages(crawl, tmp_path, neardup):
    (tmp_path / "text.jsonl").write_text('{"text": "a text that is not of a page"}\n')
    neardup("dedup", crawl / "crawl.warc.gz", "--state", "state", "--out", "kept.warc.gz")
    neardup("index", crawl / "crawl.warc.gz", "--to", "seen", "--texts")
    for command in (
        ("dedup", "text.jsonl", "--dry-run", "--against", "state"),
        ("dedup", "text.jsonl", "--dry-run", "--against", "seen"),
        ("dedup", "text.jsonl", "--state", "state", "--out", "kept.jsonl"),
        ("seen", "seen", "text.jsonl"),
        ("index", "text.jsonl", "--to", "seen"),
        ("dedup", crawl / "crawl.warc.gz", "--dry-run", "--against", "state"),
    ):
        neardup(*command)


def test_a_run_that_learned_unasked_continues_without_learning_again(crawl, tmp_path, monkeypatch, interrupted_at):
    ways = {"work": tmp_path / "work", "report": tmp_path / "why.jsonl"}
    with interrupted_at(stages, "rank"):
        dedup_files([crawl / "crawl.warc.gz"], **ways)
    rule = r"web pages were read with templates of hosts \(learned from the inputs\), and are read without templates"
    with pytest.raises(RunChanged, match=rule):
        dedup_files([crawl / "crawl.warc.gz"], **ways, learn_templates=False)
    with monkeypatch.context() as patch:
        patch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("templates were learned before"))
        for others in ({"scheme": SimHash()}, {"extraction": Extraction(view="main")}):
            with pytest.raises(RunChanged):
                dedup_files([crawl / "crawl.warc.gz"], **{**ways, **others})
        with pytest.raises(RunChanged, match=r"files was added"):
            dedup_files([crawl / "crawl.warc.gz", crawl / "files"], **ways)
        patch.setattr(stages, "sign", lambda *_: pytest.fail("it was signed before"))
        done = dedup_files([crawl / "crawl.warc.gz"], **ways, keep_work=True)
        assert (done.result.summary.near, len(done.templates)) == (1, 2)
        ways |= {"report": tmp_path / "again.jsonl", "learn_templates": tmp_path / "t.arrow"}
        dedup_files([crawl / "crawl.warc.gz"], **ways, keep_work=True)
    assert HostTemplates.load(tmp_path / "t.arrow") == done.templates
    assert not [*(tmp_path / "work").glob("*/workers/*")]


@pytest.mark.parametrize("verb", ["dedup --dry-run", "audit", "pairs --out pairs.jsonl"])
def test_tables_with_urls_can_be_read_without_templates(crawl, neardup, verb):
    tables = (crawl / "pages.jsonl", "--html", "html", "--id", "url", "--no-templates", "--json")
    assert neardup(*verb.split(), *tables, "--url", "url").json["documents"]
    neardup("label", crawl / "pages.jsonl", "--url", "url", *tables[1:-1], "--out", "labels.jsonl", stdin=b"q\n")


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        ("pairs --out pairs.jsonl", "it has a run of pairs, and cannot have one of dedup, too"),
        ("dedup --no-templates --dry-run", "its run was begun with other inputs or settings"),
    ],
)
def test_the_folder_of_another_run_is_refused_before_templates_are_learned(crawl, neardup, monkeypatch, verb, message):
    with monkeypatch.context() as patch:
        patch.setattr("neardup.pipeline.spilled.run.rank", Mock(side_effect=KeyboardInterrupt))
        patch.setattr("neardup.pipeline.files.pairs.compare", Mock(side_effect=KeyboardInterrupt))
        neardup(*verb.split(), crawl / "crawl.warc.gz", "--work", "work", code=130)
    monkeypatch.setattr(RunTemplates, "extended", lambda *_: pytest.fail("it is refused first"))
    assert message in neardup("dedup", crawl / "crawl.warc.gz", "--dry-run", "--work", "work", code=2).err


def test_a_kept_folder_with_damaged_or_removed_files_learns_again(crawl, tmp_path):
    def run_over(name, **options):
        ways = {"work": tmp_path / "work", "keep_work": True, "report": tmp_path / name}
        done = dedup_files([crawl / "crawl.warc.gz"], **ways, **options)
        return done.templates, (tmp_path / name).read_text()

    expected = run_over("first.jsonl")
    [begun] = (tmp_path / "work").glob("run-*/done/split--0.json")
    begun.write_text("{")
    with pytest.raises(StorageDamaged, match="restart=True begins again"):
        run_over("second.jsonl")
    assert run_over("second.jsonl", restart=True) == expected
    [begun] = (tmp_path / "work").glob("run-*/done/split--0.json")
    shutil.rmtree(begun.parents[1])
    assert run_over("third.jsonl") == expected


@pytest.mark.parametrize("how", [[], ["--work", "work"]])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--out there.warc.gz", "there.warc.gz: it exists already"),
        ("--out k.warc.gz --report no/why.jsonl", "its folder does not exist"),
        ("--dry-run --report u.arrow", "u.arrow"),
        ("--dry-run --gather components --measure cosine", "cannot be used with"),
        ("--dry-run --glob *.html", "can only be used with folders"),
    ],
)
def test_everything_is_checked_before_templates_are_learned(  # noqa: PLR0917 - fixtures and cases
    crawl, part, neardup, how, options, message
):
    (part / "there.warc.gz").touch()
    ways = ("--templates", "u.arrow", "--learn-templates")
    assert message in neardup("dedup", crawl / "crawl.warc.gz", *ways, *options.split(), *how, code=2).err
    assert not (part / "u.arrow").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("dedup pages.jsonl --html html --dry-run --learn-templates", "needs --templates FILE"),
        ("dedup pages.jsonl --dry-run --learn-templates --templates u.arrow", "with web pages"),
        ("index pages.jsonl --to i --learn-templates --templates u.arrow", "with web pages"),
        ("index --from s --to i --learn-templates", "--learn-templates cannot be used with --from"),
        ("dedup - --html html --dry-run --learn-templates --templates u.arrow", "reads the inputs twice"),
        ("templates learn files --out u.arrow --url url", "can only be used with tables"),
    ],
)
@pytest.mark.usefixtures("crawl", "here")
def test_templates_that_cannot_be_learned(folder, capsys, arguments, message):
    assert run(*arguments.split()) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "u.arrow").exists()


def test_pages_of_standard_input_have_templates(folder, tmp_path, monkeypatch):
    with (folder / "pages.jsonl").open() as pages:
        monkeypatch.setattr("sys.stdin", pages)
        assert run("templates", "learn", "-", "--out", tmp_path / "t.arrow") == 0
    assert HostTemplates.load(tmp_path / "t.arrow") == HostTemplates.load(folder / "templates.arrow")


def test_nothing_is_written_if_no_page_can_be_read(tmp_path, capsys):
    (tmp_path / "junk.warc.gz").write_bytes(b"hello")
    assert run("templates", "learn", tmp_path / "junk.warc.gz", "--out", tmp_path / "t.arrow") == 1
    assert "no gzip member begins here; nothing was written" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "t.arrow").exists()


def test_templates_of_another_view_are_refused_with_a_way_out(crawl, tmp_path, neardup):
    archive, templates = crawl / "crawl.warc.gz", tmp_path / "visible.arrow"
    neardup("templates", "learn", archive, "--text-view", "visible", "--out", templates)
    neardup("index", archive, "--to", tmp_path / "seen")
    rule = (
        f"--templates {templates} cannot be used: it is for pages in the text view visible, and pages are read in the"
    )
    for way in (
        ("seen", tmp_path / "seen", archive),
        ("index", archive, "--to", tmp_path / "seen"),
        ("dedup", archive, "--dry-run"),
    ):
        shown = " ".join(neardup(*way, "--templates", templates, code=2).err.split())
        assert rule in shown
        assert "leave out --text-view, or use the view of the templates, the state or the index" in shown
    neardup("dedup", archive, "--dry-run", "--templates", templates, "--text-view", "visible")


def test_a_service_without_the_templates_of_its_index_is_refused(crawl, tmp_path, neardup):
    neardup("index", crawl / "crawl.warc.gz", "--to", tmp_path / "seen")
    own = (tmp_path / "seen" / "templates.arrow").read_bytes()
    (tmp_path / "seen" / "templates.arrow").write_bytes(own[:-9])
    shown = " ".join(neardup("serve", tmp_path / "seen", "--port", "0", code=1).err.split())
    assert "templates.arrow: the templates are damaged; restore the file with the id " in shown
    assert "rescue" not in shown


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        (("--against", "seen"), "a state or index that was begun without templates never has any"),
        (("--html", "html", "table"), "--url names the field of the URLs, which templates need; --no-templates"),
        (("folder",), "are compared, too; for a folder whose pages declare canonical addresses, add --templates"),
    ],
)
def test_pages_read_without_templates_are_reported_with_a_way_out(tmp_path, neardup, monkeypatch, options, way_out):
    monkeypatch.chdir(tmp_path)
    notice = "Cookies help this shop to deliver what its visitors want to see, and to count how many of them come. " * 3
    pages = [page(number, f"<p>{notice} Product {number} costs {number} coins.") for number in range(30)]
    (tmp_path / "crawl.warc.gz").write_bytes(packed(pages))
    neardup("index", "crawl.warc.gz", "--to", "seen", "--no-templates", "--texts")
    rows = ({"id": str(number), "html": f"<p>{notice} Product {number} costs {number} coins."} for number in range(30))
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.html").write_text(f"<p>{notice}")
    given = {"table": ["pages.jsonl", *options[:-1]], "folder": options}.get(options[-1], ["crawl.warc.gz", *options])
    shown = neardup("dedup", *given, "--dry-run").out
    assert "the pages were read without templates" in shown
    assert way_out in shown
