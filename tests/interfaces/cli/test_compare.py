import gzip
import io
import sys
from functools import partial
from html.parser import HTMLParser

import pytest

import neardup
from neardup.interfaces.cli import compare
from neardup.sources.document import NamedText

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
EDITED = f"Breaking: {STORM} on Tuesday"
HOSTILE = f"</div><script>alert(1)</script> \" ' & \u202e \x1b[2J \0 \ud800 {STORM} {{page}} {{0}}"


@pytest.fixture
def run(neardup, monkeypatch, tmp_path):
    """Run the verb in a folder with two files."""
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "a.txt").write_text(STORM)
    (tmp_path / "b.txt").write_text(EDITED)
    return partial(neardup, "compare")


def test_it_shows_measures_schemes_and_both_texts(run):
    shown = run("a.txt", "b.txt")
    assert shown.err == ""
    assert "minhash match resemblance 0." in shown.plain
    assert "match: estimated" in shown.plain
    assert "checksum no match different signatures alone: different rule: equal bytes of body" in shown.plain
    for size in range(1, 6):
        assert f"{size} sets {neardup.resemblance(STORM, EDITED, shingle=size):.4f} 1.0000" in shown.plain
    marked = "Marked words are in no run of 3 words that both texts have: 0 stretches of A, 2 of B."
    assert f"Shared passages: 1, of 18 words. {marked}" in shown.plain
    assert "*Breaking*: The storm" in shown.plain
    assert "*on Tuesday*" in shown.plain
    assert "*The" not in shown.plain
    assert max(map(len, shown.out.splitlines())) <= 100
    assert "\x1b" not in shown.out


def test_the_scheme_of_the_options_comes_first(run):
    told = run("a.txt", "b.txt", "--json", "--threshold", "0.95", "--shingle", "2").json["schemes"]
    assert [one["scheme"] for one in told[:2]] == ["minhash", "minhash"]
    assert [one["matches"] for one in told[:2]] == [False, True]
    assert told[1:] == neardup.compare(STORM, EDITED).as_dict()["schemes"]
    again = run("a.txt", "b.txt", "--json", "--scheme", "minhash").json["schemes"]
    assert again == told[1:]  # listed once, as it is the default


def test_a_list_of_common_shingles_decides_as_in_the_run_that_made_it(run, tmp_path):
    head = "Permission is hereby granted free of charge to any person obtaining a copy of this software to deal in it"
    texts = [f"{head} {' '.join(f'{name}{number}' for number in range(10))}" for name in "abcdefghijklmnop"]
    neardup.dedup(texts, ignore_common=0.2).summary.common.save(tmp_path / "common.npz")
    asked = ["--strings", "--json", *texts[:2], "--threshold", "0.3"]
    plain, without = run(*asked), run(*asked, "--common", "common.npz")
    decided = [shown.json["schemes"][0]["matches"] for shown in (plain, without)]
    assert decided == [True, False]
    assert "--shingle" in run(*asked, "--common", "common.npz", "--shingle", "4", code=2).err
    assert "then add --common FILE.npz" in run("a.txt", "b.txt", "--preset", "code").plain


def test_as_json_it_is_what_the_library_says(run):
    told = run("a.txt", "b.txt", "--json").json
    assert told.pop("a") == {"name": "a.txt", "characters": len(STORM), "replaced": 0}
    assert told.pop("b")["name"] == "b.txt"
    assert told == neardup.compare(STORM, EDITED).as_dict()


def test_strings_are_taken_as_they_are(run):
    told = run("--strings", "--json", "a.txt", "-").json
    assert (told["a"], told["b"]["characters"]) == ({"name": "A", "characters": 5, "replaced": 0}, 1)
    assert "*four*" in run("--strings", "one two three", "one two three four").plain


def test_html_is_read_as_its_visible_text(run, tmp_path):
    (tmp_path / "page.HTML").write_text(f"<title>News</title><p>{STORM}<script>x</script>")
    told = run("a.txt", "page.HTML", "--json").json
    assert told["measures"][0]["a_in_b"] == 1.0
    assert [span[1] for span in told["only_in_b"]] == [4]


def test_compressed_files_and_standard_input(run, tmp_path):
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(EDITED.encode()))
    told = run("-", "b.txt.gz", "--json", stdin=b"\xef\xbb\xbf" + STORM.encode()).json
    del told["a"], told["b"]
    assert told == neardup.compare(STORM, EDITED).as_dict()


