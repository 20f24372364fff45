"""Searches, asked over HTTP."""

import msgspec
import pytest

from neardup import Index
from neardup.interfaces.http.limits import Limits
from neardup.model.answers import SearchAnswer
from neardup.pipeline.search import Search


@pytest.fixture
def searched(folder):
    with Index.open(folder, "w") as index:
        Search.rebuild(index)
    return folder


def test_searching_hides_repeats(serve, searched):
    ask = serve(searched)
    told = ask.get("/v1/search", params={"q": "storm harbour"}).json()
    assert (told["total"], told["groups"], told["hidden"], told["pages"]) == (2, 1, 1, 1)
    (group,) = told["results"]
    (shown,), (repeat,) = group["shown"], group["repeats"]
    assert {shown["id"], repeat["id"]} == {"a", "b"}
    assert (repeat["of"], repeat["rule"], repeat["measure"]) == (shown["id"], "minhash", "resemblance")
    text, spans = shown["snippet"]["body"]["text"], shown["snippet"]["body"]["spans"]
    assert {text[begin:end] for begin, end in spans} == {"storm", "harbour"}
    members = ask.get("/v1/search", params={"q": "storm harbour", "include": group["group"]}).json()["results"]
    assert [one["group"] for one in members] == [group["group"]]
    assert msgspec.to_builtins(msgspec.convert(told, SearchAnswer)) == told  # it is what the description says
    off = ask.get("/v1/search", params={"q": "storm harbour", "collapse": "off", "size": 1, "page": 2}).json()
    assert (off["groups"], off["hidden"], off["pages"], len(off["results"])) == (2, 0, 2, 1)
    assert ask.get("/v1/search", params={"q": "nothing of the kind"}).json()["total"] == 0


def test_what_is_admitted_is_found_and_what_is_removed_is_not(serve, searched, texts):
    ask = serve(searched)
    ask.post("/v1/admit", {"documents": [{"id": "h", "text": texts.heron}]})
    assert ask.get("/v1/search", params={"q": "herons"}).json()["total"] == 1
    ask("DELETE", "/v1/documents/h")
    assert ask.get("/v1/search", params={"q": "herons"}).json()["total"] == 0


@pytest.mark.parametrize(
    "query", ["", " ", '"', "*", "AND", "NEAR(", 'a" OR 1', "(", "\0", "a:b", "-x", "^", "é" * 600]
)
def test_no_query_is_an_error(serve, searched, query):
    assert serve(searched).get("/v1/search", params={"q": query}).status_code == 200


def test_a_search_that_takes_too_long_is_refused(serve, searched):
    answer = serve(searched, limits=Limits(query_seconds=1e-9)).get("/v1/search", params={"q": "storm"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/docs#query-time")


def test_an_index_without_a_table_says_so(serve, folder):
    ask = serve(read_only=True)
    answer = ask.get("/v1/search", params={"q": "storm"})
    assert (answer.status_code, answer.json()["type"]) == (409, "/docs#no-search")
    with Index.open(folder, "w") as index:
        Search.rebuild(index)
    ask.service._look()  # a reader finds the table once there is one
    assert ask.get("/v1/search", params={"q": "storm"}).json()["total"] == 2
