import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.interfaces.cli.chart import LEAST_WIDTH, draw, legend

VALUES = [step / 20 for step in range(21)]
RISING = [step / 20 for step in range(21)]
FLAT = [0.5] * 21


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=21, max_size=21), min_size=1, max_size=4),
    st.integers(-5, 120),
    st.integers(0, 30),
)
def test_it_stays_in_its_frame(curves, width, height):
    lines = draw(VALUES, curves, width=width, height=height)
    assert len(lines) == max(height, 2) + 2
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)
    assert all(line.isascii() for line in lines)


def test_a_diagonal():
    lines = draw(VALUES, [RISING], width=28, height=21)
    rows = [line[7:] for line in lines[:21]]
    assert all(set(row) <= {" ", "*"} for row in rows)
    assert [row.rindex("*") for row in rows] == list(range(20, -1, -1))


def test_curves_are_told_apart_without_colours():
    lines = draw(VALUES, [RISING, FLAT], width=40, height=9)
    assert {"*", "+"} <= set("".join(lines))
    assert legend(["match", "candidate"]) == "* match   + candidate"


@pytest.mark.parametrize(("low", "shown"), [(0.0, "0 %"), (0.8, "80 %")])
def test_axes_say_what_they_span(low, shown):
    lines = draw([low, 1.0], [[0.0, 1.0]], width=30, height=5)
    assert lines[-1].strip().startswith(shown)
    assert lines[-1].endswith("100 %")
    assert [line[:5].strip() for line in lines[:5]] == ["100 %", "", "50 %", "", "0 %"]
