"""Answers of a search, made up."""

from datetime import UTC, datetime

from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked, Repeat, ShownHit, Snippet

WHEN = datetime(2026, 3, 7, 12, 30, tzinfo=UTC)


def hit(own="a", title="The ferry", url="https://a.example/ferry"):
    return FoundHit(id=own, ordinal=1, score=1.0, title=title, url=url, changed_at=WHEN)


def shown(found, title=None, body="the ferry left", spans=((4, 9),)):
    return ShownHit(found, Snippet(Marked(title or found.title or "", ()), Marked(body, tuple(spans))))


def repeat(found, of="a", **told):
    whole = {"rule": "minhash", "measure": "resemblance", "value": 0.875, "threshold": 0.6, "verified": True}
    return Repeat(hit=found, of=of, **{**whole, **told})


def group(best, repeats=(), hides=None, number=7):
    return AnswerGroup(id=number, shown=(best,), repeats=tuple(repeats), hides=len(repeats) if hides is None else hides)


def answer(*groups, query="ferry", **told):
    hidden = sum(one.hides for one in groups)
    whole = {
        "collapse": "near",
        "threshold": 0.6,
        "keep": 1,
        "include": None,
        "total": len(groups) + hidden,
        "examined": len(groups) + hidden,
        "groups": len(groups),
        "hidden": hidden,
        "unsigned": 0,
        "page": 1,
        "pages": 1 if groups else 0,
        "size": 10,
    }
    return Answer(query=query, results=groups, **{**whole, **told})
