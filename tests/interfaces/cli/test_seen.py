import gzip
import json
import os
import select
import signal
import subprocess
import sys

import pytest
from archives_made import packed, page

from neardup import Index
from neardup.interfaces.cli import main
from neardup.sources.url_rules import HostRules, RuleEvidence, UrlRules

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
COMMAND = [sys.executable, "-m", "neardup", "seen"]


def line(**record):
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def seen(tmp_path):
    Index.create(tmp_path / "seen", fields={"url": str}).close()
    return tmp_path / "seen"


@pytest.fixture
def asked(neardup):
    """Run the verb with these lines as its standard input; return its answers and its messages."""

    def asked(seen, lines, *options, code=0):
        shown = neardup("seen", seen, *options, stdin=lines, code=code)
        return [json.loads(answer) for answer in shown.out.splitlines()], shown.err

    return asked


class Conversation:
    """A running program that reads and answers line by line."""

    def __init__(self, seen, *options):
        self.program = subprocess.Popen([*COMMAND, str(seen), *options], stdin=-1, stdout=-1, stderr=-1, bufsize=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        for stream in (self.program.stdin, self.program.stdout, self.program.stderr):
            stream.close()
        self.program.wait()

    def say(self, lines):
        os.write(self.program.stdin.fileno(), lines)

    def hear(self):
        assert select.select([self.program.stdout], [], [], 120)[0], "no answer"
        return json.loads(self.program.stdout.readline())


def test_each_line_is_answered_at_once_and_durable_by_then(seen):
    with Conversation(seen, "--admit") as talk:
        for number in range(1, 4):
            talk.say(line(url=f"http://a.example/{number}", text=f"{BAKER} {number}" if number < 3 else STORM))
            answer = talk.hear()
            assert (answer["line"], answer["id"]) == (number, f"http://a.example/{number}")
            with Index.open(seen) as reader:
                assert len(reader) == number
        assert answer == {"line": 3, "id": "http://a.example/3", "verdict": "new", "representative": None}


def test_many_lines_are_answered_together(seen, asked):
    lines = b"".join(line(id=str(number), text=f"{BAKER} {number}") for number in range(3_000))
    answers, told = asked(seen, lines, "--admit")
    assert [answer["line"] for answer in answers] == list(range(1, 3_001))
    assert {answer["representative"] for answer in answers} == {None, "0"}
    assert told == ""


def test_broken_lines_are_answered_and_counted(seen, asked):
    answers, told = asked(
        seen, b'{"id":\n' + line(id="a", text=STORM) + b"\n" + line(text="x").rstrip(), "--admit", code=1
    )
    assert [answer.get("error", answer.get("verdict")) for answer in answers] == [
        "it is incomplete JSON: it ends too early",
        "new",
        (
            "it has no id, and in a pipe the number of a line identifies a record in one run only;"
            " name a field with ids or URLs"
        ),
    ]
    assert told == "neardup: 3 lines: 2 invalid; 1 new\n"
    assert [answer["line"] for answer in answers] == [1, 2, 4]


def test_if_no_line_is_valid_the_options_that_name_fields_are_shown(asked, seen):
    _, said = asked(seen, line(url="http://a.example/", body="the storm"), code=1)
    assert said.splitlines() == [
        "neardup: 1 line: 1 invalid",
        "neardup: no line is valid; --text, --html, --url and --id name the fields of the lines",
    ]


def test_after_a_kill_it_continues_behind_the_last_answer(seen, asked):
    lines = [line(url=f"http://a.example/{number}", text=f"{BAKER} {number}" * number) for number in range(1, 31)]
    with Conversation(seen, "--admit") as talk:
        talk.say(b"".join(lines[:20]))
        heard = [talk.hear() for _ in range(10)]
        talk.program.send_signal(signal.SIGKILL)
        talk.program.wait()
    assert [answer["line"] for answer in heard] == list(range(1, 11))
    answers, _ = asked(seen, b"".join(lines), "--admit", "--skip", "10")
    assert [answer["line"] for answer in answers] == list(range(11, 31))
    assert all(answer["verdict"] != "known" or not answer["changed"] for answer in answers)
    with Index.open(seen) as index:
        assert len(index) == 30
    again, _ = asked(seen, b"".join(lines), "--admit")
    assert {answer["verdict"] for answer in again} == {"known"}


def test_a_skip_beyond_the_input_is_reported(seen, asked):
    told = "neardup: --skip 5: the input has only 1 line, so none was checked\n"
    assert asked(seen, line(id="a", text=STORM), "--skip", "5", code=1) == ([], told)
    assert asked(seen, line(id="a", text=STORM), "--skip", "1") == ([], "")


def test_the_summary_reports_estimates(seen, asked):
    lines = line(id="a", text=STORM) + line(id="b", text=f"{STORM} on Tuesday") + line(id="c")
    told = asked(seen, lines, "--admit", code=1)[1]
    assert "1 near duplicate (estimated: the index has no texts)" in told
    assert asked(seen, b"") == ([], "")


def test_the_fields_have_names(seen, asked):
    record = line(link="http://a.example/", key="k", body=STORM)
    answers, _ = asked(seen, record, "--text", "body", "--url", "link", "--id", "key", "--admit")
    assert answers[0]["id"] == "http://a.example/"
    answers, _ = asked(seen, record, "--text", "body", "--url", "none", "--id", "key")
    assert (answers[0]["id"], answers[0]["verdict"]) == ("k", "exact duplicate")


def test_ctrl_c_ends_it_with_a_message(seen):
    with Conversation(seen, "--admit") as talk:
        talk.say(line(id="a", text=STORM))
        talk.hear()
        talk.program.send_signal(signal.SIGINT)
        assert talk.program.wait(120) == 130
        told = talk.program.stderr.read().decode()
    assert "Traceback" not in told
    assert "continue with --skip N, where N is the line of the last answer" in told
    with Index.open(seen) as index:
        assert len(index) == 1


def test_a_reader_that_leaves_is_not_an_error(seen):
    with Conversation(seen) as talk:
        talk.program.stdout.close()
        talk.say(line(id="a", text=STORM))
        talk.program.stdin.close()
        assert talk.program.wait(120) == 1
        assert talk.program.stderr.read() == b""
        talk.program.stdin = talk.program.stdout = open(os.devnull, "rb")  # noqa: SIM115, PTH123 - closed on leaving


def test_another_writer_keeps_from_admitting_but_not_from_asking(seen, asked):
    with Index.open(seen, "w") as index:
        index.admit(["a"], [STORM])
        assert "is writing to it" in asked(seen, b"", "--admit", code=1)[1]
        assert asked(seen, line(id="a", text=STORM))[0][0]["verdict"] == "known"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("none", "none: there is nothing at this path; to create an index: neardup index INPUT --to DIR"),
        ("seen --skip -1", "--skip -1: the value must be at least 0"),
        ("seen --changed-at-least 2", "--changed-at-least 2: the value must be a number above 0 and at most 1"),
        ("seen --url text", "--url text: the value must be another field than the text"),
        ("seen --quoting none", "--quoting none can only be used with files of pages; standard input is JSON"),
        ("seen --max-bytes 1G", "--max-bytes 1G can only be used with files of pages"),
        ("seen --key-file none", "the key cannot be read"),
        ('seen --url a"b', "must be valid UTF-8, without quotation marks"),
    ],
)
def test_wrong_usage_is_reported(neardup, seen, options, complaint):
    assert complaint in neardup("seen", *options.split(), code=2).err


