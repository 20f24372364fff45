import gzip
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from archives_made import packed, page
from json_lines import write_lines

from neardup import Checksum, Index, MinHash
from neardup.errors import DataError, ParameterError
from neardup.model.errors import FieldMissing, StorageRefused
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.files import visits
from neardup.pipeline.files.ingestion import add_files
from neardup.pipeline.files.visits import FileAnswers
from neardup.pipeline.index.page_terms import require_extraction
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.text import extraction
from neardup.text.host_templates import HostTemplates, Template
from neardup.urls import Addresses, UrlRules
from neardup.web_pages import Extraction

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
NAMELESS = (
    "it has no id, and in a pipe the number of a line identifies a record in one run only;"
    " name a field with ids or URLs"
)
NUMBER = "must be a number of 64 bits (integers are not rounded)"
TIME = "must be a time such as 2026-01-31T12:00:00Z (at most microseconds)"
HALF = "it has half a surrogate pair at byte {}; write both halves, such as \\ud83d\\ude00"


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    pages = [page(number, f"{STORM} {number % 7} {'of many words ' * (number % 3)}") for number in range(60)]
    path.write_bytes(packed([*pages, page(61, status=500)]))
    return path


def answers(folder, inputs, index=None, **options):
    """Return the answers to the documents of files, and what else was found; they are admitted to a new index."""
    with Index.create(folder, **(index or {})) as made:
        found = FileAnswers(made, admit=True, **options)
        return [answer for some in found.answer(inputs) for answer in some], found, len(made)


def test_answers_do_not_depend_on_the_size_of_pieces(tmp_path, archive, monkeypatch):
    whole, found, number = answers(tmp_path / "whole", [archive])
    assert (len(whole), number, found.faults.skipped, found.faults.rejected) == (60, 60, {"status 500": 1}, [])
    monkeypatch.setattr("neardup.sources.archives.BATCH", 1 << 10)
    monkeypatch.setattr(visits, "TOGETHER", 1 << 10)
    with Index.create(tmp_path / "pieces") as made:
        pieces = [*FileAnswers(made, admit=True).answer([archive])]
    assert len(pieces) > 3
    assert [answer for some in pieces for answer in some] == whole


def test_files_without_records_need_no_fields_and_other_files_are_counted(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, content in (("a.jsonl", ""), ("b.jsonl", json.dumps({"id": "b", "text": STORM})), ("c.bin", "")):
        (folder / name).write_text(content)
    (answer,), found, _ = answers(tmp_path / "index", [folder])
    assert (answer["id"], found.faults.ignored) == ("b", 1)


def test_pages_of_an_archive_that_was_added_are_known(tmp_path):
    crawled, again = tmp_path / "first.warc.gz", tmp_path / "second.warc.gz"
    for path, more in ((crawled, ""), (again, " and the correction of today")):
        path.write_bytes(packed([page("a?utm_source=x&page=7&id=3#top", STORM + more)]))
    own = "http://a.example/a?id=3&page=7"
    done = add_files([crawled], tmp_path / "added", fields={"url": str, "host": str})
    assert (done.new, done.total) == (1, 1)
    with Index.open(tmp_path / "added", "w") as made:
        ((same,),) = FileAnswers(made).answer([crawled])
        ((changed,),) = FileAnswers(made, admit=True).answer([again])
        assert [(one["id"], one["verdict"], one["changed"]) for one in (same, changed)] == [
            (own, "known", False),
            (own, "known", True),
        ]
        assert (changed["representative"], len(made)) == (None, 1)
        assert made.get([own])[0].fields["host"] == "a.example"
    rules = Addresses(rules=UrlRules({"a.example": HostRules(parameters={"page": RuleEvidence(10, 10, 1.0)})}))
    add_files([crawled], tmp_path / "by rules", addresses=rules)
    with Index.open(tmp_path / "by rules") as made:
        assert [*made.ids()] == ["http://a.example/a?id=3"]
    with pytest.raises(ParameterError, match="rules=None needs the field of the URL"):
        add_files([crawled], tmp_path / "by id", id="record_id", addresses=rules)
    by_date = add_files([crawled], tmp_path / "by date", id="date", fields={"url": str})
    with Index.open(tmp_path / "by date") as made:
        assert (by_date.total, made.get([own])) == (1, [None])


def test_fields_are_those_of_the_records(tmp_path, archive):
    fields = {"title": str, "url": str, "host": str, "fetch_status": int}
    found = answers(tmp_path / "made", [archive], {"fields": fields})[0]
    with Index.open(tmp_path / "made") as made:
        known = made.get([found[3]["id"]])[0].fields
    assert known == {"title": "Page 3", "url": "http://a.example/3", "host": "a.example", "fetch_status": 200}


def test_fields_that_are_signed_may_be_missing(tmp_path):
    path = write_lines(tmp_path / "pages.jsonl", [{"id": "a", "text": STORM}])
    found = answers(tmp_path / "made", [path], {"scheme": Checksum()})[0]
    assert [answer["verdict"] for answer in found] == ["empty"]


def test_invalid_records_are_rejected_or_stop_it(tmp_path):
    path = tmp_path / "pages.jsonl"
    lines = [{"id": "x" * 2000, "text": STORM}, {"id": "b", "text": STORM, "rank": "high"}, {"id": "c", "text": STORM}]
    path.write_text("x\n" + "".join(json.dumps(line) + "\n" for line in lines) + "x\n")
    found, reading, number = answers(tmp_path / "made", [path], {"fields": {"rank": int}})
    assert [(answer["position"], "error" in answer) for answer in found] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
        (5, True),
    ]
    assert ([one.position for one in reading.faults.rejected], number) == ([1, 2, 3, 5], 1)
    with pytest.raises(DataError):
        answers(tmp_path / "strict", [path], {"fields": {"rank": int}}, strict=True)


