"""The whole index, asked over HTTP."""

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
    assert ask.post("/v1/expire", {"before": "3001-01-01T00:00:00", "by": "first_seen"}).json()["removed"] == 3
    assert len(ask.service.index) == 0


@pytest.mark.parametrize(
    "body", [{}, {"before": None}, {"before": "yesterday"}, {"before": "2001-01-01T00:00:00Z", "by": "site"}], ids=str
)
def test_an_invalid_moment_removes_nothing(serve, body):
    ask = serve()
    assert ask.post("/v1/expire", body).status_code == 422
    assert len(ask.service.index) == 3
