import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.index.disk.store import Store
from neardup.pipeline.index.inputs import TOGETHER

STORM = "the storm tore roofs from nine houses by the sea and felled the old lime tree before the church"


@pytest.fixture
def index(tmp_path):
    with neardup.Index.create(tmp_path / "index", fields={"host": "string"}) as index:
        yield index


def test_a_visit_says_what_is_known_and_remembers_the_rest(index):
    index.admit(["a", "b"], [STORM, "a fair is held at the harbour on the first Sunday in May"])
    ids, texts = ["a", "b", "c"], [STORM, f"{STORM} today", STORM]
    asked = index.visit(ids, texts, remember=False)
    assert asked == index.visit(ids, texts, remember=False)
    said = index.visit(ids, texts, {"host": ["x", "y", "z"]})
    assert [verdict.representative for verdict in said] == ["a", "a", "a"]
    assert said == [
        neardup.verdicts.Known("a", representative="a"),
        neardup.verdicts.Known("b", changed=True, representative="a"),
        neardup.verdicts.ExactDuplicate("a", "a"),
    ]
    assert asked == said
    assert index.values("host", ids) == ["x", "y", "z"]


@pytest.mark.parametrize("texts", [[STORM] * 3, [STORM.title(), STORM, STORM], [STORM, f"{STORM} today", STORM]])
def test_documents_that_are_admitted_again_repeat_only_those_before_them(index, texts):
    ids = ["a", "b", "c"]
    said = index.admit(ids, texts)
    assert [verdict.representative for verdict in said] == [None, "a", "a"]
    assert said[1].of == "a"
    assert index.admit(ids, texts) == said
    assert index.admit(ids[::-1], texts[::-1]) == said[::-1]


def test_a_visit_of_nothing(index):
    assert index.visit([], []) == index.visit([], [], remember=False) == []


def test_a_batch_that_is_visited_is_cut_before_an_id_that_it_has(index):
    said = index.visit(["a", "a", "b", "a"], [STORM, STORM, STORM, "another text that has nothing to do with it"])
    assert said[1:3] == [neardup.verdicts.Known("a", representative="a"), neardup.verdicts.ExactDuplicate("a", "a")]
    assert said[3] == neardup.verdicts.Known("a", changed=True)


@pytest.mark.parametrize("kind", ["texts", "signatures", "few changes", "admitted"])
@pytest.mark.parametrize("seed", range(3))
def test_repeats_in_a_batch_are_answered_after_all_first_ones_as_one_by_one(tmp_path, kind, seed):
    random = np.random.default_rng(seed)
    scheme = neardup.MinHash()
    fields = {"title": "string", "rank": "integer"}
    texts = [f"{STORM} {number % 3} {'today ' * (number % 2)}" for number in range(8)]
    given = scheme.sign if kind == "signatures" else list
    least = {"changed_at_least": 0.5} if kind == "few changes" else {}
    whole, one_by_one = (
        neardup.Index.create(tmp_path / name, scheme, fields=fields, texts=kind != "signatures") for name in "ab"
    )

    def visited(index, pages, at):
        ids, some, titles, ranks = zip(*pages, strict=True)
        admit = index.admit if kind == "admitted" else index.visit
        return admit(ids, given(some), {"title": titles, "rank": ranks}, at=at, **least)

    with whole, one_by_one:
        for at in range(4):
            content = {f"p{number}": texts[(number * 5 + at * seed + at) % 8] for number in range(8)}
            ids = [f"p{number}" for number in random.integers(0, 8, 30)]
            known = random.random((2, 30)) < 0.6
            pages = [
                (name, content[name], f"t{place}" if known[0, place] else None, place if known[1, place] else None)
                for place, name in enumerate(ids)
            ]
            first = [ids.index(name) for name in dict.fromkeys(ids)]
            expected = dict(zip(first, visited(one_by_one, [pages[place] for place in first], at), strict=True))
            expected |= {place: visited(one_by_one, [pages[place]], at)[0] for place in range(30) if place not in first}
            assert visited(whole, pages, at) == [expected[place] for place in range(30)]
            assert whole.get(sorted(content)) == one_by_one.get(sorted(content))