def test_files_of_any_format_are_answered(tmp_path):
    texts, table, lines = tmp_path / "texts", tmp_path / "pages.csv", tmp_path / "pages.jsonl.gz"
    texts.mkdir()
    (texts / "a.html").write_text(f"<title>a</title><p>{STORM}")
    table.write_text(f"url,text\nhttp://b.example/,{STORM}\n")
    lines.write_bytes(gzip.compress(line(url="http://c.example/", text=STORM)))
    with Index.create(tmp_path / "made") as made:
        pieces = [some for path in (texts, table, lines) for some in FileAnswers(made, admit=True).answer([path])]
    assert [(one["id"], one["verdict"]) for some in pieces for one in some] == [
        (str(texts / "a.html"), "new"),
        ("http://b.example/", "near duplicate"),
        ("http://c.example/", "exact duplicate"),
    ]


def test_rejected_records_are_answered_in_their_place(tmp_path):
    pages, texts = tmp_path / "pages.jsonl", tmp_path / "texts"
    broken = line(url="http://a.example/10", text=None)
    records = [line(id="a", text=STORM), b"{", line(id="b", text=BAKER), broken, line(id="c", text=STORM)]
    pages.write_bytes(b"\n".join(records))
    found = answers(tmp_path / "pages", [pages])[0]
    assert [one["position"] for one in found] == [1, 2, 3, 4, 5]
    assert [one["id"] for one in found] == ["a", None, "b", "http://a.example/10", "c"]
    assert ["error" in one for one in found] == [False, True, False, True, False]
    texts.mkdir()
    for name in "abc":
        (texts / name).with_suffix(".txt").write_bytes(b"\xff" if name == "b" else STORM.encode())
    assert [one["source"][-5:] for one in answers(tmp_path / "made", [texts])[0]] == ["a.txt", "b.txt", "c.txt"]


def test_one_field_may_be_the_url_and_the_id(tmp_path):
    path, lines = tmp_path / "pages.jsonl", [line(id="http://a.example/?b=1", text=STORM), line(id="plain", text=BAKER)]
    path.write_bytes(b"\n".join(lines))
    with Index.create(tmp_path / "made") as made:
        ((one, other),) = FileAnswers(made, url="id", admit=True).answer([path])
        assert (one["id"], other["id"], one["verdict"]) == ("http://a.example/?b=1", "plain", "new")
        assert [answer["verdict"] for answer in answered(FileAnswers(made, url="id"), lines)] == ["known", "known"]


