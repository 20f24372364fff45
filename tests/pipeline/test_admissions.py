import pytest

import neardup
from neardup.index.disk.store import Store
from neardup.pipeline.inputs import TOGETHER

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
