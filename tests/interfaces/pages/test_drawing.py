import xml.etree.ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from neardup.interfaces.escaping import printable
from neardup.interfaces.pages.drawing import document, printed

HOSTILE = '</title><script>alert("1")</script>&amp;\x00\x1b\ud800\u202e\ufffe]]>'


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