def test_an_id_that_is_often_in_a_batch_costs_two_steps(index, monkeypatch):
    written = []
    usual = Store.commit
    monkeypatch.setattr(Store, "commit", lambda store: written.append(1) or usual(store))
    ids = [f"page {number % 3}" for number in range(60)]
    said = index.visit(ids, [STORM] * 60, {"host": [None if number > 40 else f"h{number}" for number in range(60)]})
    assert said[3:] == [neardup.verdicts.Known(name, representative="page 0") for name in ids[3:]]
    assert index.values("host", ids[:3]) == ["h39", "h40", "h38"]
    assert len(written) == 2


@pytest.mark.parametrize("remember", [True, False])
def test_a_single_page_is_looked_up_once(index, remember, monkeypatch):
    looked = []
    usual = Store.with_ids
    monkeypatch.setattr(Store, "with_ids", lambda store, ids: looked.append(list(ids)) or usual(store, ids))
    assert index.visit(["a"], [STORM], remember=remember) == [neardup.verdicts.New()]
    assert looked == [["a"]]


def test_many_are_visited_step_by_step(index):
    number = TOGETHER + 2
    ids, texts = [f"n{row}" for row in range(number)], [f"word{row} number{row}" for row in range(number)]
    assert index.visit(ids, texts) == [neardup.verdicts.New()] * number
    assert index.visit(ids, texts) == [neardup.verdicts.Known(own, representative=own) for own in ids]


WORDS = [
    "the",
    "ferry",
    "to",
    "the",
    "island",
    "leaves",
    "the",
    "harbour",
    "at",
    "dawn",
    "with",
    "the",
    "first",
    "mail",
]
PAGE = " ".join(f"{word}{number}" for number in range(6) for word in WORDS)


def shares(old, new, size):
    """The resemblance, and the share of the old shingles that the new text has."""
    one, other = (
        {tuple(text.split()[at:][:size]) for at in range(len(text.split()) - size + 1)} for text in (old, new)
    )
    return len(one & other) / len(one | other), len(one & other) / len(one)


@pytest.mark.parametrize("texts", [True, False])
def test_changed_content_is_compared_with_its_own_last_version(texts):
    index = neardup.Index.create(scheme=neardup.MinHash(permutations=256), texts=texts)
    counted, longer = PAGE.replace("ferry3", "4711"), f"{PAGE} {' '.join(WORDS)}"
    index.admit(["a", "b", "c", "d"], [PAGE, PAGE + " too", "", PAGE])
    asked = (["a", "b", "c", "d", "e"], [counted, longer, PAGE, "one two three four five six", counted])
    for verdicts in (index.visit(*asked, remember=False), index.visit(*asked)):
        a, b, c, d, e = verdicts
        assert [one.changed for one in (a, b, c, d)] == [True] * 4
        assert not isinstance(e, neardup.verdicts.Known)
        assert (c.resemblance, c.contained) == (None, None)  # it had no features
        expected = [shares(PAGE, counted, 3), shares(f"{PAGE} too", longer, 3), (0, 0)]
        found = [(one.resemblance, one.contained) for one in (a, b, d)]
        if texts:
            assert found == expected
        else:
            assert [contained for _, contained in found] == [None] * 3
            assert all(abs(own[0] - right[0]) < 0.15 for own, right in zip(found, expected, strict=True))


