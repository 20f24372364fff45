"""Operations on documents, asked over HTTP."""

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from urllib.parse import quote

import pytest

from neardup import Checksum, CrawlFilter, Field, Index
from neardup.interfaces.http.operations import KEY_HEADER
from neardup.interfaces.http.service import Service
from neardup.model.errors import StorageRefused
from neardup.model.verdicts import as_record
from neardup.pipeline.crawl.templates import learn_templates, rule_of
from neardup.pipeline.index.page_terms import require_extraction
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.text.host_templates import HostTemplates
from neardup.urls import Addresses, UrlRules
from neardup.web_pages import Extraction


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
        assert (said[0]["of"], said[0]["representative"]) == ("a", "a")
    assert len(ask.service.index) == 3


def test_a_near_duplicate_says_how_near(serve, texts):
    (said,) = verdicts(serve().post("/v1/judge", {"documents": [{"id": "new", "text": f"{texts.storm} as they say"}]}))
    assert said == {
        "verdict": "near duplicate",
        "id": "new",
        "of": said["of"],
        "representative": "a",
        "measure": "resemblance",
        "value": said["value"],
        "verified": True,
    }
    assert 0.6 <= said["value"] < 1


def test_a_document_does_not_repeat_itself(serve, texts):
    ask = serve()
    (said,) = verdicts(ask.post("/v1/judge", {"documents": [{"id": "c", "text": texts.baker}]}))
    assert said["verdict"] == "new"
    mixed = {"documents": [{"id": "c", "text": texts.baker}, {"text": texts.baker}]}
    assert ask.post("/v1/judge", mixed).status_code == 422


def test_admitting_the_same_text_again_sets_its_fields(serve, texts):
    ask = serve()
    document = {"id": "d", "text": texts.heron, "fields": {"site": "three", "rank": 7}}
    verdicts(ask.post("/v1/admit", {"documents": [document]}))
    before = ask.get("/v1/documents/d").json()
    (said,) = verdicts(ask.post("/v1/admit", {"documents": [document | {"fields": {"site": "four"}}]}))
    assert said == {"verdict": "new", "id": "d"}
    after = ask.get("/v1/documents/d").json()
    assert after["fields"] == {"site": "four", "rank": 7}
    assert after == before | {"fields": after["fields"], "last_seen": after["last_seen"]}


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
    assert len(ask.service.index) == 3


