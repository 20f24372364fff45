"""Pages of crawls, sent over HTTP."""

from dataclasses import replace
from functools import partial

import pytest

from neardup import CrawlFilter, Index
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


@pytest.fixture
def crawled(tmp_path):
    Index.create(tmp_path / "crawled", texts=True, fields={"url": "string", "host": "string", "rank": int}).close()
    return str(tmp_path / "crawled")


def pages(*given):
    return {"pages": [{"url": url, "text": text} for url, text in given]}


def verdicts(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["verdicts"]


def told(verdict):
    """Give a verdict of the library as the service writes it."""
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


def test_judging_changes_nothing(serve, texts, crawled):
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


@pytest.mark.parametrize("key", ["", "a" * 256, "a\x01b"])
def test_keys_are_short_and_printable(serve, texts, crawled, key):
    answer = serve(crawled).post("/v1/seen", pages(("http://a.example/", texts.storm)), headers={KEY_HEADER: key})
    assert answer.status_code == 422
    assert "Idempotency-Key must be one key of 1 to 255 printable characters" in answer.json()["detail"]


def test_several_keys_are_refused(serve, texts, crawled):
    headers = [(KEY_HEADER, "one"), (KEY_HEADER, "two")]
    assert (
        serve(crawled).post("/v1/seen", pages(("http://a.example/", texts.storm)), headers=headers).status_code == 422
    )


def test_a_key_belongs_to_one_request(serve, texts, crawled):
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


PAGE = "<title>Storm</title><nav>Start News</nav><article><p>{}</article>"


def test_pages_may_be_html(serve, texts, crawled):
    ask = serve(crawled)
    pages = [{"url": f"http://{name}.example/", "html": PAGE.format(texts.storm * 3)} for name in "ab"]
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


def test_pages_are_read_as_those_of_the_index(serve, texts, crawled):
    visible = Extraction(view="visible")
    with Index.open(crawled, "w") as index:
        require_extraction(index, visible)
    pages = {"pages": [{"url": "http://a.example/", "html": PAGE.format(texts.storm)}]}
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
