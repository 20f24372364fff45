import xml.etree.ElementTree as ET

import pytest

from neardup.evaluation.plans import Curve, plan
from neardup.interfaces.pages.curves import curve_svg
from neardup.interfaces.pages.drawing import BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert("1")</script>&\x00\ud800\u202e'


def curve(name="match", *probabilities):
    shares = probabilities or (0.0, 0.5, 1.0)
    values = tuple(step / (len(shares) - 1) for step in range(len(shares)))
    return Curve(name=name, measure="resemblance", values=values, probabilities=shares)


def drawn(*curves, **more):
    return ET.fromstring(curve_svg(curves, **{"title": "A curve", **more}))  # noqa: S314 - our own


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def points(path):
    return [tuple(map(float, point.split())) for point in path.get("d")[1:].split("L")]


def test_a_curve_lies_where_its_numbers_are():
    root = drawn(curve())
    (path,) = root.iter(f"{SVG}path")
    (left, bottom), middle, (right, top) = points(path)
    assert (left, bottom, right) == (LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT)
    assert middle == (pytest.approx((left + right) / 2), pytest.approx((top + bottom) / 2))
    assert top < bottom


def test_axes_and_legend_say_what_they_are():
    root = drawn(curve(), curve("candidate"))
    shown = texts(root)
    assert {"A curve", "resemblance", "probability", "match", "candidate", "0 %", "50 %", "100 %"} <= set(shown)
    assert root.find(f"{SVG}title").text == "A curve"
    assert [path.find(f"{SVG}title").text for path in root.iter(f"{SVG}path")] == ["match", "candidate"]


@pytest.mark.parametrize(("threshold", "lines"), [(None, 0), (0.6, 1), (0.0, 1), (1.0, 1), (1.5, 0)])
def test_the_threshold_is_a_line_if_it_is_in_sight(threshold, lines):
    root = drawn(curve(), threshold=threshold)
    found = [line for line in root.iter(f"{SVG}line") if line.get("class") == "threshold"]
    assert len(found) == lines
    for line in found:
        assert float(line.get("x1")) == pytest.approx(LEFT + threshold * (WIDTH - RIGHT - LEFT), abs=0.05)
        assert f"threshold {100 * threshold:g} %" in texts(root)


def test_every_plan_can_be_drawn():
    for made in (plan(), plan("minhash"), plan("simhash"), plan(threshold=0.8, recall=0.9)):
        root = drawn(*made.curves, title=made.heading, threshold=made.threshold)
        assert len(list(root.iter(f"{SVG}path"))) == len(made.curves)
        looks = [(path.get("class"), path.get("stroke-dasharray")) for path in root.iter(f"{SVG}path")]
        assert len(set(looks)) == len(looks)


def test_nothing_reaches_out_of_the_frame():
    root = drawn(*(curve(f"curve {number}") for number in range(40)), curve("x" * 500))
    for name in ("x", "x1", "x2"):
        assert all(0 <= float(element.get(name)) <= WIDTH for element in root.iter() if element.get(name))
    for path in root.iter(f"{SVG}path"):
        assert all(LEFT <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points(path))


def test_hostile_names_are_only_text():
    root = drawn(curve(HOSTILE), title=HOSTILE)
    assert not list(root.iter(f"{SVG}script"))
    assert sum(text.startswith("</svg><script>") for text in texts(root)) == 2


def test_nothing_comes_from_elsewhere():
    drawing = curve_svg([curve()], title="A curve")
    assert drawing.count("http") == 1  # the name of the format
    assert "href" not in drawing