@pytest.mark.parametrize(("path", "name"), [("admit", "documents"), ("judge", "documents"), ("seen", "pages")])
def test_each_document_needs_the_fields_that_are_signed_whatever_the_others_have(serve, titled, texts, path, name):
    ask = serve(titled)
    key = "id" if name == "documents" else "url"
    sent = [{key: f"https://{own}.example/", "text": texts.heron, "fields": {"title": "Heron"}} for own in "cde"]
    del sent[1]["fields"]
    for documents, place in (sent, 1), (sent[1:2], 0):
        refused = ask.post(f"/v1/{path}", {name: documents})
        rule = "has no 'title', which the scheme of the index requires; send null if it is unknown"
        assert (refused.status_code, refused.json()["detail"]) == (422, f"{name}[{place}].fields {rule}")
    sent[1]["fields"] = {"title": None}
    for documents in (sent, sent[1:2]):
        answer = verdicts(ask.post(f"/v1/{path}", {name: documents}))
        assert answer[len(documents) // 2]["verdict"] in {"empty", "known"}


@pytest.mark.parametrize("path", ["judge", "admit"])
def test_very_many_unknown_fields_are_refused_before_they_are_columns(serve, path):
    """Each name would otherwise be a column with a value of each document."""
    names = [[f"f{number}-{field}" for field in range(50)] for number in range(1_000)]
    documents = [{"id": str(number), "text": "", "fields": dict.fromkeys(own)} for number, own in enumerate(names)]
    ask = serve()
    tracemalloc.start()
    try:
        answer = ask.post(f"/v1/{path}", {"documents": documents})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (answer.status_code, most < 100 << 20) == (422, True)
    assert "field 'f0-0' is unknown" in answer.text


def test_times_are_written_alike(serve, tmp_path, texts):
    with Index.create(tmp_path / "dated", fields={"at": "time"}) as index:
        index.admit(["d"], [texts.heron], {"at": ["2026-01-31T14:00:00+02:00"]})
        admitted = index.get(["d"])[0].first_seen
    found = serve(str(tmp_path / "dated")).get("/v1/documents/d").json()
    assert found["fields"] == {"at": "2026-01-31T12:00:00Z"}
    assert found["first_seen"] == f"{admitted:%Y-%m-%dT%H:%M:%S.%f}Z"


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


def test_a_document_has_its_times_fields_and_text(serve, texts):
    ask = serve()
    told = ask.get("/v1/documents/b").json()
    assert told.pop("first_seen") == told.pop("changed_at") == told.pop("last_seen")
    assert told == {"id": "b", "representative": "a", "fields": {"site": "two", "rank": None}, "text": None}
    assert ask.get("/v1/documents/b?text=true").json()["text"] == texts.again
    assert ask.get("/v1/documents/nobody").status_code == 404


def test_groups_come_in_pages(serve, texts):
    ask = serve()
    ask.post("/v1/admit", {"documents": [{"id": f"a{n}", "text": texts.storm} for n in range(30)]})
    whole = ask.get("/v1/groups/a7?size=100").json()
    assert (whole["representative"], whole["total"], whole["members"][0]) == ("a", 32, "a")
    parts = [ask.get(f"/v1/groups/a7?size=10&page={page}").json()["members"] for page in (1, 2, 3, 4, 5)]
    assert [len(part) for part in parts] == [10, 10, 10, 2, 0]
    assert list(chain(*parts)) == whole["members"]
    assert ask.get("/v1/groups/nobody").status_code == 404


def test_a_cluster_whose_representative_is_removed_has_another(serve):
    ask = serve()
    assert ask("DELETE", "/v1/documents/a").json() == {"removed": 1, "promoted": 1}
    assert ask.get("/v1/documents/b").json()["representative"] == "b"
    before = [ask.get(f"/v1/documents/{name}").json() for name in "bc"]
    assert ask("DELETE", "/v1/documents/a").status_code == 404
    assert ask("DELETE", "/v1/documents/nobody?promote=true").status_code in {404, 422}
    assert [ask.get(f"/v1/documents/{name}").json() for name in "bc"] == before
    assert ask.post("/v1/remove", {"ids": ["nobody", "c", "c"]}).json() == {"removed": 1, "promoted": 0}


def test_documents_expire(serve):
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
        ({}, "missing required field `before`"),
        ({"before": None}, "Expected `str`, got `null` - at `$.before`"),
        ({"before": 1769904000}, "Expected `str`, got `int` - at `$.before`"),
        ({"before": "yesterday"}, "before must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z, or an age in"),
        ({"before": "2001-01-01T00:00:00Z", "by": "site"}, "Invalid enum value 'site' - at `$.by`"),
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


OK = {"id": "n", "text": "x"}
PAGE = {"url": "http://n.example/", "text": "x"}
UNKNOWN = "field 'zz' is unknown; this index has rank, site"
RECIPE = "has a signature, but the request has no recipe; send the recipe of the signatures, too."
SIGNATURE = "has a text; with a recipe, each {} must have a signature instead of a text."


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (
            "judge",
            {"documents": [OK, {"text": "y"}]},
            "Document 1 has no id; send an id with every document, or leave out all ids.",
        ),
        ("admit", {"documents": [OK, {**OK, "fields": {"zz": 1}}]}, UNKNOWN),
        ("judge", {"documents": [{"text": "x"}, {"text": "y", "fields": {"zz": 1}}]}, UNKNOWN),
        ("admit", {"documents": [OK, {**OK, "signature": "AA"}]}, f"Document 1 {RECIPE}"),
        ("judge", {"documents": [{}, {"text": "y"}], "recipe": "r"}, f"Document 1 {SIGNATURE.format('document')}"),
        ("seen", {"pages": [PAGE, {**PAGE, "fields": {"zz": 1}}]}, UNKNOWN),
        (
            "seen",
            {"pages": [PAGE, {**PAGE, "html": "<p>x"}]},
            "Page 1 has HTML and a text; a page must have only one of text, html and signature.",
        ),
        (
            "seen/judge",
            {"pages": [{"url": "http://n.example/", "html": "<p>x"}], "recipe": "r"},
            "Page 0 has HTML, but the request has a recipe; with a recipe, send signatures instead of html.",
        ),
        (
            "collapse",
            {"hits": ["a", "b", {"id": "c"}]},
            "Some hits are ids, and others are objects; send all as ids, or all as objects.",
        ),
        ("collapse", {"hits": [{"id": "a"}, {"id": "b", "signature": "AA"}]}, f"Hit 1 {RECIPE}"),
        (
            "collapse",
            {"hits": [{"id": "a"}, {"id": "b", "text": "x"}], "recipe": "r"},
            f"Hit 1 {SIGNATURE.format('hit')}",
        ),
    ],
)
def test_the_invalid_record_of_a_batch_is_named(serve, path, body, detail):
    ask = serve()
    answer = ask.post(f"/v1/{path}", body)
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    assert len(ask.service.index) == 3


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/documents/a"), ("GET", "/v1/groups/a"), ("DELETE", "/v1/documents/a")]
)
@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("x", "Unknown parameter 'x'. /docs lists the parameters of each address and their rules."),
        ("id", "'id' occurs twice."),
    ],
)
def test_the_id_of_a_path_is_unknown_in_the_query(serve, method, path, name, detail):
    answer = serve()(method, path, params={name: "b"})
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)


