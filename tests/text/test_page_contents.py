"""Contents that are kept in a file are those that were added, and nothing depends on them."""

from pathlib import Path

import pytest

from neardup import Extraction
from neardup.text.html import PageContent
from neardup.text.page_contents import PageContents, digest

PAGES = [
    b"<title>T</title><link rel=canonical href=/a><html lang=en><p>" + b"Bees in the garden. " * 40,
    b"<meta name=robots content=noindex><nav>" + b"<a href=x>menu entry</a> " * 40 + b"</nav><p>few",
    b"<p>nul \0 and \xff bytes",
    "<p>\ud800 lone surrogate",
    b"<div>" * 2_000 + b"deep",
    b"",
]


def test_contents_are_found_by_page_and_view():
    contents = PageContents.temporary()
    first, second = PageContent("a\0b", None, "", "en", noindex=True), PageContent("ü", "t", None, None)
    contents.add("auto", [(digest("one"), first, "main")])
    contents.add("auto", [(digest("one"), second, "visible"), (digest("two\ud800"), second, "visible")])
    with contents.opened() as find:
        assert find("one", "auto") == (first, "main")
        assert find("two\ud800", "auto") == (second, "visible")
        assert find("one", "visible") is None
        assert find("three", "auto") is None


def test_the_file_is_removed_with_its_contents():
    contents = PageContents.temporary()
    contents.add("auto", [])
    folder = Path(contents.path).parent
    assert folder.is_dir()
    del contents
    assert not folder.exists()


@pytest.mark.parametrize("damage", [Path.exists, Path.mkdir, lambda path: path.write_text("x" * 99)])
def test_a_file_that_cannot_be_read_has_no_contents(damage):
    contents = PageContents.temporary()
    damage(Path(contents.path))
    with contents.opened() as find:
        assert find("one", "auto") is None
    if Path(contents.path).exists():
        contents.add("auto", [(digest("one"), PageContent("a", None, None, None), "main")])
        with contents.opened() as find:
            assert find("one", "auto") is None


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
def test_both_views_are_those_that_are_read(view):
    known, asked = PageContents.temporary(), Extraction(view=view)
    for page in PAGES:
        views = asked.both(page)
        found = asked.pages([page])
        content, own = views.read(view)
        assert ([content.whole], [own]) == (found.texts, found.views)
        assert views.read("visible") == asked._read(page, None, "visible")
        known.add(view, [(views.digest, content, own)])
    assert Extraction(view=view, known=known).pages(PAGES) == asked.pages(PAGES)
