import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.passages import shared_passages
from neardup.interfaces.pieces import pieces

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "你", ",", "\n"]), max_size=24).map(" ".join)
SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda pair: (pair[0], sum(pair))), max_size=5)


def both(a, b, context):
    found = shared_passages(a, b)
    left = pieces(a, [passage.a for passage in found.shared], found.only_in_a, context)
    return left, pieces(b, [passage.b for passage in found.shared], found.only_in_b, context), found


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
def test_whatever_overlaps_nothing_is_lost_or_said_twice(text, shared, context):
    whole = pieces(text, shared, [], 1000)
    assert "".join(piece.text for piece in whole) == text
    short = pieces(text, shared, [], context)
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