def test_a_key_is_required(tmp_path, asked):
    Index.create(tmp_path / "keyed", key=bytes(range(16))).close()
    (tmp_path / "key").write_bytes(bytes(range(16)))
    assert "name the file of its key with --key-file" in asked(tmp_path / "keyed", b"", code=2)[1]
    answers, _ = asked(tmp_path / "keyed", line(id="a", text=STORM), "--key-file", str(tmp_path / "key"))
    assert answers[0]["verdict"] == "new"


@pytest.mark.parametrize(("on_terminal", "shown"), [(False, "\x9b31m\u202e"), (True, r"\u009b31m\u202e")])
def test_a_terminal_shows_control_characters_as_escapes(seen, monkeypatch, capsysbinary, on_terminal, shown):
    (seen.parent / "lines").write_bytes(line(id="a\x9b31m\u202e", text=STORM))
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: on_terminal)
    with (seen.parent / "lines").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["seen", str(seen)]) == 0
    assert f'"id":"a{shown}"'.encode() in capsysbinary.readouterr().out


@pytest.mark.parametrize("name", ["stdin", "stdout"])
def test_closed_streams_are_reported(seen, monkeypatch, capsys, name):
    monkeypatch.setattr(sys, name, None)
    assert main(["seen", str(seen)]) in {1, 2}
    assert "it is closed" in capsys.readouterr().err


