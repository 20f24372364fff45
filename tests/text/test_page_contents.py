"""Contents that are kept in a file are those that were added, and nothing depends on them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neardup.pipeline.crawl.templates import rule_of
from neardup.text.host_templates import Template
from neardup.text.html import PageContent
from neardup.text.page_contents import PageContents, digest
from neardup.web_pages import Extraction, HostTemplates

NO_LINES = np.empty(0, np.uint64)
PAGES = [
    b"<title>T</title><link rel=canonical href=/a><html lang=en><p>" + b"Bees in the garden. " * 40,
    b"<meta name=robots content=noindex><nav>" + b"<a href=x>menu entry</a> " * 40 + b"</nav><p>few",
    b"<p>nul \0 and \xff bytes",
    "<p>\ud800 lone surrogate",
    b"<div>" * 2_000 + b"deep",
    b"",
]


def test_contents_are_found_by_page_and_view(tmp_path):
    contents = PageContents(str(tmp_path / "contents"))
    first, second = PageContent("a\0b", None, "", "en", noindex=True), PageContent("ü", "t", None, None)
    contents.add("auto", [(digest("one"), first, "main")])
    contents.add("auto", [(digest("one"), second, "visible"), (digest("two\ud800"), second, "visible")])
    with contents.opened() as find:
        assert find("one", "auto") == (first, "main")
        assert find("two\ud800", "auto") == (second, "visible")
        assert find("one", "visible") is None
        assert find("three", "auto") is None


@pytest.mark.parametrize("damage", [Path.exists, Path.mkdir, lambda path: path.write_text("x" * 99)])
def test_a_file_that_cannot_be_read_has_no_contents(tmp_path, damage):
    contents = PageContents(str(tmp_path / "contents"))
    damage(Path(contents.path))
    with contents.opened() as find:
        assert find("one", "auto") is None
    if Path(contents.path).exists():
        contents.add("auto", [(digest("one"), PageContent("a", None, None, None), "main")])
        with contents.opened() as find:
            assert find("one", "auto") is None


@pytest.mark.parametrize("view", ["auto", "main", "visible"])
def test_both_views_are_those_that_are_read(tmp_path, view):
    known, plain = PageContents(str(tmp_path / "contents")), Extraction(view=view)
    main, visible = (Template(host=f"{of}.example", view=of, kept=20, lines=NO_LINES) for of in ("main", "visible"))
    hosts = ["main.example"] * len(PAGES) + ["visible.example", "other.example"] * len(PAGES)
    pages = [*PAGES, *(page for page in PAGES for _ in range(2))]
    asked = Extraction(view=view, templates=HostTemplates([main, visible], rule_of(plain)))
    for page in PAGES:
        views = plain.both(page)
        for template in (main, visible):
            read = asked.view_with(template)
            assert views.read(read) == asked._read(page, None, template, lambda *_: None)
            known.add(read, [(views.digest, *views.read(read))])
    assert replace(asked, known=known).pages(pages, hosts=hosts) == asked.pages(pages, hosts=hosts)
