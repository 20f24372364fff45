from datetime import UTC, datetime, timedelta, timezone

from msgspec import to_builtins

from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked, Repeat, ShownHit, Snippet, as_record, written

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def hit(name):
    return FoundHit(id=name, ordinal=1, score=1.23456, title=None, url=None, changed_at=MOMENT)


def test_moments_are_written_in_utc():
    assert written(MOMENT) == "2026-01-02T03:04:05Z"
    assert written(MOMENT.astimezone(timezone(timedelta(hours=5)))) == "2026-01-02T03:04:05Z"


def test_an_answer_as_json_has_it():
    snippet = Snippet(Marked("", ()), Marked("salt and oil", ((0, 4),)))
    repeat = Repeat(
        hit=hit("b"), of="a", rule="minhash", measure="resemblance", value=0.98765, threshold=0.6, verified=True
    )
    group = AnswerGroup(id=2**62 + 1, shown=(ShownHit(hit("a"), snippet),), repeats=(repeat,), hides=1)
    answer = Answer(
        query="salt",
        collapse="near",
        threshold=0.6,
        keep=1,
        include=2**62 + 1,
        total=2,
        examined=2,
        groups=1,
        hidden=1,
        unsigned=0,
        page=1,
        pages=1,
        size=10,
        results=(group,),
    )
    record = to_builtins(as_record(answer))
    assert record["include"] == str(2**62 + 1)  # 63 bits are too many for some readers of JSON
    (found,) = record["results"]
    assert found["group"] == str(2**62 + 1)
    assert found["shown"][0]["score"] == 1.23456
    assert found["shown"][0]["snippet"]["body"] == {"text": "salt and oil", "spans": ((0, 4),)}
    assert found["repeats"][0] == {
        "id": "b",
        "title": None,
        "url": None,
        "changed_at": "2026-01-02T03:04:05Z",
        "score": 1.23456,
        "of": "a",
        "rule": "minhash",
        "measure": "resemblance",
        "value": 0.98765,
        "threshold": 0.6,
        "verified": True,
    }
