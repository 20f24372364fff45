"""The service as a whole, in this process."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

import neardup
from neardup import Checksum, Combined, Field, Index, MinHash, Sentences, SimHash, Trials
from neardup.pipeline.query.search import Search

SCHEMES = [MinHash(), Trials(), Sentences(), SimHash(), Combined(), Checksum(fields=(Field(name="body"),)), Checksum()]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name} {len(scheme.columns)}")
def test_nobody_sees_fingerprints(serve, texts, tmp_path, scheme):
    """With every scheme: verdicts and measures, and no whole number as long as a hash."""
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
        told = re.sub(r'"group":"\d+"|\b\d\.\d+', "", answer.text)  # a digest of the id; a measure
        assert re.search(r"\d{6,}|[0-9a-f]{12,}", told) is None, told


def test_scripts_find_it_described(serve):
    ask = serve()
    described = ask.get("/openapi.json")
    assert described.headers["content-type"] == "application/json"
    assert set(described.json()["paths"]) >= {"/v1/judge", "/v1/collapse", "/v1/documents/{id}", "/metrics"}
    page = ask.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    assert not re.search(r"(?:src|href)=\"(?![/#])", page.text)


GUIDE = Path(__file__).resolve().parents[3] / "docs/guide/serving.md"


def curls(page):
    """Return the commands of a page that ask the service at its usual place, and what it shows as the answer."""
    for block in re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            *typed, shown = part.rstrip("\n").split("\n")
            words = shlex.split("\n".join(typed).replace("\\\n", " "))
            if words and words[0] == "curl":
                yield words[1:], shown


def test_the_examples_of_the_guide(serve, tmp_path):
    from neardup.pipeline.files.ingestion import add_files

    sample = Path(neardup.__file__).parent / "samples/collection.jsonl"
    add_files([str(sample)], str(tmp_path / "news"), search=True)
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


def test_under_a_prefix_all_links_begin_with_it(serve, texts, folder):
    with Index.open(folder, "w") as index:
        Search.open(index, make=True).close()
    ask = serve(prefix="/near/dup")
    paths = [
        "/near/dup/",
        "/near/dup",
        "/",
        "/?q=harbour",
        "/near/dup/documents?id=a",
        "/compare?a=a&b=b",
        "/near/dup/docs",
    ]
    met = set()
    for path in [*paths, "/near/dup/nothing"]:
        page = ask.get(path, headers={"Accept": "text/html"})
        assert page.status_code == (404 if path.endswith("nothing") else 200), page.text
        links = re.findall(r'(?:src|href|action)="(/[^"]*)"', page.text)
        assert links
        assert all(link.startswith("/near/dup/") for link in links), links
        met.update(link.replace("&amp;", "&") for link in links)
    assert len(met) > 6
    for link in met:
        for way in (link, link.removeprefix("/near/dup")):  # proxies may remove it
            assert ask.get(way).status_code == 200, way
    assert ask.post("/near/dup/v1/judge", {"documents": [{"text": texts.storm}]}).status_code == 200
    assert ask.get("/near/dup/openapi.json").json()["servers"] == [{"url": "/near/dup"}]
    assert ask.get("/near/duplicate").status_code == 404
    assert "servers" not in serve().get("/openapi.json").json()


def test_under_a_prefix_problems_refer_to_their_description(serve):
    ask = serve(prefix="/near/dup")
    unknown = ask.get("/near/dup/v1/documents/nope").json()
    assert unknown["type"] == "/near/dup/docs#no-document"
    assert 'id="no-document"' in ask.get(unknown["type"]).text
    detail = ask.post("/v1/judge", {}).json()["detail"]
    assert (
        detail
        == "Object missing required field `documents`. /near/dup/docs lists the fields of each body and their rules."
    )
    detail = ask.get("/v1/search?q=a&sort=x").json()["detail"]
    assert detail.endswith("`$.sort`. /near/dup/docs lists the parameters of each address and their rules.")
    assert serve().get("/v1/documents/nope").json()["type"] == "/docs#no-document"


def test_all_methods_of_an_address_are_listed(serve):
    refused = serve()("PUT", "/v1/documents/a")
    assert (refused.status_code, refused.headers["allow"]) == (405, "DELETE, GET, HEAD")
