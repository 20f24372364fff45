import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import words

from neardup.evaluation.passages import RUN, Passages, longest_passage, passages_of_words, shared_passages
from neardup.results import Passage
from neardup.text.spans import word_spans

TEXTS = st.lists(st.sampled_from(["a", "B", "c", "é", "e\u0301", "你", ",", "\ud800", "\0", "😀"]), max_size=24).map(
    " ".join
)


def plain(text):
    """The words of a text, composed as the oracle of words expects them."""
    return words(text.replace("e\u0301", "é"))


@given(TEXTS, TEXTS, st.integers(1, 5))
@example("e\u0301 a b", "\ud800é a b", 3)
@example("a 😀 😀", "a 😀 😀 😀", 3)
def test_passages_are_the_same_words_and_with_the_rest_they_are_all_words(a, b, run):
    found = passages_of_words(word_spans(a), word_spans(b), run)
    least = max(run, RUN)
    for passage in found.shared:
        inside_a, inside_b = plain(a[slice(*passage.a)]), plain(b[slice(*passage.b)])
        assert inside_a == inside_b
        assert len(inside_a) == passage.words >= min(least, len(plain(a)))
    for own, other, shared, only in (
        (a, b, [passage.a for passage in found.shared], found.only_in_a),
        (b, a, [passage.b for passage in found.shared], found.only_in_b),
    ):
        assert [word for span in only for word in plain(own[slice(*span)])] == alone(plain(own), plain(other), run)
        inside = {place for span in only for place in range(*span)}
        assert all(inside.isdisjoint(range(*span)) for span in shared)


def alone(own, other, run):
    """The words that are in no run of this size that both texts have; a shorter text is one run."""

    def runs(text):
        return [tuple(text[begin : begin + run]) for begin in range(max(len(text) - run + 1, 1))] if text else []

    shared = {*runs(other)}
    covered = {place for begin, one in enumerate(runs(own)) if one in shared for place in range(begin, begin + run)}
    return [word for place, word in enumerate(own) if place not in covered]


@given(TEXTS, TEXTS, st.integers(1, 3))
@example("a b a b a", "b a b a b", 1)
def test_the_longest_passage_by_definition(a, b, least):
    own, other = plain(a), plain(b)
    least = min(least, len(own))
    runs = [own[begin:end] for begin in range(len(own)) for end in range(begin + max(1, least), len(own) + 1)]
    others = [other[begin:end] for begin in range(len(other)) for end in range(begin + 1, len(other) + 1)]
    longest = max((run for run in runs if run in others), key=len, default=None)  # the first one
    found = longest_passage(a, b, least=least)
    assert (None if found is None else plain(a[slice(*found)])) == longest


def test_the_longest_passage_may_begin_inside_another_one():
    words = [f"w{number}" for number in range(40)]
    text = " ".join([*words[:25], "x", *words[4:]])
    assert longest_passage(" ".join(words), text) == (len(" ".join(words[:4])) + 1, len(" ".join(words)))
    assert longest_passage("a b", "b a b") == (0, 3)
    assert longest_passage("a b c", "a b") is None


@given(TEXTS)
def test_equal_texts_are_one_passage(text):
    found = shared_passages(text, text)
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
    b = "— the Café was nearly empty!"
    assert shared_passages(a, b) == Passages(
        run=3, shared=(Passage((7, 35), (2, 27), 5),), only_in_a=((0, 5), (36, 44)), only_in_b=()
    )
    assert a[7:35] == "THE cafe\u0301 was (nearly) empty"


def test_what_is_repeated_is_shared_each_time():
    once, twice = "one two three four", "one two three four; one two three four"
    for pair in ((once, twice), (twice, once)):
        found = shared_passages(*pair)
        assert len(found.shared) == (2 if pair[0] == twice else 1)
        assert found.only_in_a == found.only_in_b == ()


def test_a_run_that_no_passage_covers_is_shared_all_the_same():
    a, b = "a b c d e", "a b c d x c d e"
    found = shared_passages(a, b)
    assert [passage.words for passage in found.shared] == [4]  # disjoint in a, so c d e is in none
    assert found.only_in_a == ()
    assert [b[slice(*span)] for span in found.only_in_b] == ["x"]


@pytest.mark.parametrize("run", [1, 2, 3, 5])
@pytest.mark.parametrize("text", ["one", "one two", "one two three"])
def test_short_equal_texts_share_all_words_whatever_a_run_is(text, run):
    (one,) = passages_of_words(word_spans(text), word_spans(text), run).shared
    assert one.words == len(text.split())
