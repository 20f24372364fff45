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
    st.booleans(),
)
def test_it_stays_in_its_frame(curves, width, height, braille):
    lines = draw(VALUES, curves, width=width, height=height, braille=braille)
    assert len(lines) == max(height, 2) + 2
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)
    assert braille or all(line.isascii() for line in lines)


def test_a_diagonal():
    lines = draw(VALUES, [RISING], width=28, height=21, braille=False)
    rows = [line[7:] for line in lines[:21]]
    assert all(set(row) <= {" ", "*"} for row in rows)
    assert [row.rindex("*") for row in rows] == list(range(20, -1, -1))


def test_every_column_of_dots_of_the_first_curve_is_drawn():
    lines = draw(VALUES, [FLAT], width=27, height=5, braille=True)
    assert [line[7:] for line in lines[:5]].count("⠒" * 20) + [line[7:] for line in lines[:5]].count("⠤" * 20) == 1


def test_curves_are_told_apart_without_colours():
    ascii_lines = draw(VALUES, [RISING, FLAT], width=40, height=9, braille=False)
    assert {"*", "+"} <= set("".join(ascii_lines))
    assert legend(["match", "candidate"], braille=False) == "* match   + candidate"
    assert len(set(legend(["a", "b", "c"], braille=True).split())) == 6
    solid, broken = (draw(VALUES, curves, width=40, height=9, braille=True) for curves in ([FLAT], [RISING, FLAT]))
    assert solid != broken


@pytest.mark.parametrize(("low", "shown"), [(0.0, "0 %"), (0.8, "80 %")])
def test_axes_say_what_they_span(low, shown):
    lines = draw([low, 1.0], [[0.0, 1.0]], width=30, height=5, braille=False)
    assert lines[-1].strip().startswith(shown)
    assert lines[-1].endswith("100 %")
    assert [line[:5].strip() for line in lines[:5]] == ["100 %", "", "50 %", "", "0 %"]
