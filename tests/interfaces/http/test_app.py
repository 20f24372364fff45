"""What is asked of the service, and what it answers, operation by operation."""

import re
import shlex
from base64 import b64encode
from itertools import chain, pairwise
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

import neardup
from neardup import Checksum, Combined, Field, Index, MinHash, Sentences, SimHash, Trials, collapse
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.searching import SearchAnswer
from neardup.pipeline.searching import Search


def verdicts(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["verdicts"]


def test_judging_changes_nothing(serve, texts):
    ask = serve()
    for _ in range(2):
        said = verdicts(
            ask.post("/v1/judge", {"documents": [{"text": texts.storm}, {"text": texts.heron}, {"text": ""}]})
        )
        assert [one["verdict"] for one in said] == ["exact duplicate", "new", "empty"]
        assert (said[0]["of"], said[0]["kept"]) == ("a", "a")
    assert len(ask.serving.index) == 3


def test_a_near_duplicate_says_how_near(serve, texts):
    (said,) = verdicts(serve().post("/v1/judge", {"documents": [{"id": "new", "text": f"{texts.storm} as they say"}]}))
    assert said == {
        "verdict": "near duplicate",
        "id": "new",
        "of": said["of"],
        "kept": "a",
        "measure": "resemblance",
        "value": said["value"],
        "verified": True,
    }
    assert 0.6 <= said["value"] < 1
    assert round(said["value"], 4) == said["value"]


def test_a_document_does_not_repeat_itself(serve, texts):
    ask = serve()
    (said,) = verdicts(ask.post("/v1/judge", {"documents": [{"id": "c", "text": texts.baker}]}))
    assert said["verdict"] == "new"
    mixed = {"documents": [{"id": "c", "text": texts.baker}, {"text": texts.baker}]}
    assert ask.post("/v1/judge", mixed).status_code == 422


def test_admitting_remembers(serve, texts, folder):
    ask = serve()
    fields = {"site": "three", "rank": 7}
    (said,) = verdicts(ask.post("/v1/admit", {"documents": [{"id": "d", "text": texts.heron, "fields": fields}]}))
    assert said == {"verdict": "new", "id": "d"}
    with Index.open(folder) as reader:  # what is answered is acknowledged
        assert reader.get(["d"])[0].fields == fields
    (said,) = verdicts(ask.post("/v1/judge", {"documents": [{"text": texts.heron}]}))
    assert (said["verdict"], said["of"]) == ("exact duplicate", "d")


@pytest.mark.parametrize(
    "fields",
    [{"nope": 1}, {"rank": "seven"}, {"rank": 1 << 80}, {"site": [1]}, {"site": {"a": 1}}, {"rank": 1.5}, {"site": 3}],
    ids=str,
)
def test_fields_of_another_kind_are_refused(serve, texts, fields):
    ask = serve()
    answer = ask.post("/v1/admit", {"documents": [{"id": "d", "text": texts.heron, "fields": fields}]})
    assert answer.status_code == 422, answer.text
    assert len(ask.serving.index) == 3


def test_fields_of_several_kinds_in_one_batch_are_refused(serve, texts):
    documents = [{"id": str(n), "text": texts.heron, "fields": {"site": n}} for n in ("x", 1, None, True, 2.5)]
    for document in documents:
        document["id"] = f"id {document['id']}"
    assert serve().post("/v1/admit", {"documents": documents}).status_code == 422


ODD_IDS = [
    "http://a.example/b?c=d&e=%20#f",
    "a/b//c/../d",
    "100 %",
    "%2F",
    "..",
    "tab\tnewline\nreturn\r",
    "nul\0",
    "emoji 🦢 and \u202e direction",
    "+",
    " ",
    "?",
    "#",
    '"<script>',
    "é" * 512,
]


@pytest.mark.parametrize("name", ODD_IDS, ids=ascii)
def test_an_id_may_have_any_character(serve, texts, name):
    ask = serve()
    assert verdicts(ask.post("/v1/admit", {"documents": [{"id": name, "text": texts.heron}]}))[0]["verdict"] == "new"
    path = quote(name, safe="").replace(".", "%2E")
    found = ask.get(f"/v1/documents/{path}")
    assert found.status_code == 200, found.text
    assert found.json()["id"] == name
    assert ask.get(f"/v1/groups/{path}").json()["members"] == [name]
    assert ask("DELETE", f"/v1/documents/{path}").json()["removed"] == 1
    assert ask.get(f"/v1/documents/{path}").status_code == 404


def test_a_document_is_told_about(serve, texts):
    ask = serve()
    told = ask.get("/v1/documents/b").json()
    assert told.pop("admitted") == told.pop("seen")
    assert told == {"id": "b", "kept": "a", "fields": {"site": "two", "rank": None}, "text": None}
    assert ask.get("/v1/documents/b?text=true").json()["text"] == texts.again
    assert ask.get("/v1/documents/nobody").status_code == 404


def test_groups_come_in_pages(serve, texts):
    ask = serve()
    ask.post("/v1/admit", {"documents": [{"id": f"a{n}", "text": texts.storm} for n in range(30)]})
    whole = ask.get("/v1/groups/a7?size=100").json()
    assert (whole["kept"], whole["total"], whole["members"][0]) == ("a", 32, "a")
    parts = [ask.get(f"/v1/groups/a7?size=10&page={page}").json()["members"] for page in (1, 2, 3, 4, 5)]
    assert [len(part) for part in parts] == [10, 10, 10, 2, 0]
    assert list(chain(*parts)) == whole["members"]
    assert ask.get("/v1/groups/nobody").status_code == 404


def test_a_cluster_whose_representative_is_removed_has_another(serve):
    ask = serve()
    assert ask("DELETE", "/v1/documents/a").json() == {"removed": 1, "promoted": 1}
    assert ask.get("/v1/documents/b").json()["kept"] == "b"
    before = [ask.get(f"/v1/documents/{name}").json() for name in "bc"]
    assert ask("DELETE", "/v1/documents/a").status_code == 404
    assert ask("DELETE", "/v1/documents/nobody?promote=true").status_code in {404, 422}
    assert [ask.get(f"/v1/documents/{name}").json() for name in "bc"] == before
    assert ask("DELETE", "/v1/documents/c").json() == {"removed": 1, "promoted": 0}


def test_collapsing_is_that_of_the_library(serve, folder):
    ask = serve()
    hits = ["c", "nobody", "b", "a"]
    told = ask.post("/v1/collapse", {"hits": hits}).json()
    with Index.open(folder) as index:
        expected = collapse(hits, index=index)
    assert [one["kept"][0]["id"] for one in told["results"]] == expected.kept == ["c", "nobody", "b"]
    assert (told["hits"], told["groups"], told["hidden"], told["unsigned"]) == (4, 3, 1, 1)
    (hidden,) = told["results"][2]["hidden"]
    assert (hidden["id"], hidden["rank"], hidden["of"], hidden["rule"]) == ("a", 3, "b", "minhash")
    assert [one["group"] for one in told["results"]] == [str(group.id) for group in expected.page]
    listed = ask.post("/v1/collapse", {"hits": hits, "include": told["results"][2]["group"]}).json()
    assert [one["kept"][0]["id"] for one in listed["results"]] == ["b"]
    everything = ask.post("/v1/collapse", {"hits": hits, "enabled": False}).json()
    assert (everything["groups"], everything["hidden"]) == (4, 0)


def test_collapsing_again_is_answered_from_the_cache(serve, texts):
    ask = serve()
    first = ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json()
    assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json() == first
    assert "neardup_collapse_hits_total 1\n" in ask.get("/metrics").text
    ask.post("/v1/admit", {"documents": [{"id": "b", "text": texts.heron}]})
    assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json()["hidden"] == 0


def test_collapsing_by_a_field_and_by_both(serve):
    ask = serve()
    same = {"rule": "same", "field": "site"}
    told = ask.post("/v1/collapse", {"hits": ["a", "b", "c"], "by": [same]}).json()
    assert [[hit["id"] for hit in one["hidden"]] for one in told["results"]] == [["c"], []]
    assert told["results"][0]["hidden"][0]["value"] == "one"
    both = ask.post("/v1/collapse", {"hits": ["a", "b", "c"], "by": [same, {"rule": "near"}]}).json()
    assert [one["hides"] for one in both["results"]] == [2]
    two = ask.post("/v1/collapse", {"hits": ["a", "b", "c"], "by": [{"rule": "near", "keep": 2}]}).json()
    assert two["hidden"] == 0
    assert ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "same", "field": "nope"}]}).status_code == 422
    assert ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "other"}]}).status_code == 422


