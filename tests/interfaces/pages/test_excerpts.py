from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.pages.excerpts import Fragment, excerpt


@st.composite
def marked(draw):
    """Give a text, mostly long, and ascending spans in it."""
    text = "".join(draw(st.lists(st.sampled_from(["word ", "x" * 90, "\n", "\U0001f600", "a b c "]), max_size=60)))
    edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12, unique=True)))
    return text, list(pairwise(edges))[::2]


@given(marked(), st.integers(1, 400), st.integers(0, 60))
def test_pieces_and_what_is_left_out_make_up_the_text(sample, limit, context):
    text, differing = sample
    fragments = excerpt(text, differing, limit=limit, context=context)
    at = 0
    for fragment in fragments:
        at += fragment.omitted
        assert text[at : at + len(fragment.text)] == fragment.text
        places = range(at, at + len(fragment.text))
        assert all(any(begin <= place < end for begin, end in differing) == fragment.differs for place in places)
        at += len(fragment.text)
    assert at == len(text)
    assert sum(len(fragment.text) for fragment in fragments) <= limit
    assert all(fragment.text for fragment in fragments[:-1])


def test_a_short_text_is_whole():
    assert excerpt("the cat sat", [(4, 7)]) == [Fragment("the ", False), Fragment("cat", True), Fragment(" sat", False)]
    assert excerpt("", []) == []


def test_a_difference_far_inside_is_shown_with_its_surroundings_and_whole_words():
    text = "alpha " * 1_000 + "changed " + "omega " * 1_000
    fragments = excerpt(text, [(6_000, 7_000)], context=40)
    assert [fragment.differs for fragment in fragments] == [False, False, True, True, False, False]
    around = [fragment.text for fragment in fragments]
    assert around[0].startswith("alpha ")
    assert around[0].endswith("alpha ")
    assert around[1].startswith(" alpha")
    assert "changed " in around[2]
    assert around[5].endswith("omega ")


def test_without_differences_the_beginning_is_shown():
    fragments = excerpt("x" * 5_000, [], limit=100)
    assert [(len(fragment.text), fragment.omitted) for fragment in fragments] == [(100, 0), (0, 4_900)]
