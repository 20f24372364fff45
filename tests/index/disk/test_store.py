"""The store of an index: documents by place, whatever part holds them."""

import numpy as np
import pytest

from neardup import Index, SimHash, StorageError

TEXTS = [f"text of document number {number}, unlike all the others {number * 7919}" for number in range(30)]


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "index", SimHash(), durability="bulk") as index:
        for begin in range(0, 30, 10):
            index.admit([f"d{number}" for number in range(begin, begin + 10)], TEXTS[begin : begin + 10])
            if begin < 20:
                index.flush()
        yield index


def test_places_lead_to_documents_in_every_part(index):
    store = index._store
    assert len(store.parts) > 1
    names = [f"d{number}" for number in (25, 3, 14)]
    places = store.with_ids([*names, "none"])
    assert places[3] < 0
    assert store.decoded("id", places[:3]) == names
    assert store.take("ordinal", places[:3]).tolist() == [25, 3, 14]
    assert store.with_ordinals(np.array([25, 3, 99])).tolist() == [places[0], places[1], places[3]]
    assert store.alive(places).tolist() == [True, True, True, False]
    assert [place for some in store.all_places() for place in some.tolist()] == sorted(
        place for some in store.all_places() for place in some.tolist()
    )
    assert len(store) == 30


def test_documents_behind_another_come_in_order(index):
    store = index._store
    found = store.take("ordinal", store.behind(7, 15))
    assert found.tolist() == [*range(8, 23)]
    assert not len(store.behind(29, 5))


def test_a_place_that_was_removed_leads_nowhere(index):
    store = index._store
    place = store.with_ids(["d3"])
    index.remove(["d3"])
    assert store.with_ids(["d3"])[0] < 0
    assert not store.alive(place)[0]
    assert len(store) == 29


def test_segments_are_merged_and_answers_stay(index):
    index.compact()
    store = index._store
    assert len(store.segments) == 1
    assert store.decoded("id", store.with_ids(["d29", "d0"])) == ["d29", "d0"]


def test_a_closed_store_is_refused(tmp_path):
    index = Index.create(tmp_path / "index")
    index.close()
    for question in (lambda: index.judge(["a"]), lambda: len(index), index.flush):
        with pytest.raises((StorageError, ValueError)):
            question()