def test_hits_may_bring_their_texts_or_signatures(serve, texts):
    ask = serve()
    told = ask.post("/v1/collapse", {"hits": [{"id": "x", "text": texts.storm}, {"id": "y", "text": texts.again}]})
    assert told.json()["hidden"] == 1
    signed = ask.serving.index.scheme.sign([texts.storm, texts.again, ""])
    rows = [b64encode(row.tobytes()).decode() for row in signed.rows]
    hits = [{"id": "x", "signature": rows[0]}, {"id": "y", "signature": rows[1]}, {"id": "z"}]
    told = ask.post("/v1/collapse", {"hits": hits, "recipe": signed.recipe}).json()
    assert (told["hidden"], told["unsigned"]) == (1, 1)
    fields = [{"id": "x", "fields": {"color": "red"}}, {"id": "y", "fields": {"color": "red"}}]
    told = ask.post("/v1/collapse", {"hits": fields, "by": [{"rule": "same", "field": "color"}]}).json()
    assert told["hidden"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {"hits": ["a", {"id": "b"}]},
        {"hits": [{"id": "a", "signature": "AAAA"}], "recipe": "RECIPE"},
        {"hits": [{"id": "a", "signature": "no base64"}], "recipe": "RECIPE"},
        {"hits": [{"id": "a", "signature": "AAAA"}]},
        {"hits": [{"id": "a", "text": "b", "signature": "AAAA"}], "recipe": "RECIPE"},
        {"hits": [{"id": "a"}], "recipe": "of others"},
        {"hits": ["a"], "recipe": "RECIPE"},
        {"hits": ["a"], "page": 0},
        {"hits": ["a"], "top": 0},
        {"hits": ["a"], "include": "x"},
        {"hits": ["a"], "by": []},
        {"hits": []},
        {"hits": [""]},
    ],
    ids=str,
)
def test_hits_that_are_none_are_refused(serve, body):
    ask = serve()
    if body.get("recipe") == "RECIPE":
        body = body | {"recipe": ask.serving.index.scheme.recipe}
    assert ask.post("/v1/collapse", body).status_code == 422


