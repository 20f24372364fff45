"""Templates on the command line: learned from files of pages, shown, and used by dedup and index."""

import gc
from pathlib import Path

import pytest
from archives_made import packed, page
from invented_crawl import SITES, of_host, templates_in, write_archive, write_table
from json_lines import read_lines, write_lines

from neardup.pipeline.crawl import templates
from neardup.text.host_templates import HostTemplates
from neardup.web_pages import learn_templates


@pytest.fixture
def here(crawl, neardup, monkeypatch):
    """Run a command in the folder of the crawl."""
    monkeypatch.chdir(crawl)
    return neardup


def test_learn_writes_what_show_prints(crawl, neardup):
    learned = neardup("templates", "learn", crawl / "pages.jsonl", "--out", "t.arrow", "--json").json
    found, show = templates_in(crawl), ("templates", "show", "--templates", "t.arrow")
    about = neardup(*show, "--json").json
    assert learned == {**about, "rejected": 0}
    assert (about["id"], [one["host"] for one in about["hosts"]]) == (found.identity, [site.host for site in SITES])
    shown = neardup(*show, SITES[0].host).out
    assert SITES[0]._footer in shown
    assert SITES[1]._footer not in shown
    assert found.identity in neardup(*show).out
    assert neardup(*show, SITES[0].host, "--json").json["id"] == found.templates[0].id


@pytest.mark.parametrize("name", [SITES[1].host.upper(), f"{SITES[1].host}:443", f"https://{SITES[1].host}/a"])
def test_a_host_may_be_named_in_any_way(crawl, neardup, name):
    own = ("--templates", crawl / "templates.arrow", "--json")
    assert neardup("templates", "show", name, *own).json["host"] == SITES[1].host
    again = neardup("templates", "relearn", name, crawl / "pages.jsonl", *own, "--out", "again.arrow")
    assert again.json["host"] == SITES[1].host


def test_other_fields_are_named(crawl, tmp_path, neardup):
    table, names = (
        write_table(tmp_path / "other.jsonl", html="page", url="address"),
        ("--html", "page", "--url", "address"),
    )
    learned = neardup("templates", "learn", table, "--out", "t.arrow", *names, "--json").json
    assert learned["id"] == templates_in(crawl).identity
    assert neardup("dedup", table, *names, "--templates", "t.arrow", "--dry-run", "--json").json["near"] == 1
    assert "'url'" in neardup("dedup", table, *names[:2], "--templates", "t.arrow", "--dry-run", code=1).err


def test_what_was_learned_unasked_is_shown_and_may_be_left_out(crawl, neardup):
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


def test_pairs_and_labels_are_of_the_texts_that_dedup_compares(crawl, neardup):
    archive, found = crawl / "crawl.warc.gz", {}
    for name, ways in {"memory": (), "pieces": ("--work", "work"), "plain": ("--no-templates",)}.items():
        neardup("pairs", archive, "--out", f"{name}.jsonl", "--threshold", 0.2, *ways)
        found[name] = Path(f"{name}.jsonl").read_text()
    assert found["memory"] == found["pieces"]
    assert found["memory"].count("\n") == 1 < found["plain"].count("\n")

    neardup("label", archive, "--out", "labels.jsonl", "--labels", 3, stdin=b"d\n" * 3)
    texts = [one[name] for one in read_lines(Path("labels.jsonl")) for name in ("text_a", "text_b")]
    assert not any(site._footer in text for site in SITES for text in texts)


def test_one_host_is_learned_again(crawl, tmp_path, neardup):
    before = templates_in(crawl)
    before.save(tmp_path / "t.arrow")
    again = ("templates", "relearn", SITES[1].host, crawl / "pages.jsonl", "--templates", "t.arrow")
    shown = neardup(*again, "--json").json
    found = HostTemplates.load("t.arrow")
    assert shown == {
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
    assert "version 3" in neardup(*again).out
    neardup("templates", "learn", crawl / "pages.jsonl", "--templates", "t.arrow", "--out", "u.arrow")
    assert HostTemplates.load("u.arrow") == HostTemplates.load("t.arrow")


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
    assert after.earlier[-1] == before.identity
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
        ("templates show --templates files", 2, "is a folder without templates"),
        ("dedup pages.jsonl --html html --url nowhere --dry-run", 1, "no field 'nowhere'; the fields are: url, html"),
        (
            "dedup crawl.warc.gz --state s --dry-run",
            2,
            "--dry-run cannot be used with --state, which adds the documents",
        ),
        ("dedup pages.jsonl --out o.jsonl --templates templates.arrow", 2, "only be used with web pages"),
        (
            "dedup pages.jsonl --html html --text-view visible --dry-run --templates templates.arrow",
            2,
            "leave out --text-view, or use the view of the templates",
        ),
    ],
)
def test_wrong_use_is_explained(here, arguments, code, message):
    error = here(*arguments.split(), code=code).err
    assert message in error
    assert error.count("\n") == 1


def test_a_missing_action_is_named(neardup):
    assert "the following arguments are required: action; see" in neardup("templates", code=2).err