def test_invalid_utf8_is_replaced_and_reported(run, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"\xff one \xef\xbf\xbd two \xfe three")
    shown = run("bad.txt", "a.txt", code=1)
    assert "bad.txt: it is not valid UTF-8 in 2 places" in shown.err
    assert run("bad.txt", "bad.txt", code=1).err.count("bad.txt") == 1
    assert run("bad.txt", "a.txt", "--json", code=1).json["a"]["replaced"] == 2
    (tmp_path / "table").write_bytes(b"PAR1")
    assert "; compare takes files of text or HTML" in run("table", "a.txt", code=1).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["a.txt", "gone.txt"],
            "gone.txt: there is no such file; compare reads files of this machine; --strings takes both",
        ),
        (["x" * 10_000, "a.txt"], "--strings takes both arguments as texts"),
        (["http://a.example/", "a.txt"], "no such file; compare reads files of this machine"),
        (["a.txt", "."], "it is a folder"),
        (["-", "-"], "only one of the two"),
        (["a.txt", "b.txt", "--html", "page.txt"], "must end in .html or .htm"),
        (["a.txt", "b.txt", "--html", "gone/page.html"], "its folder does not exist"),
        (["a.txt"], "the following arguments are required: TEXT_B; see"),
        ([], "the following arguments are required: TEXT_A, TEXT_B; see"),
        (["--strings", "a", "b", "--text-view", "main"], "--text-view main cannot be used with --strings"),
        (["", "a.txt"], "the name of a file is empty; --strings takes both arguments as texts"),
        (["a.txt", "b.txt", "--force"], "--force requires --html"),
    ],
)
def test_wrong_usage_is_reported(run, arguments, message):
    shown = run(*arguments, code=2)
    assert message in shown.err
    assert len(shown.err) < 1000
    assert shown.out == ""


def test_a_text_above_the_cap_is_refused(run, monkeypatch):
    monkeypatch.setattr(compare, "_MOST", 50)
    assert "a.txt: it is larger than 50 bytes; that is the most that is read here" in run("a.txt", "b.txt", code=1).err


def test_what_expands_above_the_cap_is_refused_without_advice_that_would_not_help(run, tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "_MOST", 80)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one " * 100))
    shown = run("b.txt.gz", "a.txt", code=1).err
    assert "b.txt.gz: it expands to more than 80 bytes; that is the most that is read here" in shown


def test_a_page_is_written_once(run, tmp_path):
    page = tmp_path / "page.html"
    run("a.txt", "b.txt", "--html", page)
    assert "<mark>on Tuesday</mark>" in page.read_text()
    page.write_text("mine")
    assert "it exists already; --force replaces it" in run("a.txt", "b.txt", "--html", page, code=2).err
    assert page.read_text() == "mine"
    run("a.txt", "b.txt", "--html", page, "--force")
    assert "<mark>" in page.read_text()


@pytest.mark.parametrize("path", ["-", "/dev/stdout"])
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_a_page_on_standard_output_leaves_the_rest_to_standard_error(run, path, how):
    shown = run("a.txt", "b.txt", "--html", path, *how)
    assert shown.out.startswith("<!DOCTYPE html>")
    assert shown.out.endswith("</html>\n")
    assert ('"measures"' if how else "Shared passages: 1") in shown.err


def test_a_page_never_replaces_a_text(run, tmp_path):
    (tmp_path / "a.html").write_text("<p>mine")
    assert "it is one of the inputs" in run("a.html", "b.txt", "--html", "a.html", "--force", code=2).err
    assert (tmp_path / "a.html").read_text() == "<p>mine"


def test_texts_and_names_cannot_steer_the_terminal(run, tmp_path):
    hostile = tmp_path / "[red]\x1b[2J.txt"
    hostile.write_text(f"\x1b]0;title\x07 [bold] \u202e {STORM} [/]")
    for arguments in ([hostile.name, "a.txt"], ["a.txt", hostile.name], [hostile.name, "a.txt", "--json"]):
        shown = run(*arguments)
        assert "\x1b" not in shown.out
        assert "\u202e" not in shown.out
    assert "[bold*]" in run("a.txt", hostile.name).plain