@pytest.mark.parametrize(
    ("of", "hidden"),
    [({"of": "host"}, 1), ({"of": "domain"}, 2), ({"of": "path"}, 1), ({"of": "path", "levels": 2}, 0), ({}, 0)],
)
def test_hits_of_one_site(serve, of, hidden):
    urls = ["http://a.example.co.uk/x/1", "http://a.example.co.uk/x/2", "http://b.example.co.uk/"]
    hits = [{"id": url, "fields": {"url": url}} for url in urls]
    told = serve().post("/v1/collapse", {"hits": hits, "by": [{"rule": "same", "field": "url", **of}]})
    assert told.json()["hidden"] == hidden, told.text


def test_hits_may_be_collapsed_more_strictly(serve):
    ask = serve()
    for threshold, hidden in ((0.5, 1), (1.0, 0)):
        by = [{"rule": "near", "threshold": threshold}]
        assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"], "by": by}).json()["hidden"] == hidden
    assert ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "near", "threshold": 0}]}).status_code == 422


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
    ask.serving._look()  # a reader finds the table once there is one
    assert ask.get("/v1/search", params={"q": "storm"}).json()["total"] == 2


def test_comparing_and_explaining(serve, texts):
    ask = serve()
    told = ask.post("/v1/compare", {"a": {"id": "a"}, "b": {"text": texts.again}}).json()
    assert [one["scheme"] for one in told["schemes"]][:2] == ["minhash", "trials"]
    assert told["passages"][0]["words"] == len(texts.storm.split())
    told = ask.post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "b"}}).json()
    assert (told["scheme"], told["matches"], told["a_in_b"]) == ("minhash", True, 1.0)
    assert ask.post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "nobody"}}).status_code == 404
    assert ask.post("/v1/compare", {"a": {}, "b": {"text": ""}}).status_code == 422
    assert ask.post("/v1/compare", {"a": {"id": "a", "text": "a"}, "b": {"text": ""}}).status_code == 422


SCHEMES = [MinHash(), Trials(), Sentences(), SimHash(), Combined(), Checksum(fields=(Field(name="body"),)), Checksum()]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name} {len(scheme.columns)}")
def test_nobody_sees_fingerprints(serve, texts, tmp_path, scheme):
    """With every scheme: verdicts and rounded values, and no number as long as a hash."""
    fields = {"title": "T"} if "title" in scheme.columns else {}
    with Index.create(tmp_path / "other", scheme, key=bytes(range(16)), texts=True):
        pass
    ask = serve(str(tmp_path / "other"), key=bytes(range(16)))
    documents = [
        {"id": name, "text": text, "fields": fields} for name, text in (("a", texts.storm), ("b", texts.again))
    ]
    bodies = {
        "/v1/admit": {"documents": documents},
        "/v1/judge": {"documents": documents},
        "/v1/compare": {"a": {"id": "a"}, "b": {"id": "b"}},
        "/v1/explain": {"a": {"id": "a"}, "b": {"id": "b"}},
        "/v1/collapse": {"hits": ["a", "b"]},
    }
    for path, body in bodies.items():
        answer = ask.post(path, body)
        assert answer.status_code == 200, answer.text
        told = re.sub(r'"group":"\d+"', "", answer.text)  # a digest of the id
        assert re.search(r"\d{6,}|[0-9a-f]{12,}", told) is None, told


