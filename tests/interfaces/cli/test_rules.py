import json

import pytest
from json_lines import write_lines

from neardup import Index
from neardup.urls import UrlRules


@pytest.fixture
def report(tmp_path):
    """The report of a crawl of one host, on which final slashes make no difference."""
    rows = []
    for page in range(12):
        rows += [
            {"id": f"http://a.example/{page}", "representative": None},
            {"id": f"http://a.example/{page}/", "representative": f"http://a.example/{page}"},
        ]
    write_lines(tmp_path / "why.jsonl", rows)
    return tmp_path


def test_rules_are_written(neardup, report):
    shown = neardup("rules", "why.jsonl", "--out", "rules.json", "--nutch", "nutch")
    assert "1  rule for 1 host" in shown.out
    rules = UrlRules.read(report / "rules.json")
    assert rules.hosts["a.example"].final_slash.support == 12
    assert "https?://a\\.example/" in (report / "nutch/regex-normalize.xml").read_text()
    told = neardup("rules", "why.jsonl", "--out", "rules.json", "--force", "--json").json
    assert (told["pages"], told["final_slash"], told["id"]) == (24, 1, rules.id)


def test_mirrors_that_nutch_does_not_replace_are_counted(neardup, tmp_path):
    pages = {"a": range(60), "b": [*range(12), *range(100, 140)], "c": range(20)}
    rows = [
        {"id": f"http://{host}.a.example/{page}", "representative": str(page)} for host in pages for page in pages[host]
    ]
    write_lines(tmp_path / "why.jsonl", rows)
    shown = neardup("rules", "why.jsonl", "--out", "rules.json", "--nutch", "nutch").out
    assert "1  mirror replaced by the main host for Nutch" in shown
    assert "1  mirror left out for Nutch: more than 10 % of the pages have contents that the main host lacks" in shown
    assert (tmp_path / "nutch/host-urlnormalizer.txt").read_text() == "c.a.example a.a.example\n"
    told = neardup("rules", "why.jsonl", "--out", "rules.json", "--nutch", "nutch", "--force", "--json").json
    assert (told["mirrors_replaced"], told["mirrors_left_out"]) == (1, 1)


@pytest.mark.parametrize("verb", ["rules", "mirrors"])
def test_records_without_a_url_of_the_web_are_counted(neardup, report, verb):
    out = "rules.json" if verb == "rules" else "mirrors.jsonl"
    with (report / "why.jsonl").open("a") as file:
        file.write('{"id": "mailto:a@a.example", "representative": null}\n')
    assert " 1  record without a URL of the web, ignored" in neardup(verb, "why.jsonl", "--out", f"1-{out}").out
    with (report / "why.jsonl").open("a") as file:
        file.write('{"id": "http://[x/", "representative": null}')
    shown = neardup(verb, "why.jsonl", "--out", out).out
    assert "24  pages" in shown
    assert " 2  records without a URL of the web, ignored" in shown
    assert neardup(verb, "why.jsonl", "--out", out, "--force", "--json").json["ignored"] == 2


def test_outputs_are_not_replaced(neardup, report):
    (report / "rules.json").write_text("mine")
    assert "exists" in neardup("rules", "why.jsonl", "--out", "rules.json", code=2).err
    assert (report / "rules.json").read_text() == "mine"
    assert ".json" in neardup("rules", "why.jsonl", "--out", "rules.txt", code=2).err


def test_the_folder_for_nutch_is_made_once_all_outputs_can_be_written(neardup, report):
    (report / "rules.txt").write_text("mine")
    (report / "link").symlink_to("nothing")
    wrong = [
        ("rules.txt", "rules.txt: it is a file; name a folder for the files for Nutch"),
        ("rules.json", "must be different paths, and neither inside the other"),
        ("rules.txt/nutch", "rules.txt: it is a file; name a folder for the files for Nutch"),
        ("link", "link: it is a link to nothing; name a folder for the files for Nutch"),
        ("", "--nutch"),
        ("new/" + "x" * 300, "it has a name of more than"),
    ]
    for folder, message in wrong:
        shown = neardup("rules", "why.jsonl", "--out", "rules.json", "--nutch", folder, code=2)
        assert message in shown.err
    neardup("rules", "why.jsonl", "--out", "none/rules.json", "--nutch", "nutch", code=2)
    assert sorted(path.name for path in report.iterdir()) == ["link", "rules.txt", "why.jsonl"]


def test_rules_that_never_apply_are_refused(neardup, report):
    evidence = {"support": 12, "contents": 11, "confidence": 0.9}
    content = {"format": 1, "id": "", "hosts": {"A.example": {"final_slash": evidence}}}
    (report / "rules.json").write_text(json.dumps(content))
    (report / "pages.jsonl").write_text('{"url": "http://a.example/", "text": "one"}\n')
    shown = neardup("index", "pages.jsonl", "--to", "new", "--url", "url", "--rules", "rules.json", code=2)
    assert "rules.json: 'A.example' is not a host in normal form" in shown.err
    assert not (report / "new").exists()


def test_documents_are_no_report(neardup, report):
    (report / "pages.jsonl").write_text('{"id": "http://a.example/", "text": "one"}\n')
    shown = neardup("rules", "pages.jsonl", "--out", "rules.json", "--nutch", "new/nutch", code=1)
    assert "representative" in shown.err
    assert sorted(path.name for path in report.iterdir()) == ["pages.jsonl", "why.jsonl"]


def test_a_page_is_no_report(neardup, tmp_path):
    (tmp_path / "why.html").write_text("<p>")
    shown = neardup("rules", "why.html", "--out", "rules.json", code=2).err
    assert "name the report of a run: neardup dedup INPUT --report FILE.parquet writes one, and" in shown


def test_broken_lines_are_reported(neardup, report):
    with (report / "why.jsonl").open("a") as file:
        file.write("{broken")
    shown = neardup("rules", "why.jsonl", "--out", "rules.json", code=1)
    assert "why.jsonl:25" in shown.out
    assert (report / "rules.json").exists()


def test_an_index_follows_the_rules(neardup, report):
    neardup("rules", "why.jsonl", "--out", "rules.json")
    (report / "pages.jsonl").write_text('{"url": "http://a.example/3/", "text": "one two three four"}\n')
    neardup("dedup", "pages.jsonl", "--out", "kept.jsonl", "--state", "state")
    ways = ("--url", "url", "--rules", "rules.json")
    for name, source in (("added", ("pages.jsonl",)), ("filled", ("--from", "state"))):
        neardup("index", *source, "--to", name, *ways)
        with Index.open(name) as index:
            assert [*index.ids()] == ["http://a.example/3"]
    bare = neardup("index", "pages.jsonl", "--to", "other", "--rules", "rules.json", code=2).err
    assert "--rules needs the field of the URL; name it with --url FIELD" in bare