@pytest.mark.parametrize("texts", [("", ""), ("", "one two three"), ("...", "...")])
def test_texts_without_words(run, texts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert "no words" in run("--strings", *texts).plain


def test_long_passages_are_shortened_and_very_many_pieces_cut(run, tmp_path):
    words = [f"word{number}" for number in range(4000)]
    (tmp_path / "long.txt").write_text(" ".join(words))
    shown = run("long.txt", "long.txt")
    assert "characters the same" in shown.plain
    assert len(shown.out) < 6000
    words[::10] = ["changed"] * 400
    (tmp_path / "other.txt").write_text(" ".join(words))
    assert "characters more (--html PATH shows all)" in run("long.txt", "other.txt").plain


def test_nothing_is_cut_from_a_text_without_spaces(run, monkeypatch):
    text = "今天港口的渡轮因为暴风雨取消了" * 5
    for columns in ("100", "30"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = run("--strings", text, "ferry").out
        assert "…" not in shown
        assert sum(letter in text for letter in shown) == len(text)


def test_a_narrow_terminal_shows_every_number(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("a.txt", "b.txt")
    assert max(map(len, shown.out.splitlines())) <= 40
    assert "…" not in shown.out
    for bag in (False, True):
        found = neardup.resemblance(STORM, EDITED, shingle=3, bag=bag)
        assert f"3 {'bags' if bag else 'sets'} {found:.4f} 1.0000" in shown.plain


def test_colour_marks_where_there_is_colour(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = run("a.txt", "b.txt").out
    assert "\x1b[1;31m" in shown
    assert "*on" not in shown
    monkeypatch.setenv("NO_COLOR", "1")
    assert "*on Tuesday*" in run("a.txt", "b.txt").plain


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_what_the_screen_has_no_characters_for_is_shown_as_escapes(run, monkeypatch, errors):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=errors)
    monkeypatch.setattr(sys, "stdout", screen)
    run("--strings", "東 one two", "東 one two")
    screen.seek(0)
    assert r"\u6771 one two" in screen.read()


def test_invalid_bytes_of_an_argument_are_replaced_and_counted(run):
    one, other = ("a \udcff b c", "a \udcff b c")  # as Python decodes them
    shown = run("--strings", one, other, "--json", code=1)
    assert [shown.json[side]["replaced"] for side in "ab"] == [1, 1]
    assert "A: it is not valid UTF-8 in 1 place, read as" in shown.err


def test_an_argument_that_the_locale_did_not_decode_is_utf8(run):
    texts = [
        text.encode().decode("ascii", "surrogateescape") for text in ("größe straße häuser", "grüße strüße hüuser")
    ]
    found = run("--strings", *texts, "--json").json
    assert (found["a"]["characters"], found["measures"][0]["resemblance"]) == (19, 0.0)


class Page(HTMLParser):
    """The tags of a page with their attributes, and what is marked."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.marked = [], [], []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "mark" in self.open:
            self.marked.append(data)


def page_of(a, b, names=("a.txt", "b.txt")):
    one, other = (NamedText(name, text, 0) for name, text in zip(names, (a, b), strict=True))
    return compare.page_of(neardup.compare(a, b), one, other)


def test_the_page_shows_what_was_found():
    page = Page(page_of(STORM, f"Breaking: {STORM} & more"))
    assert page.open == []
    assert page.marked == ["Breaking", "& more"]
    links = [attributes for tag, attributes in page.tags if tag == "a"]
    assert links == [{"id": "a0", "href": "#b0"}, {"id": "b0", "href": "#a0"}]


def test_every_link_of_the_page_has_its_target_and_every_target_is_one():
    a = f"{STORM}. {STORM} again, {STORM}"
    page = Page(page_of(a, f"x {STORM} y"))
    targets = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(targets) == len({*targets}) > 2
    assert {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"} <= {*targets}


@pytest.mark.parametrize("texts", [(HOSTILE, STORM), (STORM, HOSTILE), (HOSTILE, HOSTILE), ("", ""), ("", HOSTILE)])
def test_hostile_texts_and_names_stay_text_on_the_page(texts):
    page = page_of(*texts, names=("<b>.txt", '"><img src=x>'))
    shown = Page(page)
    assert shown.open == []
    assert {tag for tag, _ in shown.tags}.isdisjoint({"script", "img", "b", "iframe", "link"})
    assert b"\x1b" not in page
    assert "\u202e" not in page.decode()
    outside = [value for _, attributes in shown.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert all(value.startswith("#") for value in outside)


def test_the_page_asks_nothing_of_the_network():
    page = page_of(STORM, STORM).decode()
    assert "default-src 'none'" in page
    assert "http:" not in page
    assert "https:" not in page


def test_long_passages_of_the_page_are_shortened():
    long = " ".join(f"word{number}" for number in range(2000))
    page = page_of(long, long).decode()
    assert "characters the same" in page
    assert len(page) < len(long) * 2
