import math
from datetime import date
from shutil import copytree

import numpy as np
import pyarrow as pa
import pytest

from neardup import (
    Checksum,
    Combined,
    Field,
    Index,
    MinHash,
    NearDuplicates,
    SameValue,
    Sentences,
    Signatures,
    SimHash,
    Trials,
    collapse,
    dedup,
    explain,
)
from neardup.collapsing import Collapsed, JudgedSets
from neardup.errors import DataError, ParameterError, RecipeMismatch, StorageRefused
from neardup.model.hits import group_id
from neardup.urls import host, path_levels

FERRY = "The ferry left the harbour at dawn with forty passengers and a cargo of salt"
STORM = "A storm closed the northern pass for the third time this winter, the road office said"
RECORDS = [
    {"id": "a", "text": FERRY, "url": "https://one.example/x/1", "kind": 1},
    {"id": "b", "text": f"{FERRY}.", "url": "https://two.example/", "kind": None},
    {"id": "c", "text": STORM, "url": "https://one.example/x/2", "kind": 2},
    {"id": "d", "text": None, "url": None, "kind": 1},
    {"id": "e", "text": f"{STORM}, and more", "url": "https://two.example/y", "kind": 3},
]
IDS = [hit["id"] for hit in RECORDS]
TEXTS = [hit["text"] for hit in RECORDS]


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "index", MinHash(), fields={"url": str, "kind": int}, texts=True) as index:
        fields = {name: [hit[name] for hit in RECORDS] for name in ("url", "kind")}
        index.admit(IDS, [text or "" for text in TEXTS], fields)
        yield index


def test_near_duplicates_are_hidden():
    found = collapse(RECORDS)
    assert isinstance(found, Collapsed)
    assert found.kept == ["a", "c", "d"]
    assert (found.hits, found.examined, found.groups, found.hidden, found.unsigned, found.pages) == (5, 5, 3, 2, 1, 1)
    first = found.page[0]
    assert (first.id, first.hides) == (group_id("a"), 1)
    assert first.kept[0].given is RECORDS[0]
    (hidden,) = first.hidden
    assert (hidden.id, hidden.rank, hidden.of, hidden.rule) == ("b", 1, "a", "minhash")
    assert (hidden.measure, hidden.value, hidden.threshold) == ("resemblance", 1.0, 0.6)
    assert repr(found) == "<Collapsed 5 hits: 3 groups, 2 hidden>"
    assert repr(collapse(RECORDS[:2])) == "<Collapsed 2 hits: 1 group, 1 hidden>"
    assert repr(collapse(RECORDS[:1])) == "<Collapsed 1 hit: 1 group, 0 hidden>"


def test_hits_of_one_value_are_hidden():
    found = collapse(RECORDS, SameValue("url", of=host))
    assert found.kept == ["a", "b", "d"]
    hidden = found.page[0].hidden[0]
    assert (hidden.id, hidden.of, hidden.rule, hidden.measure) == ("c", "a", "same host of url", "equality")
    assert (hidden.value, hidden.threshold) == ("one.example", None)
    assert collapse(RECORDS, SameValue("kind")).kept == ["a", "b", "c", "e"]
    assert collapse(RECORDS, SameValue("url", of=path_levels(1))).kept == ["a", "b", "d", "e"]


def test_a_signature_of_fields_is_a_property():
    titles = [{"id": number, "title": title} for number, title in enumerate(["One", "One", "Two", None])]
    found = collapse(titles, NearDuplicates(scheme=Checksum(fields=(Field(name="title"),))))
    assert found.kept == [0, 2, 3]
    assert found.unsigned == 1


def test_a_page_beyond_the_last_is_empty():
    assert [collapse(RECORDS, size=2, page=page).page for page in (3, 10**30)] == [(), ()]
    assert collapse(RECORDS, page=2).page == ()
    assert collapse(RECORDS, size=10**30).groups == 3


def test_a_group_that_is_not_there_has_no_members():
    found = collapse(RECORDS, include=12345)
    assert (found.page, found.pages, found.groups, found.hidden) == ((), 0, 3, 2)


@pytest.mark.parametrize("hits", [[], (), pa.table({"id": pa.array([], pa.string())}), iter([])])
@pytest.mark.parametrize("by", [None, SameValue("site"), [SameValue("site", of=host), NearDuplicates()]])
def test_nothing_to_collapse(hits, by):
    found = collapse(hits, by, size=10)
    assert (found.hits, found.groups, found.hidden, found.pages, found.page, found.kept) == (0, 0, 0, 0, (), [])


