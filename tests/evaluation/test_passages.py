import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import words

from neardup import DataError, ParameterError, Passage
from neardup.evaluation.passages import Passages, shared_passages

TEXTS = st.lists(st.sampled_from(["a", "B", "c", "é", "e\u0301", "你", ",", "\ud800", "\0", "😀"]), max_size=24).map(
    " ".join
)


def plain(text):
    """The words of a text, composed as the oracle of words expects them."""
    return words(text.replace("e\u0301", "é"))


@given(TEXTS, TEXTS, st.integers(1, 3))
@example("e\u0301 a b", "\ud800é a b", 3)
def test_passages_are_the_same_words_and_with_the_rest_they_are_all_words(a, b, least):
    found = shared_passages(a, b, least=least)
    for passage in found.shared:
        inside_a, inside_b = plain(a[slice(*passage.a)]), plain(b[slice(*passage.b)])
        assert inside_a == inside_b
        assert len(inside_a) == passage.words >= min(least, len(plain(a)))
    in_order = sorted([passage.a for passage in found.shared] + list(found.only_in_a))
    assert [word for span in in_order for word in plain(a[slice(*span)])] == plain(a)
    covered = {place for passage in found.shared for place in range(*passage.b)}
    for span in found.only_in_b:
        assert covered.isdisjoint(range(*span))
    outside = [
        letter for place, letter in enumerate(b) if place not in covered.union(*(range(*s) for s in found.only_in_b))
    ]
    assert words("".join(outside)) == []


@given(TEXTS)
def test_equal_texts_are_one_passage(text):
    found = shared_passages(text, text, least=1)
    assert len(found.shared) == (1 if words(text) else 0)
    assert found.only_in_a == found.only_in_b == ()


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "one two three"), ("one two three", "")])
def test_texts_without_words(a, b):
    everything = [(0, len(text)) for text in (a, b) if text]
    found = shared_passages(a, b)
    assert found.shared == ()
    assert [*found.only_in_a, *found.only_in_b] == everything


def test_offsets_are_those_of_the_texts_as_they_are_given():
    a = "Intro. THE cafe\u0301 was (nearly) empty that day"
    b = "😀 the Café was nearly empty!"
    assert shared_passages(a, b) == Passages(
        shared=(Passage((7, 35), (2, 27), 5),),
        only_in_a=((0, 5), (36, 44)),
        only_in_b=(),
    )
    assert a[7:35] == "THE cafe\u0301 was (nearly) empty"


def test_repeats_are_shared_as_often_as_the_first_text_has_them():
    once, twice = "one two three four", "one two three four; one two three four"
    assert len(shared_passages(twice, once).shared) == 2
    assert shared_passages(twice, once).only_in_a == ()
    assert len(shared_passages(once, twice).shared) == 1
    assert shared_passages(once, twice).only_in_b == ((20, 38),)


def test_hostile_arguments():
    for texts in [("a", None), (b"a", "a"), (1, "a")]:
        with pytest.raises(DataError):
            shared_passages(*texts)
    for least in (0, -1, 1.5, True, "3"):
        with pytest.raises(ParameterError, match="least"):
            shared_passages("a", "a", least=least)