@pytest.fixture
def crawled(tmp_path):
    Index.create(tmp_path / "crawled", texts=True, fields={"url": "string", "host": "string", "rank": int}).close()
    return str(tmp_path / "crawled")


def pages(*given):
    return {"pages": [{"url": url, "text": text} for url, text in given]}


def told(verdict):
    """Return a verdict of the library as the service writes it."""
    record = {**as_record(verdict), "representative": verdict.representative}
    return {name: value for name, value in record.items() if value is not None}


def test_answers_are_those_of_the_filter(serve, texts, crawled):
    ask = serve(crawled)
    visits = [
        [("http://a.example/storm", texts.storm), ("HTTP://A.example:80/storm?utm_source=x#top", texts.storm)],
        [("http://b.example/", texts.storm), ("http://c.example/", texts.again), ("http://d.example/", "")],
        [("http://c.example/", f"{texts.again} x"), ("http://b.example/", texts.baker)],
    ]
    with Index.create(texts=True, fields={"url": "string", "host": "string", "rank": int}) as index:
        own = CrawlFilter(index)
        for visit in visits:
            for path, judged in (("/v1/seen/judge", own.judge_each), ("/v1/seen", own.judge_and_admit)):
                said = verdicts(ask.post(path, pages(*visit)))
                assert [one.pop("id") for one in said] == [own.id_of(url) for url, _ in visit]
                assert said == [{**told(verdict), "verdict": verdict.name} for verdict in judged(visit)]


@pytest.mark.parametrize("path", ["/v1/seen", "/v1/seen/judge"])
def test_the_normal_form_of_each_url_is_made_once(serve, texts, crawled, monkeypatch, path):
    ask, asked, own = serve(crawled), [], Addresses.id_of
    monkeypatch.setattr(Addresses, "id_of", lambda self, url: asked.append(url) or own(self, url))
    for _ in range(2):
        assert len(verdicts(ask.post(path, pages(("http://a.example/", texts.storm))))) == 1
    assert asked == ["http://a.example/"] * 2


