"""What an index records about its pages, and refuses later."""

import numpy as np
import pytest

from neardup import Index
from neardup.model.errors import DataError, StorageDamaged, StorageRefused
from neardup.model.folders import URL_RULES
from neardup.pipeline.crawl.templates import rule_of
from neardup.pipeline.files.upkeep import check_index
from neardup.pipeline.index.page_terms import addresses_for, extraction_for, require_extraction
from neardup.pipeline.index.rescue import rescue
from neardup.sources.url_rules import HostRules, RuleEvidence, UrlRules
from neardup.text.host_templates import HostTemplates, Template
from neardup.urls import Addresses
from neardup.web_pages import Extraction

EVIDENCE = RuleEvidence(12, 12, 1.0)
RULES = UrlRules({"a.example": HostRules(final_slash=EVIDENCE, parameters={"from": EVIDENCE})})


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
        addresses_for(index, Addresses(rules=RULES))
        assert index.extraction is None
        assert addresses_for(index, None) == Addresses()


def test_an_index_keeps_the_rules_of_its_urls(tmp_path):
    with Index.create(tmp_path / "index") as index:
        assert addresses_for(index, None) == Addresses()
        for rules in (UrlRules(), RULES):  # they may change before the first document
            assert addresses_for(index, Addresses(rules=rules)).rules == rules
            assert addresses_for(index, None).rules == rules
        index.admit(["http://a.example/"], ["the storm broke over the harbour at dawn"])
        index.copy(tmp_path / "copy")
    for folder, mode in (("index", "r"), ("index", "w"), ("copy", "w")):
        with Index.open(tmp_path / folder, mode) as index:
            own = addresses_for(index, Addresses(ignore_scheme=True))
            assert own == Addresses(ignore_scheme=True, rules=RULES)
            assert addresses_for(index, own) is own
            other = f"its ids follow the URL rules {RULES.id}, but the URL rules {UrlRules().id} would be used now"
            with pytest.raises(StorageRefused, match=other):
                addresses_for(index, Addresses(rules=UrlRules()))


def test_an_index_in_memory_keeps_its_rules_in_a_copy(tmp_path):
    with Index.create() as index:
        addresses_for(index, Addresses(rules=RULES))
        index.copy(tmp_path / "copy")
    with Index.open(tmp_path / "copy") as index:
        assert addresses_for(index, None).rules == RULES


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "missing"),
        (b"", "damaged"),
        (RULES.to_bytes()[:-5], "damaged"),
        (RULES.to_bytes().replace(b"a.example", b"A.example"), "damaged"),  # no URL has this host
        (RULES.to_bytes().replace(b"a.example", b""), "damaged"),
        (RULES.to_bytes().replace(b"from", b"form"), "others than those that the ids follow"),
    ],
)
def test_lost_rules_are_reported(tmp_path, content, what):
    with Index.create(tmp_path / "index") as index:
        addresses_for(index, Addresses(rules=RULES))
        index.admit(["http://a.example/"], ["the storm broke over the harbour at dawn"])
    path = tmp_path / "index" / URL_RULES
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    message = f"{path}: the URL rules are {what}; copy the file of the rules {RULES.id} here"
    with Index.open(tmp_path / "index") as index:
        with pytest.raises(StorageDamaged) as error:
            addresses_for(index, None)
        assert addresses_for(index, Addresses(rules=RULES)).rules == RULES
    assert str(error.value) == message
    assert check_index(tmp_path / "index").problems == [str(error.value)]
    lost = rescue(tmp_path / "index", tmp_path / "rescued").losses
    assert [(one.where, one.what) for one in lost] == [(str(path), error.value.rule)]
    with Index.open(tmp_path / "index", "w") as index:
        addresses_for(index, Addresses(rules=RULES))  # writes the file again
    assert check_index(tmp_path / "index").problems == []
    assert rescue(tmp_path / "index", tmp_path / "whole").losses == []
    with Index.open(tmp_path / "whole") as index:
        assert addresses_for(index, None).rules == RULES


def test_rules_that_no_file_could_have_are_not_kept(tmp_path):
    with Index.create(tmp_path / "index") as index:
        rules = UrlRules({"a.example": HostRules(case=RuleEvidence(12, 12, float("nan")))})
        with pytest.raises(DataError, match="rules is not a file of URL rules: Expected `float`"):
            addresses_for(index, Addresses(rules=rules))
        assert addresses_for(index, None) == Addresses()