def test_records_are_returned_unchanged():
    records = [dict(hit) for hit in RECORDS]
    found = collapse(records, [SameValue("url", of=host), NearDuplicates()])
    assert records == RECORDS
    records.clear()
    assert found.page[0].kept[0].given == RECORDS[0]


def test_hits_of_a_table_are_collapsed():
    found = collapse(pa.Table.from_pylist(RECORDS))
    assert found.kept == ["a", "c", "d"]
    assert found.page[0].kept[0].given == RECORDS[0]


def test_the_index_answers_for_ids(index):
    found = collapse(IDS, index=index)
    assert found.kept == ["a", "c", "d"]
    assert found.unsigned == 1
    assert collapse([*IDS, "gone", "gone too"], index=index).kept == ["a", "c", "d", "gone", "gone too"]
    assert collapse(IDS, SameValue("url", of=host), index=index).kept == ["a", "b", "d"]
    strict = NearDuplicates(scheme=MinHash(threshold=0.99))
    assert collapse(IDS, strict, index=index).kept == ["a", "c", "d", "e"]
    with pytest.raises(RecipeMismatch):
        collapse(IDS, NearDuplicates(scheme=MinHash(seed=2)), index=index)


@pytest.mark.parametrize("name", ["", "\ud800", "a\0b", "x" * 5000, "\u202e\U0001f600"])
def test_strange_ids_are_not_there(index, name):
    found = collapse(["a", name], index=index)
    assert found.kept == ["a", name]
    assert found.unsigned == 1
    assert found.page[1].id == group_id(name)


WORDS = ["one two three four", "one two three five", "two three five six", "two three four five six"]
BY_WORDS = NearDuplicates(scheme=MinHash(shingle=1, threshold=0.5))


@pytest.mark.parametrize("verify", ["exact", "estimate"])
def test_a_hidden_hit_is_named_for_the_best_ranked_match_or_for_the_closest(tmp_path, verify):
    """The last text shares 3 of 6 words with the first, and 4 of 5 with the third; both are shown."""
    ids, records = [*"abcd"], [{"id": own, "text": text} for own, text in zip("abcd", WORDS, strict=True)]
    scheme = MinHash(shingle=1, threshold=0.4) if verify == "estimate" else BY_WORDS.scheme
    by, cache, named = NearDuplicates(scheme=scheme), JudgedSets(), {}
    with Index.create(tmp_path / "index", scheme, texts=True) as index:
        index.admit(ids, WORDS)
        for representative in ("best-ranked", "closest", "best-ranked"):
            ways = {"verify": verify, "representative": representative}
            found = collapse(records, by, **ways)
            assert found.kept == ["a", "c"]
            assert collapse(ids, index=index, cache=cache, **ways).page == collapse(ids, index=index, **ways).page
            named[representative] = [[hit.id for hit in group.hidden] for group in found.page]
            (last,) = [hit for group in found.page for hit in group.hidden if hit.id == "d"]
            assert found.explain("d").hidden == last
            if verify == "exact":
                assert (last.value, last.threshold) == ((0.8 if last.of == "c" else 0.5), 0.5)
            members = collapse(records, by, include=found.page[1].id, **ways)
            assert [hit.id for group in members.page for hit in group.hidden] == named[representative][1]
    assert named == {"best-ranked": [["b", "d"], []], "closest": [["b"], ["d"]]}
    assert (cache.hits, cache.misses) == (1, 2)


def test_values_that_are_equal_are_equally_close():
    records = [{"id": own, "site": 1, "text": text} for own, text in zip("acd", [*WORDS[::2], WORDS[3]], strict=True)]
    found = collapse(records, [SameValue("site", keep=2), BY_WORDS], representative="closest")
    assert [(hit.id, hit.of) for group in found.page for hit in group.hidden] == [("d", "a")]


def test_equal_hits_are_named_alike():
    """The third text is hidden for the first; its copy would be closer to the fourth, which is shown, too."""
    texts = ["a b c d e f", "p q r s", "a b c d x y", "a c d x y z w", "a b c d x y"]
    records = [{"id": rank, "text": text} for rank, text in enumerate(texts)]
    by = NearDuplicates(scheme=MinHash(shingle=1, threshold=0.4))
    for representative in ("best-ranked", "closest"):
        found = collapse(records, by, representative=representative)
        assert found.kept == [0, 1, 3]
        assert [(hit.id, hit.of) for group in found.page for hit in group.hidden] == [(2, 0), (4, 0)]
        dropped = dedup(texts, scheme=by.scheme, representative=representative).representatives
        assert dropped.tolist() == found.outcome.of.tolist()