@pytest.mark.parametrize("field", ["text", "page"])
def test_records_of_files_without_a_text_are_invalid_as_lines_are(tmp_path, field):
    way, pages = {} if field == "text" else {"html": field}, tmp_path / "pages.jsonl"
    storm, baker = line(id="a", **{field: STORM}), line(id="b", **{field: BAKER})
    with Index.create(tmp_path / "made") as made:

        def asked(*lines, admit=False):
            pages.write_bytes(b"\n".join(lines))
            ((*found,),) = FileAnswers(made, admit=admit, **way).answer([pages])
            return found

        asked(storm, baker, admit=True)
        lines = [line(id="a", **{field: None}), line(id="c"), baker]
        found = asked(*lines, admit=True)
        assert [one.get("error") for one in found] == [f"its {field!r} is missing or null"] * 2 + [None]
        assert [one["position"] for one in found] == [1, 2, 3]
        again = answered(FileAnswers(made, **way), lines)
        assert [one.get("error") for one in again] == [one.get("error") for one in found]
        assert [one["id"] for one in again] == [one["id"] for one in found] == ["a", "c", "b"]
        [answer] = asked(storm)
        assert (answer["verdict"], answer["changed"]) == ("known", False)


def test_pages_are_read_as_those_of_the_index(tmp_path, archive):
    visible = Extraction(view="visible")
    add_files([archive], tmp_path / "made", extraction=visible)
    with Index.open(tmp_path / "made") as made:
        for extraction in (None, visible):
            found = [
                one["changed"] for some in FileAnswers(made, extraction=extraction).answer([archive]) for one in some
            ]
            assert found == [False] * 60
        with pytest.raises(StorageRefused, match="text view visible"):
            [*FileAnswers(made, extraction=Extraction(view="main")).answer([archive])]


def test_only_a_writer_admits_and_a_reader_sees_what_it_admits(tmp_path, archive):
    with Index.create(tmp_path / "made", MinHash()) as made, Index.open(tmp_path / "made") as reader:
        first, second = (FileAnswers(one, admit=one is made) for one in (made, reader))
        assert {answer["verdict"] for some in first.answer([archive]) for answer in some} != {"known"}
        assert {answer["verdict"] for some in second.answer([archive]) for answer in some} == {"known"}


def test_a_reader_follows_the_rules_that_a_writer_gives_an_empty_index(tmp_path):
    addresses = Addresses(rules=UrlRules({"a.example": HostRules(final_slash=RuleEvidence(12, 12, 1.0))}))
    with Index.create(tmp_path / "made") as made, Index.open(tmp_path / "made") as reader:
        asked, slashed = FileAnswers(reader), [line(url="http://a.example/b/", text=STORM)]
        assert answered(asked, slashed)[0]["id"] == "http://a.example/b/"
        answered(FileAnswers(made, addresses=addresses, admit=True), slashed)
        (answer,) = answered(asked, slashed)
        assert (answer["id"], answer["verdict"]) == ("http://a.example/b", "known")


def test_a_reader_refuses_pages_of_another_version(tmp_path, archive, monkeypatch):
    answers(tmp_path / "made", [archive])
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    with Index.open(tmp_path / "made") as reader:
        for one in (None, Extraction()):
            with pytest.raises(StorageRefused, match="the new ones are read by resiliparse 9"):
                [*FileAnswers(reader, extraction=one).answer([archive])]


def test_fields_that_do_not_exist_are_reported(tmp_path, archive):
    for options in ({"url": "link"}, {"id": "number"}):
        with pytest.raises(FieldMissing):
            answers(tmp_path / next(iter(options)), [archive], **options)
    with pytest.raises(ParameterError, match="must be another field"):
        answers(tmp_path / "same", [archive], url="text")


def test_a_reader_continues_when_templates_are_added(tmp_path, archive, monkeypatch):
    monkeypatch.setattr("neardup.sources.archives.BATCH", 1 << 10)
    monkeypatch.setattr(visits, "TOGETHER", 1 << 10)
    templates = HostTemplates([], rule_of(Extraction()))
    line = Template(host="b.example", view="main", kept=20, lines=np.arange(1, dtype=np.uint64))
    first, second = (Extraction(templates=one) for one in (templates, templates.updated([line])))
    with Index.create(tmp_path / "made", templates=first.templates) as writer, Index.open(tmp_path / "made") as reader:
        require_extraction(writer, first)
        reader.refresh()
        pieces = FileAnswers(reader).answer([archive])
        found = [*next(pieces)]
        require_extraction(writer, second)
        found += [one for some in pieces for one in some]
        assert reader.extraction == second.identity
    assert [one["verdict"] for one in found] == ["new"] * 60


