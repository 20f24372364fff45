"""Answers of a search, made up."""

from datetime import UTC, datetime

from msgspec.structs import asdict

from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked, Repeat, ShownHit, Snippet

WHEN = datetime(2026, 3, 7, 12, 30, tzinfo=UTC)


def hit(own="a", title="The ferry", url="https://a.example/ferry"):
    return FoundHit(id=own, title=title, url=url, changed_at=WHEN, score=1.0)


def shown(found, title=None, body="the ferry left", spans=((4, 9),)):
    snippet = Snippet(Marked(title or found.title or "", ()), Marked(body, tuple(spans)))
    return ShownHit(**asdict(found), snippet=snippet)


def repeat(found, of="a", **told):
    whole = {"rule": "minhash", "measure": "resemblance", "value": 0.875, "threshold": 0.6, "verified": True}
    return Repeat(**asdict(found), of=of, **{**whole, **told})


def group(best, repeats=(), hides=None, number=7):
    hides = len(repeats) if hides is None else hides
    return AnswerGroup(id=str(number), hides=hides, shown=(best,), repeats=tuple(repeats))


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
