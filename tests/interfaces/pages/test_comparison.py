from html.parser import HTMLParser

import pytest

from neardup import compare
from neardup.interfaces.pages.comparison import comparison_page

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
HOSTILE = f"</div><script>alert(1)</script> \" ' & \u202e \x1b[2J \0 \ud800 {STORM} {{page}} {{0}}"


class Page(HTMLParser):
    """The tags of a page with their attributes, and what is marked."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.marked = [], [], []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "mark" in self.open:
            self.marked.append(data)


def page_of(a, b, names=("a.txt", "b.txt"), **options):
    return comparison_page(names, (a, b), compare(a, b), **options)


def test_it_shows_what_was_found():
    page = Page(page_of(STORM, f"Breaking: {STORM} & more"))
    assert page.open == []
    assert page.marked == ["Breaking", "& more"]
    links = [attributes for tag, attributes in page.tags if tag == "a"]
    assert links == [{"id": "a0", "href": "#b0"}, {"id": "b0", "href": "#a0"}]


def test_every_link_has_its_target_and_every_target_is_one():
    a = f"{STORM}. {STORM} again, {STORM}"
    page = Page(page_of(a, f"x {STORM} y"))
    targets = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(targets) == len({*targets}) > 2
    assert {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"} <= {*targets}


@pytest.mark.parametrize("texts", [(HOSTILE, STORM), (STORM, HOSTILE), (HOSTILE, HOSTILE), ("", ""), ("", HOSTILE)])
def test_hostile_texts_and_names_stay_text(texts):
    page = page_of(*texts, names=("<b>.txt", '"><img src=x>'))
    shown = Page(page)
    assert shown.open == []
    assert {tag for tag, _ in shown.tags}.isdisjoint({"script", "img", "b", "iframe", "link"})
    assert b"\x1b" not in page
    assert "\u202e" not in page.decode()
    outside = [value for _, attributes in shown.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert all(value.startswith("#") for value in outside)


def test_it_asks_nothing_of_the_network():
    page = page_of(STORM, STORM).decode()
    assert "default-src 'none'" in page
    assert "http:" not in page
    assert "https:" not in page


def test_the_context_bounds_what_is_shown():
    long = " ".join(f"word{number}" for number in range(2000))
    assert len(page_of(long, long, context=50)) < len(page_of(long, long)) < len(long) * 2
    assert "characters the same" in page_of(long, long, context=50).decode()