# Lines as they arrive.


@pytest.fixture
def index(tmp_path):
    kinds = {"url": str, "host": str, "title": str, "rank": int, "share": float, "when": datetime, "flag": bool}
    with Index.create(tmp_path / "seen", fields=kinds, durability="bulk") as index:
        yield index


def answered(answering, lines, first=1):
    (answers,) = answering.answer_lines([(first, lines)])
    return answers


def line(**record):
    return json.dumps(record).encode()


def test_pages_are_answered_in_order(index):
    answers = answered(
        FileAnswers(index, admit=True),
        [
            line(url="HTTP://a.example:80/", text=STORM),
            line(id="own", text=f"{STORM} on Tuesday"),
            line(id=7, text=STORM),
            line(url="http://a.example/#x", id="unused", text=STORM),
            line(url="http://a.example/", text=BAKER),
            line(url="http://b.example/", text=""),
            line(url="", id="named", text=BAKER),
        ],
        5,
    )
    first = {"verdict": "new", "representative": None}
    a = "http://a.example/"
    assert answers[0] == {"line": 5, "id": a, **first}
    near = {"verdict": "near duplicate", "of": a, "measure": "resemblance", "verified": False, "representative": a}
    assert answers[1].pop("value") > 0.8
    assert answers[1] == {"line": 6, "id": "own", **near}
    assert answers[2] == {"line": 7, "id": "7", "verdict": "exact duplicate", "of": a, "representative": a}
    known = {"id": a, "verdict": "known", "of": a, "contained": None}
    assert answers[3] == {**known, "line": 8, "changed": False, "representative": a, "resemblance": None}
    changed = answers[4].pop("resemblance")
    assert 0 <= changed < 1
    assert answers[4] == {**known, "line": 9, "changed": True, "representative": None}
    assert answers[5] == {"line": 10, "id": "http://b.example/", "verdict": "empty", "representative": None}
    assert answers[6] == {"line": 11, "id": "named", "verdict": "exact duplicate", "of": a, "representative": a}


def test_without_admitting_nothing_changes_and_others_are_seen(index, tmp_path):
    with Index.open(tmp_path / "seen") as reader:
        asking = FileAnswers(reader)
        for _ in range(2):
            assert answered(asking, [line(id="a", text=STORM)] * 2)[1]["verdict"] == "new"
        answered(FileAnswers(index, admit=True), [line(id="a", text=STORM)])
        assert answered(asking, [line(id="a", text=STORM)], 3)[0]["verdict"] == "known"


