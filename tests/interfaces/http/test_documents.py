"""Operations on documents, asked over HTTP."""

import tracemalloc
from datetime import UTC, datetime
from itertools import chain
from urllib.parse import quote

import pytest

from neardup import Index


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


def test_a_document_is_told_about(serve, texts):
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


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (
            "judge",
            {"documents": [OK, {"text": "y"}]},
            "Document 1 has no id; send an id with every document, or leave out all ids.",
        ),
        (
            "admit",
            {"documents": [OK, {**OK, "fields": {"zz": 1}}]},
            "field 'zz' is unknown; this index has rank, site",
        ),
        (
            "judge",
            {"documents": [{"text": "x"}, {"text": "y", "fields": {"zz": 1}}]},
            "field 'zz' is unknown; this index has rank, site",
        ),
        (
            "admit",
            {"documents": [OK, {**OK, "signature": "AA"}]},
            "Document 1 has a signature, but the request has no recipe; send the recipe of the signatures, too.",
        ),
        (
            "judge",
            {"documents": [{}, {"text": "y"}], "recipe": "r"},
            "Document 1 has a text; with a recipe, each document must have a signature instead of a text.",
        ),
        (
            "seen",
            {"pages": [PAGE, {**PAGE, "fields": {"zz": 1}}]},
            "field 'zz' is unknown; this index has rank, site",
        ),
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
        (
            "collapse",
            {"hits": [{"id": "a"}, {"id": "b", "signature": "AA"}]},
            "Hit 1 has a signature, but the request has no recipe; send the recipe of the signatures, too.",
        ),
        (
            "collapse",
            {"hits": [{"id": "a"}, {"id": "b", "text": "x"}], "recipe": "r"},
            "Hit 1 has a text; with a recipe, each hit must have a signature instead of a text.",
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
        ("x", "Object contains unknown field `x`. /docs lists the parameters of each address and their rules."),
        ("id", "'id' occurs twice."),
    ],
)
def test_the_id_of_a_path_is_unknown_in_the_query(serve, method, path, name, detail):
    answer = serve()(method, path, params={name: "b"})
    assert (answer.status_code, answer.json()["detail"]) == (422, detail)