def test_a_cache_knows_sets_by_ids_order_rules_and_state(index):
    cache = JudgedSets()
    by_host, strict = SameValue("url", of=host), NearDuplicates(scheme=MinHash(threshold=0.99))
    asked = [
        (IDS, None, None),
        (IDS[::-1], None, None),
        (IDS, None, 3),
        (IDS, by_host, None),
        (IDS, [by_host, NearDuplicates()], None),
        (IDS, [NearDuplicates(), by_host], None),
        (IDS, strict, None),
        (IDS, NearDuplicates(keep=2), None),
    ]
    for _ in range(2):
        for hits, by, top in asked:
            fresh = collapse(hits, by, index=index, top=top)
            assert collapse(hits, by, index=index, top=top, cache=cache).page == fresh.page
    assert (cache.hits, cache.misses) == (8, 8)
    collapse(IDS, index=index, cache=cache, size=2, page=2, include=7)  # what is shown is no part of it
    assert (cache.hits, cache.misses) == (9, 8)
    index.admit(["b"], [STORM], {"url": [None], "kind": [None]})
    assert collapse(IDS, index=index, cache=cache).page[1].hidden[0].id == "c"
    assert (cache.hits, cache.misses) == (9, 9)
    assert collapse(IDS, index=index, cache=cache).page[1].hidden[0].verified
    assert not collapse(IDS, index=index, cache=cache, verify="estimate").page[1].hidden[0].verified


@pytest.mark.parametrize("number", [127, 128, 129, 1000])
def test_a_large_set_is_the_same_from_a_cache(tmp_path, number):
    ids = [f"hit {rank}" for rank in range(number)]
    scheme = MinHash(permutations=8, shingle=1, recall=0.9)
    with Index.create(tmp_path / "large", scheme, durability="bulk") as index:
        index.admit(ids, [f"word{rank % (number // 2)}" for rank in range(number)])
        cache, rules = JudgedSets(), [NearDuplicates(), *[SameValue("none")] * 200]
        fields = [{"id": own, "none": None} for own in ids]
        for hits, by in ((ids, None), (fields, rules)):
            fresh = collapse(hits, by, index=index)
            assert fresh.hidden >= number // 2 - 1
            for _ in range(2):
                assert collapse(hits, by, index=index, cache=cache).page == fresh.page
        assert cache.hits == 2


@pytest.mark.parametrize("copied", [copytree, lambda one, two: Index.open(one).copy(two)])
def test_a_cache_knows_copies_of_an_index_apart(tmp_path, copied):
    text, other = "one two three four five six seven eight nine ten", "red tan green gold pink cyan lilac beige grey bu"
    one, two = tmp_path / "one", tmp_path / "two"
    with Index.create(one, texts=True) as index:
        index.admit(["a"], [text])
    copied(one, two)
    cache, hits = JudgedSets(), ["a", "b"]
    with Index.open(one, "w") as original, Index.open(two, "w") as copy, Index.open(one) as reader:
        original.admit(["b"], [text], at=0)
        copy.admit(["b"], [other], at=0)
        reader.refresh()
        assert original.state[:-1] == copy.state[:-1]
        for index, kept in [(original, ["a"]), (copy, ["a", "b"]), (reader, ["a"])]:
            assert collapse(hits, index=index, cache=cache).kept == kept
        assert original.state == reader.state
    assert (cache.hits, cache.misses) == (1, 2)
    with Index.open(one) as original, Index.open(two) as copy:
        assert original.state != copy.state


def test_readers_of_other_thresholds_share_a_cache(tmp_path):
    cache = JudgedSets()
    with Index.create(tmp_path / "index", MinHash()) as index:
        index.admit(["a", "b"], [STORM, f"{STORM}, and more"])
    for _ in range(2):
        for threshold, kept in ((0.6, ["a"]), (0.99, ["a", "b"])):
            with Index.open(tmp_path / "index", scheme=MinHash(threshold=threshold, recall=0.5)) as index:
                assert collapse(["a", "b"], index=index, cache=cache).kept == kept
    assert (cache.hits, cache.misses) == (2, 2)


@pytest.mark.parametrize(
    "ways", [{}, {"signatures": MinHash().sign(TEXTS)}, {"signatures": MinHash().sign(TEXTS), "index": ...}]
)
def test_a_cache_that_would_never_be_asked_is_refused(index, ways):
    ways = {name: index if way is ... else way for name, way in ways.items()}
    with pytest.raises(ParameterError, match="cache"):
        collapse(RECORDS, cache=JudgedSets(), **ways)


