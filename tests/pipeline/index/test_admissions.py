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
        neardup.Known("a", representative="a"),
        neardup.Known("b", changed=True, representative="a"),
        neardup.ExactDuplicate("a", "a"),
    ]
    assert asked == said
    assert index.values("host", ids) == [None, "y", "z"]


def test_a_visit_of_nothing(index):
    assert index.visit([], []) == index.visit([], [], remember=False) == []


def test_a_batch_that_is_visited_is_cut_before_an_id_that_it_has(index):
    said = index.visit(["a", "a", "b", "a"], [STORM, STORM, STORM, "another text that has nothing to do with it"])
    assert said[1:3] == [neardup.Known("a", representative="a"), neardup.ExactDuplicate("a", "a")]
    assert said[3] == neardup.Known("a", changed=True)


@pytest.mark.parametrize("remember", [True, False])
def test_a_page_that_comes_alone_is_looked_up_once(index, remember, monkeypatch):
    looked = []
    usual = Store.with_ids
    monkeypatch.setattr(Store, "with_ids", lambda store, ids: looked.append(list(ids)) or usual(store, ids))
    assert index.visit(["a"], [STORM], remember=remember) == [neardup.New()]
    assert looked == [["a"]]


def test_many_are_visited_step_by_step(index):
    number = TOGETHER + 2
    ids, texts = [f"n{row}" for row in range(number)], [f"word{row} number{row}" for row in range(number)]
    assert index.visit(ids, texts) == [neardup.New()] * number
    assert index.visit(ids, texts) == [neardup.Known(own, representative=own) for own in ids]


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
    for verdicts in (index.known(*asked), index.visit(*asked, remember=False), index.visit(*asked)):
        a, b, c, d, e = verdicts
        assert [one.changed for one in (a, b, c, d)] == [True] * 4
        assert not isinstance(e, neardup.Known)
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
        assert stays == neardup.Known("a", representative="a")
        assert (stays.resemblance, stays.representative) == (resemblance, "a")
        assert changed == neardup.Known("b", changed=True)
        assert same == neardup.Known("c")
    found = {one.id: (one.text, one.last_seen.timestamp()) for one in index.get(["a", "b"])}
    assert found == {"a": (PAGE, 2), "b": (texts[1], 2)}
    # the version that was admitted counts, not the one that was seen last
    (changed,) = index.visit(["a"], texts[:1], changed_at_least=(1 + resemblance) / 2)
    assert changed == neardup.Known("a", changed=True)
    assert index.known(["a"], texts[:1]) == [neardup.Known("a")]


@pytest.mark.parametrize("share", [0, 1.5, 95, "0.9", True])
def test_the_least_resemblance_of_unchanged_content_is_a_share(share):
    index = neardup.Index.create()
    with pytest.raises(neardup.ParameterError, match="changed_at_least"):
        index.visit(["a"], ["text"], changed_at_least=share)
    with pytest.raises(neardup.ParameterError, match="changed_at_least"):
        neardup.CrawlFilter(index, changed_at_least=share)
    assert len(index) == 0
