"""The whole index, asked over HTTP."""

from datetime import UTC, datetime

import pytest

from neardup.schemes.terms import written
from neardup.urls import Addresses


def test_an_index_is_described(serve):
    ask = serve()
    index = ask.service.index
    assert ask.get("/v1/index").json() == {
        "documents": 3,
        "kept": 2,
        "scheme": "minhash",
        "recipe": index.scheme.recipe,
        "settings": written(index.scheme),
        "fields": {"site": "string", "rank": "integer"},
        "signs": [],
        "texts": True,
        "addresses": Addresses().id,
        "extraction": None,
        "next": 3,
        "writes": "yes",
    }


def test_documents_expire(serve, folder):
    ask = serve()
    assert ask.post("/v1/expire", {"before": "2001-01-01T00:00:00Z"}).json() == {"removed": 0, "promoted": 0}
    for before in ("2001-01-01", "2001-01-01T00:00:00", "90d"):
        assert ask.post("/v1/expire", {"before": before}).json()["removed"] == 0
    now = datetime.now(UTC).isoformat()
    assert ask.post("/v1/expire", {"before": now, "by": "first_seen"}).json()["removed"] == 3
    assert len(ask.service.index) == 0


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "The body has no before"),
        ({"before": None}, "before must be a string, not null"),
        ({"before": 1769904000}, "before must be a string, not an integer"),
        ({"before": "yesterday"}, "before must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z, or an age in"),
        ({"before": "2001-01-01T00:00:00Z", "by": "site"}, "by must be first_seen, changed_at, last_seen or a time"),
        ({"before": "3001-01-01"}, "before is in the future, so everything would be removed; it is 2"),
        ({"before": "3001-01-01", "by": "first_seen"}, "before is in the future"),
        ({"before": "0d"}, "before is now, so everything would be removed; to do that, write a time: 2"),
    ],
    ids=str,
)
def test_an_invalid_moment_removes_nothing(serve, body, detail):
    ask = serve()
    answer = ask.post("/v1/expire", body)
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]
    assert len(ask.service.index) == 3
