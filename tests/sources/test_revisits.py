import base64
import gzip
import hashlib
import re

import pytest
from archives_made import http, packed, page, record

from neardup.sources.revisits import revisit
from neardup.sources.warc import records


def made(tmp_path, *content):
    (tmp_path / "x.warc.gz").write_bytes(packed(content))
    return [*records(str(tmp_path / "x.warc.gz"))]


def test_an_equal_payload_is_referred_to(tmp_path):
    page_again = page(2, "Same.", uri="http://b.example/").replace(b"Page 2", b"Page 1")
    original, again = made(tmp_path, page(1, "Same."), page_again)
    written = revisit(again, original)
    (tmp_path / "r.warc.gz").write_bytes(gzip.compress(written))
    (own,) = records(str(tmp_path / "r.warc.gz"))
    digest = own.headers.pop("warc-payload-digest")
    assert re.fullmatch("sha1:[A-Z2-7]{32}", digest)
    assert own.headers == {
        "warc-type": "revisit",
        "warc-record-id": "<urn:uuid:00000002>",
        "warc-target-uri": "http://b.example/",
        "warc-date": "2026-11-23T00:00:00Z",
        "warc-profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "warc-refers-to": "<urn:uuid:00000001>",
        "warc-refers-to-target-uri": "http://a.example/1",
        "warc-refers-to-date": "2026-11-23T00:00:00Z",
        "warc-truncated": "length",
        "content-type": "application/http; msgtype=response",
        "content-length": str(len(http(b""))),
    }
    assert own.block == http(b"")


def test_the_digest_is_that_of_the_payload(tmp_path):
    own = record(headers=["WARC-Payload-Digest: sha256:abc"], block=http(b"x"), number=2)
    original, again = made(tmp_path, record(block=http(b"x")), own)
    digest = base64.b32encode(hashlib.sha1(b"x", usedforsecurity=False).digest())
    assert re.findall(rb"WARC-Payload-Digest: (.*)\r\n", revisit(again, original)) == [b"sha1:" + digest]


@pytest.mark.parametrize("name", ["WARC-Record-ID", "WARC-Target-URI", "WARC-Date"])
def test_a_response_without_what_a_revisit_record_needs_has_none(tmp_path, name):
    block = http(b"x")
    own = re.sub(rf"{name}: .*\r\n".encode(), b"", record(block=block, number=2))
    original, again = made(tmp_path, record(block=block, number=1), own)
    assert revisit(again, original) is None
    assert revisit(original, again) is not None


def test_other_payloads_and_types_are_not_referred_to(tmp_path):
    text = "The same words, with other letters around them."
    original, near, resource = made(tmp_path, page(1, text), page(2, text), record("resource", block=http(b"x")))
    assert revisit(near, original) is None  # the title differs
    assert revisit(original, resource) is None
    assert revisit(resource, original) is None


def resource(number, block=b"<p>Same.", type_="text/html"):
    return record("resource", number=number, block=block, headers=[f"Content-Type: {type_}"])


def test_a_resource_has_a_revisit_record_without_a_block(tmp_path):
    original, again, longer, other, metadata = made(
        tmp_path,
        resource(1),
        resource(2),
        resource(3, block=b"<p>Same.\r\n\r\n"),
        resource(4, type_="text/plain"),
        record("metadata", block=b"<p>Same.", number=5),
    )
    assert revisit(made(tmp_path, resource(6, type_="TEXT/HTML; charset=utf-8"))[0], original) is not None
    (tmp_path / "r.warc.gz").write_bytes(gzip.compress(revisit(again, original)))
    (own,) = records(str(tmp_path / "r.warc.gz"))
    assert own.headers["warc-refers-to"] == "<urn:uuid:00000001>"
    assert own.headers["warc-record-id"] == "<urn:uuid:00000002>"
    assert own.headers["warc-payload-digest"].startswith("sha1:")
    assert own.headers["content-length"] == "0"
    assert "content-type" not in own.headers
    assert own.block == b""
    assert [revisit(one, original) for one in (longer, other, metadata)] == [None] * 3
    assert revisit(metadata, metadata) is None