WITHOUT_ID = [
    (b"{", "it is incomplete JSON: it ends too early"),
    (b"[]", "it must be an object, not a list"),
    (b'{"text": "\xff"}', "it is not valid UTF-8"),
    (b'{"id": "a", "text": "\\ud800"}', HALF.format(22)),
    (b'{"id": "\\ud800", "text": "a"}', HALF.format(9)),
    (None, "it has more than 67,108,864 bytes"),
    (line(text=STORM), NAMELESS),
    (line(url="", id="", text=STORM), NAMELESS),
    (line(id=[1], text=STORM), "its 'id' must be a string or a number, not a list"),
    (line(id="ä" * 600, text=STORM), "its id has 1,200 bytes, but may have at most 1,024"),
    (line(id=[1], text=7), "its 'text' must be a string, not an integer"),
    (line(id="a", text=7), "its 'text' must be a string, not an integer"),
    (line(id="a", text={}), "its 'text' must be a string, not an object"),
    (b'{"id": "a", "text": 1e999}', "its 'text' must be a string, not a number"),
]
WITH_ID = [
    (line(id="a"), "its 'text' is missing or null"),
    (line(id="a", text=None), "its 'text' is missing or null"),
    (line(id="a", text=STORM, rank=1.5), "its 'rank' must be an integer of 64 bits, not '1.5'"),
    (line(id="a", text=STORM, share=2**53 + 1), f"its 'share' {NUMBER}, not '9007199254740993'"),
    (line(id="a", text=STORM, rank=2**63), "its 'rank' must be an integer of 64 bits, not '9223372036854775808'"),
    (line(id="a", text=STORM, share="x"), f"its 'share' {NUMBER}, not 'x'"),
    (b'{"id": "a", "text": "x", "share": 1e999}', f"its 'share' {NUMBER}, not '1e999'"),
    (line(id="a", text=STORM, share="-1e999"), f"its 'share' {NUMBER}, not '-1e999'"),
    (line(id="a", text=STORM, share=True), f"its 'share' {NUMBER}, not true"),
    (b'{"id": "a", "text": "x", "rank": 1e999}', "its 'rank' must be an integer of 64 bits, not '1e999'"),
    (line(id="a", text=STORM, when=[]), f"its 'when' {TIME}, not a list"),
    (line(id="a", text=STORM, when="today"), f"its 'when' {TIME}, not 'today'"),
    (line(id="a", text=STORM, rank="x"), "its 'rank' must be an integer of 64 bits, not 'x'"),
    (line(id="a", text=STORM, flag="yes"), "its 'flag' must be true or false, not 'yes'"),
    (line(id="a", text=STORM, flag=1), "its 'flag' must be true or false, not 1"),
    (line(id="a", text=STORM, title=[]), "its 'title' must be a string or a number, not a list"),
]


@pytest.mark.parametrize(
    ("own", "broken", "complaint"), [*((None, *case) for case in WITHOUT_ID), *(("a", *case) for case in WITH_ID)]
)
def test_broken_lines_are_answered_too_with_their_id_if_it_is_valid(index, own, broken, complaint):
    good = line(id="good", text=BAKER)
    first, answer, last = answered(FileAnswers(index, admit=True), [good, broken, good])
    assert answer == {"line": 2, "id": own, "error": complaint}
    assert [(one["line"], one["verdict"]) for one in (first, last)] == [(1, "new"), (3, "known")]
    assert list(index.ids()) == ["good"]


def test_blank_lines_are_counted_but_not_answered(index):
    answering = FileAnswers(index, admit=True)
    lines = [b"\xef\xbb\xbf", line(id="a", text=STORM), b"", b" \t\r", line(id="b", text=STORM), b""]
    answers = answered(answering, lines)
    assert [(answer["line"], answer["id"], answer["verdict"]) for answer in answers] == [
        (2, "a", "new"),
        (5, "b", "exact duplicate"),
    ]
    assert answered(answering, [b""], 7) == []


def test_fields_are_filled(index):
    record = {"title": "Storm", "rank": 3, "share": 1, "when": "2026-01-31T12:00:00+01:00", "flag": True}
    answering = FileAnswers(index, admit=True)
    answered(answering, [line(url="HTTP://a.example/#x", text=STORM, **record), line(id="b", text=BAKER)])
    full, bare = index.get(["http://a.example/", "b"])
    assert full.fields == record | {
        "url": "HTTP://a.example/#x",
        "host": "a.example",
        "share": 1.0,
        "when": datetime(2026, 1, 31, 11, tzinfo=UTC),
    }
    assert set(bare.fields.values()) == {None}


def test_values_may_be_written_as_strings(index):
    own = {"rank": "3", "share": "0.5", "when": "2026-01-31", "flag": "true"}
    answered(
        FileAnswers(index, admit=True), [line(id="a", text=STORM, **own), line(id="b", text=BAKER, rank="", flag="")], 1
    )
    full, bare = index.get(["a", "b"])
    expected = {"rank": 3, "share": 0.5, "when": datetime(2026, 1, 31, tzinfo=UTC), "flag": True}
    assert {name: full.fields[name] for name in own} == expected
    assert {name: bare.fields[name] for name in own} == dict.fromkeys(own)


