import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import DataError
from neardup.pipeline.crawl.crawled_pages import addressed, read_crawled
from neardup.urls import find_mirrors, find_url_rules

PAGES = pa.table(
    {
        "id": [f"http://a.example/{name}" for name in "abcd"],
        "text": ["one two three four", "other words than those", "one two three four", ""],
    }
)


@pytest.fixture(params=["parquet", "jsonl"])
def report(request, tmp_path):
    path = tmp_path / f"why.{request.param}"
    pq.write_table(PAGES, tmp_path / "pages.parquet")
    neardup.dedup_files([tmp_path / "pages.parquet"], tmp_path / "kept.parquet", report=path)
    return path


def test_a_page_has_the_content_of_its_kept_page(report):
    pages = read_crawled([report])
    assert pages.urls == PAGES.column("id").to_pylist()
    assert pages.contents[0] == pages.contents[2]
    assert len(set(pages.contents.tolist())) == 3


def test_pages_without_a_url_are_ignored(tmp_path):
    path = tmp_path / "pages.parquet"
    table = {"id": ["1", "2", "3"], "url": ["http://a/", None, "http://b/"], "representative": ["x", None, "x"]}
    pq.write_table(pa.table(table), path)
    pages = read_crawled([path])
    assert (pages.urls, pages.ignored) == (["http://a/", "http://b/"], 1)
    assert pages.contents[0] == pages.contents[1]


def test_pages_without_urls_are_an_error(tmp_path):
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"id": ["1", "2"], "representative": ["x", "x"]}), path)
    with pytest.raises(
        DataError, match=r"pages\.parquet: none of its pages has a URL such as .*; the first one has '1'$"
    ):
        read_crawled([path])
    pq.write_table(pa.table({"id": pa.array([], pa.string()), "representative": pa.array([], pa.string())}), path)
    assert read_crawled([path]).urls == []


def test_the_pages_themselves_are_refused(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>text")
    with pytest.raises(DataError, match="pages: it is not a report, but the pages themselves"):
        read_crawled([tmp_path / "pages"])


def test_a_missing_column_is_an_error(report, tmp_path):
    with pytest.raises(DataError, match="link"):
        read_crawled([report], url="link")
    pq.write_table(PAGES, tmp_path / "documents.parquet")
    with pytest.raises(DataError, match="representative"):
        read_crawled([tmp_path / "documents.parquet"])


@pytest.mark.parametrize("contents", [[7, 8], (7, 8), np.array([7, 8]), [np.int32(7), 8], pa.array([7, 8])])
def test_contents_may_be_a_list_or_an_array(contents):
    urls, numbers = addressed(pa.array(["http://a/", "http://b/"]), contents)
    assert urls == ["http://a/", "http://b/"]
    assert (numbers.tolist(), numbers.dtype) == ([7, 8], np.int64)


def test_missing_urls_are_ignored():
    pages = [None, float("nan"), "http://a/"], [1, 2, 3]
    assert find_mirrors(*pages).pages == 1
    assert find_url_rules(*pages).id == find_url_rules(["http://a/"], [3]).id


@pytest.mark.parametrize("find", [find_url_rules, find_mirrors])
@pytest.mark.parametrize(
    ("urls", "contents", "rule"),
    [
        (["http://a/"], [1, 2], "contents: 2 numbers for 1 URL"),
        (["http://a/"], ["x"], "contents must be integers of 64 bits"),
        (["http://a/"], [None], "contents must be integers of 64 bits"),
        (["http://a/"], [True], "contents must be integers of 64 bits"),
        (["http://a/"], [1 << 63], "contents must be integers of 64 bits"),
        (["http://a/"], np.array([1.0]), "contents must be integers of 64 bits"),
        (["http://a/"], 1, "contents must be a sequence, not an int"),
        ("http://a/", [1], "urls must be a sequence, not a string"),
    ],
    ids=str,
)
def test_other_urls_and_contents_are_refused(find, urls, contents, rule):
    with pytest.raises(DataError, match=rule):
        find(urls, contents)