def test_a_cache_knows_what_records_say_of_the_fields_of_rules(index):
    cache, by = JudgedSets(), [SameValue("kind"), NearDuplicates()]
    others = [{**hit, "kind": 9} for hit in RECORDS]
    for _ in range(2):
        for hits in (RECORDS, others, [{**hit, "more": object()} for hit in RECORDS]):
            fresh = collapse(hits, by, index=index)
            assert collapse(hits, by, index=index, cache=cache).page == fresh.page
    assert (cache.hits, cache.misses) == (4, 2)
    days = [{"id": hit["id"], "day": date(2001, 1, 1)} for hit in RECORDS]
    collapse(days, SameValue("day", of=str), index=index, cache=cache)  # whose equality is not known
    collapse(IDS, index=index, cache=cache, enabled=False)
    assert (cache.hits, cache.misses) == (4, 2)


@pytest.mark.parametrize("scheme", [MinHash(), Trials(), Sentences(), SimHash(), Combined()])
def test_every_hidden_hit_is_explained_by_its_texts(scheme):
    found = collapse(RECORDS, [NearDuplicates(scheme=scheme), SameValue("kind")])
    said = found.explain("b")
    assert said.hidden == found.page[0].hidden[0]
    assert said.evidence == explain(TEXTS[1], TEXTS[0], scheme)
    assert said.evidence.matches
    assert found.explain("a") is None
    assert found.explain("nobody") is None
    without_text = found.explain("d")
    assert (without_text.hidden.rule, without_text.hidden.value, without_text.evidence) == ("same kind", 1, None)


def test_texts_of_the_index_explain(index):
    said = collapse(IDS, index=index).explain("b")
    assert said.evidence == explain(TEXTS[1], TEXTS[0], MinHash())
    by_host = collapse(IDS, SameValue("url", of=host), index=index).explain("c")
    assert (by_host.hidden.value, by_host.evidence.matches) == ("one.example", False)


def test_without_texts_there_is_no_evidence(tmp_path):
    with Index.create(tmp_path / "index", SimHash()) as index:
        index.admit(["a", "b"], [FERRY, FERRY])
        said = collapse(["a", "b"], index=index).explain("b")
        assert (said.hidden.value, said.evidence) == (1.0, None)


