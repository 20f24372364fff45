import copy
import json

import pytest

from neardup import Checksum, Field, Index, MinHash, NearDuplicates, SameValue
from neardup.collapsing import JudgedSets, collapse_response
from neardup.errors import DataError, ParameterError
from neardup.model.hits import group_id
from neardup.urls import host

FERRY = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"
STORM = "A storm closed the northern pass for the third time this winter, the road office said"


def hit(name, score, text=None, **source):
    return {"_index": "news", "_id": name, "_score": score, "_source": {"text": text, **source}}


def response(*hits, total=None):
    found = {"total": total or {"value": 1234, "relation": "eq"}, "max_score": 9.5, "hits": list(hits)}
    return {"took": 5, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": found}


NEWS = response(
    hit("a", 9.5, FERRY, site={"name": "one"}, url="https://one.example/1"),
    hit("b", 8.0, f"{FERRY}!", site={"name": "two"}, url="https://two.example/1"),
    hit("c", 7.0, STORM, site={"name": "two"}, url="https://two.example/2"),
    hit("d", 6.0, None, site={"name": "one"}, url=None),
    hit("e", 5.0, f"{STORM}.", site={"name": "three"}, url="https://two.example/3"),
)


def ids(answer):
    return [shown["_id"] for shown in answer["hits"]["hits"]]


def duplicates(answer, name="duplicates"):
    inner = [shown["inner_hits"][name]["hits"] for shown in answer["hits"]["hits"]]
    return [[found["_id"] for found in own["hits"]] for own in inner]


def test_the_form_stays_and_repeats_are_inner_hits():
    before = copy.deepcopy(NEWS)
    answer = collapse_response(NEWS)
    assert before == NEWS
    assert ids(answer) == ["a", "c", "d"]
    assert duplicates(answer) == [["b"], ["e"], []]
    copies = collapse_response(response(*(hit(name, score, FERRY) for name, score in (("a", 3), ("b", 2), ("c", 1)))))
    assert copies["hits"]["hits"][0]["inner_hits"]["duplicates"]["hits"]["max_score"] == 2
    assert {name: value for name, value in answer.items() if name not in {"hits", "neardup"}} == {
        name: value for name, value in NEWS.items() if name != "hits"
    }
    assert {**answer["hits"], "hits": None} == {**NEWS["hits"], "hits": None}
    first = answer["hits"]["hits"][0]
    assert first["_source"] == NEWS["hits"]["hits"][0]["_source"]
    assert first["fields"] == {"neardup.group": [group_id("a")]}
    inner = first["inner_hits"]["duplicates"]["hits"]
    assert (inner["total"], inner["max_score"]) == ({"value": 1, "relation": "eq"}, 8.0)
    assert inner["hits"][0] == {
        **NEWS["hits"]["hits"][1],
        "fields": {
            "neardup.group": [group_id("a")],
            "neardup.of": ["a"],
            "neardup.rule": ["minhash"],
            "neardup.measure": ["resemblance"],
            "neardup.value": [1.0],
            "neardup.verified": [True],
        },
    }
    assert answer["neardup"] == {
        "hits": 5,
        "examined": 5,
        "groups": 3,
        "hidden": 2,
        "unsigned": 1,
        "page": 1,
        "pages": 1,
    }
    json.dumps(answer)


def test_rules_look_into_objects_and_make_values():
    assert ids(collapse_response(NEWS, SameValue("site.name"))) == ["a", "b", "e"]
    answer = collapse_response(NEWS, [SameValue("url", of=host, keep=2), NearDuplicates()])
    assert ids(answer) == ["a", "c", "d"]
    assert duplicates(collapse_response(NEWS, SameValue("site.name"))) == [["d"], ["c"], []]


def test_a_hit_is_listed_under_the_one_that_it_matches():
    both = response(hit("a", 3, FERRY, site=1), hit("b", 2, STORM, site=1), hit("c", 1, f"{STORM}!", site=2))
    answer = collapse_response(both, [SameValue("site", keep=2), NearDuplicates()])
    assert ids(answer) == ["a", "b"]
    assert duplicates(answer) == [[], ["c"]]
    assert answer["neardup"]["groups"] == 1


def test_a_hit_may_be_listed_under_the_closest_one():
    texts = ["one two three four", "two three five six", "two three four five six"]
    given = response(*(hit(name, 1, text) for name, text in zip("abc", texts, strict=True)))
    by = NearDuplicates(scheme=MinHash(shingle=1, threshold=0.5))
    for representative, listed in {"best-ranked": [["c"], []], "closest": [[], ["c"]]}.items():
        answer = collapse_response(given, by, representative=representative)
        assert (ids(answer), duplicates(answer)) == (["a", "b"], listed)


def test_kept_hits_of_a_page_stay_in_the_order_of_the_engine():
    hits = [hit(str(rank), 9 - rank, None, site=site) for rank, site in enumerate("abab")]
    assert ids(collapse_response(response(*hits), SameValue("site", keep=2))) == ["0", "1", "2", "3"]
    assert ids(collapse_response(response(*hits), SameValue("site", keep=2), size=1)) == ["0", "2"]
    assert ids(collapse_response(response(*hits), SameValue("site", keep=2), size=1, page=2)) == ["1", "3"]


def test_pages_top_groups_and_the_switch():
    answer = collapse_response(NEWS, size=2, page=2)
    assert ids(answer) == ["d"]
    assert (answer["neardup"]["page"], answer["neardup"]["pages"]) == (2, 2)
    assert collapse_response(NEWS, top=2)["neardup"]["examined"] == 2
    listed = collapse_response(NEWS, include=group_id("c"))
    assert ids(listed) == ["c", "e"]
    assert listed["hits"]["hits"][1]["fields"]["neardup.of"] == ["c"]
    off = collapse_response(NEWS, enabled=False)
    assert ids(off) == ["a", "b", "c", "d", "e"]
    assert off["neardup"]["hidden"] == 0


def test_fields_of_a_hit_count_and_stay():
    hits = [{"_id": name, "_score": None, "fields": {"site": ["x"], "text": [FERRY, STORM]}} for name in "ab"]
    answer = collapse_response(response(*hits), SameValue("site"))
    assert ids(answer) == ["a"]
    assert answer["hits"]["hits"][0]["fields"] == {
        "site": ["x"],
        "text": [FERRY, STORM],
        "neardup.group": [group_id("a")],
    }
    assert ids(collapse_response(response(*hits))) == ["a"]


def test_names_with_dots_may_stand_as_they_are():
    hits = [{"_id": name, "_source": {"site.name": "x"}} for name in "ab"]
    assert ids(collapse_response(response(*hits), SameValue("site.name"))) == ["a"]


def test_fields_of_a_checksum():
    scheme = Checksum(fields=(Field(name="head.title"), Field(name="body")))
    hits = [{"_id": name, "_source": {"head": {"title": "One"}, "body": "same"}} for name in "ab"]
    assert ids(collapse_response(response(*hits), NearDuplicates(scheme=scheme))) == ["a"]


def test_other_inner_hits_stay():
    answer = collapse_response(response({**hit("a", 1, FERRY), "inner_hits": {"comments": {"hits": {}}}}))
    assert set(answer["hits"]["hits"][0]["inner_hits"]) == {"comments", "duplicates"}
    taken = response({**hit("a", 1, FERRY), "inner_hits": {"duplicates": {}}})
    with pytest.raises(DataError, match="duplicates"):
        collapse_response(taken)
    assert set(collapse_response(taken, name="repeats")["hits"]["hits"][0]["inner_hits"]) == {"duplicates", "repeats"}


def test_signatures_need_no_sources():
    bare = response(*({"_id": name} for name in "abc"))
    assert ids(collapse_response(bare, signatures=MinHash().sign([FERRY, STORM, FERRY]))) == ["a", "b"]


def test_an_index_knows_what_the_response_does_not(tmp_path):
    with Index.create(tmp_path / "index", fields={"site": str}) as index:
        index.admit(["a", "b", "c"], [FERRY, STORM, FERRY], {"site": ["x", "y", "y"]})
        bare, cache = response(*({"_id": name} for name in "abc")), JudgedSets()
        for _ in range(2):
            assert ids(collapse_response(bare, index=index, cache=cache)) == ["a", "b"]
        assert (cache.hits, cache.misses) == (1, 1)
        assert ids(collapse_response(bare, SameValue("site"), index=index)) == ["a", "b"]
        assert ids(collapse_response(NEWS, SameValue("site.name"), index=index)) == ["a", "b", "e"]


@pytest.mark.parametrize("keeps", [True, False])
def test_texts_of_hits_that_an_index_does_not_have_are_compared(tmp_path, keeps):
    with Index.create(tmp_path / "index", texts=keeps) as index:
        index.admit(["a", "b"], [FERRY, STORM])
        given = response(hit("a", 3), hit("new", 2, FERRY), hit("b", 1))
        answer = collapse_response(given, index=index)
        assert ids(answer) == ["a", "b"]
        assert answer["neardup"]["unsigned"] == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"hits": {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}},
        {"hits": {"total": 17, "max_score": None, "hits": []}},
        {"hits": {"total": 17}},
        {"hits": {}},
        {"hits": {"hits": ()}, "_shards": {"failures": [{"reason": {}}]}, "error": "of a shard"},
    ],
)
@pytest.mark.parametrize("by", [None, SameValue("site")])
def test_responses_without_hits_stay_empty(odd, by):
    answer = collapse_response(odd, by)
    assert answer["hits"] == {**odd["hits"], "hits": []}
    assert (answer["neardup"]["hits"], answer["neardup"]["pages"]) == (0, 0)


