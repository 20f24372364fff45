"""Checksums of whole fields, and of the features of whole documents."""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.shingles import SPREAD
from neardup.kernels.tokens import sip_bytes, sip_words

_SPREAD = np.uint64(SPREAD)


@kernel
def cut(data, offsets, limit, ends):
    """End each field at *limit* bytes at most, between two characters; a negative limit never cuts.

    A UTF-8 character that would be cut is omitted.
    """
    for field in range(offsets.size - 1):
        end = offsets[field + 1]
        if limit >= 0 and end - offsets[field] > limit:
            end = offsets[field] + limit
            while end > offsets[field] and data[end] & 0xC0 == 0x80:
                end -= 1
        ends[field] = end


@kernel
def add_field(data, offsets, ends, key, sums):
    """Update each document's sum with one field: ``sum * SPREAD + SipHash-1-3(key, field) mod 2**64``."""
    for field in range(offsets.size - 1):
        hashed = sip_bytes(data[offsets[field] : ends[field]], key[0], key[1])
        sums[field] = sums[field] * _SPREAD + hashed


@kernel
def digest_words(values, bounds, key, digests):
    """Digest the values (uint64) of each segment to 128 bits: ``SipHash-1-3-128(key, values)``.

    An empty segment does not change its row of *digests* (uint64[n, 2]).
    """
    for segment in range(bounds.size - 1):
        if bounds[segment] < bounds[segment + 1]:
            low, high = sip_words(values[bounds[segment] : bounds[segment + 1]], key[0], key[1])
            digests[segment, 0], digests[segment, 1] = low, high
