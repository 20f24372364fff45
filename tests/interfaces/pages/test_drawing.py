import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.evaluation.plans import Curve, plan
from neardup.interfaces.escaping import printable
from neardup.interfaces.pages.drawing import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    curve_svg,
    document,
    histogram_svg,
    loglog_svg,
    printed,
)

HOSTILE = '</title><script>alert("1")</script>&amp;\x00\x1b\ud800\u202e\ufffe]]>'
SVG = "{http://www.w3.org/2000/svg}"
EDGES = [0.5, 0.6, 0.8, 1.0]


@given(st.text(st.characters(exclude_categories=())))
@example(HOSTILE)
def test_any_text_can_be_shown(text):
    shown = ET.fromstring(f'<a b="{printed(text)}">{printed(text)}</a>')  # noqa: S314 - our own
    assert (shown.text or "") == shown.get("b") == printable(text)
    assert not set(shown.text or "") & set("\x00\x1b\u202e\u2066\u200f")


def test_what_is_kept_and_what_is_not():
    assert printed("a<b>'c\"&d\té東") == "a&lt;b&gt;&#x27;c&quot;&amp;d é東"
    assert printed("\x00\ud800\u202e\ufffe\x9b") == "\\x00\\ud800\\u202e\\ufffe\\x9b"


def test_a_chart_is_whole_and_named():
    root = ET.fromstring(document(HOSTILE, ["<g/>"]))  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    assert root[0].tag.endswith("title")
    assert root[0].text == root.get("aria-label")
    assert root[-1].tag.endswith("g")


def test_styles_are_of_charts_only_and_of_nothing_outside():
    style = next(iter(ET.fromstring(document("", [])).iter("{http://www.w3.org/2000/svg}style"))).text  # noqa: S314 - our own
    rules = style.replace("@media (prefers-color-scheme:dark){", "").split("}")
    heads = [rule.partition("{")[0] for rule in rules if "{" in rule]
    assert all(part.startswith("svg.neardup-chart") for head in heads for part in head.split(","))
    assert not {"url(", "@import", "http"} & {word for word in ("url(", "@import", "http") if word in style}


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
    assert sum(text.startswith("</title><script>") for text in texts(root)) == 2


def test_nothing_comes_from_elsewhere():
    drawing = curve_svg([curve()], title="A curve")
    assert drawing.count("http") == 1  # the name of the format
    assert "href" not in drawing


def histogram(counts, edges=EDGES, **more):
    return ET.fromstring(histogram_svg(counts, edges, **{"title": "Pairs", **more}))  # noqa: S314 - our own


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