def test_totals_of_old_versions_stay():
    assert collapse_response(response(hit("a", 1, FERRY), total=17))["hits"]["total"] == 17


@pytest.mark.parametrize("by", [None, SameValue("site"), [SameValue("site", of=host), NearDuplicates()]])
def test_hits_without_sources_match_nothing_and_are_an_error_if_texts_are_needed(by):
    odd = response({"_id": "a"}, {"_id": "b", "_source": None, "fields": None, "inner_hits": None}, {"_id": "c"})
    if isinstance(by, SameValue):
        assert collapse_response(odd, by)["neardup"]["missing_fields"] == ["site"]
    else:
        with pytest.raises(DataError, match="is missing in all hits; they have neither _source nor fields"):
            collapse_response(odd, by)
    assert ids(collapse_response(odd, by, enabled=False)) == ["a", "b", "c"]
    assert collapse_response(response(), by)["hits"]["hits"] == []
    some = response({"_id": "a"}, {"_id": "b", "_source": {"text": FERRY, "site": "x"}}, {"_id": "c", "_source": {}})
    assert ids(collapse_response(some, by)) == ["a", "b", "c"]


def test_hits_whose_texts_are_all_null_are_kept():
    found = collapse_response(response({"_id": "a", "_source": {"text": None}}))
    assert (ids(found), found["neardup"]["unsigned"]) == (["a"], 1)


