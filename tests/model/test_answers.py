from datetime import UTC, datetime

from msgspec import to_builtins

from neardup.model.answers import Answer, AnswerGroup, Marked, Repeat, ShownHit, Snippet

KNOWN = {"title": None, "url": None, "changed_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "score": 1.23456}
IN_JSON = KNOWN | {"changed_at": "2026-01-02T03:04:05Z"}
NUMBERS = dict.fromkeys(("keep", "total", "examined", "groups", "hidden", "unsigned", "page", "pages", "size"), 1)


def test_an_answer_as_json_has_it():
    body = Marked("salt and oil", ((0, 4),))
    shown = ShownHit(id="a", **KNOWN, snippet=Snippet(Marked("", ()), body))
    why = {"of": "a", "rule": "minhash", "measure": "resemblance", "value": 0.98765, "threshold": 0.6, "verified": True}
    group = AnswerGroup(id=str(2**62 + 1), hides=1, shown=(shown,), repeats=(Repeat(id="b", **KNOWN, **why),))
    answer = Answer(query="salt", collapse="near", threshold=0.6, include=group.id, results=(group,), **NUMBERS)
    record = to_builtins(answer)
    assert record["include"] == str(2**62 + 1)  # 63 bits are too many for some readers of JSON
    (found,) = record["results"]
    assert [*found] == ["group", "hides", "shown", "repeats"]
    assert found["group"] == str(2**62 + 1)
    snippet = {"title": {"text": "", "spans": ()}, "body": {"text": "salt and oil", "spans": ((0, 4),)}}
    assert found["shown"] == ({"id": "a", **IN_JSON, "snippet": snippet},)
    assert found["repeats"] == ({"id": "b", **IN_JSON, **why},)