def test_what_is_answered_is_recorded(serve, texts, crawled):
    ask = serve(crawled)
    page = {"url": "HTTP://a.example/#x", "text": texts.heron, "fields": {"rank": 3}}
    assert verdicts(ask.post("/v1/seen", {"pages": [page]}))[0] == {"verdict": "new", "id": "http://a.example/"}
    with Index.open(crawled) as reader:
        fields = {"url": "HTTP://a.example/#x", "host": "a.example", "rank": 3}
        assert reader.get(["http://a.example/"])[0].fields == fields


def test_judging_pages_changes_nothing(serve, texts, crawled):
    ask = serve(crawled, read_only=True)
    for _ in range(2):
        assert verdicts(ask.post("/v1/seen/judge", pages(("http://a.example/", texts.storm))))[0]["verdict"] == "new"
    assert ask.post("/v1/seen", pages(("http://a.example/", texts.storm))).status_code == 409


def test_a_repeated_request_gets_the_same_answer(serve, texts, crawled):
    body = pages(("http://a.example/", texts.storm), ("http://b.example/", texts.again))
    ask = serve(crawled)
    first = ask.post("/v1/seen", body, headers={KEY_HEADER: "one"})
    assert [one["verdict"] for one in verdicts(first)] == ["new", "near duplicate"]
    together = ask.together(*[(("POST", "/v1/seen"), {"json": body, "headers": {KEY_HEADER: "one"}})] * 5)
    assert {one.content for one in together} == {first.content}
    ask.service.close()
    again = serve(crawled)
    assert again.post("/v1/seen", body, headers={KEY_HEADER: "one"}).content == first.content
    known = verdicts(again.post("/v1/seen", body, headers={KEY_HEADER: "two"}))
    assert [(one["verdict"], one["changed"], one["representative"]) for one in known] == [
        ("known", False, "http://a.example/")
    ] * 2
    assert len(again.service.index) == 2


@pytest.mark.parametrize("keys", [[""], ["a" * 256], ["a\x01b"], ["one", "two"]], ids=ascii)
def test_a_request_has_one_short_and_printable_key(serve, texts, crawled, keys):
    headers = [(KEY_HEADER, key) for key in keys]
    answer = serve(crawled).post("/v1/seen", pages(("http://a.example/", texts.storm)), headers=headers)
    assert answer.status_code == 422
    assert "Idempotency-Key must be one key of 1 to 255 printable characters" in answer.json()["detail"]


def test_a_key_belongs_to_one_request(serve, crawled):
    ask = serve(crawled)
    assert ask.post("/v1/seen", pages(("http://a.example/", "x")), headers={KEY_HEADER: "one"}).status_code == 200
    answer = ask.post("/v1/seen", pages(("http://b.example/", "x")), headers={KEY_HEADER: "one"})
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "Idempotency-Key was used for another request; each request needs its own key",
    )
    wrong = {"pages": [{"url": "http://c.example/", "text": "x", "fields": {"nope": 1}}]}
    assert ask.post("/v1/seen", wrong, headers={KEY_HEADER: "two"}).status_code == 422
    corrected = pages(("http://c.example/", "x"))  # with the key of a request that was refused
    assert ask.post("/v1/seen", corrected, headers={KEY_HEADER: "two"}).status_code == 200


@pytest.mark.parametrize(
    "page",
    [
        *({"url": "", "text": "x"}, {"url": " ", "text": "x"}, {"url": 1, "text": "x"}, {"text": "x"}),
        *({"url": "http://a.example/"}, {"url": "http://a.example/", "text": "x", "fields": {"nope": 1}}),
    ],
    ids=str,
)
def test_invalid_pages_are_refused(serve, crawled, page):
    ask = serve(crawled)
    good = {"url": "http://b.example/", "text": "x"}
    for path in ("/v1/seen", "/v1/seen/judge"):
        assert ask.post(path, {"pages": [good, page]}).status_code == 422
    assert len(ask.service.index) == 0


