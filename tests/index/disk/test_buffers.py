import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.buffers import ChangedStrings, Growing, GrowingStrings, checksums, differing, some, taken
from neardup.index.disk.columns import decoded, encoded

KEY = np.array([3, 5], np.uint64)


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


def test_some_strings_are_taken_or_cut_without_a_copy():
    strings = encoded(["a", "bc", "", "def"])
    assert decoded(some(strings, np.array([3, 1]))) == ["def", "bc"]
    cut = some(strings, slice(1, 3))
    assert len(cut) == 2
    assert np.shares_memory(cut.data, strings.data)
    with pytest.raises(IndexError):
        taken(strings, np.array([4]))


@given(st.lists(st.text(max_size=3), min_size=1, max_size=9), st.data())
def test_changed_strings_cover_those_of_the_column(column, data):
    changed, expected = ChangedStrings(), dict(enumerate(column))
    whole = encoded(column)
    place = st.integers(0, len(column) - 1)
    for _ in range(data.draw(st.integers(0, 4))):
        news = data.draw(st.dictionaries(place, st.text(max_size=3)))
        changed.change(np.array([*news], np.int64), encoded([*news.values()]))
        expected |= news
    asked = np.array(data.draw(st.lists(place)), np.int64)
    found = changed.over(lambda positions, most: taken(whole, positions, most), asked)
    assert decoded(found) == [expected[own] for own in asked]
    cut = changed.over(lambda positions, most: taken(whole, positions, most), asked, most=1)
    assert [cut.bytes_at(row) for row in range(len(asked))] == [expected[own].encode()[:1] for own in asked]
    positions, strings = changed.changes()
    latest = dict(zip(positions.tolist(), decoded(strings), strict=True))
    assert {**dict(enumerate(column)), **latest} == expected


def test_strings_that_change_again_and_again_take_no_more_memory():
    changed, place, sizes = ChangedStrings(), np.array([7]), set()
    for turn in range(5000):
        changed.change(place, encoded([f"value {turn}"]))
        sizes.add(changed.nbytes)
    assert max(sizes) < 10_000
    assert [part.tolist() for part in (changed.changes()[0],)] == [[7]]
    assert decoded(changed.changes()[1]) == ["value 4999"]


@given(st.lists(st.tuples(st.text("aé", max_size=3), st.text("aé", max_size=3))), st.booleans())
def test_which_strings_differ(pairs, cut):
    one, other = (encoded(["before", *side]) for side in ([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    if cut:  # strings that do not begin at the beginning of the data
        one = some(one, slice(1, len(one)))
        other = taken(other, np.arange(1, len(other)))
        assert differing(one, other).tolist() == [left != right for left, right in pairs]
    else:
        assert differing(one, other).tolist() == [False, *(left != right for left, right in pairs)]


def test_equal_strings_have_equal_checksums_under_one_key():
    sums = checksums(encoded(["a", "b", "a", ""]), KEY)
    assert sums.dtype == np.uint64
    assert sums[0] == sums[2]
    assert len({*sums.tolist()}) == 3
    assert (checksums(encoded(["a"]), KEY + np.uint64(1)) != sums[:1]).all()
    assert len(checksums(encoded([]), KEY)) == 0