@pytest.mark.parametrize("part", ["_source", "fields", "inner_hits"])
@pytest.mark.parametrize("enabled", [True, False])
def test_parts_of_hits_must_be_mappings(part, enabled):
    for wrong in ("abc", ["a"], 7):
        with pytest.raises(DataError, match=f"{part} of hit 1 must be a mapping, not"):
            collapse_response(response(hit("a", 1, FERRY), {**hit("b", 1, FERRY), part: wrong}), enabled=enabled)


def test_a_field_of_no_hit_is_a_mistake_if_it_is_the_text():
    found = collapse_response(NEWS, SameValue("sight"))["neardup"]
    assert (found["missing_fields"], found["hidden"]) == (["sight"], 0)
    with pytest.raises(DataError, match=r"'body' is missing in all hits; their fields are .*text"):
        collapse_response(NEWS, NearDuplicates(text="body"))


@pytest.mark.parametrize("value", [["x", "y"], {"name": "x"}, 1.5, True])
def test_invalid_values_are_refused(value):
    with pytest.raises(DataError):
        collapse_response(response(hit("a", 1, site=value), hit("b", 1, site=value)), SameValue("site"))


@pytest.mark.parametrize("value", [[], [None], None, {}])
def test_empty_lists_and_nulls_in_lists_are_missing_values(value):
    odd = response(hit("a", 1, site=value or None), hit("b", 1, site=[]), hit("c", 1, site=["x"]))
    assert ids(collapse_response(odd, SameValue("site"))) == ["a", "b", "c"]
    some = response(hit("a", 1, site=[None, "x"], text=["a b c", None]), hit("b", 1, site="x", text="a b c"))
    assert [ids(collapse_response(some, by)) for by in (SameValue("site"), None)] == [["a"], ["a"]]


def test_an_error_stays_one():
    error = {"error": {"type": "search_phase_execution_exception"}, "status": 400}
    answer = collapse_response(error)
    assert answer == error
    assert answer is not error


@pytest.mark.parametrize(
    "given",
    [
        None,
        "text",
        [],
        7,
        {},
        {"took": 3},
        {"hits": None},
        {"hits": []},
        {"hits": "x"},
        {"hits": {"hits": None}},
        {"hits": {"hits": "abc"}},
        {"hits": {"hits": {"a": 1}}},
        {"hits": {"hits": [None]}},
        {"hits": {"hits": ["a"]}},
        {"hits": {"hits": [{"_source": {"text": "a"}}]}},
        {"hits": {"hits": [{"_id": None, "_source": {"text": "a"}}]}},
        {"hits": {"hits": [{"_id": ["a"], "_source": {"text": "a"}}]}},
        {"responses": []},
    ],
)
def test_invalid_responses_are_refused(given):
    with pytest.raises(DataError):
        collapse_response(given)


@pytest.mark.parametrize("options", [{"name": ""}, {"name": 7}, {"by": []}, {"page": 0}])
def test_parameters_are_checked_even_of_an_error(options):
    with pytest.raises(ParameterError):
        collapse_response(NEWS, **options)


def test_a_response_of_another_engine_is_refused_with_what_to_do():
    solr = {"response": {"numFound": 1, "docs": [{"id": "a", "text": "a b c"}]}}
    with pytest.raises(
        DataError, match="is not a response of Elasticsearch or OpenSearch; for other engines, pass the hits to"
    ):
        collapse_response(solr)


def test_members_are_listed_in_the_order_of_the_response():
    given = (("a", FERRY, "one"), ("b", FERRY, "two"), ("c", STORM, "one"), ("d", STORM, "two"))
    news, by = response(*(hit(name, 1, text, site=site) for name, text, site in given)), SameValue("site", keep=2)
    assert ids(collapse_response(news, [by, NearDuplicates()])) == ["a", "c"]
    assert ids(collapse_response(news, [by, NearDuplicates()], include=group_id("a"))) == ["a", "b", "c", "d"]
