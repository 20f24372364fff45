"""WARC files for tests, written record by record."""

import gzip
from functools import partial

import pyarrow as pa
import zstandard


def record(kind="response", *, uri="http://a.example/", block=b"", number=0, headers=(), ends=b"\r\n\r\n"):
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{number:08}>",
        "WARC-Date: 2026-11-23T00:00:00Z",
        *([f"WARC-Target-URI: {uri}"] if uri else []),
        *headers,
        f"Content-Length: {len(block)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + ends


def http(body, *, status=200, kind="text/html", headers=()):
    lines = [f"HTTP/1.1 {status} OK", *([f"Content-Type: {kind}"] if kind else []), *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def page(number, text=None, **about):
    body = (
        f"<html><title>Page {number}</title><p>{text or f'The text of page {number}, of some words.'}</html>".encode()
    )
    uri = about.pop("uri", f"http://a.example/{number}")
    return record(uri=uri, number=number, headers=["Content-Type: application/http"], block=http(body, **about))


def packed(records):
    return b"".join(gzip.compress(one, mtime=0) for one in records)


lz4_frame = partial(pa.compress, codec="lz4", asbytes=True)


PACK = {
    "gzip": partial(gzip.compress, mtime=0),
    None: bytes,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "lz4": lz4_frame,
}
ENDINGS = {"gzip": ".warc.gz", None: ".warc", "zstd": ".warc.zst", "lz4": ".warc.lz4"}
