import json
from datetime import UTC, datetime

import pytest

from neardup import Checksum, Index, MinHash
from neardup.errors import ParameterError
from neardup.pipeline.crawl.stream import Answering

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
HALF = "it has half a surrogate pair at byte {}; write both halves, such as \\ud83d\\ude00"


@pytest.fixture
def index(tmp_path):
    kinds = {"url": str, "host": str, "title": str, "rank": int, "share": float, "when": datetime, "flag": bool}
    with Index.create(tmp_path / "seen", fields=kinds, durability="bulk") as index:
        yield index


def line(**record):
    return json.dumps(record).encode()


def test_pages_are_answered_in_order(index):
    answers = Answering(index, admit=True).answer(
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
        asking = Answering(reader)
        for _ in range(2):
            assert asking.answer([line(id="a", text=STORM)] * 2, 1)[1]["verdict"] == "new"
        Answering(index, admit=True).answer([line(id="a", text=STORM)], 1)
        assert asking.answer([line(id="a", text=STORM)], 3)[0]["verdict"] == "known"


def require_answer(index, broken, expected):
    answering = Answering(index, admit=True)
    good = line(id="good", text=BAKER)
    first, answer, last = answering.answer([good, broken, good], 1)
    assert answer == expected
    assert [(one["line"], one["verdict"]) for one in (first, last)] == [(1, "new"), (3, "known")]
    assert answering.failed == 1
    assert list(index.ids()) == ["good"]


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (b"{", "it is incomplete JSON: it ends too early"),
        (b"[]", "it must be an object, not a list"),
        (b'{"text": "\xff"}', "it is not valid UTF-8"),
        (b'{"id": "a", "text": "\\ud800"}', HALF.format(22)),
        (b'{"id": "\\ud800", "text": "a"}', HALF.format(9)),
        (None, "it has more than 67,108,864 bytes"),
        (line(text=STORM), "it has neither 'url' nor 'id'"),
        (line(url="", id="", text=STORM), "it has neither 'url' nor 'id'"),
        (line(id=[1], text=STORM), "its 'id' must be a string or a number, not a list"),
        (line(id="ä" * 600, text=STORM), "its id has 1,200 bytes; at most 1,024 are allowed"),
        (line(id=[1], text=7), "its 'text' must be a string, not an integer"),
    ],
)
def test_broken_lines_are_answered_too(index, broken, complaint):
    require_answer(index, broken, {"line": 2, "id": None, "error": complaint})


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (line(id="a", text=7), "its 'text' must be a string, not an integer"),
        (line(id="a", text={}), "its 'text' must be a string, not an object"),
        (b'{"id": "a", "text": 1e999}', "its 'text' must be a string, not a number"),
        (line(id="a"), "its 'text' is missing or null"),
        (line(id="a", text=None), "its 'text' is missing or null"),
        (line(id="a", text=STORM, rank=1.5), "its 'rank' must be an integer of 64 bits"),
        (line(id="a", text=STORM, rank=2**63), "its 'rank' must be an integer of 64 bits"),
        (line(id="a", text=STORM, share="x"), "its 'share' must be a number of 64 bits"),
        (b'{"id": "a", "text": "x", "share": 1e999}', "its 'share' must be a number of 64 bits"),
        (line(id="a", text=STORM, share="-1e999"), "its 'share' must be a number of 64 bits"),
        (line(id="a", text=STORM, share=True), "its 'share' must be a number of 64 bits, not true or false"),
        (b'{"id": "a", "text": "x", "rank": 1e999}', "its 'rank' must be an integer of 64 bits"),
        (line(id="a", text=STORM, when=[]), "its 'when' must be a time such as 2026-01-31T12:00:00Z, not a list"),
        (line(id="a", text=STORM, when="today"), "its 'when' must be a time such as 2026-01-31T12:00:00Z"),
        (line(id="a", text=STORM, rank="x"), "its 'rank' must be an integer of 64 bits"),
        (line(id="a", text=STORM, flag="yes"), "its 'flag' must be true or false"),
        (line(id="a", text=STORM, flag=1), "its 'flag' must be true or false"),
        (line(id="a", text=STORM, title=[]), "its 'title' must be a string or a number, not a list"),
    ],
)
def test_broken_lines_with_an_id_are_answered_with_it(index, broken, complaint):
    require_answer(index, broken, {"line": 2, "id": "a", "error": complaint})


def test_blank_lines_are_counted_but_not_answered(index):
    answering = Answering(index, admit=True)
    lines = [b"\xef\xbb\xbf", line(id="a", text=STORM), b"", b" \t\r", line(id="b", text=STORM), b""]
    answers = answering.answer(lines, 1)
    assert [(answer["line"], answer["id"], answer["verdict"]) for answer in answers] == [
        (2, "a", "new"),
        (5, "b", "exact duplicate"),
    ]
    assert answering.answer([b""], 7) == []
    assert answering.failed == 0


def test_fields_are_filled(index):
    record = {"title": "Storm", "rank": 3, "share": 1, "when": "2026-01-31T12:00:00+01:00", "flag": True}
    answering = Answering(index, admit=True)
    answering.answer([line(url="HTTP://a.example/#x", text=STORM, **record), line(id="b", text=BAKER)], 1)
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
    Answering(index, admit=True).answer(
        [line(id="a", text=STORM, **own), line(id="b", text=BAKER, rank="", flag="")], 1
    )
    full, bare = index.get(["a", "b"])
    expected = {"rank": 3, "share": 0.5, "when": datetime(2026, 1, 31, tzinfo=UTC), "flag": True}
    assert {name: full.fields[name] for name in own} == expected
    assert {name: bare.fields[name] for name in own} == dict.fromkeys(own)


def test_fields_that_are_signed_are_given_to_the_scheme(tmp_path):
    with Index.create(tmp_path / "seen", Checksum(), fields={"title": str, "text": str}) as index:
        answering = Answering(index, admit=True)
        lines = [line(id=name, text=STORM + "x" * extra, title="t") for name, extra in (("a", 0), ("b", 0))]
        answers = answering.answer([*lines, line(id="c", text=STORM)], 1)
        assert [answer["verdict"] for answer in answers] == ["new", "exact duplicate", "empty"]
        lines = [
            line(id="d", text=STORM, body=STORM),
            line(id="e", text=STORM, body=BAKER, title="t"),
            line(id="f", text=STORM, body=STORM, title="t"),
        ]
        answers = answering.answer(lines, 4)
        assert [answer["verdict"] for answer in answers] == ["empty", "new", "exact duplicate"]
        assert index.get(["a"])[0].fields == {"title": "t", "text": STORM}


def test_other_names_for_fields(tmp_path):
    with Index.create(tmp_path / "seen", MinHash()) as index:
        answering = Answering(index, text="body", url="link", id="key")
        assert (
            answering.answer([line(link="http://a.example/", key="k", body=STORM)], 1)[0]["id"] == "http://a.example/"
        )
        with pytest.raises(ParameterError, match="another field"):
            Answering(index, text="body", url="body")


def test_a_byte_order_mark_is_skipped_at_the_start_only(index):
    marked = b"\xef\xbb\xbf" + line(id="a", text=STORM)
    answering = Answering(index)
    assert answering.answer([marked], 1)[0]["verdict"] == "new"
    assert "error" in answering.answer([marked], 2)[0]