@pytest.mark.parametrize(
    "options",
    [
        {"by": []},
        {"by": "near"},
        {"by": [None]},
        {"by": [NearDuplicates(), NearDuplicates()]},
        {"by": NearDuplicates},
        {"top": 0},
        {"top": True},
        {"page": 0},
        {"page": 1.0},
        {"page": True},
        {"page": 1.5},
        {"size": 0},
        {"size": "10"},
        {"include": -1},
        {"include": "a"},
        {"enabled": 1},
        {"enabled": None},
        {"signatures": MinHash().sign(["a", "b"])},
        {"signatures": np.zeros((5, 128), np.uint32)},
        {"index": "folder"},
        {"cache": {}},
        {"verify": "none"},
        {"verify": True},
        {"representative": "nearest"},
        {"representative": None},
        {"id": 7},
    ],
    ids=str,
)
def test_what_breaks_its_rule_is_refused(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        collapse(RECORDS, **options)


def test_signatures_of_another_scheme_are_refused():
    with pytest.raises(RecipeMismatch):
        collapse(RECORDS, signatures=SimHash().sign(TEXTS))


@pytest.mark.parametrize(
    ("hits", "by"),
    [
        (RECORDS, NearDuplicates(text="body")),
        ([{"id": 1, "text": 7}], None),
        ([{"id": 1, "text": ["a"]}], None),
        ([{"id": 1, "site": True}], SameValue("site")),
        ([{"id": 1, "site": 1.5}], SameValue("site")),
        ([{"id": 1, "site": ["a"]}], SameValue("site")),
        ([{"id": 1, "site": "a"}], SameValue("site", of=len([]).__eq__)),
        ([{"id": 1, "site": "a"}], SameValue("site", of=list)),
    ],
)
def test_invalid_values_are_refused(hits, by):
    with pytest.raises(DataError):
        collapse(hits, by)


def test_a_field_that_no_hit_has_hides_none_and_is_named():
    found = collapse(RECORDS, [SameValue("site"), NearDuplicates()])
    assert found.missing_fields == ["site"]
    assert repr(found).endswith(" hidden; no hit has 'site'>")
    assert found.kept == collapse(RECORDS, NearDuplicates()).kept
    assert collapse(RECORDS, NearDuplicates()).missing_fields == collapse([], SameValue("site")).missing_fields == []


def test_ids_alone_do_not_say_their_text():
    with pytest.raises(ParameterError, match="index"):
        collapse(IDS)


def test_functions_see_every_value_there_is():
    seen = []

    def year(value):
        seen.append(value)
        return value.year

    hits = [{"id": number, "day": day} for number, day in enumerate([date(2001, 1, 1), None, date(2001, 2, 2)])]
    assert collapse(hits, SameValue("day", of=year)).kept == [0, 1]
    assert seen == [date(2001, 1, 1), date(2001, 2, 2)]
    mixed = [{"id": number, "value": value} for number, value in enumerate([1, True, "1", [1]])]
    assert collapse(mixed, SameValue("value", of=str)).kept == [0, 1, 3]


def test_the_same_id_twice_is_two_hits():
    found = collapse([RECORDS[0], RECORDS[0]])
    assert (found.kept, found.page[0].hidden[0].of, found.hits) == (["a"], "a", 2)


def test_rows_cut_from_larger_ones():
    signed = MinHash().sign([text for text in TEXTS for _ in range(2)])
    every_other = Signatures(signed.rows[::2], signed.present[::2], signed.recipe)
    assert collapse(IDS, signatures=every_other).kept == ["a", "c", "d"]


@pytest.mark.parametrize(("scheme", "least"), [(SimHash(distance=20), 0.556), (Trials(hashes=1, needed=4), 0.667)])
def test_evidence_names_what_the_value_was_held_against(scheme, least):
    (hidden,) = collapse(RECORDS[:2], NearDuplicates(scheme=scheme), verify="estimate").page[0].hidden
    assert round(hidden.threshold, 3) == least <= hidden.value
    assert (hidden.measure, hidden.verified) == (scheme.measure, False)
    (hidden,) = collapse(RECORDS[:2], NearDuplicates(scheme=scheme)).page[0].hidden
    assert (hidden.value, hidden.threshold, hidden.measure) == (1.0, scheme.threshold, "resemblance")
    assert hidden.verified


def test_what_is_signed_next_to_the_text_is_evidence(tmp_path):
    scheme = Checksum(fields=(Field(name="title"), Field(name="body")))
    with Index.create(tmp_path / "signed", scheme, texts=True) as index:
        index.admit(["a", "b"], [FERRY, FERRY], {"title": ["Ferry", "Ferry"]})
        evidence = collapse(["a", "b"], index=index).explain("b").evidence
        (hidden,) = collapse(["a", "b"], index=index).page[0].hidden
    assert (evidence.matches, evidence.reason) == (True, None)
    assert (hidden.measure, hidden.value, hidden.verified) == ("equality", 1.0, False)
    records = [{"id": own, "title": "Ferry", "body": FERRY} for own in "ab"]
    assert collapse(records, NearDuplicates(scheme=scheme, text="body")).explain("b").evidence.matches


@pytest.mark.parametrize("ids", [["a", "a", "a", "b"], [1, 1, 1, 2]])
def test_hits_of_one_id_in_several_groups_are_distinguished(ids):
    hits = [{"id": own, "text": text} for own, text in zip(ids, [FERRY, None, STORM, FERRY], strict=True)]
    groups = [collapse(hits, page=page, size=1).page[0] for page in (1, 2, 3)]
    assert len({group.id for group in groups}) == 3
    assert groups[0].id == group_id(ids[0])
    for group in groups:
        (listed,) = collapse(hits, include=group.id).page
        assert listed == group


@pytest.mark.parametrize("missing", [float("nan"), np.float32("nan"), None])
def test_nan_is_a_missing_value_of_a_record(missing):
    records = [hit | {name: value if value is not None else missing for name, value in hit.items()} for hit in RECORDS]
    for rule in (None, SameValue("url"), SameValue("url", of=host), SameValue("kind")):
        assert collapse(records, rule).kept == collapse(RECORDS, rule).kept
    assert collapse(records).unsigned == 1


def test_missing_values_of_pandas_are_those_of_its_records():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(RECORDS).drop(columns="kind")
    assert collapse(frame.to_dict("records")).kept == collapse(frame).kept == collapse(RECORDS).kept


def test_what_a_function_makes_of_a_value_is_checked_like_a_value():
    hits = [{"id": number, "value": value} for number, value in enumerate(["a", "b", "c", "d"])]

    def made(value):
        return {"a": math.nan, "b": np.int64(7), "c": math.nan, "d": 7}[value]

    assert collapse(hits, SameValue("value", of=made)).kept == [0, 1, 2]
    with pytest.raises(DataError, match="function of field 'value' must return strings, integers or None, not float"):
        collapse(hits, SameValue("value", of=lambda _: 1.5))


def test_times_of_hits_are_signed_to_the_nanosecond():
    times = pa.array([0, 1, 1], pa.timestamp("ns"))
    scheme = Checksum(fields=[Field(name="x")])
    assert collapse(pa.table({"id": ["a", "b", "c"], "x": times}), NearDuplicates(scheme=scheme)).kept == ["a", "b"]


def test_whole_floats_of_a_column_with_missing_values_are_integers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [*"abcdef"], "value": [1, 12, 1, None, None, 13]})
    assert frame["value"].dtype == float
    assert collapse(frame, SameValue("value")).kept == [*"abdef"]
    assert collapse(frame, SameValue("value", of=lambda value: value and str(value)[0])).kept == [*"ade"]
    mixed = [{"id": 0, "value": 7}, {"id": 1, "value": 7.0}, {"id": 2, "value": np.float64(7)}]
    assert collapse(mixed, SameValue("value")).kept == [0]
    for strange in (2.0**53, math.inf, 1.5, np.float32(7)):
        with pytest.raises(DataError, match="must contain strings or integers, not float"):
            collapse([{"id": 1, "value": strange}], SameValue("value"))