def test_an_array_is_explained(seen, asked):
    answers, said = asked(seen, b'[\n{"text": "a"}\n]', code=1)
    assert answers == []
    assert said.startswith("neardup: <stdin>: this is one JSON array, not JSON lines; ")
    assert said.endswith(" convert it: jq -c '.[]' FILE > lines.jsonl\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            b'\n{\n  "text": "a"\n}\n',
            "its JSON objects are spread over several lines; expand it if it is compressed, and",
        ),
        (line(text="a").decode().encode("utf-16"), "UTF-16 text; convert it to UTF-8, such as with: iconv -f UTF-16"),
        (
            line(text="a").decode().encode("utf-32-le"),
            "UTF-32LE text; convert it to UTF-8, such as with: iconv -f UTF-32LE",
        ),
        (gzip.compress(line(text="a"), mtime=0), "those of gzip; name the file as an input, or,"),
        (page(1, STORM), "this is a web archive, not JSON lines; name the file as an input"),
    ],
    ids=["objects over lines", "UTF-16", "UTF-32", "gzip", "archive"],
)
def test_input_that_is_not_json_lines_is_explained_as_by_dedup(seen, given, message, asked):
    answers, said = asked(seen, given, code=1)
    assert answers == []
    assert said.count("\n") == 1
    assert message in said


def test_pages_of_html_are_read(asked, seen):
    pages = [line(url=f"http://{name}.example/", page=f"<title>{name}</title><p>{STORM}") for name in "ab"]
    answers, _ = asked(seen, b"".join([*pages, line(url="http://c.example/", text=STORM)]), "--html", "page", code=1)
    assert [one.get("verdict") for one in answers] == ["new", "new", None]
    answers, _ = asked(seen, b"".join(pages), "--html", "page", "--admit")
    assert [one["verdict"] for one in answers] == ["new", "near duplicate"]
    for wrong, message in (
        (("--text-view", "main"), "needs --html"),
        (("--html", "page", "--text", "body"), "--text body cannot be used with --html FIELD"),
        (("--html", "page", "--text-view", "main"), "text view main"),
        (("--html", "page", "--templates", "absent"), "cannot be read"),
    ):
        assert message in asked(seen, b"", *wrong, code=2)[1]


@pytest.fixture
def archive(tmp_path):
    """An archive of three pages and a missing one, with damage between the first two."""
    path = tmp_path / "crawl.warc.gz"
    first = page(1, STORM, uri="http://a.example/1?utm_source=x")
    path.write_bytes(packed([first]) + b"damage" + packed([page(2, STORM), page(3, BAKER), page(4, status=404)]))
    return path


def test_the_pages_of_archives_are_answered(seen, archive, neardup):
    told = neardup("seen", seen, archive, "--admit", code=1)
    first, rejected, *others = map(json.loads, told.out.splitlines())
    answers = [first, *others]
    assert rejected["error"].startswith("no gzip member begins here; reading resumes at byte")
    assert [(one["id"], one["verdict"]) for one in answers] == [
        ("http://a.example/1", "new"),
        ("http://a.example/2", "near duplicate"),
        ("http://a.example/3", "new"),
    ]
    assert answers[1]["representative"] == "http://a.example/1"
    assert [(one["source"], one["position"] > 0) for one in answers] == [
        (str(archive), number > 0) for number in range(3)
    ]
    assert [line.split()[:2] for line in told.err.splitlines()[:5]] == [
        ["3", "documents"],
        ["2", "new"],
        ["1", "near"],
        ["1", "record"],
        ["1", "record"],
    ]
    assert "1 status 404" in told.err
    assert f"rejected: {archive}:{rejected['position']}: " in told.err
    again = [json.loads(one) for one in neardup("seen", seen, archive, code=1).out.splitlines()]
    assert [(one.get("verdict"), one.get("changed")) for one in again if "error" not in one] == [("known", False)] * 3
    assert [one["position"] for one in again] == sorted(one["position"] for one in again)


