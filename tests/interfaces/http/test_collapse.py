"""The collapse of ranked hits, asked over HTTP."""

from base64 import b64encode

import pytest

from neardup import Index, SimHash, collapse


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


@pytest.mark.parametrize("more", [{}, {"verify": "exact", "size": 10}, {"by": [{"rule": "same", "field": "site"}]}])
def test_a_query_without_hits_has_no_groups(serve, more):
    told = serve().post("/v1/collapse", {"hits": [], **more})
    assert told.status_code == 200
    assert told.json() == dict.fromkeys(["hits", "examined", "unsigned", "groups", "hidden", "pages"], 0) | {
        "page": 1,
        "results": [],
    }


def test_collapsing_again_is_answered_from_the_cache(serve, texts):
    ask = serve()
    first = ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json()
    assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"]}).json() == first
    assert "neardup_collapse_hits_total 1.0\n" in ask.get("/metrics").text
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
    refused = ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "same", "field": "nope"}]})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "field 'nope' is unknown; this index has rank, site",
    )
    assert ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "other"}]}).status_code == 422


def test_a_page_of_hits_none_of_which_has_a_field_is_not_an_error_and_the_field_is_reported(serve):
    rules = [{"rule": "same", "field": "color"}, {"rule": "same", "field": "site"}, {"rule": "near"}]
    hits = [{"id": "x"}, {"id": "y", "fields": {"rank": 1}}]
    told = serve().post("/v1/collapse", {"hits": hits, "by": rules}).json()
    assert (told["hidden"], told["missing_fields"]) == (0, ["color"])
    hits[1]["fields"]["color"] = None
    assert "missing_fields" not in serve().post("/v1/collapse", {"hits": hits, "by": rules}).json()


def test_hits_may_bring_their_texts_or_signatures(serve, texts):
    ask = serve()
    told = ask.post("/v1/collapse", {"hits": [{"id": "x", "text": texts.storm}, {"id": "y", "text": texts.again}]})
    assert told.json()["hidden"] == 1
    signed = ask.service.index.scheme.sign([texts.storm, texts.again, ""])
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
        {"hits": ["a"], "by": [{"rule": "same", "field": "site", "of": "host", "levels": 1}]},
        {"hits": [""]},
        {"hits": [{"id": "a", "fields": {"id": "p"}}]},
        {"hits": [{"id": "a", "text": "b"}, {"id": "c", "fields": {"text": "p"}}]},
    ],
    ids=str,
)
def test_invalid_hits_are_refused(serve, body):
    ask = serve()
    if body.get("recipe") == "RECIPE":
        body = body | {"recipe": ask.service.index.scheme.recipe}
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


def test_a_hit_with_a_text_hides_nothing_of_the_index(serve, folder, texts):
    """Each hit is known by the index, or by what it brings."""
    ask = serve()
    known = [{"id": "a"}, {"id": "b"}]
    for new, kept in (("something else entirely", ["a", "new"]), (texts.storm, ["a"])):
        hits = [*known, {"id": "new", "text": new}]
        with Index.open(folder) as index:
            assert collapse(hits, index=index).kept == kept
        for verify in (None, "exact", "estimate"):
            told = ask.post("/v1/collapse", {"hits": hits, "verify": verify}).json()
            assert [hit["id"] for one in told["results"] for hit in one["kept"]] == kept
            assert told["unsigned"] == 0


@pytest.mark.parametrize("more", [{"text": "x y z"}, {"fields": {"site": "three"}}, {"signature": None}])
def test_fields_of_the_index_stay_next_to_those_of_hits(serve, more):
    ask = serve()
    hits = [{"id": "a"}, {"id": "c"}, {"id": "new", **more}]
    recipe = {"recipe": ask.service.index.scheme.recipe} if "signature" in more else {}
    told = ask.post("/v1/collapse", {"hits": hits, "by": [{"rule": "same", "field": "site"}], **recipe}).json()
    assert [[hit["id"] for hit in one["kept"]] for one in told["results"]] == [["a"], ["new"]]
    assert told["hidden"] == 1


def test_a_field_may_be_named_like_the_text_if_no_hit_has_a_text(serve):
    hits = [{"id": own, "fields": {"text": "p"}} for own in ("x", "y")]
    told = serve().post("/v1/collapse", {"hits": hits, "by": [{"rule": "same", "field": "text"}]})
    assert told.json()["hidden"] == 1, told.text


