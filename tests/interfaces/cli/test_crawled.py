import argparse

import pytest

from neardup.interfaces.cli.crawled import add_crawled, crawled_of


@pytest.mark.parametrize(
    ("options", "urls", "contents"),
    [
        ([], ["http://a/1", "http://a/2"], 2),
        (["--content", "digest", "--url", "address"], ["http://b/1", "http://b/2"], 1),
    ],
)
def test_options_name_the_columns_of_a_report(tmp_path, options, urls, contents):
    report = tmp_path / "why.jsonl"
    report.write_text(
        """{"id": "http://a/1", "address": "http://b/1", "representative": null, "digest": "x"}
{"id": "http://a/2", "address": "http://b/2", "representative": null, "digest": "x"}
"""
    )
    parser = argparse.ArgumentParser()
    add_crawled(parser)
    pages = crawled_of(parser.parse_args([str(report), *options]))
    assert list(pages.urls) == urls
    assert len(set(pages.contents.tolist())) == contents