def test_nearly_unchanged_pages_may_count_as_unchanged(serve, texts, crawled):
    ask = serve(crawled)
    url = "http://a.example/"
    ask.post("/v1/seen", pages((url, texts.storm)))
    body = pages((url, texts.again))
    (changed,) = verdicts(ask.post("/v1/seen/judge", body))
    assert (changed["changed"], changed["contained"]) == (True, 1.0)
    assert 0.5 < changed["resemblance"] < 1
    for path in ("/v1/seen/judge", "/v1/seen"):
        (same,) = verdicts(ask.post(path, body | {"changed_at_least": 0.5}))
        assert (same["changed"], same["representative"]) == (False, url)


def test_the_rules_of_hosts_count(serve, texts, crawled):
    addresses = Addresses(rules=UrlRules({"a.example": HostRules(final_slash=RuleEvidence(12, 12, 1.0))}))
    early = serve(crawled, read_only=True)
    assert early.get("/v1/index").json()["addresses"] == Addresses().id
    ask = serve(crawled, addresses=addresses)
    assert ask.get("/v1/index").json()["addresses"] == addresses.id
    said = verdicts(ask.post("/v1/seen", pages(("http://a.example/x/", texts.storm), ("http://a.example/x", "other"))))
    assert [one["verdict"] for one in said] == ["new", "known"]
    assert early.service.visits().addresses.now.rules is None
    early.service.index.refresh()
    assert early.get("/v1/index").json()["addresses"] == addresses.id
    ask.service.close()
    ask = serve(crawled, read_only=True)
    assert ask.get("/v1/index").json()["addresses"] == addresses.id
    (known,) = verdicts(ask.post("/v1/seen/judge", pages(("http://a.example/x/", "other"))))
    assert (known["verdict"], known["changed"]) == ("known", False)
    with pytest.raises(StorageRefused, match="its ids follow the URL rules"):
        Service(partial(Index.open, crawled), addresses=Addresses(rules=UrlRules()))


def test_admissions_are_increasing_numbers(serve, texts, crawled):
    ask = serve(crawled)
    ask.post("/v1/seen", pages(("http://a.example/", texts.storm), ("http://b.example/", texts.again)))
    answer = ask.post("/v1/admissions", {"ids": ["http://b.example/", "nobody", "http://a.example/"]}).json()
    assert answer == {"admissions": [{"number": 1, "reported": -1}, None, {"number": 0, "reported": 0}], "next": 2}


MARKUP = "<title>Storm</title><nav>Start News</nav><article><p>{}</article>"


def test_pages_may_be_html(serve, texts, crawled):
    ask = serve(crawled)
    pages = [{"url": f"http://{name}.example/", "html": MARKUP.format(texts.storm * 3)} for name in "ab"]
    said = verdicts(ask.post("/v1/seen", {"pages": [*pages, {"url": "http://c.example/", "text": texts.baker}]}))
    assert [one["verdict"] for one in said] == ["new", "exact duplicate", "new"]
    assert verdicts(ask.post("/v1/seen/judge", {"pages": pages}))[0]["verdict"] == "known"
    assert ask.get("/v1/index").json()["extraction"] == Extraction().identity
    for wrong in ({"text": "x"}, {"signature": "x"}):
        assert ask.post("/v1/seen/judge", {"pages": [pages[0] | wrong]}).status_code == 422
    refused = ask.post("/v1/seen", {"pages": pages, "recipe": "x"})
    assert (refused.status_code, refused.json()["detail"][:45]) == (
        422,
        "Page 0 has HTML, but the request has a recipe",
    )


