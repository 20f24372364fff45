"""What an index records about its pages, and refuses later."""

import numpy as np
import pytest

from neardup import Index
from neardup.model.errors import StorageRefused
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.index.page_terms import extraction_for, require_extraction, require_url_rules
from neardup.sources.url_rules import UrlRules
from neardup.text.host_templates import HostTemplates, Template
from neardup.web_pages import Extraction


def test_how_pages_became_texts_is_recorded_once(tmp_path):
    with Index.create(tmp_path / "index") as index:
        assert index.extraction is None
        require_extraction(index, Extraction(view="visible"))
    with Index.open(tmp_path / "index") as index:
        assert index.extraction == Extraction(view="visible").identity
        require_extraction(index, Extraction(view="visible"))
        with pytest.raises(StorageRefused, match="text view visible"):
            require_extraction(index, Extraction(view="main"))


def test_templates_may_replace_those_of_earlier_pages(tmp_path):
    first = HostTemplates([], rule_of(Extraction()))
    old, new, later = (
        Extraction(templates=one)
        for one in (first, added(first, "a.example"), added(added(first, "a.example"), "b.example"))
    )
    with Index.create(tmp_path / "index", templates=old.templates) as index:
        require_extraction(index, old)
        require_extraction(index, later)
        assert index.extraction == later.identity
        for other in (old, new, Extraction(), Extraction(templates=added(first, "c.example"))):
            with pytest.raises(StorageRefused, match=f"with the templates {later.templates.identity}"):
                require_extraction(index, other)
    with Index.open(tmp_path / "index", "r") as index:
        last = Extraction(templates=added(later.templates, "c.example"))
        require_extraction(index, last)
        assert index.extraction == later.identity  # a reader records nothing
        assert index.templates == later.templates
        assert extraction_for(index, Extraction()) == later
        assert extraction_for(index, old) == old
        assert extraction_for(index, Extraction(view="main")) == Extraction(view="main")
    assert not Extraction().follows(old.identity)
    assert not old.follows(Extraction().identity)


def test_a_reader_uses_the_templates_that_a_writer_adds(tmp_path):
    first = HostTemplates([], rule_of(Extraction()))
    old, new = Extraction(templates=first), Extraction(templates=added(first, "a.example"))
    with Index.create(tmp_path / "index", templates=old.templates) as index, Index.open(tmp_path / "index") as reader:
        assert extraction_for(reader, Extraction()) == old
        require_extraction(index, new)
        assert reader.refresh()
        assert not reader.refresh()
        assert extraction_for(reader, Extraction()) == new
        require_extraction(reader, old)  # of pages that it began to read before
        with pytest.raises(StorageRefused, match="not made of those"):
            require_extraction(reader, Extraction(templates=added(first, "c.example")))


def added(known, host):
    return known.updated([Template(host=host, view="main", kept=20, lines=np.arange(3, dtype=np.uint64))])


def test_a_reader_records_nothing(tmp_path):
    Index.create(tmp_path / "index").close()
    with Index.open(tmp_path / "index") as index:
        require_extraction(index, Extraction(view="visible"))
        require_url_rules(index, None)
        assert index.extraction is None


def test_rules_of_urls_may_change_before_the_first_document(tmp_path):
    rules = UrlRules()
    with Index.create(tmp_path / "index") as index:
        require_url_rules(index, rules)
        require_url_rules(index, None)
        require_url_rules(index, rules)
        index.admit(["http://a.example/"], ["the storm broke over the harbour at dawn"])
        require_url_rules(index, rules)
        with pytest.raises(StorageRefused, match=f"its ids follow the URL rules {rules.id}, but no URL rules would"):
            require_url_rules(index, None)