def test_the_advice_on_files_can_be_followed(tmp_path, seen, neardup):
    (tmp_path / "lines.csv").write_text(f'url,text\nhttp://a.example/,"{STORM}\n{BAKER}"\n')
    assert "--quoting minimal hides this note" in neardup("seen", seen, tmp_path / "lines.csv").err
    assert "quotation" not in neardup("seen", seen, tmp_path / "lines.csv", "--quoting", "minimal").err
    (tmp_path / "pages.txt").write_bytes(line(url="http://a.example/", text=STORM))
    assert "add --format jsonl" in neardup("seen", seen, tmp_path / "pages.txt", code=2).err
    assert neardup("seen", seen, tmp_path / "pages.txt", "--format", "jsonl").err.startswith("1  document\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text(STORM)
    assert "--glob reads others" in neardup("seen", seen, tmp_path / "code", code=1).err
    assert neardup("seen", seen, tmp_path / "code", "--glob", "*.py").err.startswith("1  document\n")
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(line(url="http://c.example/", text=STORM)))
    small = neardup("seen", seen, tmp_path / "pages.jsonl.gz", "--max-bytes", "9", code=1).err
    assert "it expands to more than 9 bytes; --max-bytes raises this cap" in small


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--skip 1", "--skip 1 can only be used with standard input"),
        ("--url link", "--url names the field of the URL"),
        ("--id number", "--id names the field of the id"),
        ("--html page", "--html page can only be used with tables"),
        ("--text body", "--text body can only be used with tables"),
    ],
)
def test_wrong_options_of_files_are_reported(seen, archive, neardup, options, complaint):
    code = 1 if "names the field" in complaint else 2
    assert complaint in neardup("seen", seen, archive, *options.split(), code=code).err


def test_rules_that_no_page_could_follow_are_reported(asked, seen, tmp_path):
    rules, pages = tmp_path / "rules.json", tmp_path / "pages.jsonl"
    rules.write_bytes(UrlRules({"a.example": HostRules(parameters={"from": RuleEvidence(12, 12, 1.0)})}).to_bytes())
    note = "no page has a field 'url', so --rules changed nothing; --url names the field of the URL"
    pages.write_bytes(line(id="http://a.example/?from=1", text=STORM))
    for given in ((b"", str(pages)), (pages.read_bytes(),)):
        assert note in asked(seen, *given, "--rules", str(rules))[1]
        assert note not in asked(seen, *given, "--rules", str(rules), "--url", "id")[1]


def test_an_index_with_other_url_rules_is_advised_on(neardup, tmp_path):
    rules, pages = tmp_path / "rules.json", tmp_path / "pages.jsonl"
    rules.write_bytes(UrlRules({"a.example": HostRules(parameters={"from": RuleEvidence(12, 12, 1.0)})}).to_bytes())
    pages.write_bytes(line(url="http://a.example/?from=1", text=STORM))
    neardup("index", pages, "--to", "ruled", "--url", "url", "--rules", rules)
    neardup("index", pages, "--to", "plain", "--url", "url")
    (tmp_path / "no.json").write_bytes(UrlRules().to_bytes())
    way_out = "; leave out --rules: the index then uses its own rules, if it has any; or make another index with these"
    for way in (
        ("seen", "ruled", pages, "--rules", "no.json"),
        ("seen", "plain", pages, "--rules", rules),
        ("index", pages, "--to", "ruled", "--url", "url", "--rules", "no.json"),
    ):
        assert way_out in neardup(*way, code=2).err
    neardup("index", pages, "--to", "ruled", "--url", "url")
    (tmp_path / "ruled" / "url-rules.json").unlink()
    assert "are missing; copy the file of the rules" in (shown := neardup("seen", "ruled", pages, code=1).err)
    assert "here; or name that file with --rules" in shown
    assert '"known"' in neardup("seen", "ruled", pages, "--rules", rules).out
