import re

import pytest
from json_lines import write_lines

from neardup import Index

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
RECORDS = [
    {"id": "storm", "title": "Storm at dawn", "text": STORM, "url": "http://a.example/storm"},
    {"id": "copy", "title": "Boats lost", "text": STORM, "url": "http://b.example/storm"},
    {"id": "edited", "text": f"{STORM} on Tuesday", "url": "http://a.example/x y#z"},
    {"id": "baker", "title": "Rye", "text": BAKER},
    {"id": "nasty\x1b[31m", "title": "\x1b[31m \u202eevil", "text": "storm \x1b]0;title\x07 & <b>bold</b>\nnext"},
]


@pytest.fixture
def seen(neardup, tmp_path):
    pages = write_lines(tmp_path / "pages.jsonl", RECORDS)
    neardup("index", pages, "--to", "seen", "--search")
    return pages


def asked(neardup, *arguments):
    return neardup("search", "seen", *arguments, "--json").json


def ids(answer):
    return [hit["id"] for group in answer["results"] for hit in group["shown"]]


def test_an_id_is_shown_once(neardup, tmp_path):
    (tmp_path / "plain.jsonl").write_text('{"id": "own", "text": "a heron by the harbour"}\n')
    neardup("index", "plain.jsonl", "--to", "plain", "--search")
    assert neardup("search", "plain", "heron").out.count("own") == 1


def test_results_and_what_they_hide(neardup, seen):
    shown = neardup("search", "seen", "fishing", "boats").out
    assert shown.splitlines() == [
        "1. Boats lost",
        "   http://b.example/storm",
        f"   {STORM}",
        shown.splitlines()[3],
        "   Duplicates (2)",
        "",
        "1 result, 2 repeats hidden",
    ]
    assert re.fullmatch(r"   admitted \d{4}-\d\d-\d\d \d\d:\d\d UTC", shown.splitlines()[3])


def test_all_shows_the_repeats_and_why(neardup, seen):
    shown = neardup("search", "seen", "fishing boats", "--all").out
    assert (
        "   Duplicates (2)\n      edited\n      http://a.example/x y#z\n      Near duplicate, verified: resemblance 0."
        in shown
    )
    why = "Near duplicate, verified: resemblance 1.00, at least 0.6 by minhash; matches copy"
    repeat = f"      Storm at dawn\n      http://a.example/storm\n      {why}\n"
    assert repeat in shown


def test_newest_first_and_of_one_site_only(neardup, seen):
    all_hits = ("fishing", "--collapse", "off")
    assert ids(asked(neardup, *all_hits, "--sort", "newest")) == ["edited", "copy", "storm"]
    assert ids(asked(neardup, *all_hits, "--site", "WWW.a.example")) == ["edited", "storm"]


def test_by_other_rules(neardup, seen):
    assert ids(asked(neardup, "fishing", "--collapse", "off")) == ["copy", "edited", "storm"]
    exact = asked(neardup, "fishing", "--collapse", "exact")
    assert ids(exact) == ["copy", "edited"]
    assert [(own["id"], own["rule"], own["value"]) for own in exact["results"][0]["repeats"]] == [
        ("storm", "same text", None)
    ]
    assert ids(asked(neardup, "fishing", "--collapse", "site")) == ["copy", "edited"]
    assert ids(asked(neardup, "fishing", "--threshold", "0.999")) == ["copy", "edited"]
    assert ids(asked(neardup, "fishing", "--keep", "2")) == ["copy", "edited"]
    assert (
        "Same site: a.example; matches edited"
        in neardup("search", "seen", "fishing", "--collapse", "site", "--all").out
    )
    assert "Same text; matches copy" in neardup("search", "seen", "fishing", "--collapse", "exact", "--all").out


def test_results_are_listed_by_pages(neardup, seen):
    first = neardup("search", "seen", "fishing", "--collapse", "off", "--size", "2").out
    assert first.endswith("3 results, repeats shown; page 1 of 2\n--page 2 shows the next ones.\n")
    second = neardup("search", "seen", "fishing", "--collapse", "off", "--size", "2", "--page", "2").out
    assert second.startswith("3. Storm at dawn\n")
    assert second.endswith("3 results, repeats shown; page 2 of 2\n")
    assert "There is no page 7: the last one is 1.\n" in neardup("search", "seen", "fishing", "--page", "7").out
    assert "of the first 1 of 3 matches" in neardup("search", "seen", "fishing", "--top", "1").out


def test_the_members_of_a_group_are_listed(neardup, seen):
    group = asked(neardup, "fishing")["results"][0]["group"]
    assert group.isdigit()
    shown = neardup("search", "seen", "fishing", "--include", group).out
    assert "Storm at dawn" in shown
    assert "Page" not in shown
    assert ids(asked(neardup, "fishing", "--include", group, "--size", "1")) == ["copy"]
    first = neardup("search", "seen", "fishing", "--include", group, "--size", "1").out
    assert first.endswith("\nPage 1 of 3 of this group\n--page 2 shows the next ones.\n")
    last = neardup("search", "seen", "fishing", "--include", group, "--size", "1", "--page", "3").out
    assert last.endswith("\nPage 3 of 3 of this group\n")
    assert (
        neardup("search", "seen", "fishing", "--include", "5").out == "There is no group 5 on page 1 of this query.\n"
    )


def test_nothing_found_says_what_to_do(neardup, seen):
    advice = {"nowhere": "Fewer words", "fishing rye": "Fewer words", "***": "signs and emoji", "🎉": "signs and emoji"}
    for query, said in advice.items():
        shown = neardup("search", "seen", query).out
        assert shown.startswith(f"Nothing found for: {query}\n")
        assert said in shown
    shown = neardup("search", "seen", "fishing", "--site", "other.example").out
    assert shown.startswith("Nothing found for: fishing\nNo document of other.example has all of these words.\n")


