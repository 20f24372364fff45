"""Searches, asked over HTTP."""

import json
import time
from pathlib import Path

import msgspec
import pytest

from neardup import Index, MinHash
from neardup.index import fulltext
from neardup.interfaces.http.limits import Limits
from neardup.model.answers import Answer
from neardup.pipeline.query.search import Search


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
    assert json.loads(msgspec.json.encode(msgspec.convert(told, Answer))) == told  # it is what the description says
    off = ask.get("/v1/search", params={"q": "storm harbour", "collapse": "off", "size": 1, "page": 2}).json()
    assert (off["groups"], off["hidden"], off["pages"], len(off["results"])) == (2, 0, 2, 1)
    assert ask.get("/v1/search", params={"q": "nothing of the kind"}).json()["total"] == 0


def test_repeats_are_listed_below_the_first_match_or_the_closest(serve, tmp_path):
    texts = {
        "a": "one two three four",
        "b": "one two three five",  # 3 of 5 words in common with a
        "c": "two three five six",
        "d": "two three four five six",  # 3 of 6 with a, 4 of 5 with c
    }
    ids = [*texts]
    with Index.create(tmp_path / "index", MinHash(shingle=1, threshold=0.5), texts=True) as index:
        index.admit(ids[::-1], [*texts.values()][::-1])
        Search.rebuild(index)
    ask = serve(tmp_path / "index")
    for ways, listed in (
        ({}, {"a": ["b", "d"], "c": []}),
        ({"representative": "best-ranked"}, {"a": ["b", "d"], "c": []}),
        ({"representative": "closest"}, {"a": ["b"], "c": ["d"]}),
    ):
        told = ask.get("/v1/search", params={"q": "two", "sort": "newest", **ways}).json()["results"]
        assert {one["shown"][0]["id"]: [repeat["id"] for repeat in one["repeats"]] for one in told} == listed
        told = ask.post("/v1/collapse", {"hits": ids, **ways}).json()["results"]
        assert {one["kept"][0]["id"]: [repeat["id"] for repeat in one["hidden"]] for one in told} == listed
        assert {repeat["of"] for one in told for repeat in one["hidden"]} == {of for of, own in listed.items() if own}
        page = ask.get("/", params={"q": "two", "sort": "newest", **ways}).text
        assert page.count("Duplicates (1)") == 2 * (len(listed["c"]))
        assert ("representative=closest&amp;sort=newest" in page) == (listed["c"] == ["d"])
    assert ask.post("/v1/collapse", {"hits": ids, "representative": "first"}).status_code == 422
    assert ask.get("/v1/search", params={"q": "two", "representative": "first"}).status_code == 422


def test_what_is_admitted_is_found_and_what_is_removed_is_not(serve, searched, texts):
    ask = serve(searched)
    ask.post("/v1/admit", {"documents": [{"id": "h", "text": texts.heron}]})
    assert ask.get("/v1/search", params={"q": "herons"}).json()["total"] == 1
    ask("DELETE", "/v1/documents/h")
    assert ask.get("/v1/search", params={"q": "herons"}).json()["total"] == 0


def test_a_page_that_is_admitted_again_is_found_by_its_new_title(tmp_path, serve, texts):
    with Index.create(tmp_path / "titled", texts=True, fields={"title": str, "url": str}) as index:
        Search.rebuild(index)
    ask, page = serve(tmp_path / "titled"), {"url": "http://a.example/", "text": texts.heron}
    for title, changed in (("Reeds", None), ("Weather", False), ("Weather", False)):
        (said,) = ask.post("/v1/seen", {"pages": [page | {"fields": {"title": title}}]}).json()["verdicts"]
        assert said.get("changed") == changed
        (group,) = ask.get("/v1/search", params={"q": title}).json()["results"]
        assert group["shown"][0]["title"] == title
    assert ask.get("/v1/search", params={"q": "reeds"}).json()["total"] == 0


@pytest.mark.parametrize(
    "query", ["", " ", '"', "*", "AND", "NEAR(", 'a" OR 1', "(", "\0", "a:b", "-x", "^", "é" * 600]
)
def test_no_query_is_an_error(serve, searched, query):
    assert serve(searched).get("/v1/search", params={"q": query}).status_code == 200


def test_a_search_that_takes_too_long_is_refused(serve, searched):
    answer = serve(searched, limits=Limits(query_seconds=1e-9)).get("/v1/search", params={"q": "storm"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/docs#query-time")


def test_prefix_queries_run_one_at_a_time_and_too_many_are_rejected(serve, searched):
    ask = serve(searched, limits=Limits(prefix_queries=3, query_seconds=120.0))
    running, most, find = [], [], ask.service.search.answer

    def answer(query, **ways):
        running.append(query)
        most.append(sum("*" in one for one in running))
        time.sleep(0.01)
        running.remove(query)
        return find(query, **ways)

    ask.service.search.answer = answer
    prefixes = [(("GET", f"/v1/search?q=the s{number}*"), {}) for number in range(6)]
    pages = [(("GET", f"/?q=p{number}*"), {}) for number in range(2)]
    answers = ask.together(*prefixes, *pages, (("GET", "/v1/search?q=storm"), {}))
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [429] * 5
    assert answers[-1].status_code == 200
    assert max(most) == 1
    refused = answers[5]
    assert (refused.json()["type"], refused.headers["retry-after"]) == ("/docs#prefix-queries", "1")
    assert ask.get("/v1/search?q=s*").status_code == 200


def test_prefix_queries_wait_no_longer_than_a_query_may_take(serve, searched):
    ask = serve(searched, limits=Limits(query_seconds=0.05))

    async def held():
        async with ask.service.work._prefix_turn:
            return await ask.client.get("/v1/search?q=s*"), await ask.client.get("/v1/search?q=storm")

    refused, cheap = ask.loop.run_until_complete(held())
    assert (refused.status_code, refused.json()["type"]) == (429, "/docs#prefix-queries")
    assert cheap.status_code in {200, 422}


def test_an_index_without_a_search_table_is_reported(serve, folder):
    ask = serve(read_only=True)
    answer = ask.get("/v1/search", params={"q": "storm"})
    assert (answer.status_code, answer.json()["type"]) == (409, "/docs#no-search")
    with Index.open(folder, "w") as index:
        Search.rebuild(index)
    ask.service._look()  # a reader finds the table once there is one
    assert ask.get("/v1/search", params={"q": "storm"}).json()["total"] == 2


@pytest.mark.parametrize("read_only", [True, False])
def test_a_table_that_is_removed_while_it_is_served_is_missing_at_once(serve, searched, texts, read_only):
    ask = serve(searched, read_only=read_only)
    assert ask.get("/v1/search?q=storm").status_code == 200
    for path in Path(searched).glob(f"{fulltext.NAME}*"):
        path.unlink()
    answer = ask.get("/v1/search?q=storm")
    assert (answer.status_code, answer.json()["type"]) == (409, "/docs#no-search")
    ask.until(lambda: ask.service.search is None)
    if not read_only:
        assert ask.post("/v1/admit", {"documents": [{"id": "h", "text": texts.heron}]}).status_code == 200
    assert ask.get("/v1/search?q=storm").status_code == 409
    assert ask.reports == []
