import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.plans import Curve
from neardup.interfaces.pages.distributions import histogram_svg, loglog_svg
from neardup.interfaces.pages.drawing import BOTTOM, HEIGHT, LEFT, TOP, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
EDGES = [0.5, 0.6, 0.8, 1.0]
HOSTILE = "</svg><script>&\x00\ud800"


def histogram(counts, edges=EDGES, **more):
    return ET.fromstring(histogram_svg(counts, edges, **{"title": "Pairs", **more}))  # noqa: S314 - our own


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def test_bars_are_as_high_as_their_counts():
    bars = list(histogram([10, 0, 50]).iter(f"{SVG}rect"))
    low, high = (float(bar.get("height")) for bar in bars)
    assert high == pytest.approx(5 * low, abs=0.3)
    assert high == pytest.approx(HEIGHT - BOTTOM - TOP, abs=0.1)  # the scale ends at 50
    assert [bar.find(f"{SVG}title").text for bar in bars] == ["50 % to 60 %: 10", "80 % to 100 %: 50"]


@given(st.lists(st.integers(0, 10**12), min_size=3, max_size=3))
def test_bars_stay_in_the_frame(counts):
    root = histogram(counts, threshold=0.7)
    for bar in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(bar.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= LEFT
        assert y >= TOP - 0.1
        assert x + width <= WIDTH
        assert y + height == pytest.approx(HEIGHT - BOTTOM, abs=0.11)
    assert len([line for line in root.iter(f"{SVG}line") if line.get("class") == "threshold"]) == 1


def test_a_curve_has_its_own_scale():
    curve = Curve(name=HOSTILE, measure="", values=(0.5, 0.75, 1.0), probabilities=(0.0, 0.25, 1.0))
    root = histogram([1, 2, 3], curve=curve)
    (path,) = root.iter(f"{SVG}path")
    assert len(path.get("d").split("L")) == 3
    assert "100 %" in texts(root)
    assert not list(root.iter(f"{SVG}script"))


def test_sizes_and_counts_by_powers_of_ten():
    root = ET.fromstring(loglog_svg([1, 10, 100], [100, 10, 1], title=HOSTILE))  # noqa: S314 - our own
    xs, ys = ([float(dot.get(name)) for dot in root.iter(f"{SVG}circle")] for name in ("cx", "cy"))
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.11)
    assert ys[1] - ys[0] == pytest.approx(ys[2] - ys[1], abs=0.11) == pytest.approx(ys[1] - ys[0])
    assert {"1", "10", "100"} <= set(texts(root))