def test_small_changes_may_count_as_none():
    index = neardup.Index.create(texts=True)
    index.admit(["a", "b", "c"], [PAGE, "something else altogether", "rye and water and time"], at=1)
    texts = [PAGE.replace("ferry3", "4711"), "another text by now", "rye and water and time"]
    resemblance, _ = shares(PAGE, texts[0], 3)
    for remember in (False, True):
        ways = {"remember": remember, "at": 2}
        stays, changed, same = index.visit(["a", "b", "c"], texts, changed_at_least=resemblance, **ways)
        assert stays == neardup.verdicts.Known("a", representative="a")
        assert (stays.resemblance, stays.representative) == (resemblance, "a")
        assert changed == neardup.verdicts.Known("b", changed=True)
        assert same == neardup.verdicts.Known("c")
    found = {one.id: (one.text, one.last_seen.timestamp()) for one in index.get(["a", "b"])}
    assert found == {"a": (PAGE, 2), "b": (texts[1], 2)}
    # the version that was admitted counts, not the one that was seen last
    (changed,) = index.visit(["a"], texts[:1], changed_at_least=(1 + resemblance) / 2)
    assert changed == neardup.verdicts.Known("a", changed=True)
    assert index.visit(["a"], texts[:1], remember=False) == [neardup.verdicts.Known("a")]


@pytest.mark.parametrize("share", [0, 1.5, 95, "0.9", True])
def test_the_least_resemblance_of_unchanged_content_is_a_share(share):
    index = neardup.Index.create()
    with pytest.raises(neardup.errors.ParameterError, match="changed_at_least"):
        index.visit(["a"], ["text"], changed_at_least=share)
    with pytest.raises(neardup.errors.ParameterError, match="changed_at_least"):
        neardup.CrawlFilter(index, changed_at_least=share)
    assert len(index) == 0


FAIR = "a fair is held at the harbour on the first Sunday in May, with forty stalls and two bands"
KINDS = {"title": "string", "score": "number", "rank": "integer", "at": "time", "ok": "flag"}
OLD = {"title": ["Storm", None], "score": [1.5, float("nan")], "rank": [1, None], "at": [0, 5], "ok": [True, None]}
NEW = {"title": ["Storm", "Fair"], "score": [None, float("nan")], "rank": [2, 0], "at": [0, None], "ok": [True, False]}


def columns(given):
    return given | {"at": pa.array(given["at"], pa.timestamp("us", "UTC"))}


@pytest.fixture(params=["disk", "memory"])
def fielded(request, tmp_path):
    path = tmp_path / "index" if request.param == "disk" else None
    with neardup.Index.create(path, fields=KINDS) as index:
        index.admit(["a", "b"], [STORM, FAIR], columns(OLD), at=100)
        yield index


@pytest.mark.parametrize("how", ["admit", "visit", "signatures"])
@pytest.mark.parametrize("flushed", [False, True])
def test_a_document_that_is_admitted_again_has_its_new_fields(fielded, how, flushed):
    index = fielded
    if flushed:
        index.flush()
    before, stats, generation = index.get(["a", "b"]), index.stats(), index.changes().generation
    texts = index.scheme.sign([STORM, FAIR]) if how == "signatures" else [STORM, FAIR]
    said = getattr(index, "visit" if how == "visit" else "admit")(["a", "b"], texts, columns(NEW), at=200)
    known = [neardup.verdicts.Known(own, representative=own) for own in ("a", "b")]
    assert said == (known if how == "visit" else [neardup.verdicts.New()] * 2)
    after = index.get(["a", "b"])
    assert [own.fields["title"] for own in after] == NEW["title"]
    assert [own.fields["rank"] for own in after] == NEW["rank"]
    assert [own.fields["ok"] for own in after] == NEW["ok"]
    assert after[0].fields["score"] == 1.5  # a field without a value stays as it is
    assert after[1].fields["score"] != after[1].fields["score"]
    assert [own.fields["at"].timestamp() for own in after] == [0, 5e-6]
    for old, now in zip(before, after, strict=True):  # and nothing else is different
        assert (now.first_seen, now.changed_at, now.representative) == (
            old.first_seen,
            old.changed_at,
            old.representative,
        )
        assert now.last_seen.timestamp() == 200
    assert index.next_admission == 2
    assert (index.stats().documents, index.stats().kept) == (stats.documents, stats.kept)
    (table,) = index.changes(generation).documents
    assert table["id"].to_pylist() == ["a", "b"]
    assert table["title"].to_pylist() == NEW["title"]
    index.admit(["a"], [STORM])
    assert index.get(["a"])[0].fields == after[0].fields
    index.admit(["a"], [FAIR])  # other content is another document
    assert index.get(["a"])[0].fields == dict.fromkeys(KINDS)


