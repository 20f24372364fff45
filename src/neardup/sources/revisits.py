"""Revisit records of web archives: a page had the content of an earlier capture, which is not stored again.

They are written only for payloads that are equal byte by byte: a replay shows the payload of the capture that a
revisit record refers to.
"""

import base64
import hashlib
from typing import Final

import pyarrow as pa

from neardup.sources.http_response import head_of, media_type
from neardup.sources.warc import Record

REFERS_TO: Final = "warc_refers_to"
REFERS_TO_URL: Final = "warc_refers_to_target_uri"
REFERS_TO_DATE: Final = "warc_refers_to_date"
REFERENCES: Final = {REFERS_TO: pa.string(), REFERS_TO_URL: pa.large_string(), REFERS_TO_DATE: pa.string()}
"""What a revisit record refers to: the id of a record, an address, and its date. Its headers are named alike."""

PROFILE: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

_REQUIRED: Final = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date")
_COPIED: Final = (*_REQUIRED, "WARC-IP-Address", "WARC-Warcinfo-ID")
_REFERRED: Final = {
    "WARC-Refers-To": "WARC-Record-ID",
    "WARC-Refers-To-Target-URI": "WARC-Target-URI",
    "WARC-Refers-To-Date": "WARC-Date",
}
_DIGEST: Final = "WARC-Payload-Digest"
_RESOURCE: Final = "resource"


def revisit(record: Record, original: Record) -> bytes | None:
    """Return the revisit record for a response or resource, or ``None`` if its payload differs from that of *original*.

    It keeps the id, address and date of the record, and the HTTP headers of a response. It is ``None``, too, for a
    record that lacks one of these three: the revisit record would be invalid, and some readers end there. The digest is
    computed, as that in the record may be wrong. Both must be responses, or resources of one media type. A resource has
    no HTTP headers, so its revisit record has an empty block.
    """
    kind, other = (one.headers.get("warc-type", "").lower() for one in (record, original))
    if kind != other or kind not in {"response", _RESOURCE}:
        return None
    types = {media_type(one.headers.get("content-type", ""))[0] for one in (record, original)}
    if kind == _RESOURCE and len(types) > 1:
        return None
    size, begin = (0 if kind == _RESOURCE else head_of(one.block)[1] for one in (record, original))
    payload = record.block[size:]
    if not all(record.headers.get(name.lower()) for name in _REQUIRED):
        return None
    if payload != original.block[begin:]:
        return None
    digest = base64.b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()
    fields = [(name, record.headers.get(name.lower())) for name in _COPIED]
    fields += [
        ("WARC-Profile", PROFILE),
        *((name, original.headers.get(of.lower())) for name, of in _REFERRED.items()),
        (_DIGEST, f"sha1:{digest}"),
        ("WARC-Truncated", "length"),
        ("Content-Type", "" if kind == _RESOURCE else "application/http; msgtype=response"),
        ("Content-Length", str(size)),
    ]
    lines = ["WARC/1.1", "WARC-Type: revisit", *(f"{name}: {value}" for name, value in fields if value)]
    return "\r\n".join([*lines, "", ""]).encode() + record.block[:size] + b"\r\n\r\n"
