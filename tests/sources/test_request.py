import json
import re
from dataclasses import replace

import pytest

from neardup.model.errors import DataError, ParameterError
from neardup.sources.record_faults import Rejected
from neardup.sources.request import Request
from neardup.text.extraction import Extraction


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"html": "page", "text": "body"}, "html='page' cannot be used with the text field 'body'"),
        ({"html": 1}, "html=1"),
        ({"url": 1}, "url=1"),
        ({"text": 1}, "text=1"),
        ({"id": None}, "id=None"),
        ({"format": "xml"}, "format='xml' must be jsonl, csv, tsv or parquet"),
        ({"quoting": "all"}, "quoting='all' must be auto, minimal or none"),
        ({"glob": "*.py"}, "glob='*.py'"),
        ({"glob": [1]}, "glob=1"),
        ({"extraction": "main"}, "extraction='main'"),
        ({"max_bytes": 0}, "max_bytes=0"),
    ],
)
def test_wrong_values_are_refused(given, rule):
    with pytest.raises(ParameterError, match=re.escape(rule)):
        Request(**given)


def test_a_field_of_pages_replaces_the_text():
    request = Request(html="page", glob=["*.py"], columns=["size"])
    assert (request.text, request.glob, request.columns) == ("page", ("*.py",), ("size",))
    assert replace(request, strict=True) == Request(html="page", glob=["*.py"], columns=["size"], strict=True)


def test_a_request_is_read_as_it_was_recorded():
    request = Request(html="page", glob=["*.py"], columns=["size"], extraction=Extraction(view="main"), max_bytes=7)
    assert Request.from_dict(json.loads(json.dumps(request.to_dict()))) == request


def test_addresses_are_read_where_they_are_used():
    assert Request(html="page").with_address().columns == ()
    assert Request(url="link").with_address().columns == ()
    assert Request(html="page", url="link", columns=["size"]).with_address().columns == ("size", "link")
    assert Request(html="page", url="link", columns=["link"]).with_address().columns == ("link",)


def test_a_strict_request_refuses_the_first_rejected_record():
    rejected = [Rejected("x.jsonl", 3, "it is broken", "json"), Rejected("x.jsonl", 4, "it is broken", "json")]
    Request().check(rejected)
    Request(strict=True).check([])
    with pytest.raises(DataError, match=r"x\.jsonl:3: it is broken"):
        Request(strict=True).check(rejected)