def test_fields_of_pages_are_those_of_their_html_unless_they_are_sent(serve, tmp_path):
    scheme = Checksum(fields=(Field(name="title"),))
    Index.create(tmp_path / "checksums", scheme, fields={"title": "string", "lang": "string"}).close()
    ask = serve(tmp_path / "checksums")
    html = "<html lang=en><title>Ferry</title><p>one"
    pages = [{"url": f"http://{name}.example/", "html": html} for name in "ab"]
    pages += [{"url": "http://c.example/", "html": html, "fields": {"title": "Storm", "lang": None}}]
    said = verdicts(ask.post("/v1/seen", {"pages": pages}))
    assert [one["verdict"] for one in said] == ["new", "exact duplicate", "new"]
    fields = [ask.get(f"/v1/documents/http%3A%2F%2F{name}.example%2F").json()["fields"] for name in "ac"]
    assert fields == [{"title": "Ferry", "lang": "en"}, {"title": "Storm", "lang": None}]


def test_pages_are_read_as_those_of_the_index(serve, texts, crawled):
    visible = Extraction(view="visible")
    with Index.open(crawled, "w") as index:
        require_extraction(index, visible)
    pages = {"pages": [{"url": "http://a.example/", "html": MARKUP.format(texts.storm)}]}
    for own in (None, visible):
        assert verdicts(serve(crawled, extraction=own, read_only=True).post("/v1/seen/judge", pages))
    for read_only in (True, False):
        with pytest.raises(StorageRefused, match="were read in the text view visible") as caught:
            Service(partial(Index.open, crawled), extraction=Extraction(), read_only=read_only)
        assert caught.value.code == "other view"


def test_pages_read_by_another_version_are_refused_one_by_one(serve, texts, crawled):
    """Texts are still answered."""
    with Index.open(crawled, "w") as index:
        index.store.restate(extraction=Extraction().identity | {"extractor": "resiliparse 0.1"})
    ask = serve(crawled)
    answer = ask.post("/v1/seen/judge", {"pages": [{"url": "http://a.example/", "html": "a"}]})
    assert answer.status_code == 422
    assert "another text view" in answer.json()["detail"]
    assert verdicts(ask.post("/v1/seen/judge", {"pages": [{"url": "http://a.example/", "text": texts.storm}]}))


def test_a_view_is_recorded_with_the_first_page_only(crawled):
    Service(partial(Index.open, crawled), extraction=Extraction(view="visible")).close()
    with Index.open(crawled) as index:
        assert index.extraction is None


def test_pages_are_read_with_the_templates_that_the_index_keeps(serve, tmp_path):
    menu = "".join(f"<p>line {number} of the menu that all pages have</p>" for number in range(12))
    texts = [" ".join(f"word{number}x{own}" for own in range(30)) for number in range(22)]
    found = [(f"http://a.example/{n}", f"<title>{n}</title>{menu}<p>{text}</p>") for n, text in enumerate(texts)]
    learned = learn_templates(found)
    extraction = Extraction(templates=learned)
    with Index.create(tmp_path / "kept", templates=extraction.templates) as index:
        require_extraction(index, extraction)
    ask = serve(tmp_path / "kept")
    given = [{"url": url, "html": html} for url, html in found]
    assert {one["verdict"] for one in verdicts(ask.post("/v1/seen", {"pages": given}))} == {"new"}
    assert ask.get("/v1/index").json()["extraction"] == extraction.identity
    ask.service.close()
    grown = Extraction(templates=learned.updated([replace(learned.templates[0], version=2)]))
    with Index.open(tmp_path / "kept", "w") as index:
        reader = serve(tmp_path / "kept")  # it cannot write, as another process does
        assert "is writing to it" in reader.reports[0]
        refused = reader.post("/v1/seen", {"pages": given[:1]})
        assert (refused.status_code, refused.json()["detail"][:32]) == (409, "Another process writes the index")
        assert verdicts(reader.post("/v1/seen/judge", {"pages": given[:1]}))[0]["verdict"] == "known"
        require_extraction(index, grown)
        assert verdicts(reader.post("/v1/seen/judge", {"pages": given[:1]}))[0]["verdict"] == "known"


def test_templates_must_be_those_of_the_index(crawled):
    templates = HostTemplates([], rule_of(Extraction()))
    with pytest.raises(StorageRefused, match="without templates"):
        Service(partial(Index.open, crawled), extraction=Extraction(templates=templates))