def test_a_record_that_cannot_be_read_is_reported(crawl, tmp_path, neardup):
    (tmp_path / "pages.jsonl").write_text((crawl / "pages.jsonl").read_text() + "{\n")
    assert "pages.jsonl:47" in neardup("templates", "learn", "pages.jsonl", "--out", "t.arrow", code=1).out
    assert HostTemplates.load("t.arrow") == templates_in(crawl)


@pytest.mark.parametrize("verb", ["index --to seen", "dedup --dry-run"])
def test_what_was_learned_is_shown(crawl, tmp_path, neardup, verb):
    learn_templates(of_host(SITES[0])).save(tmp_path / "t.arrow")
    shown = neardup(*verb.split(), crawl / "crawl.warc.gz", "--templates", "t.arrow", "--learn-templates").plain
    assert "templates of 1 new host added to t.arrow; 1 host already had templates" in shown


@pytest.mark.parametrize("ending", [".jsonl", ".warc"])
def test_why_nothing_was_learned_is_shown_and_not_only_a_rejected_record(tmp_path, neardup, ending):
    lines = '{"html": "<p>One page", "url": "http://a.example/"}\n{broken\n'
    broken = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\nbroken"
    (tmp_path / f"x{ending}").write_text(lines if ending == ".jsonl" else broken)
    out = neardup("templates", "learn", tmp_path / f"x{ending}", "--out", "t.arrow", code=1).out
    assert "no host has a template: that needs 20 pages of one host" in out
    assert "and full URLs, such as https://" in out
    assert f"rejected: {tmp_path}" in out.replace("\n", "")
    assert len(HostTemplates.load("t.arrow")) == 0


def test_pages_of_indexes_that_were_read_otherwise_are_not_compared_with(crawl, tmp_path, neardup):
    parts = [write_archive(tmp_path / f"{number}.warc.gz", of_host(site)) for number, site in enumerate(SITES)]
    for name, part, *more in (("a", parts[0]), ("b", parts[1]), ("plain", parts[1], "--no-templates")):
        neardup("index", part, "--to", tmp_path / name, "--texts", *more)
    run_over = ("dedup", crawl / "crawl.warc.gz", "--dry-run", "--against", tmp_path / "a")
    for other in ("b", "plain"):
        shown = neardup(*run_over, "--against", tmp_path / other, code=2).plain
        assert f"--against {tmp_path / other} has pages that were read with other templates" in shown
        assert f"than those of {tmp_path / 'a'}; compare with one of the two, and then with the other" in shown
    shown = neardup(*run_over, "--no-templates", code=2).plain
    assert "and the new ones without; leave out --no-templates" in shown


@pytest.mark.parametrize("verb", ["dedup --dry-run", "audit", "pairs --out pairs.jsonl"])
def test_tables_with_urls_can_be_read_without_templates(crawl, neardup, verb):
    tables = (crawl / "pages.jsonl", "--html", "html", "--id", "url", "--no-templates", "--json")
    assert neardup(*verb.split(), *tables, "--url", "url").json["documents"]
    neardup("label", crawl / "pages.jsonl", "--url", "url", *tables[1:-1], "--out", "labels.jsonl", stdin=b"q\n")


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
def test_templates_that_cannot_be_learned(here, arguments, message):
    assert message in here(*arguments.split(), code=2).err
    assert not Path("u.arrow").exists()


def test_pages_of_standard_input_have_templates(crawl, neardup):
    neardup("templates", "learn", "-", "--out", "t.arrow", stdin=(crawl / "pages.jsonl").read_bytes())
    assert HostTemplates.load("t.arrow") == templates_in(crawl)


def test_nothing_is_written_if_no_page_can_be_read(tmp_path, neardup):
    (tmp_path / "junk.warc.gz").write_bytes(b"hello")
    shown = neardup("templates", "learn", "junk.warc.gz", "--out", "t.arrow", code=1).plain
    assert "no gzip member begins here; nothing was written" in shown
    assert not Path("t.arrow").exists()


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
        shown = neardup(*way, "--templates", templates, code=2).plain
        assert rule in shown
        assert "leave out --text-view, or use the view of the templates, the state or the index" in shown
    neardup("dedup", archive, "--dry-run", "--templates", templates, "--text-view", "visible")


def test_a_service_without_the_templates_of_its_index_is_refused(crawl, tmp_path, neardup):
    neardup("index", crawl / "crawl.warc.gz", "--to", tmp_path / "seen")
    own = (tmp_path / "seen" / "templates.arrow").read_bytes()
    (tmp_path / "seen" / "templates.arrow").write_bytes(own[:-9])
    shown = neardup("serve", tmp_path / "seen", "--port", "0", code=1).plain
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
    write_lines(tmp_path / "pages.jsonl", rows)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.html").write_text(f"<p>{notice}")
    given = {"table": ["pages.jsonl", *options[:-1]], "folder": options}.get(options[-1], ["crawl.warc.gz", *options])
    shown = neardup("dedup", *given, "--dry-run").out
    assert "the pages were read without templates" in shown
    assert way_out in shown
