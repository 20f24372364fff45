"""What an index records about its pages, and refuses later."""

import pytest

from neardup import Extraction, Index
from neardup.model.errors import StorageRefused
from neardup.pipeline.index.page_terms import require_extraction, require_url_rules
from neardup.sources.url_rules import UrlRules


def test_how_pages_became_texts_is_recorded_once(tmp_path):
    with Index.create(tmp_path / "index") as index:
        assert index.extraction is None
        require_extraction(index, Extraction(view="visible"))
    with Index.open(tmp_path / "index") as index:
        assert index.extraction == Extraction(view="visible").identity
        require_extraction(index, Extraction(view="visible"))
        with pytest.raises(StorageRefused, match="text view visible"):
            require_extraction(index, Extraction(view="main"))


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
