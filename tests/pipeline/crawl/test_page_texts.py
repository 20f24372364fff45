"""The texts of pages for an index: with templates, their sites are a field."""

import pytest
from invented_sites import Site, article

from neardup import Checksum, CrawlFilter, Extraction, Field, Index
from neardup.model.errors import StorageRefused
from neardup.pipeline.crawl.page_texts import page_texts
from neardup.pipeline.crawl.templates import learn_templates
from neardup.pipeline.index.fields import SITE

SITE_OF = Site("host.example")
PAGES = [SITE_OF.page(f"p{n}", article(str(n))) for n in range(24)]
THIN = "<title>Error</title><p>No such page: "


@pytest.fixture(scope="module")
def extraction():
    return Extraction(templates=learn_templates(PAGES))


def test_thin_pages_match_only_those_of_their_host(extraction):
    with Index.create(templates=extraction.templates) as index:
        assert index.fields == {}
        urls = [f"http://{name}/{n}" for name in ("host.example", "other.example") for n in range(2)]
        texts, sites = page_texts(index, extraction, urls, [THIN + "this page"] * 4)
        assert len(set(texts)) == 1
        assert sites[SITE][0] == sites[SITE][1] != sites[SITE][2] == sites[SITE][3]
        assert index.extraction == extraction.identity
        CrawlFilter(index).judge_and_admit(urls, texts, sites)
        with pytest.raises(StorageRefused, match="not text view visible"):
            page_texts(index, Extraction(view="visible"), urls, [THIN] * 4)
        assert page_texts(index, Extraction(), urls, [THIN + "this page"] * 4) == (texts, sites)  # the index keeps them
        assert page_texts(index, extraction, [], []) == ([], {SITE: []})


def test_lines_of_templates_do_not_count(extraction):
    urls, markup = zip(*PAGES, strict=True)
    with Index.create(templates=extraction.templates) as index, Index.create() as plain:
        texts, sites = page_texts(index, extraction, urls, markup)
        assert texts == extraction.pages(markup, hosts=["host.example"] * len(markup)).texts
        assert sites[SITE] == [0] * len(markup)
        assert page_texts(plain, Extraction(), urls, markup) == (Extraction().pages(markup).texts, {})
        with pytest.raises(StorageRefused, match="without templates"):
            page_texts(plain, extraction, urls, markup)


def test_schemes_of_fields_need_no_sites(extraction):
    with Index.create(scheme=Checksum(fields=(Field(name="title"),))) as index:
        assert page_texts(index, extraction, ["http://host.example/"], [THIN])[1] == {}