def test_fields_that_are_signed_are_given_to_the_scheme(tmp_path):
    with Index.create(tmp_path / "seen", Checksum(), fields={"title": str, "text": str}) as index:
        answering = FileAnswers(index, admit=True)
        lines = [line(id=name, text=STORM + "x" * extra, title="t") for name, extra in (("a", 0), ("b", 0))]
        answers = answered(answering, [*lines, line(id="c", text=STORM)])
        assert [answer["verdict"] for answer in answers] == ["new", "exact duplicate", "empty"]
        lines = [
            line(id="d", text=STORM, body=STORM),
            line(id="e", text=STORM, body=BAKER, title="t"),
            line(id="f", text=STORM, body=STORM, title="t"),
        ]
        answers = answered(answering, lines, 4)
        assert [answer["verdict"] for answer in answers] == ["empty", "new", "exact duplicate"]
        assert index.get(["a"])[0].fields == {"title": "t", "text": STORM}


def test_other_names_for_fields(tmp_path):
    with Index.create(tmp_path / "seen", MinHash()) as index:
        answering = FileAnswers(index, text="body", url="link", id="key")
        assert (
            answered(answering, [line(link="http://a.example/", key="k", body=STORM)])[0]["id"] == "http://a.example/"
        )
        with pytest.raises(ParameterError, match="another field"):
            FileAnswers(index, text="body", url="body")


def test_a_byte_order_mark_is_skipped_at_the_start_only(index):
    marked = b"\xef\xbb\xbf" + line(id="a", text=STORM)
    answering = FileAnswers(index)
    assert answered(answering, [marked])[0]["verdict"] == "new"
    assert "error" in answered(answering, [marked], 2)[0]


def test_a_body_that_other_lines_lack_is_their_text(tmp_path):
    lines = [line(id="a", text=STORM, title="t"), line(id="b", text=BAKER, body=STORM, title="t")]
    with Index.create(tmp_path / "seen", Checksum()) as index:
        assert [one["verdict"] for one in answered(FileAnswers(index, admit=True), lines)] == ["new", "near duplicate"]


def test_pages_in_lines_need_no_url_for_their_templates(tmp_path):
    templates = HostTemplates([], rule_of(Extraction()))
    page = f'<link rel="canonical" href="http://b.example/"><p>{STORM}'
    with Index.create(tmp_path / "seen", templates=templates) as index:
        answering = FileAnswers(index, html="page", admit=True)
        assert [one["verdict"] for one in answered(answering, [line(id="a", page=page)])] == ["new"]
        answers = answered(answering, [line(url="http://a.example/", page=page), line(id="c", page=page), line(id="d")])
        assert [one.get("verdict") for one in answers] == ["exact duplicate", "exact duplicate", None]


def test_a_reader_of_an_empty_index_reads_pages_as_the_first_that_a_writer_admits(tmp_path):
    page = f"<nav>home about contact</nav><p>{STORM}"
    lines = [line(url=f"http://a.example/{number}", page=page) for number in range(3)]
    with Index.create(tmp_path / "seen") as writer, Index.open(tmp_path / "seen") as reader:
        visible = FileAnswers(writer, html="page", admit=True, extraction=Extraction(view="visible"))

        def arriving():
            yield 1, lines[:1]
            answered(visible, lines[1:2])
            yield 2, lines[2:]
            yield 3, lines[2:]

        found = [one["verdict"] for some in FileAnswers(reader, html="page").answer_lines(arriving()) for one in some]
        assert found == ["new", "exact duplicate", "exact duplicate"]
        with Index.open(tmp_path / "seen") as later, pytest.raises(StorageRefused, match="the text view visible"):
            answered(FileAnswers(later, html="page", extraction=Extraction(view="main")), lines[:1])


def test_a_host_that_other_lines_name_is_that_of_their_url(index):
    lines = [line(url="http://a.example/", text=STORM, host="h.example"), line(url="http://b.example/", text=BAKER)]
    answered(FileAnswers(index, admit=True), lines)
    own = [document.fields["host"] for document in index.get(["http://a.example/", "http://b.example/"])]
    assert own == ["h.example", "b.example"]


def test_a_blank_url_counts_as_missing(tmp_path):
    with Index.create(tmp_path / "own", fields={"url": str, "host": str}) as index:
        [answer] = answered(FileAnswers(index, url="page", admit=True), [line(page="  ", id="q", text="one two three")])
        assert answer["id"] == "q"
        assert index.get(["q"])[0].fields == {"url": None, "host": None}
