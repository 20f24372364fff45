import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.buffers import Growing, GrowingStrings, some, taken
from neardup.index.disk.columns import decoded, encoded


@given(st.lists(st.lists(st.integers(0, 255), max_size=90)))
def test_what_was_appended_is_there(parts):
    array = Growing(np.uint8)
    for part in parts:
        array.extend(np.array(part, np.uint8))
    assert array.values.tolist() == [value for part in parts for value in part]
    assert array.nbytes >= array.size


def test_room_doubles_so_that_it_is_seldom_copied():
    array, rooms = Growing(np.int64, (2,)), set()
    for _ in range(5000):
        array.extend(np.zeros((1, 2), np.int64))
        rooms.add(len(array.room))
    assert array.values.shape == (5000, 2)
    assert len(rooms) <= 8


@given(st.lists(st.lists(st.text(), max_size=5)), st.data())
def test_strings_are_copied_by_position(parts, data):
    strings = GrowingStrings()
    for part in parts:
        strings.extend(encoded(part))
    whole = [string for part in parts for string in part]
    places = data.draw(st.lists(st.integers(0, len(whole) - 1))) if whole else []
    found = strings.take(np.array(places, np.int64))
    assert decoded(found) == [whole[place] for place in places]
    cut = strings.take(np.array(places, np.int64), most=2)
    assert [cut.bytes_at(place) for place in range(len(places))] == [whole[place].encode()[:2] for place in places]


def test_some_strings():
    strings = encoded(["a", "bc", "", "def"])
    assert decoded(some(strings, np.array([3, 1]))) == ["def", "bc"]
    cut = some(strings, slice(1, 3))
    assert len(cut) == 2
    assert np.shares_memory(cut.data, strings.data)
    with pytest.raises(IndexError):
        taken(strings, np.array([4]))
