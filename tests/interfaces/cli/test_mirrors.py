from json_lines import read_lines, write_lines

from neardup.text.host_templates import HostTemplates


def test_mirrors_are_written(neardup, tmp_path):
    rows = []
    for page in range(12):
        rows.append({"id": f"http://www.a.example/{page}", "representative": f"http://a.example/{page}"})
        rows.append({"id": f"http://a.example/{page}", "representative": None})
    write_lines(tmp_path / "why.jsonl", rows)
    shown = neardup("mirrors", "why.jsonl", "--out", "mirrors.jsonl")
    assert "24  pages of 2 hosts" in shown.out
    (line,) = read_lines(tmp_path / "mirrors.jsonl")
    assert (line["host"], line["mirror_of"], line["kind"]) == ("www.a.example", "a.example", "same")
    assert (line["common"], line["same"], line["share"], line["coverage"]) == (12, 12, 1.0, 1.0)
    assert "exists" in neardup("mirrors", "why.jsonl", "--out", "mirrors.jsonl", code=2).err
    told = neardup("mirrors", "why.jsonl", "--out", "mirrors.jsonl", "--force", "--json").json
    assert (told["hosts"], told["kinds"]) == (2, {"same": 1})
    neardup("rules", "why.jsonl", "--out", "rules.json", "--nutch", "nutch")
    assert (tmp_path / "nutch/host-urlnormalizer.txt").read_text() == "www.a.example a.example\n"


def test_translations_are_reported_from_five_common_contents_on(neardup, tmp_path):
    rows = [{"id": f"http://{host}.a.example/{page}", "representative": None} for host in "de" for page in range(40)]
    for page in range(5):
        rows[page]["representative"] = rows[40 + page]["id"]
    write_lines(tmp_path / "why.jsonl", rows)
    assert "1  hosts with at least 5 common contents" in neardup("mirrors", "why.jsonl", "--out", "mirrors.jsonl").out
    assert "fewer than 5 common contents" in neardup("mirrors", "--help").plain


def test_a_crawl_without_mirrors(neardup, tmp_path):
    (tmp_path / "why.jsonl").write_text('{"id": "http://a.example/", "representative": null}')
    neardup("mirrors", "why.jsonl", "--out", "mirrors.parquet")
    neardup("mirrors", "why.jsonl", "--out", "mirrors.jsonl")
    assert (tmp_path / "mirrors.jsonl").read_text() == ""


def test_a_page_on_the_crawl_is_written(neardup, tmp_path):
    rows = [{"id": f"http://a.example/{page}", "representative": "http://a.example/0"} for page in range(12)]
    write_lines(tmp_path / "why.jsonl", rows)
    HostTemplates([], {}).save(tmp_path / "t.arrow")
    command = ("mirrors", "why.jsonl", "--out", "m.jsonl")
    neardup(*command, "--report", "crawl.html", "--templates", "t.arrow")
    shown = (tmp_path / "crawl.html").read_text()
    assert "<td>a.example</td><td>12</td><td>1</td><td>92 %</td>" in shown
    assert "Largest templates" in shown
    for wrong, message in (
        (("--templates", "t.arrow"), "needs --report"),
        (("--report", "crawl.txt"), "must end in"),
        (("--report", "other.html", "--templates", "absent"), "cannot be read"),
    ):
        assert message in neardup(*command, "--force", *wrong, code=2).err
