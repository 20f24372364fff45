"""Documents of an index by place, whatever part holds them."""

import numpy as np


def test_places_lead_to_documents_in_every_part(index):
    store = index._store
    assert len(store.parts) > 1
    names = [f"d{number}" for number in (25, 3, 14)]
    places = store.with_ids([*names, "none"])
    assert places[3] < 0
    assert store.decoded("id", places[:3]) == names
    assert (store.decoded("id", places), store.decoded("id", places[3:])) == ([*names, ""], [""])
    assert store.take("ordinal", places[:3]).tolist() == [25, 3, 14]
    assert store.with_ordinals(np.array([25, 3, 99])).tolist() == [places[0], places[1], places[3]]
    assert store.alive(places).tolist() == [True, True, True, False]
    assert [place for some in store.all_places() for place in some.tolist()] == sorted(
        place for some in store.all_places() for place in some.tolist()
    )
    assert len(store) == 30


def test_documents_behind_another_come_in_order(index):
    store = index._store
    found = store.take("ordinal", store.admitted_after(7, 15))
    assert found.tolist() == [*range(8, 23)]
    assert not len(store.admitted_after(29, 5))


def test_a_place_that_was_removed_leads_nowhere(index):
    store = index._store
    place = store.with_ids(["d3"])
    index.remove(["d3"])
    assert store.with_ids(["d3"])[0] < 0
    assert not store.alive(place)[0]
    assert len(store) == 29