def test_equal_fields_are_not_written_again(fielded):
    def grown(action):
        before = fielded.store.log_bytes
        action()
        return fielded.store.log_bytes - before

    usual = grown(lambda: fielded.see(["a", "b"], at=200))
    assert grown(lambda: fielded.visit(["a", "b"], [STORM, FAIR], columns(OLD), at=300)) == usual
    assert grown(lambda: fielded.admit(["a", "b"], [STORM, FAIR], columns(OLD), at=400)) == usual
    assert fielded.store.field_changes.number == 0
    one = grown(lambda: fielded.visit(["a", "b"], [STORM, FAIR], columns(OLD | {"rank": [7, None]})))
    assert usual < one < usual + 200


def test_fields_change_next_to_new_and_changed_documents_and_small_changes(fielded):
    ids, texts = ["a", "c", "b"], [f"{STORM} today", STORM, FAIR]
    said = fielded.visit(ids, texts, {"title": ["A", "C", "B"]}, changed_at_least=0.5)
    assert [verdict.name for verdict in said] == ["known", "exact duplicate", "known"]
    assert not said[0].changed
    assert fielded.values("title", ids) == ["A", "C", "B"]
    said = fielded.admit(["c", "a", "d"], ["a third text, of nothing in particular", STORM, FAIR], {"title": [*"xyz"]})
    assert fielded.values("title", ["c", "a", "d", "b"]) == ["x", "y", "z", "B"]


def test_the_site_of_a_page_stays_with_its_content(tmp_path):
    with neardup.Index.create(tmp_path / "index", fields={"neardup_site": int, "title": str}) as index:
        index.admit(["a"], [STORM], {"neardup_site": [8], "title": ["old"]})
        index.visit(["a"], [STORM], {"neardup_site": [12], "title": ["new"]})
        place = index.store.with_ids(["a"])
        assert index.store.take("field.neardup_site", place).tolist() == [8]
        assert index.values("title", ["a"]) == ["new"]


@pytest.mark.parametrize("scheme", [neardup.MinHash(), neardup.Sentences(), neardup.SimHash()])
def test_blank_texts_are_the_same_content_if_they_are_not_signed(scheme):
    index = neardup.Index.create(None, scheme, texts=True, fields={"host": "string"})
    index.admit(["a", "b"], ["", "  "], {"host": ["x", "x"]}, at=1)
    assert [one.changed for one in index.visit(["a"], ["\n"]) + index.visit(["a"], [" "], at=2)] == [False, False]
    index.admit(["b"], ["\t"], {"host": ["y"]}, at=2)
    (own,) = index.get(["b"])
    assert (own.text, own.changed_at.second, own.last_seen.second, own.fields) == ("  ", 1, 2, {"host": "y"})


@pytest.mark.parametrize("remember", ["admit", "visit"])
def test_a_signed_blank_text_that_replaces_another_one_is_changed_content(remember):
    index = neardup.Index.create(None, neardup.Checksum.for_texts(), texts=True)
    index.admit(["a", "b"], ["  ", " "], at=1)
    assert [one.changed for one in index.visit(["a", "b"], ["  ", "  "], remember=False)] == [False, True]
    (said,) = getattr(index, remember)(["b"], ["  "], at=2)
    assert (said.of, said.representative) == ("b" if remember == "visit" else "a", "a")
    assert remember == "admit" or said == neardup.verdicts.Known("b", changed=True)
    (own,) = index.get(["b"])
    assert (own.text, own.changed_at.second, own.representative) == ("  ", 2, "a")


def test_a_changed_text_that_is_all_that_is_signed_is_compared():
    index = neardup.Index.create(None, neardup.Checksum.for_texts())
    index.admit(["a"], [STORM])
    (asked,) = index.visit(["a"], [f"{STORM} today"], remember=False)
    assert asked.resemblance == 0.0
