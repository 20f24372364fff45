"""Unicode normalisation of the few documents that need it."""

import unicodedata

import numpy as np

from neardup.kernels.folding import may_change
from neardup.model.arrays import TextBatch
from neardup.text.analysis import Normalization
from neardup.text.unicode import unicode_tables

_BITS = {"NFC": np.uint16(1 << 8), "NFKC": np.uint16(1 << 9)}


def normalized(batch: TextBatch, form: Normalization) -> TextBatch:
    """Normalise a batch; it comes back as it is if every document is normalised already."""
    tables = unicode_tables()
    flags = np.empty(len(batch), np.uint8)
    may_change(batch.data, batch.offsets, tables.normal_index, tables.normal_data, _BITS[form], flags)
    if not flags.any():
        return batch
    texts = [
        _normalized(batch.bytes_at(document), form) if flags[document] else batch.bytes_at(document)
        for document in range(len(batch))
    ]
    offsets = np.zeros(len(batch) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return TextBatch(np.frombuffer(b"".join(texts), np.uint8), offsets)


def _normalized(text: bytes, form: Normalization) -> bytes:
    return unicodedata.normalize(form, text.decode("utf-8", "replace")).encode()