def test_hits_may_be_collapsed_more_strictly(serve):
    ask = serve()
    for threshold, hidden in ((0.5, 1), (1.0, 0)):
        by = [{"rule": "near", "threshold": threshold}]
        assert ask.post("/v1/collapse", {"hits": ["a", "b", "c"], "by": by}).json()["hidden"] == hidden
    assert ask.post("/v1/collapse", {"hits": ["a"], "by": [{"rule": "near", "threshold": 0}]}).status_code == 422


def test_a_threshold_is_the_least_measure_of_texts_or_signatures(serve, tmp_path):
    words = [f"w{number}" for number in range(100)]
    texts = [" ".join(words), " ".join([*words[:-5], "x"])]
    for name, keeps in (("texts", True), ("bare", False)):
        with Index.create(tmp_path / name, SimHash(), texts=keeps) as index:
            index.admit(["a", "b"], texts)
        ask = serve(str(tmp_path / name))
        given = [{"id": own, "text": text} for own, text in zip("ab", texts, strict=True)]
        for hits, verify in (("ab", None), ("ab", "estimate"), (given, None), (given, "estimate")):
            body = {"hits": [*hits], "by": [{"rule": "near", "threshold": 0.7}], "verify": verify}
            (group,) = ask.post("/v1/collapse", body).json()["results"]
            (hidden,) = group["hidden"]
            assert hidden["verified"] == (verify is None and (keeps or hits == given))
            assert hidden["value"] >= hidden["threshold"]
            assert hidden["threshold"] == 0.7 if hidden["verified"] else hidden["threshold"] > 0.7


def test_a_scheme_that_signs_fields_takes_the_text_of_a_hit_as_the_body(serve, titled, texts):
    titles = {"a": "A", "b": "A", "c": "B"}
    hits = [{"id": own, "text": texts.storm, "fields": {"title": title}} for own, title in titles.items()]
    told = serve(titled).post("/v1/collapse", {"hits": hits})
    assert told.status_code == 200, told.text
    assert [[one["id"] for one in group["kept"]] for group in told.json()["results"]] == [["a"], ["c"]]
    hits[0]["fields"]["body"] = "another text"
    told = serve(titled).post("/v1/collapse", {"hits": hits})
    assert told.status_code == 422
    assert "Hit 0 has a field 'body', a name that is reserved for the text of the hit; rename the field." in told.text


def test_fields_that_a_scheme_signs_may_be_flags_and_numbers(serve, titled):
    ask = serve(titled)
    titles = [True, True, 7, 7.0, "7", False, None, None]
    hits = [{"id": f"h{rank}", "fields": {"title": title, "body": "text"}} for rank, title in enumerate(titles)]
    answer = ask.post("/v1/collapse", {"hits": hits}).json()
    hidden = [hit["id"] for one in answer["results"] for hit in one["hidden"]]
    assert (hidden, answer["unsigned"]) == (["h1", "h3", "h4"], 2)
    by_title = [{"rule": "same", "field": "title"}]
    refused = ask.post("/v1/collapse", {"hits": hits, "by": by_title})
    assert (refused.status_code, "strings or integers, not bool" in refused.json()["detail"]) == (422, True)


def test_whole_floats_are_integers_as_in_the_library(serve):
    ask = serve()
    by = [{"rule": "same", "field": "num"}]
    hits = [{"id": f"h{number}", "fields": {"num": value}} for number, value in enumerate([1, 1.0, 2, (1 << 60) + 1])]
    told = ask.post("/v1/collapse", {"hits": hits, "by": by}).json()
    assert [one["kept"][0]["id"] for one in told["results"]] == ["h0", "h2", "h3"]
    refused = ask.post("/v1/collapse", {"hits": [{"id": "h0", "fields": {"num": 1.5}}], "by": by})
    assert (refused.status_code, "float" in refused.text) == (422, True)


def test_signatures_that_decide_need_their_own_threshold_in_an_index_with_texts(serve, tmp_path):
    words = [f"w{number}" for number in range(100)]
    texts = [" ".join(words), " ".join([*words[:-8], "x"])]
    with Index.create(tmp_path / "index", SimHash(), texts=True) as index:
        index.admit(["a", "b"], texts)
    signed = SimHash().sign(texts)
    assert SimHash().distances(signed[:1], signed[1:]) == 6  # an estimated cosine above 0.9; usually at most 3 match
    rows = [{"id": own, "signature": b64encode(row).decode()} for own, row in zip("ab", signed.rows, strict=True)]
    ask = serve(str(tmp_path / "index"))
    for more in ({"hits": ["a", "b"], "verify": "estimate"}, {"hits": rows, "recipe": signed.recipe}):
        told = ask.post("/v1/collapse", {"by": [{"rule": "near", "threshold": 0.9}], **more}).json()
        assert told["hidden"] == 1, told