def test_scripts_find_it_described(serve):
    ask = serve()
    described = ask.get("/openapi.json")
    assert described.headers["content-type"] == "application/json"
    assert set(described.json()["paths"]) >= {"/v1/judge", "/v1/collapse", "/v1/documents/{id}", "/metrics"}
    page = ask.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "script" not in page.text
    assert not re.search(r"(?:src|href)=\"(?!/openapi.json)", page.text)


def test_pages_come_behind_the_gate(serve):
    from starlette.responses import HTMLResponse

    def pages(app, serving):
        async def start(_):
            return HTMLResponse(f"{len(serving.index)} documents", headers={"content-security-policy": "own"})

        async def broken(_):
            raise RuntimeError("a secret")

        app.add_route("/", start)
        app.add_route("/broken", broken)
        return lambda problem: f"<p>{problem.status}".encode()

    ask = serve(pages=pages)
    answer = ask.get("/")
    assert (answer.text, answer.headers["content-security-policy"]) == ("3 documents", "own")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ask("POST", "/").status_code == 405
    browser = {"accept": "text/html,*/*"}
    assert ask.get("/nowhere", headers=browser).text == "<p>404"
    assert ask.get("/?" + "q" * 5000, headers=browser).text == "<p>414"
    assert ask.get("/v1/nowhere", headers=browser).headers["content-type"] == "application/problem+json"
    answer = ask.get("/broken")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert "a secret" in ask.reports[-1]


GUIDE = Path(__file__).resolve().parents[3] / "docs/guide/serving.md"


def curls(page):
    """Give the commands of a page that ask the service at its usual place, and what it shows as the answer."""
    for block in re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            *typed, shown = part.rstrip("\n").split("\n")
            words = shlex.split("\n".join(typed).replace("\\\n", " "))
            if words and words[0] == "curl":
                yield words[1:], shown


def test_the_examples_of_the_guide(serve, tmp_path):
    from neardup.pipeline.adding import add_files

    sample = Path(neardup.__file__).parent / "samples/collection.jsonl"
    add_files([str(sample)], str(tmp_path / "news"), texts=True)
    with Index.open(tmp_path / "news", "w") as index:
        Search.rebuild(index)
    ask = serve(str(tmp_path / "news"))
    asked = 0
    for words, shown in curls(GUIDE.read_text("utf-8")):
        given = dict(pairwise(words))
        (address,) = [word for word in words if word.startswith("http://127.0.0.1:8000/")]
        path, body = address.removeprefix("http://127.0.0.1:8000"), given.get("-d")
        method = given.get("-X", "POST" if body else "GET")
        headers = {"content-type": "application/json"} if "Content-Type: application/json" in words else {}
        answer = ask(method, path, content=body, headers=headers)
        pattern = ".*".join(map(re.escape, shown.split("...")))
        assert re.fullmatch(pattern, answer.text), (path, answer.text)
        asked += 1
    assert asked >= 7


@pytest.fixture
def titled(tmp_path, texts):
    """An index whose scheme signs titles, too."""
    scheme = Checksum(fields=(Field(name="title"), Field(name="body")))
    with Index.create(tmp_path / "titled", scheme, texts=True) as index:
        index.admit(["a", "b"], [texts.storm, texts.storm], {"title": ["Storm", "Storm"]})
    return str(tmp_path / "titled")


def test_a_scheme_that_signs_fields_takes_the_text_of_a_hit_as_the_body(serve, titled, texts):
    titles = {"a": "A", "b": "A", "c": "B"}
    hits = [{"id": own, "text": texts.storm, "fields": {"title": title}} for own, title in titles.items()]
    told = serve(titled).post("/v1/collapse", {"hits": hits})
    assert told.status_code == 200, told.text
    assert [[one["id"] for one in group["kept"]] for group in told.json()["results"]] == [["a"], ["c"]]


def test_documents_are_explained_by_all_that_is_signed_of_them(serve, titled):
    told = serve(titled).post("/v1/explain", {"a": {"id": "a"}, "b": {"id": "b"}}).json()
    assert (told["matches"], told["value"], told["reason"]) == (True, 1.0, None)