def test_what_decides_can_be_chosen(neardup, seen):
    estimated = neardup("search", "seen", "fishing boats", "--all", "--verify", "estimate").out
    assert (
        "Near duplicate, not verified: estimated resemblance 1.00, at least 0.6 by minhash; matches copy" in estimated
    )
    by_site = neardup("search", "seen", "fishing boats", "--collapse", "site").out
    assert "more from this site" in by_site
    assert "more from the same sites hidden" in by_site


def test_repeats_are_listed_below_the_first_match_or_the_closest(neardup, tmp_path):
    texts = ["two three four five six", "two three five six", "one two three four"]
    write_lines(tmp_path / "words.jsonl", [{"id": own, "text": text} for own, text in zip("dca", texts, strict=True)])
    neardup("index", "words.jsonl", "--to", "seen", "--search", "--shingle", "1", "--threshold", "0.5")
    for ways, expected in (((), "matches a"), (("--representative", "closest"), "matches c")):
        shown = neardup("search", "seen", "two", "--sort", "newest", "--all", *ways).out
        assert [line.partition("; ")[2] for line in shown.splitlines() if "matches" in line] == [expected]


def test_nothing_of_a_document_plays_tricks(neardup, seen):
    shown = neardup("search", "seen", "storm", "evil", "--all").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31m \\u202eevil" in shown
    assert "& <b>bold</b> next" in shown


def test_matches_stand_out_in_colour(neardup, seen, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    shown = neardup("search", "seen", "baker").out
    assert "\x1b[1;33mbaker\x1b[0m" in shown
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in shown.splitlines()) <= 60


def test_json_has_everything(neardup, seen):
    answer = asked(neardup, "rye")
    assert answer | {"results": []} == {
        "query": "rye",
        "collapse": "near",
        "threshold": 0.6,
        "keep": 1,
        "include": None,
        "total": 1,
        "examined": 1,
        "groups": 1,
        "hidden": 0,
        "unsigned": 0,
        "page": 1,
        "pages": 1,
        "size": 10,
        "results": [],
    }
    (hit,) = answer["results"][0]["shown"]
    assert hit["snippet"]["title"] == {"text": "Rye", "spans": [[0, 3]]}
    assert hit["changed_at"].endswith("Z")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--size 0", "--size 0: the value must be"),
        ("--page 0", "--page 0: the value must be"),
        ("--threshold 1.5", "--threshold 1.5: the value must be a number above 0 and at most 1"),
        ("--site http://a.example", "must be a host, such as a.example"),
        ("--threshold 0.5 --collapse site", "--threshold 0.5 cannot be used with --collapse site"),
        ("--top 0", "--top 0: the value must be"),
        ("--seconds 0", "--seconds 0: the value must be more than 0"),
        ("--collapse most", "invalid choice"),
        ("--representative first", "invalid choice"),
        ("-sea", "unknown option -sea; if it is not an option, write -- before it"),
    ],
)
def test_wrong_options_are_reported(neardup, seen, options, said):
    assert said in neardup("search", "seen", "storm", *options.split(), code=2).err


def test_a_search_that_takes_too_long(neardup, seen):
    assert "was stopped after" in neardup("search", "seen", "s*", "--seconds", "1e-9", code=1).err


def test_without_a_table_it_says_what_to_do(neardup, tmp_path):
    with Index.create(tmp_path / "seen", texts=True) as index:
        index.admit(["a"], [STORM])
    assert "seen has no search table; build it: neardup reindex seen" in neardup("search", "seen", "storm", code=2).err
    neardup("reindex", "seen")
    assert "1 result" in neardup("search", "seen", "storm").out
    Index.create(tmp_path / "bare").close()
    for verb in (["search", "bare", "storm"], ["reindex", "bare"]):
        assert "in another folder: neardup index INPUT --to NEWDIR --search" in neardup(*verb, code=2).err
    assert "there is nothing at this path" in neardup("search", "nothing", "storm", code=2).err


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_it_reports_a_table_that_is_behind_the_index(neardup, seen, tmp_path, options):
    assert not neardup("search", "seen", "heron", *options).err
    with Index.open(tmp_path / "seen", "w") as index:
        index.admit(["late"], ["a heron by the harbour"])
    asked = neardup("search", "seen", "heron", *options)
    assert "lacks the last 1 change of the index" in asked.err
    assert "neardup reindex seen" in asked.err
    assert "heron by" not in asked.out
    neardup("remove", "seen", "--ids", "-", stdin=b"baker\n")
    shown = neardup("search", "seen", "heron", *options)
    assert ("heron by" in shown.out, shown.err) == (True, "")


@pytest.mark.usefixtures("permissions")
def test_a_table_that_the_user_may_not_read_is_named(neardup, seen, tmp_path):
    (tmp_path / "seen" / "search.sqlite").chmod(0)
    shown = neardup("search", "seen", "storm", code=1).err
    assert "seen/search.sqlite cannot be read: Permission denied; change its permissions" in shown


@pytest.mark.usefixtures("permissions")
def test_a_table_in_a_folder_that_the_user_may_not_write_is_not_built(neardup, seen, tmp_path):
    (tmp_path / "seen").chmod(0o555)
    shown = neardup("reindex", "seen", code=1).err
    (tmp_path / "seen").chmod(0o755)
    assert "cannot be opened: its folder is not writable; change its permissions, name another path" in shown


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_an_empty_query_finds_nothing(neardup, seen, query):
    shown = neardup("search", "seen", query)
    assert shown.out.splitlines()[1:] == ["The query is empty.", "Name the words that a document must contain."]
    assert neardup("search", "seen", query, "--json").json["total"] == 0
