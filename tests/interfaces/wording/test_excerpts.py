from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.passages import shared_passages
from neardup.interfaces.wording.excerpts import Excerpt, excerpt, pieces

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "你", ",", "\n"]), max_size=24).map(" ".join)
SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda pair: (pair[0], sum(pair))), max_size=5)


def both(a, b, context):
    found = shared_passages(a, b)
    left = list(pieces(a, [passage.a for passage in found.shared], found.only_in_a, context))
    return left, list(pieces(b, [passage.b for passage in found.shared], found.only_in_b, context)), found


@given(TEXTS, TEXTS)
def test_pieces_are_the_whole_text_and_every_passage_begins_in_one(a, b):
    left, right, found = both(a, b, 1000)
    assert "".join(piece.text for piece in left) == a
    assert "".join(piece.text for piece in right) == b
    for parts in (left, right):
        numbers = [number for piece in parts for number in piece.passages]
        assert sorted(numbers) == list(range(len(found.shared)))
    assert [piece.text for piece in left if piece.kind == "alone"] == [a[slice(*span)] for span in found.only_in_a]


@given(st.text(min_size=30, max_size=40), SPANS, st.integers(0, 5))
def test_overlapping_passages_are_neither_lost_nor_repeated(text, shared, context):
    whole = list(pieces(text, shared, [], 1000))
    assert "".join(piece.text for piece in whole) == text
    short = list(pieces(text, shared, [], context))
    assert sum(len(piece.text) + piece.omitted + len(piece.rest) for piece in short) == len(text)
    for piece, one in zip(short, whole, strict=True):
        assert one.text.startswith(piece.text)
        assert one.text.endswith(piece.rest)
        assert piece.kind != "shared" or max(len(piece.text), len(piece.rest)) <= context or not piece.omitted


def test_long_stretches_are_cut_at_spaces():
    text = "one two three four five six seven eight nine ten"
    (piece,) = pieces(text, [(0, len(text))], [], 10)
    assert (piece.text, piece.rest) == ("one two ", " nine ten")
    assert piece.omitted == len(text) - len("one two  nine ten")
    (alone,) = pieces(text, [], [(0, len(text))], 2)
    assert (alone.text, alone.rest) == ("one two three four ", " eight nine ten")


@pytest.mark.parametrize(("text", "kinds"), [("", []), ("...", ["between"])])
def test_texts_without_words(text, kinds):
    assert [piece.kind for piece in pieces(text, [], [], 10)] == kinds


@pytest.mark.timeout(120)
def test_a_stretch_that_very_many_passages_repeat_takes_no_longer_than_they_are_many():
    (piece,) = pieces("x y z", [(0, 5)] * 300_000, [], 10)
    assert piece.passages == tuple(range(300_000))


def test_only_the_pieces_that_are_asked_for_are_cut():
    class Text(str):
        __slots__ = ("cuts",)

        def __getitem__(self, place):
            self.cuts += 1
            return super().__getitem__(place)

    text = Text("one two " * 1000)
    text.cuts = 0
    spans = [(begin, begin + 3) for begin in range(0, 8000, 8)]
    assert len(list(islice(pieces(text, spans, [], 10), 5))) == text.cuts == 5


@given(TEXTS, TEXTS, st.integers(1, 40), st.integers(1, 30), st.none() | st.integers(1, 5))
def test_an_excerpt_is_bounded_and_counts_the_rest(a, b, context, characters, most):
    found = shared_passages(a, b)
    passages = [passage.a for passage in found.shared]
    whole = [*pieces(a, passages, found.only_in_a, context)]
    part, left = excerpt(a, passages, found.only_in_a, context, most=most, characters=characters)
    assert [*part] == whole[: len(part)]
    assert left == len(a) - sum(len(piece.text) + piece.omitted + len(piece.rest) for piece in part)
    shown = [len(piece.text) + len(piece.rest) for piece in part]
    assert most is None or len(part) <= most
    assert sum(shown[:-1]) < characters
    assert not left or len(part) == most or sum(shown) >= characters


def test_without_bounds_an_excerpt_is_the_whole_text():
    assert excerpt("", [], [], 10) == Excerpt((), 0)
    assert excerpt("a b", [(0, 1)], [], 10) == Excerpt((*pieces("a b", [(0, 1)], [], 10),), 0)