def test_values_of_numpy_are_integers():
    hits = [{"id": number, "value": np.int64(number // 2)} for number in range(4)]
    assert collapse(hits, SameValue("value")).kept == [0, 2]
    with pytest.raises(DataError, match="must contain strings or integers, not float64"):
        collapse([{"id": 1, "value": np.float64(1.5)}], SameValue("value"))
    with pytest.raises(DataError, match="must contain strings or integers, not timedelta64"):
        collapse([{"id": 1, "value": np.timedelta64(5, "ns")}, {"id": 2, "value": 5}], SameValue("value"))


def test_every_group_has_an_id_of_its_own():
    texts = ["one two three four", "five six seven eight", "nine ten eleven twelve", "so much for that"]
    hits = [{"id": own, "text": text} for own, text in zip(["a", "a", "a\x001", "a\udcff1"], texts, strict=True)]
    groups = collapse(hits).page
    assert len({group.id for group in groups}) == 4
    for group in groups:
        assert collapse(hits, include=group.id).page[0].kept == group.kept


def test_other_groups_keep_their_ids_if_two_hits_have_one_id():
    hits = [{"id": own, "text": text} for own, text in zip("abb", [FERRY, STORM, None], strict=True)]
    assert [group.id for group in collapse(hits[:2]).page] == [group_id("a"), group_id("b")]
    assert [group.id for group in collapse(hits).page] == [group_id("a"), group_id("b"), group_id("b", 1)]


def test_a_page_of_members_reports_all_hidden_hits_of_the_group():
    hits = [{"id": number, "text": FERRY} for number in range(4)]
    for page, kept, hidden in ((1, 1, 1), (2, 0, 2), (3, 0, 0)):
        for group in collapse(hits, include=group_id("0"), size=2, page=page).page:
            assert (len(group.kept), len(group.hidden), group.hides) == (kept, hidden, 3)


def test_a_cache_knows_what_is_signed_of_records(tmp_path):
    cache = JudgedSets()
    with Index.create(tmp_path / "signed", Checksum(fields=(Field(name="title"), Field(name="body")))) as index:
        for titles, bodies, kept in (("AA", "xx", ["a"]), ("AB", "xx", ["a", "b"]), ("AA", "xy", ["a", "b"])):
            hits = [
                {"id": own, "title": one, "text": text} for own, one, text in zip("ab", titles, bodies, strict=True)
            ]
            assert collapse(hits, index=index, cache=cache).kept == kept


def test_a_closed_index_answers_nothing_not_even_from_a_cache_or_records(index):
    cache, given = JudgedSets(), [{"id": own, "kind": 1} for own in IDS]
    collapse(IDS, index=index, cache=cache)
    index.close()
    for hits, rule, stored in ((IDS, None, cache), (given, SameValue("kind"), None)):
        with pytest.raises(StorageRefused, match="is closed"):
            collapse(hits, rule, index=index, cache=stored)
